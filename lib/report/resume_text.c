/* SPDX-License-Identifier: MIT */
/* Suspend/resume cycles as text: what one would paste into a bug report. */
#include "report/format.h"
#include "report/resume.h"

#include <math.h>
#include <stdio.h>

#define CLOCK_USELESS 100e-6
#define CLOCK_LEAST   0.05e-6

static const char *const latency_words[WW_LAT_COUNT] = {
	[WW_LAT_SUSPEND_ENTRY] = "suspend entry (request to last beat)",
	[WW_LAT_ASLEEP] = "asleep",
	[WW_LAT_FIRMWARE] = "firmware (wake to hand-over)",
	[WW_LAT_KERNEL] = "kernel (hand-over to first beat)",
	[WW_LAT_RESUME_TO_UART] = "resume to UART driver",
	[WW_LAT_RESUME_TO_USER] = "resume to user space",
	[WW_LAT_RESUME_TO_STEADY] = "resume to steady beat",
	[WW_LAT_SILENCE] = "silence (last beat to first, sleep included)",
	[WW_LAT_DUT_ASLEEP] = "asleep by the DUT's clocks",
	[WW_LAT_ASLEEP_FIRMWARE] = "asleep and firmware (last beat to hand-over)",
	[WW_LAT_RESUME_TO_ALIVE] = "resume to the first sign of life",
	[WW_LAT_RESUME_TO_SETTLED] = "resume to settled power",
};

const char *ww_resume_words(int latency)
{
	return latency_words[latency];
}

const char *ww_beat_mode_name(const struct ww_resume *r)
{
	static const char *const names[] = {NULL, "stream", "reopen", "drain"};
	const char *told = ww_scan_info(&r->scan, "mode", WW_TIME_MAX);

	return r->scan.mode > 0 && r->scan.mode < 4 ? names[r->scan.mode] : told;
}

static void add_bounds(struct ww_str *s, const double v[2], int d)
{
	if (isinf(v[0]) && isinf(v[1])) {
		ww_str_add(s, "unbounded");
		return;
	}
	/* Without a lower rank: no latency is less than nothing. */
	if (isinf(v[0]))
		ww_str_add(s, "0");
	else
		ww_str_fixed(s, v[0], d);
	ww_str_add(s, "\xe2\x80\x93");
	if (isinf(v[1]))
		ww_str_add(s, "\xe2\x88\x9e");
	else
		ww_str_fixed(s, v[1], d);
}

static void add_or_never(struct ww_str *s, double v, int d)
{
	if (isinf(v))
		ww_str_add(s, "never");
	else
		ww_str_fixed(s, v, d);
}

/* One digit more than the resolution where that is no finer than 0.1 ms. */
static int decimals(double resolution)
{
	int d = ww_decimals_for(resolution, 3);

	d = d < 2 && resolution < 100 ? d + 1 : d;
	return d > 3 ? 3 : d;
}

/* What the median may be: at 95 %, or as sure as so few cycles are. */
static void add_confidence(struct ww_str *s, const struct ww_latency_summary *m, int d)
{
	bool few = isinf(m->median_ci[0]) && isinf(m->median_ci[1]);

	if (m->n + m->failures < 2)
		return;
	if (!few) {
		ww_str_add(s, " (95 %: ");
		add_bounds(s, m->median_ci, d);
		ww_str_add(s, ")");
		return;
	}
	ww_str_add(s, " (");
	ww_str_fixed(s, floor(m->actual_coverage * 100 + .5), 0);
	ww_str_add(s, " %: ");
	add_bounds(s, m->actual_ci, d);
	ww_str_add(s, "; 95 % takes 6 cycles)");
}

/* The ends, the far quantiles where there are cycles enough, and what holds surely. */
static void add_spread(struct ww_str *s, const struct ww_latency_summary *m, int d)
{
	uint64_t total = m->n + m->failures;
	struct ww_str line = {0};

	if (m->n < 2 || isinf(m->median_ci[0]))
		return;
	ww_str_add(&line, "  from ");
	ww_str_fixed(&line, m->min, d);
	ww_str_add(&line, " to ");
	ww_str_fixed(&line, m->max, d);
	if (total >= 10) {
		ww_str_add(&line, ", p90 ");
		add_or_never(&line, m->p90, d);
		ww_str_add(&line, " (");
		add_bounds(&line, m->p90_ci, d);
		ww_str_add(&line, "), p95 ");
		add_or_never(&line, m->p95, d);
		ww_str_add(&line, " (");
		add_bounds(&line, m->p95_ci, d);
		ww_str_add(&line, ")");
	}
	if (!isinf(m->envelope[0]) || !isinf(m->envelope[1])) {
		ww_str_add(&line, "; guaranteed bound of the median ");
		add_bounds(&line, m->envelope, d);
	}
	ww_str_add(&line, " ms");
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, 4, WW_RESUME_WIDTH);
	ww_str_free(&line);
}

static void add_summary_line(struct ww_str *s, const struct ww_latency_summary *m, const char *what)
{
	int d = decimals(m->resolution);

	if (m->n + m->failures == 0) {
		ww_str_addf(s, "%s: n=0, bounds only in %llu cycle%s\n  ", what,
			    (unsigned long long)m->bound_only, m->bound_only == 1 ? "" : "s");
		ww_resume_bound(s, m->bound[0], m->bound[1]);
		ww_str_add(s, " ms, no median\n");
		return;
	}
	ww_str_addf(s, "%s: n=%llu, failures %llu\n  median ", what, (unsigned long long)m->n,
		    (unsigned long long)m->failures);
	if (2 * m->bounds > m->n && !isinf(m->median)) {
		ww_resume_at_most(s, m->median_hi);
		ww_str_add(s, " ms: bounds only\n");
		return;
	}
	add_or_never(s, m->median, d);
	if (!isinf(m->median))
		ww_str_add(s, " ms");
	add_confidence(s, m, d);
	if (m->n) {
		ww_str_add(s, ", resolution \xc2\xb1");
		ww_str_fixed(s, ww_round_for(m->resolution, m->resolution),
			     ww_decimals_for(m->resolution, 3) > 3
				     ? 3
				     : ww_decimals_for(m->resolution, 3));
		ww_str_add(s, " ms");
	}
	ww_str_add(s, "\n");
	add_spread(s, m, d);
	if (m->bound_only) {
		ww_str_addf(s, "  %llu more, bounds only, not in the median: ",
			    (unsigned long long)m->bound_only);
		ww_resume_bound(s, m->bound[0], m->bound[1]);
		ww_str_add(s, " ms\n");
	}
}

static void add_results(struct ww_str *s, const struct ww_resume *r)
{
	uint64_t counted = r->cycles - r->warmups;
	uint64_t judged = counted - r->results[WW_RES_UNKNOWN], bad;
	const char *sep = "";

	bad = judged - r->results[WW_RES_OK] - r->results[WW_RES_PM_TEST];
	ww_str_addf(s, "%llu cycle%s: ", (unsigned long long)counted, counted == 1 ? "" : "s");
	for (int i = 0; i < WW_RES_COUNT; i++) {
		if (r->results[i] == 0)
			continue;
		ww_str_addf(s, "%s%llu %s", sep, (unsigned long long)r->results[i],
			    ww_result_name(i));
		sep = ", ";
	}
	if (judged) {
		ww_str_add(s, "; not ok ");
		ww_str_fixed(s, 100.0 * (double)bad / (double)judged, 1);
		ww_str_add(s, " % (95 %: ");
		ww_str_fixed(s, 100 * r->fail_ci[0], 1);
		ww_str_add(s, "\xe2\x80\x93");
		ww_str_fixed(s, 100 * r->fail_ci[1], 1);
		ww_str_add(s, " %)");
	}
	if (r->warmups)
		ww_str_addf(s, "; %llu warm-up%s before, in no figure",
			    (unsigned long long)r->warmups, r->warmups == 1 ? "" : "s");
	ww_str_add(s, "\n");
}

static void add_said(struct ww_str *s, const char *key, const char *value)
{
	struct ww_str line = {0};

	/* "none:" is a name before a list that is empty. */
	ww_str_addf(&line, "DUT %s: ", key);
	ww_str_addn(&line, value,
		    value[0] && value[strlen(value) - 1] == ':' ? strlen(value) - 1
								: strlen(value));
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, 4, WW_RESUME_WIDTH);
	ww_str_free(&line);
}

static void add_head(struct ww_str *s, const struct ww_resume *r)
{
	static const char *const keys[] = {"board",	  "firmware",  "kernel",  "cmdline",
					   "clocksource", "mem_sleep", "cpuidle", "governor"};
	const char *mode = ww_beat_mode_name(r);

	ww_str_addf(s, "%s", r->path);
	if (r->have_start) {
		ww_str_add(s, ", start ");
		ww_str_time(s, r->start_real_ns, (int32_t)r->utc_offset_s);
		if (*r->zone)
			ww_str_addf(s, " (%s)", r->zone);
	}
	ww_str_add(s, "\n");
	if (r->scan.beats) {
		ww_str_addf(s, "%s: %llu %s beats", r->port, (unsigned long long)r->scan.beats,
			    r->scan.stamped ? "stamped" : "plain");
		if (mode)
			ww_str_addf(s, ", mode %s", mode);
		if (r->scan.cadence.median_ns > 0) {
			ww_str_add(s, ", one every ");
			ww_str_fixed(s, (double)r->scan.cadence.median_ns / 1e6, 3);
			ww_str_add(s, " ms");
		}
		ww_str_add(s, "\n");
	}
	for (size_t i = 0; i < WW_COUNTOF(keys); i++) {
		const char *v = ww_scan_info(&r->scan, keys[i], WW_TIME_MAX);

		if (v)
			add_said(s, keys[i], v);
	}
	ww_str_add(s, "\n");
}

static void add_clock(struct ww_str *s, const struct ww_resume *r)
{
	if (!r->scan.stamped || isnan(r->skew) || isnan(r->skew_u))
		return;
	/* Coarser than any quartz, or finer than what is printed: it tells nothing. */
	if (r->skew_u > CLOCK_USELESS || fmax(fabs(r->skew), r->skew_u) < CLOCK_LEAST)
		return;
	if (ww_resume_has_kernel(r))
		ww_str_add(s, "\n");
	ww_str_add(s, "DUT's clock against the bench's: ");
	if (r->skew >= 0)
		ww_str_add(s, "+");
	ww_str_fixed(s, r->skew * 1e6, 1);
	ww_str_add(s, " \xc2\xb1 ");
	ww_str_fixed(s, 2 * r->skew_u * 1e6, 1); /* k = 2, as everywhere in text */
	ww_str_add(s, " ppm\n");
}

static void add_summary_of(struct ww_str *s, const struct ww_resume *r, int l)
{
	if (r->summary[l].n + r->summary[l].failures + r->summary[l].bound_only &&
	    l != WW_LAT_ASLEEP && l != WW_LAT_DUT_ASLEEP && !ww_resume_repeats(r, l))
		add_summary_line(s, &r->summary[l], latency_words[l]);
}

/* What the table leaves out because it says nothing new. */
static void add_legend(struct ww_str *s, const struct ww_resume *r)
{
	bool uart = false, steady = false;

	for (size_t i = 0; i < r->cycles; i++) {
		uart |= ww_iv_ok(r->cycle[i].c.latency[WW_LAT_RESUME_TO_UART]);
		steady |= ww_iv_ok(r->cycle[i].c.latency[WW_LAT_RESUME_TO_STEADY]);
	}
	uart = uart && ww_resume_repeats(r, WW_LAT_RESUME_TO_UART);
	steady = steady && ww_resume_repeats(r, WW_LAT_RESUME_TO_STEADY);
	ww_str_add(s, "times in ms, middle \xc2\xb1 half-width of the sure interval");
	if (uart || steady)
		ww_str_addf(s, "; %s%s%s: the same as to user", uart ? "to uart" : "",
			    uart && steady ? ", " : "", steady ? "to steady" : "");
	ww_str_add(s, "\n");
}

static void add_wrapped(struct ww_str *s, size_t indent, const char *head, const char *text)
{
	struct ww_str line = {0};

	ww_str_addf(&line, "%s%s", head, text);
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, indent, WW_RESUME_WIDTH);
	ww_str_free(&line);
}

static void add_reasons(struct ww_str *s, const struct ww_resume *r)
{
	bool first = true;

	for (size_t i = 0; i < r->cycles; i++) {
		const struct ww_cycle *c = &r->cycle[i].c;
		char head[32];

		if (!*c->reason)
			continue;
		snprintf(head, sizeof(head), "%scycle %u: ", first ? "\n" : "", (unsigned)c->n);
		add_wrapped(s, 2, head, c->reason);
		first = false;
	}
	ww_str_add(s, "\n");
}

int ww_resume_text(struct ww_str *s, const struct ww_resume *r, struct ww_error *err)
{
	int rc = 0;

	add_head(s, r);
	if (r->cycles) {
		add_legend(s, r);
		rc = ww_resume_tables(s, r, err);
		add_reasons(s, r);
		add_results(s, r);
		for (int i = 0; i < WW_LAT_COUNT; i++)
			add_summary_of(s, r, ww_resume_order[i].latency);
		ww_resume_text_worst(s, r);
		ww_resume_text_dut(s, r);
		ww_resume_text_kernel(s, r);
	}
	add_clock(s, r);
	if (r->cycles && r->notes.n)
		ww_str_add(s, "\n");
	for (size_t i = 0; i < r->notes.n; i++)
		add_wrapped(s, 2, "note: ", r->notes.note[i]);
	return rc;
}

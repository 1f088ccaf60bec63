/* SPDX-License-Identifier: MIT */
/* Suspend/resume cycles as text: what one would paste into a bug report. */
#include "report/resume.h"

#include <math.h>

enum { CYCLE, RESULT, LATENCY, STARVED = LATENCY + WW_LAT_COUNT, WATTS, JOULES, COLUMNS };

static const char *const latency_head[WW_LAT_COUNT] = {
	[WW_LAT_SUSPEND_ENTRY] = "entry",	 [WW_LAT_ASLEEP] = "asleep",
	[WW_LAT_FIRMWARE] = "firmware",		 [WW_LAT_KERNEL] = "kernel",
	[WW_LAT_RESUME_TO_UART] = "to uart",	 [WW_LAT_RESUME_TO_USER] = "to user",
	[WW_LAT_RESUME_TO_STEADY] = "to steady", [WW_LAT_SILENCE] = "silence",
	[WW_LAT_DUT_ASLEEP] = "DUT asleep",
};

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
};

const char *ww_beat_mode_name(const struct ww_resume *r)
{
	static const char *const names[] = {NULL, "stream", "reopen", "drain"};
	const char *told = ww_scan_info(&r->scan, "mode", WW_TIME_MAX);

	return r->scan.mode > 0 && r->scan.mode < 4 ? names[r->scan.mode] : told;
}

static size_t characters(const struct ww_str *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += ((unsigned char)s->p[i] & 0xc0) != 0x80;
	return n;
}

static int decimals(double half)
{
	int d = ww_decimals_for(half, 3);

	return d > 3 ? 3 : d;
}

/* Middle and half-width in ms; an open end is said as a bound. */
static void add_latency(struct ww_str *s, struct ww_interval t)
{
	double lo = (double)t.lo_ns / 1e6, hi = (double)t.hi_ns / 1e6, half = (hi - lo) / 2;

	if (!ww_iv_ok(t))
		return;
	if (t.hi_ns == WW_TIME_MAX) {
		ww_str_add(s, ">");
		ww_str_fixed(s, lo, 1);
	} else if (t.lo_ns == WW_TIME_MIN) {
		ww_str_add(s, "<");
		ww_str_fixed(s, hi, 1);
	} else {
		ww_str_fixed(s, (lo + hi) / 2, decimals(half));
		ww_str_add(s, " \xc2\xb1 ");
		ww_str_fixed(s, half, decimals(half));
	}
}

static void add_quantity(struct ww_str *s, struct ww_quantity q, const char *unit)
{
	int d = ww_decimals_for(q.u, 3);

	if (isnan(q.value))
		return;
	ww_str_fixed(s, q.value, d);
	if (q.u > 0) {
		ww_str_add(s, " \xc2\xb1 ");
		ww_str_fixed(s, q.u, d);
	}
	ww_str_addf(s, " %s", unit);
}

static void fill_row(struct ww_str *cell, const struct ww_cycle *c)
{
	int64_t longest = 0;

	ww_str_addf(&cell[CYCLE], "%u", (unsigned)c->n);
	ww_str_add(&cell[RESULT], ww_result_name(c->result));
	for (int l = 0; l < WW_LAT_COUNT; l++)
		add_latency(&cell[LATENCY + l], c->latency[l]);
	for (size_t i = 0; i < c->stalls; i++)
		if (ww_iv_mid(c->stall[i].length) > longest)
			longest = ww_iv_mid(c->stall[i].length);
	if (c->stalls) {
		ww_str_addf(&cell[STARVED], "%llux, longest ", (unsigned long long)c->stalls);
		ww_str_fixed(&cell[STARVED], (double)longest / 1e6, 0);
	}
	add_quantity(&cell[WATTS], c->asleep_watts, "W");
	add_quantity(&cell[JOULES], c->energy_J, "J");
}

static void fill_head(struct ww_str *cell)
{
	ww_str_add(&cell[CYCLE], "cycle");
	ww_str_add(&cell[RESULT], "result");
	for (int l = 0; l < WW_LAT_COUNT; l++)
		ww_str_add(&cell[LATENCY + l], latency_head[l]);
	ww_str_add(&cell[STARVED], "starved");
	ww_str_add(&cell[WATTS], "asleep at");
	ww_str_add(&cell[JOULES], "energy");
}

static void pad(struct ww_str *s, size_t n)
{
	while (n-- > 0)
		ww_str_addn(s, " ", 1);
}

/* Columns that are empty throughout are left out. */
static void print_table(struct ww_str *s, const struct ww_str *cell, size_t rows)
{
	size_t width[COLUMNS] = {0};

	for (size_t c = 0; c < COLUMNS; c++) {
		bool used = false;

		for (size_t i = 0; i < rows; i++) {
			size_t n = characters(&cell[i * COLUMNS + c]);

			used |= i > 0 && n > 0;
			if (n > width[c])
				width[c] = n;
		}
		if (!used)
			width[c] = 0;
	}
	for (size_t i = 0; i < rows; i++) {
		for (size_t c = 0; c < COLUMNS; c++) {
			const struct ww_str *k = &cell[i * COLUMNS + c];

			if (width[c] == 0)
				continue;
			if (c > 0)
				ww_str_add(s, "  ");
			if (c == RESULT) {
				ww_str_add(s, k->p ? k->p : "");
				pad(s, width[c] - characters(k));
				continue;
			}
			pad(s, width[c] - (k->n ? characters(k) : 1));
			ww_str_add(s, k->n ? k->p : "-");
		}
		ww_str_add(s, "\n");
	}
}

static int add_table(struct ww_str *s, const struct ww_resume *r, struct ww_error *err)
{
	size_t rows = r->cycles + 1;
	struct ww_str *cell = calloc(rows * COLUMNS, sizeof(*cell));

	if (!cell)
		return ww_fail_nomem(err);
	fill_head(cell);
	for (size_t i = 0; i < r->cycles; i++)
		fill_row(&cell[(i + 1) * COLUMNS], &r->cycle[i].c);
	for (size_t i = 0; i < rows * COLUMNS; i++)
		s->bad = s->bad || cell[i].bad;
	if (!s->bad)
		print_table(s, cell, rows);
	for (size_t i = 0; i < rows * COLUMNS; i++)
		ww_str_free(&cell[i]);
	free(cell);
	return 0;
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

static void add_summary_line(struct ww_str *s, const struct ww_latency_summary *m, const char *what)
{
	int dr = decimals(m->resolution), d = dr < 2 ? dr + 1 : dr;
	uint64_t total = m->n + m->failures;

	ww_str_addf(s, "%s: median ", what);
	add_or_never(s, m->median, d);
	if (!isinf(m->median))
		ww_str_add(s, " ms");
	/* The median of five has no 95 % interval: say so rather than print two signs. */
	if (isinf(m->median_ci[0]) && isinf(m->median_ci[1])) {
		ww_str_add(s, " (95 %: unbounded with so few)");
	} else {
		ww_str_add(s, " (95 %: ");
		add_bounds(s, m->median_ci, d);
		ww_str_add(s, ")");
	}
	if (m->n) {
		ww_str_add(s, ", resolution \xc2\xb1");
		ww_str_fixed(s, m->resolution, dr);
		ww_str_add(s, " ms");
	}
	ww_str_addf(s, ", n=%llu, failures %llu\n", (unsigned long long)m->n,
		    (unsigned long long)m->failures);
	if (m->n < 2)
		return;
	ww_str_add(s, "  from ");
	ww_str_fixed(s, m->min, d);
	ww_str_add(s, " to ");
	ww_str_fixed(s, m->max, d);
	if (total >= 10) {
		ww_str_add(s, ", p90 ");
		add_or_never(s, m->p90, d);
		ww_str_add(s, " (");
		add_bounds(s, m->p90_ci, d);
		ww_str_add(s, "), p95 ");
		add_or_never(s, m->p95, d);
		ww_str_add(s, " (");
		add_bounds(s, m->p95_ci, d);
		ww_str_add(s, ")");
	}
	if (!isinf(m->envelope[0]) || !isinf(m->envelope[1])) {
		ww_str_add(s, "; guaranteed bound of the median ");
		add_bounds(s, m->envelope, d);
	}
	ww_str_add(s, " ms\n");
}

static void add_results(struct ww_str *s, const struct ww_resume *r)
{
	uint64_t judged = r->cycles - r->results[WW_RES_UNKNOWN], bad;
	const char *sep = "";

	bad = judged - r->results[WW_RES_OK] - r->results[WW_RES_PM_TEST];
	ww_str_addf(s, "%llu cycle%s: ", (unsigned long long)r->cycles, r->cycles == 1 ? "" : "s");
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
	ww_str_add(s, "\n");
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
			ww_str_addf(s, "DUT %s: %s\n", keys[i], v);
	}
	ww_str_add(s, "\n");
}

static void add_clock(struct ww_str *s, const struct ww_resume *r)
{
	if (!r->scan.stamped || isnan(r->skew) || isnan(r->skew_u))
		return;
	ww_str_add(s, "DUT's clock against the bench's: ");
	if (r->skew >= 0)
		ww_str_add(s, "+");
	ww_str_fixed(s, r->skew * 1e6, 1);
	ww_str_add(s, " \xc2\xb1 ");
	ww_str_fixed(s, r->skew_u * 1e6, 1);
	ww_str_add(s, " ppm\n");
}

int ww_resume_text(struct ww_str *s, const struct ww_resume *r, struct ww_error *err)
{
	bool few = true;
	int rc = 0;

	add_head(s, r);
	if (r->cycles) {
		ww_str_add(s, "times in ms, middle \xc2\xb1 half-width of the sure interval\n");
		rc = add_table(s, r, err);
		for (size_t i = 0; i < r->cycles && rc >= 0; i++) {
			if (!*r->cycle[i].c.reason)
				continue;
			ww_str_addf(s, "%scycle %u: %s\n", few ? "\n" : "",
				    (unsigned)r->cycle[i].c.n, r->cycle[i].c.reason);
			few = false;
		}
		ww_str_add(s, "\n");
		add_results(s, r);
		for (int l = 0; l < WW_LAT_COUNT && rc >= 0; l++)
			if (r->summary[l].n + r->summary[l].failures && l != WW_LAT_ASLEEP &&
			    l != WW_LAT_DUT_ASLEEP)
				add_summary_line(s, &r->summary[l], latency_words[l]);
	}
	add_clock(s, r);
	for (size_t i = 0; i < r->notes.n; i++)
		ww_str_addf(s, "%snote: %s\n", i == 0 && r->cycles ? "\n" : "", r->notes.p[i]);
	return rc;
}

/* SPDX-License-Identifier: MIT */
/* The cycles of a trace: which there are, each one judged, all of them summarised. */
#include "analysis/resume_kernel.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>

#define LEAD_NS	     (2 * WW_NS_PER_S) /* of the line before a cycle */
#define TAIL_NS	     (30 * WW_NS_PER_S)
#define CLUSTER_NS   WW_NS_PER_S	/* silences closer together belong to one cycle */
#define LONG_TEXT_NS (20 * WW_NS_PER_S) /* of a boot, without a beat */
#define QUIET_NS     (5 * WW_NS_PER_S)
#define SKEW_QUARTZ  500e-6

struct finder {
	struct ww_trace *t;
	struct ww_resume *r;
	const struct ww_resume_input *in;
	const void *regex;
	struct ww_window line, console;
	struct ww_error *err;
	bool others_woken;
};

static int judge_window(struct finder *f, int64_t from, struct ww_cycle_in *c)
{
	struct ww_resume *r = f->r;
	int64_t begin = ww_iv_ok(c->request) ? c->request.lo_ns : from;
	bool beats = f->in->port != NULL;
	int rc =
		beats ? ww_resume_load(f->t, f->in->port->id, from, c->to_ns, &f->line, f->err) : 0;

	if (rc >= 0 && beats)
		rc = ww_window_classify(&f->line, &r->scan, f->err);
	if (rc >= 0 && f->in->console)
		rc = ww_resume_load(f->t, f->in->console->id, from, c->to_ns, &f->console, f->err);
	if (rc >= 0)
		rc = ww_grow(&r->cycle, &r->cap, r->cycles, sizeof(*r->cycle), f->err);
	if (rc < 0)
		return rc;
	c->console = f->in->console ? &f->console : NULL;
	c->n = (uint32_t)r->cycles + 1;
	c->off = (struct ww_edges){f->in->off.e, f->in->off.n};
	c->woken = (struct ww_edges){f->in->woken.e, f->in->woken.n};
	c->sleep = (struct ww_edges){f->in->sleep.e, f->in->sleep.n};
	c->gap = f->in->gap;
	c->gaps = f->in->gaps;
	c->live = c->trace_ends && ww_trace_state(f->t) == WW_TRACE_LIVE;
	c->unclosed = c->trace_ends && ww_trace_state(f->t) != WW_TRACE_CLOSED;
	c->pm_test = ww_scan_info(&r->scan, "pm_test", c->to_ns);
	c->booted = ww_scan_booted(&r->scan, f->t, begin, c->to_ns);
	c->stats = ww_scan_info(&r->scan, "suspend_stats", c->to_ns);
	for (size_t i = 0; i < r->scan.infos; i++)
		if (r->scan.info[i].t.lo_ns >= begin && r->scan.info[i].t.lo_ns <= c->to_ns &&
		    strcmp(r->scan.info[i].key, "info") == 0 &&
		    strcmp(r->scan.info[i].value, "refused") == 0)
			c->told_refused = true;
	rc = beats ? ww_cycle_judge(&r->scan, &f->line, c, f->regex, &r->cycle[r->cycles], f->err)
		   : ww_control_judge(c, f->regex, &r->cycle[r->cycles], f->err);
	if (rc < 0)
		return rc;
	r->cycle[r->cycles].c.mode = ww_scan_mode(&r->scan, begin, c->to_ns);
	/* Watching, and what looked like an event was none. */
	if (!ww_iv_ok(c->request) && !ww_iv_ok(r->cycle[r->cycles].c.event[WW_EV_LAST_BEAT]))
		ww_cycle_out_free(&r->cycle[r->cycles]);
	else
		r->cycles++;
	return 0;
}

static struct ww_cycle_in blank(struct ww_interval span)
{
	return (struct ww_cycle_in){
		.request = WW_INTERVAL_NONE,
		.request_end = WW_INTERVAL_NONE,
		.wake = WW_INTERVAL_NONE,
		.wake_end = WW_INTERVAL_NONE,
		.end = WW_INTERVAL_NONE,
		.silent = WW_INTERVAL_NONE,
		.alive = WW_INTERVAL_NONE,
		.to_ns = span.hi_ns,
		.trace_ends = true,
		.hint_mono_us = -1,
	};
}

static bool is(const struct ww_mark *m, const char *kind)
{
	return strcmp(m->kind, kind) == 0;
}

/* The mark of a warm-up stands before its request. */
static bool warms_up(const struct ww_trace *t, size_t request)
{
	uint32_t cycle = ww_trace_mark(t, request)->cycle;

	for (size_t i = request; cycle && i-- > 0;) {
		const struct ww_mark *m = ww_trace_mark(t, i);

		if (is(m, WW_MARK_REQUEST))
			break;
		if (m->cycle == cycle && is(m, WW_MARK_WARMUP))
			return true;
	}
	return false;
}

/* The marks of the cycle that mark i requests. Texts are lent by the trace. */
static void take_marks(struct finder *f, size_t i, struct ww_cycle_in *c)
{
	const struct ww_mark *m = ww_trace_mark(f->t, i);
	uint32_t cycle = m->cycle;

	c->request = m->t;
	c->others_woken = f->others_woken;
	c->warmup = warms_up(f->t, i);
	for (i++; (m = ww_trace_mark(f->t, i)) != NULL; i++) {
		if (is(m, WW_MARK_REQUEST)) {
			c->to_ns = m->t.lo_ns;
			c->trace_ends = false;
			break;
		}
		/* What comes after a reset is no return, and after the end no machine. */
		if (is(m, WW_MARK_DUT_RESET) || is(m, WW_MARK_DUT_OFF)) {
			c->to_ns = m->t.lo_ns;
			c->trace_ends = false;
			break;
		}
		if (m->cycle != cycle && m->cycle != 0)
			continue;
		/* Woken between two cycles, it comes back in none of them. */
		if (is(m, WW_MARK_WAKE) && c->end_text) {
			c->to_ns = m->t.lo_ns;
			c->trace_ends = false;
			break;
		}
		/* What could not be done is done again where that helps. */
		if (is(m, WW_MARK_WAKE) && c->wake_text &&
		    strncmp(c->wake_text, "failed", 6) == 0) {
			c->wake = c->wake_end = WW_INTERVAL_NONE;
			c->wake_text = NULL;
		}
		if (is(m, WW_MARK_REQUEST_END) && !c->exit_text) {
			c->request_end = m->t;
			c->exit_text = m->text;
		} else if (is(m, WW_MARK_WAKE) && !ww_iv_ok(c->wake)) {
			c->wake = m->t;
		} else if (is(m, WW_MARK_WAKE_END) && !c->wake_text) {
			c->wake_end = m->t;
			c->wake_text = m->text;
		} else if (is(m, WW_MARK_SILENT)) {
			c->silent = m->t;
		} else if (is(m, WW_MARK_ALIVE) && !c->end_text) {
			c->alive = m->t; /* the last one: before it the silence went on */
		} else if (is(m, WW_MARK_CYCLE_END) && !c->end_text) {
			c->end = m->t;
			c->end_text = m->text;
		}
	}
	/* A long idle tail teaches nothing more. */
	if (ww_iv_ok(c->end) && c->to_ns - c->end.hi_ns > TAIL_NS) {
		c->to_ns = c->end.hi_ns + TAIL_NS;
		c->trace_ends = false;
	}
}

/* Sleeps whose beats came only in a later cycle are given to the cycles that slept. */
static void settle_debts(struct ww_resume *r, unsigned *owed)
{
	struct ww_cycle_out *last = &r->cycle[r->cycles - 1];

	for (size_t i = 0; last->paid && i + 1 < r->cycles; i++) {
		struct ww_cycle_out *o = &r->cycle[i];

		if (!o->backlog || o->slept_us >= 0)
			continue;
		o->slept_us = last->paid_us[0];
		o->awake_us = last->paid_us[1];
		break;
	}
	*owed -= last->paid;
	*owed += last->backlog;
	/* A boot empties every buffer. */
	if (last->c.result == WW_RES_RESET)
		*owed = 0;
}

static int campaign(struct finder *f)
{
	const char *wake = ww_trace_meta(f->t, "campaign.wake");
	const struct ww_mark *m;
	unsigned owed = 0;
	int rc = 0;

	f->others_woken = wake && *wake;
	for (size_t i = 0; (m = ww_trace_mark(f->t, i)) != NULL; i++)
		f->others_woken |= is(m, WW_MARK_WAKE);
	for (size_t i = 0; rc >= 0 && (m = ww_trace_mark(f->t, i)) != NULL; i++) {
		struct ww_cycle_in c = blank(f->r->span);

		if (!is(m, WW_MARK_REQUEST))
			continue;
		take_marks(f, i, &c);
		c.owed = owed;
		rc = judge_window(f, c.request.lo_ns - LEAD_NS, &c);
		if (rc >= 0)
			settle_debts(f->r, &owed);
	}
	return rc;
}

/* Nobody said anything: a wake that was marked by hand lies within the silence. */
static void wake_within(struct finder *f, struct ww_interval before, int64_t to,
			struct ww_cycle_in *c)
{
	const struct ww_mark *m;

	for (size_t i = 0; (m = ww_trace_mark(f->t, i)) != NULL; i++) {
		if (m->t.hi_ns < before.lo_ns || m->t.lo_ns > to)
			continue;
		if (is(m, WW_MARK_WAKE) && !ww_iv_ok(c->wake))
			c->wake = m->t;
		else if (is(m, WW_MARK_WAKE_END) && !c->wake_text) {
			c->wake_end = m->t;
			c->wake_text = m->text;
		}
	}
}

/* Did no beat come from `from` to `to`? Then firmware spoke within one silence. */
static int without_beat(struct finder *f, int64_t from, int64_t to)
{
	size_t most = f->r->scan.unit, n = 0;
	int rc;

	if (to - from > LONG_TEXT_NS)
		return 0;
	rc = ww_resume_load(f->t, f->in->port->id, from, to, &f->line, f->err);
	if (rc >= 0)
		rc = ww_window_classify(&f->line, &f->r->scan, f->err);
	for (size_t i = 0; rc >= 0 && i < f->line.n; i++)
		n += f->line.cls[i] == WW_CL_BEAT;
	return rc < 0 ? rc : n <= most;
}

/* Happenings i and on that are one with those before, up to end; counted in *i. */
static int cluster(struct finder *f, size_t *i, int64_t *end)
{
	const struct ww_scan *s = &f->r->scan;

	while (!s->stamped && *i < s->happenings) {
		int64_t next = s->happened[*i].before.lo_ns;
		int one = next - *end < CLUSTER_NS ? 1 : without_beat(f, *end, next);

		if (one <= 0)
			return one;
		*end = s->happened[(*i)++].after.hi_ns;
	}
	return 0;
}

/* Two happenings in one silence: what was judged last knows more of it, or the same. */
static void drop_twin(struct ww_resume *r, size_t before)
{
	struct ww_interval a, b;

	if (before == 0 || r->cycles != before + 1)
		return;
	a = r->cycle[before - 1].c.event[WW_EV_LAST_BEAT];
	b = r->cycle[before].c.event[WW_EV_LAST_BEAT];
	if (!ww_iv_ok(a) || a.lo_ns != b.lo_ns || a.hi_ns != b.hi_ns)
		return;
	ww_cycle_out_free(&r->cycle[before - 1]);
	r->cycle[before - 1] = r->cycle[before];
	r->cycle[before - 1].c.n = (uint32_t)before;
	r->cycles--;
}

static int judge_once(struct finder *f, int64_t from, struct ww_cycle_in *c)
{
	size_t before = f->r->cycles;
	int rc = judge_window(f, from, c);

	if (rc >= 0)
		drop_twin(f->r, before);
	return rc;
}

static int watched(struct finder *f)
{
	const struct ww_scan *s = &f->r->scan;
	int64_t quiet = 20 * s->cadence.median_ns;
	size_t i = 0;
	int rc = 0;

	while (i < s->happenings && rc >= 0) {
		const struct ww_happened *h = &s->happened[i];
		struct ww_cycle_in c = blank(f->r->span);
		int64_t from = h->before.lo_ns, end;

		/* Old beats can come after the silence: it lies as far back as the sleep. */
		if (s->stamped && h->slept_us > 0 && h->after.lo_ns - h->slept_us * 1000 < from)
			from = h->after.lo_ns - h->slept_us * 1000;
		c.hint_mono_us = h->mono_us;
		end = h->after.hi_ns;
		i++;
		rc = cluster(f, &i, &end);
		if (rc < 0)
			break;
		if (i < s->happenings || f->r->span.hi_ns - end > TAIL_NS) {
			c.to_ns = end + TAIL_NS;
			c.trace_ends = false;
		}
		if (i < s->happenings && s->happened[i].before.lo_ns < c.to_ns)
			c.to_ns = s->happened[i].before.lo_ns;
		wake_within(f, (struct ww_interval){from, from}, end, &c);
		rc = judge_once(f, from - LEAD_NS - WW_NS_PER_S, &c);
	}
	if (quiet < QUIET_NS)
		quiet = QUIET_NS;
	if (rc >= 0 && s->beats && f->r->span.hi_ns - s->last.hi_ns > quiet) {
		struct ww_cycle_in c = blank(f->r->span);

		wake_within(f, s->last, c.to_ns, &c);
		rc = judge_once(f, s->last.lo_ns - LEAD_NS, &c);
	}
	return rc;
}

static int copy_text(char **out, const char *text, struct ww_error *err)
{
	*out = strdup(text ? text : "");
	return *out ? 0 : ww_fail_nomem(err);
}

static int describe(struct ww_trace *t, struct ww_resume *r, struct ww_error *err)
{
	const char *offset = ww_trace_meta(t, "bench.utc_offset_s");
	int rc;

	r->span = ww_trace_span(t);
	r->have_start =
		ww_iv_ok(r->span) && ww_trace_wall(t, r->span.lo_ns, &r->start_real_ns) == 0;
	r->utc_offset_s = offset ? strtoll(offset, NULL, 10) : 0;
	rc = copy_text(&r->zone, ww_trace_meta(t, "bench.timezone"), err);
	return rc < 0 ? rc : copy_text(&r->path, ww_trace_path(t), err);
}

/* What the DUT said last of each thing, in the order in which it first said them. */
static int collect_dut(struct ww_resume *r, struct ww_error *err)
{
	const struct ww_scan *s = &r->scan;

	for (size_t i = 0; i < s->infos; i++) {
		size_t k = 0;
		int rc;

		if (strcmp(s->info[i].key, "info") == 0)
			continue;
		while (k < r->dut_n && strcmp(r->dut[2 * k], s->info[i].key) != 0)
			k++;
		if (k == r->dut_n) {
			rc = ww_grow(&r->dut, &r->dut_cap, k, 2 * sizeof(*r->dut), err);
			if (rc < 0)
				return rc;
			r->dut[2 * r->dut_n++] = s->info[i].key;
		}
		r->dut[2 * k + 1] = s->info[i].value;
	}
	return 0;
}

/* No quartz is off by more than 500 ppm: such a slope is a queue that fills. */
static void fit_clock(struct ww_resume *r)
{
	r->skew = ww_skew_fit(&r->scan.skew);
	for (size_t i = 0; i < WW_SKEW_PARTS; i++)
		r->part_skew[i] = ww_skew_fit(&r->scan.part[i]);
	r->skew_u = ww_skew_u(r->part_skew, WW_SKEW_PARTS);
	if (!(fabs(r->skew) < SKEW_QUARTZ))
		r->skew = r->skew_u = NAN;
}

static int find_all(struct ww_trace *t, struct ww_resume *r, const struct ww_resume_input *in,
		    const void *regex, struct ww_error *err)
{
	struct finder f = {.t = t, .r = r, .in = in, .regex = regex, .err = err};
	bool requested = false;
	int rc;

	for (size_t i = 0; i < ww_trace_mark_count(t); i++)
		requested |= is(ww_trace_mark(t, i), WW_MARK_REQUEST);
	rc = requested || !in->port ? campaign(&f) : watched(&f);
	ww_window_free(&f.line);
	ww_window_free(&f.console);
	return rc;
}

int ww_resume_new(struct ww_trace *t, const struct ww_resume_options *opt, struct ww_resume **out,
		  struct ww_error *err)
{
	const char *pattern = WW_OPT(opt, handoff, NULL);
	struct ww_resume_input in = {0};
	struct ww_resume *r;
	regex_t regex;
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return ww_fail_nomem(err);
	if (pattern && regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
		free(r);
		return ww_fail(err, -EINVAL,
			       "%s: not a POSIX extended regular expression (see regex(7))",
			       pattern);
	}
	rc = ww_resume_gather(t, opt, &in, err);
	if (rc >= 0)
		rc = describe(t, r, err);
	if (rc >= 0)
		rc = copy_text(&r->port, in.port ? in.port->name : "", err);
	if (rc >= 0 && in.port)
		rc = ww_scan_line(t, in.port, opt, &r->scan, err);
	if (rc >= 0)
		rc = find_all(t, r, &in, pattern ? &regex : NULL, err);
	if (rc >= 0)
		rc = ww_kernel_read(t, r, &in, err);
	if (rc >= 0)
		rc = ww_resume_power(t, r, err);
	if (rc >= 0) {
		/* A meter may have seen when the power fell. */
		for (size_t i = 0; i < r->cycles; i++)
			ww_cycle_latencies(&r->scan, &r->cycle[i]);
		fit_clock(r);
		ww_resume_asleep(r);
		rc = ww_resume_summarise(r, err);
	}
	if (rc >= 0)
		rc = collect_dut(r, err);
	if (rc >= 0)
		rc = ww_resume_told(r, err);
	if (rc >= 0)
		rc = ww_resume_notes(t, r, &in, err);
	if (rc >= 0)
		rc = ww_kernel_notes(r, &r->notes, err);
	ww_resume_input_free(&in);
	if (pattern)
		regfree(&regex);
	if (rc < 0) {
		ww_resume_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

void ww_resume_free(struct ww_resume *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->cycles; i++)
		ww_cycle_out_free(&r->cycle[i]);
	free(r->cycle);
	ww_scan_free(&r->scan);
	ww_kernel_free(r->kernel);
	ww_notes_free(&r->notes);
	free(r->dut);
	free(r->zone);
	free(r->port);
	free(r->path);
	free(r);
}

/* SPDX-License-Identifier: MIT */
/* Suspend/resume cycles as JSON (schema wakewatt/resume/1). */
#include "report/length.h"
#include "report/resume.h"

#include <math.h>

static void put(struct ww_json *j, int64_t v, bool open, int digits)
{
	if (open)
		ww_json_null(j, NULL);
	else
		ww_json_decimal(j, NULL, v, digits);
}

/* Seconds since the first record, to the nanosecond. */
static void seconds(struct ww_json *j, const char *key, struct ww_interval t, int64_t zero)
{
	ww_json_open(j, key, '[');
	put(j, t.lo_ns - zero, t.lo_ns == WW_TIME_MIN, 9);
	put(j, t.hi_ns - zero, t.hi_ns == WW_TIME_MAX, 9);
	ww_json_close(j, ']');
}

static int64_t floor_us(int64_t ns)
{
	return ns >= 0 ? ns / 1000 : -((999 - ns) / 1000);
}

/* Milliseconds; rounded outwards, so that the interval still holds. */
static void millis(struct ww_json *j, const char *key, struct ww_interval t)
{
	bool lo_open = t.lo_ns == WW_TIME_MIN, hi_open = t.hi_ns == WW_TIME_MAX;

	ww_json_open(j, key, '[');
	put(j, lo_open ? 0 : floor_us(t.lo_ns), lo_open, 3);
	put(j, hi_open ? 0 : -floor_us(-t.hi_ns), hi_open, 3);
	ww_json_close(j, ']');
}

static void pair(struct ww_json *j, const char *key, const double v[2], int decimals)
{
	ww_json_open(j, key, '[');
	ww_json_trimmed(j, NULL, v[0], decimals);
	ww_json_trimmed(j, NULL, v[1], decimals);
	ww_json_close(j, ']');
}

static void quantity(struct ww_json *j, const char *key, struct ww_quantity q)
{
	int d = ww_decimals_for(q.u, 4);

	if (isnan(q.value)) {
		ww_json_null(j, key);
		return;
	}
	ww_json_open(j, key, '{');
	ww_json_trimmed(j, "value", q.value, d);
	ww_json_trimmed(j, "u", q.u, d);
	ww_json_close(j, '}');
}

/* Latencies of which a bound is known and no more. */
static void json_bound_only(struct ww_json *j, unsigned which)
{
	if (!which)
		return;
	ww_json_open(j, "bound_only", '[');
	for (int l = 0; l < WW_LAT_COUNT; l++)
		if (which >> l & 1)
			ww_json_text(j, NULL, ww_latency_name(l));
	ww_json_close(j, ']');
}

static void json_cycle(struct ww_json *j, const struct ww_resume *r, size_t at)
{
	const struct ww_cycle_out *o = &r->cycle[at];
	int64_t zero = r->span.lo_ns;
	const struct ww_cycle *c = &o->c;

	ww_json_open(j, NULL, '{');
	ww_json_int(j, "n", c->n);
	ww_json_text(j, "result", ww_result_name(c->result));
	ww_json_text(j, "reason", *c->reason ? c->reason : NULL);
	if (c->mode)
		ww_json_text(j, "mode", ww_pm_mode_name(c->mode));
	if (c->warmup)
		ww_json_bool(j, "warmup", true);
	ww_json_open(j, "events_s", '{');
	for (int e = 0; e < WW_EV_COUNT; e++)
		if (ww_iv_ok(c->event[e]))
			seconds(j, ww_event_name(e), c->event[e], zero);
	ww_json_close(j, '}');
	ww_json_open(j, "latency_ms", '{');
	for (int l = 0; l < WW_LAT_COUNT; l++)
		if (ww_iv_ok(c->latency[l]))
			millis(j, ww_latency_name(l), c->latency[l]);
	ww_json_close(j, '}');
	json_bound_only(j, o->bound_only);
	ww_json_open(j, "starvation", '[');
	for (size_t i = 0; i < c->stalls; i++) {
		ww_json_open(j, NULL, '{');
		seconds(j, "t_s", c->stall[i].t, zero);
		millis(j, "ms", c->stall[i].length);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
	quantity(j, "energy_J", c->energy_J);
	if (isnan(c->energy_J.value))
		ww_json_text(j, "energy_why", c->energy_why);
	quantity(j, "asleep_W", c->asleep_watts);
	ww_resume_json_dut(j, r, at);
	ww_resume_json_kernel(j, r, at);
	ww_json_close(j, '}');
}

/* The interval of the median that there is, with the coverage that it has. */
static void json_actual(struct ww_json *j, const struct ww_latency_summary *s)
{
	if (!(s->actual_coverage > 0)) {
		ww_json_null(j, "ci_actual");
		return;
	}
	ww_json_open(j, "ci_actual", '{');
	ww_json_trimmed(j, "coverage", s->actual_coverage, 6);
	ww_json_trimmed(j, "lo", s->actual_ci[0], 4);
	ww_json_trimmed(j, "hi", s->actual_ci[1], 4);
	ww_json_close(j, '}');
}

static void json_summary(struct ww_json *j, const struct ww_resume *r)
{
	char key[64];

	ww_json_open(j, "summary", '{');
	for (int l = 0; l < WW_LAT_COUNT; l++) {
		const struct ww_latency_summary *s = &r->summary[l];
		struct ww_str name = {0};

		if (s->n + s->failures + s->bound_only == 0 && l != WW_LAT_RESUME_TO_USER)
			continue;
		ww_str_addf(&name, "%s_ms", ww_latency_name(l));
		j->s->bad = j->s->bad || name.bad;
		memset(key, 0, sizeof(key));
		if (name.p)
			memcpy(key, name.p, name.n < sizeof(key) ? name.n : sizeof(key) - 1);
		ww_str_free(&name);
		ww_json_open(j, key, '{');
		ww_json_int(j, "n", (int64_t)s->n);
		ww_json_int(j, "failures", (int64_t)s->failures);
		ww_json_trimmed(j, "median", s->median, 4);
		if (s->bound_only && s->n + s->failures == 0)
			ww_json_text(j, "why", "bounds only: the start was not observed");
		pair(j, "ci95", s->median_ci, 4);
		json_actual(j, s);
		pair(j, "envelope", s->envelope, 4);
		ww_json_trimmed(j, "resolution", s->resolution, 4);
		ww_json_trimmed(j, "p90", s->p90, 4);
		pair(j, "p90_ci95", s->p90_ci, 4);
		ww_json_trimmed(j, "p95", s->p95, 4);
		pair(j, "p95_ci95", s->p95_ci, 4);
		ww_json_trimmed(j, "min", s->min, 4);
		ww_json_trimmed(j, "max", s->max, 4);
		ww_json_int(j, "bounds", (int64_t)s->bounds);
		ww_json_trimmed(j, "median_hi", s->median_hi, 4);
		ww_json_int(j, "bound_only", (int64_t)s->bound_only);
		pair(j, "bound", s->bound, 4);
		ww_json_close(j, '}');
	}
	ww_json_open(j, "results", '{');
	for (int i = 0; i < WW_RES_COUNT; i++)
		if (r->results[i])
			ww_json_int(j, ww_result_name(i), (int64_t)r->results[i]);
	ww_json_close(j, '}');
	pair(j, "failure_rate_ci95", r->fail_ci, 6);
	ww_resume_json_worst(j, r);
	ww_resume_json_kernels(j, r);
	ww_json_close(j, '}');
}

static void json_clock(struct ww_json *j, const struct ww_resume *r)
{
	if (!r->scan.stamped)
		return;
	ww_json_open(j, "clock", '{');
	if (isnan(r->skew)) {
		ww_json_null(j, "skew_ppm");
		ww_json_text(j, "why", "too little data, or beats that waited in a queue");
	} else {
		ww_json_open(j, "skew_ppm", '{');
		ww_json_trimmed(j, "value", r->skew * 1e6, 3);
		ww_json_trimmed(j, "u", r->skew_u * 1e6, 3);
		ww_json_close(j, '}');
	}
	ww_json_open(j, "sleeps", '[');
	for (size_t i = 1; i < r->scan.skew.n; i++) {
		const struct ww_stretch *h = &r->scan.skew.stretch[i];
		struct ww_interval t = {h->r0_ns, h->r0_ns};

		if (h->fresh)
			continue;
		ww_json_open(j, NULL, '{');
		seconds(j, "until_s", t, r->span.lo_ns);
		ww_json_trimmed(j, "bench_s", ww_skew_slept(&r->scan.skew, r->skew, i) / 1e9, 6);
		ww_json_trimmed(j, "dut_s", (double)h->slept_us / 1e6, 6);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
	ww_json_close(j, '}');
}

static void json_beat(struct ww_json *j, const struct ww_resume *r)
{
	ww_json_open(j, "beat", '{');
	ww_json_text(j, "port", r->port);
	ww_json_text(j, "format", r->scan.beats ? r->scan.stamped ? "stamped" : "plain" : NULL);
	ww_json_text(j, "mode", ww_beat_mode_name(r));
	ww_json_int(j, "beats", (int64_t)r->scan.beats);
	ww_json_int(j, "lost", (int64_t)r->scan.lost);
	ww_json_trimmed(j, "period_ms", (double)r->scan.cadence.median_ns / 1e6, 3);
	ww_json_close(j, '}');
}

static void json_report(struct ww_str *s, const struct ww_resume *r)
{
	struct ww_json j = {.s = s};
	struct ww_str start = {0};

	if (r->have_start)
		ww_str_time(&start, r->start_real_ns, (int32_t)r->utc_offset_s);
	s->bad = s->bad || start.bad;
	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/resume/1");
	ww_json_text(&j, "start", start.p);
	json_beat(&j, r);
	ww_json_open(&j, "dut", '{');
	for (size_t i = 0; i < r->dut_n; i++)
		ww_json_text(&j, r->dut[2 * i], r->dut[2 * i + 1]);
	ww_json_close(&j, '}');
	ww_json_open(&j, "cycles", '[');
	for (size_t i = 0; i < r->cycles; i++)
		json_cycle(&j, r, i);
	ww_json_close(&j, ']');
	json_summary(&j, r);
	json_clock(&j, r);
	ww_json_open(&j, "notes", '[');
	for (size_t i = 0; i < r->notes.n; i++)
		ww_json_text(&j, NULL, r->notes.note[i]);
	ww_json_close(&j, ']');
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
	ww_str_free(&start);
}

int ww_resume_report(const struct ww_resume *r, int form, char **out, struct ww_error *err)
{
	struct ww_str s = {0};
	int rc = 0;

	if (form == WW_REPORT_JSON)
		json_report(&s, r);
	else if (form == WW_REPORT_TEXT)
		rc = ww_resume_text(&s, r, err);
	else if (form == WW_REPORT_CSV)
		ww_resume_csv(&s, r);
	else
		rc = ww_fail(err, -EINVAL, "report form %d is not known", form);
	if (rc < 0) {
		ww_str_free(&s);
		return rc;
	}
	return ww_str_take(&s, out, err);
}

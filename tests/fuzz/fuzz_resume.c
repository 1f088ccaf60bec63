/* SPDX-License-Identifier: MIT */
/*
 * One cycle from any bytes at any times, with any marks: a judgement that keeps its word.
 * Eight bytes of circumstances, then: below 32 time passes, from 128 on a stamped beat is
 * made, the rest are bytes as they are.
 */
#include "../analysis/dutsim.h"
#include "analysis/resume.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct maker {
	struct ww_window w;
	int64_t t, mono, off;
	uint32_t seq;
};

static void put(struct maker *m, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++) {
		int64_t lo = m->t, hi = m->t + MS;

		m->t += 90000;
		if (ww_window_add(&m->w, 1, &lo, &hi, &b[i], NULL) < 0)
			abort();
	}
}

static void beat(struct maker *m, uint8_t c)
{
	char b[WW_BEAT_LEN] = {'!'};
	int64_t by = c & 31;

	m->mono += 2000;
	if (c >= 0xe0) {
		m->mono = by * 1000;
		m->off = 0;
	} else if (c >= 0xc0) {
		m->mono += by * 100000;
	} else if (c >= 0xa0) {
		m->off += by * 100000;
	} else {
		m->mono += by * 1000;
		m->seq += c == 0x9f;
	}
	sim_digits(b + 1, 4, m->seq++ & 0xffffff);
	sim_digits(b + 5, 8, (uint64_t)m->mono);
	sim_digits(b + 13, 7, (uint64_t)m->off);
	sim_digits(b + 20, 2, ww_beat_check(b + 1, 19));
	b[22] = '\n';
	put(m, b, sizeof(b));
}

static struct ww_interval at(uint8_t b, uint8_t flag)
{
	int64_t t = S + b * 100 * MS;

	return flag ? (struct ww_interval){t, t + MS} : WW_INTERVAL_NONE;
}

static void check(const struct ww_scan *s, const struct ww_cycle_out *o)
{
	bool waits = s->mode < WW_BEAT_REOPEN && !s->line_idles;

	if (o->c.result < 0 || o->c.result >= WW_RES_COUNT || !o->c.reason)
		abort();
	/* What may have been buffered proves nothing of user space. */
	if (!s->stamped && waits && ww_iv_ok(o->c.event[WW_EV_FIRST_BEAT]))
		abort();
	for (int l = 0; l < WW_LAT_COUNT; l++)
		if (ww_iv_ok(o->c.latency[l]) && o->c.latency[l].hi_ns < 0 &&
		    l != WW_LAT_SUSPEND_ENTRY && o->c.result == WW_RES_OK &&
		    !ww_iv_ok(o->c.event[WW_EV_WAKE]))
			abort();
	for (size_t i = 0; i < o->c.stalls; i++)
		if (!ww_iv_ok(o->c.stall[i].length) || !ww_iv_ok(o->c.stall[i].t))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct maker m = {.t = S, .mono = 1000000};
	struct ww_scan s = {.is_beat = {['a'] = 1}, .unit = 1, .ahead = WW_TTY_BUFFER};
	struct ww_cycle_out out;
	struct ww_error err = {0};

	if (n < 8)
		return 0;
	s.stamped = data[0] & 1;
	s.mode = data[0] >> 1 & 3;
	s.line_idles = data[0] >> 3 & 1;
	s.cadence = (struct ww_cadence){2 * MS, 10 * MS, 10 * MS, MS};
	for (size_t i = 8; i < n && m.w.n < 100000; i++) {
		if (data[i] < 32)
			m.t += (int64_t)(data[i] + 1) * (data[i] + 1) * (data[i] + 1) * MS;
		else if (data[i] >= 128)
			beat(&m, data[i]);
		else
			put(&m, &data[i], 1);
	}
	if (ww_window_classify(&m.w, &s, &err) < 0)
		abort();
	struct ww_cycle_in in = {
		.n = 1,
		.request = at(data[1], data[0] & 16),
		.request_end = WW_INTERVAL_NONE,
		.wake = at(data[2], data[0] & 32),
		.wake_end = at(data[3], data[0] & 32),
		.end = at(data[4], data[0] & 64),
		.exit_text = data[6] & 1 ? "exit 1: no" : NULL,
		.end_text = data[6] & 2 ? "timeout" : NULL,
		.others_woken = data[6] & 4,
		.told_refused = data[6] & 8,
		.to_ns = m.t + data[5] * 100 * MS,
		.trace_ends = data[6] & 16,
		.hint_mono_us = -1,
		.owed = data[7] & 3,
	};
	if (ww_cycle_judge(&s, &m.w, &in, NULL, &out, &err) < 0)
		abort();
	check(&s, &out);
	ww_cycle_out_free(&out);
	ww_window_free(&m.w);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Starvation after a resume and the return of the cadence. A gap counts when it is
 * longer than the limit that the undisturbed line gave (resume_scan.c) while no beat is
 * missing: a jump of the sequence number is lost bytes, not starvation.
 */
#include "analysis/resume.h"

#define STEADY_NS	WW_NS_PER_S
#define STEADY_MIN	8 /* beats */
#define LOOK_NS		(10 * WW_NS_PER_S)
#define DEFAULT_CHAR_NS 86806 /* 115200 baud */

struct gap {
	struct ww_interval length;
	bool stall;
	uint32_t lost; /* beats */
};

/* The beat makes way for an information line: so long that line lasts on the wire. */
static int64_t info_between(const struct ww_scan *s, const struct ww_window *w, size_t a, size_t b)
{
	const char *baud = ww_scan_info(s, "baud", WW_TIME_MAX);
	int64_t bytes = 0, rate = baud ? strtoll(baud, NULL, 10) : 0;

	for (size_t i = a; i < b; i++)
		bytes += w->cls[i] == WW_CL_INFO;
	return bytes * (rate > 0 ? 10 * WW_NS_PER_S / rate : DEFAULT_CHAR_NS);
}

static struct gap between(const struct ww_scan *s, const struct ww_window *w, size_t u)
{
	const struct ww_rbeat *a = &w->beat[u], *b = &w->beat[u + 1];
	struct ww_interval ta = ww_window_t(w, a->at), tb = ww_window_t(w, b->at);
	struct gap g = {.length = ww_iv_since(tb, ta), .stall = false};
	int64_t way = 0, wire = ww_iv_mid(tb) - ww_iv_mid(ta);
	uint32_t step = (b->seq - a->seq) & 0xffffff;

	if (wire > s->cadence.limit_ns && b->at > a->at + a->len)
		way = info_between(s, w, a->at + a->len, b->at);
	if (w->stamped && step != 1) {
		g.lost = step > 1 && step < 0x800000 ? step - 1 : 0;
		return g;
	}
	if (w->stamped) {
		int64_t dut = (b->mono_us + b->sleep_us - a->mono_us - a->sleep_us) * 1000;

		if (dut - way > s->cadence.dut_limit_ns) {
			g.stall = true;
			g.length = (struct ww_interval){dut - 1000, dut + 1000};
			return g;
		}
	}
	g.stall = wire - way > s->cadence.limit_ns;
	if (g.length.lo_ns < 0)
		g.length.lo_ns = 0;
	return g;
}

static int add_stall(struct ww_cycle_out *out, struct ww_stall st, struct ww_error *err)
{
	int rc = ww_grow(&out->stall, &out->stalls_cap, out->c.stalls, sizeof(*out->stall), err);

	if (rc >= 0)
		out->stall[out->c.stalls++] = st;
	return rc;
}

/*
 * Plain bytes that may have waited in the buffer prove nothing of user space: a pause
 * among them is no starvation, it may be the time until the tasks thaw.
 */
static bool may_be_old(const struct ww_cycle_out *out, const struct ww_window *w, size_t u0,
		       size_t u)
{
	return out->only_uart && w->beat[u].at - w->beat[u0].at < WW_TTY_BUFFER + WW_TTY_FIFO;
}

/*
 * Bytes that prove no user space prove no cadence of it either. Of plain beats the first
 * ones may be old, and then the cadence begins with the first that is not.
 */
static struct ww_interval steady_from(const struct ww_scan *s, const struct ww_window *w, size_t u0,
				      size_t start, const struct ww_cycle_out *out)
{
	struct ww_interval t = ww_window_t(w, w->beat[start].at);
	struct ww_interval first = out->c.event[WW_EV_FIRST_BEAT];
	size_t unit = s->unit ? s->unit : 1;

	if (w->stamped)
		return t;
	if (!ww_iv_ok(first))
		return WW_INTERVAL_NONE;
	if (start < u0 + unit && first.hi_ns > t.hi_ns)
		t.hi_ns = first.hi_ns;
	return t;
}

int ww_cadence_after(const struct ww_scan *s, const struct ww_window *w, size_t u0,
		     struct ww_cycle_out *out, struct ww_error *err)
{
	int64_t need = 5 * s->cadence.median_ns > STEADY_NS ? 5 * s->cadence.median_ns : STEADY_NS;
	int64_t t0 = ww_iv_mid(ww_window_t(w, w->beat[u0].at));
	size_t start = u0;
	bool steady = false;
	int rc = 0;

	for (size_t u = u0; u + 1 < w->beats && rc >= 0; u++) {
		struct ww_interval t = ww_window_t(w, w->beat[u].at);
		struct gap g;

		if (ww_iv_mid(t) - t0 > LOOK_NS && steady)
			break;
		g = between(s, w, u);
		out->lost_beats += g.lost;
		if (g.stall && may_be_old(out, w, u0, u)) {
			if (g.length.lo_ns > out->pause_ns)
				out->pause_ns = g.length.lo_ns;
		} else if (g.stall && ww_iv_mid(t) - t0 <= LOOK_NS) {
			rc = add_stall(out, (struct ww_stall){.t = t, .length = g.length}, err);
		}
		if (g.stall)
			start = u + 1;
		if (steady || u + 1 - start < STEADY_MIN)
			continue;
		if (ww_iv_mid(ww_window_t(w, w->beat[u + 1].at)) -
			    ww_iv_mid(ww_window_t(w, w->beat[start].at)) >=
		    need) {
			steady = true;
			out->c.event[WW_EV_STEADY] = steady_from(s, w, u0, start, out);
		}
	}
	return rc < 0 ? rc : 0;
}

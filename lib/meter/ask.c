/* SPDX-License-Identifier: MIT */
#include "meter/ask.h"
#include "meter/pace.h"

#include <stdio.h>

#define FIRST_NS  (6 * WW_NS_PER_S) /* within it a meter that is one has answered */
#define DRAIN_NS  (1500 * WW_NS_PER_MS)
#define SILENT_NS (2 * WW_NS_PER_S)
#define RETRY_NS  WW_NS_PER_S
#define MANY	  3 /* unanswered requests: no answer that is late, but none */

static void drain(struct ww_ask *a, int64_t now)
{
	a->phase = WW_ASK_DRAIN;
	a->limit_ns = ww_add_sat(now, DRAIN_NS);
	a->deadline_ns = ww_add_sat(now, a->quiet_ns);
}

void ww_ask_start(struct ww_ask *a, int64_t now_ns)
{
	a->begun_ns = now_ns;
	a->next_ns = now_ns;
	drain(a, now_ns);
}

void ww_ask_stop(struct ww_ask *a)
{
	a->phase = WW_ASK_IDLE;
	a->deadline_ns = WW_TIME_MAX;
}

void ww_ask_heard(struct ww_ask *a, struct ww_interval t, size_t n)
{
	a->heard += n;
	if (a->phase == WW_ASK_WAIT)
		a->deadline_ns = ww_add_sat(t.hi_ns, a->piece_ns);
	else if (a->phase == WW_ASK_DRAIN)
		a->deadline_ns = ww_add_sat(t.hi_ns, a->quiet_ns);
	else
		return;
	/* What never stops talking is asked all the same: its answer may be found within. */
	if (a->deadline_ns > a->limit_ns)
		a->deadline_ns = a->limit_ns;
}

static void account(struct ww_ask *a, struct ww_interval t, const struct ww_meter_out *out)
{
	int64_t from = a->told ? a->told_ns : a->last.hi_ns, n;
	const char *why = a->told ? "silent" : a->damaged ? "damaged" : "missing";

	/* Slow is not lost: each request was answered. */
	if (!a->missed && !a->damaged && !a->told)
		return;
	if (!a->has_last || ww_since(t.lo_ns, a->last.hi_ns) <= a->expect_ns * 7 / 4)
		return;
	n = ww_add_sat(ww_since(ww_iv_mid(t), ww_iv_mid(a->last)), a->expect_ns / 2);
	n = n / a->expect_ns - 1 - a->told;
	if (n > 0)
		out->loss(out->ctx, ww_lost_before(from, t, a->expect_ns), n, why);
}

/* What an answer tells of the meter's own pace. */
static void pace(struct ww_ask *a, int64_t took)
{
	const int64_t step = 50 * WW_NS_PER_MS;

	if (!a->missed) {
		a->rtt_ns = took > a->rtt_ns ? took : a->rtt_ns;
	} else if (took > 2 * a->rtt_ns + step) {
		/* Perhaps to the request that was given up: waited for longer from now on. */
		a->rtt_ns = a->reply_ns;
	}
	if (a->rtt_ns > WW_ASK_USUAL_NS + a->held_ns) {
		a->held_ns = (a->rtt_ns - WW_ASK_USUAL_NS + step - 1) / step * step;
		a->slower = true;
	}
	a->slow = took + a->least_ns > a->expect_ns ? a->slow + 1 : 0;
	if (a->slow < MANY)
		return;
	a->slow = 0;
	a->expect_ns = (took + a->least_ns + step - 1) / step * step;
	a->slower = true;
}

/* A meter that is quick has lost what does not come soon. */
static int64_t patience(const struct ww_ask *a)
{
	int64_t p = 4 * a->rtt_ns + WW_ASK_USUAL_NS;

	if (!a->known || a->missed)
		return a->reply_ns;
	if (p < a->period_ns)
		p = a->period_ns;
	return p < a->reply_ns ? p : a->reply_ns;
}

void ww_ask_good(struct ww_ask *a, struct ww_interval t, const struct ww_meter_out *out)
{
	account(a, t, out);
	if (a->phase == WW_ASK_WAIT)
		pace(a, ww_since(t.hi_ns, a->sent_ns));
	a->known = a->has_last = true;
	a->last = t;
	a->missed = 0;
	a->told = 0;
	a->damaged = false;
	a->phase = WW_ASK_REST;
	a->deadline_ns = a->next_ns;
	if (a->deadline_ns < ww_add_sat(t.hi_ns, a->least_ns))
		a->deadline_ns = ww_add_sat(t.hi_ns, a->least_ns);
}

void ww_ask_bad(struct ww_ask *a, struct ww_interval t)
{
	if (a->phase == WW_ASK_IDLE || a->phase == WW_ASK_DEAD)
		return;
	a->bad++;
	a->damaged = true;
	drain(a, t.hi_ns);
}

static void silence(struct ww_ask *a, int64_t now, const struct ww_meter_out *out)
{
	int64_t from = a->told ? a->told_ns : a->last.hi_ns, n;
	int64_t least = MANY * a->expect_ns > SILENT_NS ? MANY * a->expect_ns : SILENT_NS;

	if (!a->has_last || ww_since(now, from) < least)
		return;
	n = ww_since(now, a->last.hi_ns) / a->expect_ns - a->told;
	if (n <= 0)
		return;
	out->loss(out->ctx, (struct ww_interval){from, now}, n, a->damaged ? "damaged" : "silent");
	a->told += n;
	a->told_ns = now;
}

enum ww_ask_todo ww_ask_tick(struct ww_ask *a, int64_t now_ns, const struct ww_meter_out *out)
{
	if (now_ns < a->deadline_ns || a->phase == WW_ASK_IDLE || a->phase == WW_ASK_DEAD)
		return WW_ASK_NOTHING;
	if (!a->known && ww_since(now_ns, a->begun_ns) >= FIRST_NS) {
		a->phase = WW_ASK_DEAD;
		a->deadline_ns = WW_TIME_MAX;
		return WW_ASK_GIVE_UP;
	}
	if (a->phase == WW_ASK_WAIT) {
		a->missed++;
		a->damaged |= a->heard != a->heard_before;
	}
	silence(a, now_ns, out);
	if (a->phase == WW_ASK_WAIT && a->missed >= MANY && a->known) {
		/* Away for long: it is asked now and then, and what it began to say is old. */
		a->phase = WW_ASK_REST;
		a->deadline_ns = now_ns + RETRY_NS;
		return WW_ASK_NOTHING;
	}
	/* On the grid of the period, unless an answer came too late for it. */
	if (a->next_ns <= now_ns)
		a->next_ns += a->period_ns;
	if (a->next_ns <= now_ns || a->phase == WW_ASK_DRAIN)
		a->next_ns = now_ns + a->period_ns;
	a->phase = WW_ASK_WAIT;
	a->heard_before = a->heard;
	a->sent_ns = now_ns;
	a->deadline_ns = now_ns + patience(a);
	a->limit_ns = a->deadline_ns + DRAIN_NS;
	return WW_ASK_SEND;
}

void ww_ask_tale(const struct ww_ask *a, const uint8_t *first, size_t n, char *out, size_t size)
{
	size_t k;

	if (!a->heard) {
		snprintf(out, size, "nothing at all came");
		return;
	}
	k = (size_t)snprintf(out, size, "%llu bytes came, none of them an answer of this meter:",
			     (unsigned long long)a->heard);
	for (size_t i = 0; i < n && k + 4 < size; i++)
		k += (size_t)snprintf(out + k, size - k, " %02x", first[i]);
}

/* SPDX-License-Identifier: MIT */
#include "meter/pace.h"

#include <stdarg.h>
#include <stdio.h>

#define SILENT	  3 /* questions without an answer */
#define FROZEN_NS (60 * WW_NS_PER_S)

void ww_meter_tell(const struct ww_meter_out *out, struct ww_interval t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out->event(out->ctx, t, WW_MARK_DEVICE, text);
}

void ww_pace_init(struct ww_pace *p, size_t channels, int64_t every_ns, int64_t refresh_ns)
{
	*p = (struct ww_pace){.every_ns = every_ns,
			      .refresh_ns = refresh_ns,
			      .channels = channels,
			      .next_ns = WW_TIME_MAX};
}

int64_t ww_pace_period(const struct ww_pace *p)
{
	return p->every_ns > p->refresh_ns ? p->every_ns : p->refresh_ns;
}

void ww_pace_asked(struct ww_pace *p, int64_t now_ns)
{
	int64_t late = ww_since(now_ns, p->next_ns);

	if (late < 0 || late >= p->every_ns)
		p->next_ns = now_ns;
	p->asks = true;
	p->asked_ns = p->next_ns;
	p->next_ns = ww_add_sat(p->next_ns, p->every_ns);
}

struct ww_interval ww_lost_before(int64_t from, struct ww_interval t, int64_t period_ns)
{
	int64_t to = ww_add_sat(t.lo_ns, -period_ns);

	if (to <= from && from < t.lo_ns)
		to = from + (t.lo_ns - from) / 2;
	return (struct ww_interval){from, to > from ? to : from};
}

/* Readings that should have come since the last one and were not told yet. */
static void account(struct ww_pace *p, struct ww_interval t, const struct ww_meter_out *out)
{
	int64_t from = p->told ? p->told_ns : p->last.hi_ns, period = ww_pace_period(p), n;
	/* An answer that took its time is none that was lost: the questions are counted. */
	int64_t quiet = p->asks ? ww_since(p->asked_ns, p->seen_asked_ns)
				: ww_since(t.lo_ns, p->seen.hi_ns);
	int64_t since = p->asks ? ww_since(p->asked_ns, p->last_asked_ns)
				: ww_since(ww_iv_mid(t), ww_iv_mid(p->last));

	if (!p->has_last || quiet <= p->every_ns * 3 / 2)
		return;
	n = ww_add_sat(since, period / 2) / period - 1 - p->told;
	if (n > 0 && from < t.lo_ns)
		out->loss(out->ctx, ww_lost_before(from, t, period), n,
			  p->told  ? "silent"
			  : p->why ? p->why
				   : "missing");
}

static void watch_frozen(struct ww_pace *p, struct ww_interval t, bool same,
			 const struct ww_meter_out *out)
{
	if (!same) {
		p->changed_ns = t.hi_ns;
		p->frozen = false;
	} else if (p->live && !p->frozen && ww_since(t.hi_ns, p->changed_ns) >= FROZEN_NS) {
		p->frozen = true;
		ww_meter_tell(out, t, "frozen: not one value has changed for %d s",
			      (int)(FROZEN_NS / WW_NS_PER_S));
	}
}

bool ww_pace_give(struct ww_pace *p, struct ww_interval t, const int64_t *codes,
		  const struct ww_meter_out *out)
{
	size_t bytes = p->channels * sizeof(*codes);
	bool same = p->has_last && memcmp(p->code, codes, bytes) == 0;
	/* A refresh that happens as often as it is asked for is seen a little early or late. */
	int64_t fresh = p->refresh_ns - p->refresh_ns / 8;
	bool again = same && ww_since(t.hi_ns, p->last.hi_ns) < fresh &&
		     !(p->asks && p->every_ns >= p->refresh_ns);

	watch_frozen(p, t, same, out);
	p->missed = 0;
	if (again) {
		p->seen_asked_ns = p->asked_ns;
		p->seen = t;
		return false;
	}
	account(p, t, out);
	p->why = NULL;
	p->told = 0;
	p->has_last = true;
	p->last = p->seen = t;
	p->last_asked_ns = p->seen_asked_ns = p->asked_ns;
	memcpy(p->code, codes, bytes);
	out->reading(out->ctx, t, codes);
	return true;
}

void ww_pace_miss(struct ww_pace *p, int64_t now_ns, const char *why,
		  const struct ww_meter_out *out)
{
	int64_t from = p->told ? p->told_ns : p->last.hi_ns, n;
	/* The answer to this question would have stood for the time up to it. */
	int64_t to = p->asks ? p->asked_ns : now_ns;

	p->why = why;
	if (++p->missed < SILENT || !p->has_last)
		return;
	n = ww_since(to, p->asks ? p->last_asked_ns : p->last.hi_ns) / ww_pace_period(p) - p->told;
	if (n <= 0 || from >= to)
		return;
	out->loss(out->ctx, (struct ww_interval){from, to}, n, why);
	p->told += n;
	p->told_ns = to;
}

void ww_pace_register(const struct ww_pace *p, struct ww_interval t, const int64_t *codes,
		      size_t channel, int64_t wrap, const char *what,
		      const struct ww_meter_out *out)
{
	int64_t was = p->has_last ? p->code[channel] : WW_MISSING, is = codes[channel];
	char text[128];

	/* From the upper half to the lower one is its wrap. */
	if (was < WW_CODE_MIN || is < WW_CODE_MIN || is >= was || (wrap && was - is > wrap / 2))
		return;
	snprintf(text, sizeof(text), "energy register fell from %lld to %lld %s", (long long)was,
		 (long long)is, what);
	out->event(out->ctx, t, WW_MARK_RESET, text);
}

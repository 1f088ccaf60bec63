/* SPDX-License-Identifier: MIT */
/* Are kernel text and ftrace of one suspend? Clocks may differ: what lies within what decides. */
#include "analysis/pmpair.h"

#define LIKE_NS	  (2 * WW_NS_PER_MS)  /* two lengths of one phase differ by no more than this */
#define ORDER_NS  (20 * WW_NS_PER_MS) /* events of one suspend contradict each other by less */
#define SENT_NS	  (25 * WW_NS_PER_MS) /* the last lines of a phase, by a serial console */
#define CALLBACKS 4

/* The line that tells a phase's length is sent within the phase as ftrace sees it. */
static bool like(struct ww_interval told, struct ww_interval traced, int64_t sent)
{
	int64_t off = LIKE_NS + ww_iv_mid(traced) / 50;

	return told.lo_ns <= traced.hi_ns + off && traced.lo_ns <= told.hi_ns + off + sent;
}

/* Clocks that are one tell the same begin; those of a virtual machine nearly so. */
static bool together(const struct ww_pm_work *text, const struct ww_pm_work *trace)
{
	int64_t a = text->c.t.lo_ns, b = trace->c.t.lo_ns;

	return a != WW_TIME_MIN && b != WW_TIME_MIN && text->c.clock == WW_PM_CLOCK_PRINTK &&
	       a - b <= WW_NS_PER_S && b - a <= WW_NS_PER_S;
}

/* Phases of devices that both have a length of; those that are alike. */
static void resemblance(const struct ww_pm_work *text, const struct ww_pm_work *trace, size_t *both,
			size_t *alike)
{
	int64_t sent = together(text, trace) ? SENT_NS : 0;

	*both = *alike = 0;
	for (size_t i = 0; i < text->spans; i++) {
		const struct ww_pm_span *x = &text->span[i], *y = ww_pm_span_like(text, x, trace);
		struct ww_interval v = ww_iv_ok(x->printed) ? x->printed : x->length;

		if (!y || !ww_iv_ok(v) || !ww_iv_ok(y->length) || x->failed || y->failed ||
		    x->phase < WW_PM_PREPARE || x->phase > WW_PM_COMPLETE)
			continue;
		++*both;
		*alike += like(v, y->length, sent);
	}
}

/* By how much do the callbacks of both not lie within one another at one offset? -1 not known. */
static int64_t crossed(const struct ww_pm_work *text, const struct ww_pm_work *trace)
{
	struct ww_pm_offset way[2];
	struct ww_pm_pairs pairs;
	int64_t most = -1;

	if (ww_pm_pairs_find(text, trace, &pairs) && pairs.n >= CALLBACKS) {
		for (int i = 0; i < 2; i++) {
			ww_pm_offset_find(text, trace, &pairs, i, &way[i]);
			most = way[i].conflict_ns > most ? way[i].conflict_ns : most;
		}
	}
	ww_pm_pairs_free(&pairs);
	return most;
}

bool ww_pm_same(const struct ww_pm_work *a, const struct ww_pm_work *b)
{
	const struct ww_pm_work *text = a->ftrace ? b : a, *trace = a->ftrace ? a : b;
	size_t both, alike;
	int64_t apart;

	if (a->header_ns != 0 && b->header_ns != 0 && a->header_ns != b->header_ns)
		return false;
	if (a->c.mode && b->c.mode &&
	    (a->c.mode == WW_PM_MODE_DISK) != (b->c.mode == WW_PM_MODE_DISK))
		return false;
	apart = crossed(text, trace);
	if (apart >= 0)
		return apart < ORDER_NS;
	resemblance(text, trace, &both, &alike);
	/* Nothing to compare: order decides, as where clocks differ. */
	return both < 2 || 2 * alike >= both;
}

/* A console costs each phase its last line: what all differ by is no difference. */
int64_t ww_pm_unlike(const struct ww_pm_work *a, const struct ww_pm_work *b)
{
	const struct ww_pm_work *text = a->ftrace ? b : a, *trace = a->ftrace ? a : b;
	int64_t apart = crossed(text, trace), d[WW_PM_PHASES], least = INT64_MAX, sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < text->spans && n < WW_PM_PHASES; i++) {
		const struct ww_pm_span *x = &text->span[i], *y = ww_pm_span_like(text, x, trace);

		if (!y || !ww_iv_ok(x->printed) || !ww_iv_ok(y->length) || x->failed ||
		    x->phase < WW_PM_SUSPEND || x->phase > WW_PM_RESUME)
			continue;
		d[n] = ww_iv_mid(y->length) - ww_iv_mid(x->printed);
		least = d[n] < least ? d[n] : least;
		n++;
	}
	least = n > 0 && least > 0 ? least : 0;
	for (size_t i = 0; i < n; i++)
		sum += d[i] > least ? d[i] - least : least - d[i];
	return sum + (apart > 0 ? apart : 0);
}

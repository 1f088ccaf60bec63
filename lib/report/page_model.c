/* SPDX-License-Identifier: MIT */
/* What the page shows, from recordings and from kernel logs alike. */
#include "report/page.h"
#include "base/stats.h"
#include "report/resume.h"

#include <math.h>

bool ww_page_place(const struct ww_page *p, size_t i, int64_t kernel_ns, int64_t *t)
{
	struct ww_interval at;

	if (!p->r) {
		*t = kernel_ns;
		return true;
	}
	if (ww_resume_kernel_time(p->r, i, kernel_ns, &at) < 0 || !ww_iv_ok(at) ||
	    at.lo_ns == WW_TIME_MIN || at.hi_ns == WW_TIME_MAX)
		return false;
	*t = ww_iv_mid(at);
	return true;
}

/* ---- figures ---- */

static const struct {
	const char *key, *head, *words;
} kernel_figures[WW_PAGE_FIGURES - WW_LAT_COUNT] = {
	{"kernel_suspend", "kernel: suspend", "suspend, by the kernel"},
	{"kernel_resume", "kernel: resume", "resume, by the kernel"},
	{"kernel_suspend_corrected", "suspend, corrected",
	 "suspend, without what the console cost"},
	{"kernel_resume_corrected", "resume, corrected", "resume, without what the console cost"},
	{"kernel_slept", "slept", "slept, by the kernel"},
	{"firmware_resume", "firmware", "resume in firmware, by its own figure"},
	{"storage", "storage", "wake until storage is back"},
	{"network", "network", "wake until the network is back"},
};

static void kernel_values(struct ww_page_cycle *c, const struct ww_pm_cycle *k)
{
	const struct ww_interval v[] = {k->suspend,	     k->resume, k->suspend_corrected,
					k->resume_corrected, k->slept,	k->firmware_resume,
					k->storage,	     k->network};

	for (size_t i = 0; i < WW_COUNTOF(v); i++)
		c->value[WW_LAT_COUNT + i] = v[i];
}

static bool same(struct ww_interval a, struct ww_interval b)
{
	return a.lo_ns == b.lo_ns && a.hi_ns == b.hi_ns;
}

/* Corrected figures that correct nothing are not worth a column. */
static bool used(const struct ww_page *p, int f)
{
	if (f < WW_LAT_COUNT && (!p->r || ww_resume_repeats(p->r, f)))
		return false;
	for (size_t i = 0; i < p->cycles; i++) {
		const struct ww_page_cycle *c = &p->cycle[i];

		if (!ww_iv_ok(c->value[f]))
			continue;
		if ((f != WW_PAGE_SUSPEND_CORRECTED && f != WW_PAGE_RESUME_CORRECTED) ||
		    !same(c->value[f], c->value[f - 2]))
			return true;
	}
	return false;
}

/* Cycles that never ended count as +infinity. */
static bool never(const struct ww_pm_cycle *k, int f)
{
	if (f == WW_PAGE_RESUME || f == WW_PAGE_RESUME_CORRECTED)
		return k->result == WW_PM_RESET || k->result == WW_PM_HUNG;
	if (f == WW_PAGE_SUSPEND || f == WW_PAGE_SUSPEND_CORRECTED)
		return k->result == WW_PM_FAILED || k->result == WW_PM_ABORTED;
	return false;
}

static int summarise(struct ww_page *p, int f, struct ww_error *err)
{
	struct ww_interval *v = calloc(p->cycles + 1, sizeof(*v));
	uint64_t failures = 0;
	size_t n = 0;
	int rc;

	if (!v)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < p->cycles; i++) {
		const struct ww_page_cycle *c = &p->cycle[i];
		bool ok = c->pm && (c->pm->result == WW_PM_OK || c->pm->result == WW_PM_TEST);

		if (c->out && c->out->c.warmup)
			continue;
		failures += c->pm && never(c->pm, f);
		if (ok && ww_iv_ok(c->value[f]))
			v[n++] = c->value[f];
	}
	rc = ww_latency_summarise(v, n, failures, &p->figure[f].sum, err);
	free(v);
	return rc;
}

static int find_figures(struct ww_page *p, struct ww_error *err)
{
	static const int best[] = {WW_LAT_RESUME_TO_USER, WW_LAT_RESUME_TO_ALIVE, WW_PAGE_RESUME,
				   WW_LAT_KERNEL,	  WW_LAT_RESUME_TO_UART,  WW_LAT_SILENCE,
				   WW_PAGE_SUSPEND,	  WW_LAT_SUSPEND_ENTRY};
	int rc = 0;

	for (int f = 0; f < WW_PAGE_FIGURES && rc >= 0; f++) {
		struct ww_page_figure *g = &p->figure[f];

		g->used = used(p, f);
		if (f >= WW_LAT_COUNT) {
			g->key = kernel_figures[f - WW_LAT_COUNT].key;
			g->head = kernel_figures[f - WW_LAT_COUNT].head;
			g->words = kernel_figures[f - WW_LAT_COUNT].words;
			rc = summarise(p, f, err);
			continue;
		}
		g->key = ww_latency_name(f);
		g->words = ww_resume_words(f);
		for (int k = 0; k < WW_LAT_COUNT; k++)
			if (ww_resume_order[k].latency == f)
				g->head = ww_resume_order[k].head;
		if (p->r)
			g->sum = p->r->summary[f];
	}
	p->main = -1;
	for (size_t k = 0; k < WW_COUNTOF(best) && p->main < 0; k++)
		if (p->figure[best[k]].sum.n && (best[k] >= WW_LAT_COUNT || p->r))
			p->main = best[k];
	return rc;
}

/* ---- cycles ---- */

static void judge(struct ww_page_cycle *c, const struct ww_cycle_out *o,
		  const struct ww_pm_cycle *pm)
{
	if (o) {
		c->n = o->c.n;
		c->result = ww_result_name(o->c.result);
		c->good = o->c.result == WW_RES_OK || o->c.result == WW_RES_PM_TEST;
		c->bad = !c->good && o->c.result != WW_RES_UNKNOWN;
		if (o->c.warmup) /* listed, but in no figure */
			c->good = c->bad = false;
		return;
	}
	c->n = pm->n;
	c->result = ww_pm_result_name(pm->result);
	c->good = pm->result == WW_PM_OK || pm->result == WW_PM_TEST;
	c->bad = !c->good && pm->result != WW_PM_TRUNCATED;
}

/* What made it fail, and what woke it. */
static void kernel_reason(struct ww_str *s, const struct ww_pm_cycle *k)
{
	struct ww_str why = {0};
	const char *text;

	ww_pm_why(&why, k);
	text = ww_pm_why_alone(&why);
	ww_str_add(s, text);
	if (*k->reason.wakeup && !strstr(text, k->reason.wakeup))
		ww_str_addf(s, "%swoken by %s", s->n ? ", " : "", k->reason.wakeup);
	s->bad = s->bad || why.bad;
	ww_str_free(&why);
}

static int reason(struct ww_page_cycle *c, struct ww_error *err)
{
	struct ww_str s = {0};
	int rc;

	if (c->out && c->out->c.warmup)
		ww_str_add(&s, "a warm-up, in no figure");
	if (c->out && *c->out->c.reason)
		ww_str_addf(&s, "%s%s", s.n ? "; " : "", c->out->c.reason);
	if (c->pm && (!c->out || !s.n))
		kernel_reason(&s, c->pm);
	ww_str_add(&s, "");
	rc = ww_str_take(&s, &c->reason, err);
	ww_str_free(&s);
	return rc;
}

static void add_energy(struct ww_page *p, size_t i, const struct ww_pm_cycle *pm)
{
	for (size_t k = 0; k < pm->spans; k++) {
		const struct ww_pm_span *s = &pm->span[k];
		struct ww_page_energy *e;
		struct ww_quantity q;

		if (s->phase <= 0 || s->phase >= WW_PM_PHASES ||
		    !ww_resume_span_energy(p->r, i, s, &q))
			continue;
		e = &p->energy[s->phase];
		e->n++;
		e->J += q.value;
		/* The meter errs alike in all cycles: no part of it averages out for sure. */
		e->u += q.u;
		e->seconds += (double)(s->end_ns - s->start_ns) / 1e9;
	}
}

int ww_page_add(struct ww_page *p, size_t i, const struct ww_cycle_out *o,
		const struct ww_pm_cycle *pm, struct ww_error *err)
{
	struct ww_page_cycle *c;
	int rc = ww_grow(&p->cycle, &p->cap, p->cycles, sizeof(*p->cycle), err);

	if (rc < 0)
		return rc;
	c = &p->cycle[p->cycles++];
	*c = (struct ww_page_cycle){.out = o};
	for (int f = 0; f < WW_PAGE_FIGURES; f++)
		c->value[f] = o && f < WW_LAT_COUNT ? o->c.latency[f] : WW_INTERVAL_NONE;
	judge(c, o, pm);
	p->good += c->good;
	p->bad += c->bad;
	if (pm) {
		struct ww_pm_cycle as = *pm; /* by the recording's number */

		kernel_values(c, pm);
		as.n = c->n;
		if (!o || !o->c.warmup)
			ww_ksum_add(&p->sum, &as);
		if (o && !o->c.warmup)
			add_energy(p, i, pm);
		c->pm = ww_pm_cycle_copy(pm, p->devices);
		if (!c->pm)
			return ww_fail_nomem(err);
		c->left_out = pm->devices - c->pm->devices + pm->devices_left_out;
	}
	rc = reason(c, err);
	ww_page_axis_make(p, i, c);
	if (rc >= 0)
		rc = ww_page_lanes(p, i, c, err);
	if (rc >= 0 && p->t)
		rc = ww_page_read(p, c, err);
	return rc;
}

/* ---- which cycles are drawn at once ---- */

/* Failures before all, then the slowest. */
static double badness(const struct ww_page *p, const struct ww_page_cycle *c)
{
	double ms = p->main < 0 ? NAN : ww_pm_ms(c->value[p->main]);

	return c->bad ? INFINITY : c->good && !isnan(ms) ? ms : -INFINITY;
}

static bool is_chosen(const struct ww_page *p, size_t i)
{
	for (size_t k = 0; k < p->chosens; k++)
		if (p->chosen[k] == i)
			return true;
	return false;
}

static void choose(struct ww_page *p)
{
	double median = p->main < 0 ? NAN : p->figure[p->main].sum.median, near = INFINITY;
	size_t most = p->cycles < WW_COUNTOF(p->chosen) ? p->cycles : WW_COUNTOF(p->chosen);

	for (size_t i = 0; i < p->cycles && isfinite(median); i++) {
		const struct ww_page_cycle *c = &p->cycle[i];
		double d = fabs(ww_pm_ms(c->value[p->main]) - median);

		if (c->good && d < near) {
			near = d;
			p->chosen[0] = i;
			p->chosens = 1;
			p->has_typical = true;
		}
	}
	while (p->chosens < most) {
		size_t best = p->cycles;

		for (size_t i = 0; i < p->cycles; i++)
			if (!is_chosen(p, i) &&
			    (best == p->cycles ||
			     badness(p, &p->cycle[i]) > badness(p, &p->cycle[best])))
				best = i;
		p->chosen[p->chosens++] = best;
	}
}

int ww_page_finish(struct ww_page *p, struct ww_error *err)
{
	int rc = find_figures(p, err);

	ww_ksum_sort(&p->sum);
	ww_clopper_pearson((int64_t)p->bad, (int64_t)(p->good + p->bad), .95, &p->fail_ci[0],
			   &p->fail_ci[1]);
	choose(p);
	if (rc >= 0 && (p->names.bad || p->sum.bad || p->notes.bad))
		rc = ww_fail_nomem(err);
	return rc;
}

void ww_page_free(struct ww_page *p)
{
	for (size_t i = 0; i < p->cycles; i++) {
		struct ww_page_cycle *c = &p->cycle[i];

		for (size_t k = 0; k < c->serieses; k++)
			free(c->series[k].point);
		ww_pm_cycle_free(c->pm);
		free(c->reason);
		free(c->start);
		free(c->end);
		free(c->lane);
	}
	free(p->cycle);
	ww_ksum_free(&p->sum);
	ww_names_free(&p->names);
	ww_notes_free(&p->notes);
	ww_notes_free(&p->inputs);
}

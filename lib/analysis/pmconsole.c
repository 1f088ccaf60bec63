/* SPDX-License-Identifier: MIT */
/*
 * Figures without what the console cost. A callback's own lines and those of its task within
 * it are surely its cost; lines of an unknown task are, where no other task was at work, and
 * may be otherwise: then the corrected figure is as wide. A phase loses what was printed
 * while no other task's work could hide it, and at most all that was printed in it.
 *
 * The kernel's own "usecs" begin after the line that announces the call and end before the
 * line of the return (drivers/base/power/main.c: initcall_debug_start, initcall_debug_report),
 * as do ftrace's events; stamps of the two lines hold the first of them too.
 */
#include "analysis/pmconsole.h"
#include "base/str.h"

#include <math.h>

#define SHARE .02 /* of the time: less disturbs nothing */

struct sums {
	double lo, hi; /* surely, at most */
};

static double at_least_0(double v)
{
	return v > 0 ? v : 0;
}

/* What lines printed from a to before b cost the task, the line `but` (index + 1) apart. */
static struct sums of_task(const struct ww_pm_sent_lines *l, int32_t pid, size_t a, size_t b,
			   uint32_t but)
{
	struct sums s = {0, 0};

	if (a >= b)
		return s;
	if (pid >= 0)
		ww_pm_sent_of(l, pid, a, b, &s.lo, &s.hi);
	s.lo += l->sum.free_lo[b] - l->sum.free_lo[a];
	s.hi += l->sum.free_hi[b] - l->sum.free_hi[a];
	if (but > a && but <= b) {
		const struct ww_pm_sent *p = &l->line[but - 1];

		s.hi -= p->hi_ns;
		if (p->pid >= 0 || p->alone)
			s.lo -= p->lo_ns;
	}
	return s;
}

static struct ww_interval less(struct ww_interval v, struct sums s)
{
	double lo = at_least_0((double)v.lo_ns - s.hi), hi = at_least_0((double)v.hi_ns - s.lo);

	return (struct ww_interval){(int64_t)floor(lo), (int64_t)ceil(hi > lo ? hi : lo)};
}

static struct ww_interval both(struct ww_interval a, struct ww_interval b)
{
	struct ww_interval v = {a.lo_ns > b.lo_ns ? a.lo_ns : b.lo_ns,
				a.hi_ns < b.hi_ns ? a.hi_ns : b.hi_ns};

	return ww_iv_ok(v) ? v : a;
}

static bool stamped(int64_t start, int64_t end)
{
	return start != WW_TIME_MIN && end != WW_TIME_MAX && start <= end;
}

/* By the stamps of its two lines, which hold the announcing one and a wait for the port. */
static struct ww_interval by_stamps(const struct ww_pm_sent_lines *l, const struct ww_pm_device *d,
				    size_t a, size_t b, uint32_t call, int64_t res)
{
	struct sums s = of_task(l, d->pid, a, b, 0);
	int64_t from = call ? l->line[call - 1].t_ns : d->start_ns;

	/* Others may have had the port: at most all that was printed meanwhile. */
	s.hi = fmax(s.hi, l->sum.all_hi[b] - l->sum.all_hi[a]);
	if (a > 0)
		s.hi += at_least_0((double)(l->line[a - 1].t_ns - from) + l->line[a - 1].hi_ns);
	return less((struct ww_interval){d->end_ns - from - res, d->end_ns - from + res}, s);
}

/*
 * What was printed within it, its announcement apart: surely its own lines. The lines of other
 * tasks, too, where one CPU has to do both: whoever writes to a UART keeps it.
 */
static struct sums within(const struct ww_pm_sent_lines *l, const struct ww_pm_device *d, size_t a,
			  size_t b, uint32_t call, bool one_cpu)
{
	struct sums s = of_task(l, d->pid, a, b, call);
	double all = l->sum.kept[b] - l->sum.kept[a];

	if (call > a && call <= b)
		all -= l->sum.kept[call] - l->sum.kept[call - 1];
	if (one_cpu && all > s.hi)
		s.hi = all;
	return s;
}

static void device(const struct ww_pm_sent_lines *l, struct ww_pm_device *d, uint32_t call,
		   int64_t res, bool one_cpu)
{
	bool whole = stamped(d->start_ns, d->end_ns);
	struct ww_interval best = d->length;
	size_t a, b;

	d->corrected = d->length;
	if (!whole || !ww_iv_ok(best))
		return;
	a = call ? call - 1 : ww_pm_sent_from(l, d->start_ns);
	b = ww_pm_sent_from(l, d->end_ns);
	if (b <= a)
		return;
	if (d->from & 2) {
		d->corrected = less(best, within(l, d, a, b, call, one_cpu));
		return;
	}
	d->corrected = by_stamps(l, d, a, b, call, res);
	if (ww_iv_ok(d->printed))
		d->corrected =
			both(less(d->printed, within(l, d, a, b, call, one_cpu)), d->corrected);
}

/* What was printed between two times: surely to be seen in the whole, and at most. */
static struct sums between(const struct ww_pm_sent_lines *l, int64_t from, int64_t to)
{
	size_t a = ww_pm_sent_from(l, from), b = ww_pm_sent_from(l, to);

	if (from > to || b < a)
		return (struct sums){0, 0};
	return (struct sums){l->sum.alone[b] - l->sum.alone[a],
			     l->sum.all_hi[b] - l->sum.all_hi[a]};
}

/* No phase is shorter than the longest callback in it. */
static int64_t longest(const struct ww_pm_work *w, const struct ww_pm_span *s)
{
	int64_t most = 0;

	for (size_t i = 0; i < w->devices; i++) {
		const struct ww_pm_device *d = &w->device[i];

		if (d->phase == s->phase && stamped(d->start_ns, d->end_ns) &&
		    d->start_ns >= s->start_ns && d->end_ns <= s->end_ns &&
		    ww_iv_ok(d->corrected) && d->corrected.lo_ns > most)
			most = d->corrected.lo_ns;
	}
	return most;
}

static void span(const struct ww_pm_work *w, const struct ww_pm_sent_lines *l, struct ww_pm_span *s)
{
	int64_t start = s->start_ns, end = s->end_ns, most;

	s->corrected = s->length;
	if (!ww_iv_ok(s->length))
		return;
	if (start == WW_TIME_MIN && end != WW_TIME_MAX)
		start = end - ww_iv_mid(s->length);
	if (end == WW_TIME_MAX && start != WW_TIME_MIN)
		end = start + ww_iv_mid(s->length);
	if (!stamped(start, end))
		return;
	s->corrected = less(s->length, between(l, start, end));
	most = longest(w, s);
	if (s->corrected.lo_ns < most)
		s->corrected.lo_ns = most;
	if (s->corrected.hi_ns < s->corrected.lo_ns)
		s->corrected.hi_ns = s->corrected.lo_ns;
}

/* A total from or to a moment that is known. */
static struct ww_interval total(const struct ww_pm_sent_lines *l, struct ww_interval length,
				int64_t from, int64_t to)
{
	if (!ww_iv_ok(length))
		return length;
	if (from <= WW_TIME_MIN / 2 && to < WW_TIME_MAX / 2)
		from = to - ww_iv_mid(length);
	if (to >= WW_TIME_MAX / 2 && from > WW_TIME_MIN / 2)
		to = from + ww_iv_mid(length);
	if (from <= WW_TIME_MIN / 2 || to >= WW_TIME_MAX / 2)
		return length;
	return less(length, between(l, from, to));
}

static int64_t known(struct ww_interval t, int64_t none)
{
	return ww_iv_ok(t) ? ww_iv_mid(t) : none;
}

static void totals(struct ww_pm_cycle *c, const struct ww_pm_sent_lines *l)
{
	int64_t fell = known(c->sleep_begin, WW_TIME_MAX), woke = known(c->sleep_end, WW_TIME_MIN);

	c->suspend_corrected = total(l, c->suspend, c->t.lo_ns, fell);
	c->resume_corrected = total(l, c->resume, woke, WW_TIME_MAX);
}

/* Others went off and came back: then there are some. */
static bool other_cpus(const struct ww_pm_work *w)
{
	for (size_t i = 0; i < w->spans; i++)
		if (w->span[i].phase == WW_PM_CPU_OFF || w->span[i].phase == WW_PM_CPU_ON)
			return true;
	return false;
}

static void unknown(struct ww_pm_work *w)
{
	for (size_t i = 0; i < w->devices; i++)
		w->device[i].corrected = WW_INTERVAL_NONE;
	for (size_t i = 0; i < w->spans; i++)
		w->span[i].corrected = WW_INTERVAL_NONE;
	w->c.suspend_corrected = w->c.resume_corrected = WW_INTERVAL_NONE;
}

static void plain(struct ww_pm_work *w)
{
	struct ww_pm_cycle *c = &w->c;

	for (size_t i = 0; i < w->devices; i++)
		w->device[i].corrected = w->device[i].length;
	for (size_t i = 0; i < w->spans; i++)
		w->span[i].corrected = w->span[i].length;
	c->suspend_corrected = c->suspend;
	c->resume_corrected = c->resume;
	c->console_bytes = 0;
	c->console_ns = 0;
	c->console_bound = NAN;
	c->baud = 0;
	c->console_proof = WW_PM_PROOF_NONE;
}

void ww_pm_console(struct ww_pm_work *w, uint32_t baud, bool no_console)
{
	struct ww_pm_cycle *c = &w->c;
	struct ww_pm_sent_lines l = {0};
	int64_t res = c->stamp_res_ns >= 1 ? (int64_t)c->stamp_res_ns : 1000;

	plain(w);
	for (size_t i = 0; i < w->lines; i++)
		c->console_bytes += w->line[i].kernel ? w->line[i].bytes : 0;
	if (no_console) {
		c->console_bound = 0;
		return;
	}
	if (!ww_pm_sent_cost(w, baud, &l)) {
		w->oom = true;
		goto out;
	}
	c->console_proof = l.proof;
	if (l.proof == WW_PM_PROOF_UNKNOWN)
		unknown(w);
	if (l.proof == WW_PM_PROOF_UNKNOWN || l.baud == 0)
		goto out;
	c->baud = l.baud;
	c->console_ns = (int64_t)((double)c->console_bytes * 1e10 / l.baud);
	c->console_bound = l.judged ? (double)l.bound / (double)l.judged : NAN;
	for (size_t i = 0; i < w->devices; i++)
		device(&l, &w->device[i], l.call[i], res,
		       l.proof == WW_PM_PROOF_PACE || !other_cpus(w));
	for (size_t i = 0; i < w->spans; i++)
		span(w, &l, &w->span[i]);
	totals(c, &l);
out:
	ww_pm_sent_free(&l);
}

void ww_pm_console_add(struct ww_pm_console_sum *s, const struct ww_pm_cycle *c)
{
	double took = 0, was = 0;

	s->all++;
	s->paced += c->console_proof == WW_PM_PROOF_PACE;
	s->unknown += c->console_proof == WW_PM_PROOF_UNKNOWN;
	if (ww_iv_ok(c->suspend) && ww_iv_ok(c->suspend_corrected)) {
		was += (double)ww_iv_mid(c->suspend);
		took += (double)(ww_iv_mid(c->suspend) - ww_iv_mid(c->suspend_corrected));
	}
	if (ww_iv_ok(c->resume) && ww_iv_ok(c->resume_corrected)) {
		was += (double)ww_iv_mid(c->resume);
		took += (double)(ww_iv_mid(c->resume) - ww_iv_mid(c->resume_corrected));
	}
	/* Neither begin nor end: the phases that are there. */
	for (size_t i = 0; was <= 0 && i < c->spans; i++) {
		const struct ww_pm_span *p = &c->span[i];

		if (p->nested || !ww_iv_ok(p->length) || !ww_iv_ok(p->corrected))
			continue;
		was += (double)ww_iv_mid(p->length);
		took += (double)(ww_iv_mid(p->length) - ww_iv_mid(p->corrected));
	}
	if (!(was > 0))
		return;
	s->cycles++;
	s->console_ns += took;
	s->total_ns += was;
	s->worst = fmax(s->worst, took / was);
	s->baud = c->baud ? c->baud : s->baud;
}

static void of_cycles(struct ww_str *text, uint64_t n, uint64_t all)
{
	if (n < all)
		ww_str_addf(text, " (in %llu of %llu cycles)", (unsigned long long)n,
			    (unsigned long long)all);
}

static void say(struct ww_str *text, struct ww_notes *notes)
{
	if (!text->bad)
		ww_note(notes, "%s", text->p);
	else
		notes->bad = true;
	ww_str_free(text);
}

/* Which proof there is, where it is not the plain one. */
static void proofs(const struct ww_pm_console_sum *s, struct ww_notes *notes)
{
	struct ww_str text = {0};

	if (s->paced) {
		ww_str_add(&text, "the pace of the console's line jitters");
		of_cycles(&text, s->paced, s->all);
		ww_str_add(&text, ", as under load: lines are not just as far apart as their bytes "
				  "are long, yet hardly one follows faster");
		if (s->baud)
			ww_str_addf(&text, " than %u baud allow", s->baud);
		ww_str_add(&text, ". So the kernel waited for them, and corrected figures are "
				  "bounds: less the bytes' own time, and less what nineteen of "
				  "twenty lines took at most");
		say(&text, notes);
	}
	if (s->unknown) {
		text = (struct ww_str){0};
		ww_str_add(&text, "a console was written, and the distances of its lines do not "
				  "tell whether the kernel waited for it");
		of_cycles(&text, s->unknown, s->all);
		ww_str_add(&text, ": corrected figures are not known there");
		say(&text, notes);
	}
}

void ww_pm_console_note(const struct ww_pm_console_sum *s, struct ww_notes *notes)
{
	struct ww_str text = {0};

	if (s->cycles == 0 || s->worst < SHARE) {
		proofs(s, notes);
		return;
	}
	ww_str_add(&text, "the log disturbs what it measures: ");
	ww_str_fixed(&text, 100 * s->console_ns / s->total_ns, 0);
	ww_str_add(&text, " % of suspend and resume was the kernel sending its lines");
	if (s->baud)
		ww_str_addf(&text, " at %u baud", s->baud);
	if (s->cycles > 1) {
		ww_str_add(&text, " (up to ");
		ww_str_fixed(&text, 100 * s->worst, 0);
		ww_str_add(&text, " % of a cycle)");
	}
	if (s->paced == 0)
		ww_str_add(&text, ", which are just as far apart as their bytes are long");
	ww_str_add(&text, "; corrected figures stand beside those measured. What helps: "
			  "loglevel=4 on the console and dmesg afterwards, or a faster line");
	say(&text, notes);
	proofs(s, notes);
}

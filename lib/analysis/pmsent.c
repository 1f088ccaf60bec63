/* SPDX-License-Identifier: MIT */
/* Which lines of a cycle were sent by a synchronous console, and what each of them cost. */
#include "analysis/pmconsole.h"
#include "base/stats.h"

#include <math.h>

#define RES_NS 1e3 /* of stamps */
#define AROUND 1.3
#define PLAIN  .95 /* of the lines: printing, and little else */

static int by_time(const void *a, const void *b)
{
	const struct ww_pm_sent *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static int by_task(const void *a, const void *b, void *ctx)
{
	const struct ww_pm_sent *line = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (line[i].pid != line[j].pid)
		return line[i].pid < line[j].pid ? -1 : 1;
	return (i > j) - (i < j);
}

static void gather(const struct ww_pm_work *w, struct ww_pm_sent_lines *l)
{
	bool sorted = true;

	for (size_t i = 0; i < w->lines; i++) {
		const struct ww_pm_line *p = &w->line[i];

		if (!p->kernel || p->bytes == 0 || p->t_ns == WW_NO_TIME)
			continue;
		l->line[l->n] = (struct ww_pm_sent){
			.t_ns = p->t_ns,
			.bytes = p->bytes,
			.at = (uint32_t)i,
			.device = p->returns ? 0 : p->device,
			.pid = p->device ? w->device[p->device - 1].pid : p->pid,
			.any_ns = -1,
			.own_ns = -1,
		};
		sorted &= l->n == 0 || l->line[l->n - 1].t_ns <= p->t_ns;
		l->n++;
	}
	if (!sorted)
		qsort(l->line, l->n, sizeof(*l->line), by_time);
	for (size_t i = 0; i < l->n; i++) {
		l->by_pid[i] = (uint32_t)i;
		if (l->line[i].device)
			l->call[l->line[i].device - 1] = (uint32_t)i + 1;
	}
	qsort_r(l->by_pid, l->n, sizeof(*l->by_pid), by_task, l->line);
}

static void distances(struct ww_pm_sent_lines *l)
{
	for (size_t i = 0; i + 1 < l->n; i++) {
		l->line[i].any_ns = l->line[i + 1].t_ns - l->line[i].t_ns;
		l->line[i].next_free = l->line[i + 1].pid < 0;
	}
	for (size_t i = 0; i + 1 < l->n; i++) {
		struct ww_pm_sent *a = &l->line[l->by_pid[i]], *b = &l->line[l->by_pid[i + 1]];

		if (a->pid >= 0 && a->pid == b->pid)
			a->own_ns = b->t_ns - a->t_ns;
	}
}

static const struct ww_pm_span *last_of(const struct ww_pm_work *w, int phase)
{
	const struct ww_pm_span *found = NULL;

	for (size_t i = 0; i < w->spans; i++)
		if (w->span[i].phase == phase)
			found = &w->span[i];
	return found;
}

/*
 * Lines of a suspended console wait: until it is resumed, where all of them leave at once.
 * That is either told, or it is the first thing after the devices; at the latest tasks are
 * thawed with it.
 */
static void suspended(const struct ww_pm_work *w, struct ww_pm_sent_lines *l)
{
	const struct ww_pm_span *on = last_of(w, WW_PM_CONSOLE_ON);
	const struct ww_pm_span *thaw = last_of(w, WW_PM_THAW);
	int64_t to = INT64_MAX;

	if (w->console_off_ns == WW_NO_TIME)
		return;
	if (on && on->start_ns != WW_TIME_MIN)
		to = on->start_ns;
	else if (thaw && thaw->start_ns != WW_TIME_MIN)
		to = thaw->start_ns;
	for (size_t i = 0; i < l->n; i++)
		l->line[i].asleep = l->line[i].t_ns > w->console_off_ns && l->line[i].t_ns < to;
}

/* Where the waiting lines went out, if their time is seen: the last of them pays for all. */
static void flushed(const struct ww_pm_work *w, struct ww_pm_sent_lines *l)
{
	const struct ww_pm_span *devices = last_of(w, WW_PM_RESUME);
	int64_t from = devices && devices->end_ns != WW_TIME_MAX ? devices->end_ns : INT64_MAX;
	double sum = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct ww_pm_sent *p = &l->line[i];

		if (!p->asleep)
			continue;
		sum += p->wire_ns;
		if (p->any_ns < 0 || (double)p->any_ns < .99 * sum ||
		    (p->t_ns < from && i + 1 < l->n && l->line[i + 1].asleep))
			continue;
		p->lo_ns = sum;
		p->hi_ns = (double)p->any_ns < 1.05 * sum ? (double)p->any_ns : 1.05 * sum;
		for (size_t j = i + 1; j < l->n && l->line[j].asleep; j++)
			l->line[j].asleep = 0;
		return;
	}
}

static void judge(struct ww_pm_sent_lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct ww_pm_sent *p = &l->line[i];
		int64_t least = p->pid >= 0 ? p->own_ns : p->any_ns;

		p->state = WW_PM_SENT_OPEN;
		if (p->asleep)
			continue;
		if ((p->any_ns > 0 && ww_pm_sent_bound((double)p->any_ns, p->wire_ns)) ||
		    (p->own_ns > 0 && ww_pm_sent_bound((double)p->own_ns, p->wire_ns)))
			p->state = WW_PM_SENT_BOUND;
		/* Another task may print while this one waits for the port. */
		else if (least >= 0 && (double)least < WW_PM_TOO_FAST * p->wire_ns - RES_NS &&
			 (p->pid >= 0 || p->next_free))
			p->state = WW_PM_SENT_FAST;
		l->bound += p->state == WW_PM_SENT_BOUND;
		l->judged += p->any_ns >= 0;
	}
}

static bool overhead(struct ww_pm_sent_lines *l)
{
	double *v = malloc((l->bound + 1) * sizeof(*v));
	size_t n = 0;

	if (!v)
		return false;
	for (size_t i = 0; i < l->n; i++) {
		const struct ww_pm_sent *p = &l->line[i];
		int64_t any = p->any_ns;

		if (p->state != WW_PM_SENT_BOUND)
			continue;
		if (!ww_pm_sent_bound((double)any, p->wire_ns))
			any = p->own_ns;
		v[n++] = (double)any - p->wire_ns;
	}
	l->over_ns = n ? fmax(ww_median(v, n), 0) : 0;
	free(v);
	return true;
}

/* A line after which something else took time is like those around it. */
static void settle(struct ww_pm_sent_lines *l)
{
	int before = -1;
	size_t next = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct ww_pm_sent *p = &l->line[i];
		int after = -1;
		bool yes, no;

		if (p->asleep)
			continue;
		if (p->state != WW_PM_SENT_OPEN) {
			before = p->state;
		} else {
			next = next > i ? next : i;
			while (next < l->n && l->line[next].state == WW_PM_SENT_OPEN)
				next++;
			after = next < l->n ? l->line[next].state : -1;
		}
		yes = p->state == WW_PM_SENT_BOUND || before == WW_PM_SENT_BOUND ||
		      after == WW_PM_SENT_BOUND;
		no = p->state == WW_PM_SENT_FAST || before == WW_PM_SENT_FAST ||
		     after == WW_PM_SENT_FAST;
		if (p->state == WW_PM_SENT_FAST || (no && !yes))
			continue;
		p->hi_ns = p->wire_ns + l->over_ns + RES_NS;
		p->lo_ns = p->state == WW_PM_SENT_BOUND || (yes && !no) ? p->wire_ns : 0;
		/* What it took surely ends with its own task's next line. */
		if (p->own_ns >= 0 && p->hi_ns > (double)p->own_ns)
			p->hi_ns = fmax((double)p->own_ns, p->lo_ns);
	}
}

/*
 * A line whose pace jitters took its bytes' time at least and, at most, until the next one; a
 * callback that slept behind it did not: nineteen of twenty are sent in the time of `most`.
 */
static bool jitter(struct ww_pm_sent_lines *l)
{
	double *v = malloc((l->n + 1) * sizeof(*v)), most = 1;
	size_t n = 0;

	if (!v)
		return false;
	for (size_t i = 0; i < l->n; i++)
		if (!l->line[i].asleep && l->line[i].any_ns >= 0)
			v[n++] = (double)l->line[i].any_ns / l->line[i].wire_ns;
	qsort(v, n, sizeof(*v), ww_cmp_double);
	if (n > 0)
		most = fmax(v[(size_t)(PLAIN * (double)(n - 1))], 1);
	free(v);
	for (size_t i = 0; i < l->n; i++) {
		struct ww_pm_sent *p = &l->line[i];
		double least = WW_PM_PACE * p->wire_ns;

		if (p->asleep && p->hi_ns <= 0)
			continue;
		/* One that is asleep and has a cost pays for all that waited. */
		p->hi_ns = most * (p->asleep ? p->lo_ns : p->wire_ns);
		if (p->any_ns >= 0 && p->hi_ns > (double)p->any_ns)
			p->hi_ns = (double)p->any_ns;
		if (p->asleep)
			continue;
		p->lo_ns = p->hi_ns >= least ? least : 0;
	}
	return true;
}

/* Read from a port by a recording: a console was written. */
static bool written(const struct ww_pm_work *w)
{
	for (size_t i = 0; i < w->lines; i++)
		if (w->line[i].kernel && w->line[i].lo_ns != WW_NO_TIME)
			return true;
	return false;
}

struct at_work {
	const struct ww_pm_device **by_start, **open;
	size_t n, next, opens;
};

static int starts_before(const void *a, const void *b)
{
	const struct ww_pm_device *x = *(const struct ww_pm_device *const *)a;
	const struct ww_pm_device *y = *(const struct ww_pm_device *const *)b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x > y) - (x < y);
}

/* Is any other task in a callback at this line? */
static bool lonely(struct at_work *a, const struct ww_pm_sent *p)
{
	int32_t pid = p->pid;
	size_t kept = 0;
	bool others = false;

	while (a->next < a->n && a->by_start[a->next]->start_ns <= p->t_ns)
		a->open[a->opens++] = a->by_start[a->next++];
	for (size_t i = 0; i < a->opens; i++) {
		const struct ww_pm_device *d = a->open[i];

		if (d->end_ns <= p->t_ns)
			continue;
		a->open[kept++] = d;
		if (pid < 0)
			pid = d->pid;
		others |= d->pid != pid;
	}
	a->opens = kept;
	return !others;
}

static bool who_else(const struct ww_pm_work *w, struct ww_pm_sent_lines *l)
{
	struct at_work a = {0};

	a.by_start = calloc(2 * w->devices + 1, sizeof(*a.by_start));
	if (!a.by_start)
		return false;
	a.open = a.by_start + w->devices;
	for (size_t i = 0; i < w->devices; i++)
		if (w->device[i].start_ns != WW_TIME_MIN)
			a.by_start[a.n++] = &w->device[i];
	qsort(a.by_start, a.n, sizeof(*a.by_start), starts_before);
	for (size_t i = 0; i < l->n; i++)
		l->line[i].alone = lonely(&a, &l->line[i]);
	free(a.by_start);
	return true;
}

/* The writer's own work around its line, as far as it can be that. */
static double until_next(const struct ww_pm_sent *p, int proof)
{
	if (proof == WW_PM_PROOF_PACE)
		return p->hi_ns > 0 ? (double)p->any_ns : 0;
	return p->hi_ns > 0 && (double)p->any_ns <= AROUND * p->wire_ns ? (double)p->any_ns : 0;
}

static bool add_up(struct ww_pm_sent_lines *l)
{
	struct ww_pm_sum *s = &l->sum;
	size_t m = l->n + 1;

	l->block = calloc(7 * m, sizeof(double));
	if (!l->block)
		return false;
	s->all_hi = l->block;
	s->alone = l->block + m;
	s->free_hi = l->block + 2 * m;
	s->free_lo = l->block + 3 * m;
	s->pid_lo = l->block + 4 * m;
	s->pid_hi = l->block + 5 * m;
	s->kept = l->block + 6 * m;
	for (size_t i = 0; i < l->n; i++) {
		const struct ww_pm_sent *p = &l->line[i], *q = &l->line[l->by_pid[i]];
		bool none = p->pid < 0;

		s->all_hi[i + 1] = s->all_hi[i] + p->hi_ns;
		s->kept[i + 1] = s->kept[i] + fmax(p->hi_ns, until_next(p, l->proof));
		s->alone[i + 1] = s->alone[i] + (p->alone ? p->lo_ns : 0);
		s->free_hi[i + 1] = s->free_hi[i] + (none ? p->hi_ns : 0);
		s->free_lo[i + 1] = s->free_lo[i] + (none && p->alone ? p->lo_ns : 0);
		s->pid_lo[i + 1] = s->pid_lo[i] + q->lo_ns;
		s->pid_hi[i + 1] = s->pid_hi[i] + q->hi_ns;
	}
	return true;
}

size_t ww_pm_sent_from(const struct ww_pm_sent_lines *l, int64_t t_ns)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->line[mid].t_ns < t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* First place in by_pid of that task at or after line i. */
static size_t place(const struct ww_pm_sent_lines *l, int32_t pid, size_t i)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct ww_pm_sent *p = &l->line[l->by_pid[mid]];

		if (p->pid < pid || (p->pid == pid && l->by_pid[mid] < i))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void ww_pm_sent_of(const struct ww_pm_sent_lines *l, int32_t pid, size_t a, size_t b, double *lo,
		   double *hi)
{
	size_t from = place(l, pid, a), to = place(l, pid, b);

	*lo = l->sum.pid_lo[to] - l->sum.pid_lo[from];
	*hi = l->sum.pid_hi[to] - l->sum.pid_hi[from];
}

bool ww_pm_sent_cost(const struct ww_pm_work *w, uint32_t baud, struct ww_pm_sent_lines *l)
{
	*l = (struct ww_pm_sent_lines){0};
	l->line = calloc(w->lines + 1, sizeof(*l->line));
	l->by_pid = calloc(w->lines + 1, sizeof(*l->by_pid));
	l->call = calloc(w->devices + 1, sizeof(*l->call));
	if (!l->line || !l->by_pid || !l->call)
		return false;
	gather(w, l);
	distances(l);
	suspended(w, l);
	l->baud = ww_pm_prove(l->line, l->n, baud, written(w), &l->proof);
	if (l->baud == 0 || l->proof == WW_PM_PROOF_UNKNOWN)
		return true;
	for (size_t i = 0; i < l->n; i++)
		l->line[i].wire_ns = l->line[i].bytes * 1e10 / l->baud;
	flushed(w, l);
	judge(l);
	if (!overhead(l))
		return false;
	if (l->proof == WW_PM_PROOF_PACE) {
		if (!jitter(l))
			return false;
	} else {
		settle(l);
	}
	return who_else(w, l) && add_up(l);
}

void ww_pm_sent_free(struct ww_pm_sent_lines *l)
{
	free(l->line);
	free(l->by_pid);
	free(l->call);
	free(l->block);
	*l = (struct ww_pm_sent_lines){0};
}

/* SPDX-License-Identifier: MIT */
/* What the kernel itself says of the cycles of a recording: phases, devices, energy, reasons. */
#include "report/format.h"
#include "report/kernlog.h"
#include "report/length.h"
#include "report/resume.h"

#include <math.h>

#define TOP   10
#define WORST 3
/* So many are told in full, as in kernlog. */
#define FEW 3

bool ww_resume_has_kernel(const struct ww_resume *r)
{
	for (size_t i = 0; i < r->cycles; i++)
		if (ww_resume_kernel(r, i))
			return true;
	return false;
}

/* Energy of a phase on the bench's axis. */
bool ww_resume_span_energy(const struct ww_resume *r, size_t i, const struct ww_pm_span *p,
			   struct ww_quantity *q)
{
	struct ww_interval from, to;

	return p->start_ns != WW_TIME_MIN && p->end_ns != WW_TIME_MAX && !p->nested &&
	       ww_resume_kernel_time(r, i, p->start_ns, &from) == 0 &&
	       ww_resume_kernel_time(r, i, p->end_ns, &to) == 0 &&
	       ww_resume_energy(r, i, from, to, q) == 0;
}

/* ---- JSON ---- */

static void json_quantity(struct ww_json *j, const char *key, struct ww_quantity q)
{
	int d = ww_decimals_for(q.u, 4) + 1;

	ww_json_open(j, key, '{');
	ww_json_trimmed(j, "value", q.value, d);
	ww_json_trimmed(j, "u", q.u, d);
	ww_json_close(j, '}');
}

static void json_energy(struct ww_json *j, const struct ww_resume *r, size_t i,
			const struct ww_pm_cycle *c)
{
	if (!r->meter.source)
		return;
	ww_json_open(j, "phase_energy", '[');
	for (size_t k = 0; k < c->spans; k++) {
		const struct ww_pm_span *p = &c->span[k];
		struct ww_quantity q;

		if (!ww_resume_span_energy(r, i, p, &q))
			continue;
		ww_json_open(j, NULL, '{');
		ww_json_text(j, "name", ww_pm_phase_name(p->phase));
		ww_json_int(j, "phase", (int64_t)k);
		json_quantity(j, "J", q);
		json_quantity(j, "W",
			      (struct ww_quantity){q.value * 1e9 /
							   (double)(p->end_ns - p->start_ns),
						   q.u * 1e9 / (double)(p->end_ns - p->start_ns)});
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

/* Where the kernel's axis lies: a time of the trace, and how well it is known. */
static void json_axis(struct ww_json *j, const struct ww_resume *r, size_t i,
		      const struct ww_pm_cycle *c)
{
	struct ww_interval t;

	if (c->t.lo_ns == WW_TIME_MIN || ww_resume_kernel_time(r, i, c->t.lo_ns, &t) != 0)
		return;
	ww_json_open(j, "begin_s", '[');
	ww_json_decimal(j, NULL, t.lo_ns - r->span.lo_ns, 9);
	ww_json_decimal(j, NULL, t.hi_ns - r->span.lo_ns, 9);
	ww_json_close(j, ']');
}

void ww_resume_json_kernel(struct ww_json *j, const struct ww_resume *r, size_t i)
{
	const struct ww_pm_cycle *c = ww_resume_kernel(r, i);

	if (!c)
		return;
	ww_json_open(j, "kernel", '{');
	json_axis(j, r, i, c);
	ww_kernlog_json_cycle(j, c);
	json_energy(j, r, i, c);
	ww_json_close(j, '}');
}

/* The kernel's cycle by the recording's number; false: there is none. */
static bool numbered(const struct ww_resume *r, size_t i, struct ww_pm_cycle *out)
{
	const struct ww_pm_cycle *c = ww_resume_kernel(r, i);

	if (!c)
		return false;
	*out = *c;
	out->n = r->cycle[i].c.n;
	return true;
}

/* Cycles by the recording's numbers: a log may hold others, too. */
static void sum_up(struct ww_ksum *sum, const struct ww_resume *r)
{
	struct ww_pm_cycle c;

	for (size_t i = 0; i < r->cycles; i++)
		if (!r->cycle[i].c.warmup && numbered(r, i, &c))
			ww_ksum_add(sum, &c);
}

void ww_resume_json_kernels(struct ww_json *j, const struct ww_resume *r)
{
	struct ww_ksum sum = {0};

	if (!ww_resume_has_kernel(r))
		return;
	sum_up(&sum, r);
	ww_kernlog_json_summary(j, "kernel", &sum, TOP);
	j->s->bad = j->s->bad || sum.bad;
	ww_ksum_free(&sum);
}

/* ---- text ---- */

struct phase_energy {
	uint64_t n;
	double J, u, seconds;
};

static void energy_table(struct ww_str *s, const struct phase_energy *e)
{
	static const char *const head[] = {"  energy of", "n", "mean J", "mean W"};
	struct ww_grid g = {.columns = 4, .left = 1};

	ww_grid_head(&g, head);
	for (int p = 1; p < WW_PM_PHASES; p++) {
		double n = (double)e[p].n;
		struct ww_str *row = e[p].n ? ww_grid_row(&g) : NULL;

		if (!row)
			continue;
		ww_str_addf(&row[0], "  %s", ww_pm_phase_name(p));
		ww_str_addf(&row[1], "%llu", (unsigned long long)e[p].n);
		/* The meter errs alike in all cycles: no part of it averages out for sure. */
		ww_put_quantity(&row[2], (struct ww_quantity){e[p].J / n, e[p].u / n}, "", 3);
		ww_put_quantity(&row[3],
				(struct ww_quantity){e[p].J / e[p].seconds, e[p].u / e[p].seconds},
				"", 3);
	}
	if (g.rows > 1)
		ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

static void text_energy(struct ww_str *s, const struct ww_resume *r)
{
	struct phase_energy e[WW_PM_PHASES] = {0};

	for (size_t i = 0; i < r->cycles; i++) {
		const struct ww_pm_cycle *c = ww_resume_kernel(r, i);

		for (size_t k = 0; c && !r->cycle[i].c.warmup && k < c->spans; k++) {
			const struct ww_pm_span *p = &c->span[k];
			struct ww_quantity q;

			if (p->phase <= 0 || p->phase >= WW_PM_PHASES ||
			    !ww_resume_span_energy(r, i, p, &q))
				continue;
			e[p->phase].n++;
			e[p->phase].J += q.value;
			e[p->phase].u += q.u;
			e[p->phase].seconds += (double)(p->end_ns - p->start_ns) / 1e9;
		}
	}
	energy_table(s, e);
}

static void text_many(struct ww_str *s, const struct ww_resume *r)
{
	struct ww_ksum sum = {0};
	struct ww_pm_cycle c;

	sum_up(&sum, r);
	ww_kernlog_text_head(s);
	for (size_t i = 0; i < r->cycles; i++)
		if (numbered(r, i, &c))
			ww_kernlog_text_row(s, &c);
	ww_kernlog_text_summary(s, " by the kernel", &sum, TOP);
	s->bad = s->bad || sum.bad;
	ww_ksum_free(&sum);
}

void ww_resume_text_kernel(struct ww_str *s, const struct ww_resume *r)
{
	struct ww_pm_cycle c;
	size_t n = 0;

	for (size_t i = 0; i < r->cycles; i++)
		n += ww_resume_kernel(r, i) != NULL;
	if (n == 0)
		return;
	ww_str_add(s, "\nthe same cycles as the kernel saw them\n");
	for (size_t i = 0; n <= FEW && i < r->cycles; i++)
		if (numbered(r, i, &c)) {
			ww_str_add(s, "\n");
			ww_kernlog_text_cycle(s, &c, TOP);
		}
	if (n > FEW)
		text_many(s, r);
	text_energy(s, r);
}

/* ---- the worst ---- */

/* Those that did not come back are worse than any; -1: not to be judged. */
static double rank_of(const struct ww_resume *r, size_t i, int latency)
{
	const struct ww_cycle *c = &r->cycle[i].c;
	struct ww_interval t = c->latency[latency];

	if (c->warmup || c->result == WW_RES_UNKNOWN)
		return -1;
	if (c->result != WW_RES_OK && c->result != WW_RES_PM_TEST)
		return INFINITY;
	return ww_iv_ok(t) && t.lo_ns != WW_TIME_MIN && t.hi_ns != WW_TIME_MAX
		       ? (double)ww_iv_mid(t) / 1e6
		       : -1;
}

/* The latency that people come for, of those that were observed; -1 none. */
static int main_latency(const struct ww_resume *r)
{
	static const int order[] = {WW_LAT_RESUME_TO_USER, WW_LAT_RESUME_TO_ALIVE,
				    WW_LAT_RESUME_TO_UART, WW_LAT_SILENCE, WW_LAT_ASLEEP};

	for (size_t i = 0; i < WW_COUNTOF(order); i++)
		if (r->summary[order[i]].n)
			return order[i];
	return -1;
}

struct worst {
	size_t i[WORST], n;
	double rank[WORST];
	int latency;
};

static void find_worst(struct worst *w, const struct ww_resume *r)
{
	w->n = 0;
	w->latency = main_latency(r);
	for (size_t i = 0; w->latency >= 0 && i < r->cycles; i++) {
		double mine = rank_of(r, i, w->latency);
		size_t at = w->n;

		while (at > 0 && w->rank[at - 1] < mine)
			at--;
		if (mine < 0 || at == WORST)
			continue;
		w->n += w->n < WORST;
		for (size_t k = w->n - 1; k > at; k--) {
			w->i[k] = w->i[k - 1];
			w->rank[k] = w->rank[k - 1];
		}
		w->i[at] = i;
		w->rank[at] = mine;
	}
}

static double cycle_at(const struct ww_resume *r, size_t i)
{
	const struct ww_cycle *c = &r->cycle[i].c;

	for (int e = 0; e < WW_EV_COUNT; e++)
		if (ww_iv_ok(c->event[e]) && c->event[e].lo_ns != WW_TIME_MIN)
			return (double)(c->event[e].lo_ns - r->span.lo_ns) / 1e9;
	return (double)NAN;
}

void ww_resume_json_worst(struct ww_json *j, const struct ww_resume *r)
{
	struct worst w;

	find_worst(&w, r);
	ww_json_open(j, "worst", '[');
	for (size_t k = 0; k < w.n; k++) {
		const struct ww_cycle *c = &r->cycle[w.i[k]].c;

		ww_json_open(j, NULL, '{');
		ww_json_int(j, "cycle", c->n);
		ww_json_text(j, "result", ww_result_name(c->result));
		ww_json_text(j, "latency", ww_latency_name(w.latency));
		ww_json_trimmed(j, "ms", w.rank[k], 4);
		ww_json_trimmed(j, "at_s", cycle_at(r, w.i[k]), 6);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

/* What can have made that latency long: no suspend a resume. */
static const struct ww_pm_device *slowest_of(const struct ww_pm_cycle *pm, int latency)
{
	bool resume = latency != WW_LAT_SILENCE && latency != WW_LAT_ASLEEP;
	const struct ww_pm_device *best = NULL;

	for (size_t i = 0; pm && i < pm->devices; i++) {
		const struct ww_pm_device *d = &pm->device[i];

		if (ww_iv_ok(d->length) && d->length.hi_ns != WW_TIME_MAX &&
		    (!resume || d->phase > WW_PM_MACHINE) &&
		    (!best || ww_iv_mid(d->length) > ww_iv_mid(best->length)))
			best = d;
	}
	return best;
}

static void worst_line(struct ww_str *s, const struct ww_resume *r, const struct worst *w, size_t k)
{
	const struct ww_cycle *c = &r->cycle[w->i[k]].c;
	const struct ww_pm_cycle *pm = ww_resume_kernel(r, w->i[k]);
	const struct ww_pm_device *d = slowest_of(pm, w->latency);
	struct ww_str line = {0};

	ww_str_addf(&line, "  cycle %u: ", (unsigned)c->n);
	if (isinf(w->rank[k])) {
		ww_str_add(&line, ww_result_name(c->result));
	} else {
		ww_resume_latency(&line, &r->cycle[w->i[k]], w->latency);
		ww_str_add(&line, " ms");
	}
	ww_str_add(&line, ", at ");
	ww_put_seconds(&line, cycle_at(r, w->i[k]));
	if (d) {
		ww_str_add(&line, "; slowest by the kernel ");
		ww_put_length(&line, d->length, pm->stamp_res_ns);
		ww_str_addf(&line, " ms %s%s", d->driver, *d->driver ? " " : "");
		ww_str_plain(&line, d->name);
		ww_str_addf(&line, " in %s", d->phase > 0 ? ww_pm_phase_name(d->phase) : "?");
	}
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, 4, WW_RESUME_WIDTH);
	ww_str_free(&line);
}

void ww_resume_text_worst(struct ww_str *s, const struct ww_resume *r)
{
	struct worst w;

	find_worst(&w, r);
	if (r->cycles <= WORST || w.n == 0)
		return;
	ww_str_addf(s, "\nworst by %s; `--html` shows them on a time line\n",
		    ww_resume_words(w.latency));
	for (size_t k = 0; k < w.n; k++)
		worst_line(s, r, &w, k);
}

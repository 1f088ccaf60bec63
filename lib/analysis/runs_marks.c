/* SPDX-License-Identifier: MIT */
/* ww_runs: what the marks of a trace tell of its runs. */
#include "analysis/runs.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define MOST 10000 /* runs that are read: more than anybody makes */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A value up to a space; %XX decoded, but never to a NUL. */
static void decode(const char *p, char *out, size_t n)
{
	size_t k = 0;

	for (; *p && *p != ' ' && k + 1 < n; p++) {
		int a = *p == '%' ? hex(p[1]) : -1, b = a >= 0 ? hex(p[2]) : -1;

		if (b >= 0 && a + b > 0) {
			out[k++] = (char)(a * 16 + b);
			p += 2;
		} else {
			out[k++] = *p;
		}
	}
	out[k] = '\0';
}

bool ww_runs_word(const char *text, const char *key, char *out, size_t n)
{
	size_t len = strlen(key);

	for (const char *p = text; *p;) {
		bool mine = strncmp(p, key, len) == 0 && p[len] == '=';
		bool rest = strncmp(p, "command=", 8) == 0;

		if (mine && rest)
			snprintf(out, n, "%s", p + len + 1);
		else if (mine)
			decode(p + len + 1, out, n);
		if (mine || rest)
			return mine;
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	return false;
}

/* A whole number of a word; dflt where it is not there or is none. */
static int64_t number(const char *text, const char *key, int64_t dflt)
{
	char buf[32];
	const char *end;
	double v;

	if (!ww_runs_word(text, key, buf, sizeof(buf)))
		return dflt;
	v = ww_strtod(buf, &end);
	return end != buf && !*end && fabs(v) < 1e9 && v >= floor(v) && v <= floor(v) ? (int64_t)v
										      : dflt;
}

static double real(const char *text, const char *key)
{
	char buf[64];
	const char *end;
	double v;

	if (!ww_runs_word(text, key, buf, sizeof(buf)))
		return NAN;
	v = ww_strtod(buf, &end);
	return end != buf && !*end && isfinite(v) ? v : (double)NAN;
}

/* The variant of a label and a command, a new one if need be. */
static uint32_t variant_of(struct ww_runs *r, const char *label, const char *command, int64_t at)
{
	struct ww_run_variant *more;
	int64_t *place;

	for (size_t i = 0; i < r->variants; i++)
		if (strcmp(r->variant[i].label, label) == 0 &&
		    (*label || strcmp(r->variant[i].command, command) == 0))
			return (uint32_t)i;
	more = realloc(r->variant, (r->variants + 1) * sizeof(*more));
	if (more)
		r->variant = more;
	place = more ? realloc(r->place, (r->variants + 1) * sizeof(*place)) : NULL;
	if (!place) {
		r->bad = true;
		return 0;
	}
	r->place = place;
	r->place[r->variants] = at;
	r->variant[r->variants] =
		(struct ww_run_variant){.label = label, .command = command, .work_unit = ""};
	return (uint32_t)r->variants++;
}

static const struct ww_quantity none = {NAN, NAN};

static void begin_run(struct ww_runs *r, const struct ww_mark *m)
{
	int64_t n = number(m->text, "run", 0);
	struct ww_run *more, *run;
	char label[512], *command;

	if (n <= 0 || r->runs >= MOST) {
		ww_note(&r->notes, "a mark %s that tells no number of a run is passed over",
			WW_MARK_RUN_START);
		return;
	}
	more = realloc(r->run, (r->runs + 1) * sizeof(*more));
	command = calloc(strlen(m->text) + 1, 1);
	if (more)
		r->run = more;
	if (!more || !command) {
		r->bad = true;
		free(command);
		return;
	}
	run = &more[r->runs++];
	*run = (struct ww_run){.n = (uint32_t)n, .status = -1, .signal = -1};
	run->round = (uint32_t)number(m->text, "round", n);
	run->repeat = (uint32_t)number(m->text, "repeat", 1);
	run->repeat = run->repeat ? run->repeat : 1;
	run->warmup = number(m->text, "warmup", 0) != 0;
	if (!ww_runs_word(m->text, "variant", label, sizeof(label)))
		label[0] = '\0';
	ww_runs_word(m->text, "command", command, strlen(m->text) + 1);
	run->label = ww_runs_keep(r, label);
	run->command = ww_runs_keep(r, command);
	free(command);
	run->variant = variant_of(r, run->label, run->command,
				  number(m->text, "place", (int64_t)r->variants));
	run->start = m->t;
	run->end = WW_INTERVAL_NONE;
	run->duration_s = run->gross_J = run->marginal_J = run->mean_W = none;
	run->before_W = run->after_W = run->work = none;
	run->gross_per = run->marginal_per = run->time_per = none;
	run->cpu_s = run->peak_W = run->edges_J = NAN;
	run->gross_own_u = run->marginal_own_u = NAN;
	run->work_unit = run->why = run->work_why = "";
}

/* The latest run of that number. */
static struct ww_run *find_run(struct ww_runs *r, const struct ww_mark *m)
{
	int64_t n = number(m->text, "run", 0);

	for (size_t i = r->runs; i > 0; i--)
		if (r->run[i - 1].n == n)
			return &r->run[i - 1];
	ww_note(&r->notes, "a mark %s without its %s is passed over", m->kind, WW_MARK_RUN_START);
	return NULL;
}

static void end_run(struct ww_runs *r, const struct ww_mark *m)
{
	struct ww_run *run = find_run(r, m);

	if (!run || m->t.hi_ns < run->start.lo_ns)
		return;
	run->end = m->t;
	if (run->end.lo_ns < run->start.lo_ns)
		run->end.lo_ns = run->start.lo_ns;
	run->signal = (int32_t)number(m->text, "signal", 0);
	run->status = run->signal ? -1 : (int32_t)number(m->text, "exit", 0);
	run->cpu_s = real(m->text, "cpu_s");
	run->duration_s.value = ((double)ww_iv_mid(run->end) - (double)ww_iv_mid(run->start)) / 1e9;
	/* Each of the two stamps lies anywhere in its interval. */
	run->duration_s.u = hypot((double)run->end.hi_ns - (double)run->end.lo_ns,
				  (double)run->start.hi_ns - (double)run->start.lo_ns) /
			    1e9 / sqrt(12);
}

/* Of a rate the amount follows from the duration, which may not be known yet. */
static void work_of_run(struct ww_runs *r, const struct ww_mark *m)
{
	struct ww_run *run = find_run(r, m);
	double amount = real(m->text, "amount"), rate = real(m->text, "rate");
	double u = real(m->text, "u");
	char text[512];

	if (!run)
		return;
	if (ww_runs_word(m->text, "why", text, sizeof(text)))
		run->work_why = ww_runs_keep(r, text);
	if (ww_runs_word(m->text, "unit", text, sizeof(text)))
		run->work_unit = ww_runs_keep(r, text);
	u = u >= 0 ? u : (double)NAN;
	if (amount > 0) {
		run->work = (struct ww_quantity){amount, u};
	} else if (rate > 0 && run->duration_s.value > 0) {
		run->work.value = rate * run->duration_s.value;
		run->work.u = hypot(u * run->duration_s.value, rate * run->duration_s.u);
		ww_note(&r->notes, "a throughput was read: the work is its product with the run's "
				   "duration, the time to start and to end included");
	} else if (!*run->work_why) {
		run->work_why = "no amount greater than nothing was read";
	}
}

static void begin_base(struct ww_runs *r, const struct ww_mark *m)
{
	struct ww_runs_base *more = realloc(r->base, (r->bases + 1) * sizeof(*more));

	if (!more) {
		r->bad = true;
		return;
	}
	r->base = more;
	r->base[r->bases++] =
		(struct ww_runs_base){.from = m->t.hi_ns, .to = WW_TIME_MIN, .watts = {NAN, NAN}};
	r->base_open = true;
}

static void end_base(struct ww_runs *r, const struct ww_mark *m)
{
	if (r->base_open)
		r->base[r->bases - 1].to = m->t.lo_ns;
	r->base_open = false;
}

struct place {
	int64_t at;
	size_t index;
	struct ww_run_variant v;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* As they were planned, not as a lot drew them: what is compared goes by the first. */
static void order_variants(struct ww_runs *r)
{
	struct place *p = calloc(r->variants + 1, sizeof(*p));
	uint32_t *now = calloc(r->variants + 1, sizeof(*now));

	if (!p || !now) {
		r->bad = true;
		free(p);
		free(now);
		return;
	}
	for (size_t k = 0; k < r->variants; k++)
		p[k] = (struct place){r->place[k], k, r->variant[k]};
	qsort(p, r->variants, sizeof(*p), by_place);
	for (size_t k = 0; k < r->variants; k++) {
		r->variant[k] = p[k].v;
		now[p[k].index] = (uint32_t)k;
	}
	for (size_t i = 0; i < r->runs; i++)
		r->run[i].variant = now[r->run[i].variant];
	free(p);
	free(now);
}

void ww_runs_marks(struct ww_runs *r, struct ww_trace *t)
{
	for (size_t i = 0; i < ww_trace_mark_count(t) && !r->bad; i++) {
		const struct ww_mark *m = ww_trace_mark(t, i);

		if (strcmp(m->kind, WW_MARK_RUN_START) == 0)
			begin_run(r, m);
		else if (strcmp(m->kind, WW_MARK_RUN_END) == 0)
			end_run(r, m);
		else if (strcmp(m->kind, WW_MARK_RUN_WORK) == 0)
			work_of_run(r, m);
		else if (strcmp(m->kind, WW_MARK_BASELINE) == 0)
			begin_base(r, m);
		else if (strcmp(m->kind, WW_MARK_BASELINE_END) == 0)
			end_base(r, m);
	}
	if (!r->bad)
		order_variants(r);
	/* A variable of one label names one command as a person typed it. */
	for (size_t i = 0; i < r->runs && !r->bad; i++)
		if (!*r->run[i].why && r->run[i].signal == -1)
			r->run[i].why = "its end is not in the trace";
}

/* SPDX-License-Identifier: MIT */
/* A suspend as the kernel saw it, for a person: what one would paste into a mail. */
#include "report/format.h"
#include "report/kernlog.h"
#include "report/length.h"

#include <math.h>

#define WIDTH	   90
#define BAR	   20
#define LONG_NS	   (10 * WW_NS_PER_S)
#define CONSOLE_MS 5.0
/* A callback that takes less of the longest one's time is nobody's trouble. */
#define PART 1e-3
/* Part of a suspend or a resume that nobody need be told of. */
#define REST_PART 0.02
#define REST_MS	  2.0

static double ms_of(struct ww_interval t)
{
	if (!ww_iv_ok(t) || t.lo_ns == WW_TIME_MIN || t.hi_ns == WW_TIME_MAX)
		return (double)NAN;
	return ((double)t.lo_ns + (double)t.hi_ns) / 2e6;
}

static void wrapped(struct ww_str *s, const char *head, const char *text)
{
	struct ww_str line = {0};

	ww_str_add(&line, head);
	ww_str_plain(&line, text);
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, 4, WIDTH);
	ww_str_free(&line);
}

/* ---- head ---- */

static void put_moment(struct ww_str *s, int64_t ns, double res_ns)
{
	ww_str_fixed(s, (double)ns / 1e9,
		     res_ns > 0 && res_ns < 5e8 ? ww_ms_decimals(res_ns) + 3 : 0);
}

static void put_when(struct ww_str *s, const struct ww_pm_cycle *c)
{
	static const char *const clocks[] = {"", "kernel's stamps", "trace clock",
					     "logger's stamps", "bench's clock"};
	bool begin = c->t.lo_ns != WW_TIME_MIN, end = c->t.hi_ns != WW_TIME_MAX;

	if (!ww_iv_ok(c->t) || (!begin && !end) || c->clock <= 0 || c->clock > WW_PM_CLOCK_BENCH) {
		ww_str_add(s,
			   "  the lines have no stamps: times are those that the kernel prints\n");
		return;
	}
	ww_str_add(s, begin ? "  from " : "  begin not seen, until ");
	if (begin)
		put_moment(s, c->t.lo_ns, c->stamp_res_ns);
	if (begin && end)
		ww_str_add(s, " to ");
	if (end)
		put_moment(s, c->t.hi_ns, c->stamp_res_ns);
	ww_str_addf(s, " s, %s%s\n", clocks[c->clock], end ? "" : "; end not seen");
}

static void put_time(struct ww_str *s, struct ww_interval t, double res_ns)
{
	struct ww_str v = {0};

	if (ww_iv_ok(t) && t.lo_ns >= LONG_NS && t.hi_ns != WW_TIME_MAX) {
		ww_put_length(&v, (struct ww_interval){t.lo_ns / 1000, t.hi_ns / 1000},
			      res_ns / 1000);
		ww_str_add(&v, " s");
	} else {
		ww_put_length(&v, t, res_ns);
		ww_str_add(&v, v.n ? " ms" : "");
	}
	s->bad = s->bad || v.bad;
	if (!v.bad)
		ww_str_add(s, v.p);
	ww_str_free(&v);
}

static void total(struct ww_str *s, const char *what, struct ww_interval t,
		  struct ww_interval corrected, double res)
{
	ww_str_addf(s, "  %-8s ", what);
	put_time(s, t, res);
	if (ww_iv_ok(corrected) && fabs(ms_of(t) - ms_of(corrected)) >= 0.0005) {
		ww_str_add(s, ", ");
		put_time(s, corrected, res);
		ww_str_add(s, " without the console");
	}
	ww_str_add(s, "\n");
}

/* What there is instead of a time. */
static void absent(struct ww_str *s, const char *what, const struct ww_pm_cycle *c, bool resume)
{
	bool none = c->result == WW_PM_FAILED || c->result == WW_PM_ABORTED;

	if (!none)
		ww_str_addf(s, "  %-8s %s\n", what,
			    !resume		       ? "not observed"
			    : c->result == WW_PM_HUNG  ? "it never came back"
			    : c->result == WW_PM_RESET ? "it booted instead"
						       : "not observed");
}

static void extra(struct ww_str *s, const char *what, struct ww_interval t, double res,
		  const char *behind)
{
	if (!ww_iv_ok(t))
		return;
	ww_str_addf(s, "  %-8s ", what);
	put_time(s, t, res);
	ww_str_addf(s, "%s\n", behind);
}

static void put_totals(struct ww_str *s, const struct ww_pm_cycle *c)
{
	double res = c->stamp_res_ns;

	if (ww_iv_ok(c->suspend))
		total(s, "suspend", c->suspend, c->suspend_corrected, res);
	else
		absent(s, "suspend", c, false);
	if (ww_iv_ok(c->slept) || c->result == WW_PM_OK) {
		ww_str_add(s, "  slept    ");
		if (ww_iv_ok(c->slept))
			put_time(s, c->slept, res);
		else
			ww_str_add(s, "the log does not tell how long");
		if (c->sleeps > 1)
			ww_str_addf(s, ", in %d sleeps of the hardware", (int)c->sleeps);
		ww_str_add(s, "\n");
	}
	if (ww_iv_ok(c->resume))
		total(s, "resume", c->resume, c->resume_corrected, res);
	else
		absent(s, "resume", c, true);
	extra(s, "firmware", c->firmware_suspend, 0, " before the sleep, by its own figures");
	extra(s, "firmware", c->firmware_resume, 0, " after the wake, by its own figures");
	extra(s, "storage", c->storage, res, " after the wake");
	extra(s, "network", c->network, res, " after the wake");
}

/* ---- phases ---- */

static bool after_sleep(int phase)
{
	return phase > WW_PM_MACHINE;
}

static void put_phase_name(struct ww_str *s, const struct ww_pm_span *p)
{
	ww_str_add(s, "  ");
	ww_str_add(s, p->phase > 0 ? ww_pm_phase_name(p->phase) : "?");
	if (p->verb != WW_PM_NO_VERB && p->verb != WW_PM_V_SUSPEND && p->verb != WW_PM_V_RESUME)
		ww_str_addf(s, " (%s)", ww_pm_verb_name(p->verb));
	if (p->nested)
		ww_str_add(s, ", nested");
}

static void put_share(struct ww_str *share, struct ww_str *bar, double ms, double of)
{
	double part = ms / of;

	if (!(of > 0) || !(part >= 0) || part > 1.0005)
		return;
	ww_str_fixed(share, part * 100, 1);
	ww_str_add(share, " %");
	for (int i = 0; i < (int)(part * BAR + .5); i++)
		ww_str_add(bar, "#");
}

enum { P_NAME, P_MS, P_CORRECTED, P_SHARE, P_BAR, P_COLUMNS };

static void phase_row(struct ww_grid *g, const struct ww_pm_cycle *c, const struct ww_pm_span *p)
{
	double of = ms_of(after_sleep(p->phase) ? c->resume : c->suspend);
	struct ww_str *row = ww_grid_row(g);

	if (!row)
		return;
	put_phase_name(&row[P_NAME], p);
	ww_put_length(&row[P_MS], p->length, c->stamp_res_ns);
	if (!row[P_MS].n)
		ww_str_add(&row[P_MS], "?");
	if (ww_iv_ok(p->corrected) && fabs(ms_of(p->corrected) - ms_of(p->length)) >= 0.0005)
		ww_put_length(&row[P_CORRECTED], p->corrected, c->stamp_res_ns);
	if (!p->nested && p->phase != WW_PM_MACHINE)
		put_share(&row[P_SHARE], &row[P_BAR], ms_of(p->length), of);
	if (p->failed)
		ww_str_addf(&row[P_BAR], "%sfailed", row[P_BAR].n ? " " : "");
}

/* What of a suspend or a resume lies in no phase. */
static void rest_row(struct ww_grid *g, const struct ww_pm_cycle *c, bool resume)
{
	double all = ms_of(resume ? c->resume : c->suspend), sum = 0;
	struct ww_str *row;

	for (size_t i = 0; i < c->spans; i++) {
		const struct ww_pm_span *p = &c->span[i];
		double ms = ms_of(p->length);

		if (after_sleep(p->phase) == resume && p->phase != WW_PM_MACHINE && !p->nested &&
		    isfinite(ms))
			sum += ms;
	}
	if (!(all - sum > REST_MS) || !(all - sum > REST_PART * all) || sum == 0)
		return;
	row = ww_grid_row(g);
	if (!row)
		return;
	ww_str_add(&row[P_NAME], resume ? "  in no phase of resume" : "  in no phase of suspend");
	ww_str_fixed(&row[P_MS], all - sum, ww_ms_decimals(c->stamp_res_ns));
	put_share(&row[P_SHARE], &row[P_BAR], all - sum, all);
}

static void put_phases(struct ww_str *s, const struct ww_pm_cycle *c)
{
	static const char *const head[] = {"  phase", "ms", "corrected", "share", ""};
	struct ww_grid g = {.columns = P_COLUMNS, .left = 1u << P_NAME | 1u << P_BAR};
	bool resumed = false;

	ww_grid_head(&g, head);
	for (size_t i = 0; i < c->spans; i++) {
		if (!resumed && after_sleep(c->span[i].phase)) {
			rest_row(&g, c, false);
			resumed = true;
		}
		phase_row(&g, c, &c->span[i]);
	}
	if (!resumed)
		rest_row(&g, c, false);
	rest_row(&g, c, true);
	if (g.rows > 1)
		ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

/* ---- devices ---- */

/* What never returned stands first, then the longest. */
static double weight(const struct ww_pm_device *d)
{
	double ms = ms_of(d->length);

	return isnan(ms) ? d->end_ns == WW_TIME_MAX && d->start_ns != WW_TIME_MIN ? INFINITY : -1
			 : ms;
}

static int by_weight(const void *a, const void *b)
{
	const struct ww_pm_device *x = *(const struct ww_pm_device *const *)a;
	const struct ww_pm_device *y = *(const struct ww_pm_device *const *)b;
	double p = weight(x), q = weight(y);

	if (p != q)
		return p > q ? -1 : 1;
	return x < y ? -1 : x > y;
}

enum { D_MS, D_CORRECTED, D_OWN, D_PHASE, D_ASYNC, D_ERROR, D_NAME, D_COLUMNS };

static void device_row(struct ww_grid *g, const struct ww_pm_cycle *c, const struct ww_pm_device *d)
{
	struct ww_str *row = ww_grid_row(g);

	if (!row)
		return;
	ww_put_length(&row[D_MS], d->length, c->stamp_res_ns);
	if (!row[D_MS].n)
		ww_str_add(&row[D_MS], "no return");
	if (ww_iv_ok(d->corrected) && fabs(ms_of(d->corrected) - ms_of(d->length)) >= 0.0005)
		ww_put_length(&row[D_CORRECTED], d->corrected, c->stamp_res_ns);
	if (d->critical)
		ww_str_fixed(&row[D_OWN], (double)d->critical_ns / 1e6,
			     ww_ms_decimals(c->stamp_res_ns));
	ww_str_add(&row[D_PHASE], d->phase > 0 ? ww_pm_phase_name(d->phase) : "?");
	ww_str_add(&row[D_ASYNC], d->async > 0 ? "async" : "");
	if (d->error)
		ww_put_errno(&row[D_ERROR], d->error);
	if (*d->driver)
		ww_str_addf(&row[D_NAME], "%s ", d->driver);
	ww_str_add(&row[D_NAME], d->name);
}

static void put_devices(struct ww_str *s, const struct ww_pm_cycle *c, size_t top)
{
	static const char *const head[] = {"      ms", "corrected", "critical",	    "phase",
					   "",	       "",	    "driver device"};
	struct ww_grid g = {.columns = D_COLUMNS,
			    .left = 1u << D_PHASE | 1u << D_ASYNC | 1u << D_ERROR | 1u << D_NAME};
	const struct ww_pm_device **order;
	size_t n = c->devices < top ? c->devices : top;
	double least;

	if (c->devices == 0)
		return;
	order = malloc(c->devices * sizeof(const struct ww_pm_device *));
	if (!order) {
		s->bad = true;
		return;
	}
	for (size_t i = 0; i < c->devices; i++)
		order[i] = &c->device[i];
	qsort(order, c->devices, sizeof(*order), by_weight);
	ww_grid_head(&g, head);
	least = PART * weight(order[0]);
	for (size_t i = 0; i < n && (weight(order[i]) >= least || isinf(least)); i++)
		device_row(&g, c, order[i]);
	free(order);
	ww_str_addf(s, "\n  slowest of %llu callbacks of devices\n",
		    (unsigned long long)(c->devices + c->devices_left_out));
	ww_grid_print(s, &g);
}

/* ---- what is no device ---- */

static int by_length(const void *a, const void *b)
{
	const struct ww_pm_other *x = *(const struct ww_pm_other *const *)a;
	const struct ww_pm_other *y = *(const struct ww_pm_other *const *)b;
	double p = ms_of(x->length), q = ms_of(y->length);

	p = isnan(p) ? -1 : p;
	q = isnan(q) ? -1 : q;
	if (p != q)
		return p > q ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void other_line(struct ww_str *s, const struct ww_pm_cycle *c, const struct ww_pm_other *o)
{
	struct ww_str ms = {0};
	size_t n;

	ww_put_length(&ms, o->length, c->stamp_res_ns);
	n = ms.n ? ww_characters(ms.p, ms.n) : 0;
	ww_put_blanks(s, n < 10 ? 10 - n : 0);
	s->bad = s->bad || ms.bad;
	ww_str_add(s, ms.n ? ms.p : "");
	ww_str_add(s, "  ");
	ww_str_plain(s, o->what);
	ww_str_add(s, "\n");
	if (*o->before)
		wrapped(s, "              after ", o->before);
	if (*o->after)
		wrapped(s, "              before ", o->after);
	ww_str_free(&ms);
}

static void put_others(struct ww_str *s, const struct ww_pm_cycle *c, size_t top)
{
	const struct ww_pm_other **order;
	size_t n = c->others < top ? c->others : top;

	if (c->others == 0)
		return;
	order = malloc(c->others * sizeof(const struct ww_pm_other *));
	if (!order) {
		s->bad = true;
		return;
	}
	for (size_t i = 0; i < c->others; i++)
		order[i] = &c->other[i];
	qsort(order, c->others, sizeof(*order), by_length);
	ww_str_add(s, "\n        ms  what is no device\n");
	for (size_t i = 0; i < n; i++)
		other_line(s, c, order[i]);
	if (n < c->others)
		ww_str_addf(s, "            and %llu more\n", (unsigned long long)(c->others - n));
	free(order);
}

/* ---- the console ---- */

static void put_console(struct ww_str *s, const struct ww_pm_cycle *c)
{
	double console = (double)c->console_ns / 1e6, all = ms_of(c->suspend), part;
	struct ww_str line = {0};

	if (!c->baud || console < CONSOLE_MS || !(c->console_bound > 0))
		return;
	all = (isnan(all) ? 0 : all) + (isnan(ms_of(c->resume)) ? 0 : ms_of(c->resume));
	part = all > 0 ? console / all : 1;
	if (part < .05)
		return;
	ww_str_add(&line, "  ! the log disturbs what it measures: ");
	ww_str_addf(&line, "%llu bytes at %u baud take ", (unsigned long long)c->console_bytes,
		    (unsigned)c->baud);
	ww_str_fixed(&line, console, 1);
	ww_str_add(&line, " ms");
	if (all > 0) {
		ww_str_add(&line, " of ");
		ww_str_fixed(&line, all, 1);
		ww_str_add(&line, " ms");
	}
	ww_str_add(&line, ". `loglevel=4` keeps the lines off the console; dmesg has them "
			  "afterwards");
	ww_str_add(s, "\n");
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, 4, WIDTH);
	ww_str_free(&line);
}

/* ---- all of it ---- */

static void put_texts(struct ww_str *s, const char *head, const char *const *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ww_str_add(s, i ? "" : "\n");
		wrapped(s, head, text[i]);
	}
}

void ww_kernlog_text_cycle(struct ww_str *s, const struct ww_pm_cycle *c, size_t top)
{
	struct ww_str line = {0};

	ww_str_addf(&line, "cycle %u: %s, %s", (unsigned)c->n,
		    c->mode == WW_PM_MODE_UNKNOWN ? "mode not told" : ww_pm_mode_name(c->mode),
		    ww_pm_result_name(c->result));
	ww_pm_why(&line, c);
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, 2, WIDTH);
	ww_str_free(&line);
	put_when(s, c);
	put_totals(s, c);
	put_phases(s, c);
	put_devices(s, c, top);
	put_others(s, c, top);
	put_texts(s, "  error: ", c->error, c->errors);
	put_texts(s, "  contradiction: ", c->contradiction, c->contradictions);
	put_console(s, c);
}

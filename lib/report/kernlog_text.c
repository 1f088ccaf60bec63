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
/* Of a clock since 1970 and not since some boot. */
#define WALL_NS (100000000 * WW_NS_PER_S)
/* Part of a suspend or a resume that nobody need be told of. */
#define REST_PART 0.02
#define REST_MS	  2.0

/* ---- head ---- */

/* A wall clock without its zone; a log without years is of 2000, which nobody wants to read. */
static void put_wall(struct ww_str *s, int64_t ns, double res_ns)
{
	struct ww_str t = {0};
	size_t from = 0, n;

	ww_str_time(&t, ns, 0);
	s->bad = s->bad || t.bad;
	if (t.bad)
		return;
	n = strcspn(t.p, res_ns < 5e8 ? "+" : ".");
	if (strncmp(t.p, "2000-", 5) == 0)
		from = 5;
	for (size_t i = from; i < n; i++)
		ww_str_addn(s, t.p[i] == 'T' ? " " : &t.p[i], 1);
	ww_str_free(&t);
}

static void put_moment(struct ww_str *s, const struct ww_pm_cycle *c, int64_t ns)
{
	double res = c->stamp_res_ns;

	if (c->clock == WW_PM_CLOCK_HOST && ns > WALL_NS) {
		put_wall(s, ns, res);
		return;
	}
	ww_str_fixed(s, (double)ns / 1e9, res > 0 && res < 5e8 ? ww_ms_decimals(res) + 3 : 0);
	ww_str_add(s, " s");
}

static void put_when(struct ww_str *s, const struct ww_pm_cycle *c)
{
	static const char *const clocks[] = {"", "kernel's stamps", "trace clock",
					     "logger's stamps", "bench's clock"};
	bool begin = c->t.lo_ns != WW_TIME_MIN, end = c->t.hi_ns != WW_TIME_MAX;

	if (c->clock <= 0 || c->clock > WW_PM_CLOCK_BENCH) {
		ww_str_add(s,
			   "  the lines have no stamps: times are those that the kernel prints\n");
		return;
	}
	if (!ww_iv_ok(c->t) || (!begin && !end)) {
		ww_str_addf(s, "  neither begin nor end seen, %s\n", clocks[c->clock]);
		return;
	}
	ww_str_add(s, begin ? "  from " : "  begin not seen, until ");
	if (begin)
		put_moment(s, c, c->t.lo_ns);
	if (begin && end)
		ww_str_add(s, " to ");
	if (end)
		put_moment(s, c, c->t.hi_ns);
	ww_str_addf(s, ", %s%s\n", clocks[c->clock], end ? "" : "; end not seen");
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
	if (ww_pm_corrects(t, corrected)) {
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
	if (p->phase == WW_PM_MACHINE && p->verb == WW_PM_V_RESUME)
		ww_str_add(s, ", from the wake on");
	if (p->nested)
		ww_str_add(s, ", nested");
}

static void put_share(struct ww_str *share, struct ww_str *bar, double ms, double of)
{
	double part = ms / of;

	if (!(of > 0) || !(part >= 0) || part > 1.0005)
		return;
	if (part < 5e-4)
		return;
	ww_str_fixed(share, part * 100, 1);
	ww_str_add(share, " %");
	for (int i = 0; i < (int)(part * BAR + .5); i++)
		ww_str_add(bar, "#");
}

enum { P_NAME, P_MS, P_CORRECTED, P_SHARE, P_BAR, P_COLUMNS };

static struct ww_interval sum_of(struct ww_interval a, struct ww_interval b)
{
	if (!ww_iv_ok(a) || !ww_iv_ok(b))
		return ww_iv_ok(a) ? a : b;
	return (struct ww_interval){ww_add_sat(a.lo_ns, b.lo_ns), ww_add_sat(a.hi_ns, b.hi_ns)};
}

/* A phase in stretches is one line of the table: what is alike is added up. */
static size_t join(struct ww_pm_span *p, const struct ww_pm_cycle *c)
{
	size_t n = 0;

	for (int phase = 0; phase < WW_PM_PHASES; phase++)
		for (size_t i = 0; i < c->spans; i++) {
			const struct ww_pm_span *q = &c->span[i];
			struct ww_pm_span *last = n ? &p[n - 1] : NULL;

			if (q->phase != phase || (!ww_iv_ok(q->length) && !q->failed))
				continue;
			if (!last || last->phase != phase || last->verb != q->verb ||
			    last->nested != q->nested) {
				p[n++] = *q;
				continue;
			}
			last->length = sum_of(last->length, q->length);
			last->corrected = sum_of(last->corrected, q->corrected);
			last->failed |= q->failed;
		}
	return n;
}

static void phase_row(struct ww_grid *g, const struct ww_pm_cycle *c, const struct ww_pm_span *p)
{
	double of = ww_pm_ms(after_sleep(p->phase) ? c->resume : c->suspend);
	struct ww_str *row = ww_grid_row(g);

	if (!row)
		return;
	put_phase_name(&row[P_NAME], p);
	ww_put_length(&row[P_MS], p->length, c->stamp_res_ns);
	if (!row[P_MS].n)
		ww_str_add(&row[P_MS], "?");
	if (ww_pm_corrects(p->length, p->corrected))
		ww_put_length(&row[P_CORRECTED], p->corrected, c->stamp_res_ns);
	if (!p->nested && p->phase != WW_PM_MACHINE)
		put_share(&row[P_SHARE], &row[P_BAR], ww_pm_ms(p->length), of);
	if (p->failed)
		ww_str_addf(&row[P_BAR], "%sfailed", row[P_BAR].n ? " " : "");
}

/* What of a suspend or a resume lies in no phase. */
static void rest_row(struct ww_grid *g, const struct ww_pm_cycle *c, bool resume)
{
	double all = ww_pm_ms(resume ? c->resume : c->suspend), sum = 0;
	struct ww_str *row;

	for (size_t i = 0; i < c->spans; i++) {
		const struct ww_pm_span *p = &c->span[i];
		double ms = ww_pm_ms(p->length);

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
	struct ww_pm_span *p = malloc((c->spans + 1) * sizeof(*p));
	bool resumed = false;
	size_t n;

	if (!p) {
		s->bad = true;
		return;
	}
	n = join(p, c);
	ww_grid_head(&g, head);
	for (size_t i = 0; i < n; i++) {
		if (!resumed && after_sleep(p[i].phase)) {
			rest_row(&g, c, false);
			resumed = true;
		}
		phase_row(&g, c, &p[i]);
	}
	if (!resumed)
		rest_row(&g, c, false);
	rest_row(&g, c, true);
	free(p);
	if (g.rows > 1)
		ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

/* ---- the console ---- */

static void put_console(struct ww_str *s, const struct ww_pm_cycle *c)
{
	double console = (double)c->console_ns / 1e6, all = ww_pm_ms(c->suspend), part;
	struct ww_str line = {0};

	if (!c->baud || console < CONSOLE_MS || !(c->console_bound > 0))
		return;
	all = (isnan(all) ? 0 : all) + (isnan(ww_pm_ms(c->resume)) ? 0 : ww_pm_ms(c->resume));
	part = all > 0 ? console / all : 1;
	if (part < .05)
		return;
	/* What helps stands in the notes. */
	ww_str_add(&line, "  ! the log disturbs what it measures: its ");
	ww_str_addf(&line, "%llu bytes at %u baud took ", (unsigned long long)c->console_bytes,
		    (unsigned)c->baud);
	ww_str_fixed(&line, console, 1);
	if (all > 0) {
		ww_str_add(&line, " of ");
		ww_str_fixed(&line, all, 1);
	}
	ww_str_add(&line, " ms");
	ww_str_add(s, "\n");
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, 4, WIDTH);
	ww_str_free(&line);
}

/* ---- all of it ---- */

static void put_texts(struct ww_str *s, const char *head, const char *const *text, size_t n,
		      size_t top)
{
	for (size_t i = 0; i < n && i < top; i++) {
		ww_str_add(s, i ? "" : "\n");
		ww_pm_wrapped(s, 4, head, text[i]);
	}
	if (n > top)
		ww_str_addf(s, "  and %llu more\n", (unsigned long long)(n - top));
}

void ww_kernlog_text_cycle(struct ww_str *s, const struct ww_pm_cycle *c, size_t top)
{
	struct ww_str line = {0};

	ww_str_addf(&line, "cycle %u: %s, %s", (unsigned)c->n,
		    c->mode == WW_PM_MODE_UNKNOWN ? "mode not told" : ww_pm_mode_name(c->mode),
		    ww_pm_result_name(c->result));
	ww_pm_why(&line, c);
	if (*c->kernel) {
		ww_str_add(&line, "; kernel ");
		ww_str_plain(&line, c->kernel);
	}
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, 2, WIDTH);
	ww_str_free(&line);
	put_when(s, c);
	put_totals(s, c);
	put_phases(s, c);
	ww_kernlog_text_devices(s, c, top);
	ww_kernlog_text_others(s, c, top);
	put_texts(s, "  error: ", c->error, c->errors, top);
	put_texts(s, "  contradiction: ", c->contradiction, c->contradictions, top);
	put_console(s, c);
}

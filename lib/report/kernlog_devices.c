/* SPDX-License-Identifier: MIT */
/* What took time in a suspend: callbacks of devices, and what is none. */
#include "report/format.h"
#include "report/kernlog.h"
#include "report/length.h"

#include <math.h>

#define WIDTH 90
/* By which ftrace and the log may differ on when the sleep began and ended. */
#define SLACK_NS (5 * WW_NS_PER_MS)
/* Less than this taken out is not worth a figure. */
#define CORRECTED_MS   0.02
#define CORRECTED_PART 2e-3
/* A callback that takes less of the longest one's time is nobody's trouble. */
#define PART 1e-3
/* The same of what is no device, of suspend and resume together. */
#define OTHER_PART 1e-2

double ww_pm_ms(struct ww_interval t)
{
	if (!ww_iv_ok(t) || t.lo_ns == WW_TIME_MIN || t.hi_ns == WW_TIME_MAX)
		return (double)NAN;
	return ((double)t.lo_ns + (double)t.hi_ns) / 2e6;
}

bool ww_pm_corrects(struct ww_interval t, struct ww_interval corrected)
{
	double ms = ww_pm_ms(t), less = ms - ww_pm_ms(corrected);

	return less >= CORRECTED_MS && less >= CORRECTED_PART * ms;
}

void ww_pm_wrapped(struct ww_str *s, size_t indent, const char *head, const char *text)
{
	struct ww_str line = {0};

	ww_str_add(&line, head);
	ww_str_plain(&line, text);
	s->bad = s->bad || line.bad;
	if (!line.bad)
		ww_put_wrapped(s, line.p, indent, WIDTH);
	ww_str_free(&line);
}

/* ---- devices ---- */

/* What never returned stands first, then the longest. */
static double weight(const struct ww_pm_device *d)
{
	double ms = ww_pm_ms(d->length);

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
	if (ww_pm_corrects(d->length, d->corrected))
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

void ww_kernlog_text_devices(struct ww_str *s, const struct ww_pm_cycle *c, size_t top)
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
	if (weight(order[0]) < 0) {
		ww_str_addf(s, "\n  callbacks of devices: %llu, of none how long it took\n",
			    (unsigned long long)c->devices + c->devices_left_out);
		free(order);
		return;
	}
	ww_grid_head(&g, head);
	least = PART * weight(order[0]);
	for (size_t i = 0; i < n && (weight(order[i]) >= least || isinf(least)); i++)
		device_row(&g, c, order[i]);
	free(order);
	ww_str_addf(s, "\n  slowest of %llu callbacks of devices\n",
		    (unsigned long long)c->devices + c->devices_left_out);
	ww_grid_print(s, &g);
}

/* ---- what is no device ---- */

static int by_length(const void *a, const void *b)
{
	const struct ww_pm_other *x = *(const struct ww_pm_other *const *)a;
	const struct ww_pm_other *y = *(const struct ww_pm_other *const *)b;
	double p = ww_pm_ms(x->length), q = ww_pm_ms(y->length);

	p = isnan(p) ? -1 : p;
	q = isnan(q) ? -1 : q;
	if (p != q)
		return p > q ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Characters of a length as it is printed. */
static size_t width_of(const struct ww_pm_cycle *c, const struct ww_pm_other *o)
{
	struct ww_str ms = {0};
	size_t n;

	ww_put_length(&ms, o->length, c->stamp_res_ns);
	n = ms.n ? ww_characters(ms.p, ms.n) : 0;
	ww_str_free(&ms);
	return n;
}

static void other_line(struct ww_str *s, const struct ww_pm_cycle *c, const struct ww_pm_other *o,
		       size_t width)
{
	size_t n = width_of(c, o);
	struct ww_str ms = {0};

	ww_put_length(&ms, o->length, c->stamp_res_ns);
	ww_put_blanks(s, n < width ? width - n : 0);
	s->bad = s->bad || ms.bad;
	ww_str_add(s, ms.n ? ms.p : "");
	ww_str_add(s, "  ");
	ww_str_plain(s, o->what);
	ww_str_add(s, "\n");
	if (*o->before)
		ww_pm_wrapped(s, 16, "              after ", o->before);
	if (*o->after)
		ww_pm_wrapped(s, 16, "              before ", o->after);
	ww_str_free(&ms);
}

/* No line comes while it sleeps: that is told as the sleep. */
static bool asleep(const struct ww_pm_cycle *c, const struct ww_pm_other *o)
{
	return o->start_ns != WW_TIME_MIN && ww_iv_ok(c->sleep_begin) && ww_iv_ok(c->sleep_end) &&
	       ww_iv_ok(c->slept) && strcmp(o->what, "silent gap") == 0 &&
	       o->start_ns >= ww_add_sat(c->sleep_begin.lo_ns, -SLACK_NS) &&
	       ww_add_sat(o->start_ns, o->length.lo_ns) <= ww_add_sat(c->sleep_end.hi_ns, SLACK_NS);
}

/* Do these make up nine tenths of the gap? */
static bool fills(const struct ww_pm_other *gap, int64_t from, int64_t to)
{
	int64_t begin = gap->start_ns, end = ww_add_sat(begin, ww_iv_mid(gap->length));

	from = from > begin ? from : begin;
	to = to < end ? to : end;
	return to > from && to - from >= (end - begin) / 10 * 9;
}

/* A gap in which something ran that has a name, and a row of its own. */
static bool named(const struct ww_pm_cycle *c, const struct ww_pm_other *gap)
{
	if (strcmp(gap->what, "silent gap") != 0 || gap->start_ns == WW_TIME_MIN)
		return false;
	for (size_t i = 0; i < c->others; i++) {
		const struct ww_pm_other *o = &c->other[i];

		if (!strstr(o->what, " gap") && o->start_ns != WW_TIME_MIN && ww_iv_ok(o->length) &&
		    o->length.lo_ns < ww_iv_mid(gap->length) * 2 &&
		    fills(gap, o->start_ns, ww_add_sat(o->start_ns, ww_iv_mid(o->length))))
			return true;
	}
	for (size_t i = 0; i < c->spans; i++) {
		int phase = c->span[i].phase;

		if ((phase == WW_PM_SYNC || phase == WW_PM_FREEZE || phase == WW_PM_IMAGE) &&
		    fills(gap, c->span[i].start_ns, c->span[i].end_ns))
			return true;
	}
	return false;
}

/* All CPUs are a phase already, and what nobody would miss is left to the other forms. */
static bool worth(const struct ww_pm_cycle *c, const struct ww_pm_other *o)
{
	double all = ww_pm_ms(c->suspend), ms = ww_pm_ms(o->length), resume = ww_pm_ms(c->resume);

	all = (isnan(all) ? 0 : all) + (isnan(resume) ? 0 : resume);
	return strncmp(o->what, "CPU o", 5) != 0 && !asleep(c, o) && !named(c, o) &&
	       (isnan(ms) || ms >= OTHER_PART * all);
}

void ww_kernlog_text_others(struct ww_str *s, const struct ww_pm_cycle *c, size_t top)
{
	const struct ww_pm_other **order;
	size_t n = 0, width = 10;

	if (c->others == 0)
		return;
	order = malloc(c->others * sizeof(const struct ww_pm_other *));
	if (!order) {
		s->bad = true;
		return;
	}
	for (size_t i = 0; i < c->others; i++)
		if (worth(c, &c->other[i]))
			order[n++] = &c->other[i];
	qsort(order, n, sizeof(*order), by_length);
	for (size_t i = 0; i < n && i < top; i++) {
		size_t w = width_of(c, order[i]);

		width = w > width ? w : width;
	}
	if (n) {
		ww_str_add(s, "\n");
		ww_put_blanks(s, width - 2);
		ww_str_add(s, "ms  what is no device\n");
	}
	for (size_t i = 0; i < n && i < top; i++)
		other_line(s, c, order[i], width);
	if (n > top)
		ww_str_addf(s, "            and %llu more\n", (unsigned long long)(n - top));
	free(order);
}

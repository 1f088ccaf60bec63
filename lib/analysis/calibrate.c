/* SPDX-License-Identifier: MIT */
/* A meter's offset and gain from loads whose power is known. */
#include "analysis/calibrate.h"
#include "base/str.h"
#include "text/calfile.h"
#include "text/csv.h"
#include "text/onoff.h"

#include <math.h>

#define POINTS 10000
/* A reading without a load that lies this many u off the line is a dead zone. */
#define ZERO_U 3
/* So many steps of the display, and that part of the greatest load, off the line is told. */
#define MISFIT_STEPS 5
#define MISFIT_PART  0.005

struct points {
	struct ww_cal_point *p;
	size_t n, cap;
	double step; /* smallest last digit of the readings */
	bool own_uy; /* some reading told its own uncertainty */
	bool third;  /* a third column was there */
};

/* --- the text */

static int add_point(struct points *l, const struct ww_cal_point *p, struct ww_error *err)
{
	if (l->n == POINTS)
		return ww_fail(err, -EINVAL, "more than %d loads", POINTS);
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		struct ww_cal_point *more = realloc(l->p, cap * sizeof(*more));

		if (!more)
			return ww_fail_nomem(err);
		l->p = more;
		l->cap = cap;
	}
	l->p[l->n++] = *p;
	return 0;
}

/* Fields of a line; with ' ' as separator a "±" joins what is on its sides. */
static size_t split(const char *line, size_t n, char sep, struct ww_field *f)
{
	struct ww_csv dialect = {sep, false};
	size_t k = ww_csv_split(&dialect, line, n, f, 8), out = 0;

	k = k < 8 ? k : 8;
	if (sep != ' ')
		return k;
	for (size_t i = 0; i < k; i++) {
		bool mark = f[i].n <= 3 && f[i].n && (f[i].p[0] == '\xc2' || f[i].p[0] == '+') &&
			    i + 1 < k && out > 0;
		bool unit = f[i].n == 1 && *f[i].p == 'W' && out > 0;

		if (mark)
			i++;
		if (mark || unit)
			f[out - 1].n = (size_t)(f[i].p + f[i].n - f[out - 1].p);
		else
			f[out++] = f[i];
	}
	return out;
}

/* @return fields that are numbers, at most three; 0 where the first two are not both */
static size_t numbers(const char *line, size_t n, char sep, struct ww_onoff_number *v)
{
	struct ww_field f[8];
	size_t k = split(line, n, sep, f);

	if (k < 2 || k > 3)
		return 0;
	for (size_t i = 0; i < k; i++)
		if (ww_onoff_number(f[i].p, f[i].n, "W", 1, &v[i]) != 1)
			return i < 2 ? 0 : 2;
	return k;
}

/* What divides the columns: whatever makes most lines two numbers. */
static char find_sep(const char *text, size_t n)
{
	static const char seps[] = ";\t| ,";
	size_t most = 0, step, len;
	char best = ';';

	for (const char *s = seps; *s; s++) {
		struct ww_onoff_number v[3];
		size_t count = 0;

		for (size_t at = 0; (step = ww_csv_line(text + at, n - at, &len)) > 0; at += step)
			count +=
				!ww_csv_blank(text + at, len) && numbers(text + at, len, *s, v) > 0;
		if (count > most) {
			most = count;
			best = *s;
		}
	}
	return best;
}

static int take(struct points *l, const struct ww_onoff_number *v, size_t k,
		const struct ww_calibration_options *opt, struct ww_error *err)
{
	double dflt = WW_OPT(opt, reference_u, 0);
	struct ww_cal_point p = {.x = v[0].value, .y = v[1].value, .uy = v[1].u};

	p.ux = k == 3 ? v[2].value : isnan(v[0].u) ? dflt : v[0].u;
	l->third |= k == 3;
	l->own_uy |= p.uy > 0;
	if (v[1].step > 0 && v[1].step < l->step)
		l->step = v[1].step;
	return add_point(l, &p, err);
}

/* "25,26,1": three numbers, or two of which one has a decimal comma. */
static bool two_ways(const char *line, size_t n)
{
	size_t bare = 0;

	if (memchr(line, '.', n))
		return false;
	for (size_t i = 1; i + 1 < n; i++)
		bare += line[i] == ',' && line[i - 1] >= '0' && line[i - 1] <= '9' &&
			line[i + 1] >= '0' && line[i + 1] <= '9';
	return bare > 0;
}

static int read_text(struct points *l, const char *name, const char *text, size_t n,
		     const struct ww_calibration_options *opt, struct ww_error *err)
{
	size_t bom = ww_csv_bom(text, n), line = 0, step, len;
	char sep = find_sep(text + bom, n - bom);
	bool first = true, headed = false;
	int rc = 0;

	for (size_t at = bom; rc == 0 && (step = ww_csv_line(text + at, n - at, &len)) > 0;
	     at += step) {
		struct ww_onoff_number v[3];
		size_t k;

		line++;
		if (ww_csv_blank(text + at, len))
			continue;
		k = numbers(text + at, len, sep, v);
		if (k == 0 && !first)
			return ww_fail(err, -EINVAL,
				       "%s:%zu: '%.*s' is not a known load and a reading in W; "
				       "write '25.0; 26.1'",
				       name, line, len < 60 ? (int)len : 60, text + at);
		if (k == 3 && !(v[2].value >= 0))
			return ww_fail(err, -EINVAL, "%s:%zu: an uncertainty below zero", name,
				       line);
		if (k == 3 && !headed && sep == ',' && two_ways(text + at, len))
			return ww_fail(err, -EINVAL,
				       "%s:%zu: '%.*s' may have a decimal comma; write decimal "
				       "points, or put ';' between the columns",
				       name, line, len < 60 ? (int)len : 60, text + at);
		headed |= first && k == 0;
		first = false;
		if (k)
			rc = take(l, v, k, opt, err);
	}
	if (rc == 0 && l->n < 2)
		return ww_fail(err, -EINVAL,
			       "%s: %s; a line needs two loads, such as '0; 1.0' and '25.0; 26.1'",
			       name, l->n ? "one load only" : "no load");
	return rc;
}

/* --- the fit */

/*
 * Where no reading told its own uncertainty, the scatter around the line does; it is not
 * less than what the display rounds off.
 */
static int fit(struct points *l, size_t n, double q, struct ww_calibration_info *info,
	       struct ww_cal_line *line)
{
	bool york = false;
	double s = (double)NAN;

	for (size_t i = 0; i < n; i++) {
		york |= l->p[i].ux > 0;
		if (!(l->p[i].uy > 0))
			l->p[i].uy = q > 0 ? q / sqrt(12) : 1;
	}
	if (ww_cal_york(l->p, n, line) < 0)
		return -EINVAL;
	if (n > 2) {
		double ss = 0;

		for (size_t i = 0; i < n; i++)
			ss += pow(l->p[i].y - line->offset.value - line->gain.value * l->p[i].x, 2);
		s = sqrt(ss / (double)(n - 2));
	}
	info->s = s;
	info->york = york;
	if (n > 2) {
		double scale = sqrt(line->chi2 / (double)(n - 2));

		if (scale > 1) {
			line->offset.u *= scale;
			line->gain.u *= scale;
			line->cov *= scale * scale;
		}
	}
	return 0;
}

/*
 * Readings without a load go to the end, so that a fit can leave them out, and those of
 * small loads at which the meter showed no more. @return the others
 */
static size_t zeros_last(struct points *l)
{
	size_t n = l->n;
	double zero = -INFINITY;

	for (size_t i = 0; i < n; i++)
		if (l->p[i].x == 0)
			zero = fmax(zero, l->p[i].y);

	for (size_t i = 0; i < n;) {
		struct ww_cal_point t = l->p[i];

		if (t.x != 0 && t.y > zero) {
			i++;
			continue;
		}
		l->p[i] = l->p[--n];
		l->p[n] = t;
	}
	return n;
}

static bool two_loads(const struct points *l, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (l->p[i].x != l->p[0].x)
			return true;
	return false;
}

/* What the meter shows without a load, against the line through the loads. */
static int judge_zero(struct points *l, size_t loads, double q, struct ww_calibration *c,
		      struct ww_cal_line *line)
{
	struct ww_calibration_info *info = &c->info;
	double zero = 0, u;

	info->zero = info->zero_u = (double)NAN;
	if (loads == l->n || !two_loads(l, loads))
		return fit(l, l->n, q, info, line);
	if (fit(l, loads, q, info, line) < 0)
		return -EINVAL;
	for (size_t i = loads; i < l->n; i++)
		zero += l->p[i].y / (double)(l->n - loads);
	u = hypot(line->offset.u, q > 0 ? q / sqrt(12) : l->p[0].uy);
	info->zero = zero - line->offset.value;
	info->zero_u = u;
	if (fabs(info->zero) > ZERO_U * u) {
		info->dead_zone = 1;
		info->n = loads;
		return 0;
	}
	return fit(l, l->n, q, info, line);
}

/* A line that the readings are off by far more than the display rounds off. */
static void misfit(struct ww_calibration *c, const struct points *l)
{
	const struct ww_calibration_info *i = &c->info;
	double most = 0;
	size_t at = 0;
	char off[40], load[40];

	for (size_t k = 0; k < i->n; k++) {
		double r = fabs(l->p[k].y - i->offset.value - i->gain.value * l->p[k].x);

		at = r > most ? k : at;
		most = fmax(most, r);
	}
	if (!(i->resolution > 0) || !(most > MISFIT_STEPS * i->resolution) ||
	    !(most > MISFIT_PART * i->hi))
		return;
	ww_fixed_text(off, sizeof(off), most, ww_decimals_for(most, 2));
	ww_fixed_text(load, sizeof(load), l->p[at].x, ww_decimals_for(l->p[at].x, 3));
	ww_note(&c->notes,
		"no line fits: the reading at %s W is %s W off it, far more than the display's "
		"step; a dead zone at small loads, a typing error, or a meter that is no straight "
		"line; leave that load out and look again",
		load, off);
}

static void remarks(struct ww_calibration *c, const struct points *l, size_t loads)
{
	const struct ww_calibration_info *i = &c->info;

	if (i->dead_zone)
		ww_note(&c->notes, "without a load the meter is off the line (a dead zone): that "
				   "reading is left out, and small loads are not to be trusted");
	else if (loads == l->n)
		ww_note(&c->notes, "nothing was read without a load");
	if (loads < 2 || (!two_loads(l, loads) && !i->dead_zone))
		ww_note(&c->notes,
			"one load beside none: the offset is that of the empty meter, and "
			"it is right to subtract it only if it is the same under load; "
			"read two known loads");
	misfit(c, l);
	if (i->n == 2)
		ww_note(&c->notes, "two points make a line whatever they are: nothing tests it");
	if (l->third)
		ww_note(&c->notes, "the third column is taken as the standard uncertainty of the "
				   "reference");
	ww_note(&c->notes, "it holds between the least and the greatest load, and for loads like "
			   "these: resistive ones say nothing of other power factors");
}

static void range(struct ww_calibration_info *i, const struct points *l)
{
	i->lo = INFINITY;
	i->hi = -INFINITY;
	for (size_t k = 0; k < l->n; k++) {
		if (i->dead_zone && k >= i->n)
			continue;
		i->lo = fmin(i->lo, l->p[k].x);
		i->hi = fmax(i->hi, l->p[k].x);
	}
}

static int make(struct points *l, const char *name, const struct ww_calibration_options *opt,
		struct ww_calibration *c, struct ww_error *err)
{
	struct ww_calibration_info *i = &c->info;
	const char *meter = WW_OPT(opt, meter, NULL);
	struct ww_cal_line line;
	size_t loads = zeros_last(l);
	double q = WW_OPT(opt, resolution, 0) > 0 ? opt->resolution
		   : isfinite(l->step)		  ? l->step
						  : 0;

	i->n = l->n;
	i->resolution = q;
	if (!two_loads(l, l->n) || judge_zero(l, loads, q, c, &line) < 0)
		return ww_fail(err, -EINVAL,
			       "%s: all loads are the same; two different ones make a "
			       "line",
			       name);
	if (!(line.gain.value > 0.1) || !(line.gain.value < 10))
		return ww_fail(err, -EINVAL,
			       "%s: the gain would be beyond a tenth and ten: is the reference the "
			       "first column, the reading the second?",
			       name);
	i->offset = line.offset;
	i->gain = line.gain;
	i->cov = line.cov;
	range(i, l);
	c->meter = strdup(meter ? meter : "");
	if (!c->meter)
		return ww_fail_nomem(err);
	i->meter = c->meter;
	remarks(c, l, loads);
	return c->notes.bad ? ww_fail_nomem(err) : 0;
}

int ww_calibration_fit(const char *name, const char *text, size_t n,
		       const struct ww_calibration_options *opt, struct ww_calibration **out,
		       struct ww_error *err)
{
	struct points l = {.step = INFINITY};
	struct ww_calibration *c;
	int rc;

	if (WW_OPT_CHECK(opt, err) < 0)
		return -EINVAL;
	if (!(WW_OPT(opt, resolution, 0) >= 0) || !(WW_OPT(opt, reference_u, 0) >= 0))
		return ww_fail(err, -EINVAL, "a resolution or uncertainty below zero");
	c = calloc(1, sizeof(*c));
	if (!c)
		return ww_fail_nomem(err);
	rc = read_text(&l, name, text, n, opt, err);
	if (rc == 0)
		rc = make(&l, name, opt, c, err);
	free(l.p);
	if (rc == 0 && WW_OPT(opt, correct_asked, 0)) {
		struct ww_quantity none = {0, 0};

		c->asked = true;
		c->reading = WW_OPT(opt, correct, none);
		if (!(c->reading.u > 0))
			c->reading.u = c->info.resolution / sqrt(12);
		c->corrected = ww_calibration_correct(c, c->reading);
	}
	if (rc < 0) {
		ww_calibration_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

int ww_calibration_read(const char *name, const char *text, size_t n, struct ww_calibration **out,
			struct ww_error *err)
{
	struct ww_calibration *c = calloc(1, sizeof(*c));
	int rc = c ? ww_calfile_read(name, text, n, &c->info, &c->meter, err) : ww_fail_nomem(err);

	if (rc < 0) {
		ww_calibration_free(c);
		return rc;
	}
	c->info.meter = c->meter ? c->meter : "";
	*out = c;
	return 0;
}

const struct ww_calibration_info *ww_calibration_get(const struct ww_calibration *c)
{
	return &c->info;
}

/* P = (I - o)/g; the three are uncertain, the last two together (JCGM 100, 5.2.2). */
struct ww_quantity ww_calibration_correct(const struct ww_calibration *c,
					  struct ww_quantity reading)
{
	const struct ww_calibration_info *i = &c->info;
	double p = (reading.value - i->offset.value) / i->gain.value,
	       var = pow(reading.u, 2) + pow(i->offset.u, 2) + pow(p * i->gain.u, 2) +
		     2 * p * i->cov;

	return (struct ww_quantity){p, sqrt(fmax(var, 0)) / i->gain.value};
}

const char *ww_calibration_note(const struct ww_calibration *c, size_t i)
{
	return ww_note_at(&c->notes, i);
}

void ww_calibration_free(struct ww_calibration *c)
{
	if (!c)
		return;
	ww_notes_free(&c->notes);
	free(c->meter);
	free(c);
}

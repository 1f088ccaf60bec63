/* SPDX-License-Identifier: MIT */
/* Standby power: the readings, the procedure, the judgement. */
#include "analysis/standby.h"
#include "base/sha256.h"

#include <math.h>

#define FAST_S 0.5 /* readings that come faster are averaged to 1 s */

static void free_data(struct ww_standby_data *d)
{
	free(d->t);
	free(d->v);
	free(d->within);
	free(d->scratch);
	free(d->scratch2);
	free(d->room);
	free(d->hole);
}

static int make_data(struct ww_standby_data *d, size_t n)
{
	d->t = calloc(n + 1, sizeof(*d->t));
	d->v = calloc(n + 1, sizeof(*d->v));
	d->within = calloc(n + 1, sizeof(*d->within));
	d->scratch = calloc(n + 1, sizeof(*d->scratch));
	d->scratch2 = calloc(n + 1, sizeof(*d->scratch2));
	d->hole = calloc(n + 1, 1);
	return d->t && d->v && d->within && d->scratch && d->scratch2 && d->hole ? 0 : -ENOMEM;
}

/* Readings as they are, or means over whole seconds with the scatter inside of them. */
static void fill_data(struct ww_standby_data *d, const struct ww_series *s, double begin)
{
	bool fast = s->period_s > 0 && s->period_s < FAST_S;

	for (size_t i = 0; i < s->n;) {
		double t = ww_series_s(s, s->t_ns[i]) - begin, first = s->v[i], sum = 0, ss = 0;
		double bin = floor(t);
		size_t k = i;

		for (; k < s->n && (k == i || fast); k++) {
			double x = s->v[k] - first;

			if (k > i && ww_series_s(s, s->t_ns[k]) - begin >= bin + 1)
				break;
			sum += x;
			ss += x * x;
			d->hole[d->n] = d->hole[d->n] || s->hole[k];
		}
		sum /= (double)(k - i);
		d->t[d->n] = fast ? bin + 0.5 : t;
		d->v[d->n] = first + sum;
		d->within[d->n] = fmax(0, ss / (double)(k - i) - sum * sum);
		d->n++;
		i = k;
	}
	d->dt = fast ? 1 : s->period_s;
}

static void name_data(struct ww_standby *s)
{
	struct ww_sha256 h;

	ww_sha256_init(&h);
	for (size_t i = 0; i < s->series.n; i++) {
		uint64_t bits;

		memcpy(&bits, &s->series.v[i], sizeof(bits));
		ww_sha256_add64(&h, (uint64_t)s->series.t_ns[i]);
		ww_sha256_add64(&h, bits);
	}
	ww_sha256_end(&h, s->sha256);
}

static int read_data(struct ww_standby *s, struct ww_standby_data *d, struct ww_trace *t,
		     const struct ww_standby_options *opt, struct ww_error *err)
{
	struct ww_series *x = &s->series;
	int64_t from = WW_OPT(opt, from_ns, 0);
	int rc = ww_series_read(t, WW_OPT(opt, channel, NULL), "power", from, WW_OPT(opt, to_ns, 0),
				x, err);

	if (rc < 0)
		return rc;
	if (x->n < 3)
		return ww_fail(err, -ENODATA,
			       "%s: %s: %zu readings with a value are too few for a procedure",
			       ww_trace_path(t), x->name, x->n);
	if (make_data(d, x->n) < 0)
		return ww_fail_nomem(err);
	s->r.begin_s = ww_series_s(x, from != 0 && from != WW_TIME_MIN && from > x->origin_ns
					      ? from
					      : x->t_ns[0]);
	name_data(s);
	d->begin = s->r.begin_s;
	d->q = x->resolution;
	fill_data(d, x, d->begin);
	if (d->n < 3)
		return ww_fail(err, -ENODATA, "%s: %s: %zu seconds of readings are too few",
			       ww_trace_path(t), x->name, d->n);
	d->room = calloc(2 * ww_standby_room(d->n), sizeof(*d->room));
	if (!d->room)
		return ww_fail_nomem(err);
	d->length = d->t[d->n - 1] + d->dt;
	d->live = ww_trace_state(t) == WW_TRACE_LIVE &&
		  (WW_OPT(opt, to_ns, 0) == 0 || WW_OPT(opt, to_ns, 0) == WW_TIME_MAX);
	return 0;
}

static bool bad_share(double v)
{
	return !(v >= 0) || !isfinite(v);
}

/* Numbers that no measurement can have are a mistake of the caller. */
static int take_options(struct ww_standby_options *o, const struct ww_standby_options *opt,
			struct ww_error *err)
{
	o->procedure = WW_OPT(opt, procedure, 0);
	o->cyclic = WW_OPT(opt, cyclic, 0);
	o->limit_watts = WW_OPT(opt, limit_watts, 0);
	o->crest = WW_OPT(opt, crest, 0);
	o->power_factor = WW_OPT(opt, power_factor, 0);
	o->acc_abs = WW_OPT(opt, acc_abs, 0);
	o->acc_rel = WW_OPT(opt, acc_rel, 0);
	o->supply_volts = WW_OPT(opt, supply_volts, 0);
	o->supply_hz = WW_OPT(opt, supply_hz, 0);
	o->ambient_degC = WW_OPT(opt, ambient_degC, 0);
	if (o->procedure < WW_STANDBY_SAMPLING || o->procedure > WW_STANDBY_ENERGYSTAR)
		return ww_fail(err, -EINVAL, "standby: procedure %d is unknown", o->procedure);
	if (bad_share(o->power_factor) || o->power_factor > 1)
		return ww_fail(err, -EINVAL, "a power factor lies between 0 and 1");
	if (bad_share(o->crest) || (o->crest > 0 && o->crest < 1))
		return ww_fail(err, -EINVAL, "a crest factor is 1 or more (a sine has 1.414)");
	if (bad_share(o->acc_abs) || bad_share(o->acc_rel) || o->acc_rel >= 1)
		return ww_fail(err, -EINVAL,
			       "the accuracy is a bound in W and a part of the reading, 0 to 1");
	if (bad_share(o->limit_watts) || bad_share(o->supply_volts) || bad_share(o->supply_hz))
		return ww_fail(err, -EINVAL,
			       "limit, nominal voltage and frequency are greater than 0");
	return 0;
}

static void start(struct ww_standby *s)
{
	struct ww_standby_result *r = &s->r;

	r->procedure = s->opt.procedure;
	r->tested_s = r->lucky_s = r->variation = r->slope_limit = NAN;
	r->crest = s->opt.crest > 0 ? s->opt.crest : (double)NAN;
	r->power_factor = s->opt.power_factor > 0 ? s->opt.power_factor : (double)NAN;
	r->volts = r->hz = r->thd = r->volts_crest = NAN;
	r->limit_watts = s->opt.limit_watts > 0 ? s->opt.limit_watts : (double)NAN;
}

int ww_standby_new(struct ww_trace *t, const struct ww_standby_options *opt,
		   struct ww_standby **out, struct ww_error *err)
{
	struct ww_standby *s = NULL;
	struct ww_standby_data d = {0};
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return ww_fail_nomem(err);
	rc = take_options(&s->opt, opt, err);
	if (rc == 0) {
		start(s);
		ww_wall_read(&s->wall, t);
		for (size_t i = 0; ww_import_note(t, i); i++)
			ww_note(&s->notes, "import: %s", ww_import_note(t, i));
		rc = read_data(s, &d, t, opt, err);
	}
	if (rc == 0)
		rc = ww_standby_run(s, &d, err);
	if (rc == 0) {
		/* Of the line's own stretch; supply and crest are taken over the same. */
		s->r.from_s = d.begin + s->fit.from;
		s->r.to_s = d.begin + fmin(s->fit.to, d.length);
		rc = ww_standby_surroundings(s, t, err);
	}
	if (rc == 0)
		rc = ww_standby_judge(s, &d, err);
	free_data(&d);
	if (rc < 0) {
		ww_standby_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

const struct ww_standby_result *ww_standby_get(const struct ww_standby *s)
{
	return &s->r;
}

const struct ww_clause *ww_standby_clause(const struct ww_standby *s, size_t i)
{
	return i < s->clauses ? &s->clause[i] : NULL;
}

const char *ww_standby_note(const struct ww_standby *s, size_t i)
{
	return ww_note_at(&s->notes, i);
}

static void drop(const char *text)
{
	free((void *)(uintptr_t)text);
}

void ww_standby_free(struct ww_standby *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->clauses; i++) {
		drop(s->clause[i].name);
		drop(s->clause[i].requirement);
		drop(s->clause[i].measured);
	}
	free(s->clause);
	for (size_t i = 0; i < 2 * s->duts; i++)
		free(s->dut[i]);
	free(s->dut);
	free(s->program);
	free(s->command);
	free(s->uri);
	free(s->driver);
	free(s->model);
	free(s->serial);
	free(s->firmware);
	ww_series_free(&s->series);
	ww_notes_free(&s->notes);
	free(s);
}

const char *ww_standby_verdict_name(int verdict)
{
	static const char *const name[] = {"stable", "not stable", "not resolved", "too short",
					   "no test of stability"};

	return verdict >= 0 && (size_t)verdict < WW_COUNTOF(name) ? name[verdict] : NULL;
}

const char *ww_standby_standing_name(int standing)
{
	static const char *const name[] = {"informative, not compliant", "not shown",
					   "met as far as the clauses go"};

	return standing >= 0 && (size_t)standing < WW_COUNTOF(name) ? name[standing] : NULL;
}

const char *ww_clause_state_name(int state)
{
	static const char *const name[] = {"met", "not met", "not resolved", "not observed"};

	return state >= 0 && (size_t)state < WW_COUNTOF(name) ? name[state] : NULL;
}

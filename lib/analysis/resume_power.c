/* SPDX-License-Identifier: MIT */
/*
 * Power beside the beat. A reading that arrived in [lo, hi] covers a window that ended
 * between lo - delay_max and hi - delay_min; a meter says something of a phase only
 * where that blur is much shorter than the phase.
 */
#include "analysis/resume.h"

#include <math.h>

#define LEAD_NS	   WW_NS_PER_S /* of power before the cycle */
#define MUCH	   5	       /* a phase lasts at least so many blurs */
#define SETTLED_NS WW_NS_PER_S

struct meter {
	struct ww_trace *t;
	const struct ww_source_info *source;
	const struct ww_channel_info *channel;
	size_t column;
	int64_t shift_ns; /* from the arrival back to the middle of the window */
	int64_t blur_ns;  /* width of what a reading may cover, and the time to the next */
};

/* Readings of a stretch, fed one by one. */
struct stretch {
	int64_t from, to; /* of the DUT's time */
	double joules, sum, sum2, last_w;
	int64_t last_ns;
	size_t n;
	/* First crossing of a level: below (off), or back within a band for a while (settled). */
	double level, band;
	struct ww_interval crossing;
	int64_t inside_since;
};

static double value_of(const struct meter *m, int64_t code)
{
	return code < WW_CODE_MIN ? NAN : (double)code * m->channel->scale + m->channel->offset;
}

static void clip_add(struct stretch *s, int64_t t, double w)
{
	int64_t a = s->last_ns > s->from ? s->last_ns : s->from, b = t < s->to ? t : s->to;
	double slope = t > s->last_ns ? (w - s->last_w) / (double)(t - s->last_ns) : 0;

	if (b <= a)
		return;
	s->joules += (s->last_w + slope * ((double)(a - s->last_ns) + (double)(b - a) / 2)) *
		     (double)(b - a) / 1e9;
}

static void feed(struct stretch *s, const struct meter *m, struct ww_interval t, double w)
{
	int64_t mid = ww_iv_mid(t) - m->shift_ns;
	struct ww_interval covers = {t.lo_ns - m->source->delay_max_ns - m->source->window_ns,
				     t.hi_ns - m->source->delay_min_ns};

	if (isnan(w))
		return;
	if (s->n)
		clip_add(s, mid, w);
	if (covers.lo_ns >= s->from && covers.hi_ns <= s->to) {
		s->sum += w;
		s->sum2 += w * w;
	}
	if (!isnan(s->level) && w < s->level && !ww_iv_ok(s->crossing) && covers.hi_ns >= s->from)
		s->crossing = (struct ww_interval){s->n ? s->last_ns + m->shift_ns -
								   m->source->delay_max_ns -
								   m->source->window_ns
							: covers.lo_ns,
						   covers.hi_ns};
	s->last_w = w;
	s->last_ns = mid;
	s->n++;
}

static int read_stretch(const struct meter *m, struct stretch *s, size_t *inside,
			struct ww_error *err)
{
	int64_t far = m->shift_ns + 2 * m->blur_ns;
	struct ww_cursor *c;
	struct ww_batch b;
	int rc = ww_cursor_open(m->t, m->source->id, s->from - far, s->to + far, 0, &c, err);

	*inside = 0;
	if (rc < 0)
		return rc;
	while ((rc = ww_cursor_next(c, &b, err)) > 0)
		for (size_t i = 0; i < b.n; i++) {
			struct ww_interval t = {b.lo_ns[i], b.hi_ns[i]};
			double before = s->sum2;

			feed(s, m, t, value_of(m, b.codes[m->column][i]));
			*inside += s->sum2 != before ||
				   (t.lo_ns - m->source->delay_max_ns - m->source->window_ns >=
					    s->from &&
				    t.hi_ns - m->source->delay_min_ns <= s->to);
		}
	ww_cursor_close(c);
	return rc;
}

static struct stretch stretch_of(int64_t from, int64_t to)
{
	return (struct stretch){
		.from = from, .to = to, .level = NAN, .band = NAN, .crossing = WW_INTERVAL_NONE};
}

static bool find_meter(struct ww_trace *t, struct meter *m)
{
	for (size_t i = 0; i < ww_trace_channel_count(t); i++) {
		const struct ww_channel_info *c = ww_trace_channel(t, i);
		size_t column = 0;

		if (strcmp(c->quantity, "power") != 0)
			continue;
		for (size_t k = 0; k < i; k++)
			column += ww_trace_channel(t, k)->source == c->source;
		for (size_t k = 0; k < ww_trace_source_count(t); k++)
			if (ww_trace_source(t, k)->id == c->source) {
				*m = (struct meter){.t = t,
						    .source = ww_trace_source(t, k),
						    .channel = c,
						    .column = column};
				return true;
			}
	}
	return false;
}

/* Nominal period, or what the readings themselves show. */
static int find_blur(struct meter *m, struct ww_error *err)
{
	const struct ww_source_info *s = m->source;
	struct ww_interval span = ww_trace_span(m->t);
	int64_t period = s->period_ns, rows;

	if (period <= 0) {
		rows = ww_trace_rows(m->t, s->id, WW_TIME_MIN, WW_TIME_MAX, err);
		if (rows < 0)
			return (int)rows;
		period = rows > 1 ? (span.hi_ns - span.lo_ns) / rows : WW_NS_PER_S;
	}
	m->shift_ns = s->window_ns / 2 + s->delay_min_ns / 2 + s->delay_max_ns / 2;
	m->blur_ns = s->window_ns + s->delay_max_ns - s->delay_min_ns + period;
	return 0;
}

static double type_b(const struct meter *m, double watts)
{
	const struct ww_channel_info *c = m->channel;
	double q = c->resolution > 0 ? c->resolution / sqrt(12) : 0, a = 0;

	if (!isnan(c->acc_abs) || !isnan(c->acc_rel))
		a = ((isnan(c->acc_abs) ? 0 : c->acc_abs) +
		     (isnan(c->acc_rel) ? 0 : c->acc_rel * fabs(watts))) /
		    sqrt(3);
	return sqrt(q * q + a * a);
}

/* Watts from when the last beat came until the first sign of life, and when they fell. */
static int asleep(const struct meter *m, struct ww_cycle *c, double pre, struct ww_error *err)
{
	const struct ww_interval *e = c->event;
	struct ww_interval back = ww_iv_ok(e[WW_EV_WAKE]) ? e[WW_EV_WAKE] : e[WW_EV_UART];
	struct stretch s;
	double mean;
	size_t n;
	int rc;

	if (!ww_iv_ok(back) || !ww_iv_ok(e[WW_EV_LAST_BEAT]) ||
	    back.lo_ns - e[WW_EV_LAST_BEAT].hi_ns < MUCH * m->blur_ns)
		return 0;
	/* The second half: what the machine still did when it fell silent is over. */
	s = stretch_of(e[WW_EV_LAST_BEAT].hi_ns + (back.lo_ns - e[WW_EV_LAST_BEAT].hi_ns) / 2,
		       back.lo_ns);
	rc = read_stretch(m, &s, &n, err);
	if (rc < 0 || n < 1)
		return rc;
	mean = s.sum / (double)n;
	c->asleep_watts.value = mean;
	c->asleep_watts.u = sqrt(fmax(s.sum2 / (double)n - mean * mean, 0) / (double)n +
				 type_b(m, mean) * type_b(m, mean));
	if (ww_iv_ok(e[WW_EV_OFF]) || isnan(pre) || pre - mean < 4 * m->channel->resolution ||
	    pre < 1.2 * mean)
		return 0;
	s = stretch_of(ww_iv_ok(e[WW_EV_REQUEST]) ? e[WW_EV_REQUEST].lo_ns
						  : e[WW_EV_LAST_BEAT].lo_ns,
		       back.lo_ns);
	s.level = (pre + mean) / 2;
	rc = read_stretch(m, &s, &n, err);
	if (rc >= 0 && ww_iv_ok(s.crossing))
		c->event[WW_EV_OFF] = s.crossing;
	return rc;
}

static int energy(const struct meter *m, struct ww_cycle *c, double pre, struct ww_error *err)
{
	const struct ww_interval *e = c->event;
	struct ww_interval from =
		ww_iv_ok(e[WW_EV_REQUEST]) ? e[WW_EV_REQUEST] : e[WW_EV_LAST_BEAT];
	struct stretch s;
	double seconds, edge, mean;
	size_t n;
	int rc;

	if (!ww_iv_ok(from) || !ww_iv_ok(e[WW_EV_STEADY])) {
		c->energy_why = "the cycle has no steady end";
		return 0;
	}
	s = stretch_of(ww_iv_mid(from), ww_iv_mid(e[WW_EV_STEADY]));
	if (s.to - s.from < 2 * MUCH * m->blur_ns) {
		c->energy_why = "the meter's window and period are too long for this cycle";
		return 0;
	}
	rc = read_stretch(m, &s, &n, err);
	if (rc < 0)
		return rc;
	seconds = (double)(s.to - s.from) / 1e9;
	if ((double)n * (double)m->blur_ns < 0.5e9 * seconds && n < 10) {
		c->energy_why = "too few readings in this cycle";
		return 0;
	}
	mean = s.joules / seconds;
	/* Each end is known within a blur, across which the power may have stepped. */
	edge = fabs((isnan(pre) ? mean : pre) -
		    (isnan(c->asleep_watts.value) ? 0 : c->asleep_watts.value)) *
	       (double)m->blur_ns / 1e9 / sqrt(12);
	c->energy_J.value = s.joules;
	c->energy_J.u = sqrt(2 * edge * edge + pow(type_b(m, mean) * seconds, 2));
	return 0;
}

/* First reading of a second of readings that all lie at the level from before. */
static int settled(const struct meter *m, struct ww_cycle *c, double pre, double band, int64_t to,
		   struct ww_error *err)
{
	struct ww_interval since = WW_INTERVAL_NONE;
	const struct ww_source_info *src = m->source;
	struct ww_cursor *k;
	struct ww_batch b;
	const struct ww_interval *e = c->event;
	int64_t from;
	int rc;

	if (!ww_iv_ok(e[WW_EV_UART]) || isnan(pre) || SETTLED_NS < MUCH * m->blur_ns)
		return 0;
	/* Without a wake: from the middle of the silence, when it surely slept. */
	from = ww_iv_ok(e[WW_EV_WAKE])
		       ? e[WW_EV_WAKE].lo_ns
		       : e[WW_EV_LAST_BEAT].lo_ns +
				 (e[WW_EV_UART].lo_ns - e[WW_EV_LAST_BEAT].lo_ns) / 2;
	rc = ww_cursor_open(m->t, src->id, from + src->delay_min_ns, to, 0, &k, err);
	if (rc < 0)
		return rc;
	while ((rc = ww_cursor_next(k, &b, err)) > 0)
		for (size_t i = 0; i < b.n; i++) {
			double w = value_of(m, b.codes[m->column][i]);

			if (isnan(w) || b.lo_ns[i] < from)
				continue;
			if (fabs(w - pre) > band)
				since = WW_INTERVAL_NONE;
			else if (!ww_iv_ok(since))
				since = (struct ww_interval){b.lo_ns[i] - src->delay_max_ns -
								     src->window_ns,
							     b.hi_ns[i] - src->delay_min_ns};
			if (ww_iv_ok(since) && b.lo_ns[i] - since.lo_ns >= SETTLED_NS) {
				c->event[WW_EV_SETTLED] = since;
				goto out;
			}
		}
out:
	ww_cursor_close(k);
	return rc;
}

static int one(const struct meter *m, struct ww_cycle *c, int64_t to, struct ww_error *err)
{
	struct ww_interval from = ww_iv_ok(c->event[WW_EV_REQUEST]) ? c->event[WW_EV_REQUEST]
								    : c->event[WW_EV_LAST_BEAT];
	double pre = NAN, sd = 0;
	struct stretch s;
	size_t n = 0;
	int rc;

	if (!ww_iv_ok(from))
		return 0;
	s = stretch_of(from.lo_ns - LEAD_NS - m->blur_ns, from.lo_ns);
	rc = read_stretch(m, &s, &n, err);
	if (rc < 0)
		return rc;
	if (n) {
		pre = s.sum / (double)n;
		sd = sqrt(fmax(s.sum2 / (double)n - pre * pre, 0));
	}
	rc = asleep(m, c, pre, err);
	if (rc >= 0)
		rc = energy(m, c, pre, err);
	if (rc >= 0)
		rc = settled(m, c, pre, 4 * sd + 1.5 * m->channel->resolution + 0.02 * fabs(pre),
			     to, err);
	return rc;
}

/* What stands for the beats where there are none: the last sign of life, and the first. */
static int without_beat(const struct meter *m, struct ww_cycle_out *o, int64_t to,
			struct ww_error *err)
{
	struct ww_cycle c = o->c;
	int rc;

	c.event[WW_EV_LAST_BEAT] = o->silent;
	c.event[WW_EV_UART] = c.event[WW_EV_STEADY] = c.event[WW_EV_ALIVE];
	rc = one(m, &c, to, err);
	o->c.energy_J = c.energy_J;
	o->c.energy_why = c.energy_why;
	o->c.asleep_watts = c.asleep_watts;
	o->c.event[WW_EV_OFF] = c.event[WW_EV_OFF];
	o->c.event[WW_EV_SETTLED] = c.event[WW_EV_SETTLED];
	return rc;
}

static struct ww_resume_meter meter_of(const struct meter *m)
{
	return (struct ww_resume_meter){.source = m->source->id,
					.column = m->column,
					.scale = ww_scale_of(m->channel->scale, m->channel->offset),
					.shift_ns = m->shift_ns,
					.blur_ns = m->blur_ns,
					.resolution = m->channel->resolution,
					.acc_abs = m->channel->acc_abs,
					.acc_rel = m->channel->acc_rel};
}

int ww_resume_power(struct ww_trace *t, struct ww_resume *r, struct ww_error *err)
{
	struct meter m;
	bool have = find_meter(t, &m);
	int rc = have ? find_blur(&m, err) : 0;

	if (have)
		r->meter = meter_of(&m);
	for (size_t i = 0; rc >= 0 && i < r->cycles; i++) {
		int64_t to = r->span.hi_ns;

		if (!have) {
			r->cycle[i].c.energy_why = "no meter was recorded";
			continue;
		}
		for (size_t k = i + 1; k < r->cycles; k++)
			if (ww_iv_ok(r->cycle[k].c.event[WW_EV_REQUEST])) {
				to = r->cycle[k].c.event[WW_EV_REQUEST].lo_ns;
				break;
			}
		r->cycle[i].settles = SETTLED_NS >= MUCH * m.blur_ns;
		rc = r->cycle[i].control ? without_beat(&m, &r->cycle[i], to, err)
					 : one(&m, &r->cycle[i].c, to, err);
		if (rc >= 0)
			rc = ww_resume_watts(t, &r->meter, &r->cycle[i], err);
	}
	return rc < 0 ? rc : 0;
}

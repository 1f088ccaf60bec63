/* SPDX-License-Identifier: MIT */
#include "analysis/integral.h"

#include <math.h>

void ww_integral_init(struct ww_integral *w, int32_t semantics)
{
	*w = (struct ww_integral){.semantics = semantics,
				  .from = WW_TIME_MIN,
				  .to = WW_TIME_MAX,
				  .limit = INT64_MAX,
				  .min = INT64_MAX,
				  .max = INT64_MIN,
				  .begin = 1,
				  .was_record = SIZE_MAX};
	ww_noise_init(&w->noise);
}

double ww_spread_var(const struct ww_spread *p)
{
	double n = (double)p->n;

	return p->n < 2 ? 0 : fmax(0, (p->ss - p->s * p->s / n) / (n - 1));
}

static void extremes(struct ww_integral *w, int64_t c)
{
	if (c < w->min)
		w->min = c;
	if (c > w->max)
		w->max = c;
}

/*
 * The recorded gap between the row before and a row that arrived in [lo, hi];
 * SIZE_MAX if there is none. Rows of one delivery have overlapping intervals;
 * between them only a gap of no length (a jump of a sequence number) can lie.
 */
static size_t recorded_gap(struct ww_integral *w, int64_t lo)
{
	int64_t a = w->hi0, b = lo > a ? lo : a;

	while (w->next_gap < w->gaps_recorded && w->gap[w->next_gap].hi_ns <= a &&
	       w->gap[w->next_gap].lo_ns < a)
		w->next_gap++;
	for (size_t i = w->next_gap; i < w->gaps_recorded; i++) {
		const struct ww_interval *g = &w->gap[i];

		if (g->lo_ns > b)
			break;
		if (g->lo_ns == g->hi_ns ? g->lo_ns >= a && (g->lo_ns < b || a == b)
					 : g->lo_ns < b && g->hi_ns > a)
			return i;
	}
	return SIZE_MAX;
}

/* Mean code over [a, b] inside the interval from (t0, c0) to (t1, c1). */
static double mean_code(const struct ww_integral *w, int64_t t1, int64_t c1, int64_t a, int64_t b)
{
	double middle, c0 = (double)w->c0;

	if (w->semantics == WW_AVERAGE)
		return (double)c1;
	if (w->semantics == WW_HOLD)
		return c0;
	middle = ((double)(a - w->t0) + (double)(b - w->t0)) / 2;
	return c0 + ((double)c1 - c0) * (middle / (double)(t1 - w->t0));
}

static inline void add_jump(struct ww_integral *w, int64_t dt, int64_t c)
{
	double t = (double)dt, d = t * ((double)c - (double)w->c0);

	/* A mean covers its interval, and what holds changes at its own stamp. */
	if (w->semantics != WW_INSTANT)
		return;
	ww_sum_add(&w->jump, d * d);
	ww_sum_add(&w->dt2, t * t);
}

/*
 * What may have happened where nothing was read: at least what the readings on
 * either side went through in their time.
 */
static double open_var(const struct ww_integral *w)
{
	double side = fmax(w->side_var, ww_spread_var(&w->piece));

	return fmax(w->open_jump, w->open_d2 * side);
}

/* A hole of d between readings of c0 and c1, uncertain by more than is known yet. */
static void open_hole(struct ww_integral *w, int64_t d, int64_t c1)
{
	double dt = (double)d, jump = dt * ((double)c1 - (double)w->c0);
	double side = ww_spread_var(&w->piece);

	ww_sum_add(&w->gap_var, open_var(w));
	/* Few readings do not show all: what lies before them counts on. */
	w->side_var = w->piece.n < WW_NOISE_LEAST ? fmax(side, w->side_var) : side;
	w->piece = (struct ww_spread){0};
	w->open_d2 = dt * dt;
	w->open_jump = jump * jump / 12;
}

/* Readings were lost one by one: what is not covered by the one that came is open. */
static void add_thin(struct ww_integral *w, int64_t t1, int64_t c1, int64_t d)
{
	double whole = (double)(t1 - w->t0), lost = whole - (double)w->period, jump;

	lost *= (double)d / whole;
	w->thin++;
	w->thin_ns += (int64_t)lost;
	/* Of momentary values the change between them is in `jump`. */
	jump = w->semantics == WW_INSTANT ? 0 : lost * ((double)c1 - (double)w->c0);
	w->open_d2 += lost * lost;
	w->open_jump += jump * jump / 12;
}

/*
 * Where the gap before the reading at t1 ends: with what is recorded of it, if that is
 * so early that the reading stands for the time since then.
 */
static int64_t gap_end(const struct ww_integral *w, int64_t t1, size_t record)
{
	int64_t from = t1 - w->period, hi;

	if (record == SIZE_MAX || w->semantics == WW_HOLD || !w->period || from <= w->t0)
		return t1;
	hi = w->gap[record].hi_ns;
	return hi <= from ? from : hi - from <= w->period / 2 ? hi : t1;
}

/* d of the time from the reading before to `end`, from where the one at t1 stands. */
static void add_gap(struct ww_integral *w, int64_t t1, int64_t c1, int64_t end, int64_t d,
		    size_t record)
{
	const struct ww_counter *k = w->counter;
	double dt = (double)d, whole = (double)(end - w->t0), c0 = (double)w->c0;
	/* Of values of a moment, the line goes on between the gap's end and the reading. */
	bool line = w->semantics == WW_INSTANT && end < t1;
	double c2 = line ? mean_code(w, t1, c1, end, end) : (double)c1;
	double area = dt * (c0 + c2) / 2, mean = fabs(area + w->counter_base * dt) / dt;
	double u = hypot(w->counter_u, mean * w->counter_ns / sqrt(6));

	/* A record may spread over several intervals: it is one gap. */
	bool again = w->was_gap && record != SIZE_MAX && record == w->was_record;

	w->gaps += !again;
	w->was_gap = true;
	w->was_record = record;
	w->gap_ns += d;
	/*
	 * What lies in a gap nobody saw; a register that counted on did. It is
	 * used where its step is finer than knowing no more than "between
	 * nothing and twice the mean" would be.
	 */
	if (k && k->last_ok && k->t0 == w->t0 && k->t1 == t1 && w->c0 >= 0 && c1 >= 0 &&
	    u < mean * whole / sqrt(12)) {
		area = (double)k->last * w->counter_area -
		       ((c2 + (double)c1) / 2 + w->counter_base) * (double)(t1 - end);
		area = area * (dt / whole) - w->counter_base * dt;
		ww_sum_add(&w->gap_var, u * u);
		w->gaps_counted += !again || !w->was_counted;
		w->was_counted = true;
	} else {
		open_hole(w, d, c1);
		w->was_counted = false;
	}
	ww_sum_add(&w->gap_area, area);
}

/* Longer intervals are looked at: half a period and more was lost. */
static int64_t usual(const struct ww_integral *w)
{
	return w->period ? w->period + w->period / 2 : w->limit;
}

/* An interval that is cut, a gap, or not in the window at all. */
static void add_slow(struct ww_integral *w, int64_t t, int64_t c, int64_t lo)
{
	int64_t a = w->t0 > w->from ? w->t0 : w->from, b = t < w->to ? t : w->to;
	size_t record = recorded_gap(w, lo);
	bool gap = t - w->t0 > w->limit || record != SIZE_MAX;
	int64_t end = gap ? gap_end(w, t, record) : w->t0;

	if (gap)
		ww_noise_break(&w->noise);
	if (a >= b)
		return;
	if (gap && a < end)
		add_gap(w, t, c, end, (b < end ? b : end) - a, record);
	if (gap && end < b) {
		int64_t since = a > end ? a : end;

		w->plain_ns += b - since;
		ww_sum_add(&w->cut, (double)(b - since) * mean_code(w, t, c, since, b));
	} else if (!gap) {
		w->was_gap = false;
		w->plain_ns += b - a;
		add_jump(w, b - a, c);
		if (t - w->t0 > usual(w))
			add_thin(w, t, c, b - a);
		ww_sum_add(&w->cut, (double)(b - a) * mean_code(w, t, c, a, b));
	}
	if (w->begin > w->end) {
		w->begin = a;
		w->begin_width = a == w->t0 ? (double)w->hi0 - (double)w->lo0 : 0;
		w->begin_code = w->c0;
	}
	w->end = b;
	w->ends = b == t;
	if (w->semantics == WW_AVERAGE)
		extremes(w, c);
	else if (w->semantics == WW_HOLD)
		extremes(w, w->c0);
}

/* A reading in the window. */
static inline void take(struct ww_integral *w, int64_t c)
{
	w->n++;
	w->last = (double)c;
	extremes(w, c);
	ww_spread_add(&w->piece, (double)c);
	ww_spread_add(&w->all, (double)c);
	ww_noise_add(&w->noise, c);
}

/* Arrival before which no recorded gap can matter, so that most rows need no look. */
static int64_t quiet_until(const struct ww_integral *w)
{
	return w->next_gap < w->gaps_recorded ? w->gap[w->next_gap].lo_ns : WW_TIME_MAX;
}

/*
 * Whether a reading counts in the window. At its very edge it does not where it
 * stands for the time outside only.
 */
static bool inside(const struct ww_integral *w, int64_t t)
{
	return (w->semantics == WW_AVERAGE && w->from != WW_TIME_MIN ? t > w->from
								     : t >= w->from) &&
	       (w->semantics == WW_HOLD && w->to != WW_TIME_MAX ? t < w->to : t <= w->to);
}

static void add_row(struct ww_integral *w, int64_t t, int64_t c, int64_t lo, int64_t hi)
{
	if (c < WW_CODE_MIN) {
		w->missing += inside(w, t);
		if (w->opens && !w->any) {
			w->any = w->opened = true;
			w->t0 = t;
			w->lo0 = lo;
			w->hi0 = hi;
		}
		return;
	}
	if (w->opened)
		w->c0 = c;
	w->opened = false;
	if (w->any)
		add_slow(w, t, c, lo);
	if (inside(w, t)) {
		if (w->begin > w->end) {
			w->begin = w->end = t;
			w->begin_width = (double)hi - (double)lo;
			w->begin_code = c;
			w->ends = true;
		}
		take(w, c);
	}
	w->any = true;
	w->t0 = t;
	w->c0 = c;
	w->lo0 = lo;
	w->hi0 = hi;
	w->done = t >= w->to;
}

void ww_integral_add(struct ww_integral *w, const struct ww_rows *r, const int64_t *codes)
{
	int64_t quiet = quiet_until(w), most = usual(w);

	for (size_t i = 0; i < r->n && !w->done; i++) {
		int64_t t = r->t[i], c = codes[i], dt;

		/* Whole, plain and inside: exact, and all but a few rows. */
		if (w->begin <= w->end && c >= WW_CODE_MIN && w->t0 >= w->from && t < w->to &&
		    !__builtin_sub_overflow(t, w->t0, &dt) && dt <= most && r->hi[i] < quiet) {
			w->sum0 += (__int128)dt * w->c0;
			w->sum1 += (__int128)dt * c;
			w->plain_ns += dt;
			add_jump(w, dt, c);
			w->end = t;
			w->ends = true;
			w->was_gap = false;
			w->t0 = t;
			w->c0 = c;
			w->lo0 = r->lo[i];
			w->hi0 = r->hi[i];
			take(w, c);
			continue;
		}
		add_row(w, t, c, r->lo[i], r->hi[i]);
		quiet = quiet_until(w);
	}
}

double ww_integral_area(const struct ww_integral *w)
{
	struct ww_sum s = w->cut;
	double whole;

	if (w->semantics == WW_AVERAGE)
		whole = (double)w->sum1;
	else if (w->semantics == WW_HOLD)
		whole = (double)w->sum0;
	else
		whole = (double)(w->sum0 + w->sum1) / 2;
	ww_sum_add(&s, ww_sum_get(&w->gap_area));
	ww_sum_add(&s, whole);
	return ww_sum_get(&s);
}

double ww_integral_gap_u(const struct ww_integral *w)
{
	return sqrt(ww_sum_get(&w->gap_var) + open_var(w));
}

double ww_integral_stamp_u(const struct ww_integral *w, double base)
{
	double end = w->ends ? (double)w->hi0 - (double)w->lo0 : 0;

	return hypot(w->begin_width * ((double)w->begin_code + base),
		     end * ((double)w->c0 + base)) /
	       sqrt(12);
}

double ww_integral_jump_u(const struct ww_integral *w, double noise2)
{
	double var = ww_sum_get(&w->jump) - noise2 * ww_sum_get(&w->dt2);

	return var > 0 ? sqrt(var / 12) : 0;
}

/* SPDX-License-Identifier: MIT */
#include "analysis/fpop.h"

#include <math.h>

/* fmin() and fmax() take time for what is no number. */
static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

/*
 * Least cost of the readings so far as a function of the level of the latest
 * segment: pieces a (level - mu)^2 + c up to `hi`, in the order of the level. The
 * vertex form keeps its digits where sums of squares would lose them.
 */
struct piece {
	double hi;
	double a, mu, c;
	size_t start; /* first reading of the latest segment */
};

struct pieces {
	struct piece *p;
	size_t n, room;
};

struct state {
	struct pieces now, next;
	double lo, hi; /* of all levels */
	size_t most;
};

static int reserve(struct pieces *s, size_t n)
{
	struct piece *p;

	if (n <= s->room)
		return 0;
	n += n / 2 + 16;
	p = realloc(s->p, n * sizeof(*p));
	if (!p)
		return -ENOMEM;
	s->p = p;
	s->room = n;
	return 0;
}

/* Append up to hi; the same function goes on in one piece. */
static void put(struct pieces *s, double lo, const struct piece *f, double hi)
{
	struct piece *last = s->n ? &s->p[s->n - 1] : NULL;

	if (!(hi > lo))
		return;
	if (last && last->start == f->start && last->a == f->a && last->c == f->c &&
	    (f->a == 0 || last->mu == f->mu)) {
		last->hi = hi;
		return;
	}
	s->p[s->n] = *f;
	s->p[s->n++].hi = hi;
}

/* The least of a piece between lo and its end. */
static double least(const struct piece *f, double lo)
{
	double d;

	if (f->a == 0)
		return f->c;
	d = f->mu < lo ? lo - f->mu : f->mu > f->hi ? f->mu - f->hi : 0;
	return f->c + f->a * d * d;
}

/* The lesser of the function and of a new segment, which costs the same at any level. */
static void cut(struct pieces *to, double lo, const struct piece *f, const struct piece *fresh)
{
	double r, left, right;

	if (f->c >= fresh->c) {
		put(to, lo, fresh, f->hi);
		return;
	}
	if (f->a == 0) {
		put(to, lo, f, f->hi);
		return;
	}
	r = sqrt((fresh->c - f->c) / f->a);
	left = lesser(greater(f->mu - r, lo), f->hi);
	right = greater(lesser(f->mu + r, f->hi), lo);
	put(to, lo, fresh, left);
	put(to, left, f, right);
	put(to, right, fresh, f->hi);
}

/* Add the loss of one reading to the pieces. */
static void add(struct pieces *to, const struct pieces *from, double lo, double y, double w,
		double reach, double bound2)
{
	to->n = 0;
	for (size_t i = 0; i < from->n; i++) {
		const struct piece *f = &from->p[i];
		double hi = f->hi, near = lesser(greater(y - reach, lo), hi),
		       far = greater(lesser(y + reach, hi), lo);
		struct piece out = *f, in = *f;

		out.c += bound2;
		in.a = f->a + w;
		if (f->a == 0) {
			in.mu = y;
		} else {
			double d = y - f->mu, part = w / in.a;

			in.mu = f->mu + part * d;
			in.c = f->c + f->a * part * d * d;
		}
		if (near >= hi || far <= lo) {
			put(to, lo, &out, hi);
		} else {
			put(to, lo, &out, near);
			put(to, near, &in, far);
			put(to, far, &out, hi);
		}
		lo = hi;
	}
}

/* The best so far: its cost, its latest level, and where that begins. */
static double best(const struct state *s, size_t *start, double *level)
{
	double lo = s->lo, m = INFINITY;

	*start = 0;
	*level = lo;
	for (size_t i = 0; i < s->now.n; i++) {
		const struct piece *f = &s->now.p[i];
		double c = least(f, lo);

		if (c < m) {
			m = c;
			*start = f->start;
			*level = f->a == 0 ? (lo + f->hi) / 2 : lesser(greater(f->mu, lo), f->hi);
		}
		lo = f->hi;
	}
	return m;
}

static int advance(struct state *s, size_t i, double cost, double y, double scale, double bound)
{
	struct piece fresh = {.a = 0, .mu = 0, .c = cost, .start = i};
	double lo = s->lo;

	if (reserve(&s->next, 3 * s->now.n + 3))
		return -ENOMEM;
	s->next.n = 0;
	for (size_t k = 0; k < s->now.n; k++) {
		cut(&s->next, lo, &s->now.p[k], &fresh);
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): ww_fpop() frees both lists */
		lo = s->now.p[k].hi;
	}
	/* Two of the borders fall upon a reading's reach. */
	if (reserve(&s->now, s->next.n + 4))
		return -ENOMEM;
	add(&s->now, &s->next, s->lo, y, 1 / (scale * scale), bound * scale, bound * bound);
	if (s->now.n > s->most)
		s->most = s->now.n;
	return 0;
}

/* Of the best for readings 0 .. i: where its latest segment begins, and its level. */
struct history {
	size_t *begin;
	double *level;
};

static int trace_back(const struct history *h, size_t n, struct ww_fpop *out)
{
	size_t k = 0, end = n;

	for (size_t i = h->begin[n - 1]; i > 0; i = h->begin[i - 1])
		k++;
	out->level = malloc((k + 1) * sizeof(*out->level));
	out->change = malloc((k ? k : 1) * sizeof(*out->change));
	if (!out->level || !out->change)
		return -ENOMEM;
	out->changes = k;
	for (;; k--) {
		out->level[k] = h->level[end - 1];
		if (k == 0)
			break;
		end = h->begin[end - 1];
		out->change[k - 1] = end;
	}
	return 0;
}

static int run(struct state *s, const double *y, const double *scale, size_t n, double beta,
	       double bound, struct history *h, struct ww_fpop *out)
{
	double cost = 0;

	if (!h->begin || !h->level || reserve(&s->now, 4))
		return -ENOMEM;
	s->now.p[0] = (struct piece){.hi = s->hi};
	s->now.n = 1;
	for (size_t i = 0; i < n; i++) {
		/* Before the first reading there is no change to pay for. */
		double fresh = i ? cost + beta : 0;

		if (advance(s, i, fresh, y[i], scale ? scale[i] : 1, bound))
			return -ENOMEM;
		cost = best(s, &h->begin[i], &h->level[i]);
	}
	out->cost = cost;
	out->pieces = s->most;
	return trace_back(h, n, out);
}

int ww_fpop(const double *y, const double *scale, size_t n, double beta, double bound,
	    struct ww_fpop *out)
{
	struct state s = {.most = 0};
	struct history h;
	int rc;

	*out = (struct ww_fpop){.change = NULL};
	if (n == 0)
		return 0;
	s.lo = s.hi = y[0];
	for (size_t i = 1; i < n; i++) {
		s.lo = lesser(s.lo, y[i]);
		s.hi = greater(s.hi, y[i]);
	}
	if (s.lo == s.hi)
		return 0;
	h.begin = malloc(n * sizeof(*h.begin));
	h.level = malloc(n * sizeof(*h.level));
	rc = run(&s, y, scale, n, beta, bound, &h, out);
	if (rc < 0)
		ww_fpop_clear(out);
	free(h.begin);
	free(h.level);
	free(s.now.p);
	free(s.next.p);
	return rc;
}

void ww_fpop_clear(struct ww_fpop *f)
{
	free(f->change);
	free(f->level);
	*f = (struct ww_fpop){.change = NULL};
}

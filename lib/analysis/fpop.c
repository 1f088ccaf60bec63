/* SPDX-License-Identifier: MIT */
#include "analysis/fpop.h"

#include <math.h>

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
	left = fmin(fmax(f->mu - r, lo), f->hi);
	right = fmax(fmin(f->mu + r, f->hi), lo);
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
		double hi = f->hi, near = fmin(fmax(y - reach, lo), hi),
		       far = fmax(fmin(y + reach, hi), lo);
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

/* The best so far: its cost, and where its latest segment begins. */
static double best(const struct state *s, size_t *start)
{
	double lo = s->lo, m = INFINITY;

	for (size_t i = 0; i < s->now.n; i++) {
		double c = least(&s->now.p[i], lo);

		if (c < m) {
			m = c;
			*start = s->now.p[i].start;
		}
		lo = s->now.p[i].hi;
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

/* begin[i]: where the latest segment of the best for readings 0 .. i begins. */
static int trace_back(const size_t *begin, size_t n, struct ww_fpop *out)
{
	size_t k = 0;

	for (size_t i = begin[n - 1]; i > 0; i = begin[i - 1])
		k++;
	out->changes = k;
	if (k == 0)
		return 0;
	out->change = malloc(k * sizeof(*out->change));
	if (!out->change)
		return -ENOMEM;
	for (size_t i = begin[n - 1]; i > 0; i = begin[i - 1])
		out->change[--k] = i;
	return 0;
}

int ww_fpop(const double *y, const double *scale, size_t n, double beta, double bound,
	    struct ww_fpop *out)
{
	struct state s = {.most = 0};
	size_t *begin = NULL;
	double cost = 0;
	int rc = -ENOMEM;

	*out = (struct ww_fpop){.change = NULL};
	if (n == 0)
		return 0;
	s.lo = s.hi = y[0];
	for (size_t i = 1; i < n; i++) {
		s.lo = fmin(s.lo, y[i]);
		s.hi = fmax(s.hi, y[i]);
	}
	if (s.lo == s.hi)
		return 0;
	begin = malloc(n * sizeof(*begin));
	if (!begin || reserve(&s.now, 4))
		goto out;
	s.now.p[0] = (struct piece){.hi = s.hi};
	s.now.n = 1;
	for (size_t i = 0; i < n; i++) {
		/* Before the first reading there is no change to pay for. */
		double fresh = i ? cost + beta : 0;

		if (advance(&s, i, fresh, y[i], scale ? scale[i] : 1, bound))
			goto out;
		cost = best(&s, &begin[i]);
	}
	out->cost = cost;
	out->pieces = s.most;
	rc = trace_back(begin, n, out);
out:
	free(begin);
	free(s.now.p);
	free(s.next.p);
	return rc;
}

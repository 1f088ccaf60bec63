/* SPDX-License-Identifier: MIT */
/*
 * Stamps of a console's lines against the bench's times of their bytes: the lower hull of
 * Zhang, Liu and Xia (INFOCOM 2002), a rate for all stretches (skew.c), an offset for each.
 */
#include "analysis/kclock.h"

#include <math.h>

#define PRINTK_NS (100 * WW_NS_PER_US) /* from the stamp to the first byte, at most */
#define BOOT_NS	  WW_NS_PER_S	       /* a stamp so far back is another boot's */
#define WAITS	  200000	       /* lines of one suspend */
#define QUARTZ	  200e-6	       /* rate of a clock that is not known */

int ww_kclock_init(struct ww_kclock *k, int64_t char_ns, struct ww_error *err)
{
	*k = (struct ww_kclock){.char_ns = char_ns, .alpha = NAN, .u_alpha = NAN};
	k->last_stamp = WW_TIME_MIN;
	k->last_byte_ns = k->before_hi_ns = WW_TIME_MIN;
	k->state = malloc(sizeof(*k->state));
	if (!k->state)
		return ww_fail_nomem(err);
	ww_kline_init(k->state);
	return 0;
}

/* The stretch that takes the next point; a new one where it was asked for. */
static int stretch_begins(struct ww_kclock *k, struct ww_error *err)
{
	size_t n = k->all.n;
	int rc = ww_grow(&k->good_of, &k->good_cap, n, sizeof(*k->good_of), err);

	if (rc >= 0)
		rc = ww_grow(&k->floor_ns, &k->floor_cap, n, sizeof(*k->floor_ns), err);
	if (rc < 0)
		return rc;
	k->good_of[n] = SIZE_MAX;
	k->floor_ns[n] = k->last_byte_ns;
	for (size_t i = 0; i < WW_SKEW_PARTS; i++)
		k->part_begins[i] = true;
	k->good_begins = true;
	return 0;
}

/*
 * Did it leave when it was stamped? The line was idle, and the next line's stamp came no
 * sooner than this one's bytes were sent: printk() waited for them.
 */
static bool prompt(const struct ww_kclock *k, const struct ww_kpoint *p,
		   const struct ww_kpoint *next)
{
	if (!p->idle || !next || k->char_ns <= 0)
		return false;
	return next->stamp_ns - p->stamp_ns >= (int64_t)p->bytes * k->char_ns * 9 / 10;
}

static int take(struct ww_kclock *k, const struct ww_kpoint *p, const struct ww_kpoint *next,
		struct ww_error *err)
{
	bool boots = k->last_stamp != WW_TIME_MIN && p->stamp_ns < k->last_stamp - BOOT_NS;
	int64_t us = p->stamp_ns / 1000, r = p->hi_ns - k->char_ns;
	bool begins = k->begins || boots || k->all.n == 0;
	size_t part = k->points % WW_SKEW_PARTS;
	int rc = begins ? stretch_begins(k, err) : 0;

	k->begins = false;
	if (rc >= 0)
		rc = ww_skew_point(&k->all, begins, k->fresh || boots, us, 0, r, err);
	if (rc >= 0)
		rc = ww_skew_point(&k->part[part], k->part_begins[part], k->fresh || boots, us, 0,
				   r, err);
	k->part_begins[part] = false;
	if (rc >= 0 && prompt(k, p, next)) {
		rc = ww_skew_point(&k->good, k->good_begins, false, us, 0, p->lo_ns - k->char_ns,
				   err);
		k->good_begins = false;
		k->good_of[k->all.n - 1] = k->good.n - 1;
	}
	k->fresh = false;
	k->points++;
	k->last_stamp = p->stamp_ns;
	k->last_byte_ns = p->hi_ns;
	return rc;
}

static int flush(struct ww_kclock *k, size_t n, struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = take(k, &k->wait[i], i + 1 < k->waits ? &k->wait[i + 1] : NULL, err);
	k->waits -= n;
	if (n > 0 && k->waits > 0)
		memmove(k->wait, k->wait + n, k->waits * sizeof(*k->wait));
	return rc;
}

int ww_kclock_until(struct ww_kclock *k, int64_t stamp_ns, size_t *stretch, struct ww_error *err)
{
	size_t n = 0;
	int rc;

	/* Another boot's stamps begin anew: they are not this stretch's. */
	while (n < k->waits && k->wait[n].stamp_ns <= stamp_ns &&
	       !(n && k->wait[n].stamp_ns < k->wait[n - 1].stamp_ns - BOOT_NS))
		n++;
	rc = n ? flush(k, n, err) : 0;
	*stretch = k->all.n ? k->all.n - 1 : SIZE_MAX;
	return rc;
}

void ww_kclock_slept(struct ww_kclock *k, bool fresh)
{
	k->begins = true;
	k->fresh |= fresh;
}

/*
 * What a line's pace leaves of the time of its byte `at`: the bytes behind it came no sooner
 * than the line can carry them, and as soon if it was sent in one go.
 */
static struct ww_interval narrowed(const struct ww_kclock *k, size_t at)
{
	struct ww_interval t = {k->lo[at], k->hi[at]};
	int64_t lo = t.lo_ns;

	for (size_t i = at + 1; k->char_ns > 0 && i < k->n; i++) {
		int64_t back = (int64_t)(i - at) * k->char_ns;

		if (k->hi[i] - back < t.hi_ns)
			t.hi_ns = k->hi[i] - back;
		if (k->lo[i] - back > lo)
			lo = k->lo[i] - back;
	}
	if (lo <= t.hi_ns)
		t.lo_ns = lo;
	if (t.lo_ns > t.hi_ns)
		t.lo_ns = t.hi_ns;
	return t;
}

static int line_ends(struct ww_kclock *k, int64_t end_hi_ns, struct ww_error *err)
{
	size_t n = k->n, at;
	struct ww_kline line;
	struct ww_kpoint p;
	struct ww_interval t;
	int rc = 0;

	while (n && (k->byte[n - 1] == '\r' || k->byte[n - 1] == '\n'))
		n--;
	if (n == 0)
		goto out;
	ww_kline_parse(k->state, (const char *)k->byte, n, &line);
	if (line.kernel_ns == WW_NO_TIME || line.console_n == 0 || line.console_n > n)
		goto out;
	/* Cleaned of escapes its bytes are not where they were. */
	if (line.text.n &&
	    ((const uint8_t *)line.text.p < k->byte || (const uint8_t *)line.text.p > k->byte + n))
		goto out;
	at = n - line.console_n;
	t = narrowed(k, at);
	p = (struct ww_kpoint){.stamp_ns = line.kernel_ns,
			       .lo_ns = t.lo_ns,
			       .hi_ns = t.hi_ns,
			       .bytes = (uint32_t)(k->total - at)};
	p.idle = at == 0 &&
		 (k->before_hi_ns == WW_TIME_MIN || k->hi[0] - k->before_hi_ns > 2 * k->char_ns);
	if (k->waits >= WAITS)
		rc = flush(k, WAITS / 2, err);
	if (rc >= 0)
		rc = ww_grow(&k->wait, &k->waits_cap, k->waits, sizeof(*k->wait), err);
	if (rc >= 0)
		k->wait[k->waits++] = p;
out:
	k->before_hi_ns = end_hi_ns;
	k->n = k->total = 0;
	return rc;
}

int ww_kclock_feed(struct ww_kclock *k, const uint8_t *data, size_t n, const int64_t *lo,
		   const int64_t *hi, struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < n; i++) {
		if (k->n < WW_KLINE_BYTES) {
			k->byte[k->n] = data[i];
			k->lo[k->n] = lo[i];
			k->hi[k->n++] = hi[i];
		}
		k->total++;
		if (data[i] == '\n')
			rc = line_ends(k, hi[i], err);
	}
	return rc;
}

int ww_kclock_end(struct ww_kclock *k, struct ww_error *err)
{
	double part[WW_SKEW_PARTS];
	int rc = flush(k, k->waits, err);

	k->alpha = ww_skew_fit(&k->all);
	for (size_t i = 0; i < WW_SKEW_PARTS; i++)
		part[i] = ww_skew_fit(&k->part[i]);
	k->u_alpha = ww_skew_u(part, WW_SKEW_PARTS);
	if (!(k->u_alpha < QUARTZ / 2)) {
		k->alpha = 0;
		k->u_alpha = QUARTZ / 2;
	}
	return rc;
}

/* z of a stamp from a line of the hull: where the stretch has its least distance. */
static double bound(const struct ww_kclock *k, const struct ww_skew *of, size_t i, int64_t stamp_ns,
		    double sign)
{
	const struct ww_stretch *h = &of->stretch[i];
	double at, z = ww_skew_least(of, k->alpha, i, &at);
	double s = (double)stamp_ns - (double)h->s0_us * 1e3;

	return s + k->alpha * s + z + sign * 2 * k->u_alpha * fabs(s - at);
}

bool ww_kclock_at(const struct ww_kclock *k, size_t stretch, int64_t stamp_ns,
		  struct ww_interval *out)
{
	size_t good;
	int64_t lo, floor_ns;

	if (stretch >= k->all.n || isnan(k->alpha))
		return false;
	out->hi_ns = k->all.stretch[stretch].r0_ns +
		     (int64_t)ceil(bound(k, &k->all, stretch, stamp_ns, 1));
	good = k->good_of[stretch];
	floor_ns = k->floor_ns[stretch];
	lo = WW_TIME_MIN;
	if (good != SIZE_MAX)
		lo = k->good.stretch[good].r0_ns +
		     (int64_t)floor(bound(k, &k->good, good, stamp_ns, -1)) - PRINTK_NS;
	else if (floor_ns != WW_TIME_MIN)
		/* Its first stamp came after the last byte before it. */
		lo = floor_ns + stamp_ns - k->all.stretch[stretch].s0_us * 1000;
	out->lo_ns = lo;
	/* Both cannot be right: it is somewhere between them. */
	if (lo > out->hi_ns) {
		out->lo_ns = out->hi_ns;
		out->hi_ns = lo;
	}
	return true;
}

void ww_kclock_free(struct ww_kclock *k)
{
	ww_skew_free(&k->all);
	ww_skew_free(&k->good);
	for (size_t i = 0; i < WW_SKEW_PARTS; i++)
		ww_skew_free(&k->part[i]);
	free(k->wait);
	free(k->good_of);
	free(k->floor_ns);
	free(k->state);
	*k = (struct ww_kclock){0};
}

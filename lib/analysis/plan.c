/* SPDX-License-Identifier: MIT */
/*
 * Weighing designs for a meter with an unknown offset (a biased spring balance): states of
 * on and off whose readings tell each device with the least variance. Hotelling, Ann. Math.
 * Stat. 15, 297 (1944); Mood, Ann. Math. Stat. 17, 432 (1946): no design of N readings does
 * better than 4 u^2/N, and a Hadamard matrix of order N does that.
 */
#include "analysis/plan.h"
#include "base/str.h"
#include "text/csv.h"

#include <math.h>

#define DEVICES	 100
#define READINGS 512
#define SWEEPS	 20
/* Other starts of an exchange, and how much work they may be. */
#define STARTS 100
#define COST   3e6
/* Paths of single flips are improved up to so many devices. */
#define PATH_DEVICES 12

/* Room for the information matrix of p devices and the offset. */
struct room {
	size_t k;	 /* p + 1 */
	double *m, *inv; /* [k][k] */
	double *x, *z;	 /* [k] */
};

static void add_information(const struct ww_plan *p, struct room *r)
{
	memset(r->m, 0, r->k * r->k * sizeof(*r->m));
	for (size_t i = 0; i < p->info.readings; i++) {
		const uint8_t *on = p->state + i * p->info.devices;

		for (size_t a = 0; a < r->k; a++) {
			if (a && !on[a - 1])
				continue;
			for (size_t b = 0; b < r->k; b++)
				r->m[a * r->k + b] += b == 0 || on[b - 1];
		}
	}
}

/* inv = m^-1 by Gauss and Jordan, m positive definite. @return log det, -INFINITY singular */
static double invert(struct room *r)
{
	size_t k = r->k;
	double logdet = 0, *m = r->m, *inv = r->inv;

	for (size_t i = 0; i < k * k; i++)
		inv[i] = i % (k + 1) == 0;
	for (size_t c = 0; c < k; c++) {
		double pivot = m[c * k + c];

		if (!(pivot > 1e-9))
			return -(double)INFINITY;
		logdet += log(pivot);
		for (size_t j = 0; j < k; j++) {
			m[c * k + j] /= pivot;
			inv[c * k + j] /= pivot;
		}
		for (size_t i = 0; i < k; i++) {
			double f = m[i * k + c];

			if (i == c || f == 0)
				continue;
			for (size_t j = 0; j < k; j++) {
				m[i * k + j] -= f * m[c * k + j];
				inv[i * k + j] -= f * inv[c * k + j];
			}
		}
	}
	return logdet;
}

static double evaluate(const struct ww_plan *p, struct room *r)
{
	add_information(p, r);
	return invert(r);
}

/* --- designs for a number of readings that no Hadamard matrix has */

static double form(const struct room *r, const double *a, const double *b)
{
	double sum = 0;

	for (size_t i = 0; i < r->k; i++)
		for (size_t j = 0; a[i] != 0 && j < r->k; j++)
			sum += a[i] * r->inv[i * r->k + j] * b[j];
	return sum;
}

/* By how much the determinant grows where reading i has device d the other way. */
static double exchange_ratio(const struct ww_plan *p, struct room *r, size_t i, size_t d)
{
	const uint8_t *on = p->state + i * p->info.devices;

	for (size_t a = 0; a < r->k; a++)
		r->x[a] = r->z[a] = a == 0 || on[a - 1];
	r->z[d + 1] = !on[d];
	return (1 + form(r, r->z, r->z)) * (1 - form(r, r->x, r->x)) + pow(form(r, r->z, r->x), 2);
}

/* Coordinate exchange for the determinant (Meyer & Nachtsheim, Technometrics 37, 60, 1995). */
static void exchange(struct ww_plan *p, struct room *r)
{
	bool better = true;

	evaluate(p, r);
	for (int sweep = 0; better && sweep < SWEEPS; sweep++) {
		better = false;
		for (size_t i = 1; i < p->info.readings; i++) {
			for (size_t d = 0; d < p->info.devices; d++) {
				if (!(exchange_ratio(p, r, i, d) > 1 + 1e-9))
					continue;
				p->state[i * p->info.devices + d] ^= 1;
				evaluate(p, r);
				better = true;
			}
		}
	}
}

/* Rows of one by one first, so that every device is known; then Hadamard's or none. */
static void start(struct ww_plan *p, const uint8_t *h, size_t order)
{
	size_t n = p->info.devices;

	for (size_t i = 0; i < p->info.readings; i++)
		for (size_t d = 0; d < n; d++)
			p->state[i * n + d] = (uint8_t)(i <= n		 ? d < i
							: h && i < order ? h[i * order + d + 1]
									 : (i + d) % 2);
}

/* Greatest variance of a device, by that of a reading; INFINITY where one is not known. */
static double worst(const struct ww_plan *p, struct room *r)
{
	double most = 0;

	if (isinf(evaluate(p, r)))
		return (double)INFINITY;
	for (size_t d = 1; d < r->k; d++)
		most = fmax(most, r->inv[d * (r->k + 1)]);
	return most;
}

/* States by a linear congruence (Knuth's MMIX), the same ones each time. */
static void start_anywhere(struct ww_plan *p, uint64_t *seed)
{
	size_t n = p->info.devices;

	for (size_t i = n; i < p->info.readings * n; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		p->state[i] = *seed >> 40 & 1;
	}
}

/* From one start the exchange ends where no single state is better; others end elsewhere. */
static int restart(struct ww_plan *p, struct room *r, struct ww_error *err)
{
	size_t n = p->info.devices, size = p->info.readings * n;
	double cost = (double)size * (double)n * (double)n, best = worst(p, r);
	uint8_t *keep = malloc(size);
	uint64_t seed = 1;

	if (!keep)
		return ww_fail_nomem(err);
	memcpy(keep, p->state, size);
	for (int i = 0; i < STARTS && (i + 1) * cost < COST; i++) {
		double now;

		start_anywhere(p, &seed);
		if (isinf(evaluate(p, r)))
			continue;
		exchange(p, r);
		now = worst(p, r);
		if (now < best - 1e-9) {
			best = now;
			memcpy(keep, p->state, size);
		}
	}
	memcpy(p->state, keep, size);
	free(keep);
	return 0;
}

static int build(struct ww_plan *p, struct room *r, struct ww_error *err)
{
	size_t n = p->info.devices, readings = p->info.readings, order = readings;
	uint8_t *h;
	bool is;

	while (order % 4 && order > 2)
		order++;
	h = malloc(order * order);
	if (!h)
		return ww_fail_nomem(err);
	is = ww_hadamard(order, h) == 0;
	if (is && order == readings) {
		for (size_t i = 0; i < readings; i++)
			memcpy(p->state + i * n, h + i * order + 1, n);
		free(h);
		return 0;
	}
	start(p, is ? h : NULL, order);
	free(h);
	exchange(p, r);
	return restart(p, r, err);
}

static size_t distance(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t d = 0;

	for (size_t i = 0; i < n; i++)
		d += a[i] != b[i];
	return d;
}

/* All off first, then always the state that is nearest. */
static void sort_rows(struct ww_plan *p)
{
	size_t n = p->info.devices;

	for (size_t i = 1; i < p->info.readings; i++) {
		uint8_t *last = p->state + (i - 1) * n, *to = p->state + i * n, swap[DEVICES];
		size_t best = i;

		for (size_t k = i + 1; k < p->info.readings; k++)
			if (distance(last, p->state + k * n, n) <
			    distance(last, p->state + best * n, n))
				best = k;
		memcpy(swap, to, n);
		memmove(to, p->state + best * n, n);
		memcpy(p->state + best * n, swap, n);
	}
}

/* --- one plug at a time */

static void walk(struct ww_plan *p, const size_t *flip)
{
	size_t n = p->info.devices;

	memset(p->state, 0, n);
	for (size_t i = 1; i < p->info.readings; i++) {
		memcpy(p->state + i * n, p->state + (i - 1) * n, n);
		p->state[i * n + flip[i]] ^= 1;
	}
}

/* One after the other in, then out in the same order, and so on; then each flip is tried. */
static void improve_path(struct ww_plan *p, struct room *r, size_t *flip)
{
	size_t n = p->info.devices;
	bool better = true;
	double best;

	for (size_t i = 1; i < p->info.readings; i++)
		flip[i] = (i - 1) % n;
	walk(p, flip);
	best = evaluate(p, r);
	for (int sweep = 0; better && n <= PATH_DEVICES && sweep < SWEEPS; sweep++) {
		better = false;
		for (size_t i = 1; i < p->info.readings; i++) {
			size_t keep = flip[i];

			for (size_t d = 0; d < n; d++) {
				double now;

				flip[i] = d;
				walk(p, flip);
				now = evaluate(p, r);
				if (now > best + 1e-9) {
					best = now;
					keep = d;
					better = true;
				}
			}
			flip[i] = keep;
		}
	}
	walk(p, flip);
}

/* --- */

static int read_names(struct ww_plan *p, const char *devices, struct ww_error *err)
{
	struct ww_csv dialect = {',', false};
	struct ww_field f[WW_CSV_FIELDS];
	size_t n = ww_csv_split(&dialect, devices, strlen(devices), f, WW_CSV_FIELDS);

	if (n > DEVICES)
		return ww_fail(err, -EINVAL, "a plan is made for up to %d devices", DEVICES);
	p->name = calloc(n, sizeof(*p->name));
	if (!p->name)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct ww_str s = {0};
		int rc;

		if (f[i].n == 0)
			return ww_fail(err, -EINVAL, "'%s': a device without a name", devices);
		ww_field_text(&f[i], &s);
		rc = ww_str_take(&s, &p->name[i], err);
		if (rc < 0)
			return rc;
		p->info.devices = i + 1;
		for (size_t k = 0; k < i; k++)
			if (strcmp(p->name[i], p->name[k]) == 0)
				return ww_fail(err, -EINVAL, "'%s' twice", p->name[i]);
	}
	return 0;
}

static int choose_readings(struct ww_plan *p, uint32_t asked, struct ww_error *err)
{
	size_t least = p->info.devices + 1, n = least;
	uint8_t *h;
	int rc;

	if (asked && (asked < least || asked > READINGS))
		return ww_fail(err, -EINVAL,
			       "%u readings: %zu devices and the meter's offset take %zu at least, "
			       "and a plan has no more than %d",
			       asked, p->info.devices, least, READINGS);
	p->info.readings = asked;
	if (asked)
		return 0;
	if (p->one_flip) {
		p->info.readings = 2 * least;
		return 0;
	}
	h = malloc((least + 8) * (least + 8));
	if (!h)
		return ww_fail_nomem(err);
	do
		rc = ww_hadamard(n++, h);
	while (rc < 0 && n < least + 8);
	free(h);
	p->info.readings = rc < 0 ? least : n - 1;
	return 0;
}

static void judge(struct ww_plan *p, struct room *r, double u)
{
	struct ww_plan_info *i = &p->info;
	size_t n = i->devices;

	evaluate(p, r);
	for (size_t d = 0; d < n; d++) {
		p->u[d] = u * sqrt(r->inv[(d + 1) * (r->k + 1)]);
		i->u = fmax(i->u, p->u[d]);
	}
	i->u_bound = 2 * u / sqrt((double)i->readings);
	i->u_onebyone = u * sqrt(2);
	i->hadamard = i->u < i->u_bound * (1 + 1e-9);
	for (size_t k = 1; k < i->readings; k++)
		i->flips += distance(p->state + (k - 1) * n, p->state + k * n, n);
}

static int make(struct ww_plan *p, double u, struct ww_error *err)
{
	struct room r = {.k = p->info.devices + 1};
	size_t *flip = calloc(p->info.readings, sizeof(*flip));
	int rc = 0;

	p->state = calloc(p->info.readings, p->info.devices);
	p->u = calloc(p->info.devices, sizeof(*p->u));
	r.m = calloc(r.k * r.k, sizeof(*r.m));
	r.inv = calloc(r.k * r.k, sizeof(*r.inv));
	r.x = calloc(r.k, sizeof(*r.x));
	r.z = calloc(r.k, sizeof(*r.z));
	if (!flip || !p->state || !p->u || !r.m || !r.inv || !r.x || !r.z) {
		rc = ww_fail_nomem(err);
	} else if (p->one_flip) {
		improve_path(p, &r, flip);
	} else {
		rc = build(p, &r, err);
		sort_rows(p);
	}
	if (rc == 0)
		judge(p, &r, u);
	free(flip);
	free(r.m);
	free(r.inv);
	free(r.x);
	free(r.z);
	return rc;
}

int ww_plan_new(const char *devices, const struct ww_plan_options *opt, struct ww_plan **out,
		struct ww_error *err)
{
	double u = WW_OPT(opt, reading_u, 0);
	struct ww_plan *p;
	int rc;

	if (WW_OPT_CHECK(opt, err) < 0)
		return -EINVAL;
	if (!(u >= 0) || isinf(u))
		return ww_fail(err, -EINVAL, "an uncertainty is not below zero");
	p = calloc(1, sizeof(*p));
	if (!p)
		return ww_fail_nomem(err);
	p->one_flip = WW_OPT(opt, one_flip, 0);
	rc = read_names(p, devices, err);
	if (rc == 0)
		rc = choose_readings(p, WW_OPT(opt, readings, 0), err);
	if (rc == 0)
		rc = make(p, u > 0 ? u : 1, err);
	if (rc < 0) {
		ww_plan_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

const struct ww_plan_info *ww_plan_get(const struct ww_plan *p)
{
	return &p->info;
}

const char *ww_plan_device(const struct ww_plan *p, size_t device)
{
	return device < p->info.devices ? p->name[device] : NULL;
}

int ww_plan_state(const struct ww_plan *p, size_t reading, size_t device)
{
	if (reading >= p->info.readings || device >= p->info.devices)
		return -EINVAL;
	return p->state[reading * p->info.devices + device];
}

void ww_plan_free(struct ww_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->name && i < p->info.devices; i++)
		free(p->name[i]);
	free(p->name);
	free(p->state);
	free(p->u);
	free(p);
}

/* SPDX-License-Identifier: MIT */
/* One column of a block: see block.h for its form. */
#include "trace/block.h"
#include "base/bytes.h"

#include <math.h>

#define ORDERS 3
static const unsigned width_of[8] = {0, 1, 2, 4, 8, 9, 9, 9};

/* What is stored for an order: n - order numbers. */
static void difference(const int64_t *v, size_t n, int64_t *out)
{
	for (size_t i = 1; i < n; i++)
		out[i - 1] = (int64_t)((uint64_t)v[i] - (uint64_t)v[i - 1]);
}

/* Mean distance from the mean: what remains for the entropy coder to store. */
static double spread(const int64_t *v, size_t n)
{
	double sum = 0, dev = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)v[i];
	sum /= n ? (double)n : 1;
	for (size_t i = 0; i < n; i++)
		dev += fabs((double)v[i] - sum);
	return dev;
}

static unsigned width_code(const int64_t *v, size_t n, int64_t *base)
{
	int64_t lo = n ? v[0] : 0, hi = lo;
	uint64_t range;

	for (size_t i = 1; i < n; i++) {
		lo = v[i] < lo ? v[i] : lo;
		hi = v[i] > hi ? v[i] : hi;
	}
	*base = lo;
	range = (uint64_t)hi - (uint64_t)lo;
	return range == 0 ? 0 : range < 0x100 ? 1 : range < 0x10000 ? 2 : range >> 32 == 0 ? 3 : 4;
}

/*
 * Codes that are no values out of the way: a bitmap, a byte for each that says
 * which code it is, and each becomes a copy of the value before it.
 */
static size_t put_special(uint8_t *to, const int64_t *v, size_t n, int64_t *dense)
{
	size_t at = (n + 7) / 8;
	int64_t last = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i] >= WW_CODE_MIN) {
			last = v[i];
			break;
		}
	memset(to, 0, at);
	for (size_t i = 0; i < n; i++) {
		if (v[i] < WW_CODE_MIN) {
			to[i / 8] = (uint8_t)(to[i / 8] | 1u << (i % 8));
			to[at++] = (uint8_t)(v[i] - INT64_MIN);
		} else {
			last = v[i];
		}
		dense[i] = last;
	}
	return at;
}

/* Where the special codes of a bitmap stand; NULL and bad if they are cut short. */
static const uint8_t *take_special(struct ww_rd *r, const uint8_t *bitmap, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; bitmap && i < n; i++)
		count += bitmap[i / 8] >> (i % 8) & 1;
	return ww_rd_take(r, count);
}

/* False if a code is none of the special ones. */
static bool put_back_special(const uint8_t *bitmap, const uint8_t *special, int64_t *v, size_t n)
{
	bool ok = true;

	for (size_t i = 0; i < n; i++)
		if (bitmap[i / 8] >> (i % 8) & 1) {
			ok = ok && *special < WW_CODE_MIN - INT64_MIN;
			v[i] = INT64_MIN + *special++;
		}
	return ok;
}

static size_t put_planes(uint8_t *to, const int64_t *v, size_t n, int64_t base, unsigned width)
{
	for (unsigned k = 0; k < width; k++)
		for (size_t i = 0; i < n; i++)
			to[k * n + i] = (uint8_t)(((uint64_t)v[i] - (uint64_t)base) >> (8 * k));
	return width * n;
}

size_t ww_column_encode(uint8_t *to, const int64_t *v, size_t n, int64_t *scratch)
{
	int64_t *level[ORDERS] = {scratch, scratch + n, scratch + 2 * n}, base;
	size_t at = 1;
	unsigned best = 0, code;
	bool special = false;
	double least = 0;

	for (size_t i = 0; i < n; i++)
		special |= v[i] < WW_CODE_MIN;
	if (special)
		at += put_special(to + at, v, n, level[0]);
	else
		memcpy(level[0], v, n * sizeof(*v));
	for (unsigned o = 0; o < ORDERS && o < n; o++) {
		double cost;

		if (o > 0)
			difference(level[o - 1], n - o + 1, level[o]);
		cost = spread(level[o], n - o);
		if (o == 0 || cost < least) {
			best = o;
			least = cost;
		}
	}
	code = width_code(level[best], n - best, &base);
	to[0] = (uint8_t)(best | code << 2 | (special ? 32u : 0));
	for (unsigned o = 0; o < best; o++, at += 8)
		ww_put_le(to + at, (uint64_t)level[o][0], 8);
	ww_put_le(to + at, (uint64_t)base, 8);
	at += 8;
	return at + put_planes(to + at, level[best], n - best, base, width_of[code]);
}

static void get_planes(const uint8_t *restrict p, int64_t *restrict v, size_t n, uint64_t base,
		       unsigned width)
{
	switch (width) {
	case 0:
		for (size_t i = 0; i < n; i++)
			v[i] = (int64_t)base;
		return;
	case 1:
		for (size_t i = 0; i < n; i++)
			v[i] = (int64_t)(base + p[i]);
		return;
	case 2:
		for (size_t i = 0; i < n; i++)
			v[i] = (int64_t)(base + (p[i] | (uint64_t)p[n + i] << 8));
		return;
	default:
		for (size_t i = 0; i < n; i++)
			v[i] = (int64_t)(base + (p[i] | (uint64_t)p[n + i] << 8 |
						 (uint64_t)p[2 * n + i] << 16 |
						 (uint64_t)p[3 * n + i] << 24));
		for (unsigned k = 4; k < width; k++)
			for (size_t i = 0; i < n; i++)
				v[i] = (int64_t)((uint64_t)v[i] +
						 ((uint64_t)p[k * n + i] << (8 * k)));
	}
}

size_t ww_column_decode(const uint8_t *p, size_t left, int64_t *v, size_t n)
{
	struct ww_rd r = ww_rd_of(p, left);
	const uint8_t *bitmap = NULL, *special = NULL, *planes;
	uint64_t head[ORDERS] = {0}, base;
	unsigned mode = (unsigned)ww_rd_le(&r, 1), order = mode & 3,
		 width = width_of[mode >> 2 & 7];

	if (r.bad || mode > 63 || order >= ORDERS || order > n || width > 8)
		return 0;
	if (mode & 32)
		bitmap = ww_rd_take(&r, (n + 7) / 8);
	if (bitmap)
		special = take_special(&r, bitmap, n);
	for (unsigned o = 0; o < order; o++)
		head[o] = ww_rd_le(&r, 8);
	base = ww_rd_le(&r, 8);
	planes = ww_rd_take(&r, width * (n - order));
	if (r.bad)
		return 0;
	get_planes(planes, v + order, n - order, base, width);
	/* Undo the differences, the innermost first. */
	for (unsigned o = order; o-- > 0;) {
		uint64_t sum = head[o];

		v[o] = (int64_t)sum;
		for (size_t i = o + 1; i < n; i++) {
			sum += (uint64_t)v[i];
			v[i] = (int64_t)sum;
		}
	}
	if (bitmap && !put_back_special(bitmap, special, v, n))
		return 0;
	return r.at;
}

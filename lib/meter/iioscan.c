/* SPDX-License-Identifier: MIT */
#include "meter/iioscan.h"
#include "base/str.h"

#include <stdio.h>

static bool number(const char **p, const char *end, unsigned *out)
{
	const char *from = *p;

	for (*out = 0; *p < end && ww_is_digit(**p) && *out < 100000; ++*p)
		*out = 10 * *out + (unsigned)(**p - '0');
	return *p > from;
}

static bool literal(const char **p, const char *end, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(end - *p) < n || memcmp(*p, text, n) != 0)
		return false;
	*p += n;
	return true;
}

bool ww_scan_type(const char *text, size_t n, struct ww_scan_element *e)
{
	const char *p = text, *end = text + n;
	unsigned bits, storage, repeat = 1, shift = 0;

	if (!literal(&p, end, "le:")) {
		if (!literal(&p, end, "be:"))
			return false;
		e->big_endian = true;
	} else {
		e->big_endian = false;
	}
	e->is_signed = literal(&p, end, "s");
	if (!e->is_signed && !literal(&p, end, "u"))
		return false;
	if (!number(&p, end, &bits) || !literal(&p, end, "/") || !number(&p, end, &storage))
		return false;
	if (literal(&p, end, "X") && !number(&p, end, &repeat))
		return false;
	if (literal(&p, end, ">>") && !number(&p, end, &shift))
		return false;
	if (p != end || (storage != 8 && storage != 16 && storage != 32 && storage != 64) ||
	    bits < 1 || shift >= storage || bits + shift > storage || repeat < 1 || repeat > 64)
		return false;
	e->bits = (uint8_t)bits;
	e->storage = (uint8_t)(storage / 8);
	e->shift = (uint8_t)shift;
	e->repeat = (uint16_t)repeat;
	return true;
}

static int by_index(const void *a, const void *b)
{
	unsigned x = ((const struct ww_scan_element *)a)->index;
	unsigned y = ((const struct ww_scan_element *)b)->index;

	return x < y ? -1 : x > y;
}

bool ww_scan_layout(struct ww_scan *s)
{
	size_t at = 0, widest = 1, on = 0;

	qsort(s->e, s->n, sizeof(s->e[0]), by_index);
	for (size_t i = 0; i < s->n; i++) {
		size_t whole = (size_t)s->e[i].storage * s->e[i].repeat, align;

		if (i && s->e[i].index == s->e[i - 1].index)
			return false;
		if (!s->e[i].on)
			continue;
		if (!s->e[i].storage)
			return false;
		/* Each is aligned to its own length, the scan to that of its longest. */
		align = whole & (whole - 1) ? s->e[i].storage : whole;
		at = (at + align - 1) / align * align;
		s->e[i].at = at;
		at += whole;
		widest = align > widest ? align : widest;
		on++;
	}
	s->bytes = (at + widest - 1) / widest * widest;
	return on > 0;
}

int64_t ww_scan_value(const struct ww_scan_element *e, const uint8_t *scan)
{
	uint64_t v = 0, top = UINT64_C(1) << (e->bits - 1);

	for (unsigned i = 0; i < e->storage; i++) {
		unsigned from = e->big_endian ? i : e->storage - 1u - i;

		v = v << 8 | scan[e->at + from];
	}
	v >>= e->shift;
	v &= top | (top - 1);
	return e->is_signed && (v & top) ? (int64_t)(v | ~(top | (top - 1))) : (int64_t)v;
}

struct ww_scan_element *ww_scan_find(struct ww_scan *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->e[i].name, name) == 0)
			return &s->e[i];
	return NULL;
}

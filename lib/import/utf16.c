// SPDX-License-Identifier: MIT
/* Text in UTF-16 with its mark in front, as Windows' shells store what they log. */
#include "import/bytein.h"

struct utf16 {
	bool big;
	uint32_t high; /* of a pair, 0 none */
};

static size_t put(uint8_t *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (uint8_t)(0xc0 | c >> 6);
		to[1] = (uint8_t)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (uint8_t)(0xe0 | c >> 12);
		to[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		to[2] = (uint8_t)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (uint8_t)(0xf0 | c >> 18);
	to[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
	to[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	to[3] = (uint8_t)(0x80 | (c & 0x3f));
	return 4;
}

/* A half of a pair that stands alone is a replacement character. */
static size_t take(struct utf16 *u, uint8_t *to, uint32_t c)
{
	bool low = c >= 0xdc00 && c < 0xe000;
	size_t n = 0;

	if (u->high && low) {
		n = put(to, 0x10000 + ((u->high - 0xd800) << 10) + (c - 0xdc00));
		u->high = 0;
		return n;
	}
	if (u->high)
		n = put(to, 0xfffd);
	u->high = 0;
	if (c >= 0xd800 && c < 0xdc00)
		u->high = c;
	else
		n += put(to + n, low ? 0xfffd : c);
	return n;
}

static int64_t utf16_fill(struct ww_bytein *in, uint8_t *to, size_t cap, struct ww_error *err)
{
	struct ww_bytein *from = in->from;
	struct utf16 *u = in->state;
	size_t n = 0;

	while (n == 0) {
		int rc = ww_bytein_peek(from, 2, err);

		if (rc < 0)
			return rc;
		if (from->n - from->at < 2)
			return 0;
		while (cap - n >= 6 && from->n - from->at >= 2) {
			const uint8_t *p = from->buf + from->at;

			n += take(u, to + n, u->big ? p[0] * 256u + p[1] : p[1] * 256u + p[0]);
			from->at += 2;
		}
	}
	return (int64_t)n;
}

static void utf16_drop(struct ww_bytein *in)
{
	free(in->state);
}

int ww_bytein_utf16(struct ww_bytein **in, struct ww_error *err)
{
	const uint8_t *p = (*in)->buf + (*in)->at;
	struct ww_bytein *stage;
	struct utf16 *u;

	if ((*in)->n - (*in)->at < 2 || (p[0] ^ p[1]) != 1 || p[0] < 0xfe || p[1] < 0xfe)
		return 0;
	stage = ww_bytein_new((*in)->name, NULL);
	u = calloc(1, sizeof(*u));
	if (!stage || !u) {
		ww_bytein_free(stage);
		free(u);
		return ww_fail_nomem(err);
	}
	u->big = p[0] == 0xfe;
	(*in)->at += 2;
	stage->from = *in;
	stage->state = u;
	stage->fill = utf16_fill;
	stage->drop = utf16_drop;
	*in = stage;
	return 1;
}

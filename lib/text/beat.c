/* SPDX-License-Identifier: MIT */
#include "text/beat.h"

#include <ctype.h>

/* Value of a digit of RFC 4648's alphabet, -1 for any other byte. */
static int digit(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static uint64_t number(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 6 | (uint64_t)digit(p[i]);
	return v;
}

uint16_t ww_beat_check(const void *p, size_t n)
{
	const uint8_t *b = p;
	unsigned crc = 0xffff;

	for (size_t i = 0; i < n; i++) {
		crc ^= (unsigned)b[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1 & 0xffff;
	}
	return crc & 0xfff;
}

/* What the first k bytes held are. */
enum verdict { MORE, DONE, BROKEN };

/*
 * A terminal that was left with ONLCR (a getty's) sends CR before the newline;
 * that is no reason to lose the beat.
 */
static enum verdict look_beat(const struct ww_beat_decoder *d, size_t k)
{
	uint8_t c = d->buf[k - 1];

	if (k < WW_BEAT_LEN)
		return digit(c) >= 0 ? MORE : BROKEN;
	if (k == WW_BEAT_LEN && c == '\r')
		return MORE;
	if (c != '\n' || ww_beat_check(d->buf + 1, 19) != number(d->buf + 20, 2))
		return BROKEN;
	return DONE;
}

/* A plus before the '=' goes on with a value. */
static bool key_char(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '+';
}

static enum verdict look_info(const struct ww_beat_decoder *d, size_t k)
{
	const uint8_t *eq = memchr(d->buf, '=', k);
	uint8_t c = d->buf[k - 1];
	size_t n = k - 1;

	if (c != '\n') {
		if (k == WW_BEAT_LINE || c == 0x7f || (c < 0x20 && c != '\r'))
			return BROKEN;
		return (eq && eq > d->buf + 1) || key_char(c) ? MORE : BROKEN;
	}
	if (n > 4 && d->buf[n - 1] == '\r')
		n--;
	if (n < 6 || d->buf[n - 3] != '*' || !eq || eq > d->buf + n - 4 ||
	    digit(d->buf[n - 2]) < 0 || digit(d->buf[n - 1]) < 0 ||
	    ww_beat_check(d->buf + 1, n - 4) != number(d->buf + n - 2, 2))
		return BROKEN;
	return DONE;
}

/* Only '!' and '#' start a record. */
static bool starts(uint8_t c)
{
	return c == '!' || c == '#';
}

static enum verdict look(const struct ww_beat_decoder *d, size_t k)
{
	if (k == 1)
		return starts(d->buf[0]) ? MORE : BROKEN;
	return d->buf[0] == '#' ? look_info(d, k) : look_beat(d, k);
}

static int hex(uint8_t c)
{
	return isdigit(c)	      ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

static void give_beat(const struct ww_beat_decoder *d, const struct ww_beat_sink *sink)
{
	struct ww_beat b = {
		.t = d->t[0],
		.t_end = d->t[d->len - 1],
		.seq = (uint32_t)number(d->buf + 1, 4),
		.mono_us = (int64_t)number(d->buf + 5, 8),
		.sleep_us = (int64_t)number(d->buf + 13, 7),
	};

	if (sink->beat)
		sink->beat(sink->ctx, &b);
}

static void give_info(const struct ww_beat_decoder *d, const struct ww_beat_sink *sink)
{
	char key[WW_BEAT_LINE], value[WW_BEAT_LINE];
	size_t n = d->len - 1, k = 0, v = 0, i = 1;

	n -= d->buf[n - 1] == '\r' ? 4 : 3;
	while (d->buf[i] != '=')
		key[k++] = (char)d->buf[i++];
	key[k] = '\0';
	for (i++; i < n; i++) {
		int a = i + 2 < n ? hex(d->buf[i + 1]) : -1;
		int b = i + 2 < n ? hex(d->buf[i + 2]) : -1;

		if (d->buf[i] != '%' || a < 0 || b < 0) {
			value[v++] = (char)d->buf[i];
			continue;
		}
		/* A NUL would end the value for every reader of it. */
		value[v++] = a * 16 + b ? (char)(a * 16 + b) : ' ';
		i += 2;
	}
	value[v] = '\0';
	if (sink->info)
		sink->info(sink->ctx, d->t[0], key, value);
}

static void drop(struct ww_beat_decoder *d, size_t n)
{
	d->n -= n;
	if (d->n == 0)
		return;
	memmove(d->buf, d->buf + n, d->n);
	memmove(d->t, d->t + n, d->n * sizeof(d->t[0]));
}

/* No record starts at buf[0]: what stands before the next possible start goes too. */
static void give_others(struct ww_beat_decoder *d, const struct ww_beat_sink *sink)
{
	size_t n = 1;

	while (n < d->n && !starts(d->buf[n]))
		n++;
	d->len = 1;
	for (size_t i = 0; i < n; i++)
		if (sink->other)
			sink->other(sink->ctx, d->t[i], d->buf[i]);
	drop(d, n);
}

static void step(struct ww_beat_decoder *d, const struct ww_beat_sink *sink)
{
	size_t k = d->n;
	enum verdict v = look(d, k);

	while (v != MORE) {
		if (v == DONE) {
			d->len = k;
			if (d->buf[0] == '!')
				give_beat(d, sink);
			else
				give_info(d, sink);
			drop(d, k);
		} else {
			give_others(d, sink);
		}
		/* What is left was held for the record that broke: look at it afresh. */
		for (v = MORE, k = 1; k <= d->n; k++) {
			v = look(d, k);
			if (v != MORE)
				break;
		}
	}
}

void ww_beat_feed(struct ww_beat_decoder *d, const struct ww_beat_sink *sink,
		  const struct ww_interval *t, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (d->n == 0 && !starts(p[i])) {
			d->len = 1;
			if (sink->other)
				sink->other(sink->ctx, t[i], p[i]);
			continue;
		}
		d->buf[d->n] = p[i];
		d->t[d->n++] = t[i];
		step(d, sink);
	}
}

void ww_beat_end(struct ww_beat_decoder *d, const struct ww_beat_sink *sink)
{
	while (d->n)
		give_others(d, sink);
}

/* SPDX-License-Identifier: MIT */
#include "text/beat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put(char *p, int n, uint64_t v)
{
	while (n-- > 0) {
		p[n] = digits[v & 63];
		v >>= 6;
	}
}

static void make_beat(char *p, uint32_t seq, int64_t mono, int64_t sleep)
{
	p[0] = '!';
	put(p + 1, 4, seq);
	put(p + 5, 8, (uint64_t)mono);
	put(p + 13, 7, (uint64_t)sleep);
	put(p + 20, 2, ww_beat_check(p + 1, 19));
	p[22] = '\n';
}

static size_t make_info(char *p, size_t size, const char *text)
{
	int n = snprintf(p, size, "#%s*", text);

	put(p + n, 2, ww_beat_check(text, strlen(text)));
	p[n + 2] = '\n';
	return (size_t)n + 3;
}

struct seen {
	struct ww_beat beat[64];
	size_t beats, infos, others, len;
	char key[8][64], value[8][WW_BEAT_LINE];
	struct ww_beat_decoder dec;
	int64_t last;
	char other[4096];
};

static void on_beat(void *ctx, const struct ww_beat *b)
{
	struct seen *s = ctx;

	assert_true(b->t.lo_ns > s->last);
	s->last = b->t_end.lo_ns;
	s->len += s->dec.len;
	if (s->beats < 64)
		s->beat[s->beats] = *b;
	s->beats++;
}

static void on_info(void *ctx, struct ww_interval t, const char *key, const char *value)
{
	struct seen *s = ctx;

	(void)t;
	s->len += s->dec.len;
	if (s->infos < 8) {
		snprintf(s->key[s->infos], sizeof(s->key[0]), "%s", key);
		snprintf(s->value[s->infos], sizeof(s->value[0]), "%s", value);
	}
	s->infos++;
}

static void on_other(void *ctx, struct ww_interval t, uint8_t byte)
{
	struct seen *s = ctx;

	assert_true(t.lo_ns > s->last);
	s->last = t.lo_ns;
	s->len++;
	if (s->others < sizeof(s->other))
		s->other[s->others] = (char)byte;
	s->others++;
}

static struct seen *decode(const void *p, size_t n)
{
	struct seen *s = calloc(1, sizeof(*s));
	struct ww_beat_sink sink = {s, on_beat, on_info, on_other};

	assert_non_null(s);
	s->last = -1;
	for (size_t i = 0; i < n; i++) {
		struct ww_interval t = {(int64_t)i, (int64_t)i + 1};

		ww_beat_feed(&s->dec, &sink, &t, (const uint8_t *)p + i, 1);
	}
	ww_beat_end(&s->dec, &sink);
	/* Every byte belongs to exactly one thing. */
	assert_int_equal(s->len, n);
	return s;
}

/* CRC-16/CCITT-FALSE of "123456789" is 0x29B1 (catalogue of parametrised CRCs). */
static void check_value(void **state)
{
	(void)state;
	assert_int_equal(ww_beat_check("123456789", 9), 0x9b1);
}

static void one_beat(void **state)
{
	char b[WW_BEAT_LEN];
	struct seen *s;

	(void)state;
	make_beat(b, 0xabcdef, 0x123456789abcLL, 0x2aaaaaaaaaaLL);
	s = decode(b, sizeof(b));
	assert_int_equal(s->beats, 1);
	assert_int_equal(s->beat[0].seq, 0xabcdef);
	assert_int_equal(s->beat[0].mono_us, 0x123456789abcLL);
	assert_int_equal(s->beat[0].sleep_us, 0x2aaaaaaaaaaLL);
	assert_int_equal(s->beat[0].t.lo_ns, 0);
	assert_int_equal(s->beat[0].t_end.lo_ns, 22);
	free(s);
}

/* A terminal with ONLCR sends CR before each newline. */
static void carriage_return(void **state)
{
	char b[2 * (WW_BEAT_LEN + 1)];
	struct seen *s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *p = b + i * (WW_BEAT_LEN + 1);

		make_beat(p, (uint32_t)i, 1000 * i, 0);
		p[22] = '\r';
		p[23] = '\n';
	}
	s = decode(b, sizeof(b));
	assert_int_equal(s->beats, 2);
	assert_int_equal(s->others, 0);
	free(s);
}

static void info_lines(void **state)
{
	char line[400];
	struct seen *s;
	size_t n;

	(void)state;
	n = make_info(line, sizeof(line), "cmdline=root=/dev/sda1 quiet! #2 100%25 a%2Ab %C3%A9");
	s = decode(line, n);
	assert_int_equal(s->infos, 1);
	assert_string_equal(s->key[0], "cmdline");
	assert_string_equal(s->value[0], "root=/dev/sda1 quiet! #2 100% a*b \xc3\xa9");
	free(s);
	n = make_info(line, sizeof(line), "tty=");
	s = decode(line, n);
	assert_int_equal(s->infos, 1);
	assert_string_equal(s->value[0], "");
	free(s);
	line[2] ^= 1;
	s = decode(line, n);
	assert_int_equal(s->infos, 0);
	assert_int_equal(s->others, n);
	free(s);
}

/* Text of others between, within and before beats: whole beats all come through. */
static void among_text(void **state)
{
	char buf[1024];
	size_t n = 0;
	struct seen *s;

	(void)state;
	n += (size_t)snprintf(buf + n, sizeof(buf) - n, "login: root!\r\n#a=# !");
	make_beat(buf + n, 1, 10, 0);
	n += WW_BEAT_LEN;
	/* The head of a beat that a reset cut off. */
	make_beat(buf + n, 2, 20, 0);
	n += 9;
	make_beat(buf + n, 3, 30, 0);
	n += WW_BEAT_LEN;
	n += (size_t)snprintf(buf + n, sizeof(buf) - n, "#mem=");
	make_beat(buf + n, 4, 40, 0);
	n += WW_BEAT_LEN;
	n += (size_t)snprintf(buf + n, sizeof(buf) - n, "!!!###!AAAA");
	s = decode(buf, n);
	assert_int_equal(s->beats, 3);
	assert_int_equal(s->beat[0].seq, 1);
	assert_int_equal(s->beat[1].seq, 3);
	assert_int_equal(s->beat[2].seq, 4);
	free(s);
}

/* Any one bit turned over is never a beat: the check finds all bursts up to 12 bits. */
static void bit_errors(void **state)
{
	char b[WW_BEAT_LEN];

	(void)state;
	make_beat(b, 77, 123456789, 5000000);
	for (size_t i = 0; i < WW_BEAT_LEN * 8; i++) {
		struct seen *s;

		b[i / 8] = (char)(b[i / 8] ^ (1 << i % 8));
		s = decode(b, sizeof(b));
		assert_int_equal(s->beats, 0);
		assert_int_equal(s->others, WW_BEAT_LEN);
		free(s);
		b[i / 8] = (char)(b[i / 8] ^ (1 << i % 8));
	}
}

static uint32_t rnd(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

/* Random bytes with a liking for what matters: everything is accounted for, in order. */
static void noise(void **state)
{
	static const char like[] = "!#=*\r\n%ABab09+/_";
	uint32_t x = 5;

	(void)state;
	for (int round = 0; round < 200; round++) {
		char buf[1500];
		struct seen *s;

		for (size_t i = 0; i < sizeof(buf); i++)
			buf[i] = rnd(&x) % 4 ? like[rnd(&x) % (sizeof(like) - 1)] : (char)rnd(&x);
		s = decode(buf, sizeof(buf));
		free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_value),	   cmocka_unit_test(one_beat),
		cmocka_unit_test(carriage_return), cmocka_unit_test(info_lines),
		cmocka_unit_test(among_text),	   cmocka_unit_test(bit_errors),
		cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

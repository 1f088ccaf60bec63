/* SPDX-License-Identifier: MIT */
/* Modbus: the codec by worked frames, the machine by everything that goes wrong on a line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "meterlog.h"
#include "goldenframes.h"
#include "meter/modbus.h"

#define SEC WW_NS_PER_S
#define MS  WW_NS_PER_MS

/* A machine that asks unit 1 for the ten registers of a PZEM-004T at 0 s. */
static struct ww_modbus m;
static struct meterlog l;
static struct ww_meter_out out;

static void asked(const char *uri)
{
	struct ww_error err = {0};
	struct ww_uri u;

	assert_int_equal(ww_uri_parse(uri, &u, &err), 0);
	memset(&l, 0, sizeof(l));
	out = ml_out(&l);
	if (ww_modbus_init(&m, &u, 9600, 0, &err) < 0)
		fail_msg("%s", err.text);
	ww_uri_free(&u);
	ww_modbus_read(&m, 1, WW_MB_INPUT, 0, 10, 0, &out);
	assert_int_equal(l.sent, 1);
}

static void done(void)
{
	ww_str_free(&l.text);
	ww_str_free(&l.readings);
}

static enum ww_mb_event feed(int64_t at, const void *p, size_t n)
{
	return ww_modbus_feed(&m, (struct ww_interval){at - MS, at}, p, n);
}

static const char *why(void)
{
	static char text[256];

	ww_modbus_why(&m, text, sizeof(text));
	return text;
}

static void crc_and_questions(void **unused)
{
	static const struct {
		const char *name;
		uint16_t count;
	} rows[] = {{"pzem004t.req", 10},
		    {"pzem017.req", 8},
		    {"sdm120.req.V", 2},
		    {"sdm120.req.block", 80}};
	uint8_t f[12];

	(void)unused;
	/* The check value of CRC-16/MODBUS. */
	assert_int_equal(ww_mb_crc((const uint8_t *)"123456789", 9), 0x4b37);
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct golden g = golden_find(rows[i].name);

		assert_int_equal(ww_mb_rtu_read(f, 1, 4, 0, rows[i].count), g.n);
		assert_memory_equal(f, g.p, g.n);
	}
	assert_int_equal(ww_mb_tcp_read(f, 0x1234, 17, 3, 0x006b, 3), 12);
	assert_memory_equal(f, "\x12\x34\x00\x00\x00\x06\x11\x03\x00\x6b\x00\x03", 12);
}

static void frames(void **unused)
{
	struct golden g = golden_find("pzem004t.rsp"), e = golden_find("pzem004t.exc");
	struct ww_mb_answer a;

	(void)unused;
	for (size_t n = 0; n < g.n; n++)
		assert_int_equal(ww_mb_rtu_frame(g.p, n, &a), 0);
	assert_int_equal(ww_mb_rtu_frame(g.p, g.n, &a), g.n);
	assert_int_equal(a.bytes, 20);
	assert_int_equal(a.exception, 0);
	g.p[5] ^= 1;
	assert_int_equal(ww_mb_rtu_frame(g.p, g.n, &a), -1);
	/* Exceptions have five bytes, and not nine. */
	for (size_t n = 0; n < e.n; n++)
		assert_int_equal(ww_mb_rtu_frame(e.p, n, &a), 0);
	assert_int_equal(ww_mb_rtu_frame(e.p, e.n, &a), 5);
	assert_int_equal(a.exception, 2);
	assert_string_equal(ww_mb_exception(2), "illegal data address");
	assert_string_equal(ww_mb_exception(200), "unknown exception");
	/* TCP: length, protocol, a count that is not that of the bytes. */
	assert_int_equal(ww_mb_tcp_frame((const uint8_t *)"\0\1\0\0\0\5\1\4\2\0\7", 11, &a), 11);
	assert_int_equal(a.bytes, 2);
	assert_int_equal(ww_mb_tcp_frame((const uint8_t *)"\0\1\0\0\0\5\1\4\3\0\7", 11, &a), 11);
	assert_int_equal(a.bytes, 0);
	assert_int_equal(ww_mb_tcp_frame((const uint8_t *)"\0\1\0\0\0\3\1\x84\2", 9, &a), 9);
	assert_int_equal(a.exception, 2);
	assert_int_equal(ww_mb_tcp_frame((const uint8_t *)"\0\1\0\0\0\2\1\4", 8, &a), -1);
	assert_int_equal(ww_mb_tcp_frame((const uint8_t *)"\0\1\0\0\1\0\1\4", 8, &a), -1);
	assert_int_equal(ww_mb_tcp_frame((const uint8_t *)"\0\1\1", 3, &a), -1);
	assert_int_equal(ww_mb_tcp_frame((const uint8_t *)"\0\1\0\0\0", 5, &a), 0);
}

/* Whatever stands before the answer, and however it is cut. */
static void resynchronises(void **unused)
{
	static const struct {
		const char *junk;
		size_t n;
	} before[] = {{"", 0},
		      {"\xff", 1},
		      {"\x00\x00\x7f", 3},
		      {"\x01", 1},
		      {"\x01\x04", 2},
		      {"\x01\x04\x14", 3},
		      {"\x01\x04\x14\x08\x98\x03", 6},
		      {"\x01\x04\x00\x00\x00\x0a\x70\x0d", 8},
		      {"\x01\x84\x02\xc2\xc0", 5}};
	struct golden g = golden_find("pzem004t.rsp");
	uint8_t line[64];

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(before); i++) {
		for (size_t cut = 1; cut < 40; cut++) {
			enum ww_mb_event ev = WW_MB_NONE;
			size_t n = before[i].n + g.n;

			memcpy(line, before[i].junk, before[i].n);
			memcpy(line + before[i].n, g.p, g.n);
			asked("x:/dev/x");
			for (size_t at = 0; at < n; at += cut) {
				assert_int_equal(ev, WW_MB_NONE);
				ev = feed((int64_t)(20 + at) * MS, line + at,
					  n - at < cut ? n - at : cut);
			}
			assert_int_equal(ev, WW_MB_ANSWER);
			assert_int_equal(m.value[0], 2200);
			assert_int_equal(m.value[7], 500);
			/* Its time is that of its first byte. */
			assert_int_equal(m.t.hi_ns, (int64_t)(20 + before[i].n / cut * cut) * MS);
			done();
		}
	}
}

/* A flood of noise holds no answer, needs no memory and ends. */
static void flood(void **unused)
{
	struct golden g = golden_find("pzem004t.rsp");
	uint8_t noise[1000];
	uint32_t x = 1;

	(void)unused;
	asked("x:/dev/x");
	for (int i = 0; i < 200; i++) {
		for (size_t k = 0; k < sizeof(noise); k++)
			noise[k] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
		assert_int_equal(feed(i * MS, noise, sizeof(noise)), WW_MB_NONE);
	}
	assert_int_equal(feed(300 * MS, g.p, g.n), WW_MB_ANSWER);
	done();
}

static void reasons(void **unused)
{
	struct golden g = golden_find("pzem004t.rsp");
	uint8_t f[32];
	uint16_t crc;

	(void)unused;
	asked("x:/dev/x");
	assert_string_equal(why(), "nothing came");
	memcpy(f, g.p, g.n);
	f[0] = 9;
	crc = ww_mb_crc(f, g.n - 2);
	f[g.n - 2] = (uint8_t)crc;
	f[g.n - 1] = (uint8_t)(crc >> 8);
	assert_int_equal(feed(20 * MS, f, g.n), WW_MB_NONE);
	assert_string_equal(why(), "unit 9 answered, and not unit 1");
	done();
	asked("x:/dev/x");
	feed(20 * MS, golden_find("sdm120.rsp.V").p, 9);
	assert_string_equal(why(), "the unit answered function 4 with 4 bytes of registers, where "
				   "20 bytes by function 4 were asked for");
	done();
	asked("x:/dev/x");
	g.p[9] ^= 4;
	feed(20 * MS, g.p, g.n);
	assert_string_equal(why(), "the answer was damaged (bytes lost, or its checksum wrong)");
	done();
	asked("x:/dev/x");
	feed(2 * MS, m.sent, m.sent_n);
	assert_string_equal(why(), "only the echo of the question came back");
	done();
	asked("x:/dev/x");
	feed(2 * MS, "hello\r\n", 7);
	assert_string_equal(why(), "7 bytes came which are no answer of Modbus RTU");
	done();
	asked("x:/dev/x");
	assert_int_equal(feed(2 * MS, golden_find("pzem004t.exc").p, 5), WW_MB_REFUSED);
	assert_int_equal(m.exception, 2);
	done();
}

/* Time: the answer's end, silence before the next question, and late answers. */
static void times(void **unused)
{
	struct golden g = golden_find("pzem004t.rsp");

	(void)unused;
	asked("x:/dev/x");
	/* 8 characters of 11 bits at 9600 baud, 500 ms to begin; 25 more once it has begun. */
	assert_in_range(ww_modbus_deadline(&m), 509 * MS, 510 * MS);
	assert_in_range(m.end_ns, 537 * MS, 539 * MS);
	assert_int_equal(ww_modbus_tick(&m, ww_modbus_deadline(&m) - 1, &out), WW_MB_NONE);
	assert_int_equal(ww_modbus_tick(&m, ww_modbus_deadline(&m), &out), WW_MB_SILENT);
	assert_false(ww_modbus_busy(&m));
	/* The late answer to it is not the answer to the next question. */
	ww_modbus_read(&m, 1, WW_MB_INPUT, 0, 10, 600 * MS, &out);
	assert_int_equal(l.sent, 1);
	assert_int_equal(feed(700 * MS, g.p, g.n), WW_MB_NONE);
	assert_int_equal(m.patience_ns, SEC);
	/* 3.5 characters of silence, then it is sent. */
	assert_in_range(ww_modbus_deadline(&m), 704 * MS, 705 * MS);
	ww_modbus_tick(&m, ww_modbus_deadline(&m), &out);
	assert_int_equal(l.sent, 2);
	assert_int_equal(feed(800 * MS, g.p, g.n), WW_MB_ANSWER);
	/* The next one keeps the silence as well. */
	ww_modbus_read(&m, 1, WW_MB_INPUT, 0, 10, 801 * MS, &out);
	assert_int_equal(l.sent, 2);
	/* A line that never falls quiet is spoken to after half a second. */
	for (int64_t t = 802; t < 1300; t++)
		feed(t * MS, "\x55", 1);
	assert_int_equal(ww_modbus_tick(&m, 1300 * MS, &out), WW_MB_NONE);
	assert_int_equal(l.sent, 2);
	feed(1301 * MS, "\x55", 1);
	ww_modbus_tick(&m, 1301 * MS, &out);
	assert_int_equal(l.sent, 3);
	done();
}

static void transactions(void **unused)
{
	uint8_t f[29] = {0, 1, 0, 0, 0, 23, 1, 4, 20};

	(void)unused;
	asked("x:tcp://h:502");
	assert_true(m.tcp);
	f[10] = 7;
	assert_int_equal(ww_modbus_tick(&m, 2 * SEC, &out), WW_MB_SILENT);
	ww_modbus_read(&m, 1, WW_MB_INPUT, 0, 10, 2 * SEC, &out);
	assert_int_equal(l.sent, 2);
	/* The answer to the first question, now. */
	assert_int_equal(feed(2100 * MS, f, sizeof(f)), WW_MB_NONE);
	assert_string_equal(why(), "only late answers to earlier questions came");
	/* Another unit's, and then ours, in one segment with noise before it. */
	f[1] = 2;
	f[6] = 5;
	assert_int_equal(feed(2200 * MS, f, sizeof(f)), WW_MB_NONE);
	assert_string_equal(why(), "unit 5 answered, and not unit 1");
	f[6] = 1;
	assert_int_equal(feed(2300 * MS, "GET", 3), WW_MB_NONE);
	assert_int_equal(feed(2300 * MS, f, 20), WW_MB_NONE);
	assert_int_equal(feed(2400 * MS, f + 20, 9), WW_MB_ANSWER);
	assert_int_equal(m.value[0], 7);
	done();
	/* A gateway speaks for a unit that is dead. */
	asked("x:tcp://h:502");
	assert_int_equal(feed(MS, "\0\1\0\0\0\3\1\x84\x0b", 9), WW_MB_REFUSED);
	assert_string_equal(ww_mb_exception(m.exception),
			    "the gateway got no answer from the meter");
	done();
	asked("x:tcp://h:5020");
	assert_false(m.tcp);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_and_questions), cmocka_unit_test(frames),
		cmocka_unit_test(resynchronises),    cmocka_unit_test(flood),
		cmocka_unit_test(reasons),	     cmocka_unit_test(times),
		cmocka_unit_test(transactions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

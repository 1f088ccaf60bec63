/* SPDX-License-Identifier: MIT */
/* The pure parts of the bus: rates, options, packets, stamps, lateness. */
#include "bus/baud.h"
#include "bus/ftdi.h"
#include "bus/ftdifind.h"
#include "bus/gpio.h"
#include "bus/gpioutil.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <termios.h>
#include <cmocka.h>

/* The C library's own header is the independent witness of the kernel's codes. */
static void test_baud_table(void **state)
{
	static const struct {
		int64_t baud;
		uint32_t code;
	} rows[] = {{50, B50},	       {134, B134},	    {9600, B9600},
		    {38400, B38400},   {57600, B57600},	    {115200, B115200},
		    {921600, B921600}, {1500000, B1500000}, {4000000, B4000000}};
	int64_t last = 0, b;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++)
		assert_int_equal(ww_baud_code(rows[i].baud), rows[i].code);
	for (; (b = ww_baud_at(n)); n++) {
		assert_true(b > last);
		last = b;
	}
	/* termbits.h has B50 to B38400 (15) and B57600 to B4000000 (15). */
	assert_int_equal(n, 30);
	assert_int_equal(ww_baud_code(250000), 0);
}

static int line(const char *uri, struct ww_line *out, struct ww_error *err)
{
	struct ww_uri u;
	int rc;

	ww_error_clear(err);
	assert_int_equal(ww_uri_parse(uri, &u, err), 0);
	rc = ww_line_options(&u, 9600, out, err);
	ww_uri_free(&u);
	return rc;
}

static void test_line_options(void **state)
{
	struct ww_error err = {0};
	struct ww_line l;

	(void)state;
	assert_int_equal(line("tty:/dev/x", &l, &err), 0);
	assert_int_equal(l.baud, 9600);
	assert_int_equal(l.dtr, -1);
	assert_int_equal(line("tty:/dev/x?baud=250000&bits=7&parity=even&stop=2&flow=rtscts&dtr=0"
			      "&rts=1&latency=4&event_char=0x0a",
			      &l, &err),
			 0);
	assert_int_equal(l.baud, 250000);
	assert_int_equal(l.bits, 7);
	assert_int_equal(l.parity, 'e');
	assert_int_equal(l.stop, 2);
	assert_int_equal(l.flow, 'r');
	assert_int_equal(l.dtr, 0);
	assert_int_equal(l.rts, 1);
	assert_int_equal(l.latency_ms, 4);
	assert_int_equal(l.event_char, 10);
	assert_int_equal(line("tty:/dev/x?latency=2ms", &l, &err), 0);
	assert_int_equal(l.latency_ms, 2);
	assert_int_equal(line("tty:/dev/x?baud=0", &l, &err), -EINVAL);
	assert_non_null(strstr(err.text, "baud"));
	assert_int_equal(line("tty:/dev/x?parity=blue", &l, &err), -EINVAL);
	assert_non_null(strstr(err.text, "mark"));
	assert_int_equal(line("tty:/dev/x?latency=0", &l, &err), -EINVAL);
	assert_int_equal(line("tty:/dev/x?bits=9", &l, &err), -EINVAL);
}

/* 8N1 at 115 200 is 86.8 us a character, 82.5 us if the sender is 5 % fast. */
static void test_char_time(void **state)
{
	struct ww_line l = {.baud = 115200, .bits = 8, .parity = 'n', .stop = 1};

	(void)state;
	assert_in_range(ww_line_char_ns(&l), 82464, 82466);
	l.parity = 'e';
	l.stop = 2;
	l.baud = 300;
	assert_in_range(ww_line_char_ns(&l), 37990000, 38010000);
}

static void test_lateness(void **state)
{
	struct ww_late h = {0};

	(void)state;
	assert_int_equal(ww_late_quantile(&h, .99), -1);
	for (int64_t i = 1; i <= 1000; i++)
		ww_late_add(&h, i * 1000);
	assert_int_equal(h.max_ns, 1000000);
	/* A bucket is a quarter of an octave wide at most: 25 % too high at worst. */
	assert_in_range(ww_late_quantile(&h, .99), 990000, 1000000);
	assert_in_range(ww_late_quantile(&h, .5), 500000, 625000);
	for (int64_t v = 0; v < INT64_MAX / 3; v = v * 2 + 1) {
		memset(&h, 0, sizeof(h));
		ww_late_add(&h, v);
		assert_int_equal(ww_late_quantile(&h, .99), v);
	}
	memset(&h, 0, sizeof(h));
	ww_late_add(&h, INT64_MAX);
	ww_late_add(&h, -5);
	assert_int_equal(ww_late_quantile(&h, .99), INT64_MAX);
}

/* Two full packets and a short one, as AN232B-04 has them. */
static void test_ftdi_strip(void **state)
{
	uint8_t buf[140], want[140];
	struct ww_ftdi_status st;
	size_t n = 0, k = 0;

	(void)state;
	for (int packet = 0; packet < 3; packet++) {
		buf[n++] = 0x31;
		buf[n++] = packet == 1 ? 0x62 : 0x60;
		for (int i = 0; i < (packet == 2 ? 3 : 62); i++) {
			want[k++] = (uint8_t)(packet * 62 + i);
			buf[n++] = (uint8_t)(packet * 62 + i);
		}
	}
	assert_int_equal(ww_ftdi_strip(buf, n, 64, &st), k);
	assert_memory_equal(buf, want, k);
	assert_int_equal(st.packets, 3);
	assert_int_equal(st.modem, 0x31);
	assert_true(st.line & WW_FTDI_OVERRUN);
	/* Idle: status alone. */
	assert_int_equal(ww_ftdi_strip(buf, 2, 64, &st), 0);
	assert_int_equal(st.packets, 1);
	assert_int_equal(ww_ftdi_strip(buf, 1, 64, &st), 0);
	assert_int_equal(st.packets, 0);
	assert_int_equal(ww_ftdi_strip(buf, 0, 64, &st), 0);
	assert_int_equal(ww_ftdi_strip(buf, 65, 64, &st), 62);
}

static void test_ftdi_known(void **state)
{
	(void)state;
	assert_true(ww_ftdi_known(0x0403, 0x6001));
	assert_false(ww_ftdi_known(0x0403, 0x1234));
	assert_false(ww_ftdi_known(0x067b, 0x6001));
}

static struct ww_anchor anchor(int64_t mono, int64_t off, int64_t width)
{
	return (struct ww_anchor){.mono_ns = mono,
				  .boot_ns = mono + off,
				  .real_ns = mono + off + INT64_C(1700000000000000000),
				  .width_ns = width};
}

#define S WW_NS_PER_S

static void test_gpio_shift(void **state)
{
	struct ww_gpio_clock c = {0};
	struct ww_anchor a = anchor(100 * S, 7 * S, 300);
	struct ww_interval t;

	(void)state;
	ww_gpio_clock_anchor(&c, &a);
	t = ww_gpio_shift(&c, &a, 99 * S, 0);
	assert_int_equal(t.lo_ns, 106 * S - 300);
	assert_int_equal(t.hi_ns, 106 * S + 300);
	/* A narrower reading of the same stretch narrows it. */
	a = anchor(101 * S, 7 * S + 40, 50);
	ww_gpio_clock_anchor(&c, &a);
	t = ww_gpio_shift(&c, &a, 100 * S, 0);
	assert_int_equal(t.lo_ns, 107 * S + 40 - 50);
	assert_int_equal(t.hi_ns, 107 * S + 40 + 50);
}

/* The bench slept 60 s somewhere between MONOTONIC 101 s and 102 s. */
static void test_gpio_over_suspend(void **state)
{
	struct ww_gpio_clock c = {0};
	struct ww_anchor a = anchor(101 * S, 7 * S, 100);
	struct ww_interval t;

	(void)state;
	ww_gpio_clock_anchor(&c, &a);
	a = anchor(102 * S, 67 * S, 100);
	ww_gpio_clock_anchor(&c, &a);
	t = ww_gpio_shift(&c, &a, 100 * S, 0);
	assert_int_equal(t.lo_ns, 107 * S - 100);
	assert_int_equal(t.hi_ns, 107 * S + 100);
	/* Before or after the sleep: nobody knows. */
	t = ww_gpio_shift(&c, &a, 101 * S + S / 2, 0);
	assert_int_equal(t.lo_ns, 108 * S + S / 2 - 100);
	assert_int_equal(t.hi_ns, 168 * S + S / 2 + 100);
	a = anchor(104 * S, 67 * S, 100);
	ww_gpio_clock_anchor(&c, &a);
	t = ww_gpio_shift(&c, &a, 103 * S, 0);
	assert_int_equal(t.lo_ns, 170 * S - 100);
	assert_int_equal(t.hi_ns, 170 * S + 100);
}

/* Kernels before 5.7 stamp the first interface's events with CLOCK_REALTIME. */
static void test_gpio_other_clocks(void **state)
{
	struct ww_gpio_clock c = {0};
	struct ww_anchor a = anchor(100 * S, 7 * S, 100);
	struct ww_interval t;

	(void)state;
	ww_gpio_clock_anchor(&c, &a);
	t = ww_gpio_shift(&c, &a, a.real_ns - 2 * S, 0);
	assert_true(t.lo_ns <= 105 * S && t.hi_ns >= 105 * S && t.hi_ns - t.lo_ns <= 400);
	/* A clock that nobody knows: between the last look and now. */
	t = ww_gpio_shift(&c, &a, INT64_C(900000000000000000), 106 * S);
	assert_int_equal(t.lo_ns, 106 * S);
	assert_int_equal(t.hi_ns, 107 * S);
}

static void test_gpio_number(void **state)
{
	unsigned v = 99;

	(void)state;
	assert_true(ww_gpio_number("17", &v));
	assert_int_equal(v, 17);
	assert_false(ww_gpio_number("", &v));
	assert_false(ww_gpio_number("1a", &v));
	assert_false(ww_gpio_number("12345678901", &v));
}

static void test_hostport(void **state)
{
	static const struct {
		const char *text, *host, *port;
	} rows[] = {{"//bench:23", "bench", "23"},
		    {"127.0.0.1:4001", "127.0.0.1", "4001"},
		    {"//[fe80::1]:ssh", "fe80::1", "ssh"},
		    {"//bench", NULL, NULL},
		    {"//bench:", NULL, NULL},
		    {"//:23", NULL, NULL},
		    {"//fe80::1:23", NULL, NULL},
		    {"//[fe80::1]", NULL, NULL},
		    {"", NULL, NULL}};
	char host[64], port[16];

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct ww_error err = {0};
		int rc = ww_hostport(rows[i].text, host, sizeof(host), port, sizeof(port), &err);

		assert_int_equal(rc, rows[i].host ? 0 : -EINVAL);
		if (rc < 0)
			continue;
		assert_string_equal(host, rows[i].host);
		assert_string_equal(port, rows[i].port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_baud_table),	  cmocka_unit_test(test_line_options),
		cmocka_unit_test(test_char_time),	  cmocka_unit_test(test_lateness),
		cmocka_unit_test(test_ftdi_strip),	  cmocka_unit_test(test_ftdi_known),
		cmocka_unit_test(test_gpio_shift),	  cmocka_unit_test(test_gpio_over_suspend),
		cmocka_unit_test(test_gpio_other_clocks), cmocka_unit_test(test_gpio_number),
		cmocka_unit_test(test_hostport),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

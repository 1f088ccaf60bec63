/* SPDX-License-Identifier: MIT */
/* POWER-Z KM003C, streaming: the model with each of its faults, and its clock. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "usbmeterbench.h"

#include "meter/cipher.h"
#include "meter/devclock.h"
#include "meter/km003c_frame.h"

/* A device 80 ppm fast, asked each 20 ms: the bounds narrow, hold, and do not tear. */
static void two_clocks(void **unused)
{
	struct ww_devclock c = {.set = false};
	int64_t seed = 12345;

	(void)unused;
	for (int64_t k = 0; k < 5000; k++) {
		int64_t host = 1000 * SEC + k * 20 * MS, late;
		int64_t dev = (int64_t)((double)(k * 20 * MS) * 1.00008);
		struct ww_interval t;

		seed = (seed * 1103515245 + 12345) & 0x7fffffff;
		late = (seed >> 8) % (3 * MS);
		ww_devclock_bound(&c, dev, (struct ww_interval){host - 2 * MS, host + late});
		t = ww_devclock_host(&c, dev);
		assert_true(t.lo_ns <= host && host <= t.hi_ns);
		assert_true(k < 100 || t.hi_ns - t.lo_ns < 5 * MS / 2);
	}
	assert_int_equal(c.torn, 0);
	/* Begun anew where no one difference can be right. */
	ww_devclock_bound(&c, 0, (struct ww_interval){2000 * SEC, 2000 * SEC + MS});
	assert_int_equal(c.torn, 1);
	assert_int_equal(ww_devclock_host(&c, 0).lo_ns, 2000 * SEC);
}

static void frames(void **unused)
{
	struct golden g = golden_find("km003c.rsp.adc.real");
	struct ww_km_msg m;
	uint8_t p[WW_KM_MAX] = {0};

	(void)unused;
	for (size_t n = 0; n < g.n; n++)
		assert_int_equal(ww_km_parse(g.p, n, &m), 0);
	assert_int_equal(ww_km_parse(g.p, g.n, &m), 52);
	assert_int_equal(m.type, WW_KM_DATA);
	assert_int_equal(m.id, 0x0a);
	assert_ptr_equal(m.adc, g.p + 8);
	/* Two parts in one message; a part whose size is none of its kind. */
	memcpy(p, g.p, g.n);
	p[5] |= 0x80;
	memcpy(p + 52, "\x02\x00\x02\x05", 4);
	assert_int_equal(ww_km_parse(p, 95, &m), 0);
	assert_int_equal(ww_km_parse(p, 96, &m), 96);
	assert_int_equal(m.samples, 2);
	p[55]++;
	assert_int_equal(ww_km_parse(p, 96, &m), -1);
	/* Orders as they stand in the captures. */
	assert_int_equal(ww_km_control(p, WW_KM_START, 3, 2), 4);
	assert_memory_equal(p, "\x0e\x03\x04\x00", 4);
	assert_int_equal(ww_km_control(p, WW_KM_GET, 10, WW_KM_ADC), 4);
	assert_memory_equal(p, "\x0c\x0a\x02\x00", 4);
}

#if WW_CIPHER
static struct meterbench b;
static const struct emu_setup phone = {
	.volts = 5.123456, .amps = 1.000321, .pf = 1, .seed = 7, .serial = "004711 "};

static void open_fault(const char *uri, int64_t every, const char *fault)
{
	struct emu_setup s = phone;

	s.fault = fault;
	mb_open(&b, "km003c", uri, every, &s);
}

static void exact_values(void **unused)
{
	static const struct {
		const char *uri;
		int64_t every, step;
	} row[] = {{"km003c:?stream=1000", 0, MS},
		   {"km003c:", 5 * MS, MS},
		   {"km003c:?stream=50", 0, 20 * MS},
		   {"km003c:?stream=10", 0, 100 * MS},
		   {"km003c:?stream=2", 0, 500 * MS}};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		size_t want = (size_t)(3 * SEC / row[i].step);

		open_fault(row[i].uri, row[i].every, NULL);
		assert_int_equal(b.log.channels, 7);
		assert_int_equal(b.log.period_ns, row[i].step);
		mb_for(&b, 3 * SEC);
		HAS(&b.log, "identity KM003C|004711|1.9.9\n");
		assert_int_equal(b.log.losses + b.log.fails + b.log.events, 0);
		assert_true(b.rows + 2 + want / 20 >= want && b.rows <= want);
		assert_true(near(mb_value(&b, 3, "voltage"), 5.123456, 1e-9));
		assert_true(near(mb_value(&b, 3, "current"), 1.000321, 1e-9));
		assert_true(near(mb_value(&b, 3, "power"), 5.123456 * 1.000321, 1e-6));
		assert_true(near(mb_value(&b, 3, "cc1"), 3.2379, i == 4 ? 1e-9 : 0.001));
		for (size_t k = 1; k < b.rows; k++)
			assert_true(near((double)(b.row[k].t.hi_ns - b.row[k - 1].t.hi_ns),
					 (double)row[i].step, 1.5e6));
		times_rise(&b);
		stops(&b);
		HAS(&b.log, "send \\x0f");
		HAS(&b.log, "send \\x03");
		mb_close(&b);
	}
}

/* A growing load tells when each sample was taken: that lies in its interval. */
static void times_hold_truth(void **unused)
{
	struct emu_setup s = phone;

	(void)unused;
	s.amps = -999;
	s.amps_per_s = 1; /* 1 A when the bench begins */
	mb_open(&b, "km003c", "km003c:?stream=1000", 0, &s);
	mb_for(&b, 3 * SEC);
	assert_true(b.rows > 2800);
	for (size_t i = 0; i < b.rows; i++) {
		double at = (mb_value(&b, i, "current") + 999) * 1e9;

		assert_true(at >= (double)b.row[i].t.lo_ns - 2e3);
		assert_true(at <= (double)b.row[i].t.hi_ns + 2e3);
		assert_true(b.row[i].t.hi_ns - b.row[i].t.lo_ns < 4 * MS);
	}
	mb_close(&b);
}

/* Each fifth answer lacks seven samples: counted to the last, and where they were. */
static void lost_ones(void **unused)
{
	const char *p;
	size_t n = 0;

	(void)unused;
	open_fault("km003c:?stream=1000", 0, "lost");
	mb_for(&b, 4 * SEC);
	p = strstr(ml_text(&b.log), "loss ");
	for (; p; p = strstr(p + 5, "loss "), n++) {
		long long from, to, k;
		char why[32];

		assert_int_equal(sscanf(p, "loss %lld..%lld ms %lld %31s", &from, &to, &k, why), 4);
		assert_int_equal(k, 7);
		assert_string_equal(why, "missing");
		assert_true(to - from >= 7 && to - from <= 12);
	}
	assert_true(n >= 25);
	assert_int_equal((int64_t)b.log.losses, (int64_t)n);
	times_rise(&b);
	mb_close(&b);
}

/* Its queue holds only 30, or its answers are cut short: the count still comes out. */
static void overflow_and_truncated(void **unused)
{
	static const char *const faults[] = {"overflow", "truncated"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		int64_t first, last;

		open_fault("km003c:?stream=1000", 0, faults[i]);
		mb_for(&b, 3 * SEC);
		assert_int_equal(b.log.fails, 0);
		assert_true(b.rows > 500);
		first = b.row[0].t.hi_ns;
		last = b.row[b.rows - 1].t.hi_ns;
		assert_true(near((double)(b.rows - 1) + (double)lost_items(&b.log, NULL),
				 (double)(last - first) / 1e6, 2));
		if (i)
			assert_true(lost_items(&b.log, "damaged") > 100);
		times_rise(&b);
		mb_close(&b);
	}
}

/* Its count of 16 bits starts again: after 65 s, and after a silence of any length. */
static void wraps(void **unused)
{
	(void)unused;
	open_fault("km003c:?stream=1000", 0, "wrap");
	mb_for(&b, 4 * SEC);
	assert_int_equal(b.log.losses + b.log.fails, 0);
	assert_true(b.rows > 3700);
	mb_close(&b);
	open_fault("km003c:?stream=10", 0, NULL);
	mb_for(&b, 150 * SEC);
	assert_int_equal(b.log.losses + b.log.fails, 0);
	assert_true(b.rows > 1490);
	mb_close(&b);
}

static void falls_silent(void **unused)
{
	(void)unused;
	open_fault("km003c:?stream=50", 0, "silent");
	mb_for(&b, 20 * SEC);
	assert_int_equal(b.log.fails, 0);
	assert_true(near((double)lost_items(&b.log, "silent"), 850, 120));
	assert_true(b.log.losses >= 3);
	times_rise(&b);
	mb_close(&b);
}

/* The host was away for two minutes: begun anew, the loss is told by its own clock. */
static void host_away(void **unused)
{
	(void)unused;
	open_fault("km003c:?stream=10", 0, NULL);
	mb_for(&b, 5 * SEC);
	assert_int_equal(b.log.losses, 0);
	b.log.now_ns += 130 * SEC;
	b.empty_ns = b.log.now_ns;
	mb_for(&b, 5 * SEC);
	assert_int_equal(b.log.fails, 0);
	assert_true(near((double)b.rows + (double)lost_items(&b.log, NULL), 1398, 15));
	times_rise(&b);
	mb_close(&b);
}

static void never_works(void **unused)
{
	static const struct {
		const char *fault, *says;
	} row[] = {
		{"mute", "no answer of a POWER-Z on this interface (nothing came)"},
		{"garbage", "no answer of a POWER-Z on this interface (what came began with"},
		{"other", "(what came began with 55 aa 20 75"},
		{"refused", "does not accept this program for streaming: use it without stream="},
		{"empty", "has begun to stream, but gives no samples: use it without stream="},
		{"reject", "refuses to give its samples: use it without stream="},
		{"badsize", "has begun to stream, but gives no samples"},
	};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		open_fault("km003c:?stream=1000", 0, row[i].fault);
		mb_for(&b, 30 * SEC);
		must(b.log.fails == 1, row[i].fault, &b.log);
		must(strstr(ml_text(&b.log), row[i].says) != NULL, row[i].says, &b.log);
		assert_int_equal(b.log.given, 0);
		assert_int_equal(b.log.m->deadline(b.log.state), WW_TIME_MAX);
		mb_close(&b);
	}
}

static void disturbed(void **unused)
{
	static const char *const faults[] = {"wrongid", "zlp", "stale", "slow"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		open_fault("km003c:?stream=50", 0, faults[i]);
		mb_for(&b, 15 * SEC);
		must(b.rows > 300, faults[i], &b.log);
		assert_int_equal(b.log.fails, 0);
		for (size_t k = 0; k < b.rows; k++)
			assert_true(near(mb_value(&b, k, "voltage"), 5.123456, 1e-9));
		assert_true(near((double)(b.rows - 1) + (double)lost_items(&b.log, NULL),
				 (double)(b.row[b.rows - 1].t.hi_ns - b.row[0].t.hi_ns) / 20e6, 2));
		times_rise(&b);
		mb_close(&b);
	}
}

/* As the bus carries it: in packets of 64 bytes. */
static void packets(void **unused)
{
	struct emu_setup s = phone;

	(void)unused;
	mb_open(&b, "km003c", "km003c:?stream=1000", 0, &s);
	for (int i = 0; i < 4000; i++) {
		struct mb_msg whole, *m;

		for (size_t k = 0; k < b.queued; k++) {
			m = &b.queue[k];
			while (m->n > 64 && b.queued < MB_QUEUE) {
				whole = *m;
				m->n = 64;
				memmove(m + 2, m + 1, (b.queued - k - 1) * sizeof(*m));
				m[1] = (struct mb_msg){whole.at, whole.n - 64,
						       malloc(whole.n - 64)};
				memcpy(m[1].p, whole.p + 64, whole.n - 64);
				b.queued++;
				m = &b.queue[++k];
			}
		}
		mb_for(&b, MS / 20);
		if (i % 20 == 0)
			mb_for(&b, 0);
	}
	assert_int_equal(b.log.losses + b.log.fails + b.log.events, 0);
	assert_true(b.rows > 150);
	assert_true(near(mb_value(&b, 100, "voltage"), 5.123456, 1e-9));
	times_rise(&b);
	mb_close(&b);
}

static void other_buses(void **unused)
{
	const struct ww_meter_ops *m = ww_meter_find("km003c");
	struct meterlog l;

	(void)unused;
	assert_int_equal(ml_open(&l, m, "km003c:/dev/ttyACM0?stream=50", 0, NULL), 0);
	l.bus = WW_BUS_STREAM;
	ml_start(&l);
	HAS(&l, "fail -22 it streams on its USB interface only");
	assert_int_equal(m->deadline(l.state), WW_TIME_MAX);
	ml_close(&l);
}
#else
static void left_out(void **unused)
{
	const struct ww_meter_ops *m = ww_meter_find("km003c");
	struct ww_error err = {0};
	struct meterlog l;

	(void)unused;
	assert_true(ml_open(&l, m, "km003c:?stream=50", 0, &err) < 0);
	assert_true(strstr(err.text, "built without nettle") != NULL);
	assert_true(strstr(m->desc.summary, "no streaming") != NULL);
	assert_false(m->desc.left_out);
	free(l.state);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_clocks),
		cmocka_unit_test(frames),
#if WW_CIPHER
		cmocka_unit_test(exact_values),
		cmocka_unit_test(times_hold_truth),
		cmocka_unit_test(lost_ones),
		cmocka_unit_test(overflow_and_truncated),
		cmocka_unit_test(wraps),
		cmocka_unit_test(falls_silent),
		cmocka_unit_test(host_away),
		cmocka_unit_test(never_works),
		cmocka_unit_test(disturbed),
		cmocka_unit_test(packets),
		cmocka_unit_test(other_buses),
#else
		cmocka_unit_test(left_out),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

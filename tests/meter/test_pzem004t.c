/* SPDX-License-Identifier: MIT */
/* PZEM-004T and PZEM-017: worked frames, and each fault of the model of the former. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "meterbench.h"
#include "goldenframes.h"

#define SEC WW_NS_PER_S
#define MS  WW_NS_PER_MS
#define HAS(b, s)                                                                                  \
	do {                                                                                       \
		if (!strstr(ml_text(&(b)->log), s))                                                \
			fail_msg("no '%s' in:\n%s", s, ml_text(&(b)->log));                        \
	} while (0)
#define HAS_NO(b, s)                                                                               \
	do {                                                                                       \
		if (strstr(ml_text(&(b)->log), s))                                                 \
			fail_msg("'%s' in:\n%s", s, ml_text(&(b)->log));                           \
	} while (0)

/* 230.4 V 1.234 A pf 0.95: 270.1 W. */
static const struct emu_setup kettle = {
	.volts = 230.4, .amps = 1.234, .pf = 0.95, .hz = 50.0, .wh = 1234};

static struct meterbench b;

static void with(const char *fault, const char *uri, int64_t every_ns)
{
	struct emu_setup s = kettle;

	s.fault = fault;
	mb_open(&b, "pzem004t", uri, every_ns, &s);
}

/* The driver alone; frames are handed to it after its first question. */
static void alone(struct meterlog *l, const char *driver, const char *uri)
{
	struct ww_error err = {0};

	if (ml_open(l, ww_meter_find(driver), uri, 0, &err) < 0)
		fail_msg("%s", err.text);
	ml_start(l);
	ml_until(l, 10 * MS);
}

static void golden(void **unused)
{
	static const struct {
		const char *driver, *frame, *want;
	} rows[] = {
		{"pzem004t", "pzem004t.rsp", "reading 2200 2200 1000 0 100 500\n"},
		{"pzem004t", "pzem004t.rsp.big", "reading 163911 2312 71234 1234567 99 499\n"},
		{"pzem017", "pzem017.rsp", "reading 1000 10000 100 0\n"},
	};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct golden g = golden_find(rows[i].frame);
		struct meterlog l;

		for (size_t cut = 1; cut <= g.n; cut++) {
			alone(&l, rows[i].driver, ww_meter_find(rows[i].driver)->desc.example);
			for (size_t at = 0; at < g.n; at += cut)
				ml_feed(&l, g.p + at, g.n - at < cut ? g.n - at : cut);
			assert_string_equal(ml_readings(&l), rows[i].want);
			assert_int_equal(l.fails, 0);
			ml_close(&l);
		}
	}
}

static void question(void **unused)
{
	struct meterlog l;

	(void)unused;
	alone(&l, "pzem004t", "pzem004t:/dev/x");
	assert_string_equal(ml_text(&l), "send \\x01\\x04\\x00\\x00\\x00\\x0ap\\x0d\n");
	ml_close(&l);
	alone(&l, "pzem017", "pzem017:/dev/x");
	assert_string_equal(ml_text(&l), "send \\x01\\x04\\x00\\x00\\x00\\x08\\xf1\\xcc\n");
	ml_close(&l);
}

/* None of another meter's frames is a reading, each alone and after its own beginning. */
static void others(void **unused)
{
	struct golden g;

	(void)unused;
	for (size_t i = 0; golden_at(i, &g); i++) {
		struct meterlog l;

		if (strncmp(g.name, "pzem004t.rsp", 12) == 0)
			continue;
		alone(&l, "pzem004t", "pzem004t:/dev/x");
		ml_feed(&l, g.p, g.n);
		ml_until(&l, 30 * SEC);
		assert_int_equal(l.given, 0);
		assert_int_equal(l.fails, 1);
		ml_close(&l);
	}
}

static void values(void **unused)
{
	double truth[4];

	(void)unused;
	with(NULL, NULL, 0);
	mb_for(&b, 10 * SEC);
	assert_in_range(b.rows, 9, 11);
	b.model->truth(b.meter, b.log.now_ns, truth);
	for (size_t i = 0; i < b.rows; i++) {
		assert_true(fabs(mb_value(&b, i, "voltage") - 230.4) < 1e-9);
		assert_true(fabs(mb_value(&b, i, "current") - 1.234) < 1e-9);
		assert_true(fabs(mb_value(&b, i, "power") - 270.1) < 1e-9);
		assert_true(fabs(mb_value(&b, i, "power_factor") - 0.95) < 1e-9);
		assert_true(fabs(mb_value(&b, i, "frequency") - 50.0) < 1e-9);
		assert_true(fabs(mb_value(&b, i, "energy") - truth[3]) <= 1);
		assert_true(b.row[i].t.hi_ns - b.row[i].t.lo_ns <= 40 * MS);
	}
	HAS(&b, "identity PZEM-004T v3 or v4||\n");
	assert_int_equal(b.log.losses + b.log.events + b.log.fails, 0);
	mb_close(&b);
}

/* A growing load: each value has the age that the description says, at most. */
static void age(void **unused)
{
	struct emu_setup s = kettle;
	const struct ww_meter_desc *d = &ww_meter_find("pzem004t")->desc;

	(void)unused;
	s.amps_per_s = 0.001;
	mb_open(&b, "pzem004t", NULL, 0, &s);
	mb_for(&b, 60 * SEC);
	assert_true(b.rows >= 59);
	for (size_t i = 1; i < b.rows; i++) {
		double a = mb_value(&b, i, "current");
		double then = (a - s.amps) / s.amps_per_s, arrived = (double)b.row[i].t.hi_ns / 1e9;

		assert_true(then <= arrived + 0.6);
		assert_true(then >= arrived - 0.6 - (double)d->delay_max_ns / 1e9);
	}
	mb_close(&b);
}

/* Asked five times a second, each renewal comes once, and soon after it. */
static void repeats(void **unused)
{
	struct emu_setup s = kettle;

	(void)unused;
	s.amps_per_s = 0.01;
	mb_open(&b, "pzem004t", NULL, 200 * MS, &s);
	mb_for(&b, 20 * SEC);
	assert_in_range(b.rows, 19, 22);
	for (size_t i = 2; i < b.rows; i++) {
		assert_true(mb_value(&b, i, "current") > mb_value(&b, i - 1, "current"));
		assert_in_range(b.row[i].t.hi_ns - b.row[i - 1].t.hi_ns, 700 * MS, 1300 * MS);
	}
	assert_int_equal(b.log.losses, 0);
	mb_close(&b);
	/* A steady load gives one a second as well. */
	with(NULL, NULL, 200 * MS);
	mb_for(&b, 20 * SEC);
	assert_in_range(b.rows, 18, 22);
	assert_int_equal(b.log.losses, 0);
	mb_close(&b);
}

/* Faults of single answers: all others are right, and each missing one is a loss. */
static void spoilt(void **unused)
{
	static const char *const faults[] = {"crc", "short", "exception"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		with(faults[i], NULL, 0);
		mb_for(&b, 31 * SEC);
		assert_true(b.rows >= 12 && b.rows < 28);
		for (size_t k = 0; k < b.rows; k++)
			assert_true(fabs(mb_value(&b, k, "power") - 270.1) < 1e-9);
		assert_true(b.log.losses > 3);
		assert_int_equal(b.log.fails, 0);
		HAS(&b, i == 2 ? "refused" : "damaged");
		mb_close(&b);
	}
}

/* Between the first question and the last, each second is a reading or is lost. */
static double lost_s(void)
{
	double sum = 0;

	for (const char *p = ml_text(&b.log); (p = strstr(p, "loss ")); p += 5) {
		long long from, to;

		if (sscanf(p, "loss %lld..%lld ms", &from, &to) == 2)
			sum += (double)(to - from) / 1e3;
	}
	return sum;
}

/* A reading that is lost costs its own second, whether nothing came or something else. */
static void lost(void **unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++) {
		with(i ? "crc" : "drop", NULL, 0);
		mb_for(&b, 31 * SEC);
		assert_true(b.rows >= 20 && b.rows <= 22);
		assert_true(fabs(lost_s() - (31 - (double)b.rows)) < 1.1);
		mb_close(&b);
	}
}

/* One answer of three takes 0.8 s: nothing is lost by that once it is waited for. */
static void sluggish(void **unused)
{
	(void)unused;
	with("sluggish", NULL, 0);
	mb_for(&b, 40 * SEC);
	assert_true(b.rows >= 38);
	assert_true(b.log.losses <= 1);
	mb_close(&b);
}

/* Faults that cost nothing. */
static void harmless(void **unused)
{
	static const char *const faults[] = {"noise", "halfduplex", "ownaddr", "babble"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		with(faults[i], i == 2 ? "pzem004t:/dev/x?addr=248" : NULL, 0);
		mb_for(&b, 20 * SEC);
		assert_in_range(b.rows, 19, 21);
		for (size_t k = 0; k < b.rows; k++)
			assert_true(fabs(mb_value(&b, k, "power") - 270.1) < 1e-9);
		assert_int_equal(b.log.losses + b.log.fails, 0);
		if (i == 2)
			HAS(&b, "a single one on the line only");
		mb_close(&b);
	}
}

/* What never answers well: the sentence tells what came. */
static void useless(void **unused)
{
	static const struct {
		const char *fault, *says;
	} rows[] = {
		{"silent", "no answer from unit 1: nothing came"},
		{"another", "unit 2 answered, and not unit 1"},
		{"wrongfn", "answered function 3 with 20 bytes"},
		{"echo", "only the echo of the question"},
		{"v1", "PZEM-004T of version 1 or 2"},
		{"dc", "exception 2, illegal data address"},
	};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		with(rows[i].fault, NULL, 0);
		mb_for(&b, 30 * SEC);
		assert_int_equal(b.rows, 0);
		assert_int_equal(b.log.fails, 1);
		HAS(&b, rows[i].says);
		mb_close(&b);
	}
}

/* With the mains off the meter is silent: a gap, and not zero; then it goes on. */
static void mains_off(void **unused)
{
	(void)unused;
	with("mainsoff", NULL, 0);
	mb_for(&b, 30 * SEC);
	assert_int_equal(b.log.fails, 0);
	HAS(&b, "silent\n");
	assert_true(b.rows >= 20 && b.rows <= 24);
	for (size_t k = 0; k < b.rows; k++) {
		assert_true(fabs(mb_value(&b, k, "power") - 270.1) < 1e-9);
		/* Nothing comes from within the silence. */
		assert_false(b.row[k].t.hi_ns > 1006 * SEC && b.row[k].t.hi_ns < 1011 * SEC);
	}
	mb_close(&b);
	with("mute", NULL, 0);
	mb_for(&b, 120 * SEC);
	assert_int_equal(b.log.fails, 0);
	assert_true(b.log.losses > 10);
	mb_close(&b);
}

/* Answers that take long are waited for longer, and never taken for the next ones. */
static void late(void **unused)
{
	struct emu_setup s = kettle;
	static const char *const faults[] = {"slow", "late"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		s.fault = faults[i];
		s.amps_per_s = 0.01;
		mb_open(&b, "pzem004t", NULL, 0, &s);
		mb_for(&b, 40 * SEC);
		assert_int_equal(b.log.fails, 0);
		assert_true(b.rows >= 10);
		for (size_t k = 1; k < b.rows; k++) {
			double then = (mb_value(&b, k, "current") - s.amps) / s.amps_per_s;
			int64_t most = ww_meter_shape(b.log.m, b.log.state).delay_max_ns;

			/* What is said of the delay follows. */
			assert_true(then <= (double)b.row[k].t.hi_ns / 1e9 + 0.1);
			assert_true(then >= (double)(b.row[k].t.hi_ns - most) / 1e9 - 0.1);
			assert_true(most < 5 * SEC);
		}
		mb_close(&b);
	}
}

static void energy_register(void **unused)
{
	(void)unused;
	with("wrap", NULL, 0);
	mb_for(&b, 20 * SEC);
	HAS_NO(&b, "counter-reset");
	assert_true(mb_value(&b, 0, "energy") > 9999980);
	assert_true(mb_value(&b, b.rows - 1, "energy") < 20);
	assert_true(fabs(ww_meter_find("pzem004t")->desc.channel[3].wrap - 9999990) < 0.5);
	mb_close(&b);
	with("cleared", NULL, 0);
	mb_for(&b, 20 * SEC);
	HAS(&b, "event counter-reset energy register fell from 1234 to 0 Wh");
	mb_close(&b);
}

static void small_and_stuck(void **unused)
{
	(void)unused;
	with("low", NULL, 0);
	mb_for(&b, 5 * SEC);
	assert_true(mb_value(&b, 2, "power") == 0);
	HAS(&b, "shows nothing below 0.4 W");
	assert_int_equal(b.log.events, 1);
	mb_close(&b);
	with("stuck", NULL, 0);
	mb_for(&b, 90 * SEC);
	HAS(&b, "frozen: not one value has changed for 60 s");
	mb_close(&b);
	with("addrlost", NULL, 0);
	mb_for(&b, 20 * SEC);
	HAS(&b, "silent\n");
	assert_int_equal(b.log.fails, 0);
	mb_close(&b);
	with("repeat", NULL, 0);
	mb_for(&b, 30 * SEC);
	assert_in_range(b.rows, 29, 31);
	mb_close(&b);
}

static void alarm(void **unused)
{
	struct golden g = golden_find("pzem004t.rsp.big");
	struct meterlog l;

	(void)unused;
	alone(&l, "pzem004t", "pzem004t:/dev/x");
	ml_feed(&l, g.p, g.n);
	assert_non_null(
		strstr(ml_text(&l), "event device alarm: power above the meter's threshold"));
	ml_until(&l, 1010 * MS);
	g = golden_find("pzem004t.rsp");
	ml_feed(&l, g.p, g.n);
	assert_non_null(strstr(ml_text(&l), "event device alarm: off"));
	ml_close(&l);
}

/* By the gateway of a network: RTU by port 4001, TCP by port 502. */
static void options(void **unused)
{
	static const struct {
		const char *uri, *sent;
	} rows[] = {
		{"pzem004t:tcp://h:4001?addr=5", "send \\x05\\x04\\x00\\x00\\x00\\x0aq\\x89\n"},
		{"pzem004t:tcp://h:502?addr=5",
		 "send \\x00\\x01\\x00\\x00\\x00\\x06\\x05\\x04\\x00\\x00\\x00\\x0a\n"},
		{"pzem004t:tcp://h:502?addr=5&framing=rtu",
		 "send \\x05\\x04\\x00\\x00\\x00\\x0aq\\x89\n"},
		{"pzem004t:tcp://h:1?framing=tcp",
		 "send \\x00\\x01\\x00\\x00\\x00\\x06\\x01\\x04\\x00\\x00\\x00\\x0a\n"},
	};
	static const char *const wrong[] = {"pzem004t:/dev/x?addr=0", "pzem004t:/dev/x?addr=249",
					    "pzem004t:/dev/x?framing=ascii",
					    "pzem004t:/dev/x?timeout=1h",
					    "pzem004t:/dev/x?baud=fast"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct meterlog l;

		alone(&l, "pzem004t", rows[i].uri);
		assert_string_equal(ml_text(&l), rows[i].sent);
		ml_close(&l);
	}
	for (size_t i = 0; i < WW_COUNTOF(wrong); i++) {
		struct ww_error err = {0};
		struct meterlog l;

		assert_true(ml_open(&l, ww_meter_find("pzem004t"), wrong[i], 0, &err) < 0);
		assert_true(strlen(err.text) > 20);
		ml_close(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
		cmocka_unit_test(question),
		cmocka_unit_test(others),
		cmocka_unit_test(values),
		cmocka_unit_test(age),
		cmocka_unit_test(repeats),
		cmocka_unit_test(spoilt),
		cmocka_unit_test(lost),
		cmocka_unit_test(sluggish),
		cmocka_unit_test(harmless),
		cmocka_unit_test(useless),
		cmocka_unit_test(mains_off),
		cmocka_unit_test(late),
		cmocka_unit_test(energy_register),
		cmocka_unit_test(small_and_stuck),
		cmocka_unit_test(alarm),
		cmocka_unit_test(options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

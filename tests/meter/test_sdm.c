/* SPDX-License-Identifier: MIT */
/* Eastron SDM120 and SDM230: worked frames, each fault of the model, the search for the speed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "meterbench.h"
#include "goldenframes.h"
#include "meter/modbus.h"

#define SEC WW_NS_PER_S
#define MS  WW_NS_PER_MS
#define HAS(b, s)                                                                                  \
	do {                                                                                       \
		if (!strstr(ml_text(&(b)->log), s))                                                \
			fail_msg("no '%s' in:\n%s", s, ml_text(&(b)->log));                        \
	} while (0)

/* 230.2 V 5.3629 A: 1234.5 W at pf 1. */
static const struct emu_setup heater = {
	.volts = 230.2, .amps = 2.5, .pf = 0.8, .hz = 50.02, .wh = 1500};
#define WATTS (230.2 * 2.5 * 0.8)

static struct meterbench b;

static void put_crc(uint8_t *f, size_t n)
{
	uint16_t crc = ww_mb_crc(f, n);

	f[n] = (uint8_t)crc;
	f[n + 1] = (uint8_t)(crc >> 8);
}

static void with(const char *driver, const char *fault, const char *uri, int64_t every_ns)
{
	struct emu_setup s = heater;

	s.fault = fault;
	mb_open(&b, driver, uri, every_ns, &s);
}

static void right(size_t k)
{
	assert_true(fabs(mb_value(&b, k, "power") - WATTS) < 0.0011);
	assert_true(fabs(mb_value(&b, k, "voltage") - 230.2) < 0.0011);
	assert_true(fabs(mb_value(&b, k, "current") - 2.5) < 0.00011);
}

static void values(void **unused)
{
	static const char *const drivers[] = {"sdm120", "sdm230"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(drivers); i++) {
		with(drivers[i], NULL, NULL, 0);
		mb_for(&b, 20 * SEC);
		assert_in_range(b.rows, 19, 21);
		for (size_t k = 0; k < b.rows; k++) {
			right(k);
			assert_true(fabs(mb_value(&b, k, "power_factor") - 0.8) < 1e-4);
			assert_true(fabs(mb_value(&b, k, "frequency") - 50.02) < 1e-3);
			assert_true(fabs(mb_value(&b, k, "apparent_power") - 575.5) < 1e-2);
			assert_true(fabs(mb_value(&b, k, "reactive_power") - 345.3) < 1e-2);
			assert_true(fabs(mb_value(&b, k, "energy") - 1500) < 3);
			assert_true(mb_value(&b, k, "energy_export") == 0);
		}
		if (i == 1)
			assert_true(fabs(mb_value(&b, 3, "phase_angle") - 36.87) < 0.01);
		HAS(&b, i ? "identity Eastron SDM230||\n" : "identity Eastron SDM120||\n");
		assert_int_equal(b.log.losses + b.log.events + b.log.fails, 0);
		mb_close(&b);
	}
}

static void question(void **unused)
{
	struct golden g = golden_find("sdm120.req.block");
	struct ww_error err = {0};
	struct meterlog l;
	char want[64] = "send ";

	(void)unused;
	assert_int_equal(ml_open(&l, ww_meter_find("sdm120"), "sdm120:/dev/x?baud=2400", 0, &err),
			 0);
	ml_start(&l);
	ml_until(&l, MS);
	for (size_t i = 0; i < g.n; i++) {
		size_t n = strlen(want);

		if (g.p[i] > ' ' && g.p[i] <= '~')
			snprintf(want + n, sizeof(want) - n, "%c", g.p[i]);
		else
			snprintf(want + n, sizeof(want) - n, "\\x%02x", g.p[i]);
	}
	assert_memory_equal(ml_text(&l), want, strlen(want));
	ml_close(&l);
}

/* What a meter answers that refuses the block: the worked frames of single values. */
static void singles_golden(void **unused)
{
	struct golden v = golden_find("sdm120.rsp.V"), p = golden_find("sdm120.rsp.P"), g;
	struct ww_error err = {0};
	struct meterlog l;
	uint8_t refusal[5] = {1, 0x84, 2, 0xc2, 0xc1}, fifty[9] = {1, 4, 4, 0x42, 0x48};

	(void)unused;
	assert_int_equal(ml_open(&l, ww_meter_find("sdm120"), "sdm120:/dev/x?baud=2400", 0, &err),
			 0);
	ml_start(&l);
	ml_until(&l, 10 * MS);
	ml_feed(&l, refusal, 5);
	/* Power, voltage, then those that it refuses. */
	ml_until(&l, 200 * MS);
	ml_feed(&l, p.p, p.n);
	ml_until(&l, 400 * MS);
	ml_feed(&l, v.p, v.n);
	ml_until(&l, 600 * MS);
	ml_feed(&l, refusal, 5);
	ml_until(&l, 800 * MS);
	ml_feed(&l, refusal, 5);
	g = golden_find("sdm120.req.P");
	ml_until(&l, 1000 * MS);
	put_crc(fifty, 7);
	ml_feed(&l, fifty, 9);
	for (int i = 0; i < 4; i++) {
		ml_until(&l, l.now_ns + 200 * MS);
		ml_feed(&l, refusal, 5);
	}
	assert_string_equal(ml_readings(&l), "reading 1234500 230200 _ _ 50000 _ _ _ _\n");
	assert_int_equal(g.n, 8);
	ml_close(&l);
}

static void others(void **unused)
{
	struct golden g;

	(void)unused;
	for (size_t i = 0; golden_at(i, &g); i++) {
		struct ww_error err = {0};
		struct meterlog l;

		ml_open(&l, ww_meter_find("sdm120"), "sdm120:/dev/x?baud=9600", 0, &err);
		ml_start(&l);
		ml_until(&l, MS);
		ml_feed(&l, g.p, g.n);
		ml_until(&l, 60 * SEC);
		assert_int_equal(l.given, 0);
		assert_int_equal(l.fails, 1);
		ml_close(&l);
	}
}

/* A PZEM in its place answers, refuses the block, and its registers are no floats. */
static void a_pzem(void **unused)
{
	struct emu_setup s = heater;

	(void)unused;
	mb_open(&b, "sdm230", NULL, 0, &s);
	free(b.meter);
	b.model = emu_find("pzem004t");
	b.meter = calloc(1, b.model->state_size);
	assert_int_equal(b.model->init(b.meter, &s), 0);
	b.to_meters = b.to_meter_bytes = 0;
	mb_for(&b, 30 * SEC);
	assert_int_equal(b.rows, 0);
	assert_int_equal(b.log.fails, 1);
	HAS(&b, "this is no Eastron SDM230 (a PZEM is pzem004t:)");
	mb_close(&b);
	/* And the other way round. */
	mb_open(&b, "pzem004t", NULL, 0, &s);
	free(b.meter);
	b.model = emu_find("sdm230");
	b.meter = calloc(1, b.model->state_size);
	assert_int_equal(b.model->init(b.meter, &s), 0);
	b.to_meters = b.to_meter_bytes = 0;
	mb_for(&b, 30 * SEC);
	assert_int_equal(b.rows, 0);
	HAS(&b, "with floating point values as Eastron's meters do (230 V): use sdm120:");
	mb_close(&b);
}

static void one_by_one(void **unused)
{
	static const struct {
		const char *fault, *driver;
	} rows[] = {{"noblock", "sdm120"}, {"noblock", "sdm230"}, {"refuse", "sdm120"}};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		with(rows[i].driver, rows[i].fault, NULL, 0);
		mb_for(&b, 30 * SEC);
		assert_true(b.rows >= 9);
		for (size_t k = 0; k < b.rows; k++)
			right(k);
		assert_int_equal(b.log.fails, 0);
		if (i < 2) {
			struct ww_meter_shape shape = ww_meter_shape(b.log.m, b.log.state);

			HAS(&b, "(read value by value)");
			/* The round lies within what is said of it. */
			assert_true(b.row[3].t.hi_ns - b.row[3].t.lo_ns < shape.delay_max_ns);
			assert_true(shape.delay_max_ns > 2 * SEC);
		}
		mb_close(&b);
	}
}

static void idle_is_kept(void **unused)
{
	(void)unused;
	/* Asked as often as can be, it never answers NaN: the silence between is long enough. */
	with("sdm230", NULL, NULL, 200 * MS);
	mb_for(&b, 20 * SEC);
	for (size_t k = 0; k < b.rows; k++)
		right(k);
	assert_int_equal(b.log.events + b.log.losses, 0);
	mb_close(&b);
	/* Value by value it takes longer: that is its pace, and nothing is lost. */
	with("sdm230", "noblock", NULL, 0);
	mb_for(&b, 20 * SEC);
	assert_true(b.log.losses == 0 && ww_meter_shape(b.log.m, b.log.state).period_ns > SEC);
	mb_close(&b);
	/* One that wants 100 ms is asked once a second. */
	with("sdm230", "touchy", NULL, 0);
	mb_for(&b, 20 * SEC);
	assert_in_range(b.rows, 19, 21);
	assert_int_equal(b.log.events + b.log.losses, 0);
	mb_close(&b);
}

static void no_values(void **unused)
{
	size_t missing = 0, over = 0;

	(void)unused;
	with("sdm120", "nan", NULL, 0);
	mb_for(&b, 30 * SEC);
	for (size_t k = 0; k < b.rows; k++)
		missing += b.row[k].code[0] == WW_MISSING;
	assert_in_range(missing, 9, 11);
	assert_in_range(b.rows, 29, 31);
	HAS(&b, "event device no value of power in an answer");
	mb_close(&b);
	with("sdm120", "infinite", NULL, 0);
	mb_for(&b, 30 * SEC);
	for (size_t k = 0; k < b.rows; k++)
		over += b.row[k].code[2] == WW_OVER;
	assert_in_range(over, 9, 11);
	mb_close(&b);
}

/* After its restart it shows 0.0 for everything: that is no measurement of 0 W. */
static void reboot(void **unused)
{
	(void)unused;
	with("sdm230", "reboot", "sdm230:/dev/x?timeout=100ms", 200 * MS);
	mb_for(&b, 30 * SEC);
	for (size_t k = 0; k < b.rows; k++)
		right(k);
	HAS(&b, "0 V and 0 Hz: it measures nothing yet");
	HAS(&b, "silent\n");
	assert_true(b.rows >= 22);
	assert_true(b.log.losses >= 1);
	mb_close(&b);
}

static void spoilt(void **unused)
{
	static const char *const faults[] = {"crc", "short", "exception", "late", "slow"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		with("sdm230", faults[i], "sdm230:/dev/x?baud=9600", 0);
		mb_for(&b, 40 * SEC);
		assert_true(b.rows >= 9);
		for (size_t k = 0; k < b.rows; k++)
			right(k);
		assert_true(b.log.losses > 0 || i == 4);
		assert_int_equal(b.log.fails, 0);
		mb_close(&b);
	}
}

static void harmless(void **unused)
{
	static const char *const faults[] = {"noise", "halfduplex", "babble"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		with("sdm230", faults[i], NULL, 0);
		mb_for(&b, 20 * SEC);
		/* Before a line that never falls quiet it waits for half a second. */
		assert_true(b.rows >= (i == 2 ? 8 : 19));
		for (size_t k = 0; k < b.rows; k++)
			right(k);
		assert_int_equal(b.log.fails, 0);
		mb_close(&b);
	}
}

static void useless(void **unused)
{
	static const struct {
		const char *fault, *says;
	} rows[] = {
		{"silent", "at 2400, 9600, 4800, 1200 or 19200 baud: nothing came"},
		{"another", "unit 2 answered, and not unit 1"},
		{"wrongfn", "answered function 3 with 4 bytes"},
		{"echo", "only the echo of the question"},
		{"ddm18sd", "as in a DDM18SD"},
	};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		with("sdm230", rows[i].fault, NULL, 0);
		mb_for(&b, 60 * SEC);
		assert_int_equal(b.rows, 0);
		assert_int_equal(b.log.fails, 1);
		HAS(&b, rows[i].says);
		mb_close(&b);
	}
}

static void mute_and_cleared(void **unused)
{
	(void)unused;
	with("sdm120", "mute", NULL, 0);
	mb_for(&b, 60 * SEC);
	assert_int_equal(b.log.fails, 0);
	HAS(&b, "silent\n");
	mb_close(&b);
	with("sdm120", "cleared", NULL, 0);
	mb_for(&b, 20 * SEC);
	HAS(&b, "event counter-reset energy register fell from 1500");
	mb_close(&b);
}

/* ------------------------------------------------------ the search for the speed */

struct seeker {
	struct meterlog log;
	int64_t baud, meter;
	char tried[128];
	bool asked;
	unsigned count;
};

static int set_baud(void *ctx, int64_t baud)
{
	struct seeker *s = ctx;
	size_t n = strlen(s->tried);

	s->baud = baud;
	snprintf(s->tried + n, sizeof(s->tried) - n, " %lld", (long long)baud);
	return 0;
}

static void seeker_send(void *ctx, const void *data, size_t n)
{
	struct seeker *s = ctx;

	ml_send(&s->log, data, n);
	s->asked = s->baud == s->meter;
	s->count = ((const uint8_t *)data)[5];
}

static void seek(struct seeker *s, const char *driver, const char *uri, int64_t meter)
{
	struct ww_meter_out out;
	struct ww_error err = {0};
	uint8_t f[165] = {1, 4, 160, 0x43, 0x66, 0x33, 0x33};
	uint8_t volts[9] = {1, 4, 4, 0x43, 0x66, 0x33, 0x33};

	memset(s, 0, sizeof(*s));
	s->meter = meter;
	assert_int_equal(ml_open(&s->log, ww_meter_find(driver), uri, 0, &err), 0);
	s->baud = s->log.m->desc.baud;
	out = ml_out(&s->log);
	out.ctx = s;
	out.send = seeker_send;
	out.baud = set_baud;
	/* 50 Hz */
	f[3 + 0x46 * 2] = 0x42;
	f[4 + 0x46 * 2] = 0x48;
	put_crc(f, 163);
	put_crc(volts, 7);
	s->log.m->start(s->log.state, 0, &out);
	for (int64_t d; (d = s->log.m->deadline(s->log.state)) < 40 * SEC && !s->log.given;) {
		s->log.now_ns = d > s->log.now_ns ? d : s->log.now_ns;
		s->log.m->tick(s->log.state, s->log.now_ns, &out);
		s->log.now_ns += 50 * MS;
		while (s->asked) {
			bool block = s->count == 80;

			s->asked = false;
			s->log.m->feed(s->log.state,
				       (struct ww_interval){s->log.now_ns - MS, s->log.now_ns},
				       block ? f : volts, block ? sizeof(f) : sizeof(volts), &out);
		}
	}
}

static void finds_the_speed(void **unused)
{
	static const int64_t speeds[] = {2400, 9600, 4800, 1200, 19200};
	struct seeker s;

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(speeds); i++) {
		seek(&s, "sdm120", "sdm120:/dev/x?baud=auto", speeds[i]);
		assert_int_equal(s.log.given, 1);
		assert_int_equal(s.baud, speeds[i]);
		assert_true(s.log.now_ns < 8 * SEC);
		if (i)
			assert_non_null(strstr(ml_text(&s.log), "event device found at "));
		ml_close(&s.log);
		seek(&s, "sdm230", "sdm230:/dev/x", speeds[i]);
		assert_int_equal(s.log.given, 1);
		ml_close(&s.log);
	}
	seek(&s, "sdm120", "sdm120:/dev/x", 300);
	assert_string_equal(s.tried, " 9600 4800 1200 19200 2400 9600 4800 1200 19200");
	assert_int_equal(s.log.fails, 1);
	ml_close(&s.log);
	seek(&s, "sdm230", "sdm230:/dev/x", 300);
	assert_string_equal(s.tried, " 2400 4800 1200 19200 9600 2400 4800 1200 19200");
	ml_close(&s.log);
	/* A speed that was given is kept. */
	seek(&s, "sdm120", "sdm120:/dev/x?baud=4800", 2400);
	assert_string_equal(s.tried, "");
	assert_int_equal(s.log.given, 1);
	ml_close(&s.log);
	seek(&s, "sdm120", "sdm120:/dev/x?baud=4800", 300);
	assert_non_null(
		strstr(ml_text(&s.log), "no answer from unit 1 at 4800 baud: nothing came"));
	ml_close(&s.log);
}

/* Three phases: the total is its own register. */
static void three_phases(void **unused)
{
	static const struct {
		unsigned reg;
		float v;
	} at[] = {{0x00, 230}, {0x02, 231},  {0x04, 232},  {0x06, 1},	{0x08, 2},
		  {0x0a, 3},   {0x0c, 100},  {0x0e, 200},  {0x10, 300}, {0x34, 600},
		  {0x46, 50},  {0x48, 1.5f}, {0x4a, 0.25f}};
	struct ww_error err = {0};
	struct meterlog l;
	uint8_t f[165] = {1, 4, 160};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(at); i++) {
		uint32_t u;

		memcpy(&u, &at[i].v, 4);
		for (unsigned k = 0; k < 4; k++)
			f[3 + 2 * at[i].reg + k] = (uint8_t)(u >> (24 - 8 * k));
	}
	put_crc(f, 163);
	assert_int_equal(ml_open(&l, ww_meter_find("sdm630"), "sdm630:/dev/x?baud=9600", 0, &err),
			 0);
	ml_start(&l);
	ml_until(&l, MS);
	ml_feed(&l, f, sizeof(f));
	assert_string_equal(ml_readings(&l),
			    "reading 600000 100000 230000 10000 200000 231000 20000 300000 232000 "
			    "30000 15000 50000 2500\n");
	ml_close(&l);
}

static void coarse_register(void **unused)
{
	struct emu_setup setup = {.volts = 230, .amps = 1, .pf = 1, .hz = 50, .wh = 12345678};
	struct ww_channel_info c = {0};

	(void)unused;
	mb_open(&b, "sdm120", NULL, 0, &setup);
	mb_for(&b, 5 * SEC);
	b.log.m->channel(b.log.state, 3, &c);
	assert_true(fabs(c.resolution - 1000 / 1024.0) < 1e-9);
	mb_close(&b);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),	    cmocka_unit_test(question),
		cmocka_unit_test(singles_golden),   cmocka_unit_test(others),
		cmocka_unit_test(a_pzem),	    cmocka_unit_test(one_by_one),
		cmocka_unit_test(idle_is_kept),	    cmocka_unit_test(no_values),
		cmocka_unit_test(reboot),	    cmocka_unit_test(spoilt),
		cmocka_unit_test(harmless),	    cmocka_unit_test(useless),
		cmocka_unit_test(mute_and_cleared), cmocka_unit_test(finds_the_speed),
		cmocka_unit_test(three_phases),	    cmocka_unit_test(coarse_register)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Pulse meters: power from edge to edge, energy of the pulses, what is no pulse. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "meterlog.h"
#include "../scratch.h"

#include <math.h>
#include <stdio.h>

#define MS   WW_NS_PER_MS
#define S    WW_NS_PER_S
#define ROWS 4096

enum { POWER, ENERGY, LO, HI };

struct bench {
	struct meterlog log;
	struct ww_interval t[ROWS];
	int64_t code[ROWS][4];
	size_t n;
	int64_t half_ns; /* of an edge's interval */
};

static void on_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct bench *b = ctx;

	ml_reading(&b->log, t, codes);
	assert_true(b->n < ROWS);
	assert_true(t.lo_ns <= t.hi_ns);
	assert_true(!b->n || t.hi_ns >= b->t[b->n - 1].hi_ns);
	b->t[b->n] = t;
	memcpy(b->code[b->n++], codes, sizeof(b->code[0]));
}

static struct ww_meter_out out_of(struct bench *b)
{
	struct ww_meter_out out = ml_out(&b->log);

	out.ctx = b;
	out.reading = on_reading;
	return out;
}

static void until(struct bench *b, int64_t t)
{
	struct ww_meter_out out = out_of(b);

	for (int64_t d; (d = b->log.m->deadline(b->log.state)) <= t;) {
		b->log.now_ns = d > b->log.now_ns ? d : b->log.now_ns;
		b->log.m->tick(b->log.state, b->log.now_ns, &out);
	}
	b->log.now_ns = t;
}

static void start(struct bench *b, const char *options, int64_t every_ns)
{
	struct ww_error err = {0};
	struct ww_meter_out out;
	char uri[128];

	memset(b, 0, sizeof(*b));
	snprintf(uri, sizeof(uri), "s0:gpiochip0/17?%s", options);
	assert_int_equal(ml_open(&b->log, ww_meter_find("s0"), uri, every_ns, &err), 0);
	b->log.now_ns = 1000 * S;
	b->half_ns = 5 * WW_NS_PER_US;
	out = out_of(b);
	b->log.m->start(b->log.state, b->log.now_ns, &out);
}

static void edge(struct bench *b, int64_t at, char level)
{
	struct ww_meter_out out = out_of(b);

	until(b, at);
	b->log.m->feed(b->log.state, (struct ww_interval){at - b->half_ns, at + b->half_ns},
		       (const uint8_t *)&level, 1, &out);
}

static void pulse(struct bench *b, int64_t at, int64_t width)
{
	edge(b, at, '1');
	edge(b, at + width, '0');
}

static void finish(struct bench *b)
{
	struct ww_meter_out out = out_of(b);

	until(b, b->log.now_ns + 2 * S);
	b->log.m->stop(b->log.state, &out);
}

static size_t with_power(const struct bench *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += b->code[i][POWER] != WW_MISSING;
	return n;
}

/* What `pwrlog stat` makes of the readings, J. */
static double stat_energy(struct bench *b, double *by_register, uint64_t *gaps)
{
	const struct ww_source_info info = {.kind = WW_METER,
					    .name = "meter",
					    .uri = "s0:",
					    .driver = "s0",
					    .model = "",
					    .serial = "",
					    .firmware = "",
					    .role = "",
					    .notes = "",
					    .window_ns = b->log.m->desc.window_ns,
					    .transport = {.name = "kernel", .settings = ""}};
	char path[64];
	struct ww_writer *w;
	struct ww_trace *t;
	struct ww_stat *s;
	double e = NAN;

	snprintf(path, sizeof(path), "%s/ww-s0-%d.wwt", scratch(), (int)getpid());
	assert_int_equal(ww_writer_open(path, NULL, &w, NULL), 0);
	assert_int_equal(ww_writer_source(w, &info, NULL), 1);
	for (size_t i = 0; i < 4; i++) {
		struct ww_channel_info c;

		ww_meter_channel(b->log.m, b->log.state, i, &c);
		c.source = 1;
		assert_true(ww_writer_channel(w, &c, NULL) > 0);
	}
	for (size_t i = 0; i < b->n; i++)
		assert_int_equal(ww_writer_samples(w, 1, 1, &b->t[i].lo_ns, &b->t[i].hi_ns,
						   b->code[i], NULL),
				 0);
	assert_int_equal(ww_writer_close(w, NULL), 0);
	assert_int_equal(ww_trace_open(path, &t, NULL), 0);
	assert_int_equal(ww_stat_new(t, NULL, &s, NULL), 0);
	for (size_t i = 0; ww_stat_at(s, i); i++) {
		const struct ww_channel_stat *c = ww_stat_at(s, i);

		if (strcmp(c->name, "meter.power") != 0)
			continue;
		e = c->energy_J.value;
		*by_register = c->register_J.value;
		*gaps = c->gaps;
		assert_true(c->coverage > 0.999);
	}
	ww_stat_free(s);
	ww_trace_close(t);
	unlink(path);
	return e;
}

/* 1 kW on 1000 imp/kWh: a pulse each 3.6 s; then 60 W, a pulse a minute. */
static void power_from_edges(void **state)
{
	struct bench b;
	int64_t at = 1001 * S;

	(void)state;
	start(&b, "imp_per_kwh=1000", 0);
	for (int i = 0; i < 3; i++, at += 3600 * MS)
		pulse(&b, at, 50 * MS);
	assert_int_equal(b.n, 3);
	assert_int_equal(b.code[0][POWER], WW_MISSING);
	assert_int_equal(b.code[0][ENERGY], 0);
	assert_int_equal(b.code[1][POWER], 1000000);
	assert_int_equal(b.code[2][POWER], 1000000);
	assert_int_equal(b.code[2][ENERGY], 2);
	assert_int_equal(b.t[1].lo_ns, 1004600 * MS - b.half_ns);
	/* 10 us between each edge's bounds of 3.6 s: 2.8 ppm to each side. */
	assert_int_equal(b.code[1][LO], 999997);
	assert_int_equal(b.code[1][HI], 1000003);
	pulse(&b, at - 3600 * MS + 60 * S, 50 * MS);
	finish(&b);
	for (size_t i = 3; i < b.n; i++) {
		double age = (double)(b.t[i].lo_ns - b.t[2].hi_ns) / 1e9;

		if (b.code[i][POWER] != WW_MISSING) {
			assert_int_equal(b.code[i][POWER], 60000);
			assert_int_equal(b.code[i][ENERGY], 3);
			break;
		}
		/* On the way there: less and less, and always true. */
		assert_int_equal(b.code[i][LO], 0);
		assert_true(fabs((double)b.code[i][HI] - ceil(3.6e6 / age)) <= 1);
		assert_true(b.code[i][HI] > 60000);
		assert_true(b.code[i][HI] < 1000000 &&
			    (i == 3 || b.code[i][HI] < b.code[i - 1][HI]));
		assert_true(i < b.n - 1);
	}
	assert_int_equal(b.log.events, 0);
	ml_close(&b.log);
}

/* The integral is the energy of the pulses, at any pace, with rounding and with every=. */
static void integral_is_exact(void **state)
{
	static const int64_t every[] = {0, S, 10 * S};

	(void)state;
	for (size_t k = 0; k < WW_COUNTOF(every); k++) {
		uint32_t x = 7;
		uint64_t gaps = 1;
		struct bench b;
		double e, r = NAN;
		int64_t at = 1001 * S, width = k == 1 ? 2 * MS : 30 * MS;

		start(&b, "imp_per_kwh=800&max_watts=50000", every[k]);
		for (int i = 0; i < 1000; i++) {
			pulse(&b, at, width);
			x = x * 1664525u + 1013904223u;
			/* From 0.1 s to 4 minutes, with a jitter of nanoseconds. */
			at += i % 100 == 99 ? 240 * S : i % 10 == 0 ? 20 * S : 100 * MS;
			at += x % 50000000;
		}
		finish(&b);
		e = stat_energy(&b, &r, &gaps);
		assert_int_equal(gaps, 0);
		assert_true(fabs(r - 999 * 4500.0) < 1e-6);
		if (!(fabs(e - 999 * 4500.0) < 0.1))
			fail_msg("%.9g J instead of %.9g", e, 999 * 4500.0);
		assert_true(every[k] ? with_power(&b) < 600 : with_power(&b) == 999);
		ml_close(&b.log);
	}
}

/* An even meter at 1 Hz reads evenly with a tick of 1 s, whatever their phase. */
static void no_dips_at_1hz(void **state)
{
	struct bench b;
	uint32_t x = 3;

	(void)state;
	start(&b, "imp_per_kwh=1000", S);
	for (int i = 0; i < 600; i++) {
		x = x * 1664525u + 1013904223u;
		pulse(&b, 1001 * S + i * S + (int64_t)(x % 200000) - 100000, 40 * MS);
	}
	finish(&b);
	assert_true(with_power(&b) >= 598);
	for (size_t i = 1; i < b.n; i++)
		if (b.code[i][POWER] != WW_MISSING)
			assert_true(llabs(b.code[i][POWER] - 3600000) < 2000);
	ml_close(&b.log);
}

/* A contact that bounces for 3 ms counts once; spikes of 0.2 ms not at all. */
static void bounce(void **state)
{
	struct bench b;

	(void)state;
	start(&b, "imp_per_kwh=1000", 0);
	for (int i = 0; i < 20; i++) {
		int64_t at = 1001 * S + i * 2 * S;

		for (int k = 0; k < 6; k++)
			edge(&b, at + k * 500 * WW_NS_PER_US, k & 1 ? '0' : '1');
		edge(&b, at + 3 * MS, '1');
		for (int k = 0; k < 5; k++)
			edge(&b, at + 60 * MS + k * 500 * WW_NS_PER_US, k & 1 ? '1' : '0');
		edge(&b, at + S, '1');
		edge(&b, at + S + 200 * WW_NS_PER_US, '0');
	}
	finish(&b);
	assert_int_equal(with_power(&b), 19);
	for (size_t i = 1; i < b.n; i++)
		if (b.code[i][POWER] != WW_MISSING)
			assert_int_equal(b.code[i][POWER], 1800000);
	assert_non_null(strstr(ml_text(&b.log), "shorter than min_pulse=1.0 ms"));
	assert_null(strstr(ml_text(&b.log), "max_watts"));
	ml_close(&b.log);
	/* A slow bounce, 20 ms after the pulse's end: sooner than any load allows. */
	start(&b, "imp_per_kwh=1000&max_watts=10000", 0);
	for (int i = 0; i < 10; i++) {
		pulse(&b, 1001 * S + i * 2 * S, 50 * MS);
		pulse(&b, 1001 * S + i * 2 * S + 70 * MS, 5 * MS);
	}
	finish(&b);
	assert_int_equal(with_power(&b), 9);
	assert_non_null(strstr(ml_text(&b.log), "1 pulse left out: sooner than max_watts=10000"));
	assert_non_null(strstr(ml_text(&b.log), "10 pulses left out"));
	ml_close(&b.log);
}

/* LEDs blink for 2 ms; the other way round a line is told, and counts all the same. */
static void led_and_polarity(void **state)
{
	struct bench b;

	(void)state;
	start(&b, "imp_per_kwh=10000", 0);
	for (int i = 0; i < 50; i++)
		pulse(&b, 1001 * S + i * 360 * MS, 2 * MS);
	finish(&b);
	assert_int_equal(with_power(&b), 49);
	assert_int_equal(b.code[20][POWER], 1000000);
	assert_int_equal(b.log.events, 0);
	ml_close(&b.log);
	start(&b, "imp_per_kwh=1000", 0);
	for (int i = 0; i < 10; i++) {
		edge(&b, 1001 * S + i * 3600 * MS, '0');
		edge(&b, 1001 * S + i * 3600 * MS + 90 * MS, '1');
	}
	finish(&b);
	assert_int_equal(with_power(&b), 9);
	assert_int_equal(b.code[3][POWER], 1000000);
	assert_non_null(strstr(ml_text(&b.log), "the other way round"));
	assert_int_equal(b.log.events, 1);
	ml_close(&b.log);
}

/* Lost edges make no reading of half the power: the hole is placed, counting goes on. */
static void lost_edges(void **state)
{
	struct bench b;

	(void)state;
	start(&b, "imp_per_kwh=1000", 0);
	pulse(&b, 1001 * S, 50 * MS);
	pulse(&b, 1003 * S, 50 * MS);
	edge(&b, 1006 * S, 'x');
	pulse(&b, 1007 * S, 50 * MS);
	pulse(&b, 1009 * S, 50 * MS);
	/* Two alike say the same. */
	edge(&b, 1011 * S, '1');
	edge(&b, 1013 * S, '1');
	edge(&b, 1013 * S + 50 * MS, '0');
	pulse(&b, 1015 * S, 50 * MS);
	finish(&b);
	assert_int_equal(b.log.losses, 2);
	assert_non_null(strstr(ml_text(&b.log), "loss 1003000..1007000 ms -1 sequence"));
	for (size_t i = 0; i < b.n; i++)
		if (b.code[i][POWER] != WW_MISSING)
			assert_int_equal(b.code[i][POWER], 1800000);
	ml_close(&b.log);
}

/* A debounced line's edges are known to 100 ms only, and the readings say so. */
static void wide_edges(void **state)
{
	struct bench b;

	(void)state;
	start(&b, "imp_per_kwh=1000", 0);
	b.half_ns = 50 * MS;
	pulse(&b, 1001 * S, 60 * MS);
	pulse(&b, 1003 * S, 60 * MS);
	finish(&b);
	assert_int_equal(with_power(&b), 1);
	assert_int_equal(b.code[1][POWER], 1800000);
	assert_int_equal(b.code[1][LO], (int64_t)floor(3.6e6 / 2.1));
	assert_int_equal(b.code[1][HI], (int64_t)ceil(3.6e6 / 1.9));
	ml_close(&b.log);
}

static void nothing_wired(void **state)
{
	struct bench b;

	(void)state;
	start(&b, "imp_per_kwh=1000", 0);
	until(&b, 3000 * S);
	assert_int_equal(b.n, 0);
	assert_int_equal(b.log.events, 3);
	assert_non_null(
		strstr(ml_text(&b.log), "no pulse in 1000 s since the start: less than 3.6 W"));
	ml_close(&b.log);
}

static void refusals(void **state)
{
	static const struct {
		const char *uri, *says;
	} rows[] = {{"s0:gpiochip0/17", "imp_per_kwh= is needed"},
		    {"s0:gpiochip0/17?imp_per_kwh=0", "imp_per_kwh"},
		    {"s0:gpiochip0/17?imp_per_kwh=1e9", "imp_per_kwh"},
		    {"s0:gpiochip0/17?imp_per_kwh=1000&max_watts=-1", "max_watts"},
		    {"s0:gpiochip0/17?imp_per_kwh=1000&min_pulse=1s", "min_pulse"}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct ww_error err = {0};
		struct meterlog l;

		assert_int_equal(ml_open(&l, ww_meter_find("s0"), rows[i].uri, 0, &err), -EINVAL);
		assert_non_null(strstr(err.text, rows[i].says));
		ml_close(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(power_from_edges), cmocka_unit_test(integral_is_exact),
		cmocka_unit_test(no_dips_at_1hz),   cmocka_unit_test(bounce),
		cmocka_unit_test(led_and_polarity), cmocka_unit_test(lost_edges),
		cmocka_unit_test(wide_edges),	    cmocka_unit_test(nothing_wired),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

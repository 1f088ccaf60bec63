/* SPDX-License-Identifier: MIT */
/* PPK2: its dialogue, its law, its counter, its clock, and each fault of its model. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "meter/ppk2.h"
#include "goldenframes.h"
#include "meterbench.h"

#define MS  WW_NS_PER_MS
#define SEC WW_NS_PER_S
#define HAS(b, text)                                                                               \
	do {                                                                                       \
		if (!strstr(ml_text(&(b)->log), text))                                             \
			fail_msg("no \"%s\"", text);                                               \
	} while (0)

/* Of a long stream: what the rows would not hold. */
struct tally {
	struct ww_interval first, last;
	size_t n, missing;
	double min, max, sum;
	bool backwards, uneven;
	int64_t widest;
	int64_t lost, losses;
	struct ww_interval loss;
	char why[80];
	double logic;
	int64_t shift; /* greatest |time - truth| beyond the interval */
	int64_t t0;    /* of sample 0, when known */
};

static struct tally tally;
static double scale;

static void on_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct tally *y = &tally;
	double v = (double)codes[0] * scale;

	(void)ctx;
	if (!y->n)
		y->first = t;
	y->backwards |= y->n && (t.lo_ns < y->last.lo_ns || t.hi_ns < y->last.hi_ns);
	assert_true(t.lo_ns <= t.hi_ns);
	if (t.hi_ns - t.lo_ns > y->widest)
		y->widest = t.hi_ns - t.lo_ns;
	y->last = t;
	if (codes[0] < WW_CODE_MIN)
		y->missing++;
	else if (y->n++ == 0 || v < y->min)
		y->min = v;
	if (codes[0] >= WW_CODE_MIN && (y->n == 1 || v > y->max))
		y->max = v;
	y->sum += codes[0] >= WW_CODE_MIN ? v : 0;
}

static void on_loss(void *ctx, struct ww_interval t, int64_t lost, const char *reason)
{
	(void)ctx;
	tally.losses++;
	tally.lost += lost;
	tally.loss = t;
	assert_true(t.lo_ns <= t.hi_ns);
	snprintf(tally.why, sizeof(tally.why), "%s", reason);
}

static struct ww_meter_out out_of(struct meterbench *b)
{
	struct ww_meter_out out = mb_out(b);

	out.reading = on_reading;
	out.loss = on_loss;
	return out;
}

/* As mb_until(), with a tally instead of rows: it is turned 100 000 times a second. */
static void run_until(struct meterbench *b, int64_t t_ns)
{
	struct ww_meter_out out = out_of(b);
	const struct emu_out eo = {.ctx = b, .send = mb_emit};

	for (;;) {
		int64_t d = b->log.m->deadline(b->log.state);
		int64_t e = b->model->due(b->meter);
		int64_t q = b->queued ? b->queue[mb_first(b)].at : WW_TIME_MAX;

		if (q <= d && q <= e && q <= t_ns) {
			size_t i = mb_first(b);
			struct mb_msg m = b->queue[i];

			memmove(b->queue + i, b->queue + i + 1, (--b->queued - i) * sizeof(m));
			b->log.now_ns = m.at > b->log.now_ns ? m.at : b->log.now_ns;
			b->log.m->feed(b->log.state,
				       (struct ww_interval){b->log.now_ns - MS / 2, b->log.now_ns},
				       m.p, m.n, &out);
			free(m.p);
			mb_deliver(b);
		} else if (d <= e && d <= t_ns) {
			b->log.now_ns = d > b->log.now_ns ? d : b->log.now_ns;
			b->log.m->tick(b->log.state, b->log.now_ns, &out);
			mb_deliver(b);
		} else if (e <= t_ns) {
			b->log.now_ns = e > b->log.now_ns ? e : b->log.now_ns;
			b->model->tick(b->meter, b->log.now_ns, &eo);
		} else {
			break;
		}
	}
	b->log.now_ns = t_ns;
}

static struct meterbench *bench(const char *uri, int64_t every, const char *fault, double amps)
{
	struct meterbench *b = malloc(sizeof(*b));
	struct emu_setup s = {.volts = 3, .amps = amps, .pf = 1, .fault = fault, .seed = 7};
	struct ww_channel_info ch;

	assert_non_null(b);
	mb_open(b, "ppk2", uri, every, &s);
	tally = (struct tally){.t0 = 0};
	ww_meter_channel(b->log.m, b->log.state, 0, &ch);
	scale = ch.scale;
	return b;
}

static void done(struct meterbench *b)
{
	mb_close(b);
	free(b);
}

static void for_ns(struct meterbench *b, int64_t ns)
{
	run_until(b, b->log.now_ns + ns);
}

/* The worked words of the protocol, with the defaults. */
static void golden(void **unused)
{
	struct golden g = golden_find("ppk2.samples"), v = golden_find("ppk2.set3300mV");
	struct ww_ppk2_cal cal;
	struct ww_ppk2_amps a;
	struct meterbench *b;

	(void)unused;
	ww_ppk2_defaults(&cal);
	ww_ppk2_amps_init(&a, &cal, 3000, true);
	for (size_t i = 0; i < g.n; i += 4) {
		uint32_t w = (uint32_t)g.p[i] | (uint32_t)g.p[i + 1] << 8 |
			     (uint32_t)g.p[i + 2] << 16 | (uint32_t)g.p[i + 3] << 24;

		assert_int_equal(ww_ppk2_counter(w), i / 4);
		/* The default gain makes 8.659175 mA of it, and GS = 1 adds its square. */
		assert_true(fabs(ww_ppk2_amps(&a, w) - (8.659175e-3 + 8.659175e-3 * 8.659175e-3)) <
			    1e-8);
	}
	b = bench("ppk2:/dev/x?volts=3.3&mode=source&power=on", 0, NULL, 5e-3);
	for_ns(b, SEC);
	assert_memory_equal(v.p, "\x0d\x0c\xe4", 3);
	HAS(b, "send \\x0d\\x0c\\xe4\nsend \\x11\\x02\nsend \\x0c\\x01\nsend \\x06\n");
	done(b);
}

/* What feeds the DUT is touched on request only. */
static void supply_is_left_alone(void **unused)
{
	struct meterbench *b = bench("ppk2:/dev/x?volts=3.0", 0, NULL, 5e-3);
	struct ww_meter_out out = mb_out(b);
	struct ww_error err = {0};
	struct meterlog l;

	(void)unused;
	for_ns(b, SEC);
	b->log.m->stop(b->log.state, &out);
	if (strstr(ml_text(&b->log), "send \\x0c") || strstr(ml_text(&b->log), "send \\x11") ||
	    strstr(ml_text(&b->log), "send \\x0d"))
		fail_msg("%s", ml_text(&b->log));
	HAS(b, "send \\x07\nsend \\x19\n");
	done(b);
	b = bench("ppk2:/dev/x?volts=2&mode=ampere&power=while", 0, NULL, 5e-3);
	for_ns(b, SEC);
	HAS(b, "send \\x11\\x01\nsend \\x0c\\x01\nsend \\x06\n");
	out = mb_out(b);
	b->log.m->stop(b->log.state, &out);
	HAS(b, "send \\x07\nsend \\x0c\\x00\n");
	done(b);
	assert_int_equal(ml_open(&l, ww_meter_find("ppk2"), "ppk2:/dev/x?mode=source", 0, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "volts="));
	ml_close(&l);
	/* Volts that cannot be those of its own supply are told. */
	b = bench("ppk2:/dev/x?volts=1.8", 0, NULL, 5e-3);
	for_ns(b, SEC);
	HAS(b, "its own supply is set to 3.000 V");
	done(b);
}

static void values_in_all_ranges(void **unused)
{
	static const double amps[] = {2e-6, 30e-6, 200e-6, 3e-3, 30e-3, 300e-3};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(amps); i++) {
		struct meterbench *b =
			bench("ppk2:/dev/x?volts=3&mode=source&power=on", 0, NULL, amps[i]);

		assert_int_equal(b->log.channels, 2);
		for_ns(b, SEC);
		assert_true(tally.n > 50000);
		/* A step of its converter: of the largest range half a milliampere. */
		assert_true(fabs(tally.sum / (double)tally.n / 3 - amps[i]) < amps[i] / 100 + 3e-8);
		assert_int_equal(tally.losses + (int64_t)b->log.fails, 0);
		done(b);
	}
}

/* Times: 10 us apart, never back, and the truth lies in the interval. */
static void times(void **unused)
{
	struct meterbench *b = bench("ppk2:/dev/x", 0, NULL, 1e-3);
	int64_t begun;
	size_t n;

	(void)unused;
	assert_int_equal(b->log.channels, 1);
	for_ns(b, SEC);
	n = tally.n;
	begun = tally.last.hi_ns;
	for_ns(b, 2 * SEC);
	assert_int_equal(tally.n - n, 200000);
	assert_false(tally.backwards);
	assert_true(llabs(tally.last.hi_ns - begun - 2 * SEC) < 200 * WW_NS_PER_US);
	/* The model sends each millisecond what it made in it: the last was made just now. */
	assert_true(tally.last.hi_ns >= b->log.now_ns - 2 * MS);
	assert_true(tally.last.lo_ns <= b->log.now_ns);
	assert_true(tally.widest < 8 * MS);
	done(b);
}

static void means(void **unused)
{
	struct meterbench *b = bench("ppk2:/dev/x?volts=3&logic=1", 10 * MS, "ranges", 4e-3);

	(void)unused;
	assert_int_equal(b->log.channels, 3);
	assert_int_equal(b->log.period_ns, 10 * MS);
	for_ns(b, 2 * SEC);
	assert_true(tally.n > 150 && tally.n < 200);
	/* 5 ms of 1 uA, 5 ms of 4 mA, less what the bridge of a change of range takes. */
	assert_true(fabs(tally.sum / (double)tally.n - 6e-3) < 2e-4);
	done(b);
}

static void counted_losses(void **unused)
{
	static const struct {
		const char *fault;
		int64_t each, per_s;
	} rows[] = {{"loss", 5, 4}, {"bigloss", 40, 1}};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct meterbench *b = bench("ppk2:/dev/x", 0, rows[i].fault, 1e-3);
		int64_t before, after;
		size_t n;

		for_ns(b, SEC);
		before = tally.lost;
		after = tally.last.hi_ns;
		n = tally.n;
		for_ns(b, 4 * SEC);
		assert_int_equal(tally.lost - before, 4 * rows[i].each * rows[i].per_s);
		assert_int_equal((int64_t)(tally.n - n) + tally.lost - before, 400000);
		/* Each is as long as what it lost, and time does not slip because of it. */
		assert_true(llabs(tally.last.hi_ns - after - 4 * SEC) < 300 * WW_NS_PER_US);
		assert_string_equal(tally.why, "lost by the counter");
		assert_false(tally.backwards);
		assert_true(tally.loss.hi_ns - tally.loss.lo_ns <= rows[i].each * 10000 + 10 * MS);
		done(b);
	}
}

/* Exactly 64: the counter says nothing, the time does. */
static void invisible_loss(void **unused)
{
	struct meterbench *b = bench("ppk2:/dev/x", 0, "loss64", 1e-3);

	(void)unused;
	for_ns(b, 12 * SEC);
	assert_true(tally.lost >= 64 * 8 && tally.lost <= 64 * 12);
	assert_int_equal(tally.lost % 64, 0);
	assert_non_null(strstr(tally.why, "by the time"));
	assert_true(b->log.now_ns - tally.last.hi_ns < 4 * MS);
	done(b);
}

static void odd_words(void **unused)
{
	struct meterbench *b = bench("ppk2:/dev/x", 0, "odd", 1e-3);
	size_t n;

	(void)unused;
	for_ns(b, SEC);
	n = tally.n;
	for_ns(b, 2 * SEC);
	assert_int_equal(tally.lost, 0);
	assert_int_equal(tally.n - n, 200000);
	HAS(b, "3 words with a wrong counter, none lost");
	done(b);
}

static void byte_slip(void **unused)
{
	struct meterbench *b = bench("ppk2:/dev/x", 0, "slip", 1e-3);
	double lo, hi;

	(void)unused;
	for_ns(b, 3 * SEC);
	assert_int_equal(tally.losses, 1);
	assert_string_equal(tally.why, "bytes were lost");
	assert_int_equal(tally.lost, 1);
	lo = tally.min;
	hi = tally.max;
	/* Nothing of what stood askew became a value. */
	assert_true(lo > 0.9e-3 && hi < 1.1e-3);
	assert_true(tally.n > 200000);
	done(b);
}

static void backlog(void **unused)
{
	struct meterbench *b = bench("ppk2:/dev/x", 0, "backlog", 1e-3);
	size_t n;

	(void)unused;
	for_ns(b, SEC);
	n = tally.n;
	/* Intervals get narrow in a fraction of a second, without a jump of the times. */
	tally.widest = 0;
	for_ns(b, 5 * SEC);
	assert_int_equal(tally.lost, 0);
	assert_true(tally.n - n > 480000);
	assert_false(tally.backwards);
	HAS(b, "samples wait up to ");
	/* The last of each hundred came at once: it tells of all. */
	assert_true(tally.widest < 20 * MS);
	assert_true(tally.last.lo_ns <= b->log.now_ns);
	assert_true(tally.last.hi_ns >= b->log.now_ns - 102 * MS);
	done(b);
}

static void calibrations(void **unused)
{
	static const char *const faults[] = {"nan", "rzero", "old", "noend", "slow", "streaming"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		struct meterbench *b = bench("ppk2:/dev/x", 0, faults[i], 3e-3);

		for_ns(b, 5 * SEC);
		if (tally.n < 100000)
			fail_msg("%s: %zu samples\n%s", faults[i], tally.n, ml_text(&b->log));
		if (fabs(tally.sum / (double)tally.n - 3e-3) > 3e-5)
			fail_msg("%s: %g A", faults[i], tally.sum / (double)tally.n);
		if (strcmp(faults[i], "nan") == 0)
			HAS(b, "values of its calibration are none (R2: -nan): defaults");
		if (strcmp(faults[i], "rzero") == 0)
			HAS(b, "(R0: 0.0000): defaults");
		if (strcmp(faults[i], "noend") == 0)
			HAS(b, "came without an end");
		assert_int_equal(b->log.fails, 0);
		done(b);
	}
}

static void mute_then_asked_again(void **unused)
{
	struct meterbench *b = bench("ppk2:/dev/x", 0, "mute", 1e-3);

	(void)unused;
	for_ns(b, 10 * SEC);
	assert_true(tally.losses >= 2);
	assert_string_equal(tally.why, "silent");
	assert_int_equal(b->log.fails, 0);
	/* Started anew, it gives another second. */
	assert_true(tally.n > 150000);
	assert_false(tally.backwards);
	done(b);
}

static void wrong_devices(void **unused)
{
	static const struct {
		const char *fault, *says;
	} rows[] = {{"silent", "nothing at all came"},
		    {"wrong", "bytes came: '#d,-,18,"},
		    {"garbage", "no calibration in answer"}};
	struct golden g;
	struct meterlog l;
	struct ww_error err = {0};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct meterbench *b = bench("ppk2:/dev/x", 0, rows[i].fault, 1e-3);

		for_ns(b, 60 * SEC);
		assert_int_equal(b->log.fails, 1);
		HAS(b, rows[i].says);
		assert_int_equal(tally.n, 0);
		done(b);
	}
	/* What other meters say is neither calibration nor sample. */
	assert_int_equal(ml_open(&l, ww_meter_find("ppk2"), "ppk2:/dev/x", 0, &err), 0);
	ml_start(&l);
	for (size_t i = 0; golden_at(i, &g); i++) {
		ml_until(&l, l.now_ns + 20 * MS);
		ml_feed(&l, g.p, g.n);
	}
	assert_int_equal(l.given, 0);
	ml_close(&l);
}

/* However the stream is cut into reads, the same comes out of it. */
static void any_split(void **unused)
{
	uint8_t p[4 * 300];
	size_t given = 0;

	(void)unused;
	for (unsigned i = 0; i < 300; i++) {
		/* Twenty are lost, one is odd. */
		unsigned c = i < 100 ? i : i + 20, odd = i == 200 ? 9 : 0;
		uint32_t w = 2000u | 2u << 14 | ((c + odd) & 63) << 18;

		for (int k = 0; k < 4; k++)
			p[4 * i + (unsigned)k] = (uint8_t)(w >> 8 * k);
	}
	for (size_t chunk = 1; chunk < 64; chunk++) {
		struct meterlog l;
		struct ww_meter_out out;
		struct ww_error err = {0};

		assert_int_equal(ml_open(&l, ww_meter_find("ppk2"), "ppk2:/dev/x", 0, &err), 0);
		out = ml_out(&l);
		tally = (struct tally){.t0 = 0};
		out.loss = on_loss;
		ml_start(&l);
		ml_until(&l, 200 * MS);
		ml_say(&l, "R0: 1000\nVDD: 3000\nEND\n");
		for (size_t at = 0; at < sizeof(p); at += chunk)
			l.m->feed(l.state, (struct ww_interval){l.now_ns, l.now_ns}, p + at,
				  sizeof(p) - at < chunk ? sizeof(p) - at : chunk, &out);
		assert_int_equal(tally.lost, 20);
		assert_int_equal(l.given, 300);
		assert_true(chunk == 1 || l.given == given);
		given = l.given;
		ml_close(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
		cmocka_unit_test(supply_is_left_alone),
		cmocka_unit_test(values_in_all_ranges),
		cmocka_unit_test(times),
		cmocka_unit_test(means),
		cmocka_unit_test(counted_losses),
		cmocka_unit_test(invisible_loss),
		cmocka_unit_test(odd_words),
		cmocka_unit_test(byte_slip),
		cmocka_unit_test(backlog),
		cmocka_unit_test(calibrations),
		cmocka_unit_test(mute_then_asked_again),
		cmocka_unit_test(wrong_devices),
		cmocka_unit_test(any_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

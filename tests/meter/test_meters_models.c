/* SPDX-License-Identifier: MIT */
/*
 * What must hold for every driver that has a model of its meter, with each fault that the
 * model knows; new rows of both tables are tested at once.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "meterbench.h"

/* A meter of 100 000 readings a second needs no 20 s to show what it does. */
static int64_t long_enough(const struct meterbench *b)
{
	return b->log.period_ns < WW_NS_PER_MS ? 1500 * WW_NS_PER_MS : 20 * WW_NS_PER_S;
}

static struct emu_setup load(const char *fault)
{
	return (struct emu_setup){.volts = 5,
				  .amps = 0.5,
				  .pf = 1,
				  .hz = 50,
				  .wh = 12.5,
				  .fault = fault,
				  .address = 1,
				  .seed = 7};
}

static bool both(const struct emu_model *m)
{
	const struct ww_meter_ops *d = ww_meter_find(m->name);

	return d && !d->desc.left_out;
}

/* A PPK2 is told the voltage: that of its example. */
static void open_bench(struct meterbench *b, const struct emu_model *m, const char *fault)
{
	struct emu_setup s = load(fault);

	if (strcmp(m->name, "ppk2") == 0)
		s.volts = 3.3;

	mb_open(b, m->name, NULL, 0, &s);
	b->quiet = b->log.period_ns < WW_NS_PER_MS;
}

static void near(const struct meterbench *b, const char *name, double truth)
{
	for (size_t c = 0; c < b->log.channels; c++) {
		struct ww_channel_info ch;
		double got, off;

		ww_meter_channel(b->log.m, b->log.state, c, &ch);
		if (strcmp(ch.name, name) != 0)
			continue;
		got = mb_value(b, b->rows - 1, name);
		off = fabs(got - truth);
		if (!(off <= 0.01 * fabs(truth) || off <= 1.001 * ch.resolution))
			fail_msg("%s: %s is told as %g and is %g", b->model->name, name, got,
				 truth);
	}
}

/* Without a fault it reads what is there, all the time, and says nothing else. */
static void reads_the_truth(void **unused)
{
	static struct meterbench b;

	(void)unused;
	for (size_t i = 0; emu_models[i]; i++) {
		const struct emu_model *m = emu_models[i];
		double v[4];

		if (!both(m))
			continue;
		open_bench(&b, m, NULL);
		mb_for(&b, long_enough(&b));
		if (b.log.fails || b.log.losses || !b.rows)
			fail_msg("%s: %s", m->name, ml_text(&b.log));
		/* At its own pace: of 20 s it may miss the first two. */
		assert_true((double)b.log.given >=
			    0.85 * (double)(long_enough(&b) / b.log.period_ns) - 2);
		m->truth(b.meter, b.log.now_ns, v);
		near(&b, "voltage", v[0]);
		near(&b, "current", v[1]);
		near(&b, "power", v[2]);
		for (size_t r = 1; r < b.rows; r++)
			assert_true(b.row[r].t.hi_ns >= b.row[r - 1].t.hi_ns &&
				    b.row[r].t.lo_ns <= b.row[r].t.hi_ns);
		mb_close(&b);
	}
}

static void one_fault(struct meterbench *b, const struct emu_model *m, const char *fault)
{
	open_bench(b, m, fault);
	for (int64_t end = b->log.now_ns + long_enough(b); b->log.now_ns < end && !b->log.fails;)
		mb_for(b, 100 * WW_NS_PER_MS);
	/* Told once, with a way out; or it goes on. */
	if (b->log.fails > 1)
		fail_msg("%s with fault %s: %s", m->name, fault, ml_text(&b->log));
	if (!b->log.fails && b->log.m->deadline(b->log.state) <= b->log.now_ns)
		fail_msg("%s with fault %s: a deadline that has passed", m->name, fault);
	mb_close(b);
}

/* No fault of a meter hangs or crashes its driver. */
static void every_fault(void **unused)
{
	static struct meterbench b;

	(void)unused;
	for (size_t i = 0; emu_models[i]; i++) {
		const struct emu_model *m = emu_models[i];
		char list[1024], *save = NULL;

		if (!both(m))
			continue;
		snprintf(list, sizeof(list), "%s", m->faults);
		for (char *f = strtok_r(list, " ", &save); f; f = strtok_r(NULL, " ", &save))
			one_fault(&b, m, f);
	}
}

/* However a stream is cut into reads, the same comes out of it. */
static void cuts(void **unused)
{
	static const size_t cut[] = {1, 2, 3, 7, 61};
	static struct meterbench whole, b;

	(void)unused;
	for (size_t i = 0; emu_models[i]; i++) {
		const struct emu_model *m = emu_models[i];
		int64_t ns;

		if (!both(m) || m->wire != EMU_STREAM)
			continue;
		open_bench(&whole, m, NULL);
		whole.quiet = false;
		ns = long_enough(&whole) < 5 * WW_NS_PER_S ? 300 * WW_NS_PER_MS : 5 * WW_NS_PER_S;
		mb_for(&whole, ns);
		for (size_t k = 0; k < WW_COUNTOF(cut); k++) {
			open_bench(&b, m, NULL);
			b.quiet = false;
			b.cut = cut[k];
			mb_for(&b, ns);
			if (strcmp(ml_text(&b.log), ml_text(&whole.log)) != 0)
				fail_msg("%s: another result of pieces of %zu bytes", m->name,
					 cut[k]);
			mb_close(&b);
		}
		assert_true(whole.log.given > 0);
		mb_close(&whole);
	}
}

/* After its stop nothing is sent, given or waited for, whatever still arrives. */
static void stopped_is_still(void **unused)
{
	static struct meterbench b;

	(void)unused;
	for (size_t i = 0; emu_models[i]; i++) {
		struct ww_meter_out out;

		if (!both(emu_models[i]))
			continue;
		open_bench(&b, emu_models[i], NULL);
		/* In the middle of something, whatever it is. */
		mb_for(&b, WW_NS_PER_S + 3 * WW_NS_PER_MS);
		out = mb_out(&b);
		b.log.m->stop(b.log.state, &out);
		mb_deliver(&b);
		ml_clear(&b.log);
		b.quiet = false;
		mb_for(&b, 500 * WW_NS_PER_MS);
		assert_string_equal(ml_text(&b.log), "");
		assert_int_equal(b.log.m->deadline(b.log.state), WW_TIME_MAX);
		mb_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_truth),
		cmocka_unit_test(every_fault),
		cmocka_unit_test(cuts),
		cmocka_unit_test(stopped_is_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

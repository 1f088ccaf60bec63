/* SPDX-License-Identifier: MIT */
/* Cycles of a heartbeat beside a meter that reads once a second: slower than a transition. */
#include "cycles.h"
#include "base/base.h"

#include <math.h>

#undef S
#define S INT64_C(1000000000)

#define CYCLES 8

/* True power at t. */
static double truth(const struct sim *s, int64_t t)
{
	for (size_t i = 0; i < s->sleeps; i++) {
		const struct sim_sleep *z = &s->sleep[i];

		if (t >= z->sleep && t < z->wake)
			return 1;
		if (t >= z->freeze - 30 * MS && t < z->thaw)
			return 25;
	}
	return 20;
}

static void suspend_often(struct sim *s)
{
	int64_t at = s->start + 15 * S + 300 * MS;

	for (int i = 0; i < CYCLES; i++) {
		sim_suspend(s, at, 2000 + 1370 * (i * 5 % CYCLES), 500);
		at += 30 * S + 170 * MS;
	}
	s->end = at;
	sim_run(s);
}

static void with_meter(void **state)
{
	struct ww_source_info meter = sim_source("meter", WW_METER, "wattsup:/dev/x");
	struct ww_channel_info power = {.name = "power",
					.quantity = "power",
					.unit = "W",
					.semantics = WW_AVERAGE,
					.scale = 0.001,
					.resolution = 0.001};
	struct ww_suspend_fit f;
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	struct sim_trace tr;
	struct sim s;
	double e_tr;
	int id;

	(void)state;
	sim_init(&s);
	suspend_often(&s);
	sim_open(&tr);
	meter.period_ns = meter.window_ns = S;
	power.source = (uint32_t)(id = ww_writer_source(tr.w, &meter, NULL));
	assert_true(ww_writer_channel(tr.w, &power, NULL) > 0);
	sim_store(&s, &tr);
	for (int64_t b = s.start; b + S < s.end; b += S) {
		double sum = 0;
		int64_t hi = b + S, code;

		for (int k = 0; k < 1000; k++)
			sum += truth(&s, b + k * MS) / 1000;
		code = (int64_t)llround(sum * 1000);
		assert_int_equal(ww_writer_samples(tr.w, (uint32_t)id, 1, &hi, &hi, &code, NULL),
				 0);
	}
	for (uint32_t i = 0; i < CYCLES; i++)
		cycle_marks(&tr, &s.sleep[i], i + 1);
	sim_close(&tr);
	if (ww_trace_open(tr.path, &t, &err) < 0 || ww_suspend_fit(t, NULL, NULL, &f, &err) < 0)
		fail_msg("%s", err.text);
	unlink(tr.path);
	ww_trace_close(t);
	assert_int_equal(f.from_beats, 1);
	assert_int_equal(f.cycles, CYCLES);
	assert_true(fabs(f.idle_watts.value - 20) < 0.01);
	assert_true(fabs(f.suspended_watts.value - 1) < 2 * f.suspended_watts.u + 0.02);
	/* 0.09 s in, 0.52 s out. The first beat comes some ms after the thaw. */
	e_tr = 24 * (0.09 + 0.52);
	assert_true(fabs(f.transition_J.value - e_tr) < 2 * f.transition_J.u + 0.5);
	assert_true(f.transition_J.u < 2);
	assert_true(fabs(f.resume_s.value - 0.53) < 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(with_meter)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

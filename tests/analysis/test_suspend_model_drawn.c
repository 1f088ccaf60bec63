/* SPDX-License-Identifier: MIT */
/* The suspend model: policies against drawn gaps, and what was not given. */
#include "olpc.h"

/*
 * Time asleep under a random time-out, drawn: of gap g and time-out t the transitions take
 * .65 s of what follows t, and what is shorter than that has none.
 */
static void test_random_asleep(void **state)
{
	static const double alpha[] = {1.1, 1.3, 1.5, 3, 0};

	(void)state;
	for (size_t k = 0; k < WW_COUNTOF(alpha); k++) {
		struct ww_suspend_options o = olpc();
		struct ww_suspend_model *m;
		double asleep = 0, all = 0;

		o.gaps = alpha[k] > 0 ? WW_GAPS_PARETO : WW_GAPS_EXPONENTIAL;
		o.gap_least = 0.1;
		o.gap_alpha = alpha[k];
		o.gap_most = 100;
		o.gap_mean = 0.5;
		m = make(&o);
		seed = 11;
		for (int i = 0; i < 400000; i++) {
			double g = alpha[k] > 0 ? fmin(100, 0.1 * pow(uniform(), -1 / alpha[k]))
						: -0.5 * log(uniform());
			double t = m->power.edge * log(1 + uniform() * (M_E - 1));

			asleep += fmax(0, g - t - 0.65);
			all += g;
		}
		CLOSE(ww_suspend_model_policy(m, WW_POLICY_RANDOM)->suspended_part, asleep / all,
		      0.01);
		ww_suspend_model_free(m);
	}
}

/* One of both latencies alone: the other is not known, which is said. */
static void test_one_latency(void **state)
{
	struct ww_suspend_options o = olpc();
	struct ww_suspend_model *m;
	bool said = false;

	(void)state;
	o.resume_s.value = 0;
	m = make(&o);
	for (size_t i = 0; ww_suspend_model_note(m, i); i++)
		said = said || strstr(ww_suspend_model_note(m, i), "the time to resume is not");
	assert_true(said);
	ww_suspend_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_asleep),
					   cmocka_unit_test(test_one_latency)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

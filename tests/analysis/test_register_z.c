/* SPDX-License-Identifier: MIT */
/* An integral against the meter's own register: the worked number of the method. */
#include "analysis/stat.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* 598.7 +- 0.9 Wh beside 600 Wh in steps of 10 Wh: 4.08 Wh of rounding, z = -0.31. */
static void test_worked(void **state)
{
	(void)state;
	assert_true(fabs(10 / sqrt(6) - 4.08248290463863) < 1e-13);
	assert_true(fabs(ww_register_z(598.7, 0.9, 600, 10, 1) + 0.31096681878930277) < 1e-12);
	/* Whatever the unit; and with more stretches there is more rounding. */
	assert_true(fabs(ww_register_z(598.7 * 3600, 0.9 * 3600, 600 * 3600, 36000, 1) +
			 0.31096681878930277) < 1e-12);
	assert_true(fabs(ww_register_z(598.7, 0.9, 600, 10, 4)) < 0.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_worked)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* An Eastron that has only begun to count. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "meterbench.h"

static struct meterbench b;

/* One second old, at 1 W: the register of energy holds no more than 3e-7 kWh. */
static void just_begun(void **unused)
{
	static const struct emu_setup setup = {
		.volts = 230, .amps = 0.004, .pf = 1, .hz = 50, .wh = 2e-8};

	(void)unused;
	mb_open(&b, "sdm230", NULL, 0, &setup);
	mb_for(&b, 5 * WW_NS_PER_S);
	assert_true(!b.log.fails && b.rows >= 4);
	mb_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(just_begun)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Each allocation at the opening of a USB port fails once: it is said, and nothing is left. */
#include <stdbool.h>

static int left = -1; /* so many succeed, then one fails; -1 all do */

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"
#include "porttest.h"

#ifdef WW_WITH_USB

#include "fakeusb.h"

static void fail_each(const char *place)
{
	struct got g = {0};
	int rc = -1, n = 0;

	assert_int_equal(open_place(&g, place, NULL), 0);
	ww_port_close(g.port);
	for (; rc < 0; n++) {
		g.port = NULL;
		assert_true(n < 1000);
		left = n;
		rc = open_place(&g, place, NULL);
		left = -1;
		if (rc < 0) {
			/* A folder that cannot be read for want of memory is as one without it. */
			assert_true(g.err.code == rc && g.err.text[0]);
			assert_int_equal(dev.n_flying, 0);
			assert_int_equal(dev.n_alive, 0);
		}
	}
	assert_true(n > 10);
	ww_port_close(g.port);
	g.port = NULL;
	got_close(&g);
}

static void test_usb(void **state)
{
	(void)state;
	fail_each("usb:");
}

static void test_tmc(void **state)
{
	(void)state;
	fail_each("usbtmc:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_usb, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tmc, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("1..0 # SKIP built without libusb");
	return 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Each allocation on the way to a loopback fails once: it is said, and nothing is left. */
#include "bus/portcal.h"
#include "../scratch.h"

#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <termios.h>
#include <cmocka.h>

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static void opening(void **state)
{
	struct ww_loopback *l = NULL;
	int master, slave, n = 0, rc = -ENOMEM;
	struct termios raw;
	char name[64];

	(void)state;
	assert_int_equal(openpty(&master, &slave, name, NULL, NULL), 0);
	assert_int_equal(tcgetattr(slave, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
	for (; rc < 0; n++) {
		struct ww_error err = {0};

		assert_true(n < 1000);
		left = n;
		rc = ww_loopback_new(name, NULL, &l, &err);
		left = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_int_equal(err.code, rc);
		assert_true(rc == 0 || !l);
	}
	assert_true(n > 5);
	ww_loopback_free(l);
	close(master);
	close(slave);
}

static void storing(void **state)
{
	const struct ww_portcal c = {.adapter = "usb:1:2:3:0",
				     .driver = "cdc",
				     .baud = 9600,
				     .latency_ms = -1,
				     .bytes = 300,
				     .delay_max_ns = 1000,
				     .date = "2026-11-30"};
	char dir[64], path[300] = "";
	int n = 0, rc = -ENOMEM;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/ww-alloc-%d", scratch(), (int)getpid());
	setenv("WAKEWATT_STATE", dir, 1);
	for (; rc < 0; n++) {
		left = n;
		rc = ww_portcal_store(&c, path, sizeof(path), NULL);
		left = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_true(rc == 0 || access(path, F_OK) != 0);
	}
	assert_true(n > 1);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening),
		cmocka_unit_test(storing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

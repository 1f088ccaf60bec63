/* SPDX-License-Identifier: MIT */
/* A folder as a port, each allocation failing once: said, and nothing is left behind. */
#include "bus/port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "../scratch.h"

static int left = -1; /* allocations until one fails; -1 none */

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static void no_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	(void)ctx;
	(void)t;
	(void)data;
	(void)n;
}

static void no_loss(void *ctx, const struct ww_error *err)
{
	(void)ctx;
	(void)err;
}

static int open_and_close(struct ww_loop *l, const char *place, struct ww_error *err)
{
	char memory[WW_PORT_MEMORY] = "";
	const struct ww_port_setup s = {.loop = l,
					.place = place,
					.memory = memory,
					.ev = {.bytes = no_bytes, .lost = no_loss}};
	struct ww_port *p = NULL;
	int rc = ww_port_open_setup(&s, &p, err);

	if (rc == 0)
		rc = ww_port_write(p, "power1_input", 12, err);
	ww_port_close(p);
	return rc;
}

static void each(void **state)
{
	static const char *const kinds[] = {"files:", "iio:"};
	char dir[64], place[96], cmd[400];
	struct ww_loop *l;
	int late = 0;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/ww_fa_XXXXXX", scratch());
	assert_non_null(mkdtemp(dir));
	snprintf(cmd, sizeof(cmd), "echo ina226 > %s/name; echo 5 > %s/power1_input; mkdir %s/sub",
		 dir, dir, dir);
	assert_int_equal(system(cmd), 0);
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	for (size_t k = 0; k < WW_COUNTOF(kinds); k++) {
		int rc = -1, n = 0;

		snprintf(place, sizeof(place), "%s%s", kinds[k], dir);
		for (; rc < 0; n++) {
			struct ww_error e = {0};

			assert_true(n < 1000);
			left = n;
			rc = open_and_close(l, place, &e);
			left = -1;
			assert_true(rc == 0 || (rc < 0 && e.text[0]));
		}
		assert_true(n > 8);
	}
	ww_loop_free(l);
	/* Every process was collected, but for one that a busy machine let die late. */
	while (waitpid(-1, NULL, __WALL) > 0)
		late++;
	assert_true(late <= 2);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	assert_int_equal(system(cmd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

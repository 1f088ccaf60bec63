/* SPDX-License-Identifier: MIT */
/* Readings that a person types, and the table of drivers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sinklog.h"

#include <math.h>

#define SEC WW_NS_PER_S

static void typed(void **unused)
{
	struct ww_error err = {0};
	struct ww_source *src;
	struct sinklog s;

	(void)unused;
	assert_int_equal(sl_init(&s, 100 * SEC, &err), 0);
	assert_int_equal(sl_open(&s, "manual:?label=Kill%20A%20Watt", 0, 0, &src, &err), 0);
	assert_int_equal(s.kind, WW_MANUAL);
	assert_string_equal(s.names, "power[W]");
	assert_string_equal(s.model, "Kill A Watt");
	assert_int_equal(s.channel[0].semantics, WW_HOLD);
	assert_true(fabs(s.channel[0].resolution - 1) < 1e-12);
	/* Nobody said how good the meter is: that is unknown, and not zero. */
	assert_true(isnan(s.channel[0].acc_abs) && isnan(s.channel[0].acc_rel));
	assert_int_equal(src->ops->start(src, &err), 0);
	assert_int_equal(src->ops->type(src, (struct ww_interval){101 * SEC, 103 * SEC}, 13, "+box",
					&err),
			 0);
	assert_int_equal(src->ops->type(src, (struct ww_interval){110 * SEC, 110 * SEC}, 40.5, NULL,
					&err),
			 0);
	assert_int_equal(s.n, 2);
	assert_true(s.lo[0] == 101 * SEC && s.hi[0] == 103 * SEC);
	assert_true(fabs(sl_value(&s, 0, 0) - 13) < 1e-9);
	/* More digits than the display is said to have are kept. */
	assert_true(fabs(sl_value(&s, 1, 0) - 40.5) < 1e-9);
	assert_string_equal(sl_text(&s), "mark 3000 label +box\n");
	src->ops->close(src);
	sl_free(&s);
}

static void refused(void **unused)
{
	static const char *const bad[][2] = {{"manual:?unit=BTU", "unit=BTU"},
					     {"manual:?resolution=0", "resolution=0"},
					     {"manual:?acc=-1", "acc=-1"},
					     {"manual:?colour=red", "unknown option colour"},
					     {"manual:?name=", "name is empty"}};
	struct ww_error err = {0};
	struct ww_source *src;
	struct sinklog s;

	(void)unused;
	assert_int_equal(sl_init(&s, 100 * SEC, &err), 0);
	for (size_t i = 0; i < WW_COUNTOF(bad); i++) {
		ww_error_clear(&err);
		assert_int_equal(sl_open(&s, bad[i][0], 0, 0, &src, &err), -EINVAL);
		if (!strstr(err.text, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], err.text);
	}
	ww_error_clear(&err);
	assert_int_equal(sl_open(&s, "manual:?unit=V&acc=0.5&acc_rel=0.002", 0, 0, &src, &err), 0);
	assert_true(fabs(s.channel[0].acc_abs - 0.5) < 1e-12);
	assert_true(fabs(s.channel[0].acc_rel - 0.002) < 1e-12);
	assert_int_equal(src->ops->type(src, (struct ww_interval){5, 5}, 230, NULL, &err), 0);
	assert_int_equal(src->ops->type(src, (struct ww_interval){4, 4}, 230, NULL, &err), -EINVAL);
	assert_int_equal(src->ops->type(src, (struct ww_interval){6, 6}, (double)INFINITY, NULL,
					&err),
			 -EINVAL);
	assert_int_equal(s.n, 1);
	src->ops->close(src);
	sl_free(&s);
}

static void registers(void **unused)
{
	struct ww_error err = {0};
	struct ww_source *src;
	struct sinklog s;

	(void)unused;
	assert_int_equal(sl_init(&s, 100 * SEC, &err), 0);
	assert_int_equal(sl_open(&s, "manual:?unit=kWh&name=counter&role=supply", 0, 0, &src, &err),
			 0);
	assert_string_equal(s.names, "counter[kWh]");
	assert_string_equal(s.channel[0].quantity, "energy");
	assert_int_equal(s.channel[0].semantics, WW_COUNTER);
	src->ops->close(src);
	sl_free(&s);
}

/* Every driver has a name of its own, and an example that names it. */
static void drivers(void **unused)
{
	struct ww_driver_info d, e;
	bool wattsup = false, sim = false;
	size_t n;

	(void)unused;
	for (n = 0; ww_driver_at(n, &d); n++) {
		assert_true(*d.name && *d.summary && *d.example);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(ww_driver_at(k, &e), 1);
			assert_string_not_equal(d.name, e.name);
		}
		wattsup |= strcmp(d.name, "wattsup") == 0 && !d.proven;
		sim |= strcmp(d.name, "sim") == 0 && d.available;
	}
	assert_true(wattsup && sim);
	assert_int_equal(ww_driver_at(n + 1, &d), 0);
	assert_int_equal(ww_driver_at((size_t)-1, &d), 0);
}

static void meter_without_place(void **unused)
{
	struct ww_error err = {0};
	struct ww_source *src;
	struct sinklog s;

	(void)unused;
	assert_int_equal(sl_init(&s, 100 * SEC, &err), 0);
	assert_int_equal(sl_open(&s, "wattsup:", 0, 0, &src, &err), -EINVAL);
	assert_non_null(strstr(err.text, "wattsup:/dev/ttyUSB0"));
	ww_error_clear(&err);
	assert_true(sl_open(&s, "wattsup:/dev/no-such-tty", 0, 0, &src, &err) < 0);
	assert_true(strncmp(err.text, "wattsup:/dev/no-such-tty: ", 26) == 0);
	sl_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(typed),
		cmocka_unit_test(refused),
		cmocka_unit_test(registers),
		cmocka_unit_test(drivers),
		cmocka_unit_test(meter_without_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

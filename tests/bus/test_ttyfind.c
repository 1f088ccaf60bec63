/* SPDX-License-Identifier: MIT */
/* Serial ports known again by their USB device, in a folder that looks like /sys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "bus/ttyfind.h"
#include "../ttysys.h"

static void test_ident(void **state)
{
	struct ww_tty_ident id, back;
	char text[256];

	(void)state;
	plug("1-2", "0403:6001", "A7 005 IDU", 0, "ttyUSB0");
	assert_true(ww_tty_ident(class_dir, "ttyUSB0", &id));
	assert_int_equal(id.vid, 0x0403);
	assert_int_equal(id.pid, 0x6001);
	assert_int_equal(id.interface, 0);
	assert_string_equal(id.place, "1-2");
	assert_string_equal(id.serial, "A7 005 IDU");
	ww_tty_ident_put(&id, text, sizeof(text));
	assert_true(ww_tty_ident_get(text, &back));
	assert_true(ww_tty_ident_same(&id, &back));
	assert_string_equal(back.serial, id.serial);
	assert_false(ww_tty_ident(class_dir, "ttyUSB1", &id));
	assert_false(ww_tty_ident_get("0403:6001 1-2 A7", &back));
	assert_false(ww_tty_ident_get("", &back));
}

/* Another name, another place: by the serial number. The name's new owner is not it. */
static void test_again(void **state)
{
	struct ww_tty_ident was, now;

	(void)state;
	plug("1-2", "0403:6001", "A7005IDU", 0, "ttyUSB0");
	assert_true(ww_tty_ident(class_dir, "ttyUSB0", &was));
	unplug("ttyUSB0");
	assert_int_equal(ww_tty_find_again(class_dir, &was, &now), -ENODEV);
	plug("1-3", "0403:6001", "OTHER", 0, "ttyUSB0");
	assert_int_equal(ww_tty_find_again(class_dir, &was, &now), -ENODEV);
	plug("2-1.4", "0403:6001", "A7005IDU", 0, "ttyUSB7");
	assert_int_equal(ww_tty_find_again(class_dir, &was, &now), 0);
	assert_string_equal(now.name, "ttyUSB7");
	assert_string_equal(now.place, "2-1.4");
}

/* Without a serial number the place is all that is known. */
static void test_no_serial(void **state)
{
	struct ww_tty_ident was, now;

	(void)state;
	plug("1-2", "1a86:7523", NULL, 0, "ttyUSB0");
	assert_true(ww_tty_ident(class_dir, "ttyUSB0", &was));
	unplug("ttyUSB0");
	plug("1-3", "1a86:7523", NULL, 0, "ttyUSB0");
	assert_int_equal(ww_tty_find_again(class_dir, &was, &now), -ENODEV);
	plug("1-2", "1a86:7523", NULL, 0, "ttyUSB1");
	assert_int_equal(ww_tty_find_again(class_dir, &was, &now), 0);
	assert_string_equal(now.name, "ttyUSB1");
}

/* Cheap chips all have the same one: then the place decides among those that are there. */
static void test_same_serial(void **state)
{
	struct ww_tty_ident was, now;

	(void)state;
	plug("1-2", "10c4:ea60", "0001", 0, "ttyUSB0");
	plug("1-3", "10c4:ea60", "0001", 0, "ttyUSB1");
	for (int i = 0; i < 2; i++) {
		assert_true(ww_tty_ident(class_dir, i ? "ttyUSB1" : "ttyUSB0", &was));
		assert_int_equal(ww_tty_find_again(class_dir, &was, &now), 0);
		assert_string_equal(now.place, i ? "1-3" : "1-2");
	}
}

/* By ids: the first port of the device; a generic id is no answer; two need a choice. */
static void test_ids(void **state)
{
	static const struct ww_usb_id ids[] = {
		{.vid = 0x10c4,
		 .pid = 0xea60,
		 .name = "any chip",
		 .interface = -1,
		 .generic = true},
		{.vid = 0x1915, .pid = 0xc00a, .name = "PPK2", .interface = -1},
		{.vid = 0}};
	struct ww_error err = {0};
	struct ww_tty_ident id;

	(void)state;
	plug("1-3", "10c4:ea60", "0001", 0, "ttyUSB0");
	assert_int_equal(ww_tty_find_ids(class_dir, ids, NULL, &id, &err), -ENODEV);
	assert_non_null(strstr(err.text, "pwrlog list"));
	plug("1-2", "1915:c00a", "C0FFEE", 3, "ttyACM0");
	plug("1-2", "1915:c00a", "C0FFEE", 1, "ttyACM1");
	assert_int_equal(ww_tty_find_ids(class_dir, ids, NULL, &id, &err), 0);
	assert_string_equal(id.name, "ttyACM1");
	plug("1-4", "1915:c00a", "BEEF", 1, "ttyACM2");
	ww_error_clear(&err);
	assert_int_equal(ww_tty_find_ids(class_dir, ids, NULL, &id, &err), -ENOTUNIQ);
	assert_non_null(strstr(err.text, "serial=BEEF"));
	assert_int_equal(ww_tty_find_ids(class_dir, ids, "BEEF", &id, NULL), 0);
	assert_string_equal(id.name, "ttyACM2");
	assert_int_equal(ww_tty_find_ids(class_dir, ids, "NOBODY", &id, NULL), -ENODEV);
	assert_int_equal(ww_tty_find_ids(class_dir, NULL, NULL, &id, NULL), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ident, fresh, gone),
		cmocka_unit_test_setup_teardown(test_again, fresh, gone),
		cmocka_unit_test_setup_teardown(test_no_serial, fresh, gone),
		cmocka_unit_test_setup_teardown(test_same_serial, fresh, gone),
		cmocka_unit_test_setup_teardown(test_ids, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

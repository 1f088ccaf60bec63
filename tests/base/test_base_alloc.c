/* SPDX-License-Identifier: MIT */
/* Each allocation of text and URIs fails once: said, and nothing leaks or is half done. */
#include "base/str.h"
#include "base/uri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Allocations until the one that fails; none fails below 0. */
static int left = -1;
static int calls;

static bool fails(void)
{
	calls++;
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static int build(char **out, struct ww_error *err)
{
	struct ww_str s = {0};
	struct ww_json j = {.s = &s};

	ww_json_open(&j, NULL, '{');
	for (int i = 0; i < 100; i++)
		ww_json_text(&j, "key", "a text of some length");
	ww_str_addf(&s, "%0200d", 7);
	ww_json_num(&j, "v", 0.125);
	ww_str_csv(&s, "a,b");
	ww_json_close(&j, '}');
	return ww_str_take(&s, out, err);
}

static void test_str(void **state)
{
	char *whole = NULL, *out;
	int n;

	(void)state;
	left = -1;
	calls = 0;
	assert_int_equal(build(&whole, NULL), 0);
	n = calls;
	assert_true(n >= 5);
	for (int i = 0; i < n; i++) {
		struct ww_error err = {0};

		out = NULL;
		left = i;
		assert_int_equal(build(&out, &err), -ENOMEM);
		assert_int_equal(err.code, -ENOMEM);
		assert_null(out);
	}
	left = n;
	assert_int_equal(build(&out, NULL), 0);
	assert_string_equal(out, whole);
	left = -1;
	ww_free(out);
	ww_free(whole);
}

static void test_uri(void **state)
{
	struct ww_error err = {0};
	struct ww_uri u;

	(void)state;
	left = 0;
	assert_int_equal(ww_uri_parse("tty:/dev/ttyS0?baud=9600", &u, &err), -ENOMEM);
	assert_int_equal(err.code, -ENOMEM);
	ww_uri_free(&u);
	left = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_str), cmocka_unit_test(test_uri)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Each allocation of reading a packed trace of trace-cmd fails once: it is said. */
#include "text/textin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static int left = -1;
static bool fails(void);

#include "../failalloc.h"

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

static int read_all(const char *path, size_t *total, struct ww_error *err)
{
	const uint8_t *p;
	const int64_t *lo, *hi;
	struct ww_text *t;
	size_t n;
	int rc = ww_text_open(path, &t, err);

	*total = 0;
	if (rc < 0)
		return rc;
	while ((rc = t->next(t, &p, &n, &lo, &hi, err)) == 1)
		*total += n;
	ww_text_close(t);
	return rc;
}

static void each(const char *path, int least)
{
	struct ww_error err = {0};
	size_t want, got;
	int n = 0, rc = -ENOMEM;

	assert_int_equal(read_all(path, &want, &err), 0);
	for (; rc < 0; n++) {
		struct ww_error e = {0};

		assert_true(n < 5000);
		left = n;
		rc = read_all(path, &got, &e);
		left = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_int_equal(e.code, rc);
		assert_true(rc == 0 || e.text[0]);
	}
	assert_true(n > least);
	assert_int_equal(got, want);
}

static void test_text(void **state)
{
	(void)state;
	if (!strstr(ww_features(), "lzma"))
		skip();
	each("tests/data/suspend6.txt.xz", 5);
}

static void test_dat(void **state)
{
	(void)state;
	if (!strstr(ww_features(), "lzma"))
		skip();
	each("tests/data/suspend6.dat.xz", 40);
	each("tests/data/suspend7.dat.xz", 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_dat)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

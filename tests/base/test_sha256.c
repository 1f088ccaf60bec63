/* SPDX-License-Identifier: MIT */
/* The examples of FIPS 180-4 (FIPS 180-2, appendix B). */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void is(const char *text, size_t times, const char *want)
{
	struct ww_sha256 s;
	char hex[65];

	ww_sha256_init(&s);
	for (size_t i = 0; i < times; i++)
		ww_sha256_add(&s, text, strlen(text));
	ww_sha256_end(&s, hex);
	assert_string_equal(hex, want);
}

static void test_examples(void **state)
{
	(void)state;
	is("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	is("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	is("aaaaaaaaaa", 100000,
	   "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_numbers(void **state)
{
	struct ww_sha256 a, b;
	char x[65], y[65];

	(void)state;
	ww_sha256_init(&a);
	ww_sha256_init(&b);
	ww_sha256_add64(&a, UINT64_C(0x0807060504030201));
	ww_sha256_add(&b, "\1\2\3\4\5\6\7\10", 8);
	ww_sha256_end(&a, x);
	ww_sha256_end(&b, y);
	assert_string_equal(x, y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

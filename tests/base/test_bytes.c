/* SPDX-License-Identifier: MIT */
/* The checked reader of bytes, varints, CRC. */
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_integers(void **state)
{
	static const uint8_t b[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct ww_rd r = ww_rd_of(b, sizeof(b));

	(void)state;
	assert_int_equal(ww_rd_le(&r, 2), 0x0201);
	assert_int_equal(ww_rd_be(&r, 3), 0x030405);
	assert_int_equal(ww_rd_left(&r), 4);
	assert_ptr_equal(ww_rd_take(&r, 4), b + 5);
	assert_false(r.bad);
	assert_int_equal(ww_rd_left(&r), 0);
	r = ww_rd_of(b, 8);
	assert_true(ww_rd_le(&r, 8) == UINT64_C(0x0807060504030201));
	r = ww_rd_of(b, 8);
	assert_true(ww_rd_be(&r, 8) == UINT64_C(0x0102030405060708));
}

/* Past the end: zeros from then on, also where fewer bytes would have been there. */
static void test_end(void **state)
{
	static const uint8_t b[] = {1, 2, 3};
	struct ww_rd r = ww_rd_of(b, 3);

	(void)state;
	assert_int_equal(ww_rd_le(&r, 4), 0);
	assert_true(r.bad);
	assert_int_equal(ww_rd_le(&r, 1), 0);
	assert_null(ww_rd_take(&r, 0));
	r = ww_rd_of(b, 3);
	assert_null(ww_rd_take(&r, SIZE_MAX));
	assert_true(r.bad);
	r = ww_rd_of(NULL, 0);
	assert_int_equal(ww_rd_be(&r, 1), 0);
	assert_true(r.bad);
}

static void test_varint(void **state)
{
	static const struct {
		uint8_t b[11];
		size_t n;
		uint64_t v;
		bool bad;
	} row[] = {
		{{0}, 1, 0, false},
		{{0x7f}, 1, 127, false},
		{{0x80, 1}, 2, 128, false},
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 10, UINT64_MAX, false},
		/* 65 bits, no end, cut off */
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}, 10, 0, true},
		{{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}, 11, 0, true},
		{{0x80}, 1, 0, true},
		{{0}, 0, 0, true}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_rd r = ww_rd_of(row[i].b, row[i].n);

		assert_true(ww_rd_varint(&r) == row[i].v);
		assert_int_equal(r.bad, row[i].bad);
		if (!row[i].bad)
			assert_int_equal(ww_rd_left(&r), 0);
	}
}

static void test_zigzag(void **state)
{
	static const int64_t v[] = {0, -1, 1, -2, 1000, INT64_MIN, INT64_MAX};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(v); i++)
		assert_true(ww_unzigzag(ww_zigzag(v[i])) == v[i]);
	assert_true(ww_zigzag(-1) == 1 && ww_zigzag(1) == 2);
}

static void test_put(void **state)
{
	uint8_t b[9] = {0};
	struct ww_rd r;

	(void)state;
	ww_put_le(b, UINT64_C(0x1122334455667788), 8);
	assert_int_equal(b[8], 0);
	r = ww_rd_of(b, 8);
	assert_true(ww_rd_le(&r, 8) == UINT64_C(0x1122334455667788));
	ww_put_le(b, 0xffff, 1);
	assert_true(b[0] == 0xff && b[1] == 0x77);
}

static void test_crc(void **state)
{
	(void)state;
	/* The check value of CRC-32/ISO-HDLC. */
	assert_true(ww_crc32(0, "123456789", 9) == 0xcbf43926u);
	assert_true(ww_crc32(0, "", 0) == 0);
	assert_true(ww_crc32(ww_crc32(0, "1234", 4), "56789", 5) == 0xcbf43926u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_integers),
					   cmocka_unit_test(test_end),
					   cmocka_unit_test(test_varint),
					   cmocka_unit_test(test_zigzag),
					   cmocka_unit_test(test_put),
					   cmocka_unit_test(test_crc)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

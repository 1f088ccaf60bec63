/* SPDX-License-Identifier: MIT */
/* Columns and blocks: any values come back; any bytes give rows or an error, no more. */
#include "common.h"
#include "trace/block.h"
#include "base/bytes.h"

#include <zstd.h>

static int64_t workspace[3 * WW_BLOCK_ROWS];
static uint8_t packed[WW_COLUMN_BOUND(WW_BLOCK_ROWS)];

/* A column there and back. @return its packed size */
static size_t round_trip(const int64_t *v, size_t n)
{
	static int64_t got[WW_BLOCK_ROWS];
	size_t size = ww_column_encode(packed, v, n, workspace);

	assert_true(size <= WW_COLUMN_BOUND(n));
	assert_int_equal(ww_column_decode(packed, size, got, n), size);
	assert_memory_equal(got, v, n * sizeof(*v));
	/* Cut short anywhere, it is no column. */
	for (size_t cut = 0; cut < size; cut += 1 + size / 50)
		assert_int_equal(ww_column_decode(packed, cut, got, n), 0);
	return size;
}

static void test_columns(void **state)
{
	static const int64_t odd[] = {
		0,	   1,	      -1,   255,     256,	 65535,		65536,
		INT32_MIN, INT64_MAX, -129, WW_OVER, WW_MISSING, INT64_MIN + 16};
	static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 1000, 8192};
	static int64_t v[WW_BLOCK_ROWS];
	uint64_t seed = 42;

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++)
		for (int round = 0; round < 40; round++) {
			uint64_t mask = UINT64_MAX >> (next_random(&seed) % 64);

			for (size_t i = 0; i < sizes[k]; i++) {
				uint64_t r = next_random(&seed);

				v[i] = round % 4 == 0 ? odd[r % 13]
				       : round % 4 == 1
					       ? (int64_t)(r & mask)
					       : (int64_t)(i * (uint64_t)round * 1000 + (r & mask));
			}
			round_trip(v, sizes[k]);
		}
}

/* What a steady meter gives costs next to nothing; a missing value costs little. */
static void test_sizes(void **state)
{
	static int64_t v[WW_BLOCK_ROWS];
	size_t dense;

	(void)state;
	for (size_t i = 0; i < WW_BLOCK_ROWS; i++)
		v[i] = 5000;
	assert_true(round_trip(v, WW_BLOCK_ROWS) < 40);
	for (size_t i = 0; i < WW_BLOCK_ROWS; i++)
		v[i] = (int64_t)i * 1000000007;
	assert_true(round_trip(v, WW_BLOCK_ROWS) < 40);
	for (size_t i = 0; i < WW_BLOCK_ROWS; i++)
		v[i] = (int64_t)(i * i * 3 + 17);
	assert_true(round_trip(v, WW_BLOCK_ROWS) < 40);
	for (size_t i = 0; i < WW_BLOCK_ROWS; i++)
		v[i] = 24900 + (int64_t)(i * 2654435761u >> 28 & 15);
	dense = round_trip(v, WW_BLOCK_ROWS);
	assert_true(dense < WW_BLOCK_ROWS + 40);
	v[77] = WW_MISSING;
	v[4000] = WW_OVER;
	assert_true(round_trip(v, WW_BLOCK_ROWS) < dense + WW_BLOCK_ROWS / 8 + 8);
}

/* A zstd frame around `raw`, as a block would have it. */
static size_t wrap(const uint8_t *raw, size_t n, uint8_t *blob, size_t cap)
{
	blob[0] = 1;
	return 1 + ZSTD_compress(blob + 1, cap - 1, raw, n, 1);
}

static void fill(struct ww_rows *r, size_t n, uint64_t *seed)
{
	int64_t t = 1000;

	for (size_t i = 0; i < n; i++) {
		uint64_t x = next_random(seed);

		t += (int64_t)(x % 100);
		r->hi[i] = t;
		r->lo[i] = t - (int64_t)(x >> 60);
		for (size_t c = 0; c < r->columns; c++)
			r->col[c][i] = r->bytes ? 1 + (int64_t)(x >> 8 & 3) : (int64_t)(x >> 33);
		if (r->bytes)
			OK(ww_rows_add_data(r, (const uint8_t *)"abcd", (size_t)r->col[0][i], err));
	}
	r->n = n;
}

static void test_damaged(void **state)
{
	struct ww_codec *codec;
	uint64_t seed = 1;

	(void)state;
	OK(ww_codec_new(&codec, err));
	for (int bytes = 0; bytes < 2; bytes++) {
		struct ww_rows in, out;
		const uint8_t *blob;
		static uint8_t copy[65536], raw[65536];
		size_t n, raw_n;

		OK(ww_rows_init(&in, bytes, 3, err));
		OK(ww_rows_init(&out, bytes, 3, err));
		fill(&in, 200, &seed);
		OK(ww_block_encode(codec, &in, &blob, &n, err));
		memcpy(copy, blob, n);
		OK(ww_block_decode(codec, copy, n, &out, err));
		assert_int_equal(out.n, 200);
		assert_memory_equal(out.lo, in.lo, 200 * 8);
		assert_memory_equal(out.col[0], in.col[0], 200 * 8);
		/* The checksum finds every changed byte. */
		for (size_t i = 0; i < n; i++) {
			copy[i] ^= 0x41;
			assert_int_equal(ww_block_decode(codec, copy, n, &out, NULL), -EBADMSG);
			assert_int_equal(out.n, 0);
			copy[i] ^= 0x41;
			assert_int_equal(ww_block_decode(codec, copy, i, &out, NULL), -EBADMSG);
		}
		/* What lies below a right checksum is looked at too. */
		raw_n = ZSTD_decompress(raw, sizeof(raw), copy + 1, n - 1);
		for (size_t i = 0; i < raw_n; i++) {
			static uint8_t again[70000];
			size_t m;
			int rc;

			raw[i] = (uint8_t)(raw[i] + 1 + next_random(&seed) % 255);
			m = wrap(raw, raw_n, again, sizeof(again));
			rc = ww_block_decode(codec, again, m, &out, NULL);
			assert_true(rc == 0 || rc == -EBADMSG);
			for (size_t k = 1; k < out.n; k++)
				assert_true(out.hi[k] >= out.hi[k - 1] && out.lo[k] <= out.hi[k]);
			raw_n = ZSTD_decompress(raw, sizeof(raw), copy + 1, n - 1);
		}
		ww_rows_free(&in);
		ww_rows_free(&out);
	}
	ww_codec_free(codec);
}

/* A small blob that says it is huge is refused before anything is allocated. */
static void test_huge(void **state)
{
	struct ww_codec *codec;
	struct ww_rows out;
	static uint8_t blob[1 << 20];
	size_t n;
	uint8_t *zeros = calloc(1, 64 << 20);

	(void)state;
	assert_non_null(zeros);
	OK(ww_codec_new(&codec, err));
	OK(ww_rows_init(&out, false, 1, err));
	n = wrap(zeros, 64 << 20, blob, sizeof(blob));
	assert_int_equal(ww_block_decode(codec, blob, n, &out, NULL), -EBADMSG);
	free(zeros);
	ww_rows_free(&out);
	ww_codec_free(codec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns),
					   cmocka_unit_test(test_sizes),
					   cmocka_unit_test(test_damaged),
					   cmocka_unit_test(test_huge)};

	return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}

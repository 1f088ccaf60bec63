/* SPDX-License-Identifier: MIT */
/* Any bytes as a column and as a block: rows or an error; what decodes encodes again. */
#include "trace/block.h"

#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void column(const uint8_t *data, size_t n)
{
	static int64_t v[WW_BLOCK_ROWS], again[WW_BLOCK_ROWS], scratch[3 * WW_BLOCK_ROWS];
	static uint8_t packed[WW_COLUMN_BOUND(WW_BLOCK_ROWS)];
	size_t rows = 1 + (size_t)data[0] * 32;

	if (ww_column_decode(data + 1, n - 1, v, rows) == 0)
		return;
	if (ww_column_decode(packed, ww_column_encode(packed, v, rows, scratch), again, rows) ==
		    0 ||
	    memcmp(v, again, rows * sizeof(*v)) != 0)
		abort();
}

static void block(struct ww_codec *codec, const uint8_t *data, size_t n, bool raw)
{
	struct ww_error err = {0};
	struct ww_rows rows;
	uint8_t *blob = malloc(1 + ZSTD_compressBound(n));

	/* A random frame is never a frame: wrap the input so that its inside is reached. */
	if (blob && ww_rows_init(&rows, data[0] & 1, data[0] >> 1 & 3, &err) == 0) {
		size_t size = n - 1;

		if (raw) {
			blob[0] = 1;
			size = 1 +
			       ZSTD_compress(blob + 1, ZSTD_compressBound(n), data + 1, n - 1, 1);
		}
		if (ww_block_decode(codec, raw ? blob : data + 1, size, &rows, &err) == 0) {
			const uint8_t *out;

			for (size_t i = 0; i < rows.n; i++)
				if (rows.lo[i] > rows.hi[i])
					abort();
			if (ww_block_encode(codec, &rows, &out, &size, &err) < 0)
				abort();
		}
		ww_rows_free(&rows);
	}
	free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ww_error err = {0};
	struct ww_codec *codec;

	if (n < 2 || ww_codec_new(&codec, &err) < 0)
		return 0;
	column(data, n);
	block(codec, data, n, true);
	block(codec, data, n, false);
	ww_codec_free(codec);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Kernel text from files: plain, from a pipe, packed by the formats' own libraries, broken off
 * anywhere, and what is no text.
 */
#include "text/textin.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <zstd.h>
#if WW_WITH_ZLIB
#include <zlib.h>
#endif
#if WW_WITH_LZMA
#include <lzma.h>
#endif

#define BYTES (3u << 20)

static char *plain; /* [BYTES] lines */
static char dir[] = "/tmp/ww-textopen-XXXXXX", path[64];

static void store(const void *p, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* All that comes; *rc how it ended. */
static char *all(struct ww_text *t, size_t *total, int *rc, struct ww_error *err)
{
	char *buf = NULL;
	const uint8_t *p;
	const int64_t *lo, *hi;
	size_t n;

	*total = 0;
	while ((*rc = t->next(t, &p, &n, &lo, &hi, err)) == 1) {
		assert_true(n > 0);
		assert_null(lo);
		assert_null(hi);
		buf = realloc(buf, *total + n);
		assert_non_null(buf);
		memcpy(buf + *total, p, n);
		*total += n;
	}
	return buf;
}

/* The file holds the first n bytes of the lines, then it ends or there is an error with it. */
static void gives(size_t n, const char *sentence)
{
	struct ww_error err = {0};
	struct ww_text *t;
	size_t got;
	char *p;
	int rc;

	assert_int_equal(ww_text_open(path, &t, &err), 0);
	assert_string_equal(t->name, path);
	assert_false(t->ftrace);
	p = all(t, &got, &rc, &err);
	assert_int_equal(got, n);
	assert_memory_equal(p, plain, n);
	assert_int_equal(rc < 0, sentence != NULL);
	if (sentence)
		assert_non_null(strstr(err.text, sentence));
	free(p);
	ww_text_close(t);
}

static void refused(const char *name, const char *sentence)
{
	struct ww_error err = {0};
	struct ww_text *t;

	assert_true(ww_text_open(name, &t, &err) < 0);
	if (!strstr(err.text, sentence))
		print_error("%s\n", err.text);
	assert_non_null(strstr(err.text, sentence));
	assert_non_null(strstr(err.text, name));
}

static void test_plain(void **state)
{
	(void)state;
	store(plain, BYTES);
	gives(BYTES, NULL);
	store(plain, 1);
	gives(1, NULL);
	ww_text_close(NULL);
}

static void test_no_text(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *sentence;
	} kinds[] = {
		{"", 0, "empty"},
		{"SQLite format 3", 16, "recording"},
		{"PERFILE2........", 16, "perf script"},
		{"LPKSHHRH........", 16, "journalctl"},
		{"BZh91AY&SY......", 16, "bzcat"},
		{"PK\x03\x04............", 16, "ZIP"},
		{"\x0a\x04\x08\x01\x10\x02\x0a\x03\x08\x01\x01\x0a\x02\x01\x01", 15, "Perfetto"},
		{"\x17\x08\x44tracing9\0\0\x08\0\x10\0\0", 18, "trace-cmd report"},
		{"\x17\x08\x44tracing6\0\0\x08\0\x10\0\0", 18, "broken"},
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(kinds); i++) {
		store(kinds[i].bytes, kinds[i].n);
		refused(path, kinds[i].sentence);
	}
	refused(dir, "a folder");
	refused("/proc/self/exe", "a program");
	refused("/tmp/ww-is-not-there", "No such file");
	refused("/dev/ptmx", "resumetime record");
	store("x", 1);
	chmod(path, 0);
	if (access(path, R_OK) != 0)
		refused(path, "as root");
	chmod(path, 0600);
}

static void test_core(void **state)
{
	char elf[64] = "\x7f"
		       "ELF\x02\x01\x01";

	(void)state;
	elf[16] = 4;
	store(elf, sizeof(elf));
	refused(path, "vmcore-dmesg");
	elf[5] = 2; /* of the other order of bytes */
	elf[16] = 0;
	elf[17] = 4;
	store(elf, sizeof(elf));
	refused(path, "vmcore-dmesg");
}

/* A page that holds a trace behind much script; one that holds none. */
static void test_page(void **state)
{
	static const char trace[] = "# tracer: nop\n#\n sh-1 [000] .... 1.0: x: y\n</script>\n";
	char *page = malloc(BYTES), *old = plain;
	struct ww_error err = {0};
	struct ww_text *t;
	size_t got;
	char *p;
	int rc;

	(void)state;
	assert_non_null(page);
	/* The mark lies across the ends of pieces, too. */
	for (size_t i = 0; i < 24; i++) {
		size_t at = i < 12 ? 262144 - i : i * 50000;

		memset(page, '\n', BYTES);
		memcpy(page, i & 1 ? "<!DOCTYPE html>" : "  <HTML>       ", 15);
		memcpy(page + at, trace, sizeof(trace) - 1);
		store(page, at + sizeof(trace) - 1);
		assert_int_equal(ww_text_open(path, &t, &err), 0);
		p = all(t, &got, &rc, &err);
		assert_int_equal(rc, 0);
		assert_int_equal(got, sizeof(trace) - 1);
		assert_memory_equal(p, trace, got);
		free(p);
		ww_text_close(t);
	}
	memset(page, '-', BYTES);
	memcpy(page, "<html>", 6);
	plain = page;
	store(page, 300000);
	gives(300000, NULL);
	store(page, 20);
	gives(20, NULL);
	plain = old;
	free(page);
}

static void test_utf16(void **state)
{
	/* "PM: ", three letters of two, three and four bytes; halves of a pair alone */
	static const uint16_t text[] = {'P',	'M',	':',	' ',  0xe4,  0x20ac,
					0xd83d, 0xde00, 0xd83d, '\n', 0xde00};
	static const char want[] = "PM: \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd\n"
				   "\xef\xbf\xbd";
	char *old = plain, copy[64];
	uint8_t file[64];

	(void)state;
	memcpy(copy, want, sizeof(want));
	plain = copy;
	for (int big = 0; big < 2; big++) {
		size_t n = 0;

		file[n++] = big ? 0xfe : 0xff;
		file[n++] = big ? 0xff : 0xfe;
		for (size_t i = 0; i < WW_COUNTOF(text); i++) {
			file[n++] = (uint8_t)(big ? text[i] >> 8 : text[i] & 0xff);
			file[n++] = (uint8_t)(big ? text[i] & 0xff : text[i] >> 8);
		}
		store(file, n);
		gives(sizeof(want) - 1, NULL);
	}
	plain = old;
}

/* Lines come as they are written, not when the pipe is full. */
static void test_pipe(void **state)
{
	int p[2], old = dup(STDIN_FILENO);
	struct ww_error err = {0};
	const uint8_t *data;
	const int64_t *lo, *hi;
	struct ww_text *t;
	size_t n;

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(dup2(p[0], STDIN_FILENO), STDIN_FILENO);
	close(p[0]);
	assert_int_equal(write(p[1], plain, 100), 100);
	assert_int_equal(ww_text_open("-", &t, &err), 0);
	assert_string_equal(t->name, "standard input");
	assert_int_equal(t->next(t, &data, &n, &lo, &hi, &err), 1);
	assert_int_equal(n, 100);
	assert_int_equal(write(p[1], plain + 100, 7), 7);
	assert_int_equal(t->next(t, &data, &n, &lo, &hi, &err), 1);
	assert_int_equal(n, 7);
	assert_memory_equal(data, plain + 100, 7);
	close(p[1]);
	assert_int_equal(t->next(t, &data, &n, &lo, &hi, &err), 0);
	ww_text_close(t);
	assert_int_equal(dup2(old, STDIN_FILENO), STDIN_FILENO);
	close(old);
}

/* How many bytes of a packed file cut off at n come before the error? */
static void cut(const uint8_t *packed, size_t n)
{
	struct ww_error err = {0};
	struct ww_text *t;
	size_t got;
	char *p;
	int rc;

	store(packed, n);
	rc = ww_text_open(path, &t, &err);
	if (rc == 0) {
		p = all(t, &got, &rc, &err);
		assert_true(got <= BYTES);
		assert_memory_equal(p ? p : plain, plain, got);
		free(p);
		ww_text_close(t);
	}
	assert_int_equal(rc, -EBADMSG);
	assert_non_null(strstr(err.text, "the rest is missing"));
}

/* One stream, two and padding and something else, cut off, and with a byte changed. */
static void packed(uint8_t *p, size_t n, size_t header)
{
	uint8_t *twice = malloc(2 * n + 64);

	assert_non_null(twice);
	store(p, n);
	gives(BYTES, NULL);
	memcpy(twice, p, n);
	memset(twice + n, 0, 8);
	memcpy(twice + n + 8, "no more of it", 13);
	store(twice, n + 21);
	gives(BYTES, NULL);
	for (size_t i = header; i < n; i += n / 5)
		cut(p, i);
	cut(p, n - 1);
	p[n / 2] ^= 0x55;
	store(p, n);
	{
		struct ww_error err = {0};
		struct ww_text *t;
		size_t got;
		char *text;
		int rc;

		assert_int_equal(ww_text_open(path, &t, &err), 0);
		text = all(t, &got, &rc, &err);
		assert_int_equal(rc, -EBADMSG);
		assert_non_null(strstr(err.text, "broken"));
		free(text);
		ww_text_close(t);
	}
	free(twice);
}

static void test_zst(void **state)
{
	size_t cap = ZSTD_compressBound(BYTES), n;
	uint8_t *p = malloc(cap);
	ZSTD_CCtx *c = ZSTD_createCCtx();

	(void)state;
	assert_true(p && c);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(c, p, cap, plain, BYTES);
	assert_false(ZSTD_isError(n));
	packed(p, n, 6);
	ZSTD_freeCCtx(c);
	free(p);
}

/* 1 GB of nothing in 32 kB. */
static void test_bomb(void **state)
{
	size_t zeros = (size_t)256 << 20, cap = ZSTD_compressBound(zeros), n, got;
	char *nothing = calloc(1, zeros), *p = malloc(cap);
	struct ww_error err = {0};
	struct ww_text *t;
	const uint8_t *piece;
	const int64_t *lo, *hi;
	int rc;

	(void)state;
	assert_true(nothing && p);
	nothing[0] = 'x';
	n = ZSTD_compress(p, cap, nothing, zeros, 1);
	store(p, n);
	free(nothing);
	free(p);
	assert_int_equal(ww_text_open(path, &t, &err), 0);
	for (got = 0; (rc = t->next(t, &piece, &n, &lo, &hi, &err)) == 1; got += n)
		assert_true(n <= 1u << 20);
	assert_int_equal(rc, -EFBIG);
	assert_true(got <= (size_t)65 << 20);
	assert_non_null(strstr(err.text, "as no log does"));
	ww_text_close(t);
}

#if WW_WITH_ZLIB
static size_t gzip(uint8_t *to, size_t cap, const void *from, size_t n)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)from,
		      .avail_in = (uInt)n,
		      .next_out = to,
		      .avail_out = (uInt)cap};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return cap - z.avail_out;
}

static void test_gz(void **state)
{
	uint8_t *p = malloc(2 * BYTES);
	size_t n, half = BYTES / 2;

	(void)state;
	assert_non_null(p);
	/* Two of them in one file, as logs that were rotated are put together. */
	n = gzip(p, BYTES, plain, half);
	n += gzip(p + n, BYTES, plain + half, BYTES - half);
	store(p, n);
	gives(BYTES, NULL);
	n = gzip(p, 2 * BYTES, plain, BYTES);
	packed(p, n, 12);
	free(p);
}
#endif

#if WW_WITH_LZMA
static void test_xz(void **state)
{
	size_t cap = lzma_stream_buffer_bound(BYTES), n = 0;
	uint8_t *p = malloc(cap);

	(void)state;
	assert_non_null(p);
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, (uint8_t *)plain, BYTES,
						 p, &n, cap),
			 LZMA_OK);
	packed(p, n, 13);
	free(p);
}
#endif

static int setup(void **state)
{
	size_t n = 0;

	(void)state;
	plain = malloc(BYTES + 128);
	if (!plain || !mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/text", dir);
	for (unsigned i = 0; n < BYTES; i++) {
		unsigned x = i * 2654435761u;

		n += (size_t)snprintf(plain + n, 128, "[%5u.%06u] usb %u-%u: PM: step %08x\n",
				      i / 1000, i % 1000 * 1000, x >> 29, x >> 3 & 7, x);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	rmdir(dir);
	free(plain);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_no_text),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_utf16),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_zst),
		cmocka_unit_test(test_bomb),
#if WW_WITH_ZLIB
		cmocka_unit_test(test_gz),
#endif
#if WW_WITH_LZMA
		cmocka_unit_test(test_xz),
#endif
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: MIT */
/*
 * Framing of kernel text: each line of a table with all that must come out of it. Lines of a
 * log are in their order.
 */
#include "text/kline.h"
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define DATA	"tests/data/kline.tsv"
#define COLUMNS 13
#define ROWS	400

struct row {
	char *cell[COLUMNS]; /* of a log's name: the name, NULL */
	size_t n[COLUMNS];
};

static struct row rows[ROWS];
static size_t row_count;
static char *text;

/* "\x1b" -> ESC, in place. */
static size_t unescape(char *p)
{
	char *to = p, *begin = p, hex[3] = "";

	while (*p) {
		if (p[0] == '\\' && p[1] == 'x') {
			memcpy(hex, p + 2, 2);
			*to++ = (char)strtoul(hex, NULL, 16);
			p += 4;
		} else {
			*to++ = *p++;
		}
	}
	*to = 0;
	return (size_t)(to - begin);
}

static void split(char *line, struct row *r)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (!line)
			fail_msg("%s: too few columns: %s", DATA, r->cell[0]);
		r->cell[i] = strsep(&line, "\t");
		r->n[i] = unescape(r->cell[i]);
	}
	assert_null(line);
}

static int load(void **state)
{
	FILE *f = fopen(DATA, "r");
	size_t size = 1 << 20, n;
	char *p, *line;

	(void)state;
	if (!f)
		fail_msg("%s: run this in the project's folder", DATA);
	text = malloc(size);
	assert_non_null(text);
	n = fread(text, 1, size - 1, f);
	fclose(f);
	text[n] = 0;
	p = text;
	while ((line = strsep(&p, "\n"))) {
		if (!*line || *line == '#')
			continue;
		assert_true(row_count < ROWS);
		if (line[0] == '=' && line[1] == ' ')
			rows[row_count++].cell[0] = line + 2;
		else
			split(line, &rows[row_count++]);
	}
	return row_count > 200 ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	free(text);
	return 0;
}

enum column {
	LINE,
	FROM,
	KERNEL,
	KERNEL_RES,
	CLOCK,
	HOST,
	HOST_RES,
	LEVEL,
	CALLER,
	TAG,
	CONSOLE,
	GLUED,
	TEXT
};

static void same(const struct row *r, int col, const char *got, size_t n)
{
	if (n != r->n[col] || (n && memcmp(got, r->cell[col], n) != 0))
		fail_msg("column %d: '%.*s' for '%s' of '%s'", col, (int)n, n ? got : "",
			 r->cell[col], r->cell[LINE]);
}

static void same_word(const struct row *r, int col, const char *got)
{
	same(r, col, got, strlen(got));
}

static void same_int(const struct row *r, int col, int64_t got)
{
	char buf[32] = "-";

	if (got != WW_NO_TIME)
		snprintf(buf, sizeof(buf), "%lld", (long long)got);
	same_word(r, col, buf);
}

static void check(const struct row *r, const struct ww_kline *o)
{
	static const char *const from[] = {"?", "kernel", "user", "firmware", "xen", "ec"};
	static const char *const clock[] = {"-", "wall", "day", "elapsed", "delta"};
	char caller[16] = "-";

	if (o->caller_kind)
		snprintf(caller, sizeof(caller), "%c%d", o->caller_kind, (int)o->caller);
	same(r, TEXT, o->text.p, o->text.n);
	same_word(r, FROM, from[o->from]);
	same_int(r, KERNEL, o->kernel_ns);
	same_int(r, KERNEL_RES, o->kernel_res_ns);
	same_word(r, CLOCK, clock[o->host_clock]);
	same_int(r, HOST, o->host_ns);
	same_int(r, HOST_RES, o->host_res_ns);
	same_int(r, LEVEL, o->level);
	same_word(r, CALLER, caller);
	if (o->tag.n)
		same(r, TAG, o->tag.p, o->tag.n);
	else
		same_word(r, TAG, "-");
	same_int(r, CONSOLE, (int64_t)o->console_n);
	same_int(r, GLUED, o->glued);
}

static void test_lines(void **state)
{
	struct ww_kline_state s;
	struct ww_kline o;

	(void)state;
	ww_kline_init(&s);
	for (size_t i = 0; i < row_count; i++) {
		if (!rows[i].cell[1]) {
			ww_kline_init(&s);
			continue;
		}
		ww_kline_parse(&s, rows[i].cell[LINE], rows[i].n[LINE], &o);
		check(&rows[i], &o);
	}
}

static bool inside(struct ww_slice s, const char *p, size_t n, const struct ww_kline_state *st)
{
	if (!s.n)
		return true;
	return (s.p >= p && s.p + s.n <= p + n) ||
	       (s.p >= st->clean && s.p + s.n <= st->clean + sizeof(st->clean));
}

/* Cut anywhere, and with any byte wrong: nothing of it lies outside of the line. */
static void test_cut(void **state)
{
	struct ww_kline_state s;
	struct ww_kline o;

	(void)state;
	ww_kline_init(&s);
	for (size_t i = 0; i < row_count; i++) {
		const struct row *r = &rows[i];

		for (size_t n = 0; r->cell[1] && n <= r->n[LINE]; n++) {
			char *p = malloc(n + 1);

			assert_non_null(p);
			memcpy(p, r->cell[LINE], n);
			for (size_t k = 0; k <= n; k += 1 + k / 8) {
				char kept = p[k ? k - 1 : 0];
				size_t most;

				if (k)
					p[k - 1] = (char)(kept ^ (1 << (n + k) % 8));
				most = n + s.carry;
				ww_kline_parse(&s, p, n, &o);
				if (!inside(o.text, p, n, &s) || !inside(o.tag, p, n, &s) ||
				    o.text.n > most || o.console_n > most)
					fail_msg("'%.*s'", (int)n, p);
				if (k)
					p[k - 1] = kept;
			}
			free(p);
		}
	}
}

/* Lines longer than what is kept of one with escapes. */
static void test_long(void **state)
{
	static const char stamp[] = "[   12.345678] \x1b[1m";
	static char line[100000];
	struct ww_kline_state s;
	struct ww_kline o;

	(void)state;
	ww_kline_init(&s);
	memset(line, 'x', sizeof(line));
	memcpy(line, stamp, sizeof(stamp) - 1);
	ww_kline_parse(&s, line, sizeof(line), &o);
	assert_int_equal(o.text.n, sizeof(s.clean) - 15);
	assert_int_equal(o.kernel_ns, INT64_C(12345678000));
	memset(line + 15, 'x', 4);
	ww_kline_parse(&s, line, sizeof(line), &o);
	assert_int_equal(o.text.n, sizeof(line) - 15);
	ww_kline_parse(&s, line, 0, &o);
	assert_int_equal(o.text.n, 0);
	assert_int_equal(o.console_n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests_name("kline", tests, load, unload);
}

/* SPDX-License-Identifier: MIT */
/*
 * Lines of ftrace's text, as kernels and programs of twenty years write them: what each of
 * them says. The lines are made by hand from the format strings of kernel/trace, of trace-cmd
 * and of perf.
 */
#include "text/ftline.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define DATA "tests/data/ftline.tsv"

static char text[2048];

static void say(const char *fmt, ...) WW_PRINTF(1, 2);
static void say(const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
}

static void slice(const char *name, struct ww_slice s)
{
	if (s.n > 0)
		say(" %s=%.*s", name, (int)s.n, s.p);
}

static void say_event(const struct ww_pmev *e)
{
	static const char *const kinds[WW_PMEV_KINDS] = {
		[WW_PMEV_ENTRY] = "ENTRY",   [WW_PMEV_BEGIN] = "BEGIN",
		[WW_PMEV_END] = "END",	     [WW_PMEV_CALL] = "CALL",
		[WW_PMEV_RETURN] = "RETURN", [WW_PMEV_ASLEEP] = "ASLEEP",
		[WW_PMEV_AWAKE] = "AWAKE",   [WW_PMEV_WAKE_SOURCE] = "WAKE"};

	if (e->kind == WW_PMEV_NONE)
		return;
	say(" %s", kinds[e->kind] ? kinds[e->kind] : "?");
	say(" %s/%s/%s", ww_pm_phase_name(e->phase), ww_pm_verb_name(e->verb),
	    ww_pm_mode_name(e->mode));
	if (e->count >= 0)
		say(" n=%" PRId64, e->count);
	if (e->err)
		say(" err=%d", e->err);
	if (e->dur_ns != WW_NO_TIME)
		say(" took=%" PRId64, e->dur_ns);
	slice("drv", e->driver);
	slice("dev", e->device);
	slice("parent", e->parent);
	slice("wakeup", e->wakeup);
	slice("what", e->text);
}

static const char *show(const char *line, size_t n)
{
	static const char *const kinds[] = {"none", "header", "event", "graph", "mark", "lost"};
	struct ww_ftline l;
	int kind;

	text[0] = '\0';
	kind = ww_ftline_parse(line, n, &l);
	assert_int_equal(kind, l.kind);
	say("%s", kinds[l.kind]);
	slice("comm", l.comm);
	if (l.pid >= 0)
		say(" pid=%d", l.pid);
	if (l.cpu >= 0)
		say(" cpu=%d", l.cpu);
	if (l.t_ns != WW_NO_TIME)
		say(" t=%" PRId64 "%s", l.t_ns, l.bare ? "?" : "");
	slice("event", l.event);
	if (l.kind == WW_FT_MARK || l.kind == WW_FT_HEADER)
		slice("text", l.text);
	slice("func", l.func);
	if (l.depth >= 0)
		say(" depth=%d", l.depth);
	if (l.dur_ns != WW_NO_TIME)
		say(" dur=%" PRId64, l.dur_ns);
	if (l.opens || l.closes)
		say(" %s%s", l.opens ? "{" : "", l.closes ? "}" : "");
	if (l.lost)
		say(" lost=%" PRId64, l.lost);
	say_event(&l.ev);
	return text;
}

/* "\x41" stands for a byte. */
static size_t unescape(char *s)
{
	char *to = s;

	for (const char *p = s; *p;) {
		if (p[0] == '\\' && p[1] == 'x') {
			char hex[3] = {p[2], p[3], 0};

			*to++ = (char)strtoul(hex, NULL, 16);
			p += 4;
		} else {
			*to++ = *p++;
		}
	}
	*to = '\0';
	return (size_t)(to - s);
}

static void test_lines(void **state)
{
	char line[1024];
	FILE *f = fopen(DATA, "r");
	int lines = 0, bad = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *want = strchr(line, '\t');
		size_t n;

		if (line[0] == '%')
			continue;
		assert_non_null(want);
		*want++ = '\0';
		want[strcspn(want, "\n")] = '\0';
		n = unescape(line);
		unescape(want);
		if (strcmp(show(line, n), want) != 0 && ++bad)
			fprintf(stderr, "%s\n\tis   %s\n\tnot  %s\n", line, text, want);
		lines++;
	}
	fclose(f);
	assert_true(lines > 80);
	assert_int_equal(bad, 0);
}

/* Each line cut off anywhere, at the end of what may be read. */
static void test_cut(void **state)
{
	char line[1024];
	FILE *f = fopen(DATA, "r");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		size_t n;

		line[strcspn(line, "\t\n")] = '\0';
		n = unescape(line);
		for (size_t i = 0; i <= n; i++) {
			char *p = malloc(i + !i);
			struct ww_ftline l;

			assert_non_null(p);
			memcpy(p, line, i);
			ww_ftline_parse(p, i, &l);
			assert_true(l.text.n == 0 ||
				    (l.text.p >= p && l.text.p + l.text.n <= p + i));
			free(p);
		}
	}
	fclose(f);
}

/* What a console under tp_printk shows: event and arguments alone. */
static void test_event(void **state)
{
	static const char event[] = "device_pm_callback_end", args[] = "usb 2-1, err=-110";
	struct ww_pmev e;

	(void)state;
	assert_int_equal(ww_ftevent_parse((struct ww_slice){event, sizeof(event) - 1},
					  (struct ww_slice){args, sizeof(args) - 1}, &e),
			 WW_PMEV_RETURN);
	assert_int_equal(e.err, -110);
	assert_int_equal(e.pid, -1);
	assert_int_equal(ww_ftevent_parse((struct ww_slice){event, sizeof(event) - 1},
					  (struct ww_slice){NULL, 0}, &e),
			 WW_PMEV_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_cut),
					   cmocka_unit_test(test_event)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Messages of kernels from 2.6 to now and of firmware, each with what it says; texts that look
 * like them and are none; every beginning of each.
 */
#include "text/kmsg.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define DATA "tests/data/kmsg.tsv"

/* Names of this test alone. */
static const char *const kinds[] = {
	"none",	     "entry",	    "exit",	"mode",	    "begin",   "end",
	"abort",     "fail",	    "sum",	"took",	    "call",    "return",
	"dev-took",  "dev-fail",    "callee",	"dev-slow", "task",    "some-failed",
	"wake-pend", "wake-source", "wake-irq", "pm-test",  "refused", "asleep",
	"awake",     "slept",	    "cpu-off",	"cpu-on",   "fw",      "fw-time",
	"boot",	     "net",	    "disk",	"oops",	    "done",    "initcall",
};
static const char *const phases[] = {
	"",	    "notifiers",  "sync",     "freeze",	    "image",	"console-off",
	"prepare",  "suspend",	  "late",     "noirq",	    "cpu-off",	"syscore-down",
	"machine",  "syscore-up", "cpu-on",   "noirq-up",   "early-up", "resume",
	"complete", "console-on", "image-io", "image-read", "thaw",	"post",
};
static const char *const verbs[] = {"",	      "suspend", "freeze",  "hibernate", "quiesce",
				    "resume", "thaw",	 "restore", "recover"};
static const char *const modes[] = {"", "mem", "s2idle", "standby", "shallow", "disk"};
static const char *const fws[] = {"", "RESUME", "BOOT", "LAST"};

static void slice(struct ww_str *s, const char *name, struct ww_slice v)
{
	if (!v.n)
		return;
	ww_str_addf(s, " %s=", name);
	ww_str_addn(s, v.p, v.n);
}

static void word(struct ww_str *s, const char *before, const char *w)
{
	if (*w)
		ww_str_addf(s, "%s%s", before, w);
}

/* An event in one line: what is told, and nothing else. */
static void show(struct ww_str *s, const char *text, size_t n)
{
	static const char *const units[] = {"", "ms", "s", "us"};
	struct ww_pmev e;
	int kind;

	ww_str_reset(s);
	kind = ww_kmsg_parse(text, n, &e);
	assert_int_equal(kind, e.kind);
	ww_str_add(s, kinds[e.kind]);
	word(s, " ", phases[e.phase]);
	word(s, " v=", verbs[e.verb]);
	word(s, " m=", modes[e.mode]);
	word(s, " ", fws[e.fw]);
	if (e.generation)
		ww_str_addf(s, " %c", e.generation);
	if (e.pid >= 0)
		ww_str_addf(s, " @%d", e.pid);
	if (e.err)
		ww_str_addf(s, " err=%d", e.err);
	if (e.count >= 0)
		ww_str_addf(s, " n=%lld", (long long)e.count);
	if (e.dur_ns != WW_NO_TIME)
		ww_str_addf(s, " %lld%s", (long long)e.dur_ns, units[e.unit]);
	if (e.utc_ns != WW_NO_TIME)
		ww_str_addf(s, " utc=%lld", (long long)e.utc_ns);
	if (e.async)
		ww_str_add(s, " async");
	slice(s, "drv", e.driver);
	slice(s, "dev", e.device);
	slice(s, "par", e.parent);
	slice(s, "f", e.func);
	slice(s, "mod", e.module);
	slice(s, "task", e.task);
	slice(s, "wake", e.wakeup);
	if (e.text.n && !(e.text.p == text && e.text.n == n))
		slice(s, "text", e.text);
	if (e.partial)
		ww_str_add(s, " PARTIAL");
	assert_false(s->bad);
}

typedef void each_fn(const char *text, size_t n, const char *want);

static void each(each_fn *fn)
{
	FILE *f = fopen(DATA, "r");
	char line[1024];
	size_t rows = 0;

	if (!f)
		fail_msg(DATA ": run this in the project's folder");
	while (fgets(line, sizeof(line), f)) {
		char *tab = strchr(line, '\t'), *copy;

		if (line[0] == '#')
			continue;
		assert_non_null(tab);
		tab[strcspn(tab, "\n")] = '\0';
		/* Without a byte to spare: what is read beyond it is seen. */
		copy = malloc((size_t)(tab - line) + 1);
		assert_non_null(copy);
		memcpy(copy, line, (size_t)(tab - line));
		fn(copy, (size_t)(tab - line), tab + 1);
		free(copy);
		rows++;
	}
	fclose(f);
	assert_true(rows > 300);
}

static void same(const char *text, size_t n, const char *want)
{
	struct ww_str s = {0};

	show(&s, text, n);
	if (strcmp(s.p, want) != 0)
		fail_msg("%.*s\n  is   %s\n  not  %s", (int)n, text, s.p, want);
	ww_str_free(&s);
}

static void test_texts(void **state)
{
	(void)state;
	each(same);
}

/* Blanks around a message say nothing. */
static void blanks(const char *text, size_t n, const char *want)
{
	char buf[1100];

	buf[0] = ' ';
	memcpy(buf + 1, text, n);
	buf[n + 1] = ' ';
	if (!strstr(want, "text=") && !strchr("fro", want[0]))
		same(buf, n + 2, want);
}

static void test_blanks(void **state)
{
	(void)state;
	each(blanks);
}

static bool inside(struct ww_slice s, const char *text, size_t n)
{
	return !s.n || (s.p >= text && s.p + s.n <= text + n);
}

/* A text that was cut anywhere is told or not told, out of its own bytes alone. */
static void cut(const char *text, size_t n, const char *want)
{
	(void)want;
	for (size_t k = 0; k <= n; k++) {
		char *part = malloc(k + 1);
		struct ww_pmev e;

		assert_non_null(part);
		memcpy(part, text, k);
		assert_in_range(ww_kmsg_parse(part, k, &e), 0, WW_PMEV_KINDS - 1);
		assert_true(inside(e.device, part, k) && inside(e.driver, part, k) &&
			    inside(e.parent, part, k) && inside(e.func, part, k) &&
			    inside(e.module, part, k) && inside(e.task, part, k) &&
			    inside(e.wakeup, part, k) && inside(e.text, part, k));
		free(part);
	}
}

static void test_cut(void **state)
{
	(void)state;
	each(cut);
}

/* What a mail program wrapped is told once its lines are joined again. */
static void test_wrapped(void **state)
{
	static const char *const whole[] = {
		"e1000e 0000:00:1f.6: PM: calling pci_pm_suspend+0x0/0x1b0 @ 114, parent: 1-1",
		"e1000e 0000:00:1f.6: PM: pci_pm_suspend+0x0/0x1b0 [x] returned -16 after 81 usecs",
		"e1000e 0000:00:1f.6: pci_pm_suspend+0x0/0x1b0 returned 0 after 81 usecs",
		"PM: Some devices failed to suspend, or early wake event detected",
		"PM: Device 0000:00:14.0 with a long name failed to suspend async noirq: error -16",
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(whole); i++) {
		const char *blank = strchr(whole[i], ' ');
		size_t partial = 0;

		for (; blank; blank = strchr(blank + 1, ' ')) {
			struct ww_pmev e;

			/* Mail is wrapped near its right edge. */
			if (blank - whole[i] < 46)
				continue;
			ww_kmsg_parse(whole[i], (size_t)(blank - whole[i]), &e);
			if (!e.partial)
				fail_msg("'%.*s' is a beginning", (int)(blank - whole[i]),
					 whole[i]);
			partial++;
		}
		assert_true(partial > 1);
	}
}

/* Numbers that do not fit are not told, and nothing wraps round. */
static void test_numbers(void **state)
{
	struct ww_pmev e;
	const char *big = "call a+ returned 0 after 99999999999999999999 usecs";
	const char *huge = "e: PM: f+0x0/0x1 returned 99999999999 after 1 usecs";
	const char *neg = "call a+ returned 0 after -1 usecs";

	(void)state;
	assert_int_equal(ww_kmsg_parse(big, strlen(big), &e), WW_PMEV_NONE);
	assert_int_equal(ww_kmsg_parse(huge, strlen(huge), &e), WW_PMEV_NONE);
	assert_int_equal(ww_kmsg_parse(neg, strlen(neg), &e), WW_PMEV_NONE);
	big = "PM: Timekeeping suspended for 99999999999 seconds";
	assert_int_equal(ww_kmsg_parse(big, strlen(big), &e), WW_PMEV_NONE);
	assert_int_equal(e.dur_ns, WW_NO_TIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),	cmocka_unit_test(test_blanks),
		cmocka_unit_test(test_cut),	cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

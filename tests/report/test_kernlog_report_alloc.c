/* SPDX-License-Identifier: MIT */
/* Each allocation of a kernel log's report fails once: it is said, and nothing leaks. */
#include "base/base.h"

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"
#include "../scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

static void compose(FILE *f, int base, int failed)
{
	fprintf(f, "[%5d.000000] PM: suspend entry (deep)\n", base);
	fprintf(f, "[%5d.002000] Freezing user space processes\n", base);
	fprintf(f, "[%5d.003000] Freezing user space processes completed (elapsed 0.001 seconds)\n",
		base);
	fprintf(f,
		"[%5d.010000] kettle 3-1: PM: calling kettle_suspend+0x0/0x20 @ 7, parent: 3-0\n",
		base);
	fprintf(f,
		"[%5d.060000] kettle 3-1: PM: kettle_suspend+0x0/0x20 returned %d after 50000 "
		"usecs\n",
		base, failed);
	if (failed) {
		fprintf(f, "[%5d.060100] kettle 3-1: PM: failed to suspend: error %d\n", base,
			failed);
		fprintf(f,
			"[%5d.060200] PM: Some devices failed to suspend, or early wake event "
			"detected\n",
			base);
	} else {
		fprintf(f, "[%5d.300000] ACPI: PM: Low-level resume complete\n", base);
		fprintf(f, "[%5d.300100] PM: Timekeeping suspended for 3.125 seconds\n", base);
		fprintf(f, "[%5d.310000] PM: resume of devices complete after 9.000 msecs\n", base);
	}
	fprintf(f, "[%5d.320000] Restarting tasks ... done.\n", base);
	fprintf(f, "[%5d.330000] PM: suspend exit\n", base);
}

static char path[128];

static void make(void)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/wwklog%d.txt", scratch(), (int)getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < 5; i++)
		compose(f, 100 + 10 * i, i == 3 ? -16 : 0);
	fclose(f);
}

static int64_t whole(int form, int detail, int fd, struct ww_error *err)
{
	struct ww_page_options opt = {.size = sizeof(opt), .detail = detail};
	struct ww_kernlog *k = NULL;
	struct ww_text *text = NULL;
	int64_t rc = ww_text_open(path, &text, err);

	if (rc >= 0)
		rc = ww_kernlog_new(&text, 1, NULL, &k, err);
	if (rc >= 0)
		rc = ww_kernlog_report(k, form, &opt, fd, err);
	ww_kernlog_free(k);
	ww_text_close(text);
	return rc;
}

static void each(int form, int detail)
{
	bool reached = true;
	int n = 0, told = 0;

	/* What is only remembered to save time may fail without a word. */
	for (; reached; n++) {
		struct ww_error err = {0};
		int fd = memfd_create("report", 0);
		int64_t rc;

		assert_true(fd >= 0 && n < 20000);
		left = n;
		rc = whole(form, detail, fd, &err);
		reached = left < 0;
		left = -1;
		close(fd);
		assert_true(rc == 5 || rc == -ENOMEM);
		assert_int_equal(err.code, rc < 0 ? rc : 0);
		told += rc < 0;
	}
	assert_true(told > 40);
}

static void test_all(void **state)
{
	(void)state;
	make();
	each(WW_REPORT_TEXT, WW_DETAIL_AUTO);
	each(WW_REPORT_TEXT, WW_DETAIL_ALL);
	each(WW_REPORT_JSON, 0);
	each(WW_REPORT_CSV, 0);
	each(WW_REPORT_TRACE_EVENTS, 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

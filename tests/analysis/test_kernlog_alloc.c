/* SPDX-License-Identifier: MIT */
/* Each allocation of the reader fails once, of one text and of a pair: it is said. */
#include "kernlogtext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static const char KERNEL[] =
	"[   10.000000] PM: suspend entry (deep)\n"
	"[   10.010000] Filesystems sync: 0.009 seconds\n"
	"[   10.020000] Suspending console(s) (use no_console_suspend to debug)\n"
	"[   10.030000] pci a\xff: PM: calling pci_pm_suspend+0x0/0x1 @ 7, parent: p\n"
	"[   10.230000] pci a\xff: PM: pci_pm_suspend+0x0/0x1 returned 0 after 199990 usecs\n"
	"[   10.240000] PM: suspend of devices complete after 219.000 msecs\n"
	"[   10.250000] Disabling non-boot CPUs ...\n"
	"[   10.260000] psci: CPU1 killed.\n"
	"[   10.270000] Enabling non-boot CPUs ...\n"
	"[   10.280000] CPU1 is up\n"
	"[   10.300000] PM: Device 1-1 failed to resume async: error -13\n"
	"[   10.480000] PM: resume of devices complete after 169.000 msecs\n"
	"[   10.490000] Restarting tasks ... done.\n"
	"[   10.550000] PM: suspend exit\n"
	"[   99.000000] PM: suspend entry (deep)\n"
	"[   99.100000] Freezing of tasks failed after 0.009 seconds (1 tasks refusing to freeze, "
	"wq_busy=0):\n";
static const char FTRACE[] =
	"# tracer: nop\n"
	"  sh-12  [000] ....   10.000000: suspend_resume: suspend_enter[3] begin\n"
	"  sh-12  [000] ....   10.021000: suspend_resume: dpm_suspend[2] begin\n"
	"  sh-12  [000] ....   10.031000: device_pm_callback_start: pci b, parent: p, bus "
	"[suspend]\n"
	"  sh-12  [000] ....   10.032000: device_pm_callback_end: pci b, err=0\n"
	"  sh-12  [000] ....   10.240000: suspend_resume: dpm_suspend[2] end\n"
	"  sh-12  [000] ....   10.262000: suspend_resume: machine_suspend[3] begin\n"
	"  sh-12  [000] ....   10.268000: suspend_resume: machine_suspend[3] end\n"
	"  sh-12  [000] ....   10.311000: suspend_resume: dpm_resume[16] begin\n"
	"  sh-12  [000] ....   10.480000: suspend_resume: dpm_resume[16] end\n"
	"  sh-12  [000] ....   10.490000: suspend_resume: thaw_processes[0] begin\n"
	"  sh-12  [000] ....   10.500000: suspend_resume: thaw_processes[0] end\n";

/* @return cycles, or what failed */
static int whole(bool pair, struct ww_error *err)
{
	static struct memory_text a, b;
	struct ww_text *const text[2] = {&a.base, &b.base};
	const struct ww_pm_cycle *c;
	struct ww_kernlog *k = NULL;
	struct ww_pm_cycle *copy;
	int rc, n = 0;

	memory_text(&a, KERNEL, sizeof(KERNEL) - 1, 50);
	memory_text(&b, FTRACE, sizeof(FTRACE) - 1, 50);
	if (!pair) {
		a.byte_ns = 1000;
		a.t0 = 1;
	}
	rc = ww_kernlog_new(text, pair ? 2 : 1, NULL, &k, err);
	while (rc == 0 && (rc = ww_kernlog_next(k, &c, err)) == 1) {
		n++;
		copy = ww_pm_cycle_copy(c, 1);
		rc = copy == NULL ? ww_fail(err, -ENOMEM, "no memory for a copy") : 0;
		ww_pm_cycle_free(copy);
	}
	ww_kernlog_free(k);
	return rc < 0 ? rc : n;
}

static void test_each(void **state)
{
	(void)state;
	for (int pair = 0; pair < 2; pair++) {
		struct ww_error err = {0};
		int n = 0, failed = 0, rc;
		bool more = true;

		assert_int_equal(whole(pair, &err), 2);
		for (; more; n++) {
			struct ww_error e = {0};

			assert_true(n < 10000);
			left = n;
			rc = whole(pair, &e);
			more = left < 0;
			left = -1;
			failed += rc < 0;
			assert_true(rc == 2 || rc == -ENOMEM);
			assert_int_equal(e.code, rc < 0 ? rc : 0);
			assert_true(rc >= 0 || e.text[0]);
		}
		/* Some may fail unsaid: what only saves time, or corrects figures. */
		assert_true(n > 30 && failed > n * 3 / 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

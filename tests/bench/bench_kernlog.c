/* SPDX-License-Identifier: MIT */
/*
 * How fast suspends are read: kernel text and ftrace text composed in memory, the whole path
 * from bytes to finished cycles. `bench_kernlog [MB]`, one line a kind.
 */
#include "analysis/kernlog.h"
#include "base/str.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

struct loop {
	struct ww_text base;
	const char *p;
	size_t n, at, left;
};

static int loop_next(struct ww_text *t, const uint8_t **data, size_t *n, const int64_t **lo,
		     const int64_t **hi, struct ww_error *err)
{
	struct loop *l = (struct loop *)t;
	size_t some = l->n - l->at;

	(void)err;
	if (l->left == 0)
		return 0;
	some = some < 65536 ? some : 65536;
	*data = (const uint8_t *)l->p + l->at;
	*n = some;
	*lo = *hi = NULL;
	l->at = (l->at + some) % l->n;
	l->left -= some < l->left ? some : l->left;
	return 1;
}

static void stamp(struct ww_str *s, int64_t us)
{
	ww_str_addf(s, "[%5lld.%06lld] ", (long long)(us / 1000000), (long long)(us % 1000000));
}

static void say(struct ww_str *s, int64_t *us, int step, const char *text)
{
	*us += step;
	stamp(s, *us);
	ww_str_add(s, text);
	ww_str_add(s, "\n");
}

/* `devices` calls in each phase of a cycle, `other` lines of drivers between two cycles. */
static void kernel_text(struct ww_str *s, int devices, int other)
{
	static const char *const plain[] = {
		"usb 3-2: new high-speed USB device number 17 using xhci_hcd",
		"audit: type=1400 audit(1600000000.123:77): apparmor=\"STATUS\" operation=\"x\"",
		"EXT4-fs (nvme0n1p2): mounted filesystem with ordered data mode. Opts: (null)",
		"r8169 0000:02:00.0 eth0: link down",
		"PM: late",
		"wlan0: authenticated",
		"pcieport 0000:00:1c.5: AER: Corrected error received: 0000:00:1c.5"};
	int64_t us = 1000000;

	for (int cycle = 0; cycle < 20; cycle++) {
		for (int i = 0; i < other; i++)
			say(s, &us, 1000, plain[(size_t)(i + cycle) % WW_COUNTOF(plain)]);
		say(s, &us, 20000000, "PM: suspend entry (deep)");
		say(s, &us, 3000, "Filesystems sync: 0.002 seconds");
		say(s, &us, 100, "Freezing user space processes");
		say(s, &us, 900, "Freezing user space processes completed (elapsed 0.001 seconds)");
		say(s, &us, 100, "printk: Suspending console(s) (use no_console_suspend to debug)");
		for (int i = 0; i < devices; i++) {
			us += 50;
			stamp(s, us);
			ww_str_addf(s,
				    "drv%d 0000:00:%02x.%d: PM: calling pci_pm_suspend+0x0/0x1b0 @ "
				    "%d, parent: pci0000:00\n",
				    i % 17, i / 8, i % 8, 400 + i % 3);
			us += 250;
			stamp(s, us);
			ww_str_addf(s,
				    "drv%d 0000:00:%02x.%d: PM: pci_pm_suspend+0x0/0x1b0 returned "
				    "0 after 245 usecs\n",
				    i % 17, i / 8, i % 8);
		}
		say(s, &us, 100, "PM: suspend of devices complete after 75.100 msecs");
		say(s, &us, 900, "PM: late suspend of devices complete after 0.800 msecs");
		say(s, &us, 900, "PM: noirq suspend of devices complete after 0.900 msecs");
		say(s, &us, 900, "Disabling non-boot CPUs ...");
		say(s, &us, 4000, "smpboot: CPU 1 is now offline");
		say(s, &us, 500, "ACPI: PM: Low-level resume complete");
		say(s, &us, 10, "Timekeeping suspended for 20.000 seconds");
		say(s, &us, 10, "Enabling non-boot CPUs ...");
		say(s, &us, 4000, "CPU1 is up");
		say(s, &us, 900, "PM: noirq resume of devices complete after 0.800 msecs");
		say(s, &us, 900, "PM: early resume of devices complete after 0.800 msecs");
		say(s, &us, 900, "PM: resume of devices complete after 0.800 msecs");
		say(s, &us, 900, "Restarting tasks ... done.");
		say(s, &us, 900, "PM: suspend exit");
	}
}

static void event(struct ww_str *s, int64_t *us, int pid, const char *text)
{
	*us += 30;
	ww_str_addf(s, "   kworker/u16:%d-%-6d [%03d] .....  %5lld.%06lld: %s\n", pid % 10, pid,
		    pid % 4, (long long)(*us / 1000000), (long long)(*us % 1000000), text);
}

static void phase(struct ww_str *s, int64_t *us, const char *name, const char *ops, int devices)
{
	char text[256];

	snprintf(text, sizeof(text), "suspend_resume: %s begin", name);
	event(s, us, 400, text);
	for (int i = 0; i < devices; i++) {
		snprintf(text, sizeof(text),
			 "device_pm_callback_start: drv%d 0000:00:%02x.%d, parent: pci0000:00, %s",
			 i % 17, i / 8, i % 8, ops);
		event(s, us, 400 + i % 7, text);
		snprintf(text, sizeof(text), "device_pm_callback_end: drv%d 0000:00:%02x.%d, err=0",
			 i % 17, i / 8, i % 8);
		event(s, us, 400 + i % 7, text);
	}
	snprintf(text, sizeof(text), "suspend_resume: %s end", name);
	event(s, us, 400, text);
}

static void ftrace_text(struct ww_str *s, int devices)
{
	int64_t us = 1000000;

	ww_str_add(s, "# tracer: nop\n#\n");
	for (int cycle = 0; cycle < 20; cycle++) {
		event(s, &us, 400, "suspend_resume: suspend_enter[3] begin");
		phase(s, &us, "sync_filesystems[0]", "", 0);
		phase(s, &us, "freeze_processes[0]", "", 0);
		phase(s, &us, "dpm_prepare[2]", "preparing bus [suspend]", devices);
		phase(s, &us, "dpm_suspend[2]", "bus [suspend]", devices);
		phase(s, &us, "dpm_suspend_noirq[2]", "noirq bus [suspend]", devices);
		phase(s, &us, "machine_suspend[3]", "", 0);
		phase(s, &us, "dpm_resume_noirq[16]", "noirq bus [resume]", devices);
		phase(s, &us, "dpm_resume[16]", "bus [resume]", devices);
		phase(s, &us, "dpm_complete[16]", "completing bus [resume]", devices);
		phase(s, &us, "thaw_processes[0]", "", 0);
		us += 20000000;
	}
}

static int run(const char *what, struct ww_str *s, size_t bytes)
{
	struct loop loop = {.base = {.name = (char *)(uintptr_t)what, .next = loop_next},
			    .p = s->p,
			    .n = s->n,
			    .left = bytes};
	struct ww_text *text = &loop.base;
	const struct ww_pm_cycle *c;
	struct ww_kernlog *k = NULL;
	struct ww_error err = {0};
	struct rusage use;
	uint64_t cycles = 0, devices = 0;
	int64_t t0 = ww_clock_ns(CLOCK_PROCESS_CPUTIME_ID), ns;
	int rc;

	if (s->bad || ww_kernlog_new(&text, 1, NULL, &k, &err) < 0)
		return 1;
	while ((rc = ww_kernlog_next(k, &c, &err)) == 1) {
		cycles++;
		devices += c->devices;
	}
	ns = ww_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - t0;
	getrusage(RUSAGE_SELF, &use);
	printf("%-38s %6.1f MB/s  %llu cycles, %llu callbacks, at most %ld MB of memory\n", what,
	       (double)bytes / 1e6 / ((double)ns / 1e9), (unsigned long long)cycles,
	       (unsigned long long)devices, use.ru_maxrss / 1024);
	if (rc < 0)
		printf("%s\n", err.text);
	ww_kernlog_free(k);
	ww_str_free(s);
	return rc < 0;
}

int main(int argc, char **argv)
{
	size_t mb = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	struct ww_str s = {0};
	int bad = 0;

	kernel_text(&s, 0, 5000);
	bad |= run("kernel text, drivers' lines", &s, mb * 1000000);
	kernel_text(&s, 250, 4500);
	bad |= run("kernel text, every tenth of a device", &s, mb * 1000000);
	kernel_text(&s, 1000, 0);
	bad |= run("kernel text, devices alone", &s, mb * 1000000);
	ftrace_text(&s, 500);
	bad |= run("ftrace text", &s, mb * 1000000);
	return bad;
}

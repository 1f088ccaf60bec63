/* SPDX-License-Identifier: MIT */
/* Suspends made by hand, with hostile names, and a page of them. */
#ifndef TESTS_PAGEMADE_H
#define TESTS_PAGEMADE_H

#include "report/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define MS INT64_C(1000000)
#define HOSTILE                                                                                    \
	"</script><script>alert(1)</script><!--\"'&\xff\xe2\x80\xae"                               \
	"\x01x"

static inline struct ww_interval exactly(int64_t ns)
{
	return (struct ww_interval){ns, ns};
}

#define DEVICES 70
#define SPANS	16

/* A suspend by hand. Its strings live as long as it does. */
struct made {
	struct ww_pm_cycle c;
	struct ww_pm_device device[DEVICES];
	struct ww_pm_span span[SPANS];
	struct ww_pm_other other[2];
	const char *error[1];
	char name[DEVICES][64];
	uint32_t rng;
};

static inline uint32_t rnd(struct made *m, uint32_t n)
{
	m->rng = m->rng * 1664525 + 1013904223;
	return (m->rng >> 8) % n;
}

static inline int64_t add_phase(struct made *m, int phase, int64_t at, int64_t length)
{
	m->span[m->c.spans++] = (struct ww_pm_span){.phase = phase,
						    .verb = phase <= WW_PM_MACHINE ? WW_PM_V_SUSPEND
										   : WW_PM_V_RESUME,
						    .start_ns = at,
						    .end_ns = at + length,
						    .length = exactly(length),
						    .printed = WW_INTERVAL_NONE,
						    .traced = WW_INTERVAL_NONE,
						    .corrected = exactly(length - length / 10)};
	return at + length;
}

static inline void add_device(struct made *m, const char *driver, int phase, int64_t at,
			      int64_t length, unsigned flags)
{
	size_t i = m->c.devices++;

	m->device[i] =
		(struct ww_pm_device){.name = m->name[i],
				      .driver = driver,
				      .parent = "pci0000:00",
				      .func = "pci_pm_resume",
				      .phase = phase,
				      .verb = phase <= WW_PM_MACHINE ? WW_PM_V_SUSPEND
								     : WW_PM_V_RESUME,
				      .start_ns = at,
				      .end_ns = at + length,
				      .length = exactly(length),
				      .corrected = length > 20 * MS ? exactly(length - 18 * MS)
								    : exactly(length),
				      .printed = WW_INTERVAL_NONE,
				      .error = flags & 4 ? -5 : 0,
				      .pid = 1000,
				      .async = flags & 1 ? 1 : 0,
				      .critical = flags & 2 ? 1 : 0,
				      .critical_ns = flags & 2 ? length : 0,
				      .from = 1};
}

static inline void fill_devices(struct made *m, int phase, int64_t at, int64_t length, size_t n)
{
	static const char *const drivers[] = {"ahci",	       "usb",	 "i915",
					      "snd_hda_intel", "e1000e", "sd"};

	for (size_t i = 0; i < n; i++) {
		int64_t start = at + length * rnd(m, 700) / 1000;
		int64_t room = at + length - start;

		snprintf(m->name[m->c.devices], sizeof(m->name[0]), "%s%u",
			 i % 3 ? "0000:00:1f." : "usb", (unsigned)i);
		add_device(m, drivers[i % 6], phase, start, room * (50 + rnd(m, 900)) / 1000,
			   i % 2 ? 1 : 0);
	}
}

static inline void make(struct made *m, uint32_t n)
{
	int64_t t = 100000 * MS + n * 20000 * MS, wake;

	*m = (struct made){.rng = n * 77 + 5};
	m->c = (struct ww_pm_cycle){.n = n,
				    .mode = WW_PM_MODE_MEM,
				    .result = n % 17 == 3 ? WW_PM_FAILED : WW_PM_OK,
				    .sleeps = 1,
				    .kernel = "6.1.0",
				    .stamp_res_ns = 1000,
				    .clock = WW_PM_CLOCK_PRINTK};
	m->c.reason = (struct ww_pm_reason){.step = "",
					    .device = "",
					    .driver = "",
					    .func = "",
					    .task = "",
					    .wakeup = "rtc0",
					    .text = ""};
	if (m->c.result == WW_PM_FAILED)
		m->c.reason = (struct ww_pm_reason){.step = "suspend",
						    .device = HOSTILE,
						    .driver = "usb",
						    .func = "",
						    .task = "",
						    .wakeup = "",
						    .text = "",
						    .error = -16};
	m->c.t.lo_ns = t;
	t = add_phase(m, WW_PM_SYNC, t, 12 * MS);
	t = add_phase(m, WW_PM_FREEZE, t, 9 * MS);
	fill_devices(m, WW_PM_SUSPEND, t, 190 * MS, 18);
	t = add_phase(m, WW_PM_SUSPEND, t, 190 * MS);
	t = add_phase(m, WW_PM_SUSPEND_LATE, t, 14 * MS);
	t = add_phase(m, WW_PM_SUSPEND_NOIRQ, t, 25 * MS);
	t = add_phase(m, WW_PM_CPU_OFF, t, 48 * MS);
	m->c.sleep_begin = m->c.sleep_end = exactly(t);
	wake = t;
	t = add_phase(m, WW_PM_CPU_ON, t, 61 * MS);
	t = add_phase(m, WW_PM_RESUME_NOIRQ, t, 22 * MS);
	t = add_phase(m, WW_PM_RESUME_EARLY, t, 8 * MS);
	fill_devices(m, WW_PM_RESUME, t, 330 * MS, 40);
	snprintf(m->name[m->c.devices], sizeof(m->name[0]), "%s", "latethaw.0");
	add_device(m, "latethaw", WW_PM_RESUME, t + 3 * MS, 320 * MS + rnd(m, 9) * MS, 3);
	snprintf(m->name[m->c.devices], sizeof(m->name[0]), "%s", HOSTILE);
	add_device(m, "evil'\"><b>", WW_PM_RESUME, t + 5 * MS, 90 * MS, 4);
	t = add_phase(m, WW_PM_RESUME, t, 330 * MS + rnd(m, 40) * MS);
	t = add_phase(m, WW_PM_COMPLETE, t, 3 * MS);
	t = add_phase(m, WW_PM_THAW, t, 5 * MS);
	m->c.t.hi_ns = t;
	m->c.suspend = exactly(wake - m->c.t.lo_ns);
	m->c.resume = m->c.result == WW_PM_OK ? (struct ww_interval){t - wake - MS, t - wake + MS}
					      : WW_INTERVAL_NONE;
	m->c.suspend_corrected = exactly(m->c.suspend.lo_ns - 30 * MS);
	m->c.resume_corrected = m->c.resume;
	m->c.slept = exactly(9579 * MS);
	m->c.firmware_suspend = m->c.firmware_resume = m->c.network = m->c.storage =
		WW_INTERVAL_NONE;
	m->c.bench_begin = m->c.bench_end = WW_INTERVAL_NONE;
	m->other[m->c.others++] = (struct ww_pm_other){.what = "silent gap",
						       .before = "a line before",
						       .after = HOSTILE,
						       .start_ns = wake + 100 * MS,
						       .length = exactly(120 * MS)};
	m->c.device = m->device;
	m->c.span = m->span;
	m->c.other = m->other;
}

static inline int make_page_or(struct ww_page *p, uint32_t cycles, struct made *m,
			       struct ww_error *err)
{
	int rc = 0;

	*p = (struct ww_page){.what = "resumetime kernlog"};
	ww_page_begin(p, NULL);
	p->title = "kernel log " HOSTILE;
	for (uint32_t i = 1; i <= cycles && rc >= 0; i++) {
		make(m, i);
		rc = ww_page_add(p, i - 1, NULL, &m->c, err);
	}
	ww_note(&p->notes, "a note with <b>, & and %s", HOSTILE);
	return rc < 0 ? rc : ww_page_finish(p, err);
}

static inline void make_page(struct ww_page *p, uint32_t cycles)
{
	struct ww_error err = {0};
	struct made *m = malloc(sizeof(*m));

	if (!m || make_page_or(p, cycles, m, &err) < 0)
		fail_msg("%s", err.text);
	free(m);
}

#endif

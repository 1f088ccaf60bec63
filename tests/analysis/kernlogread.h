/* SPDX-License-Identifier: MIT */
/* Reading of texts for the tests of suspends: their cycles copied, their figures looked up. */
#ifndef TESTS_KERNLOGREAD_H
#define TESTS_KERNLOGREAD_H

#include "kernlogtext.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define MS WW_NS_PER_MS

enum { CYCLES_MAX = 16 };

static struct ww_pm_cycle *cycle[CYCLES_MAX];
static char notes[4096], input[256];

static void forget(void)
{
	for (size_t i = 0; i < CYCLES_MAX; i++) {
		ww_pm_cycle_free(cycle[i]);
		cycle[i] = NULL;
	}
}

/* @return number of cycles of these texts */
static size_t take(struct ww_text *const *text, size_t n)
{
	struct ww_error err = {0};
	struct ww_kernlog *k = NULL;
	const struct ww_pm_cycle *c;
	size_t got = 0;
	int rc;

	forget();
	if (ww_kernlog_new(text, n, NULL, &k, &err) < 0)
		fail_msg("%s", err.text);
	while ((rc = ww_kernlog_next(k, &c, &err)) == 1) {
		assert_true(got < CYCLES_MAX);
		assert_int_equal(c->n, got + 1);
		cycle[got] = ww_pm_cycle_copy(c, 0);
		assert_non_null(cycle[got++]);
	}
	if (rc < 0)
		fail_msg("%s", err.text);
	snprintf(input, sizeof(input), "%s", ww_kernlog_input(k, 0));
	assert_null(ww_kernlog_input(k, n));
	notes[0] = '\0';
	for (size_t i = 0; ww_kernlog_note(k, i); i++) {
		strncat(notes, ww_kernlog_note(k, i), sizeof(notes) - strlen(notes) - 2);
		strncat(notes, "\n", sizeof(notes) - strlen(notes) - 1);
	}
	ww_kernlog_free(k);
	return got;
}

static size_t read_in(const char *p, size_t step)
{
	static struct memory_text m;
	struct ww_text *t = &m.base;

	memory_text(&m, p, strlen(p), step);
	return take(&t, 1);
}

static inline size_t read_all(const char *p)
{
	size_t n = read_in(p, 1), i;
	struct ww_interval s[CYCLES_MAX];

	for (i = 0; i < n; i++)
		s[i] = cycle[i]->suspend;
	assert_int_equal(read_in(p, 7), n);
	assert_int_equal(read_in(p, 0), n);
	for (i = 0; i < n; i++) {
		assert_true(s[i].lo_ns == cycle[i]->suspend.lo_ns);
		assert_true(s[i].hi_ns == cycle[i]->suspend.hi_ns);
	}
	return n;
}

static inline const struct ww_pm_span *span(size_t i, int phase)
{
	for (size_t k = 0; k < cycle[i]->spans; k++)
		if (cycle[i]->span[k].phase == phase)
			return &cycle[i]->span[k];
	fail_msg("no phase %s", ww_pm_phase_name(phase));
	return NULL;
}

static inline const struct ww_pm_device *device(size_t i, const char *name, int phase)
{
	for (size_t k = 0; k < cycle[i]->devices; k++)
		if (!strcmp(cycle[i]->device[k].name, name) && cycle[i]->device[k].phase == phase)
			return &cycle[i]->device[k];
	fail_msg("no device %s in %s", name, ww_pm_phase_name(phase));
	return NULL;
}

static inline const struct ww_pm_other *other(size_t i, const char *what)
{
	for (size_t k = 0; k < cycle[i]->others; k++)
		if (!strcmp(cycle[i]->other[k].what, what))
			return &cycle[i]->other[k];
	fail_msg("no %s", what);
	return NULL;
}

/* The truth lies in the interval, and the interval is no wider than told. */
static void holds(struct ww_interval v, int64_t truth, int64_t width)
{
	if (v.lo_ns > truth || v.hi_ns < truth || v.hi_ns - v.lo_ns > width)
		fail_msg("%lld not in [%lld, %lld]", (long long)truth, (long long)v.lo_ns,
			 (long long)v.hi_ns);
}

/* Entry at 100 s; asleep between 100.260 and 100.270; awake again until the thaw at 100.500. */
#define DOWN                                                                                       \
	"[  100.000000] PM: suspend entry (deep)\n"                                                \
	"[  100.010000] Filesystems sync: 0.009 seconds\n"                                         \
	"[  100.012000] Freezing user space processes\n"                                           \
	"[  100.015000] Freezing user space processes completed (elapsed 0.003 seconds)\n"         \
	"[  100.016000] OOM killer disabled.\n"                                                    \
	"[  100.017000] Freezing remaining freezable tasks\n"                                      \
	"[  100.019000] Freezing remaining freezable tasks completed (elapsed 0.001 seconds)\n"    \
	"[  100.020000] printk: Suspending console(s) (use no_console_suspend to debug)\n"         \
	"[  100.200000] PM: suspend of devices complete after 179.500 msecs\n"                     \
	"[  100.201000] PM: start suspend of devices complete after 179.900 msecs\n"               \
	"[  100.210000] PM: late suspend of devices complete after 8.500 msecs\n"                  \
	"[  100.220000] PM: noirq suspend of devices complete after 9.000 msecs\n"                 \
	"[  100.230000] Disabling non-boot CPUs ...\n"                                             \
	"[  100.245000] psci: CPU1 killed (polled 0 ms)\n"                                         \
	"[  100.260000] psci: CPU2 killed (polled 4 ms)\n"
#define UP                                                                                         \
	"[  100.270000] Enabling non-boot CPUs ...\n"                                              \
	"[  100.280000] CPU1 is up\n"                                                              \
	"[  100.290000] CPU2 is up\n"                                                              \
	"[  100.300000] PM: noirq resume of devices complete after 9.000 msecs\n"                  \
	"[  100.310000] PM: early resume of devices complete after 9.500 msecs\n"                  \
	"[  100.480000] PM: resume of devices complete after 169.000 msecs\n"                      \
	"[  100.490000] OOM killer enabled.\n"                                                     \
	"[  100.495000] Restarting tasks: Starting\n"                                              \
	"[  100.500000] Restarting tasks: Done\n"                                                  \
	"[  100.550000] PM: suspend exit\n"

#endif

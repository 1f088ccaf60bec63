/* SPDX-License-Identifier: MIT */
/* The critical path: on callbacks whose waits are known. */
#include "pmhand.h"

static size_t dev(struct hand *h, int phase, const char *name, const char *parent, int32_t pid,
		  int64_t from_us, int64_t to_us)
{
	struct ww_pm_device *d = ww_pm_add_device(h->w);

	assert_non_null(d);
	d->name = name;
	d->driver = d->func = "";
	d->parent = parent;
	d->phase = phase;
	d->pid = pid;
	d->start_ns = from_us * US;
	d->end_ns = to_us < 0 ? WW_TIME_MAX : to_us * US;
	d->length = (struct ww_interval){d->end_ns - d->start_ns, d->end_ns - d->start_ns};
	return h->w->devices - 1;
}

static void on_path(const struct hand *h, size_t i, int64_t own_us)
{
	const struct ww_pm_device *d = &h->w->device[i];

	if (own_us < 0 && d->critical)
		fail_msg("%s is not critical", d->name);
	if (own_us >= 0 && (!d->critical || d->critical_ns != own_us * US))
		fail_msg("%s: critical %d, %lld us, not %lld", d->name, d->critical,
			 (long long)d->critical_ns / 1000, (long long)own_us);
}

/* A child waits for its parent, in another task; what ran beside it did not matter. */
static void resume_by_parents(void **state)
{
	struct hand h = hand_new(0, 0);
	size_t hub, disk, usb, leaf, fast;

	(void)state;
	hub = dev(&h, WW_PM_RESUME, "hub", "root", 10, 100, 40000);
	disk = dev(&h, WW_PM_RESUME, "disk", "ata", 11, 100, 70000);
	usb = dev(&h, WW_PM_RESUME, "usb", "hub", 12, 40050, 90000);
	leaf = dev(&h, WW_PM_RESUME, "leaf", "usb", 13, 90030, 100000);
	fast = dev(&h, WW_PM_RESUME, "fast", "root", 14, 200, 300);
	hand_span(&h, WW_PM_RESUME, 0, 100100 * US);
	ww_pm_critical(h.w);
	on_path(&h, hub, 39900);
	on_path(&h, usb, 49950);
	on_path(&h, leaf, 9970);
	on_path(&h, disk, -1);
	on_path(&h, fast, -1);
	ww_pm_work_free(h.w);
}

/* On the way to sleep a parent waits for its children. */
static void suspend_by_children(void **state)
{
	struct hand h = hand_new(0, 0);
	size_t child, other, parent;

	(void)state;
	child = dev(&h, WW_PM_SUSPEND, "sda", "host0", 21, 10, 800000);
	other = dev(&h, WW_PM_SUSPEND, "sdb", "host0", 22, 10, 300000);
	parent = dev(&h, WW_PM_SUSPEND, "host0", "ata1", 1, 800020, 801000);
	hand_span(&h, WW_PM_SUSPEND, 0, 801100 * US);
	ww_pm_critical(h.w);
	on_path(&h, child, 799990);
	on_path(&h, parent, 980);
	on_path(&h, other, -1);
	ww_pm_work_free(h.w);
}

/* One task: each waits for the one before; an asynchronous one beside them does not count. */
static void one_task(void **state)
{
	struct hand h = hand_new(0, 0);
	size_t v[20], beside = dev(&h, WW_PM_RESUME_NOIRQ, "beside", "p", 30, 5, 1500);

	(void)state;
	for (size_t i = 0; i < 20; i++)
		v[i] = dev(&h, WW_PM_RESUME_NOIRQ, "d", "p", 1, 10 + 100 * (int64_t)i,
			   10 + 100 * (int64_t)i + 90);
	hand_span(&h, WW_PM_RESUME_NOIRQ, 0, 2010 * US);
	ww_pm_critical(h.w);
	for (size_t i = 0; i < 20; i++)
		on_path(&h, v[i], 90);
	on_path(&h, beside, -1);
	ww_pm_work_free(h.w);
}

/* A supplier is in no text: what ended just before is taken for it. */
static void unknown_supplier(void **state)
{
	struct hand h = hand_new(0, 0);
	size_t clock, gpu, old;

	(void)state;
	old = dev(&h, WW_PM_RESUME, "bus", "", 41, 0, 2000);
	clock = dev(&h, WW_PM_RESUME, "clock", "x", 40, 10, 60000);
	gpu = dev(&h, WW_PM_RESUME, "gpu", "bus", 42, 60080, 90000);
	hand_span(&h, WW_PM_RESUME, 0, 90010 * US);
	ww_pm_critical(h.w);
	on_path(&h, gpu, 29920);
	on_path(&h, clock, 59990);
	on_path(&h, old, -1);
	ww_pm_work_free(h.w);
}

/* No stamps, a call without a return, no span: nothing invented. */
static void little_known(void **state)
{
	struct hand h = hand_new(0, 0);
	size_t never, a;

	(void)state;
	never = dev(&h, WW_PM_RESUME, "never", "", 1, 10, -1);
	a = dev(&h, WW_PM_RESUME, "a", "", 1, 0, 5);
	h.w->device[a].start_ns = WW_TIME_MIN;
	ww_pm_critical(h.w);
	on_path(&h, never, -1);
	on_path(&h, a, -1);
	h.w->device[a].start_ns = 0;
	ww_pm_critical(h.w);
	on_path(&h, a, 5);
	ww_pm_work_free(h.w);
}

/* Phases that come twice (a roll-back, hibernation) have a path each. */
static void phase_twice(void **state)
{
	struct hand h = hand_new(0, 0);
	size_t a = dev(&h, WW_PM_RESUME, "a", "", 1, 10, 500), b;

	(void)state;
	b = dev(&h, WW_PM_RESUME, "a", "", 1, 5010, 5900);
	hand_span(&h, WW_PM_RESUME, 0, 510 * US);
	hand_span(&h, WW_PM_RESUME, 5000 * US, 6000 * US);
	ww_pm_critical(h.w);
	on_path(&h, a, 490);
	on_path(&h, b, 890);
	ww_pm_work_free(h.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resume_by_parents), cmocka_unit_test(suspend_by_children),
		cmocka_unit_test(one_task),	     cmocka_unit_test(unknown_supplier),
		cmocka_unit_test(little_known),	     cmocka_unit_test(phase_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Functions that pm-graph probes ("acpi_pm_finish_cal", "acpi_pm_finish_ret"), in the task that
 * suspends and outside of devices' callbacks: they cost time and are no device.
 */
#include "analysis/pmbuild.h"

#define LEAST_NS (WW_NS_PER_MS)

static struct ww_pm_probe *of_name(struct ww_pmbuild *b, struct ww_slice func)
{
	struct ww_pm_probe *p;
	size_t i, n = func.n < sizeof(p->name) ? func.n : sizeof(p->name);

	for (i = 0; i < b->s.probes; i++) {
		p = &b->s.probe[i];
		if (p->n == n && memcmp(p->name, func.p, n) == 0)
			return p;
	}
	if (b->s.probes >= WW_PM_PROBES)
		return NULL;
	p = &b->s.probe[b->s.probes++];
	memcpy(p->name, func.p, n);
	p->n = n;
	return p;
}

/* What this task waits for in a phase of devices are devices, and they are told. */
static bool among_devices(const struct ww_pmbuild *b)
{
	int i;

	for (i = WW_PM_PREPARE; i <= WW_PM_COMPLETE; i++) {
		bool devices = i <= WW_PM_SUSPEND_NOIRQ || i >= WW_PM_RESUME_NOIRQ;

		if (devices && b->s.open[i] != 0)
			return true;
	}
	return false;
}

void ww_pmbuild_probe(struct ww_pmbuild *b, struct ww_slice func, bool call, int32_t pid, int64_t t)
{
	struct ww_pm_probe *p;

	if (b->w == NULL || t == WW_NO_TIME || pid < 0 || pid != b->main_pid || func.n == 0)
		return;
	if (call) {
		if (b->s.probe_depth++ > 0 || b->s.main_open > 0 || among_devices(b))
			return;
		p = of_name(b, func);
		if (p != NULL) {
			p->from = t;
			p->open = true;
			if (p->count == 0)
				p->first = t;
		}
		return;
	}
	if (b->s.probe_depth == 0)
		return;
	b->s.probe_depth--;
	p = of_name(b, func);
	if (p == NULL || !p->open || b->s.probe_depth > 0)
		return;
	p->open = false;
	p->count++;
	p->total += t > p->from ? t - p->from : 0;
}

/* Returns are lost around the sleep: no probed function lasts over a phase of devices or CPUs. */
static void none_open(struct ww_pmbuild *b)
{
	size_t i;

	b->s.probe_depth = b->s.main_open = 0;
	for (i = 0; i < b->s.probes; i++)
		b->s.probe[i].open = false;
}

void ww_pmbuild_probe_device(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	if (b->w == NULL || e->pid != b->main_pid)
		return;
	if (e->kind == WW_PMEV_ASLEEP || e->kind == WW_PMEV_AWAKE ||
	    ((e->kind == WW_PMEV_BEGIN || e->kind == WW_PMEV_END) && e->phase >= WW_PM_PREPARE &&
	     e->phase <= WW_PM_COMPLETE))
		none_open(b);
	if (e->kind == WW_PMEV_CALL)
		b->s.main_open++;
	else if (e->kind == WW_PMEV_RETURN && b->s.main_open > 0)
		b->s.main_open--;
}

/* What is a phase, or a row of its own, already. */
static bool is_phase(struct ww_slice name)
{
	static const char *const of[] = {"sys_sync",
					 "ksys_sync",
					 "ksys_sync_helper",
					 "freeze_processes",
					 "freeze_kernel_threads",
					 "thaw_processes",
					 "CPU_OFF",
					 "CPU_ON"};
	size_t i;

	for (i = 0; i < WW_COUNTOF(of); i++) {
		if (ww_slice_is(name, of[i], strlen(of[i])))
			return true;
	}
	return false;
}

void ww_pmbuild_probes(struct ww_pmbuild *b)
{
	size_t i;

	for (i = 0; i < b->s.probes; i++) {
		const struct ww_pm_probe *p = &b->s.probe[i];
		struct ww_slice name = {p->name, p->n};
		struct ww_pm_other *o;

		if (p->total < LEAST_NS || is_phase(name))
			continue;
		o = ww_pm_add_other(b->w);
		if (o == NULL)
			return;
		o->what = p->count > 1 ? ww_pm_strf(b->w, "%s(), %u times", ww_pm_str(b->w, name),
						    p->count)
				       : ww_pm_strf(b->w, "%s()", ww_pm_str(b->w, name));
		o->start_ns = p->first;
		o->length.lo_ns = o->length.hi_ns = p->total;
	}
}

/* SPDX-License-Identifier: MIT */
/* Callbacks of devices: calls and returns become one row each. */
#include "analysis/pmbuild.h"
#include "analysis/resume.h"

static bool has(struct ww_slice s, const char *word, size_t n)
{
	return s.n >= n && memmem(s.p, s.n, word, n) != NULL;
}

#define HAS(s, word) has(s, word, sizeof(word) - 1)

/* "pci_pm_resume_early" tells its phase, "pm_runtime_force_suspend" none. */
static int phase_of_name(struct ww_slice func, int *verb)
{
	bool up = HAS(func, "resume") || HAS(func, "restore") || HAS(func, "thaw");
	bool down = HAS(func, "suspend") || HAS(func, "freeze") || HAS(func, "poweroff");

	if (up == down)
		return HAS(func, "_complete")  ? WW_PM_COMPLETE
		       : HAS(func, "_prepare") ? WW_PM_PREPARE
					       : WW_PM_NO_PHASE;
	*verb = HAS(func, "thaw")      ? WW_PM_V_THAW
		: HAS(func, "restore") ? WW_PM_V_RESTORE
				       : WW_PM_NO_VERB;
	if (HAS(func, "_noirq"))
		return up ? WW_PM_RESUME_NOIRQ : WW_PM_SUSPEND_NOIRQ;
	if (HAS(func, "_early"))
		return up ? WW_PM_RESUME_EARLY : WW_PM_NO_PHASE;
	if (HAS(func, "_late"))
		return down ? WW_PM_SUSPEND_LATE : WW_PM_NO_PHASE;
	return up ? WW_PM_RESUME : WW_PM_SUSPEND;
}

/* The same few functions are called again and again. */
static int known_name(struct ww_pmbuild *b, struct ww_slice func, int *verb)
{
	struct ww_pm_named *k = &b->named[func.n % WW_PM_NAMED];

	if (func.n == 0 || func.n > sizeof(k->name))
		return func.n ? phase_of_name(func, verb) : WW_PM_NO_PHASE;
	if (k->n != func.n || memcmp(k->name, func.p, func.n) != 0) {
		memcpy(k->name, func.p, func.n);
		k->n = func.n;
		k->verb = WW_PM_NO_VERB;
		k->phase = phase_of_name(func, &k->verb);
	}
	*verb = k->verb;
	return k->phase;
}

/*
 * A plain name proves its side, not its phase: drivers use one function in several. Those of
 * a bus do prove it: the bus has others for the other phases.
 */
static bool is_plain(int phase, struct ww_slice func)
{
	static const struct {
		const char *p;
		size_t n;
	} bus[] = {{"pci_pm_", 7},     {"platform_pm_", 12},   {"acpi_subsys_", 12},
		   {"pnp_bus_", 8},    {"usb_dev_", 8},	       {"scsi_bus_", 9},
		   {"mmc_bus_", 8},    {"input_dev_", 10},     {"serio_", 6},
		   {"acpi_lpss_", 10}, {"ata_port_pm_", 12},   {"genpd_", 6},
		   {"rpmsg_dev_", 10}, {"i2c_device_pm_", 14}, {"bus_sus", 7}};
	size_t i;

	if (phase != WW_PM_SUSPEND && phase != WW_PM_RESUME)
		return false;
	for (i = 0; i < WW_COUNTOF(bus); i++) {
		if (func.n > bus[i].n && memcmp(func.p, bus[i].p, bus[i].n) == 0)
			return false;
	}
	return true;
}

static bool goes_up(int phase)
{
	return phase >= WW_PM_SYSCORE_RESUME;
}

static int next_phase(int phase)
{
	switch (phase) {
	case WW_PM_SUSPEND:
		return WW_PM_SUSPEND_LATE;
	case WW_PM_SUSPEND_LATE:
		return WW_PM_SUSPEND_NOIRQ;
	case WW_PM_RESUME_NOIRQ:
		return WW_PM_RESUME_EARLY;
	case WW_PM_RESUME_EARLY:
		return WW_PM_RESUME;
	default:
		return phase;
	}
}

static uint32_t key_of(const struct ww_pmev *e)
{
	const struct ww_slice part[] = {e->device, e->driver, e->parent};
	uint32_t h = 2166136261u;
	size_t i, k;

	for (i = 0; i < WW_COUNTOF(part); i++) {
		for (k = 0; k < part[i].n; k++)
			h = (h ^ (unsigned char)part[i].p[k]) * 16777619u;
		h = (h ^ 0xff) * 16777619u;
	}
	return h ? h : 1;
}

static size_t bucket_of(struct ww_slice name)
{
	uint32_t h = (uint32_t)name.n;
	size_t i;

	/* The tail of a name differs, its head does not. */
	for (i = name.n > 16 ? name.n - 16 : 0; i < name.n; i++)
		h = h * 31 + (unsigned char)name.p[i];
	return (h ^ h >> 11) % WW_PM_BUCKETS;
}

static bool same_text(const char *text, struct ww_slice s)
{
	return strncmp(text, s.p != NULL ? s.p : "", s.n) == 0 && text[s.n] == '\0';
}

/* Is a call of it open? Then this is another of the same name. */
static bool is_open(const struct ww_pmbuild *b, const struct ww_pmev *e)
{
	size_t i = b->bucket[bucket_of(e->device)];
	int steps;

	for (steps = 0; i != 0 && steps < 64; steps++) {
		if (same_text(b->w->device[i - 1].name, e->device))
			return true;
		i = b->chain[i];
	}
	return false;
}

/*
 * A device is called once in each phase: called again, the next one has begun. Only where
 * the kernel does not tell when phases end.
 */
static int by_repetition(struct ww_pmbuild *b, const struct ww_pmev *e, int at)
{
	uint32_t key = key_of(e);
	struct ww_pm_seen *s = &b->seen[key % WW_PM_SEEN];

	if (s->key == key && s->cycle == b->cycle && s->phase == at && !is_open(b, e))
		at = b->s.at = next_phase(at);
	s->key = key;
	s->cycle = b->cycle;
	s->phase = at;
	return at;
}

/* The phase a call lies in; moves on where its name shows that the phase did. */
static int phase_of(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	int verb = WW_PM_NO_VERB, named = e->phase, at = b->s.at;

	if (named == WW_PM_NO_PHASE && e->func.n > 0)
		named = known_name(b, e->func, &verb);
	if (e->phase != WW_PM_NO_PHASE)
		verb = e->verb;
	if (named == WW_PM_NO_PHASE && at >= WW_PM_SYSCORE_RESUME && at <= WW_PM_CPU_ON)
		return WW_PM_RESUME_NOIRQ;
	if (named == WW_PM_NO_PHASE)
		return at == WW_PM_NO_PHASE && b->s.console ? WW_PM_SUSPEND : at;
	if (b->w->c.mode == WW_PM_MODE_DISK && (b->s.verb == WW_PM_V_THAW || verb == WW_PM_V_THAW))
		return named;
	if (at < WW_PM_PREPARE || !is_plain(named, e->func) || goes_up(at) != goes_up(named)) {
		b->s.at = named;
		if (goes_up(named) && named != WW_PM_COMPLETE && b->s.side == WW_PM_DOWN)
			ww_pmbuild_turn(b, t);
		return named;
	}
	return at;
}

void ww_pmbuild_told(struct ww_pmbuild *b, int phase)
{
	bool devices = (phase >= WW_PM_SUSPEND && phase <= WW_PM_SUSPEND_NOIRQ) ||
		       (phase >= WW_PM_RESUME_NOIRQ && phase <= WW_PM_RESUME);

	if (!devices || b->ftrace)
		return;
	for (size_t i = b->s.told; i < b->w->devices; i++) {
		struct ww_pm_device *d = &b->w->device[i];
		struct ww_slice func = {d->func, strlen(d->func)};
		int verb = WW_PM_NO_VERB, named = func.n ? phase_of_name(func, &verb) : 0;

		if (goes_up(d->phase) == goes_up(phase) &&
		    (named == WW_PM_NO_PHASE || is_plain(named, func)))
			d->phase = phase;
	}
	b->s.told = b->w->devices;
}

void ww_pmbuild_back(struct ww_pmbuild *b, int failed)
{
	ww_pmbuild_told(b, failed);
	if (b->w->generation != 'A' || b->s.side != WW_PM_DOWN)
		return;
	b->s.at = failed == WW_PM_SUSPEND_NOIRQ || failed > WW_PM_CPU_OFF ? WW_PM_RESUME_NOIRQ
		  : failed == WW_PM_SUSPEND_LATE			  ? WW_PM_RESUME_EARLY
									  : WW_PM_RESUME;
}

static struct ww_pm_device *add(struct ww_pmbuild *b, const struct ww_pm_in *in, int phase)
{
	const struct ww_pmev *e = in->ev;
	struct ww_pm_device *d;

	if (b->w->devices >= WW_PM_DEVICES_MAX) {
		b->s.capped = true;
		b->w->c.devices_left_out++;
		return NULL;
	}
	d = ww_pm_add_device(b->w);
	if (d == NULL)
		return NULL;
	d->name = ww_pm_str(b->w, e->device);
	d->driver = ww_pm_str(b->w, e->driver);
	d->parent = ww_pm_str(b->w, e->parent);
	d->func = ww_pm_str(b->w, e->func);
	d->phase = phase;
	d->verb = e->verb != WW_PM_NO_VERB ? e->verb : b->s.verb;
	d->pid = e->pid >= 0 || e->kind != WW_PMEV_RETURN ? e->pid : in->line.pid;
	d->from = b->ftrace ? 2 : 1;
	if (e->async)
		d->async = 1;
	return d;
}

static void mark_line(struct ww_pmbuild *b, size_t device, bool returns)
{
	struct ww_pm_line *l;

	if (b->ftrace || b->w->lines == 0 || b->s.capped)
		return;
	l = &b->w->line[b->w->lines - 1];
	l->device = (uint32_t)device;
	l->returns = returns;
	if (device > 0 && l->pid < 0)
		l->pid = b->w->device[device - 1].pid;
}

static void call(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	int phase = phase_of(b, in->ev, t);
	struct ww_pm_device *d;
	size_t i, k = bucket_of(in->ev->device);

	if (!b->s.ends_told && !b->ftrace)
		phase = by_repetition(b, in->ev, phase);
	d = add(b, in, phase);

	if (d == NULL)
		return;
	i = b->w->devices;
	if (ww_grow(&b->chain, &b->chain_cap, i, sizeof(*b->chain), NULL) < 0) {
		b->w->oom = true;
		return;
	}
	if (t != WW_NO_TIME)
		d->start_ns = t;
	b->chain[i] = b->bucket[k];
	b->bucket[k] = i;
	mark_line(b, i, false);
}

static bool matches(const struct ww_pm_device *d, const struct ww_pmev *e)
{
	if (!same_text(d->name, e->device))
		return false;
	if (e->driver.n > 0 && !same_text(d->driver, e->driver))
		return false;
	if (e->pid >= 0 && d->pid >= 0 && e->pid != d->pid)
		return false;
	return e->func.n == 0 || d->func[0] == '\0' || same_text(d->func, e->func);
}

/* The open call that this returns from; unlinked. 0 none */
static size_t opened(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	size_t *link = &b->bucket[bucket_of(e->device)], i;
	int steps;

	/* Calls that never return must not make the others slow. */
	for (steps = 0; *link != 0 && steps < 64; steps++) {
		i = *link;
		if (matches(&b->w->device[i - 1], e)) {
			*link = b->chain[i];
			return i;
		}
		link = &b->chain[i];
	}
	return 0;
}

static void lengths(struct ww_pmbuild *b, struct ww_pm_device *d, const struct ww_pmev *e)
{
	int64_t res = (int64_t)b->w->c.stamp_res_ns, n;

	if (e->dur_ns != WW_NO_TIME && e->dur_ns >= 0)
		d->printed = (struct ww_interval){e->dur_ns, e->dur_ns + WW_NS_PER_US};
	if (d->start_ns == WW_TIME_MIN || d->end_ns == WW_TIME_MAX)
		return;
	n = d->end_ns - d->start_ns;
	if (n < 0)
		n = 0; /* lines of equal stamps change places */
	if (res <= WW_NS_PER_MS)
		d->length = (struct ww_interval){n > res ? n - res : 0, n + res};
}

static void returned(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;
	size_t i = opened(b, e);
	struct ww_pm_device *d;

	if (i == 0) {
		d = add(b, in, phase_of(b, e, t));
		if (d == NULL)
			return;
		i = b->w->devices;
		if (ww_grow(&b->chain, &b->chain_cap, i, sizeof(*b->chain), NULL) < 0) {
			b->w->oom = true;
			return;
		}
		b->chain[i] = 0;
	}
	d = &b->w->device[i - 1];
	d->error = e->err;
	if (t != WW_NO_TIME)
		d->end_ns = t;
	if (e->async)
		d->async = 1;
	if (e->generation != 0)
		b->w->generation = (char)e->generation;
	lengths(b, d, e);
	mark_line(b, i, true);
}

/* "resume of drv:sd dev:0:0:0:0 complete after": since the begin of the phase. */
static void took(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;
	struct ww_pm_device *d = add(b, in, e->phase != WW_PM_NO_PHASE ? e->phase : b->s.at);

	if (d == NULL || e->dur_ns == WW_NO_TIME)
		return;
	if (t != WW_NO_TIME)
		d->end_ns = t;
	d->length = (struct ww_interval){e->dur_ns, e->dur_ns + WW_NS_PER_US};
	b->w->from_phase_start = true;
}

void ww_pmbuild_device(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;

	if (b->s.side != WW_PM_OVER)
		b->s.devices = true;
	if (e->kind == WW_PMEV_CALL)
		call(b, in, t);
	else if (e->kind == WW_PMEV_RETURN)
		returned(b, in, t);
	else
		took(b, in, t);
	/* A return alone, where a text was cut, tells no side. */
	if (b->s.at < WW_PM_SYSCORE_RESUME && !(b->s.cut && b->s.at == WW_PM_NO_PHASE))
		ww_pmbuild_down(b, t);
}

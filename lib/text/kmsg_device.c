/* SPDX-License-Identifier: MIT */
/* Lines that name a device first, or its callback: initcall_debug and pm_print_times. */
#include "text/kmsg_in.h"

/*
 * Where a device has no driver, its bus or class stands in front of it. Then all that follows
 * is its name: "platform Fixed MDIO bus.0". Drivers' names of several words are the rule for
 * those of PHYs, where the name is the last one.
 */
static bool is_bus(const char *p, size_t n)
{
	static const char names[] =
		" platform leds input backlight thermal power_supply pci usb acpi pnp i2c spi "
		"mdio_bus scsi serio hid hidraw sound drm graphics vtconsole tty net block bdi mem "
		"misc rtc watchdog regulator hwmon iio gpio phy extcon typec wakeup workqueue cpu "
		"memory node clocksource clockevents firmware ieee80211 rfkill bluetooth "
		"video4linux media mmc mmc_host sdio nvmem soc amba auxiliary container virtio "
		"scsi_host scsi_disk scsi_device bsg enclosure mei wmi wmi_bus remoteproc rpmsg "
		"powercap ptp lcd rc cec udc machinecheck event_source devlink ";
	char word[24];

	if (n > sizeof(word) - 3)
		return false;
	word[0] = ' ';
	memcpy(word + 1, p, n);
	word[n + 1] = ' ';
	word[n + 2] = '\0';
	return strstr(names, word) != NULL;
}

void ww_km_who(const char *p, size_t n, struct ww_pmev *out)
{
	const char *first = memchr(p, ' ', n), *last;

	if (!first) {
		out->device = (struct ww_slice){p, n};
		return;
	}
	/* Two words, as nearly always, are both whichever way. */
	last = memrchr(p, ' ', n);
	if (last != first && is_bus(p, (size_t)(first - p)))
		last = first;
	out->driver = (struct ww_slice){p, (size_t)(last - p)};
	out->device = (struct ww_slice){last + 1, n - (size_t)(last + 1 - p)};
}

/* "pci_pm_suspend+0x0/0x1b0 [mod]": the name and the module. */
void ww_km_func(const char *p, size_t n, struct ww_pmev *out)
{
	const char *plus, *open;

	/* "ehci_pci_suspend+0x0/0x84 [ehci_hcd]()": so in 2.6.1x and 2.6.2x. */
	if (n > 2 && memcmp(p + n - 2, "()", 2) == 0)
		n -= 2;
	if (n && p[n - 1] == ']' && (open = ww_km_last(p, n, " [", 2)) != NULL) {
		out->module = (struct ww_slice){open + 2, n - 1 - (size_t)(open + 2 - p)};
		n = (size_t)(open - p);
	}
	plus = ww_km_last(p, n, "+0x", 3);
	out->func = (struct ww_slice){p, plus ? (size_t)(plus - p) : n};
}

static bool offset(struct ww_slice func, const char *end)
{
	return end - (func.p + func.n) > 3 && func.p[func.n] == '+';
}

/* "DRV DEV: PM: FUNC": where FUNC begins; what stands before it into out. NULL: no such. */
static const char *before_func(const char *p, const char *end, struct ww_pmev *out)
{
	const char *colon = ww_km_last(p, (size_t)(end - p), ": ", 2), *func;
	size_t n;

	if (!colon || colon == p)
		return NULL;
	func = colon + 2;
	n = (size_t)(colon - p);
	out->generation = 'B';
	if (n > 4 && memcmp(colon - 4, ": PM", 4) == 0) {
		out->generation = 'C';
		n -= 4;
	}
	ww_km_who(p, n, out);
	return out->device.n ? func : NULL;
}

static void after_func(const char *func, const char *end, struct ww_pmev *out)
{
	ww_km_func(func, (size_t)(end - func), out);
	if (out->generation == 'C' && !offset(out->func, end))
		out->generation = 'D';
}

static bool wrong(struct ww_pmev *out)
{
	ww_pmev_clear(out);
	return false;
}

/* A name of a function: letters, digits, and what compilers add. */
static bool func_name(struct ww_slice s)
{
	if (!s.n || (s.p[0] >= '0' && s.p[0] <= '9'))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == ' ' || s.p[i] == ':' || s.p[i] == '"' || s.p[i] == '\'')
			return false;
	return true;
}

/* p..end is a number and nothing else. */
static bool all_int(const char *p, const char *end, int64_t lo, int64_t hi, int64_t *v)
{
	*v = 0;
	return p < end && ww_km_int(p, (size_t)(end - p), v) == (size_t)(end - p) && *v >= lo &&
	       *v <= hi;
}

bool ww_km_return(const char *p, size_t n, struct ww_pmev *out)
{
	const char *end = p + n - 6, *after = ww_km_last(p, n - 6, " after ", 7), *ret, *func;
	int64_t v, took;

	if (!after || !all_int(after + 7, end, 0, INT64_MAX, &took))
		return false;
	ret = ww_km_last(p, (size_t)(after - p), " returned ", 10);
	if (!ret || !all_int(ret + 10, after, INT32_MIN, INT32_MAX, &v))
		return false;
	out->err = (int32_t)v;
	out->dur_ns = took < INT64_MAX / 1000 ? took * 1000 : WW_NO_TIME;
	out->unit = WW_PM_UNIT_USECS;
	out->kind = WW_PMEV_RETURN;
	n = (size_t)(ret - p);
	if (WW_KM_IS(p, n, "call ") && p[n - 1] == '+') {
		out->generation = 'A';
		out->device = (struct ww_slice){p + 5, n - 6};
		return n > 6 || wrong(out);
	}
	if (WW_KM_IS(p, n, "initcall ") || WW_KM_IS(p, n, "probe of ")) {
		out->kind = WW_PMEV_INITCALL;
		out->count = 1;
		if (*p == 'i')
			ww_km_func(p + 9, n - 9, out);
		else
			out->device = (struct ww_slice){p + 9, n - 9};
		return true;
	}
	func = before_func(p, ret, out);
	if (!func)
		return wrong(out);
	after_func(func, ret, out);
	return func_name(out->func) || wrong(out);
}

/* " @ 123" and what follows: 1 good, 0 not, -1 good and more belongs to it. */
static int caller(const char *at, const char *end, struct ww_pmev *out)
{
	int64_t pid = -1;
	size_t k = ww_km_int(at, (size_t)(end - at), &pid);

	if (!k || pid < 0 || pid > INT32_MAX)
		return 0;
	out->pid = (int32_t)pid;
	at += k;
	if (at == end)
		return 1;
	if (*at != ',')
		return 0;
	if (end - at >= 10 && memcmp(at, ", parent: ", 10) == 0) {
		out->parent = (struct ww_slice){at + 10, (size_t)(end - at - 10)};
		return 1;
	}
	return end - at < 10 && memcmp(at, ", parent:", (size_t)(end - at)) == 0 ? -1 : 0;
}

static bool none(struct ww_slice s)
{
	return s.n == 6 && memcmp(s.p, "(null)", 6) == 0;
}

bool ww_km_call(const char *p, size_t n, const char *at, struct ww_pmev *out)
{
	const char *end = p + n, *func, *who;
	int is = caller(at + 2, end, out);
	bool quirk = is > 0 && !out->parent.n;

	if (!is)
		return wrong(out);
	out->partial = is < 0;
	out->kind = WW_PMEV_CALL;
	if (none(out->parent) || ww_slice_is(out->parent, "none", 4))
		out->parent = (struct ww_slice){NULL, 0};
	end = at - 1;
	n = (size_t)(end - p);
	if (WW_KM_IS(p, n, "calling  ")) {
		if (n > 10 && end[-1] == '+') {
			out->generation = 'A';
			out->device = (struct ww_slice){p + 9, n - 10};
			return true;
		}
		out->kind = WW_PMEV_INITCALL;
		out->count = 0;
		ww_km_func(p + 9, n - 9, out);
		return func_name(out->func) || wrong(out);
	}
	func = ww_km_last(p, n, ": calling ", 10);
	if (!func || func == p)
		return wrong(out);
	who = before_func(p, func + 2, out);
	if (!who)
		return wrong(out);
	func += 10;
	while (func < end && *func == ' ')
		func++;
	after_func(func, end, out);
	/* Without a parent: a quirk of PCI. */
	if (quirk && out->generation == 'B')
		out->kind = WW_PMEV_INITCALL;
	return func_name(out->func) || wrong(out);
}

/* "pci_pm_suspend(): hcd_pci_suspend+0x0/0x20 returns -16", with or without its device. */
static bool callee(const char *p, size_t n, const char *rest, struct ww_pmev *out)
{
	const char *end = p + n, *ret = ww_km_last(rest, (size_t)(end - rest), " returns ", 9);
	const char *name = rest - 4; /* the "()" before ": " */
	int64_t v;

	if (!ret || !all_int(ret + 9, end, INT32_MIN, INT32_MAX, &v))
		return false;
	ww_km_func(rest, (size_t)(ret - rest), out);
	if (!func_name(out->func))
		return wrong(out);
	out->kind = WW_PMEV_CALLEE;
	out->err = (int32_t)v;
	while (name > p && name[-1] != ' ')
		name--;
	out->text = (struct ww_slice){name, (size_t)(rest - 4 - name)};
	/* "DRV DEV: PM: " before it, or "PM: " alone. */
	n = (size_t)(name - p);
	if (n >= 4 && memcmp(name - 4, "PM: ", 4) == 0)
		n -= 4;
	if (n > 2 && memcmp(p + n - 2, ": ", 2) == 0)
		ww_km_who(p, n - 2, out);
	return true;
}

static const struct ww_km_rule failures[] = {
	{"failed to %v%I: error %e", WW_PMEV_DEVICE_FAIL, 0, 0, 0, 0, 0, -1},
	{"not prepared for power transition: code %e", WW_PMEV_DEVICE_FAIL, WW_PM_PREPARE, 0, 0, 0,
	 0, -1},
	{"**** DPM device timeout%*", WW_PMEV_DEVICE_SLOW, 0, 0, 0, 0, 0, -1},
};

static bool failure(const char *p, const char *who_end, const char *rest, size_t n,
		    struct ww_pmev *out)
{
	struct ww_km_group g = {failures, sizeof(failures) / sizeof(failures[0])};

	if (!ww_km_try(g, 0, rest, n, out))
		return false;
	ww_km_who(p, (size_t)(who_end - p), out);
	return true;
}

static const char *word_end(const char *p, const char *end)
{
	while (p < end && *p != ' ')
		p++;
	return p;
}

/* Is what is left of a line a beginning of " returned -16 after 12 usecs"? */
static bool returning(const char *p, const char *end)
{
	static const char *const word[] = {"returned", NULL, "after", NULL};

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		const char *to;
		int64_t v;

		if (p == end)
			return true;
		to = word_end(++p, end);
		if (word[i] ? (size_t)(to - p) != strlen(word[i]) ||
				      memcmp(p, word[i], (size_t)(to - p)) != 0
			    : !all_int(p, to, INT64_MIN, INT64_MAX, &v))
			return false;
		p = to;
	}
	return p == end;
}

/*
 * A mail cut the line of a device: what there is of it from its function on is a beginning.
 * core: "PM: " stands before it, so that its function needs no "+0x0/0x20".
 */
bool ww_km_begun(const char *rest, const char *end, bool core)
{
	bool call = WW_KM_IS(rest, (size_t)(end - rest), "calling");
	const char *to;
	struct ww_slice f;

	if (rest == end || (call && end - rest == 7))
		return true;
	if (call && rest[7] != ' ')
		return false;
	if (call)
		rest += 8;
	to = word_end(rest, end);
	f = (struct ww_slice){rest, (size_t)(to - rest)};
	if (!func_name(f) || (!call && !core && !ww_km_last(f.p, f.n, "+0x", 3)))
		return false;
	if (end - to > 2 && to[1] == '[')
		to = word_end(to + 1, end);
	if (!call)
		return returning(to, end);
	/* " @ 114," and its parent is told elsewhere. */
	return to == end || (end - to == 2 && to[1] == '@') ||
	       (end - to > 3 && to[1] == '@' && end[-1] == ',');
}

bool ww_km_after_colon(const char *p, size_t n, const char *rest, struct ww_pmev *out)
{
	const char *end = p + n, *who_end = rest - 2;
	size_t left = (size_t)(end - rest);

	if (rest > end)
		return false;
	if (!left) { /* the line ends with a colon */
		if (n > 5 && (memcmp(end - 5, ": PM:", 5) == 0 || memcmp(end - 3, "():", 3) == 0))
			out->partial = true;
		return false;
	}
	/* Of "nvme_suspend" and others the first letter is one of those below. */
	if (who_end > p + 2 && who_end[-1] == ')' && who_end[-2] == '(')
		return callee(p, n, rest, out);
	switch (*rest) {
	case 'P':
		if (!WW_KM_IS(rest, left, "PM: "))
			return false;
		if (failure(p, who_end, rest + 4, left - 4, out))
			return true;
		if (ww_km_begun(rest + 4, end, true))
			out->partial = true;
		return false;
	case '*':
	case 'n':
		return (WW_KM_IS(rest, left, "**** D") || WW_KM_IS(rest, left, "not prepared")) &&
		       failure(p, who_end, rest, left, out);
	case 'c':
		if (WW_KM_IS(rest, left, "calling") && ww_km_begun(rest, end, false))
			out->partial = true;
		return false;
	case 'l':
		return WW_KM_IS(rest, left, "link ") && ww_km_link(p, n, rest, out);
	case 'R':
		if (!WW_KM_IS(rest, left, "Resume from S3 detected"))
			return false;
		out->kind = WW_PMEV_FIRMWARE;
		out->fw = WW_FW_RESUME;
		out->text = (struct ww_slice){p, n};
		return true;
	default:
		return false;
	}
}

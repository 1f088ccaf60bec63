/* SPDX-License-Identifier: MIT */
/* What a message is: what stands in front of it, its first letter, then its colons. */
#include "text/kmsg_in.h"
#include "text/ftline.h"

/* Names of parts of the kernel in front of a message. */
static const struct {
	const char *text;
	unsigned is;
} fronts[] = {
	{"PM: ", WW_KM_PM},
	{"hibernation: ", WW_KM_HIB},
	{"swsusp: ", WW_KM_HIB | WW_KM_PM},
	{"ACPI: ", WW_KM_ACPI},
	{"psci: ", WW_KM_SUB},
	{"printk: ", WW_KM_SUB},
	{"smpboot: ", WW_KM_SUB},
	{"pseries-hotplug-cpu: ", WW_KM_SUB},
	{"IRQCHIP: ", WW_KM_SUB},
	{"GICv3: ", WW_KM_SUB},
};

static const char *strip(const char *p, const char *end, unsigned *have)
{
	*have = 0;
	for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]) && p < end;) {
		size_t k = strlen(fronts[i].text);

		if (*p == *fronts[i].text && (size_t)(end - p) >= k &&
		    memcmp(p, fronts[i].text, k) == 0 && (*have & 0x100) == 0) {
			/* "hibernation: " means nothing without "PM: ". */
			if (fronts[i].is == WW_KM_HIB && !(*have & WW_KM_PM))
				return p;
			*have |= fronts[i].is;
			p += k;
			i = 0;
			while (p < end && *p == ' ')
				p++;
			continue;
		}
		i++;
	}
	return p;
}

/* Only these begin with something of `fronts`. */
static bool front(unsigned char c)
{
	return c == 'P' || c == 'A' || c == 's' || c == 'p' || c == 'I' || c == 'G';
}

static bool coreboot(const char **p, const char *end)
{
	/* "[DEBUG]  ", "[INFO ]  " */
	if (end - *p < 10 || **p != '[' || (*p)[6] != ']' || (*p)[7] != ' ' || (*p)[8] != ' ')
		return false;
	for (int i = 1; i < 6; i++)
		if (((*p)[i] < 'A' || (*p)[i] > 'Z') && (*p)[i] != ' ')
			return false;
	*p += 9;
	return true;
}

static bool freezable(struct ww_slice hex)
{
	unsigned char last = hex.n ? (unsigned char)hex.p[hex.n - 1] : '0';

	/* WQ_FREEZABLE is 4. */
	return ((last >= 'a' ? last - 'a' + 10 : last - '0') & 4) != 0;
}

/* "pwq 8: cpus=0-3 ... active=1/0": how many works are under way. */
static void active(struct ww_pmev *out)
{
	const char *at = ww_km_last(out->text.p, out->text.n, " active=", 8);

	if (!at || !ww_km_int(at + 8, (size_t)(out->text.p + out->text.n - at - 8), &out->count))
		ww_pmev_clear(out);
	else
		out->text = (struct ww_slice){NULL, 0};
}

/* "hub_event, 123:wb_workfn" or "hub_event for 7s": the first of them. */
static void in_flight(struct ww_pmev *out)
{
	for (size_t i = 0; i < out->func.n; i++)
		if (out->func.p[i] == ' ' || out->func.p[i] == ',')
			out->func.n = i;
}

/* What a pattern cannot tell. */
static void refine(const char *p, size_t n, struct ww_pmev *out)
{
	if (out->kind == WW_PMEV_INITCALL && !ww_km_last(p, n, "+0x", 3)) {
		ww_pmev_clear(out);
	} else if (out->kind == WW_PMEV_INITCALL) {
		out->phase = ww_km_last(p, n, "suspend", 7)  ? WW_PM_SYSCORE_SUSPEND
			     : ww_km_last(p, n, "resume", 6) ? WW_PM_SYSCORE_RESUME
							     : WW_PM_NO_PHASE;
	} else if (out->kind == WW_PMEV_TASK && *p == 'w') {
		if (freezable(out->text))
			out->text = (struct ww_slice){NULL, 0};
		else
			ww_pmev_clear(out);
	} else if (out->kind == WW_PMEV_TASK && *p == 'p') {
		active(out);
	} else if (out->kind == WW_PMEV_TASK && *p == 'i') {
		in_flight(out);
	}
	while (out->task.n && out->task.p[out->task.n - 1] == ' ')
		out->task.n--;
	/* "(deep)" or a wall time may stand on the next line. */
	if (out->kind == WW_PMEV_ENTRY && n == 13 && memcmp(p, "suspend entry", 13) == 0)
		out->partial = true;
}

/* What the message proper is. */
static bool message(const char *p, const char *end, unsigned have, struct ww_pmev *out)
{
	size_t n = (size_t)(end - p);
	unsigned char c = (unsigned char)*p;

	if (ww_km_try(ww_km_rules(c), have, p, n, out)) {
		refine(p, n, out);
		return true;
	}
	/* "suspend of devices aborted after 55.932 msecs": MediaTek's leave "PM: " out. */
	if (n > 24 && memcmp(end - 6, " msecs", 6) == 0)
		have |= WW_KM_PM;
	if ((have & WW_KM_PM) && ww_km_try(ww_km_verbs(), have, p, n, out))
		return true;
	return ww_km_try(ww_km_firmware(c), have, p, n, out);
}

/* What the kinds below say is the line itself. */
static void say(const char *p, size_t n, struct ww_pmev *out)
{
	if (out->kind == WW_PMEV_OOPS || out->kind == WW_PMEV_REFUSED ||
	    out->kind == WW_PMEV_FIRMWARE || out->kind == WW_PMEV_FIRMWARE_TIME)
		out->text = (struct ww_slice){p, n};
}

/* "acpi_pm_prepare" and others that failed on the way down. */
static bool acpi_error(const char *p, size_t n, struct ww_pmev *out)
{
	static const char *const of[] = {"_PTS", "_TTS", "_GTS", "sleep state"};

	if (!WW_KM_IS(p, n, "ACPI E") && !WW_KM_IS(p, n, "ACPI: \\"))
		return false;
	if (!WW_KM_IS(p, n, "ACPI Error") && !WW_KM_IS(p, n, "ACPI Exception"))
		return false;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (ww_km_last(p, n, of[i], strlen(of[i]))) {
			out->kind = WW_PMEV_REFUSED;
			out->text = (struct ww_slice){p, n};
			return true;
		}
	return false;
}

/* "DRV DEV: FUNC+0x0/0x20 returned", and a mail program cut what follows. */
static bool cut(const char *p, size_t n)
{
	const char *end = p + n, *w = memrchr(p, '+', n);

	/* A name of a device of a length at which lines are wrapped. */
	if (n > 30 && end[-1] == ':' && memchr(p, ' ', n))
		return true;
	if (!w || end - w < 3 || w[1] != '0' || w[2] != 'x')
		return false;
	while (w > p && w[-1] != ' ')
		w--;
	return w > p + 2 && w[-2] == ':' && ww_km_begun(w, end, false);
}

/* Marks anywhere in the line; each is looked for with memchr alone. */
static void within(const char *p, size_t n, struct ww_pmev *out)
{
	const char *end = p + n, *q;

	for (q = p; (q = memchr(q, ':', (size_t)(end - q))) != NULL; q++) {
		if (q + 1 == end || q[1] == ' ') {
			if (ww_km_after_colon(p, n, q + 1 < end ? q + 2 : end, out))
				return;
			if (q + 1 == end)
				break;
		}
	}
	for (q = p; (q = memchr(q, '@', (size_t)(end - q))) != NULL; q++)
		if (q > p + 1 && q[-1] == ' ' && q + 2 < end && q[1] == ' ' &&
		    ww_km_call(p, n, q, out))
			return;
	for (q = p; (q = memchr(q, 'L', (size_t)(end - q))) != NULL; q++)
		if (end - q >= 7 && memcmp(q, "Link ", 5) == 0 && ww_km_link(p, n, q, out))
			return;
	if (!ww_km_old_task(p, n, out) && cut(p, n))
		out->partial = true;
}

/* An event of ftrace on the console (tp_printk). */
static bool traced(const char *p, size_t n, struct ww_pmev *out)
{
	size_t k = WW_KM_IS(p, n, "suspend_resume: ")		  ? 14
		   : WW_KM_IS(p, n, "device_pm_callback_start: ") ? 24
		   : WW_KM_IS(p, n, "device_pm_callback_end: ")	  ? 22
								  : 0;

	if (!k)
		return false;
	/* The space after the colon is the format's; a driver without a name has its own. */
	(void)ww_ftevent_parse((struct ww_slice){p, k}, (struct ww_slice){p + k + 2, n - k - 2},
			       out);
	return true;
}

int ww_kmsg_parse(const char *text, size_t n, struct ww_pmev *out)
{
	const char *p = text, *end = text + n;
	unsigned have = 0;

	ww_pmev_clear(out);
	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	if (end - p < 4)
		return WW_PMEV_NONE;
	text = p;
	n = (size_t)(end - p);
	if ((*p == 's' || *p == 'd') && traced(p, n, out))
		return out->kind;
	/* The most common ones of all. */
	if (n > 16 && memcmp(end - 6, " usecs", 6) == 0 && ww_km_return(p, n, out))
		return out->kind;
	if (*p == '[' && coreboot(&p, end))
		have = WW_KM_LEVEL;
	else if (front((unsigned char)*p))
		p = strip(p, end, &have);
	if (p < end && message(p, end, have, out)) {
		say(text, n, out);
		return out->kind;
	}
	if (acpi_error(text, n, out) || ww_km_storage(text, n, out))
		return out->kind;
	within(text, n, out);
	return out->kind;
}

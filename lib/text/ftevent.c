// SPDX-License-Identifier: MIT
/*
 * Arguments of the kernel's power events: include/trace/events/power.h and its callers since
 * they exist. Whoever framed the line, the arguments are the same.
 */
#include "text/ftparts.h"

#define IS(s, text) ww_slice_is(s, "" text, sizeof(text) - 1)

static const char *rfind(const char *p, const char *end, char c)
{
	return end > p ? memrchr(p, c, (size_t)(end - p)) : NULL;
}

/* A decimal number, all of it; hexadecimal after 0x. */
static bool whole(struct ww_slice s, int64_t *out)
{
	bool minus = s.n > 0 && s.p[0] == '-';
	size_t i = minus;
	int64_t v = 0, base = 10;

	if (s.n > i + 2 && s.p[i] == '0' && s.p[i + 1] == 'x') {
		base = 16;
		i += 2;
	}
	if (i == s.n || s.n - i > 15)
		return false;
	for (; i < s.n; i++) {
		char c = s.p[i];
		int d = ww_is_digit(c)			     ? c - '0'
			: base == 16 && c >= 'a' && c <= 'f' ? c - 'a' + 10
							     : -1;

		if (d < 0)
			return false;
		v = v * base + d;
	}
	*out = minus ? -v : v;
	return true;
}

/* suspend_state_t */
static int mode_of(int64_t state)
{
	static const int8_t modes[] = {WW_PM_MODE_UNKNOWN, WW_PM_MODE_S2IDLE, WW_PM_MODE_STANDBY,
				       WW_PM_MODE_MEM, WW_PM_MODE_DISK};

	return state >= 0 && state < (int64_t)WW_COUNTOF(modes) ? modes[state] : WW_PM_MODE_UNKNOWN;
}

/* pm_message_t by its event (include/linux/pm.h) and by the word that tells it. */
static const struct {
	const char *name;
	uint8_t n, event;
	bool back;
	int verb;
} verbs[] = {
	{"suspend", 7, 0x02, false, WW_PM_V_SUSPEND},
	{"resume", 6, 0x10, true, WW_PM_V_RESUME},
	{"freeze", 6, 0x01, false, WW_PM_V_FREEZE},
	{"thaw", 4, 0x20, true, WW_PM_V_THAW},
	{"hibernate", 9, 0x04, false, WW_PM_V_HIBERNATE},
	{"poweroff", 8, 0, false, WW_PM_V_HIBERNATE},
	{"restore", 7, 0x40, true, WW_PM_V_RESTORE},
	{"quiesce", 7, 0x08, false, WW_PM_V_QUIESCE},
	{"recover", 7, 0x80, true, WW_PM_V_RECOVER},
};

static int verb_of_event(int64_t event)
{
	for (size_t i = 0; i < WW_COUNTOF(verbs); i++)
		if (verbs[i].event != 0 && verbs[i].event == event)
			return verbs[i].verb;
	return WW_PM_NO_VERB;
}

static int verb_of_word(struct ww_slice word, bool *back)
{
	for (size_t i = 0; i < WW_COUNTOF(verbs); i++)
		if (ww_slice_is(word, verbs[i].name, verbs[i].n)) {
			*back = verbs[i].back;
			return verbs[i].verb;
		}
	return WW_PM_NO_VERB;
}

/* What the number in brackets is. */
enum { OTHER, STATE, EVENT, CPU, ENTER, SLEEP, DEEP };

static const struct {
	const char *name;
	uint8_t n, what, phase;
} actions[] = {
	{"suspend_enter", 13, ENTER, 0},
	{"sync_filesystems", 16, OTHER, WW_PM_SYNC},
	{"freeze_processes", 16, OTHER, WW_PM_FREEZE},
	{"suspend_console", 15, STATE, WW_PM_CONSOLE_OFF},
	{"console_suspend_all", 19, STATE, WW_PM_CONSOLE_OFF},
	{"dpm_prepare", 11, EVENT, WW_PM_PREPARE},
	{"dpm_suspend", 11, EVENT, WW_PM_SUSPEND},
	{"dpm_suspend_late", 16, EVENT, WW_PM_SUSPEND_LATE},
	{"dpm_suspend_noirq", 17, EVENT, WW_PM_SUSPEND_NOIRQ},
	{"CPU_OFF", 7, CPU, WW_PM_CPU_OFF},
	{"syscore_suspend", 15, OTHER, WW_PM_SYSCORE_SUSPEND},
	{"machine_suspend", 15, SLEEP, WW_PM_MACHINE},
	{"acpi_suspend", 12, DEEP, 0},
	{"timekeeping_freeze", 18, DEEP, 0},
	{"syscore_resume", 14, OTHER, WW_PM_SYSCORE_RESUME},
	{"CPU_ON", 6, CPU, WW_PM_CPU_ON},
	{"dpm_resume_noirq", 16, EVENT, WW_PM_RESUME_NOIRQ},
	{"dpm_resume_early", 16, EVENT, WW_PM_RESUME_EARLY},
	{"dpm_resume", 10, EVENT, WW_PM_RESUME},
	{"dpm_complete", 12, EVENT, WW_PM_COMPLETE},
	{"resume_console", 14, STATE, WW_PM_CONSOLE_ON},
	{"console_resume_all", 18, STATE, WW_PM_CONSOLE_ON},
	{"thaw_processes", 14, OTHER, WW_PM_THAW},
};

static void set_value(struct ww_pmev *e, int what, int64_t value)
{
	switch (what) {
	case EVENT:
		e->verb = verb_of_event(value);
		if (e->verb == WW_PM_NO_VERB && e->phase < WW_PM_MACHINE)
			e->verb = WW_PM_V_SUSPEND;
		else if (e->verb == WW_PM_NO_VERB)
			e->verb = WW_PM_V_RESUME;
		break;
	case CPU:
		e->count = value;
		break;
	case STATE:
	case ENTER:
	case SLEEP:
		e->mode = mode_of(value);
		break;
	case DEEP:
	default:
		break;
	}
}

/* "ACTION[VAL] begin"; text: the action. What is no step known here stays WW_PMEV_NONE. */
static void suspend_resume(struct ww_slice a, struct ww_pmev *e)
{
	const char *p = ww_skip_spaces(a.p, a.p + a.n), *end = a.p + a.n;
	const char *open, *blank, *close = rfind(p, end, ']');
	struct ww_slice word;
	int64_t value;
	bool begin;

	open = close ? rfind(p, close, '[') : NULL;
	if (!open || !whole(ww_cut(open + 1, close), &value))
		return;
	word = ww_cut(close + 1 < end ? close + 2 : end, end);
	/* People write lengths behind it. */
	blank = memchr(word.p, ' ', word.n);
	if (blank)
		word = ww_cut(word.p, blank);
	begin = IS(word, "begin");
	if (!begin && !IS(word, "end"))
		return;
	e->text = ww_cut(p, open);
	for (size_t i = 0; i < WW_COUNTOF(actions); i++) {
		int what = actions[i].what;

		if (!ww_slice_is(e->text, actions[i].name, actions[i].n))
			continue;
		e->phase = actions[i].phase;
		if (what == SLEEP || what == DEEP)
			e->kind = begin ? WW_PMEV_ASLEEP : WW_PMEV_AWAKE;
		else if (what == ENTER)
			e->kind = begin ? WW_PMEV_ENTRY : WW_PMEV_NONE;
		else
			e->kind = begin ? WW_PMEV_BEGIN : WW_PMEV_END;
		set_value(e, what, value);
		return;
	}
}

/*
 * "DRIVER DEVICE": either may hold spaces, and the driver may be empty. A name of a phy's
 * driver is free text ("Generic PHY stmmac-0:01"), and its device is told by the address at
 * its end; else the device takes the spaces ("platform Fixed MDIO bus.0").
 */
static void split_names(const char *p, const char *end, struct ww_pmev *e)
{
	const char *space = end > p ? memchr(p, ' ', (size_t)(end - p)) : NULL;
	const char *last = rfind(p, end, ' ');

	if (!space) {
		e->device = ww_cut(p, end);
		return;
	}
	if (last != space && space != p && end - last > 4 && end[-3] == ':')
		space = last;
	e->driver = ww_cut(p, space);
	e->device = ww_cut(space + 1, end);
}

static bool takes(struct ww_slice *s, const char *word, size_t n)
{
	if (s->n < n || memcmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	s->n -= n;
	return true;
}

#define TAKES(s, word) takes(s, "" word, sizeof(word) - 1)

/* "noirq power domain " and "suspend": phase, verb; func: what called it, "power domain". */
static void set_ops(struct ww_slice ops, struct ww_slice word, struct ww_pmev *e)
{
	bool back = false;
	int64_t event;

	e->verb = verb_of_word(word, &back);
	if (e->verb == WW_PM_NO_VERB && whole(word, &event)) {
		e->verb = verb_of_event(event);
		back = event >= 0x10 && event < 0x100;
	}
	if (e->verb == WW_PM_NO_VERB)
		e->verb = WW_PM_V_SUSPEND;
	if (TAKES(&ops, "noirq "))
		e->phase = back ? WW_PM_RESUME_NOIRQ : WW_PM_SUSPEND_NOIRQ;
	else if (TAKES(&ops, "late "))
		e->phase = WW_PM_SUSPEND_LATE;
	else if (TAKES(&ops, "early "))
		e->phase = WW_PM_RESUME_EARLY;
	else if (TAKES(&ops, "preparing "))
		e->phase = WW_PM_PREPARE;
	else if (TAKES(&ops, "completing "))
		e->phase = WW_PM_COMPLETE;
	else
		e->phase = back ? WW_PM_RESUME : WW_PM_SUSPEND;
	while (ops.n > 0 && ops.p[ops.n - 1] == ' ')
		ops.n--;
	e->text = ops;
}

/* "DRIVER DEVICE, parent: PARENT, OPS[EVENT]", read from its end. */
static void callback_start(struct ww_slice a, struct ww_pmev *e)
{
	static const char mark[] = ", parent: ";
	const char *end = a.p + a.n, *close = rfind(a.p, end, ']');
	const char *open = close ? rfind(a.p, close, '[') : NULL;
	const char *comma = open ? rfind(a.p, open, ',') : NULL;
	const char *parent;

	if (!comma || comma + 1 >= open || comma == a.p)
		return;
	parent = memmem(a.p, (size_t)(comma - a.p), mark, sizeof(mark) - 1);
	if (!parent)
		return;
	e->kind = WW_PMEV_CALL;
	split_names(a.p, parent, e);
	e->parent = ww_cut(parent + sizeof(mark) - 1, comma);
	if (IS(e->parent, "none"))
		e->parent.n = 0;
	set_ops(ww_cut(comma + 2, open), ww_cut(open + 1, close), e);
}

/* "DRIVER DEVICE, err=N" */
static void callback_end(struct ww_slice a, struct ww_pmev *e)
{
	const char *end = a.p + a.n, *comma = rfind(a.p, end, ',');
	struct ww_slice rest = ww_cut(comma ? comma : end, end);
	int64_t err;

	if (!TAKES(&rest, ", err=") || !whole(rest, &err) || err != (int32_t)err)
		return;
	e->kind = WW_PMEV_RETURN;
	e->err = (int32_t)err;
	split_names(a.p, comma, e);
}

/* From `key` to the next space, or to the end. */
static struct ww_slice value_of(struct ww_slice a, const char *key)
{
	size_t n = strlen(key);
	const char *p = memmem(a.p, a.n, key, n), *end = a.p + a.n, *space;

	if (!p)
		return (struct ww_slice){0};
	p += n;
	space = memchr(p, ' ', (size_t)(end - p));
	return ww_cut(p, space ? space : end);
}

/* Of 3.13 to 3.15: "DRIVER DEVICE parent=P state=suspend ops=bus nsecs=N err=N". */
static void report_time(struct ww_slice a, struct ww_pmev *e)
{
	static const char mark[] = " parent=";
	const char *parent = memmem(a.p, a.n, mark, sizeof(mark) - 1);
	const char *ops = memmem(a.p, a.n, " ops=", 5), *ns = memmem(a.p, a.n, "nsecs=", 6);
	int64_t err;

	if (!parent || !ops || !ns || ops > ns || !whole(value_of(a, "nsecs="), &e->dur_ns) ||
	    !whole(value_of(a, " err="), &err) || err != (int32_t)err)
		return;
	e->kind = WW_PMEV_RETURN;
	e->err = (int32_t)err;
	split_names(a.p, parent, e);
	e->parent = value_of(a, mark);
	set_ops(ww_cut(ops + 5, ns), value_of(a, " state="), e);
}

/* Before suspend_resume there was: "state=3", and at its end "state=4294967295". */
static void machine_suspend(struct ww_slice a, struct ww_pmev *e)
{
	int64_t state;

	if (!whole(value_of(a, "state="), &state))
		return;
	e->phase = WW_PM_MACHINE;
	e->mode = mode_of(state);
	e->kind = state >= 0 && state < 16 ? WW_PMEV_ASLEEP : WW_PMEV_AWAKE;
	e->text = (struct ww_slice){"machine_suspend", 15};
}

/* "NAME state=0x1": names hold spaces, too. */
static void wakeup_source(struct ww_slice a, struct ww_pmev *e)
{
	const char *state = memmem(a.p, a.n, " state=", 7);

	if (!state)
		return;
	e->kind = WW_PMEV_WAKE_SOURCE;
	e->wakeup = ww_cut(ww_skip_spaces(a.p, state), state);
}

int ww_ftevent_parse(struct ww_slice event, struct ww_slice args, struct ww_pmev *out)
{
	ww_pmev_clear(out);
	if (!args.p || args.n == 0)
		return out->kind;
	switch (event.n) {
	case 14:
		if (IS(event, "suspend_resume"))
			suspend_resume(args, out);
		break;
	case 15:
		if (IS(event, "machine_suspend"))
			machine_suspend(args, out);
		break;
	case 21:
		if (IS(event, "device_pm_report_time"))
			report_time(args, out);
		break;
	case 22:
		if (IS(event, "device_pm_callback_end"))
			callback_end(args, out);
		else if (IS(event, "wakeup_source_activate"))
			wakeup_source(args, out);
		break;
	case 24:
		if (IS(event, "device_pm_callback_start"))
			callback_start(args, out);
		break;
	default:
		break;
	}
	return out->kind;
}

/* SPDX-License-Identifier: MIT */
/* Suspends as Trace Event JSON. The format: "Trace Event Format", Google, 2016. */
#include "report/events.h"
#include "report/length.h"

#define FLUSH_BYTES (64u * 1024)
/* What begins within so much before the end of the one before overlaps by its rounding. */
#define SLACK_NS 1000

void ww_events_open(struct ww_events *e, int fd)
{
	*e = (struct ww_events){.out.fd = fd, .pid = 1, .first_pid = 1, .until_ns = WW_TIME_MIN};
	e->j.s = &e->out.s;
	ww_json_open(&e->j, NULL, '{');
	ww_json_text(&e->j, "displayTimeUnit", "ms");
	ww_json_open(&e->j, "traceEvents", '[');
}

int ww_events_close(struct ww_events *e, const struct ww_error *read, struct ww_error *err)
{
	int rc;

	ww_json_close(&e->j, ']');
	ww_json_open(&e->j, "otherData", '{');
	ww_json_text(&e->j, "program", "wakewatt " WW_VERSION_STRING);
	if (e->unplaced)
		ww_json_int(&e->j, "cycles without times", (int64_t)e->unplaced);
	if (read && read->code)
		ww_json_text(&e->j, "error", read->text);
	ww_json_close(&e->j, '}');
	ww_json_close(&e->j, '}');
	ww_str_add(&e->out.s, "\n");
	rc = ww_sink_flush(&e->out, 0, err);
	ww_str_free(&e->out.s);
	return rc;
}

static void micro(struct ww_json *j, const char *key, int64_t ns)
{
	ww_json_decimal(j, key, ns, 3);
}

void ww_events_name(struct ww_events *e, uint32_t pid, uint32_t thread, const char *name)
{
	struct ww_json *j = &e->j;

	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", thread ? "thread_name" : "process_name");
	ww_json_text(j, "ph", "M");
	ww_json_int(j, "pid", pid);
	ww_json_int(j, "tid", thread);
	ww_json_open(j, "args", '{');
	ww_json_text(j, "name", name);
	ww_json_close(j, '}');
	ww_json_close(j, '}');
	/* In the order of their numbers, not of their names. */
	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", thread ? "thread_sort_index" : "process_sort_index");
	ww_json_text(j, "ph", "M");
	ww_json_int(j, "pid", pid);
	ww_json_int(j, "tid", thread);
	ww_json_open(j, "args", '{');
	ww_json_int(j, "sort_index", thread ? thread : pid);
	ww_json_close(j, '}');
	ww_json_close(j, '}');
}

void ww_events_slice(struct ww_events *e, uint32_t pid, uint32_t thread, const char *category,
		     const char *name, int64_t ns, int64_t dur_ns)
{
	struct ww_json *j = &e->j;

	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", name);
	ww_json_text(j, "cat", category);
	ww_json_text(j, "ph", dur_ns < 0 ? "i" : "X");
	micro(j, "ts", ns);
	if (dur_ns < 0)
		ww_json_text(j, "s", "t");
	else
		micro(j, "dur", dur_ns);
	ww_json_int(j, "pid", pid);
	ww_json_int(j, "tid", thread);
}

void ww_events_counter(struct ww_events *e, uint32_t pid, const char *name, const char *unit,
		       int64_t ns, double v)
{
	struct ww_json *j = &e->j;

	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", name);
	ww_json_text(j, "ph", "C");
	micro(j, "ts", ns);
	ww_json_int(j, "pid", pid);
	ww_json_int(j, "tid", 0);
	ww_json_open(j, "args", '{');
	ww_json_trimmed(j, unit, v, 6);
	ww_json_close(j, '}');
	ww_json_close(j, '}');
}

/* ---- places ---- */

static bool place(const struct ww_events *e, int64_t kernel_ns, int64_t *ns)
{
	if (kernel_ns == WW_TIME_MIN || kernel_ns == WW_TIME_MAX)
		return false;
	if (e->clock)
		return e->clock(e->arg, kernel_ns, ns);
	*ns = kernel_ns;
	return true;
}

/* Begin and length of what has both ends, or a begin and a length. */
static bool stretch(const struct ww_events *e, int64_t start, int64_t end,
		    struct ww_interval length, int64_t *ns, int64_t *dur)
{
	int64_t to;

	if (!place(e, start, ns))
		return false;
	if (place(e, end, &to) && to >= *ns) {
		*dur = to - *ns;
		return true;
	}
	if (!ww_iv_ok(length) || length.lo_ns == WW_TIME_MIN || length.hi_ns == WW_TIME_MAX)
		return false;
	*dur = ww_iv_mid(length);
	return true;
}

static void thread(struct ww_events *e, uint32_t which)
{
	static const char *const names[WW_TRACK_LANE] = {
		[WW_TRACK_EVENTS] = "suspends",
		[WW_TRACK_PHASES] = "phases",
		[WW_TRACK_OTHER] = "other",
		[WW_TRACK_FIRMWARE] = "firmware and sleep",
		[WW_TRACK_SYNC] = "devices, in order",
	};
	struct ww_str name = {0};

	if (which < WW_TRACK_LANE) {
		if (!(e->named >> which & 1))
			ww_events_name(e, e->pid, which,
				       names[which] ? names[which] : "other, beside");
		e->named |= 1u << which;
		return;
	}
	for (; e->lanes <= which - WW_TRACK_LANE; e->lanes++) {
		ww_str_reset(&name);
		ww_str_addf(&name, "devices, lane %u", (unsigned)e->lanes + 1);
		if (!name.bad)
			ww_events_name(e, e->pid, WW_TRACK_LANE + e->lanes, name.p);
	}
	e->out.s.bad = e->out.s.bad || name.bad;
	ww_str_free(&name);
}

/* ---- a cycle ---- */

static void length_arg(struct ww_json *j, const char *key, struct ww_interval t)
{
	if (ww_iv_ok(t) && t.lo_ns != WW_TIME_MIN && t.hi_ns != WW_TIME_MAX)
		ww_json_decimal(j, key, ww_iv_mid(t), 6);
}

static void text_arg(struct ww_json *j, const char *key, const char *text)
{
	if (text && *text)
		ww_json_text(j, key, text);
}

bool ww_events_fits(struct ww_events_lane *l, int64_t ns, int64_t end)
{
	while (l->depth && l->end[l->depth - 1] <= ns)
		l->depth--;
	if (l->depth == WW_COUNTOF(l->end) || (l->depth && l->end[l->depth - 1] < end))
		return false;
	l->end[l->depth++] = end;
	return true;
}

/* What is drawn, and where: a phase, or what is no device. */
struct item {
	const struct ww_pm_span *span;
	const struct ww_pm_other *other;
	int64_t ns, dur;
};

/* What holds the other comes first. */
static int by_begin(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->dur < y->dur) - (x->dur > y->dur);
}

/* @return 0: nowhere is room */
static uint32_t beside(struct ww_events *e, const struct item *p)
{
	for (uint32_t i = 0; i < WW_COUNTOF(e->other); i++)
		if (ww_events_fits(&e->other[i], p->ns, p->ns + p->dur))
			return WW_TRACK_OTHER + i;
	return 0;
}

static void span_args(struct ww_json *j, const struct ww_pm_span *p)
{
	if (p->verb)
		ww_json_text(j, "verb", ww_pm_verb_name(p->verb));
	length_arg(j, "corrected_ms", p->corrected);
	length_arg(j, "printed_ms", p->printed);
	if (p->failed)
		ww_json_bool(j, "failed", true);
}

static void put_item(struct ww_events *e, const struct item *p, uint32_t track)
{
	const char *name = p->other		? p->other->what
			   : p->span->phase > 0 ? ww_pm_phase_name(p->span->phase)
						: "?";
	struct ww_json *j = &e->j;

	thread(e, track);
	ww_events_slice(e, e->pid, track, p->other ? "other" : "phase", name, p->ns, p->dur);
	ww_json_open(j, "args", '{');
	if (p->other) {
		text_arg(j, "after", p->other->before);
		text_arg(j, "before", p->other->after);
	} else {
		span_args(j, p->span);
	}
	ww_json_close(j, '}');
	ww_json_close(j, '}');
}

/* Phases, and in their own threads what is no device and phases that overlap others. */
static void put_items(struct ww_events *e, const struct ww_pm_cycle *c)
{
	struct item *item = malloc((c->spans + c->others + 1) * sizeof(*item));
	size_t n = 0, rest = 0;

	if (!item) {
		e->out.s.bad = true;
		return;
	}
	for (size_t i = 0; i < c->spans; i++) {
		const struct ww_pm_span *p = &c->span[i];

		item[n] = (struct item){.span = p};
		n += stretch(e, p->start_ns, p->end_ns, p->length, &item[n].ns, &item[n].dur);
	}
	qsort(item, n, sizeof(*item), by_begin);
	for (size_t i = 0; i < n; i++) {
		if (ww_events_fits(&e->phases, item[i].ns, item[i].ns + item[i].dur))
			put_item(e, &item[i], WW_TRACK_PHASES);
		else
			item[rest++] = item[i];
	}
	for (size_t i = 0; i < c->others; i++) {
		const struct ww_pm_other *o = &c->other[i];

		item[rest] = (struct item){.other = o};
		rest += stretch(e, o->start_ns, WW_TIME_MAX, o->length, &item[rest].ns,
				&item[rest].dur);
	}
	qsort(item, rest, sizeof(*item), by_begin);
	for (size_t i = 0; i < rest; i++) {
		uint32_t track = beside(e, &item[i]);

		if (track)
			put_item(e, &item[i], track);
	}
	free(item);
}

static uint32_t lane_of(struct ww_events_lane *lane, const struct ww_pm_device *d, int64_t ns,
			int64_t dur)
{
	/* The first is for callbacks that run one after the other. */
	for (uint32_t i = d->async > 0 ? 1 : 0; i < WW_EVENTS_LANES; i++) {
		/* A lane is one device's at a time, but in order they may nest. */
		if (i > 0 && lane[i].depth && lane[i].end[lane[i].depth - 1] > ns)
			continue;
		if (ww_events_fits(&lane[i], ns, ns + dur))
			return WW_TRACK_SYNC + i;
	}
	return 0;
}

static void device_args(struct ww_json *j, const struct ww_pm_device *d)
{
	ww_json_open(j, "args", '{');
	text_arg(j, "driver", d->driver);
	text_arg(j, "parent", d->parent);
	text_arg(j, "function", d->func);
	ww_json_text(j, "phase", d->phase > 0 ? ww_pm_phase_name(d->phase) : NULL);
	length_arg(j, "ms", d->length);
	length_arg(j, "corrected_ms", d->corrected);
	length_arg(j, "printed_ms", d->printed);
	if (d->error)
		ww_json_int(j, "errno", d->error);
	if (d->async >= 0)
		ww_json_bool(j, "async", d->async != 0);
	if (d->pid >= 0)
		ww_json_int(j, "task", d->pid);
	if (d->critical)
		ww_json_decimal(j, "critical_ms", d->critical_ns, 6);
	ww_json_close(j, '}');
}

static void put_device(struct ww_events *e, const struct ww_pm_device *d)
{
	struct ww_str name = {0};
	int64_t ns, dur;
	uint32_t track;

	if (!stretch(e, d->start_ns, d->end_ns, d->length, &ns, &dur))
		return;
	track = lane_of(e->lane, d, ns, dur);
	if (!track)
		return;
	thread(e, track);
	ww_str_addf(&name, "%s%s%s", d->driver, *d->driver ? " " : "", d->name);
	e->out.s.bad = e->out.s.bad || name.bad;
	if (!name.bad) {
		ww_events_slice(e, e->pid, track, "device", name.p, ns, dur);
		device_args(&e->j, d);
		ww_json_close(&e->j, '}');
	}
	ww_str_free(&name);
}

static int64_t inside(struct ww_interval t)
{
	return !ww_iv_ok(t) || t.lo_ns == WW_TIME_MIN || t.hi_ns == WW_TIME_MAX ? WW_TIME_MIN
										: ww_iv_mid(t);
}

static void put_sleep(struct ww_events *e, const struct ww_pm_cycle *c)
{
	struct ww_json *j = &e->j;
	int64_t a, b;

	if (!place(e, inside(c->sleep_begin), &a) || !place(e, inside(c->sleep_end), &b) || b < a)
		return;
	thread(e, WW_TRACK_FIRMWARE);
	ww_events_slice(e, e->pid, WW_TRACK_FIRMWARE, "sleep", "asleep", a, b - a);
	ww_json_open(j, "args", '{');
	length_arg(j, "slept_ms", c->slept);
	length_arg(j, "firmware_suspend_ms", c->firmware_suspend);
	length_arg(j, "firmware_resume_ms", c->firmware_resume);
	text_arg(j, "wakeup", c->reason.wakeup);
	ww_json_close(j, '}');
	ww_json_close(j, '}');
}

static void put_whole(struct ww_events *e, const struct ww_pm_cycle *c, int64_t from, int64_t to)
{
	struct ww_str name = {0}, why = {0};
	struct ww_json *j = &e->j;

	thread(e, WW_TRACK_EVENTS);
	ww_str_addf(&name, "cycle %u: %s", (unsigned)c->n, ww_pm_result_name(c->result));
	ww_pm_why(&why, c);
	e->out.s.bad = e->out.s.bad || name.bad || why.bad;
	if (!name.bad && !why.bad) {
		ww_events_slice(e, e->pid, WW_TRACK_EVENTS, "cycle", name.p, from, to - from);
		ww_json_open(j, "args", '{');
		if (c->mode != WW_PM_MODE_UNKNOWN)
			ww_json_text(j, "mode", ww_pm_mode_name(c->mode));
		text_arg(j, "why", ww_pm_why_alone(&why));
		length_arg(j, "suspend_ms", c->suspend);
		length_arg(j, "resume_ms", c->resume);
		length_arg(j, "slept_ms", c->slept);
		text_arg(j, "kernel", c->kernel);
		ww_json_close(j, '}');
		ww_json_close(j, '}');
	}
	ww_str_free(&name);
	ww_str_free(&why);
}

/* A clock that began again is another boot: another process, so that nothing overlaps. */
static void process(struct ww_events *e, int64_t from)
{
	struct ww_str name = {0};

	if (e->until_ns != WW_TIME_MIN && from >= e->until_ns - SLACK_NS)
		return;
	if (e->until_ns != WW_TIME_MIN)
		e->pid++;
	e->named = e->lanes = 0;
	memset(e->lane, 0, sizeof(e->lane));
	e->phases.depth = 0;
	memset(e->other, 0, sizeof(e->other));
	ww_str_add(&name, "kernel");
	if (e->pid > e->first_pid)
		ww_str_addf(&name, ", boot %u", (unsigned)(e->pid - e->first_pid + 1));
	e->out.s.bad = e->out.s.bad || name.bad;
	if (!name.bad)
		ww_events_name(e, e->pid, 0, name.p);
	ww_str_free(&name);
}

void ww_events_cycle(struct ww_events *e, const struct ww_pm_cycle *c)
{
	int64_t from, to;

	if (!ww_iv_ok(c->t) || !place(e, c->t.lo_ns, &from) || !place(e, c->t.hi_ns, &to) ||
	    to < from) {
		e->unplaced++;
		return;
	}
	process(e, from);
	put_whole(e, c, from, to);
	put_items(e, c);
	put_sleep(e, c);
	for (size_t i = 0; i < c->devices; i++)
		put_device(e, &c->device[i]);
	e->until_ns = to;
}

int64_t ww_events_kernlog(struct ww_kernlog *k, int fd, struct ww_error *err)
{
	const struct ww_pm_cycle *c;
	struct ww_error read = {0};
	struct ww_events e;
	int64_t n = 0;
	int rc, wrote = 0, closed;

	ww_events_open(&e, fd);
	while ((rc = ww_kernlog_next(k, &c, &read)) > 0 && wrote >= 0) {
		ww_events_cycle(&e, c);
		n++;
		wrote = ww_sink_flush(&e.out, FLUSH_BYTES, err);
	}
	if (wrote < 0) {
		ww_str_free(&e.out.s);
		return wrote;
	}
	closed = ww_events_close(&e, &read, err);
	if (closed < 0)
		return closed;
	return rc < 0 ? ww_fail(err, rc, "%s", read.text) : n;
}

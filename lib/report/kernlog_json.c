/* SPDX-License-Identifier: MIT */
/* A suspend as the kernel saw it, as JSON (schema wakewatt/kernlog/1). */
#include "report/kernlog.h"
#include "report/length.h"

#include <math.h>

static void text_if(struct ww_json *j, const char *key, const char *value)
{
	if (value && *value)
		ww_json_text(j, key, value);
}

static void length_if(struct ww_json *j, const char *key, struct ww_interval t, double res_ns)
{
	if (ww_iv_ok(t))
		ww_json_length(j, key, t, res_ns);
}

/* null where the length is known and what the console took of it is not. */
static void corrected(struct ww_json *j, const char *key, struct ww_interval length,
		      struct ww_interval less, double res_ns)
{
	if (ww_iv_ok(length) || ww_iv_ok(less))
		ww_json_length(j, key, less, res_ns);
}

/* A moment of the kernel's axis, s. */
static void moment(struct ww_json *j, const char *key, int64_t ns, int64_t open)
{
	if (ns != open)
		ww_json_decimal(j, key, ns, 9);
}

static void moments(struct ww_json *j, const char *key, struct ww_interval t)
{
	if (!ww_iv_ok(t) || (t.lo_ns == WW_TIME_MIN && t.hi_ns == WW_TIME_MAX))
		return;
	ww_json_open(j, key, '[');
	if (t.lo_ns == WW_TIME_MIN)
		ww_json_null(j, NULL);
	else
		ww_json_decimal(j, NULL, t.lo_ns, 9);
	if (t.hi_ns == WW_TIME_MAX)
		ww_json_null(j, NULL);
	else
		ww_json_decimal(j, NULL, t.hi_ns, 9);
	ww_json_close(j, ']');
}

static void json_reason(struct ww_json *j, const struct ww_pm_reason *r)
{
	bool any = *r->step || *r->device || *r->driver || *r->func || *r->task || *r->wakeup ||
		   *r->text || r->error;

	if (!any) {
		ww_json_null(j, "reason");
		return;
	}
	ww_json_open(j, "reason", '{');
	text_if(j, "step", r->step);
	text_if(j, "device", r->device);
	text_if(j, "driver", r->driver);
	text_if(j, "function", r->func);
	if (r->error)
		ww_json_int(j, "errno", r->error);
	if (r->async > 0 && *r->device)
		ww_json_bool(j, "async", true);
	text_if(j, "task", r->task);
	text_if(j, "wakeup", r->wakeup);
	text_if(j, "text", r->text);
	ww_json_close(j, '}');
}

static const char *name_or_null(const char *name)
{
	return name && *name ? name : NULL;
}

static void json_verb(struct ww_json *j, int verb)
{
	if (verb != WW_PM_NO_VERB)
		text_if(j, "verb", ww_pm_verb_name(verb));
}

static void json_spans(struct ww_json *j, const struct ww_pm_cycle *c)
{
	double res = c->stamp_res_ns;

	ww_json_open(j, "phases", '[');
	for (size_t i = 0; i < c->spans; i++) {
		const struct ww_pm_span *p = &c->span[i];

		ww_json_open(j, NULL, '{');
		ww_json_text(j, "name", name_or_null(ww_pm_phase_name(p->phase)));
		json_verb(j, p->verb);
		ww_json_length(j, "ms", p->length, res);
		corrected(j, "corrected_ms", p->length, p->corrected, res);
		/* What the kernel prints it has rounded to a microsecond. */
		length_if(j, "printed_ms", p->printed, 1e3);
		length_if(j, "traced_ms", p->traced, 1e3);
		moment(j, "start_s", p->start_ns, WW_TIME_MIN);
		moment(j, "end_s", p->end_ns, WW_TIME_MAX);
		if (p->failed)
			ww_json_bool(j, "failed", true);
		if (p->nested)
			ww_json_bool(j, "nested", true);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

static void json_from(struct ww_json *j, int from)
{
	static const char *const names[] = {NULL, "log", "ftrace", "both"};

	text_if(j, "from", names[from & 3]);
}

static void json_device(struct ww_json *j, const struct ww_pm_device *d, double res)
{
	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", d->name);
	ww_json_text(j, "driver", d->driver);
	text_if(j, "parent", d->parent);
	text_if(j, "function", d->func);
	ww_json_text(j, "phase", name_or_null(ww_pm_phase_name(d->phase)));
	json_verb(j, d->verb);
	ww_json_length(j, "ms", d->length, res);
	corrected(j, "corrected_ms", d->length, d->corrected, res);
	length_if(j, "printed_ms", d->printed, 1e3);
	moment(j, "start_s", d->start_ns, WW_TIME_MIN);
	moment(j, "end_s", d->end_ns, WW_TIME_MAX);
	ww_json_int(j, "errno", d->error);
	if (d->async < 0)
		ww_json_null(j, "async");
	else
		ww_json_bool(j, "async", d->async != 0);
	if (d->pid >= 0)
		ww_json_int(j, "pid", d->pid);
	if (d->critical) {
		ww_json_bool(j, "critical", true);
		ww_json_decimal(j, "critical_ms", d->critical_ns, 6);
	}
	json_from(j, d->from);
	ww_json_close(j, '}');
}

static void json_others(struct ww_json *j, const struct ww_pm_cycle *c)
{
	ww_json_open(j, "other", '[');
	for (size_t i = 0; i < c->others; i++) {
		const struct ww_pm_other *o = &c->other[i];

		ww_json_open(j, NULL, '{');
		ww_json_text(j, "what", o->what);
		ww_json_length(j, "ms", o->length, c->stamp_res_ns);
		moment(j, "start_s", o->start_ns, WW_TIME_MIN);
		text_if(j, "before", o->before);
		text_if(j, "after", o->after);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

static void json_texts(struct ww_json *j, const char *key, const char *const *text, size_t n)
{
	ww_json_open(j, key, '[');
	for (size_t i = 0; i < n; i++)
		ww_json_text(j, NULL, text[i]);
	ww_json_close(j, ']');
}

static void json_console(struct ww_json *j, const struct ww_pm_cycle *c)
{
	static const char *const proof[] = {NULL, "bytes", "pace", "unknown"};

	if (!c->console_bytes && !c->baud) {
		ww_json_null(j, "console");
		return;
	}
	ww_json_open(j, "console", '{');
	ww_json_int(j, "bytes", (int64_t)c->console_bytes);
	if (c->baud) {
		ww_json_int(j, "baud", c->baud);
		ww_json_decimal(j, "ms", c->console_ns, 6);
	} else {
		ww_json_null(j, "baud");
	}
	if (isfinite(c->console_bound))
		ww_json_trimmed(j, "bound_part", c->console_bound, 4);
	if (c->console_proof > 0 && c->console_proof <= WW_PM_PROOF_UNKNOWN)
		ww_json_text(j, "proof", proof[c->console_proof]);
	ww_json_close(j, '}');
}

static void json_totals(struct ww_json *j, const struct ww_pm_cycle *c)
{
	double res = c->stamp_res_ns;

	ww_json_length(j, "suspend_ms", c->suspend, res);
	ww_json_length(j, "resume_ms", c->resume, res);
	ww_json_length(j, "slept_ms", c->slept, res);
	corrected(j, "suspend_corrected_ms", c->suspend, c->suspend_corrected, res);
	corrected(j, "resume_corrected_ms", c->resume, c->resume_corrected, res);
	length_if(j, "firmware_suspend_ms", c->firmware_suspend, res);
	length_if(j, "firmware_resume_ms", c->firmware_resume, res);
	length_if(j, "network_ms", c->network, res);
	length_if(j, "storage_ms", c->storage, res);
	ww_json_int(j, "sleeps", c->sleeps);
}

static const char *clock_name(int clock)
{
	static const char *const names[] = {"none", "printk", "trace", "host", "bench"};

	return clock >= 0 && (size_t)clock < WW_COUNTOF(names) ? names[clock] : NULL;
}

void ww_kernlog_json_cycle(struct ww_json *j, const struct ww_pm_cycle *c)
{
	ww_json_int(j, "n", c->n);
	ww_json_text(j, "mode",
		     c->mode == WW_PM_MODE_UNKNOWN ? NULL : name_or_null(ww_pm_mode_name(c->mode)));
	ww_json_text(j, "result", name_or_null(ww_pm_result_name(c->result)));
	json_reason(j, &c->reason);
	text_if(j, "kernel", c->kernel);
	ww_json_text(j, "clock", clock_name(c->clock));
	moments(j, "t_s", c->t);
	moments(j, "sleep_begin_s", c->sleep_begin);
	moments(j, "sleep_end_s", c->sleep_end);
	moments(j, "bench_begin_boottime_s", c->bench_begin);
	moments(j, "bench_end_boottime_s", c->bench_end);
	json_totals(j, c);
	json_spans(j, c);
	ww_json_open(j, "devices", '[');
	for (size_t i = 0; i < c->devices; i++)
		json_device(j, &c->device[i], c->stamp_res_ns);
	ww_json_close(j, ']');
	if (c->devices_left_out)
		ww_json_int(j, "devices_left_out", (int64_t)c->devices_left_out);
	json_others(j, c);
	json_console(j, c);
	json_texts(j, "errors", c->error, c->errors);
	json_texts(j, "contradictions", c->contradiction, c->contradictions);
}

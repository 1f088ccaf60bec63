/* SPDX-License-Identifier: MIT */
/* Devices of suspends as CSV (RFC 4180): a line each, units in the heads of the columns. */
#include "report/kernlog.h"
#include "report/length.h"

void ww_kernlog_csv_head(struct ww_str *s)
{
	ww_str_add(s, "cycle,mode,result,phase,verb,device,driver,parent,function,start_s,ms,ms_lo,"
		      "ms_hi,corrected_ms,printed_ms,critical_ms,errno,async,pid\n");
}

static void field(struct ww_str *s, const char *text)
{
	ww_str_add(s, ",");
	ww_str_csv(s, text ? text : "");
}

static void end(struct ww_str *s, int64_t ns, int64_t open, bool known, int digits)
{
	ww_str_add(s, ",");
	if (known && ns != open)
		ww_str_decimal(s, ns, digits);
}

/* The middle of an interval that has both ends. */
static void middle(struct ww_str *s, struct ww_interval t)
{
	ww_str_add(s, ",");
	if (ww_iv_ok(t) && t.lo_ns != WW_TIME_MIN && t.hi_ns != WW_TIME_MAX)
		ww_str_decimal(s, ww_iv_mid(t), 6);
}

static void line(struct ww_str *s, const struct ww_pm_cycle *c, const struct ww_pm_device *d)
{
	const char *mode = c->mode == WW_PM_MODE_UNKNOWN ? "" : ww_pm_mode_name(c->mode);

	ww_str_addf(s, "%u", (unsigned)c->n);
	field(s, mode);
	field(s, ww_pm_result_name(c->result));
	if (!d) {
		ww_str_add(s, ",,,,,,,,,,,,,,,,\n");
		return;
	}
	field(s, ww_pm_phase_name(d->phase));
	field(s, d->verb ? ww_pm_verb_name(d->verb) : "");
	field(s, d->name);
	field(s, d->driver);
	field(s, d->parent);
	field(s, d->func);
	end(s, d->start_ns, WW_TIME_MIN, true, 9);
	middle(s, d->length);
	end(s, d->length.lo_ns, WW_TIME_MIN, ww_iv_ok(d->length), 6);
	end(s, d->length.hi_ns, WW_TIME_MAX, ww_iv_ok(d->length), 6);
	middle(s, d->corrected);
	middle(s, d->printed);
	end(s, d->critical_ns, 0, d->critical, 6);
	ww_str_addf(s, ",%d,%s,", (int)d->error, d->async < 0 ? "" : d->async ? "1" : "0");
	if (d->pid >= 0)
		ww_str_addf(s, "%d", (int)d->pid);
	ww_str_add(s, "\n");
}

void ww_kernlog_csv_cycle(struct ww_str *s, const struct ww_pm_cycle *c)
{
	for (size_t i = 0; i < c->devices; i++)
		line(s, c, &c->device[i]);
	/* A cycle without devices is one all the same. */
	if (c->devices == 0)
		line(s, c, NULL);
}

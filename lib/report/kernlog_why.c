/* SPDX-License-Identifier: MIT */
/* Why a suspend ended as it did, in a phrase. */
#include "report/kernlog.h"

/* Those that callbacks of drivers return. strerror() would follow the locale. */
static const struct {
	int no;
	const char *name;
} errors[] = {
	{1, "EPERM"},	       {2, "ENOENT"},	     {4, "EINTR"},	 {5, "EIO"},
	{6, "ENXIO"},	       {11, "EAGAIN"},	     {12, "ENOMEM"},	 {13, "EACCES"},
	{14, "EFAULT"},	       {16, "EBUSY"},	     {17, "EEXIST"},	 {19, "ENODEV"},
	{22, "EINVAL"},	       {25, "ENOTTY"},	     {28, "ENOSPC"},	 {32, "EPIPE"},
	{34, "ERANGE"},	       {38, "ENOSYS"},	     {61, "ENODATA"},	 {62, "ETIME"},
	{71, "EPROTO"},	       {74, "EBADMSG"},	     {75, "EOVERFLOW"},	 {84, "EILSEQ"},
	{95, "EOPNOTSUPP"},    {104, "ECONNRESET"},  {107, "ENOTCONN"},	 {108, "ESHUTDOWN"},
	{110, "ETIMEDOUT"},    {115, "EINPROGRESS"}, {121, "EREMOTEIO"}, {125, "ECANCELED"},
	{517, "EPROBE_DEFER"}, {524, "ENOTSUPP"},
};

static void put_number(struct ww_str *s, int error)
{
	ww_str_addf(s, "%d", error);
	for (size_t i = 0; i < WW_COUNTOF(errors); i++)
		if (errors[i].no == -error)
			ww_str_addf(s, " %s", errors[i].name);
}

void ww_put_errno(struct ww_str *s, int error)
{
	ww_str_add(s, "error ");
	put_number(s, error);
}

static void put_device(struct ww_str *s, const struct ww_pm_reason *r)
{
	ww_str_add(s, ": ");
	if (*r->driver) {
		ww_str_plain(s, r->driver);
		ww_str_add(s, " ");
	}
	ww_str_plain(s, r->device);
	if (r->async > 0)
		ww_str_add(s, " (async)");
}

void ww_pm_why(struct ww_str *s, const struct ww_pm_cycle *c)
{
	const struct ww_pm_reason *r = &c->reason;

	if (*r->step)
		ww_str_addf(s, " in %s", r->step);
	if (*r->device)
		put_device(s, r);
	if (*r->func && *r->device) {
		ww_str_add(s, ", ");
		ww_str_plain(s, r->func);
		ww_str_add(s, "()");
	}
	if (r->error) {
		ww_str_add(s, ", ");
		ww_put_errno(s, r->error);
	}
	if (*r->task) {
		ww_str_add(s, ": task ");
		ww_str_plain(s, r->task);
	}
	if (*r->wakeup) {
		ww_str_add(s, c->result == WW_PM_OK ? ", woken by " : ", wake-up by ");
		ww_str_plain(s, r->wakeup);
	}
	if (!*r->device && !*r->task && !*r->wakeup && *r->text) {
		ww_str_add(s, ": ");
		ww_str_plain(s, r->text);
	}
}

const char *ww_pm_why_alone(const struct ww_str *why)
{
	const char *p = why->n ? why->p : "";

	return p + strspn(p, ":, ");
}

void ww_pm_why_brief(struct ww_str *s, const struct ww_pm_cycle *c)
{
	const struct ww_pm_reason *r = &c->reason;
	const char *what = *r->device	? r->device
			   : *r->task	? r->task
			   : *r->wakeup ? r->wakeup
					: "";

	ww_str_add(s, r->step);
	if (r->error) {
		ww_str_add(s, " ");
		put_number(s, r->error);
	}
	/* A line that says no more than the step is left to the details. */
	if (!*what && (!*r->text || *r->step))
		return;
	ww_str_add(s, s->n ? ": " : "");
	if (*r->device && *r->driver) {
		ww_str_plain(s, r->driver);
		ww_str_add(s, " ");
	}
	if (!*r->device && !*r->task && *what)
		ww_str_add(s, "wake-up by ");
	ww_str_plain(s, *what ? what : r->text);
}

const struct ww_pm_device *ww_pm_slowest(const struct ww_pm_cycle *c)
{
	const struct ww_pm_device *best = NULL;

	for (size_t i = 0; i < c->devices; i++) {
		const struct ww_pm_device *d = &c->device[i];

		if (ww_iv_ok(d->length) && d->length.hi_ns != WW_TIME_MAX &&
		    (!best || ww_iv_mid(d->length) > ww_iv_mid(best->length)))
			best = d;
	}
	return best;
}

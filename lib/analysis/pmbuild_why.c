/* SPDX-License-Identifier: MIT */
/* Why it did not sleep, what woke it, and what took time beside the devices. */
#include "analysis/pmbuild.h"

static struct ww_pm_reason *reason(struct ww_pmbuild *b)
{
	return &b->w->c.reason;
}

static const char *line_of(struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	return ww_pm_str(b->w, in->message);
}

static int failing_phase(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	if (e->phase != WW_PM_NO_PHASE)
		return e->phase;
	return b->s.at != WW_PM_NO_PHASE ? b->s.at : WW_PM_SUSPEND;
}

/* The driver is in the line of new kernels; else a call of the device tells it. */
static const char *driver_of(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	size_t i;

	if (e->driver.n > 0)
		return ww_pm_str(b->w, e->driver);
	for (i = b->w->devices; i > 0 && i + 1000 > b->w->devices; i--) {
		const struct ww_pm_device *d = &b->w->device[i - 1];

		if (d->driver[0] != '\0' && strlen(d->name) == e->device.n &&
		    memcmp(d->name, e->device.p, e->device.n) == 0)
			return d->driver;
	}
	return "";
}

static void device_fail(struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	const struct ww_pmev *e = in->ev;
	struct ww_pm_reason *r = reason(b);
	bool up = e->verb == WW_PM_V_RESUME || e->verb == WW_PM_V_THAW ||
		  e->verb == WW_PM_V_RESTORE || e->verb == WW_PM_V_RECOVER;

	if (e->verb == WW_PM_NO_VERB)
		up = b->s.side != WW_PM_DOWN;
	if (up || r->device[0] != '\0') {
		b->s.devices = true;
		ww_note(&b->w->errors, "%s", line_of(b, in));
		b->s.callee.n = 0;
		return;
	}
	r->device = ww_pm_str(b->w, e->device);
	r->driver = driver_of(b, e);
	r->error = e->err;
	r->async = e->async;
	r->text = line_of(b, in);
	if (b->s.callee.n > 0 && b->s.callee_err == e->err)
		r->func = ww_pm_str(b->w, ww_pm_kept_slice(&b->s.callee));
	b->s.callee.n = 0;
	b->s.phase_failed = true;
	b->s.fail_phase = failing_phase(b, e);
	b->s.devices = true;
	if (e->phase == WW_PM_SUSPEND_NOIRQ || e->phase == WW_PM_SUSPEND_LATE)
		ww_pmbuild_back(b, e->phase);
}

/* The innermost function is told first. */
static void callee(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	if (b->s.callee.n > 0 && b->s.callee_err == e->err)
		return;
	ww_pm_keep(&b->s.callee, e->func);
	ww_pm_keep(&b->s.callee_device, e->device);
	ww_pm_keep(&b->s.callee_driver, e->driver);
	b->s.callee_err = e->err;
}

/* Its callback is told, and the line that names the device is not in the text. */
static void callee_failed(struct ww_pmbuild *b)
{
	struct ww_pm_reason *r = reason(b);

	if (b->s.callee.n == 0 || b->s.callee_err == 0 || r->device[0] != '\0' || r->error != 0)
		return;
	r->device = ww_pm_str(b->w, ww_pm_kept_slice(&b->s.callee_device));
	r->driver = ww_pm_str(b->w, ww_pm_kept_slice(&b->s.callee_driver));
	r->func = ww_pm_str(b->w, ww_pm_kept_slice(&b->s.callee));
	r->error = b->s.callee_err;
	b->s.callee.n = 0;
}

static void wake_irq(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	struct ww_pm_reason *r = reason(b);
	const char *name = ww_pm_str(b->w, e->wakeup);
	size_t i;

	for (i = 0; i < b->s.wakes; i++) {
		if (b->s.wake_irq[i] == e->count)
			return;
	}
	if (b->s.wakes >= WW_PM_WAKES)
		return;
	b->s.wake_irq[b->s.wakes++] = e->count;
	if (e->count >= 0)
		name = name[0] != '\0' ? ww_pm_strf(b->w, "IRQ %lld, %s", (long long)e->count, name)
				       : ww_pm_strf(b->w, "IRQ %lld", (long long)e->count);
	if (name[0] == '\0')
		return;
	r->wakeup = r->wakeup[0] != '\0' ? ww_pm_strf(b->w, "%s; %s", r->wakeup, name) : name;
	if (b->w->c.mode != WW_PM_MODE_S2IDLE && b->s.slept_mark)
		ww_pmbuild_turn(b, t);
}

static void wake_source(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	struct ww_pm_reason *r = reason(b);

	if (b->ftrace && b->s.side == WW_PM_DOWN && e->wakeup.n > 0)
		ww_pm_keep(&b->s.source, e->wakeup);
	/* Traced sources are many: the first one after the sleep is what ended it. */
	if (b->ftrace && (b->s.side != WW_PM_UP || b->s.at > WW_PM_RESUME_NOIRQ))
		return;
	if (b->s.side == WW_PM_DOWN)
		b->s.early = true;
	if (e->wakeup.n > 0 && r->wakeup[0] == '\0')
		r->wakeup = ww_pm_str(b->w, e->wakeup);
}

static void slept(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	struct ww_interval *s = &b->s.slept;

	if (e->dur_ns == WW_NO_TIME || e->dur_ns < 0)
		return;
	if (!ww_iv_ok(*s))
		s->lo_ns = s->hi_ns = 0;
	/* Cut off to milliseconds. */
	s->lo_ns = ww_add_sat(s->lo_ns, e->dur_ns);
	s->hi_ns = ww_add_sat(s->hi_ns, ww_add_sat(e->dur_ns, b->ftrace ? 0 : WW_NS_PER_MS));
	b->w->c.sleeps++;
	b->s.slept_mark = b->s.devices = true;
}

static void machine_span(struct ww_pmbuild *b, int verb, int64_t from, int64_t to)
{
	struct ww_pm_span *s;

	if (from == WW_NO_TIME || to == WW_NO_TIME || to < from || b->w->spans >= WW_PM_ROWS_MAX)
		return;
	s = ww_pm_add_span(b->w);
	if (s == NULL)
		return;
	s->phase = WW_PM_MACHINE;
	s->verb = verb;
	s->start_ns = from;
	s->end_ns = to;
	s->traced.lo_ns = s->traced.hi_ns = to - from;
	s->length = s->traced;
}

/* The machine's own part, and within it the sleep itself where that is traced. */
static void asleep_traced(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	if (e->phase == WW_PM_MACHINE) {
		b->s.machine_ns = t;
		if (b->s.asleep_ns == WW_NO_TIME)
			b->s.asleep_ns = t;
		return;
	}
	if (!b->s.deep)
		machine_span(b, WW_PM_V_SUSPEND, b->s.machine_ns, t);
	if (!b->s.deep && b->w->c.mode != WW_PM_MODE_S2IDLE)
		b->s.asleep_ns = t;
	b->s.deep = true;
	b->s.deep_ns = t;
}

static void awake_traced(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	int64_t from = e->phase == WW_PM_MACHINE ? b->s.asleep_ns : b->s.deep_ns;

	if (t == WW_NO_TIME)
		return;
	if (e->phase == WW_PM_MACHINE && b->s.deep) {
		machine_span(b, WW_PM_V_RESUME, b->s.awake_ns, t);
		if (b->w->c.mode == WW_PM_MODE_S2IDLE)
			b->s.awake_ns = t;
		return;
	}
	b->s.awake_ns = t;
	/* A clock that stands still in the sleep tells nothing of it. */
	if (from == WW_NO_TIME || t - from < WW_NS_PER_S / 2)
		return;
	if (!ww_iv_ok(b->s.slept))
		b->s.slept.lo_ns = b->s.slept.hi_ns = 0;
	b->s.slept.lo_ns += t - from;
	b->s.slept.hi_ns += t - from;
	b->w->c.sleeps++;
}

static void asleep(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	b->s.slept_mark = b->s.devices = true;
	if (e->mode != WW_PM_MODE_UNKNOWN)
		b->w->c.mode = e->mode;
	b->s.at = WW_PM_MACHINE;
	ww_pmbuild_down(b, t);
	if (b->ftrace)
		asleep_traced(b, e, t);
	else if (b->s.asleep_ns == WW_NO_TIME)
		b->s.asleep_ns = t;
}

static void awake(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	b->s.slept_mark = b->s.devices = true;
	if (e->mode != WW_PM_MODE_UNKNOWN)
		b->w->c.mode = e->mode;
	ww_pmbuild_turn(b, t);
	if (b->ftrace)
		awake_traced(b, e, t);
	else if (t != WW_NO_TIME && (b->s.awake_ns == WW_NO_TIME || e->mode == WW_PM_MODE_S2IDLE))
		b->s.awake_ns = t;
	if (b->s.at < WW_PM_SYSCORE_RESUME)
		b->s.at = WW_PM_RESUME_NOIRQ;
}

static void firmware_time(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;
	bool down = e->verb == WW_PM_V_SUSPEND;
	struct ww_interval *total = down ? &b->w->c.firmware_suspend : &b->w->c.firmware_resume;
	struct ww_pm_other *o;

	if (e->dur_ns == WW_NO_TIME || e->dur_ns < 0 || b->w->others >= WW_PM_ROWS_MAX)
		return;
	o = ww_pm_add_other(b->w);
	if (o == NULL)
		return;
	o->what = down ? "firmware, suspend" : "firmware, resume";
	o->before = line_of(b, in);
	if (t != WW_NO_TIME)
		o->start_ns = t;
	o->length.lo_ns = o->length.hi_ns = e->dur_ns;
	if (!ww_iv_ok(*total))
		total->lo_ns = total->hi_ns = 0;
	total->lo_ns = ww_add_sat(total->lo_ns, e->dur_ns);
	total->hi_ns = ww_add_sat(total->hi_ns, e->dur_ns);
}

static void firmware(struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	if (in->ev->fw == WW_FW_BOOT && b->s.side == WW_PM_DOWN && b->s.devices)
		b->s.loader = true;
	if (in->ev->fw == WW_FW_RESUME)
		b->s.loader = false;
}

static void pm_test(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	b->s.test_ns = e->dur_ns != WW_NO_TIME ? e->dur_ns : 5 * WW_NS_PER_S;
	if (b->s.at > WW_PM_SUSPEND_NOIRQ)
		ww_pmbuild_back(b, b->s.at);
	else if (b->s.at >= WW_PM_SUSPEND)
		ww_pmbuild_back(b, WW_PM_SUSPEND);
	if (t == WW_NO_TIME)
		return;
	b->s.asleep_ns = t;
	ww_pmbuild_down(b, t);
}

static void some_failed(struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	if (ww_pm_phase_up(in->ev->phase, in->ev->verb)) {
		ww_note(&b->w->errors, "%s", line_of(b, in));
		return;
	}
	b->s.some_failed = b->s.devices = true;
	if (b->s.at >= WW_PM_PREPARE && b->s.at <= WW_PM_SUSPEND_LATE)
		ww_pmbuild_back(b, WW_PM_SUSPEND);
	callee_failed(b);
	if (in->ev->count == 1 && reason(b)->device[0] == '\0' && reason(b)->error == 0)
		b->s.early = true;
	/* That tasks were being frozen was only assumed. */
	if (b->s.fail_phase == 0 ||
	    (b->s.fail_phase == WW_PM_FREEZE && b->s.open[WW_PM_FREEZE] == 0 && !b->s.frozen))
		b->s.fail_phase = failing_phase(b, in->ev);
	if (reason(b)->text[0] == '\0')
		reason(b)->text = line_of(b, in);
}

static void refused(struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	if (b->s.side == WW_PM_OVER)
		return;
	b->s.phase_failed = true;
	if (b->s.fail_phase == 0)
		b->s.fail_phase = b->s.at;
	if (in->ev->err != 0 && reason(b)->error == 0)
		reason(b)->error = in->ev->err;
	if (in->ev->func.n > 0 && reason(b)->func[0] == '\0')
		reason(b)->func = ww_pm_str(b->w, in->ev->func);
	reason(b)->text = line_of(b, in);
}

static void wake_pending(struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	if (b->s.side == WW_PM_OVER)
		return;
	b->s.wake_pending = true;
	/* Of a text that begins here the step is told by what follows. */
	if (b->s.fail_phase == 0 && b->w->spans + b->w->devices > 0)
		b->s.fail_phase = b->s.open[WW_PM_FREEZE] || !b->s.frozen ? WW_PM_FREEZE : b->s.at;
	wake_source(b, in->ev);
	if (reason(b)->text[0] == '\0')
		reason(b)->text = line_of(b, in);
}

/* The first link that is back is the network's; the last disk is the storage's. */
static void back(struct ww_pmbuild *b, int kind, int64_t t)
{
	struct ww_interval at = {t, t};

	if (t == WW_NO_TIME || b->s.side == WW_PM_DOWN)
		return;
	if (kind == WW_PMEV_NET_UP && !ww_iv_ok(b->w->c.network))
		b->w->c.network = at;
	if (kind == WW_PMEV_STORAGE_UP)
		b->w->c.storage = at;
}

static void task(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	struct ww_pm_reason *r = reason(b);

	if (b->s.fail_phase != WW_PM_FREEZE)
		return;
	if (e->task.n > 0 && e->count == 0) {
		ww_pm_keep(&b->s.queue, e->task);
	} else if (e->task.n > 0) {
		if (r->task[0] == '\0')
			r->task = ww_pm_str(b->w, e->task);
	} else if (b->s.queue.n > 0 && e->count > 0 && r->task[0] == '\0') {
		/* "pwq 8: ... active=1/0": this queue is what it waits for. */
		r->task = ww_pm_str(b->w, ww_pm_kept_slice(&b->s.queue));
	} else if (e->func.n > 0 && r->func[0] == '\0' && b->s.queue.n > 0) {
		if (strlen(r->task) == b->s.queue.n &&
		    memcmp(r->task, ww_pm_kept_slice(&b->s.queue).p, b->s.queue.n) == 0)
			r->func = ww_pm_str(b->w, e->func);
	}
}

/* "Calling lapic_suspend+0x0/0x1c0": of the last ones before the sleep, or the first after. */
static void syscore(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	if (e->func.n == 0 || b->s.side != WW_PM_DOWN || e->dur_ns != WW_NO_TIME)
		return;
	if (memmem(e->func.p, e->func.n, "suspend", 7) != NULL)
		ww_pmbuild_down(b, t);
	else if (memmem(e->func.p, e->func.n, "resume", 6) != NULL && b->s.devices)
		ww_pmbuild_turn(b, t);
}

static void died(struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	const struct ww_pmev *e = in->ev;
	struct ww_pm_reason *r = reason(b);

	if (b->s.side == WW_PM_OVER)
		return;
	/* What is told first names the cause; "Oops" and the panic come after it. */
	if (!b->s.died)
		r->text = line_of(b, in);
	b->s.died = true;
	if (e->device.n > 0)
		r->device = ww_pm_str(b->w, e->device);
	if (e->driver.n > 0)
		r->driver = ww_pm_str(b->w, e->driver);
	if (r->step[0] == '\0' && b->s.at != WW_PM_NO_PHASE)
		r->step = ww_pm_phase_name(b->s.at);
}

/* What is told of the sleep and of what is around it. @return it was none of these */
static bool around_sleep(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;

	switch (e->kind) {
	case WW_PMEV_PM_TEST:
		pm_test(b, e, t);
		return false;
	case WW_PMEV_ASLEEP:
		asleep(b, e, t);
		return false;
	case WW_PMEV_AWAKE:
		awake(b, e, t);
		return false;
	case WW_PMEV_SLEPT:
		slept(b, e);
		return false;
	case WW_PMEV_FIRMWARE:
		firmware(b, in);
		return false;
	case WW_PMEV_FIRMWARE_TIME:
		firmware_time(b, in, t);
		return false;
	case WW_PMEV_NET_UP:
	case WW_PMEV_STORAGE_UP:
		back(b, e->kind, t);
		return false;
	case WW_PMEV_INITCALL:
		syscore(b, e, t);
		return false;
	default:
		return true;
	}
}

void ww_pmbuild_why(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;

	if (!around_sleep(b, in, t))
		return;
	switch (e->kind) {
	case WW_PMEV_DEVICE_FAIL:
		device_fail(b, in);
		break;
	case WW_PMEV_CALLEE:
		callee(b, e);
		break;
	case WW_PMEV_TASK:
		task(b, e);
		break;
	case WW_PMEV_SOME_FAILED:
		some_failed(b, in);
		break;
	case WW_PMEV_WAKE_PENDING:
		wake_pending(b, in);
		break;
	case WW_PMEV_WAKE_SOURCE:
		wake_source(b, e);
		break;
	case WW_PMEV_WAKE_IRQ:
		wake_irq(b, e, t);
		break;
	case WW_PMEV_REFUSED:
		refused(b, in);
		break;
	case WW_PMEV_OOPS:
	case WW_PMEV_DEVICE_SLOW:
		died(b, in);
		break;
	default:
		break;
	}
}

/* Failed or aborted; the step that did it. */
int ww_pmbuild_result(struct ww_pmbuild *b)
{
	struct ww_pm_reason *r = reason(b);
	int phase = b->s.fail_phase;

	if (r->task[0] == '\0' && b->s.queue.n > 0)
		r->task = ww_pm_str(b->w, ww_pm_kept_slice(&b->s.queue));
	if (phase == 0 && (b->s.frozen || !b->s.cut))
		phase = b->s.frozen ? b->s.at : WW_PM_NOTIFIERS;
	r->step = ww_pm_phase_name(phase) != NULL ? ww_pm_phase_name(phase) : "";
	if ((r->device[0] != '\0' || r->func[0] != '\0') && r->error != 0 &&
	    !(b->s.wake_pending && r->error == -EBUSY))
		return WW_PM_FAILED;
	if (b->s.wake_pending || (b->s.early && r->task[0] == '\0'))
		return WW_PM_ABORTED;
	return WW_PM_FAILED;
}

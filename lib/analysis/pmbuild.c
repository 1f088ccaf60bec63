/* SPDX-License-Identifier: MIT */
/* The builder: events of one text in, cycles out. */
#include "analysis/pmbuild.h"
#include "analysis/resume.h"
#include "text/ftline.h"

/* How long after its end a cycle waits for network and disks. */
#define TAIL_NS	   (10 * WW_NS_PER_S)
#define TAIL_LINES 400
/* A kernel that talks so long and does not come to the end has not come back. */
#define HUNG_NS	   (300 * WW_NS_PER_S)
#define HUNG_LINES 100000
#define HUNG_LEAST 50
/* From an exit to the next entry, where a program asks for another mode after an error. */
#define AT_ONCE_NS (5 * WW_NS_PER_MS)
/* A kernel is that young when it first speaks. */
#define BOOT_NS WW_NS_PER_S

int ww_pmbuild_new(bool ftrace, const struct ww_kernlog_options *opt, struct ww_pmbuild **out,
		   struct ww_error *err)
{
	struct ww_pmbuild *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return ww_fail_nomem(err);
	b->ftrace = ftrace;
	b->gap_ns = WW_OPT(opt, gap_ns, 0);
	if (b->gap_ns <= 0)
		b->gap_ns = 100 * WW_NS_PER_MS;
	b->before_t = b->before_host = b->before_bench = WW_NO_TIME;
	b->head.fwsuspend_ns = b->head.fwresume_ns = b->head.wifi_ns = -1;
	b->main_pid = -1;
	*out = b;
	return 0;
}

void ww_pmbuild_free(struct ww_pmbuild *b)
{
	size_t i;

	if (b == NULL)
		return;
	for (i = 0; i < b->ready; i++)
		ww_pm_work_free(b->done[i]);
	ww_pm_work_free(b->w);
	free(b->done);
	free(b->chain);
	free(b);
}

struct ww_pm_work *ww_pmbuild_take(struct ww_pmbuild *b)
{
	struct ww_pm_work *w;

	if (b->ready == 0)
		return NULL;
	w = b->done[0];
	b->ready--;
	memmove(b->done, b->done + 1, b->ready * sizeof(struct ww_pm_work *));
	return w;
}

bool ww_pmbuild_capped(const struct ww_pmbuild *b)
{
	return b->capped;
}

/* A time on the axis that the cycle has. */
static int64_t axis(const struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	int clock = b->w != NULL ? b->w->c.clock : in->clock;

	if (clock == in->clock)
		return in->line.t_ns;
	if (clock == WW_PM_CLOCK_HOST)
		return in->line.host_ns;
	if (clock == WW_PM_CLOCK_BENCH)
		return in->line.lo_ns;
	return WW_NO_TIME;
}

static bool spans(int64_t from, int64_t to, int64_t gap)
{
	return from != WW_NO_TIME && to != WW_NO_TIME && (to - from >= gap || to < from - gap);
}

static void add_line(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	struct ww_pm_line *l, *last;
	struct ww_pm_work *w = b->w;
	bool gap;

	if (in->message.n == 0 && in->ev->kind == WW_PMEV_NONE)
		return;
	if (w->lines >= WW_PM_LINES_MAX) {
		b->s.capped = true;
		return;
	}
	last = w->lines ? &w->line[w->lines - 1] : NULL;
	gap = last != NULL && (spans(b->before_t, t, b->gap_ns) ||
			       spans(b->before_host, in->line.host_ns, b->gap_ns) ||
			       spans(b->before_bench, in->line.lo_ns, b->gap_ns));
	if (gap && last->text == NULL)
		last->text = ww_pm_str(w, ww_pm_kept_slice(&b->before));
	if (spans(b->before_t, t, b->gap_ns) && b->before_kernel_line > 0 && w->line != NULL &&
	    b->before_kernel_line <= w->lines && w->line[b->before_kernel_line - 1].text == NULL)
		w->line[b->before_kernel_line - 1].text =
			ww_pm_str(w, ww_pm_kept_slice(&b->before_kernel));
	l = ww_pm_add_line(w);
	if (l == NULL)
		return;
	if (in->host_res_ns > w->host_res_ns)
		w->host_res_ns = in->host_res_ns;
	*l = in->line;
	l->text = NULL;
	if (gap) {
		struct ww_slice m = in->message;

		m.n = m.n < WW_PM_KEEP ? m.n : WW_PM_KEEP;
		l->text = ww_pm_str(w, m);
	}
	l->t_ns = t;
	l->span = l->device = 0;
}

static void remember(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	if (in->message.n == 0 && in->ev->kind == WW_PMEV_NONE)
		return;
	ww_pm_keep(&b->before, in->message);
	if (t != WW_NO_TIME) {
		b->before_t = t;
		ww_pm_keep(&b->before_kernel, in->message);
		b->before_kernel_line = b->w->lines;
	}
	b->before_host = in->line.host_ns;
	b->before_bench = in->line.lo_ns;
}

static int64_t any_time(const struct ww_pm_in *in)
{
	if (in->line.lo_ns != WW_NO_TIME)
		return in->line.lo_ns;
	return in->line.host_ns != WW_NO_TIME ? in->line.host_ns : in->line.t_ns;
}

/* Can it stand at the begin of a text that was cut within a suspend? */
static bool opens_cut(const struct ww_pmev *e)
{
	switch (e->kind) {
	case WW_PMEV_MODE:
	case WW_PMEV_ABORT:
	case WW_PMEV_FAIL:
	case WW_PMEV_SUM:
	case WW_PMEV_CALL:
	case WW_PMEV_RETURN:
	case WW_PMEV_DEVICE_TOOK:
	case WW_PMEV_DEVICE_FAIL:
	case WW_PMEV_DEVICE_SLOW:
	case WW_PMEV_CALLEE:
	case WW_PMEV_SOME_FAILED:
	case WW_PMEV_WAKE_PENDING:
	case WW_PMEV_PM_TEST:
	case WW_PMEV_ASLEEP:
	case WW_PMEV_AWAKE:
	case WW_PMEV_SLEPT:
		return true;
	case WW_PMEV_BEGIN:
	case WW_PMEV_END:
		/* CPUs come and go at other times, too. */
		return e->phase != WW_PM_NO_PHASE &&
		       !((e->phase == WW_PM_CPU_OFF || e->phase == WW_PM_CPU_ON) && e->count >= 0);
	default:
		return false;
	}
}

static bool goes_down(const struct ww_pmev *e)
{
	if (e->kind == WW_PMEV_CALLEE)
		return e->func.n > 7 && memmem(e->func.p, e->func.n, "suspend", 7) != NULL;
	return (e->kind == WW_PMEV_DEVICE_FAIL || e->kind == WW_PMEV_SOME_FAILED) &&
	       e->verb == WW_PM_V_SUSPEND;
}

/* Has the cycle come so far that this can only be the next one's? */
static bool begins_anew(const struct ww_pmbuild *b, const struct ww_pmev *e)
{
	if (e->kind == WW_PMEV_ENTRY)
		return b->s.devices || b->s.side != WW_PM_DOWN || b->s.exited ||
		       b->s.open[WW_PM_FREEZE] != 0 || b->s.frozen || b->s.phase_failed ||
		       b->s.wake_pending || !b->s.entry;
	if (e->kind == WW_PMEV_MODE)
		return b->s.side == WW_PM_OVER;
	/* Lines of failures alone: the kernel gave up before it tries once more. */
	if (b->s.cut && b->s.some_failed && goes_down(e))
		return true;
	if (e->kind != WW_PMEV_BEGIN && e->kind != WW_PMEV_END)
		return false;
	/* A freeze that failed ends after the thaw in it. */
	if (e->kind == WW_PMEV_END && e->phase == WW_PM_FREEZE && b->s.open[e->phase] != 0)
		return false;
	if (b->s.booted)
		return e->phase == WW_PM_SYNC;
	if (e->phase == WW_PM_SYNC)
		return b->s.side != WW_PM_DOWN || b->s.devices || b->s.frozen;
	if (e->phase == WW_PM_FREEZE)
		return b->s.side == WW_PM_OVER ||
		       (b->s.fail_phase == WW_PM_FREEZE && e->kind == WW_PMEV_BEGIN) ||
		       (b->s.devices && b->w->c.mode != WW_PM_MODE_DISK);
	/* No exit line, and the next suspend's first line is not in the text either. */
	return b->s.side == WW_PM_OVER && e->phase >= WW_PM_PREPARE && e->phase <= WW_PM_CPU_OFF;
}

/*
 * Another mode, at once: who asked was told that the first one failed (systemd-sleep tries one
 * after the other), whatever is left of its lines.
 */
static bool other_mode(const struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	return in->ev->kind == WW_PMEV_ENTRY && b->s.exited && b->s.entry && !b->s.slept_mark &&
	       ww_iv_ok(b->s.exit) && in->line.t_ns != WW_NO_TIME && b->w->c.clock == in->clock &&
	       in->line.t_ns >= b->s.exit.hi_ns && in->line.t_ns - b->s.exit.hi_ns < AT_ONCE_NS &&
	       in->ev->mode != WW_PM_MODE_UNKNOWN && b->w->c.mode != WW_PM_MODE_UNKNOWN &&
	       in->ev->mode != b->w->c.mode;
}

static int maybe_open(struct ww_pmbuild *b, const struct ww_pm_in *in, struct ww_error *err)
{
	const struct ww_pmev *e = in->ev;
	bool proper =
		e->kind == WW_PMEV_ENTRY ||
		((e->kind == WW_PMEV_BEGIN || e->kind == WW_PMEV_END) && e->phase == WW_PM_SYNC);
	int rc;

	if (b->w != NULL && begins_anew(b, e)) {
		rc = ww_pmbuild_finish(b, other_mode(b, in) ? WW_PM_FAILED : -1, err);
		if (rc < 0)
			return rc;
	}
	if (b->w != NULL || !(proper || opens_cut(e)))
		return 0;
	return ww_pmbuild_open(b, in, !proper, err);
}

/* Android tells the wall time with the entry and the exit: it goes on in the sleep. */
static void wall_time(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	int64_t *offset = e->kind == WW_PMEV_ENTRY ? &b->s.utc_entry : &b->s.utc_exit;

	if (e->utc_ns == WW_NO_TIME || e->utc_ns <= 0)
		return;
	if (e->kind == WW_PMEV_ENTRY)
		b->w->told_utc_ns = (uint64_t)e->utc_ns;
	if (t != WW_NO_TIME)
		*offset = e->utc_ns - t;
}

static void frame(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;

	if (e->kind == WW_PMEV_ENTRY)
		b->s.entry = true;
	if (e->kind == WW_PMEV_ENTRY || e->kind == WW_PMEV_EXIT)
		wall_time(b, e, t);
	if (e->mode != WW_PM_MODE_UNKNOWN &&
	    (e->kind == WW_PMEV_ENTRY || e->kind == WW_PMEV_MODE || e->kind == WW_PMEV_ASLEEP ||
	     e->kind == WW_PMEV_AWAKE || b->w->c.mode == WW_PM_MODE_UNKNOWN))
		b->w->c.mode = e->mode;
	if (e->kind == WW_PMEV_MODE)
		ww_pmbuild_down(b, t);
	if (e->kind == WW_PMEV_EXIT) {
		b->s.exited = true;
		if (e->err != 0 && b->w->c.reason.error == 0 && !b->s.slept_mark) {
			b->s.phase_failed = true;
			b->w->c.reason.error = e->err;
			if (b->w->c.reason.text[0] == '\0')
				b->w->c.reason.text = ww_pm_str(b->w, in->message);
		}
		b->s.exit = t == WW_NO_TIME ? WW_INTERVAL_NONE : (struct ww_interval){t, t};
		b->s.over_line = b->w->lines;
		if (b->s.open[WW_PM_THAW] && t != WW_NO_TIME && !ww_iv_ok(b->s.thaw_end))
			b->s.thaw_end = (struct ww_interval){t, t};
		b->s.side = WW_PM_OVER;
		b->w->c.bench_end = in->line.lo_ns == WW_NO_TIME || ww_iv_ok(b->w->c.bench_end)
					    ? b->w->c.bench_end
					    : (struct ww_interval){in->line.lo_ns, in->line.hi_ns};
	}
}

/* @return 1: the event ended the cycle */
static int boot(struct ww_pmbuild *b, const struct ww_pm_in *in, struct ww_error *err)
{
	int rc = 1;

	if (in->ev->kind == WW_PMEV_BOOT)
		ww_pm_keep(&b->version, in->ev->text);
	if (b->w == NULL)
		return 1;
	if (b->s.side == WW_PM_OVER)
		rc = ww_pmbuild_finish(b, -1, err);
	else if (b->w->c.mode == WW_PM_MODE_DISK)
		b->s.booted = true;
	else
		rc = ww_pmbuild_finish(b, WW_PM_RESET, err);
	return rc < 0 ? rc : 1;
}

/*
 * Its first line may have lost a byte on the wire: a printk clock that begins anew within a
 * suspend is another kernel's.
 */
static bool restarts(const struct ww_pmbuild *b, const struct ww_pm_in *in)
{
	return !b->ftrace && b->w != NULL && b->s.side != WW_PM_OVER && !b->s.booted &&
	       in->line.kernel && in->clock == WW_PM_CLOCK_PRINTK &&
	       b->w->c.clock == WW_PM_CLOCK_PRINTK && in->line.t_ns != WW_NO_TIME &&
	       b->s.last_ns != WW_NO_TIME && in->line.t_ns < BOOT_NS &&
	       b->s.last_ns - in->line.t_ns > 2 * BOOT_NS;
}

static int dispatch(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	switch (in->ev->kind) {
	case WW_PMEV_ENTRY:
	case WW_PMEV_MODE:
	case WW_PMEV_EXIT:
		frame(b, in, t);
		break;
	case WW_PMEV_BEGIN:
	case WW_PMEV_END:
	case WW_PMEV_ABORT:
	case WW_PMEV_FAIL:
	case WW_PMEV_SUM:
	case WW_PMEV_TOOK:
	case WW_PMEV_DONE:
		ww_pmbuild_phase(b, in, t);
		break;
	case WW_PMEV_CALL:
	case WW_PMEV_RETURN:
	case WW_PMEV_DEVICE_TOOK:
		ww_pmbuild_device(b, in, t);
		break;
	case WW_PMEV_CPU_OFF:
	case WW_PMEV_CPU_ON:
		ww_pmbuild_cpu(b, in, t);
		break;
	default:
		frame(b, in, t);
		ww_pmbuild_why(b, in, t);
		break;
	}
	return b->w->oom ? -ENOMEM : 0;
}

/* @return result to finish with, -1 by itself, -2 it goes on */
static int past(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	int64_t any = any_time(in),
		from = b->s.exited && ww_iv_ok(b->s.exit) ? b->s.exit.lo_ns : b->s.thaw_end.hi_ns;

	if (b->s.side == WW_PM_OVER) {
		b->s.ended_lines++;
		if (t != WW_NO_TIME && ww_iv_ok(b->s.thaw_end) && t - from > TAIL_NS)
			return -1;
		if (any != WW_NO_TIME && b->s.event_any_ns != WW_NO_TIME &&
		    any - b->s.event_any_ns > 2 * TAIL_NS)
			return -1;
		return b->s.ended_lines > (t == WW_NO_TIME ? TAIL_LINES : 50 * TAIL_LINES) ? -1
											   : -2;
	}
	b->s.event_lines++;
	if (b->s.booted || b->s.event_lines < HUNG_LEAST)
		return -2;
	if (b->s.event_lines > HUNG_LINES)
		return WW_PM_HUNG;
	return t != WW_NO_TIME && b->s.event_ns != WW_NO_TIME && t - b->s.event_ns > HUNG_NS
		       ? WW_PM_HUNG
		       : -2;
}

static void times(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	int64_t any = any_time(in), offset;

	if (t != WW_NO_TIME)
		b->s.last_ns = t;
	if (any != WW_NO_TIME)
		b->s.last_any_ns = any;
	if (in->ev->kind != WW_PMEV_NONE && in->ev->kind != WW_PMEV_NET_UP &&
	    in->ev->kind != WW_PMEV_STORAGE_UP && in->ev->kind != WW_PMEV_WAKE_IRQ) {
		b->s.event_lines = 0;
		if (t != WW_NO_TIME)
			b->s.event_ns = t;
		if (any != WW_NO_TIME)
			b->s.event_any_ns = any;
	}
	if (in->clock != WW_PM_CLOCK_PRINTK || t == WW_NO_TIME || in->line.host_ns == WW_NO_TIME)
		return;
	offset = in->line.host_ns - t;
	if (b->s.side == WW_PM_DOWN)
		b->s.offset_before = offset < b->s.offset_before ? offset : b->s.offset_before;
	else
		b->s.offset_after = offset < b->s.offset_after ? offset : b->s.offset_after;
}

int ww_pmbuild_feed(struct ww_pmbuild *b, const struct ww_pm_in *in, struct ww_error *err)
{
	int64_t t;
	int rc, end;

	if (in->ev->kind == WW_PMEV_BOOT || restarts(b, in)) {
		rc = boot(b, in, err);
		if (rc < 0)
			return rc;
	} else if (in->ev->kind != WW_PMEV_NONE) {
		rc = maybe_open(b, in, err);
		if (rc < 0)
			return rc;
	}
	if (b->w == NULL)
		return 0;
	t = axis(b, in);
	if (b->ftrace && in->ev->pid >= 0 && in->ev->kind == WW_PMEV_BEGIN)
		b->main_pid = in->ev->pid;
	if (b->ftrace)
		ww_pmbuild_probe_device(b, in->ev);
	end = in->ev->kind == WW_PMEV_EXIT && !b->s.exited ? -2 : past(b, in, t);
	if (end != -2) {
		rc = ww_pmbuild_finish(b, end, err);
		return rc < 0 ? rc : ww_pmbuild_feed(b, in, err);
	}
	if (b->s.pending && in->line.kernel)
		ww_pmbuild_pending(b, in, t);
	if (!b->ftrace && !b->s.booted)
		add_line(b, in, t);
	if (in->ev->kind == WW_PMEV_NONE && b->s.said.n == 0 && b->w->spans == 0)
		ww_pm_keep(&b->s.said, in->message);
	if (in->ev->kind == WW_PMEV_NONE)
		ww_pmbuild_hint(b, in->message, t);
	else if (dispatch(b, in, t) < 0)
		return ww_fail_nomem(err);
	times(b, in, t);
	remember(b, in, t);
	return b->w->oom ? ww_fail_nomem(err) : 0;
}

int ww_pmbuild_end(struct ww_pmbuild *b, struct ww_error *err)
{
	return b->w != NULL ? ww_pmbuild_finish(b, -1, err) : 0;
}

int ww_pmbuild_header(struct ww_pmbuild *b, const struct ww_pmgraph *h, struct ww_error *err)
{
	int rc;

	switch (h->kind) {
	case WW_PMG_STAMP:
		if (b->w != NULL) {
			rc = ww_pmbuild_finish(b, -1, err);
			if (rc < 0)
				return rc;
		}
		memset(&b->head, 0, sizeof(b->head));
		b->head.any = true;
		b->head.fwsuspend_ns = b->head.fwresume_ns = b->head.wifi_ns = -1;
		b->head.mode = h->mode;
		b->head.utc_ns = h->utc_ns;
		ww_pm_keep(&b->version, h->kernel);
		break;
	case WW_PMG_FIRMWARE:
		b->head.fwsuspend_ns = h->fwsuspend_ns;
		b->head.fwresume_ns = h->fwresume_ns;
		break;
	case WW_PMG_WIFI:
		ww_pm_keep(&b->head.wifi, h->text);
		b->head.wifi_ns = h->dur_ns;
		break;
	case WW_PMG_ERROR:
		ww_pm_keep(&b->head.error, h->text);
		break;
	default:
		break;
	}
	return 0;
}

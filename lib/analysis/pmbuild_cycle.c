/* SPDX-License-Identifier: MIT */
/* Begin and end of a cycle, the sleep between, and the totals that follow from them. */
#include "analysis/pmbuild.h"
#include "analysis/resume.h"

/* A text that goes on so long after a suspend's last line knows that it never came back. */
#define SILENT_NS (30 * WW_NS_PER_S)

/* No suspend comes and goes in so short a time. */
#define AWAY_NS (20 * WW_NS_PER_MS)

int ww_pmbuild_open(struct ww_pmbuild *b, const struct ww_pm_in *in, bool cut, struct ww_error *err)
{
	struct ww_pm_work *w = ww_pm_work_new();

	if (w == NULL)
		return ww_fail_nomem(err);
	b->w = w;
	w->ftrace = b->ftrace;
	memset(&b->s, 0, sizeof(b->s));
	memset(b->bucket, 0, sizeof(b->bucket));
	b->cycle++;
	b->s.cut = cut;
	b->s.begin_ns = b->s.last_ns = b->s.event_ns = b->s.event_any_ns = WW_NO_TIME;
	b->s.last_any_ns = b->s.last_down_ns = b->s.first_up_ns = b->s.maybe_up_ns = WW_NO_TIME;
	b->s.asleep_ns = b->s.awake_ns = b->s.test_ns = b->s.cpu_from_ns = WW_NO_TIME;
	b->s.sum_ns = b->s.machine_ns = b->s.deep_ns = WW_NO_TIME;
	b->s.cpu_number = -1;
	b->s.thaw_end = b->s.exit = b->s.slept = WW_INTERVAL_NONE;
	b->s.offset_before = b->s.offset_after = b->s.utc_entry = b->s.utc_exit = INT64_MAX;
	b->before_t = b->before_host = b->before_bench = WW_NO_TIME;
	b->before_kernel_line = 0;
	b->main_pid = -1;
	w->c.clock = in->line.t_ns != WW_NO_TIME ? in->clock : WW_PM_CLOCK_NONE;
	w->c.stamp_res_ns = (double)in->res_ns;
	b->s.begin_ns = in->line.t_ns;
	if (in->line.first_lo_ns != WW_NO_TIME && in->line.lo_ns != WW_NO_TIME)
		w->c.bench_begin = (struct ww_interval){in->line.first_lo_ns, in->line.hi_ns};
	w->c.kernel = ww_pm_str(w, ww_pm_kept_slice(&b->version));
	if (b->head.any) {
		w->c.mode = b->head.mode;
		if (b->head.utc_ns != WW_NO_TIME && b->head.utc_ns > 0)
			w->told_utc_ns = (uint64_t)(w->header_ns = b->head.utc_ns);
	}
	return 0;
}

void ww_pmbuild_down(struct ww_pmbuild *b, int64_t t)
{
	/* A kernel that boots to fetch the image has a clock of its own. */
	if (b->s.side != WW_PM_DOWN || b->s.booted)
		return;
	if (t != WW_NO_TIME)
		b->s.last_down_ns = t;
	b->s.maybe_up_ns = WW_NO_TIME;
}

void ww_pmbuild_turn(struct ww_pmbuild *b, int64_t t)
{
	if (b->s.side != WW_PM_DOWN)
		return;
	if (b->s.phase_failed || b->s.some_failed || b->s.wake_pending) {
		b->s.side = WW_PM_BACK;
	} else {
		b->s.side = WW_PM_UP;
		if (b->s.maybe_up_ns != WW_NO_TIME)
			t = b->s.maybe_up_ns;
	}
	b->s.first_up_ns = t;
}

/* Does a text that begins in the middle of a resume hold the wake? */
static bool wake_seen(const struct ww_pmbuild *b)
{
	size_t i;

	if (!b->s.cut || b->s.awake_ns != WW_NO_TIME)
		return true;
	for (i = 0; i < b->w->spans; i++) {
		const struct ww_pm_span *s = &b->w->span[i];

		if (s->phase >= WW_PM_SYSCORE_RESUME && s->phase <= WW_PM_RESUME_NOIRQ &&
		    s->start_ns != WW_TIME_MIN)
			return true;
	}
	return false;
}

/* Where the sleep lies on the axis. */
static void sleep_place(struct ww_pmbuild *b)
{
	struct ww_pm_cycle *c = &b->w->c;
	int64_t lo = b->s.last_down_ns, hi = b->s.first_up_ns;

	if (b->s.test_ns != WW_NO_TIME && b->s.asleep_ns != WW_NO_TIME) {
		c->sleep_begin = (struct ww_interval){b->s.asleep_ns, b->s.asleep_ns};
		c->sleep_end.lo_ns = c->sleep_end.hi_ns = b->s.asleep_ns + b->s.test_ns;
		return;
	}
	if (lo != WW_NO_TIME && hi != WW_NO_TIME && hi >= lo) {
		c->sleep_begin = c->sleep_end = (struct ww_interval){lo, hi};
	} else if (lo != WW_NO_TIME && hi != WW_NO_TIME && c->mode == WW_PM_MODE_DISK) {
		/* The clock went back to where the image was made. */
		c->sleep_begin = (struct ww_interval){lo, lo};
		c->sleep_end = (struct ww_interval){hi, hi};
	}
	if (lo == WW_NO_TIME && hi != WW_NO_TIME && b->s.side != WW_PM_DOWN && wake_seen(b))
		c->sleep_end = (struct ww_interval){hi, hi};
	if (b->s.asleep_ns != WW_NO_TIME && (hi == WW_NO_TIME || b->s.asleep_ns <= hi))
		c->sleep_begin = (struct ww_interval){b->s.asleep_ns, b->s.asleep_ns};
	if (b->s.awake_ns == WW_NO_TIME)
		return;
	if (b->ftrace || c->mode == WW_PM_MODE_S2IDLE)
		c->sleep_end =
			(struct ww_interval){b->s.awake_ns - b->s.awake_slack_ns, b->s.awake_ns};
	else if (ww_iv_ok(c->sleep_end) && c->sleep_end.hi_ns > b->s.awake_ns)
		c->sleep_end.hi_ns = b->s.awake_ns;
}

static struct ww_interval widened(struct ww_interval a, double res)
{
	if (!ww_iv_ok(a))
		return a;
	a.lo_ns = a.lo_ns > (int64_t)res ? a.lo_ns - (int64_t)res : 0;
	a.hi_ns += (int64_t)res;
	return a;
}

/* By the log's own clock: its offset from the kernel's grows by the sleep. */
static void slept_by_host(struct ww_pmbuild *b)
{
	struct ww_pm_cycle *c = &b->w->c;
	int64_t grown, res = 100 * WW_NS_PER_MS;

	if (b->s.offset_before == INT64_MAX || b->s.offset_after == INT64_MAX)
		return;
	grown = b->s.offset_after - b->s.offset_before;
	if (grown < 2 * WW_NS_PER_S)
		return;
	if (b->w->host_res_ns > res)
		res = b->w->host_res_ns;
	c->slept = (struct ww_interval){grown - res, grown + res};
	/* In suspend-to-idle the kernel's clock may count a part of it. */
	if (ww_iv_ok(c->sleep_begin) && ww_iv_ok(c->sleep_end) &&
	    c->sleep_end.hi_ns > c->sleep_begin.lo_ns)
		c->slept.hi_ns += c->sleep_end.hi_ns - c->sleep_begin.lo_ns;
}

/* By the wall times that the kernel tells; a clock that is read at the wake counts seconds. */
static void slept_by_utc(struct ww_pmbuild *b)
{
	int64_t grown;

	if (b->s.utc_entry == INT64_MAX || b->s.utc_exit == INT64_MAX)
		return;
	grown = b->s.utc_exit - b->s.utc_entry;
	if (grown >= 2 * WW_NS_PER_S && grown < INT64_C(366) * 86400 * WW_NS_PER_S)
		b->w->c.slept = (struct ww_interval){grown - WW_NS_PER_S, grown + WW_NS_PER_S};
}

static void totals(struct ww_pmbuild *b)
{
	struct ww_pm_cycle *c = &b->w->c;
	struct ww_interval begin = {b->s.begin_ns, b->s.begin_ns};

	if (c->result != WW_PM_FAILED && c->result != WW_PM_ABORTED && b->s.side != WW_PM_BACK)
		sleep_place(b);
	if (b->w->stamped_late)
		c->sleep_begin = c->sleep_end = WW_INTERVAL_NONE;
	ww_pmbuild_ran_on(b);
	if (!b->s.cut && b->s.begin_ns != WW_NO_TIME && ww_iv_ok(c->sleep_begin))
		c->suspend = widened(ww_iv_since(c->sleep_begin, begin), c->stamp_res_ns);
	if (ww_iv_ok(c->sleep_end) && ww_iv_ok(b->s.thaw_end) &&
	    (c->result == WW_PM_OK || c->result == WW_PM_TEST))
		c->resume = widened(ww_iv_since(b->s.thaw_end, c->sleep_end), c->stamp_res_ns);
	if (ww_iv_ok(b->s.slept))
		c->slept = b->s.slept;
	else if (c->result == WW_PM_OK && c->clock == WW_PM_CLOCK_PRINTK)
		slept_by_host(b);
	if (!ww_iv_ok(c->slept) && c->result == WW_PM_OK && c->clock == WW_PM_CLOCK_PRINTK)
		slept_by_utc(b);
	c->t.lo_ns = b->s.begin_ns != WW_NO_TIME && !b->s.cut ? b->s.begin_ns : WW_TIME_MIN;
	if (ww_iv_ok(b->s.exit))
		c->t.hi_ns = b->s.exit.hi_ns;
	else if (ww_iv_ok(b->s.thaw_end))
		c->t.hi_ns = b->s.thaw_end.hi_ns;
	if (ww_iv_ok(c->network) && ww_iv_ok(c->sleep_end))
		c->network = widened(ww_iv_since(c->network, c->sleep_end), c->stamp_res_ns);
	else
		c->network = WW_INTERVAL_NONE;
	if (ww_iv_ok(c->storage) && ww_iv_ok(c->sleep_end))
		c->storage = widened(ww_iv_since(c->storage, c->sleep_end), c->stamp_res_ns);
	else
		c->storage = WW_INTERVAL_NONE;
}

/* A failure that never slept still cost something. */
static void attempt(struct ww_pmbuild *b)
{
	struct ww_pm_cycle *c = &b->w->c;
	struct ww_pm_other *o;
	struct ww_interval end = ww_iv_ok(b->s.thaw_end) ? b->s.thaw_end : b->s.exit;
	struct ww_interval begin = {b->s.begin_ns, b->s.begin_ns};

	if (c->result != WW_PM_FAILED && c->result != WW_PM_ABORTED)
		return;
	if (b->s.cut || !ww_iv_ok(end) || b->s.begin_ns == WW_NO_TIME || end.lo_ns < b->s.begin_ns)
		return;
	o = ww_pm_add_other(b->w);
	if (o == NULL)
		return;
	o->what = "attempt without a sleep";
	o->start_ns = b->s.begin_ns;
	o->length = widened(ww_iv_since(end, begin), c->stamp_res_ns);
}

static void header(struct ww_pmbuild *b)
{
	struct ww_pm_cycle *c = &b->w->c;
	struct ww_pm_other *o;

	if (!b->head.any)
		return;
	if (b->head.fwsuspend_ns > 0)
		c->firmware_suspend.lo_ns = c->firmware_suspend.hi_ns = b->head.fwsuspend_ns;
	if (b->head.fwresume_ns > 0)
		c->firmware_resume.lo_ns = c->firmware_resume.hi_ns = b->head.fwresume_ns;
	if (b->head.error.n > 0 && c->result == WW_PM_OK && !b->s.slept_mark) {
		c->result = WW_PM_FAILED;
		c->reason.text = ww_pm_str(b->w, ww_pm_kept_slice(&b->head.error));
	}
	o = b->head.wifi_ns >= 0 && b->head.wifi.n > 0 ? ww_pm_add_other(b->w) : NULL;
	if (o != NULL) {
		o->what = ww_pm_strf(b->w, "%s back, after the resume",
				     ww_pm_str(b->w, ww_pm_kept_slice(&b->head.wifi)));
		o->length.lo_ns = o->length.hi_ns = b->head.wifi_ns;
	}
	b->head.any = false;
}

/* The task that most calls ran in is the one that suspends; others run beside it. */
static void asynchrony(struct ww_pmbuild *b)
{
	struct ww_pm_work *w = b->w;
	int32_t best = b->main_pid;
	size_t i, votes = 0;

	if (best < 0) {
		/* Boyer and Moore's vote. */
		for (i = 0; i < w->devices; i++) {
			if (w->device[i].pid < 0)
				continue;
			if (votes == 0)
				best = w->device[i].pid;
			if (w->device[i].pid == best)
				votes++;
			else
				votes--;
		}
	}
	for (i = 0; i < w->devices; i++) {
		if (w->device[i].async < 0 && w->device[i].pid >= 0 && best >= 0)
			w->device[i].async = w->device[i].pid != best;
	}
}

/* From the entry to the exit with nothing between: what was asked at first said no. */
static bool turned_away(struct ww_pmbuild *b)
{
	struct ww_pm_reason *r = &b->w->c.reason;

	if (!b->s.entry || b->s.begin_ns == WW_NO_TIME || !ww_iv_ok(b->s.exit) ||
	    (double)(b->s.exit.lo_ns - b->s.begin_ns) + b->w->c.stamp_res_ns > AWAY_NS ||
	    b->s.exit.lo_ns < b->s.begin_ns)
		return false;
	if (r->text[0] == '\0')
		r->text = ww_pm_str(b->w, ww_pm_kept_slice(&b->s.said));
	return true;
}

static int result(struct ww_pmbuild *b, int forced)
{
	int64_t silent;

	if (forced == WW_PM_RESET && b->s.side != WW_PM_OVER)
		return WW_PM_RESET;
	if (b->s.booted && b->s.side != WW_PM_OVER)
		return WW_PM_RESET;
	if (b->s.phase_failed || b->s.some_failed || b->s.wake_pending)
		return ww_pmbuild_result(b);
	if (b->s.side == WW_PM_OVER) {
		if (forced == WW_PM_FAILED && b->s.test_ns == WW_NO_TIME) {
			b->w->c.reason.text = "not told: another mode was asked for at once";
			return WW_PM_FAILED;
		}
		if (b->s.test_ns != WW_NO_TIME)
			return WW_PM_TEST;
		if (b->s.cut && !b->s.devices)
			return WW_PM_TRUNCATED;
		if (b->s.devices || b->s.console || (b->s.frozen && !b->s.early))
			return WW_PM_OK;
		/* A log of which only the lines of "PM:" were kept tells nothing against it. */
		if (b->w->spans == 0 && !b->s.early && !turned_away(b))
			return WW_PM_OK;
		return ww_pmbuild_result(b);
	}
	if (forced == WW_PM_HUNG || b->s.died)
		return WW_PM_HUNG;
	if (b->s.loader)
		return WW_PM_RESET;
	silent = b->s.last_any_ns != WW_NO_TIME && b->s.event_any_ns != WW_NO_TIME
			 ? b->s.last_any_ns - b->s.event_any_ns
			 : 0;
	if (b->s.test_ns != WW_NO_TIME && silent < SILENT_NS)
		return WW_PM_TEST;
	return b->s.event_lines > 0 && silent > SILENT_NS ? WW_PM_HUNG : WW_PM_TRUNCATED;
}

static void trim(struct ww_pmbuild *b)
{
	struct ww_pm_work *w = b->w;
	int64_t last = WW_NO_TIME;
	size_t i;

	/* The lines of the boot that took the place of the resume are none of its. */
	for (i = 0; w->c.result == WW_PM_RESET && i < w->lines; i++) {
		int64_t t = w->line[i].t_ns;

		if (t == WW_NO_TIME)
			continue;
		if (last != WW_NO_TIME && t < last - WW_NS_PER_S)
			w->lines = i;
		last = t;
	}
	if (b->s.over_line > 0 && b->s.over_line < w->lines)
		w->lines = b->s.over_line;
}

/* What the kernel complained of and survived is no reason of a good cycle. */
static void survived(struct ww_pmbuild *b)
{
	struct ww_pm_reason *r = &b->w->c.reason;

	if (!b->s.died || b->w->c.result != WW_PM_OK)
		return;
	if (r->text[0] != '\0')
		ww_note(&b->w->errors, "%s", r->text);
	r->text = r->step = r->device = r->driver = "";
}

/* Suspend-to-idle keeps all CPUs; what Android calls suspend is suspend to RAM. */
static void mode(struct ww_pmbuild *b)
{
	struct ww_pm_work *w = b->w;

	if (w->c.mode != WW_PM_MODE_UNKNOWN)
		return;
	w->mode_guessed = (w->told_utc_ns != 0 && b->s.entry) || b->s.cpus;
	if (w->mode_guessed)
		w->c.mode = WW_PM_MODE_MEM;
}

/* "Disabling non-boot CPUs ..." and nothing else: a machine that went off, or into kexec. */
static bool only_cpus(const struct ww_pmbuild *b)
{
	const struct ww_pm_work *w = b->w;
	size_t i;

	if (!b->s.cut || !b->s.cpus || b->s.side != WW_PM_DOWN || b->s.slept_mark ||
	    b->s.phase_failed || b->s.console || b->s.frozen || w->devices > 0 || b->ftrace ||
	    w->c.mode != WW_PM_MODE_UNKNOWN)
		return false;
	for (i = 0; i < w->spans; i++)
		if (w->span[i].phase != WW_PM_CPU_OFF)
			return false;
	return true;
}

int ww_pmbuild_finish(struct ww_pmbuild *b, int forced, struct ww_error *err)
{
	struct ww_pm_work *w = b->w;
	int rc;

	if (only_cpus(b)) {
		b->w = NULL;
		ww_pm_work_free(w);
		return 0;
	}

	if (b->s.pending)
		b->w->span[b->s.pending - 1].end_ns = b->w->span[b->s.pending - 1].start_ns;
	w->c.result = result(b, forced);
	header(b);
	ww_pmbuild_boot_clock(b);
	ww_pmbuild_late(b);
	totals(b);
	ww_pmbuild_spans(b);
	ww_pmbuild_probes(b);
	attempt(b);
	asynchrony(b);
	survived(b);
	mode(b);
	trim(b);
	if (b->s.capped) {
		b->capped = true;
		ww_note(&w->errors, "too many lines or callbacks in one cycle: the rest is counted "
				    "in no figure");
	}
	b->w = NULL;
	rc = w->oom ? ww_fail_nomem(err)
		    : ww_grow(&b->done, &b->done_cap, b->ready, sizeof(struct ww_pm_work *), err);
	if (rc < 0) {
		ww_pm_work_free(w);
		return rc;
	}
	b->done[b->ready++] = w;
	return 0;
}

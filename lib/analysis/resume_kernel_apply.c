/* SPDX-License-Identifier: MIT */
/* What the kernel's words add to a cycle that was seen from outside. */
#include "analysis/resume_kernel.h"

#include <math.h>

#define SLEPT_NS WW_NS_PER_S /* an RTC of whole seconds is not wrong by more */

static void add(struct ww_str *s, const char *before, const char *text)
{
	if (!text || !*text)
		return;
	ww_str_add(s, before);
	ww_str_add(s, text);
}

/* "suspend: device 1-1.5 (usb) returned -16". */
static void why(const struct ww_pm_cycle *k, struct ww_str *s)
{
	const struct ww_pm_reason *w = &k->reason;
	size_t from = s->n;

	add(s, "", w->step);
	add(s, s->n > from ? ": device " : "device ", w->device);
	add(s, " (", w->driver);
	if (*w->driver)
		ww_str_add(s, ")");
	add(s, s->n > from ? ": task " : "task ", w->task);
	if (w->error)
		ww_str_addf(s, " returned %d", w->error);
	add(s, s->n > from ? ", wake-up by " : "wake-up by ", w->wakeup);
	if (!*w->device && !*w->task && !*w->wakeup)
		add(s, s->n > from ? ": " : "", w->text);
}

/* A callback that began and never returned: the last of them. */
static const struct ww_pm_device *stuck(const struct ww_pm_cycle *k)
{
	const struct ww_pm_device *last = NULL;

	for (size_t i = 0; i < k->devices; i++)
		if (k->device[i].end_ns == WW_TIME_MAX &&
		    (!last || k->device[i].start_ns >= last->start_ns))
			last = &k->device[i];
	return last;
}

static void where_it_stopped(const struct ww_pm_cycle *k, struct ww_str *s)
{
	const struct ww_pm_device *d = stuck(k);
	int phase = 0;

	for (size_t i = 0; i < k->spans; i++)
		phase = k->span[i].phase;
	if (d)
		ww_str_addf(s, "%s of %s%s%s%s began and never returned",
			    ww_pm_phase_name(d->phase), d->name, *d->driver ? " (" : "", d->driver,
			    *d->driver ? ")" : "");
	else if (phase)
		ww_str_addf(s, "it came as far as %s", ww_pm_phase_name(phase));
	else
		why(k, s);
}

/* Words and figures: what the beats cannot tell, the kernel does. */
static int by_words(int result, const struct ww_pm_cycle *k)
{
	bool gave_up =
		result == WW_RES_REFUSED || result == WW_RES_ABORTED || result == WW_RES_UNKNOWN;

	if (k->result == WW_PM_FAILED && gave_up)
		return WW_RES_REFUSED;
	if (k->result == WW_PM_ABORTED && gave_up)
		return WW_RES_ABORTED;
	if (k->result == WW_PM_TEST && (result == WW_RES_OK || gave_up))
		return WW_RES_PM_TEST;
	/* An RTC of whole seconds may show no sleep where there was a short one. */
	if (k->result == WW_PM_OK && ww_kernel_slept(k) &&
	    (result == WW_RES_ABORTED || result == WW_RES_REFUSED))
		return WW_RES_OK;
	if (k->result == WW_PM_RESET && (result == WW_RES_HUNG || result == WW_RES_UNKNOWN))
		return WW_RES_RESET;
	return result;
}

static int complete(struct ww_kernel *kernel, struct ww_cycle_out *o, const struct ww_pm_cycle *k,
		    struct ww_error *err)
{
	struct ww_cycle *c = &o->c;
	struct ww_str s = {0};

	if (c->result != WW_RES_OK && by_words(c->result, k) == WW_RES_OK) {
		ww_str_reset(&o->reason);
		add(&o->reason, "", "its kernel went to sleep and came back, as it says itself");
		c->reason = o->reason.bad ? "" : o->reason.p;
		kernel->overruled++;
	}
	c->result = by_words(c->result, k);
	if (k->mode)
		c->mode = k->mode;
	if (c->result == WW_RES_HUNG && k->result == WW_PM_OK)
		ww_str_add(&s, "it came back and thawed its tasks, as it says");
	else if (c->result == WW_RES_HUNG)
		where_it_stopped(k, &s);
	else if (k->result == WW_PM_FAILED || k->result == WW_PM_ABORTED)
		why(k, &s);
	if (s.n) {
		add(&o->reason, o->reason.n ? "; kernel: " : "kernel: ", s.p);
		if (!o->reason.bad)
			c->reason = o->reason.p;
	}
	ww_str_free(&s);
	return s.bad || o->reason.bad ? ww_fail_nomem(err) : 0;
}

/* A moment of the kernel's that lies within [from, to] of its axis. */
static struct ww_interval moment(const struct ww_kernel *kernel, const struct ww_kernel_cycle *kc,
				 bool after, int64_t from, int64_t to)
{
	struct ww_interval a, b;

	if (from > to || !ww_kernel_at_side(kernel, kc, after, from, &a) ||
	    !ww_kernel_at_side(kernel, kc, after, to, &b))
		return WW_INTERVAL_NONE;
	return (struct ww_interval){a.lo_ns, b.hi_ns > a.hi_ns ? b.hi_ns : a.hi_ns};
}

static int64_t thawed(const struct ww_pm_cycle *c)
{
	int64_t t = WW_TIME_MAX;

	for (size_t i = 0; i < c->spans; i++)
		if (c->span[i].phase == WW_PM_THAW)
			t = c->span[i].end_ns;
	return t == WW_TIME_MAX ? c->t.hi_ns : t;
}

static void events(const struct ww_kernel *kernel, const struct ww_kernel_cycle *kc,
		   struct ww_cycle *c)
{
	const struct ww_pm_cycle *k = kc->c;
	bool slept = ww_kernel_slept(k);
	int64_t thaw = thawed(k);

	c->event[WW_EV_KERNEL_ENTRY] = moment(kernel, kc, false, k->t.lo_ns, k->t.lo_ns);
	c->event[WW_EV_THAWED] = moment(kernel, kc, slept, thaw, thaw);
	if (!slept)
		return;
	/* The clock stood still: the same span of it on either side of the sleep. */
	c->event[WW_EV_KERNEL_ASLEEP] =
		moment(kernel, kc, false, k->sleep_begin.lo_ns, k->sleep_begin.hi_ns);
	c->event[WW_EV_KERNEL_AWAKE] =
		moment(kernel, kc, true, k->sleep_end.lo_ns, k->sleep_end.hi_ns);
}

int ww_kernel_apply(struct ww_resume *r, struct ww_error *err)
{
	struct ww_kernel *k = r->kernel;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < r->cycles; i++) {
		struct ww_kernel_cycle *kc = k->of[i] ? &k->cycle[k->of[i] - 1] : NULL;

		if (!kc)
			continue;
		rc = kc->applied ? 0 : complete(k, &r->cycle[i], kc->c, err);
		kc->applied = true;
		events(k, kc, &r->cycle[i].c);
	}
	return rc;
}

/* How long the bench saw it asleep: what passed less what the kernel's clock counted. */
static bool bench_slept(const struct ww_kernel *k, const struct ww_kernel_cycle *kc,
			struct ww_interval *out)
{
	const struct ww_pm_cycle *c = kc->c;
	struct ww_interval a, b;
	int64_t counted;

	if (!ww_kernel_slept(c) || !ww_kernel_at_side(k, kc, false, c->sleep_begin.lo_ns, &a) ||
	    !ww_kernel_at_side(k, kc, true, c->sleep_end.hi_ns, &b))
		return false;
	counted = c->sleep_end.hi_ns - c->sleep_begin.lo_ns;
	*out = (struct ww_interval){b.lo_ns - a.hi_ns - counted, b.hi_ns - a.lo_ns - counted};
	return true;
}

static void put_s(struct ww_str *s, struct ww_interval v)
{
	ww_str_fixed(s, (double)ww_iv_mid(v) / 1e9, 3);
	ww_str_add(s, " s");
}

static int note_slept(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < r->cycles; i++) {
		uint32_t of = r->kernel->of[i];
		struct ww_interval bench, told;
		struct ww_str s = {0};

		if (!of || !bench_slept(r->kernel, &r->kernel->cycle[of - 1], &bench))
			continue;
		told = r->kernel->cycle[of - 1].c->slept;
		/* A clock that went on in the sleep counted it already. */
		if (!ww_iv_ok(told) || bench.hi_ns < SLEPT_NS / 10 ||
		    (told.lo_ns <= bench.hi_ns + SLEPT_NS && told.hi_ns >= bench.lo_ns - SLEPT_NS))
			continue;
		ww_str_addf(&s, "cycle %u: the kernel says that it slept ", r->cycle[i].c.n);
		put_s(&s, told);
		ww_str_add(&s, ", the bytes of its console ");
		put_s(&s, bench);
		rc = s.bad ? ww_fail_nomem(err) : ww_notes_add(v, err, "%s", s.p);
		ww_str_free(&s);
	}
	return rc;
}

/* Half-width of the alignment, worst of all cycles; NaN none. */
static double worst(const struct ww_resume *r)
{
	double most = NAN;

	for (size_t i = 0; i < r->cycles; i++) {
		struct ww_interval t = r->cycle[i].c.event[WW_EV_KERNEL_ENTRY];

		if (ww_iv_ok(t))
			most = fmax(most, (double)(t.hi_ns - t.lo_ns) / 2);
	}
	return most;
}

static void put_rate(struct ww_str *s, double ppm, double u)
{
	int decimals = ww_decimals_for(u, 1);

	ww_str_add(s, "; the kernel's clock is ");
	ww_str_fixed(s, ww_round_for(fabs(ppm), u), decimals);
	ww_str_add(s, " \xc2\xb1 ");
	ww_str_fixed(s, ww_round_for(u, u), decimals);
	ww_str_addf(s, " ppm %s", ppm > 0 ? "slow" : "fast");
}

static int note_clock(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err)
{
	const struct ww_kernel *k = r->kernel;
	double half = worst(r);
	struct ww_str s = {0};
	int rc;

	if (isnan(half) || !k->have_clock || k->clock.points == 0)
		return 0;
	ww_str_addf(&s,
		    "the kernel's stamps stand on the bench's axis by the first bytes of %llu "
		    "lines of its console, within \xc2\xb1 ",
		    (unsigned long long)k->clock.points);
	ww_str_fixed(&s, half / 1e6, 2);
	ww_str_add(&s, " ms at an entry");
	if (fabs(k->clock.alpha) > 2 * k->clock.u_alpha)
		put_rate(&s, k->clock.alpha * 1e6, 2 * k->clock.u_alpha * 1e6);
	ww_str_add(&s, "; assumed: where nothing waits, a line's first byte leaves within 0.1 ms "
		       "of its stamp");
	rc = s.bad ? ww_fail_nomem(err) : ww_notes_add(v, err, "%s", s.p);
	ww_str_free(&s);
	return rc;
}

int ww_kernel_notes(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err)
{
	size_t joined = 0;
	int rc;

	if (!r->kernel || !r->kernel->of)
		return 0;
	for (size_t i = 0; i < r->cycles; i++)
		joined += r->kernel->of[i] != 0;
	rc = note_clock(r, v, err);
	if (rc >= 0)
		rc = note_slept(r, v, err);
	if (rc >= 0 && r->kernel->overruled)
		rc = ww_notes_add(
			v, err,
			"in %llu cycle%s the beats and the DUT's clocks show no sleep (an "
			"RTC of whole seconds does not see a short one), but its kernel "
			"tells of one: ok",
			(unsigned long long)r->kernel->overruled,
			r->kernel->overruled == 1 ? "" : "s");
	if (rc >= 0 && r->kernel->n > joined)
		rc = ww_notes_add(v, err,
				  "%zu suspend%s in the kernel's text %s no cycle of the "
				  "recording's own",
				  r->kernel->n - joined, r->kernel->n - joined == 1 ? "" : "s",
				  r->kernel->n - joined == 1 ? "is" : "are");
	ww_pm_console_note(&r->kernel->sum, v);
	return rc < 0 || v->bad ? (rc < 0 ? rc : ww_fail_nomem(err)) : 0;
}

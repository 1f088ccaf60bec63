/* SPDX-License-Identifier: MIT */
/*
 * Kernel text and ftrace of one suspend become one: on the clock of the text where it has one,
 * ftrace's lengths where both are, each kept beside the other.
 */
#include "analysis/pmpair.h"
#include "base/str.h"

#define LIKE_NS	  (2 * WW_NS_PER_MS)  /* two lengths of one phase differ by no more than this */
#define ORDER_NS  (20 * WW_NS_PER_MS) /* events of one suspend contradict each other by less */
#define CALLBACKS 4
#define OPEN_NS	  (50 * WW_NS_PER_MS) /* of an offset that is bounded from one side */
#define CLOCK_NS  (10 * WW_NS_PER_MS) /* more over a sleep: one clock went on in it */

struct merge {
	struct ww_pm_work *text, *trace;
	struct ww_pm_pairs pairs;
	struct ww_pm_offset way[2]; /* to sleep, and back */
};

static const char *adopt(struct ww_pm_work *w, const char *s)
{
	return s && *s ? ww_pm_str(w, (struct ww_slice){s, strlen(s)}) : "";
}

static const char *either(struct ww_pm_work *w, const char *mine, const char *other)
{
	return mine && *mine ? mine : adopt(w, other);
}

static int64_t moved(const struct merge *m, int64_t t, bool after)
{
	return t == WW_TIME_MIN || t == WW_TIME_MAX ? t : ww_add_sat(t, m->way[after].ns);
}

static struct ww_interval moved_iv(const struct merge *m, struct ww_interval v, bool after)
{
	if (!ww_iv_ok(v))
		return v;
	return (struct ww_interval){moved(m, v.lo_ns, after), moved(m, v.hi_ns, after)};
}

static bool comes_after(int phase)
{
	return phase > WW_PM_MACHINE;
}

/* What surrounds a sleep has parts on both sides of it. */
static bool woken(const struct ww_pm_cycle *c, int phase, int64_t t)
{
	if (phase != WW_PM_MACHINE)
		return comes_after(phase);
	return ww_iv_ok(c->sleep_end) && t >= c->sleep_end.lo_ns;
}

static void move_trace(struct merge *m)
{
	struct ww_pm_cycle *c = &m->trace->c;

	for (size_t i = 0; i < m->trace->devices; i++) {
		struct ww_pm_device *d = &m->trace->device[i];

		d->start_ns = moved(m, d->start_ns, comes_after(d->phase));
		d->end_ns = moved(m, d->end_ns, comes_after(d->phase));
	}
	for (size_t i = 0; i < m->trace->spans; i++) {
		struct ww_pm_span *s = &m->trace->span[i];

		s->start_ns = moved(m, s->start_ns, woken(c, s->phase, s->start_ns));
		s->end_ns = moved(m, s->end_ns, woken(c, s->phase, s->end_ns));
	}
	for (size_t i = 0; i < m->trace->others; i++) {
		struct ww_pm_other *o = &m->trace->other[i];

		o->start_ns = moved(m, o->start_ns,
				    ww_iv_ok(c->sleep_end) && o->start_ns >= c->sleep_end.lo_ns);
	}
	c->t.lo_ns = moved(m, c->t.lo_ns, false);
	c->t.hi_ns = moved(m, c->t.hi_ns, true);
	c->sleep_begin = moved_iv(m, c->sleep_begin, false);
	c->sleep_end = moved_iv(m, c->sleep_end, true);
}

static struct ww_str *ms(struct ww_str *s, int64_t ns)
{
	ww_str_fixed(s, (double)ns / 1e6, ns > -WW_NS_PER_MS && ns < WW_NS_PER_MS ? 3 : 1);
	ww_str_add(s, " ms");
	return s;
}

static void say(struct ww_pm_work *w, struct ww_str *s)
{
	if (s->bad)
		w->oom = true;
	else
		ww_note(&w->contradictions, "%s", s->p);
	ww_str_free(s);
}

/* A better length of what the console's cost was taken out of already: less the same cost. */
static struct ww_interval corrected(struct ww_interval old, struct ww_interval was,
				    struct ww_interval now)
{
	int64_t lo, hi;

	if (ww_iv_ok(was) && !ww_iv_ok(old))
		return WW_INTERVAL_NONE;
	if (!ww_iv_ok(was) || !ww_iv_ok(now))
		return now;
	lo = now.lo_ns - (was.hi_ns - old.lo_ns > 0 ? was.hi_ns - old.lo_ns : 0);
	hi = now.hi_ns - (was.lo_ns - old.hi_ns > 0 ? was.lo_ns - old.hi_ns : 0);
	return (struct ww_interval){lo > 0 ? lo : 0, hi > 0 ? hi : 0};
}

static void one_device(struct merge *m, struct ww_pm_device *a, const struct ww_pm_device *b)
{
	struct ww_pm_work *w = m->text;
	struct ww_str s = {0};

	if (a->error != b->error && a->end_ns != WW_TIME_MAX && b->end_ns != WW_TIME_MAX) {
		ww_str_addf(&s, "%s in %s: the kernel's line says it returned %d, ftrace %d",
			    a->name, ww_pm_phase_name(a->phase), a->error, b->error);
		say(w, &s);
		a->error = a->error ? a->error : b->error;
	}
	a->driver = either(w, a->driver, b->driver);
	a->parent = either(w, a->parent, b->parent);
	a->func = either(w, a->func, b->func);
	a->verb = a->verb ? a->verb : b->verb;
	a->pid = a->pid >= 0 ? a->pid : b->pid;
	a->async = a->async >= 0 ? a->async : b->async;
	a->from |= b->from ? b->from : 2;
	if (ww_iv_ok(b->length)) {
		/* It has no line of its own in it, as the text's may: no longer than that. */
		if (ww_iv_ok(a->corrected) && a->corrected.lo_ns <= b->length.hi_ns)
			a->corrected.hi_ns = a->corrected.hi_ns < b->length.hi_ns
						     ? a->corrected.hi_ns
						     : b->length.hi_ns;
		else if (w->c.console_proof == WW_PM_PROOF_UNKNOWN)
			a->corrected = WW_INTERVAL_NONE;
		else
			a->corrected = b->length;
		a->length = b->length;
		a->start_ns = b->start_ns;
		a->end_ns = b->end_ns;
	}
}

static void new_device(struct merge *m, const struct ww_pm_device *b)
{
	struct ww_pm_device *a = ww_pm_add_device(m->text);

	if (!a)
		return;
	*a = *b;
	a->name = adopt(m->text, b->name);
	a->driver = adopt(m->text, b->driver);
	a->parent = adopt(m->text, b->parent);
	a->func = adopt(m->text, b->func);
}

static void devices(struct merge *m)
{
	for (size_t i = 0; i < m->pairs.n; i++)
		one_device(m, &m->text->device[m->pairs.pair[i].text],
			   &m->trace->device[m->pairs.pair[i].trace]);
	for (size_t i = 0; i < m->trace->devices; i++)
		if (!m->pairs.trace_has[i])
			new_device(m, &m->trace->device[i]);
}

/* Callbacks of a phase that one of them tells and the other does not. */
static void missing(struct merge *m, const struct ww_pm_work *of, const uint8_t *has, size_t n,
		    int phase, const char *in, const char *not_in)
{
	struct ww_str s = {0}, names = {0};
	size_t lacks = 0, both = 0;

	for (size_t i = 0; i < n; i++) {
		if (of->device[i].phase != phase)
			continue;
		both += has[i];
		lacks += !has[i];
		if (!has[i] && lacks <= 3)
			ww_str_addf(&names, "%s%s", names.n ? ", " : "", of->device[i].name);
	}
	/* A text without such lines at all tells nothing. */
	if (lacks && both) {
		ww_str_addf(&s, "%s: %zu callback%s in %s, but not in %s: %s%s",
			    ww_pm_phase_name(phase), lacks, lacks == 1 ? " is" : "s are", in,
			    not_in, names.p ? names.p : "", lacks > 3 ? ", ..." : "");
		say(m->text, &s);
	}
	m->text->oom |= names.bad;
	ww_str_free(&names);
}

static void lacking(struct merge *m, size_t text_n)
{
	for (int p = WW_PM_SUSPEND; p <= WW_PM_RESUME; p++) {
		missing(m, m->text, m->pairs.text_has, text_n, p, "the kernel text", "ftrace");
		missing(m, m->trace, m->pairs.trace_has, m->trace->devices, p, "ftrace",
			"the kernel text");
	}
}

/* What the offset of the two clocks leaves open. */
static int64_t slack(const struct ww_pm_offset *o)
{
	if (o->lo_ns == WW_TIME_MIN || o->hi_ns == WW_TIME_MAX)
		return OPEN_NS;
	return o->hi_ns > o->lo_ns ? (o->hi_ns - o->lo_ns) / 2 : 0;
}

/*
 * Both begin in one moment; ftrace's end comes after the line that announces it, which may
 * take long on a console: the begin by the printed length is what can contradict.
 */
static void compare_span(struct merge *m, const struct ww_pm_span *a, const struct ww_pm_span *b)
{
	bool devices = (a->phase >= WW_PM_SUSPEND && a->phase <= WW_PM_SUSPEND_NOIRQ) ||
		       (a->phase >= WW_PM_RESUME_NOIRQ && a->phase <= WW_PM_RESUME);
	struct ww_str s = {0};
	int64_t apart;

	if (!devices || a->failed || b->failed || !ww_iv_ok(a->printed) || !ww_iv_ok(b->length) ||
	    a->end_ns == WW_TIME_MAX || b->start_ns == WW_TIME_MIN)
		return;
	apart = a->end_ns - ww_iv_mid(a->printed) - b->start_ns;
	if (apart < 0)
		apart = -apart;
	if (apart <= LIKE_NS + ww_iv_mid(b->length) / 50 + slack(&m->way[comes_after(a->phase)]))
		return;
	ww_str_addf(&s, "%s: ", ww_pm_phase_name(a->phase));
	ms(&s, ww_iv_mid(a->printed));
	ww_str_add(&s, " by the kernel text, ");
	ms(&s, ww_iv_mid(b->length));
	ww_str_add(&s, " by ftrace");
	say(m->text, &s);
}

static void spans(struct merge *m)
{
	size_t n = m->text->spans;

	for (size_t i = 0; i < m->trace->spans; i++) {
		const struct ww_pm_span *b = &m->trace->span[i];
		struct ww_pm_span *a = NULL;
		size_t k = 0;

		for (size_t j = 0; j < i; j++)
			k += m->trace->span[j].phase == b->phase;
		for (size_t j = 0; j < n && !a; j++)
			if (m->text->span[j].phase == b->phase && k-- == 0)
				a = &m->text->span[j];
		if (!a) {
			a = ww_pm_add_span(m->text);
			if (!a)
				return;
			*a = *b;
			a->traced = ww_iv_ok(b->traced) ? b->traced : b->length;
			continue;
		}
		compare_span(m, a, b);
		a->verb = a->verb ? a->verb : b->verb;
		a->failed |= b->failed;
		a->nested |= b->nested;
		a->traced = ww_iv_ok(b->traced) ? b->traced : b->length;
		if (!ww_iv_ok(a->traced))
			continue;
		a->corrected = corrected(a->corrected, a->length, a->traced);
		a->length = a->traced;
		a->start_ns = b->start_ns;
		a->end_ns = b->end_ns;
	}
}

static void others(struct merge *m)
{
	size_t n = m->text->others;

	for (size_t i = 0; i < m->trace->others; i++) {
		const struct ww_pm_other *b = &m->trace->other[i];
		struct ww_pm_other *a = NULL;

		for (size_t j = 0; j < n && !a; j++)
			if (strcmp(m->text->other[j].what, b->what) == 0)
				a = &m->text->other[j];
		if (!a)
			a = ww_pm_add_other(m->text);
		if (!a)
			return;
		*a = *b;
		a->what = adopt(m->text, b->what);
		a->before = adopt(m->text, b->before);
		a->after = adopt(m->text, b->after);
	}
}

static struct ww_interval better(struct ww_interval best, struct ww_interval other)
{
	return ww_iv_ok(best) ? best : other;
}

static void clocks(struct merge *m)
{
	struct ww_pm_work *w = m->text;
	int64_t slept = m->way[0].known && m->way[1].known ? m->way[0].ns - m->way[1].ns : 0;
	struct ww_str s = {0};

	for (int i = 0; i < 2; i++) {
		if (m->way[i].conflict_ns == 0)
			continue;
		ww_str_addf(&s, "%s: kernel stamps and ftrace disagree on the order of events by ",
			    i ? "resume" : "suspend");
		say(w, ms(&s, m->way[i].conflict_ns));
	}
	/* A trace clock that went on in the sleep, or a printk clock that did. */
	if (slept > CLOCK_NS && !ww_iv_ok(w->c.slept) && !ww_iv_ok(m->trace->c.slept))
		w->c.slept = (struct ww_interval){slept, slept};
}

static void modes(struct merge *m)
{
	struct ww_pm_cycle *a = &m->text->c;
	const struct ww_pm_cycle *b = &m->trace->c;
	struct ww_str s = {0};

	if (a->mode && b->mode && a->mode != b->mode) {
		ww_str_addf(&s, "mode: %s by the kernel text, %s by ftrace",
			    ww_pm_mode_name(a->mode), ww_pm_mode_name(b->mode));
		say(m->text, &s);
	}
	a->mode = a->mode ? a->mode : b->mode;
	/* What a text does not hold, the other may; a failure is told by its reason. */
	if (a->result == WW_PM_TRUNCATED ||
	    (a->result == WW_PM_OK && b->result != WW_PM_TRUNCATED && b->result != WW_PM_HUNG &&
	     !(b->result == WW_PM_ABORTED && ww_iv_ok(a->slept))))
		a->result = b->result;
}

static void reasons(struct merge *m)
{
	struct ww_pm_work *w = m->text;
	struct ww_pm_reason *a = &w->c.reason;
	const struct ww_pm_reason *b = &m->trace->c.reason;

	if (*a->device && *b->device && strcmp(a->device, b->device) != 0)
		return;
	a->step = either(w, a->step, b->step);
	a->device = either(w, a->device, b->device);
	a->driver = either(w, a->driver, b->driver);
	a->func = either(w, a->func, b->func);
	a->task = either(w, a->task, b->task);
	a->wakeup = either(w, a->wakeup, b->wakeup);
	a->text = either(w, a->text, b->text);
	a->error = a->error ? a->error : b->error;
	a->async = a->async >= 0 ? a->async : b->async;
}

/* What came back so long after the wake: now that the wake is known better. */
static struct ww_interval after_wake(struct ww_interval v, struct ww_interval old,
				     struct ww_interval now)
{
	int64_t lo, hi;

	if (!ww_iv_ok(v) || !ww_iv_ok(old) || !ww_iv_ok(now))
		return v;
	hi = ww_add_sat(v.hi_ns, old.lo_ns);
	lo = v.lo_ns > 0 ? ww_add_sat(v.lo_ns, old.hi_ns) : hi;
	return ww_iv_since((struct ww_interval){lo, hi}, now);
}

static void totals(struct merge *m)
{
	struct ww_pm_cycle *a = &m->text->c;
	const struct ww_pm_cycle *b = &m->trace->c;

	a->network = after_wake(a->network, a->sleep_end, b->sleep_end);
	a->storage = after_wake(a->storage, a->sleep_end, b->sleep_end);
	a->t.lo_ns = a->t.lo_ns != WW_TIME_MIN ? a->t.lo_ns : b->t.lo_ns;
	a->t.hi_ns = a->t.hi_ns != WW_TIME_MAX ? a->t.hi_ns : b->t.hi_ns;
	a->suspend_corrected =
		corrected(a->suspend_corrected, a->suspend, better(b->suspend, a->suspend));
	a->resume_corrected =
		corrected(a->resume_corrected, a->resume, better(b->resume, a->resume));
	a->suspend = better(b->suspend, a->suspend);
	a->resume = better(b->resume, a->resume);
	a->slept = better(a->slept, b->slept);
	a->sleep_begin = better(b->sleep_begin, a->sleep_begin);
	a->sleep_end = better(b->sleep_end, a->sleep_end);
	a->firmware_suspend = better(a->firmware_suspend, b->firmware_suspend);
	a->firmware_resume = better(a->firmware_resume, b->firmware_resume);
	a->network = better(a->network, b->network);
	a->storage = better(a->storage, b->storage);
	a->sleeps = a->sleeps > b->sleeps ? a->sleeps : b->sleeps;
	a->kernel = either(m->text, a->kernel, b->kernel);
	a->bench_begin = better(a->bench_begin, b->bench_begin);
	a->bench_end = better(a->bench_end, b->bench_end);
	if (a->clock == WW_PM_CLOCK_NONE)
		a->clock = b->clock;
	a->stamp_res_ns = a->stamp_res_ns > 0 ? a->stamp_res_ns : b->stamp_res_ns;
}

/* The text's own clock, unless it is none or one of whole seconds. */
static void axis(struct merge *m)
{
	int clock = m->text->c.clock;

	if (clock == WW_PM_CLOCK_PRINTK || clock == WW_PM_CLOCK_BENCH || clock == WW_PM_CLOCK_TRACE)
		return;
	for (int i = 0; i < 2; i++)
		m->way[i] = (struct ww_pm_offset){.known = false};
	/* Its coarse stamps say nothing beside the trace's. */
	for (size_t i = 0; i < m->text->devices; i++)
		m->text->device[i].start_ns = WW_TIME_MIN;
	for (size_t i = 0; i < m->text->spans; i++) {
		m->text->span[i].start_ns = WW_TIME_MIN;
		m->text->span[i].end_ns = WW_TIME_MAX;
	}
	for (size_t i = 0; i < m->text->lines; i++)
		m->text->line[i].t_ns = WW_NO_TIME;
	m->text->c.t = (struct ww_interval){WW_TIME_MIN, WW_TIME_MAX};
	m->text->c.sleep_begin = m->text->c.sleep_end = WW_INTERVAL_NONE;
	m->text->c.clock = m->trace->c.clock;
	m->text->c.stamp_res_ns = m->trace->c.stamp_res_ns;
}

static void join(struct merge *m)
{
	size_t text_n = m->text->devices;

	for (int i = 0; i < 2; i++)
		ww_pm_offset_find(m->text, m->trace, &m->pairs, i, &m->way[i]);
	ww_pm_offset_join(&m->way[0], &m->way[1]);
	/* One side alone is known: the other is taken for the same. */
	if (!m->way[0].known)
		m->way[0].ns = m->way[1].ns;
	if (!m->way[1].known)
		m->way[1].ns = m->way[0].ns;
	axis(m);
	move_trace(m);
	clocks(m);
	lacking(m, text_n);
	devices(m);
	spans(m);
	others(m);
	modes(m);
	reasons(m);
	totals(m);
	for (size_t i = 0; i < m->trace->errors.n; i++)
		ww_note(&m->text->errors, "%s", m->trace->errors.note[i]);
	for (size_t i = 0; i < m->trace->contradictions.n; i++)
		ww_note(&m->text->contradictions, "%s", m->trace->contradictions.note[i]);
}

int ww_pm_merge(struct ww_pm_work *into, struct ww_pm_work *other, struct ww_error *err)
{
	struct merge m = {.text = into, .trace = other};
	uint32_t n = into->c.n;
	bool ok;

	/* The text is the base: its lines point to its devices and spans. */
	if (into->ftrace && !other->ftrace) {
		struct ww_pm_work keep = *into;

		*into = *other;
		*other = keep;
	}
	ok = ww_pm_pairs_find(into, other, &m.pairs);
	if (ok)
		join(&m);
	ww_pm_pairs_free(&m.pairs);
	into->c.n = n;
	other->spans = other->devices = other->others = other->lines = 0;
	return ok && !into->oom && !into->errors.bad && !into->contradictions.bad
		       ? 0
		       : ww_fail_nomem(err);
}

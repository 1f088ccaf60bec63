/* SPDX-License-Identifier: MIT */
/* The console of a recording: its kernel's cycles, on the bench's axis, joined to the beats'. */
#include "analysis/resume_kernel.h"
#include "analysis/kernlog.h"
#include "analysis/pmconsole.h"
#include "analysis/pmtrace.h"

#define APART_NS (5 * WW_NS_PER_S) /* an entry line so long before a cycle is another's */

#define OPEN ((struct ww_interval){WW_TIME_MIN, WW_TIME_MAX})

/* The console's bytes, seen by the clock on their way. */
struct tap {
	struct ww_text text;
	struct ww_text *inner;
	struct ww_kclock *clock;
};

static int tap_next(struct ww_text *t, const uint8_t **data, size_t *n, const int64_t **lo,
		    const int64_t **hi, struct ww_error *err)
{
	struct tap *tap = (struct tap *)t;
	int rc = tap->inner->next(tap->inner, data, n, lo, hi, err);

	if (rc > 0 && *lo && *hi) {
		int fed = ww_kclock_feed(tap->clock, *data, *n, *lo, *hi, err);

		return fed < 0 ? fed : rc;
	}
	return rc;
}

static int add(struct ww_kernel *k, const struct ww_pm_cycle *c, struct ww_kernel_cycle **out,
	       struct ww_error *err)
{
	int rc = ww_grow(&k->cycle, &k->cap, k->n, sizeof(*k->cycle), err);

	if (rc < 0)
		return rc;
	k->cycle[k->n] = (struct ww_kernel_cycle){
		.c = ww_pm_cycle_copy(c, WW_KERNEL_DEVICES),
		.before = SIZE_MAX,
		.after = SIZE_MAX,
		.tie = {OPEN, OPEN},
		.begin = c->bench_begin,
		.end = c->bench_end,
		.console_off_ns = WW_NO_TIME,
	};
	if (!k->cycle[k->n].c)
		return ww_fail_nomem(err);
	*out = &k->cycle[k->n++];
	return 0;
}

static int64_t last_stamp(const struct ww_pm_cycle *c)
{
	if (c->t.hi_ns != WW_TIME_MAX)
		return c->t.hi_ns;
	return ww_iv_ok(c->sleep_end) ? c->sleep_end.hi_ns : c->t.lo_ns;
}

bool ww_kernel_slept(const struct ww_pm_cycle *c)
{
	return ww_iv_ok(c->sleep_begin) && ww_iv_ok(c->sleep_end) && c->result != WW_PM_FAILED &&
	       c->result != WW_PM_ABORTED && c->result != WW_PM_TEST;
}

/* Which stretches its stamps lie in: those before its sleep, and those after it. */
static int place(struct ww_kernel *k, struct ww_kernel_cycle *kc, struct ww_error *err)
{
	const struct ww_pm_cycle *c = kc->c;
	int rc;

	if (c->clock != WW_PM_CLOCK_PRINTK)
		return 0;
	if (!ww_kernel_slept(c)) {
		rc = ww_kclock_until(&k->clock, last_stamp(c), &kc->before, err);
		kc->after = kc->before;
		return rc;
	}
	rc = ww_kclock_until(&k->clock, c->sleep_begin.lo_ns, &kc->before, err);
	if (rc < 0)
		return rc;
	ww_kclock_slept(&k->clock, false);
	rc = ww_kclock_until(&k->clock, last_stamp(c), &kc->after, err);
	if (kc->after == kc->before)
		kc->after = SIZE_MAX;
	return rc;
}

static int read_cycles(struct ww_kernel *k, struct ww_kernlog *log, struct ww_error *err)
{
	const struct ww_pm_cycle *c;
	struct ww_kernel_cycle *kc = NULL;
	int rc;

	while ((rc = ww_kernlog_next(log, &c, err)) > 0) {
		rc = add(k, c, &kc, err);
		if (rc >= 0)
			rc = ww_kernel_keep_lines(k, kc, log->lent, err);
		if (rc >= 0)
			rc = place(k, kc, err);
		if (rc < 0)
			return rc;
		ww_pm_console_add(&k->sum, c);
	}
	return rc < 0 ? rc : ww_kclock_end(&k->clock, err);
}

static int read_once(struct ww_trace *t, const struct ww_source_info *console, int64_t char_ns,
		     struct ww_kernel *k, struct ww_error *err)
{
	struct ww_kernlog_options opt = {.size = sizeof(opt)};
	struct tap tap = {.text.next = tap_next,
			  .text.name = (char *)"console",
			  .clock = &k->clock};
	struct ww_text *text = &tap.text;
	struct ww_kernlog *log = NULL;
	int rc = ww_text_source(t, console, &tap.inner, err);

	if (rc < 0)
		return rc;
	tap.text.name = tap.inner->name;
	opt.baud = ww_pm_rate((double)char_ns);
	rc = ww_kclock_init(&k->clock, char_ns, err);
	k->have_clock = rc >= 0;
	if (rc >= 0)
		rc = ww_kernlog_new(&text, 1, &opt, &log, err);
	if (rc >= 0)
		rc = read_cycles(k, log, err);
	ww_kernlog_free(log);
	ww_text_close(tap.inner);
	return rc;
}

static void empty(struct ww_kernel *k)
{
	for (size_t i = 0; i < k->n; i++) {
		ww_pm_cycle_free(k->cycle[i].c);
		free(k->cycle[i].line);
	}
	free(k->cycle);
	free(k->of);
	if (k->have_clock)
		ww_kclock_free(&k->clock);
	*k = (struct ww_kernel){0};
}

void ww_kernel_free(struct ww_kernel *k)
{
	if (!k)
		return;
	empty(k);
	free(k);
}

static uint32_t baud_found(const struct ww_kernel *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->cycle[i].c->baud)
			return k->cycle[i].c->baud;
	return 0;
}

bool ww_kernel_at_side(const struct ww_kernel *kernel, const struct ww_kernel_cycle *k, bool after,
		       int64_t kernel_ns, struct ww_interval *out)
{
	const struct ww_pm_cycle *c = k->c;
	struct ww_interval tie = k->tie[after], t = OPEN;

	if (kernel_ns <= WW_TIME_MIN / 2 || kernel_ns >= WW_TIME_MAX / 2)
		return false;
	if (c->clock == WW_PM_CLOCK_BENCH) {
		*out = (struct ww_interval){kernel_ns, kernel_ns};
		return true;
	}
	if (!kernel || !kernel->have_clock || c->clock != WW_PM_CLOCK_PRINTK || k->mine ||
	    !ww_kclock_at(&kernel->clock, after ? k->after : k->before, kernel_ns, &t))
		t = OPEN;
	/* The console's bytes are the better bound, where they are one. */
	if (t.lo_ns == WW_TIME_MIN && tie.lo_ns != WW_TIME_MIN)
		t.lo_ns = ww_add_sat(kernel_ns, tie.lo_ns);
	if (t.hi_ns == WW_TIME_MAX && tie.hi_ns != WW_TIME_MAX)
		t.hi_ns = ww_add_sat(kernel_ns, tie.hi_ns);
	if (t.lo_ns == WW_TIME_MIN || t.hi_ns == WW_TIME_MAX)
		return false;
	*out = t;
	if (t.lo_ns > t.hi_ns)
		*out = (struct ww_interval){t.hi_ns, t.lo_ns};
	return true;
}

bool ww_kernel_at(const struct ww_kernel *kernel, const struct ww_kernel_cycle *k,
		  int64_t kernel_ns, struct ww_interval *out)
{
	const struct ww_pm_cycle *c = k->c;
	bool after =
		ww_iv_ok(c->sleep_begin) && ww_iv_ok(c->sleep_end) &&
		kernel_ns > c->sleep_begin.lo_ns + (c->sleep_end.hi_ns - c->sleep_begin.lo_ns) / 2;

	return ww_kernel_at_side(kernel, k, after, kernel_ns, out);
}

void ww_kernel_place(const struct ww_kernel *k, struct ww_kernel_cycle *kc)
{
	struct ww_interval t;

	if (ww_kernel_at(k, kc, kc->c->t.lo_ns, &t))
		kc->begin = t;
	if (ww_kernel_at(k, kc, kc->c->t.hi_ns, &t))
		kc->end = t;
	kc->c->bench_begin = kc->begin;
	kc->c->bench_end = kc->end;
}

/* When the bench's i-th cycle began: what it asked for, or the last that it heard. */
static int64_t began(const struct ww_resume *r, size_t i)
{
	const struct ww_interval *e = r->cycle[i].c.event;

	if (ww_iv_ok(e[WW_EV_REQUEST]))
		return e[WW_EV_REQUEST].lo_ns;
	return ww_iv_ok(e[WW_EV_LAST_BEAT]) ? ww_add_sat(e[WW_EV_LAST_BEAT].lo_ns, -APART_NS)
					    : WW_TIME_MAX;
}

/* Of several suspends in one cycle (tried again, and again) the one that slept, or the last. */
static bool better(const struct ww_kernel *k, uint32_t now, size_t then)
{
	return now == 0 || k->cycle[now - 1].c->result != WW_PM_OK ||
	       k->cycle[then].c->result == WW_PM_OK;
}

static void join(struct ww_resume *r)
{
	struct ww_kernel *k = r->kernel;
	size_t i = 0;

	for (size_t j = 0; j < k->n && r->cycles; j++) {
		struct ww_interval at =
			ww_iv_ok(k->cycle[j].begin) ? k->cycle[j].begin : k->cycle[j].end;

		if (!ww_iv_ok(at))
			continue;
		while (i + 1 < r->cycles && began(r, i + 1) <= at.hi_ns)
			i++;
		if (at.hi_ns >= began(r, i) && better(k, k->of[i], j))
			k->of[i] = (uint32_t)j + 1;
	}
}

int ww_kernel_ready(struct ww_resume *r, struct ww_error *err)
{
	if (!r->kernel)
		r->kernel = calloc(1, sizeof(*r->kernel));
	if (r->kernel && !r->kernel->of)
		r->kernel->of = calloc(r->cycles + 1, sizeof(*r->kernel->of));
	return r->kernel && r->kernel->of ? 0 : ww_fail_nomem(err);
}

int ww_kernel_read(struct ww_trace *t, struct ww_resume *r, const struct ww_resume_input *in,
		   struct ww_error *err)
{
	int64_t char_ns;
	uint32_t baud;
	int rc;

	if (!in->console)
		return 0;
	r->kernel = calloc(1, sizeof(*r->kernel));
	if (!r->kernel)
		return ww_fail_nomem(err);
	char_ns = in->console->transport.char_ns;
	rc = read_once(t, in->console, char_ns, r->kernel, err);
	baud = rc >= 0 && char_ns <= 0 ? baud_found(r->kernel) : 0;
	if (baud) {
		/* Its pace is known now: the same again, with the line's time taken out. */
		empty(r->kernel);
		rc = read_once(t, in->console, (int64_t)(1e10 / baud), r->kernel, err);
	}
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < r->kernel->n; i++)
		ww_kernel_place(r->kernel, &r->kernel->cycle[i]);
	rc = ww_kernel_ready(r, err);
	if (rc < 0)
		return rc;
	join(r);
	for (size_t i = 0; i < r->cycles; i++)
		if (r->kernel->of[i]) {
			struct ww_kernel_cycle *kc = &r->kernel->cycle[r->kernel->of[i] - 1];

			ww_kernel_tie(r, i, kc);
			ww_kernel_place(r->kernel, kc);
		}
	return ww_kernel_apply(r, err);
}

const struct ww_pm_cycle *ww_resume_kernel(const struct ww_resume *r, size_t i)
{
	uint32_t of = r->kernel && r->kernel->of && i < r->cycles ? r->kernel->of[i] : 0;

	return of ? r->kernel->cycle[of - 1].c : NULL;
}

int ww_resume_kernel_time(const struct ww_resume *r, size_t i, int64_t kernel_ns,
			  struct ww_interval *out)
{
	uint32_t of = r->kernel && r->kernel->of && i < r->cycles ? r->kernel->of[i] : 0;

	if (!of || !ww_kernel_at(r->kernel, &r->kernel->cycle[of - 1], kernel_ns, out))
		return -ENODATA;
	return 0;
}

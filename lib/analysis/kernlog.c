/* SPDX-License-Identifier: MIT */
/* Suspends out of one text or two, one after the other, completed and lent. */
#include "analysis/kernlog.h"

int ww_kernlog_new(struct ww_text *const *text, size_t n, const struct ww_kernlog_options *opt,
		   struct ww_kernlog **out, struct ww_error *err)
{
	struct ww_kernlog *k;
	size_t i;
	int rc = WW_OPT_CHECK(opt, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	if (n < 1 || n > 2)
		return ww_fail(err, -EINVAL, "one text, or the two of a pair, not %zu", n);
	k = calloc(1, sizeof(*k));
	if (k == NULL)
		return ww_fail_nomem(err);
	k->opt.baud = WW_OPT(opt, baud, 0);
	k->opt.no_console = WW_OPT(opt, no_console, 0);
	k->opt.gap_ns = WW_OPT(opt, gap_ns, 0);
	k->opt.size = sizeof(k->opt);
	k->in = calloc(n, sizeof(*k->in));
	if (k->in == NULL)
		rc = ww_fail_nomem(err);
	for (i = 0; rc == 0 && i < n; i++) {
		k->n = i + 1;
		rc = ww_kl_input_open(&k->in[i], text[i], &k->opt, err);
	}
	if (rc < 0) {
		ww_kernlog_free(k);
		return rc;
	}
	k->pair = n == 2;
	*out = k;
	return 0;
}

void ww_kernlog_free(struct ww_kernlog *k)
{
	size_t i;

	if (k == NULL)
		return;
	for (i = 0; i < k->n; i++)
		ww_kl_input_close(&k->in[i]);
	free(k->in);
	ww_kl_ahead_free(k);
	ww_pm_work_free(k->lent);
	ww_notes_free(&k->notes);
	free(k);
}

/* One after the other: a single text, or two that are no pair. */
static int single(struct ww_kernlog *k, struct ww_pm_work **out, struct ww_error *err)
{
	int rc = 0;

	*out = NULL;
	while (k->turn < k->n) {
		*out = ww_kl_ahead_take(k, k->turn);
		if (*out != NULL)
			return 1;
		rc = ww_kl_input_cycle(&k->in[k->turn], out, err);
		if (rc != 0)
			return rc;
		k->turn++;
	}
	return rc;
}

static int next(struct ww_kernlog *k, struct ww_pm_work **out, struct ww_error *err)
{
	int rc;

	if (!k->pair)
		return single(k, out, err);
	rc = ww_kl_paired(k, out, err);
	if (rc < 0 || k->in[0].ftrace != k->in[1].ftrace || !k->in[0].decided || !k->in[1].decided)
		return rc;
	ww_note(&k->notes, "both texts are %s: read one after the other, no pair",
		k->in[0].ftrace ? "ftrace" : "kernel text");
	k->pair = false;
	return single(k, out, err);
}

static void remarks(struct ww_kernlog *k, const struct ww_pm_work *w)
{
	const struct ww_pm_cycle *c = &w->c;

	if (c->clock == WW_PM_CLOCK_NONE)
		ww_note(&k->notes, "lines without stamps: lengths are those that the kernel "
				   "prints, totals are not known");
	else if (c->stamp_res_ns >= 1e9)
		ww_note(&k->notes, "stamps of whole seconds: lengths by them are intervals, the "
				   "kernel's own figures are better");
	if (w->generation != 0 && !w->ftrace)
		ww_note(&k->notes,
			w->usecs_1024
				? (w->usecs_known
					   ? "\"usecs\" of callbacks are units of 1024 ns here, as "
					     "the stamps show"
					   : "\"usecs\" of callbacks taken as units of 1024 ns, "
					     "as kernels of this age print them")
			: w->usecs_known ? "\"usecs\" of callbacks are microseconds here, as the "
					   "stamps show"
					 : "\"usecs\" of callbacks taken as microseconds, as "
					   "kernels of this age print them");
	if (ww_iv_ok(c->sleep_begin) && c->sleep_begin.hi_ns > c->sleep_begin.lo_ns &&
	    c->clock == WW_PM_CLOCK_PRINTK)
		ww_note(&k->notes, "the sleep lies between the last line before it and the first "
				   "after it: suspend and resume are known as intervals");
	if (w->stamped_late)
		ww_note(&k->notes,
			"the log was stamped by a program that was frozen, too: its clock jumps "
			"over the time until the thaw (the sleep is that jump less what suspend "
			"and resume take, 10 s at most where no line tells more), and lengths from "
			"the freeze to the thaw are those that the kernel prints");
	if (w->ran_on)
		ww_note(&k->notes,
			"the kernel's clock ran on in the suspend to idle: of the stretch without "
			"a "
			"line that holds the sleep, 10 s at most are taken as suspend, and 10 s as "
			"resume");
	if (w->boot_clock)
		ww_note(&k->notes,
			"the trace's clock goes on in the sleep and jumps while the core "
			"resumes: a core that resumes within 5 ms is assumed");
	if (ww_pm_slept_told(w))
		ww_note(&k->notes, "how long it slept is what the kernel prints: where it asks an "
				   "RTC of whole seconds, up to 1 s off");
	if (w->mode_guessed)
		ww_note(&k->notes,
			"the mode is not told: taken as mem, as CPUs went off or Android says so");
	if (w->from_phase_start)
		ww_note(&k->notes, "lengths of devices count from the begin of their phase and "
				   "overlap, as this kernel prints them");
}

static int complete(struct ww_kernlog *k, struct ww_pm_work *w, struct ww_error *err)
{
	int rc;

	w->c.n = ++k->cycles;
	ww_pm_order_spans(w);
	ww_pm_device_errors(w);
	ww_pm_units(w);
	ww_pm_gaps(w, k->opt.gap_ns);
	ww_pm_console(w, k->opt.baud, k->opt.no_console != 0);
	ww_pm_critical(w);
	ww_pm_disagree(w);
	ww_pm_slept(w);
	rc = ww_pm_close(w, err);
	if (rc < 0)
		return rc;
	remarks(k, w);
	ww_pm_console_add(&k->console, &w->c);
	return k->notes.bad ? ww_fail_nomem(err) : 0;
}

/* What only the whole text tells. */
static int finish(struct ww_kernlog *k, struct ww_error *err)
{
	size_t i;

	if (k->over)
		return 0;
	k->over = true;
	ww_pm_console_note(&k->console, &k->notes);
	if (k->alone > 0 && k->joined)
		ww_note(&k->notes, "%u suspend%s in one of the files alone", k->alone,
			k->alone == 1 ? " is" : "s are");
	else if (k->alone > 0)
		ww_note(&k->notes, "no suspend of one file is in the other: they are no pair, and "
				   "told one after the other");
	for (i = 0; i < k->n; i++) {
		if (k->in[i].lost > 0)
			ww_note(&k->notes,
				"the trace lost %llu events: raise buffer_size_kb, or trace less",
				(unsigned long long)k->in[i].lost);
		if (k->in[i].cut.code < 0)
			ww_note(&k->notes, "%s", k->in[i].cut.text);
		if (k->in[i].bare > 0)
			ww_note(&k->notes, "the trace's stamps have no point: taken as ns, as of "
					   "the clocks boot and tai; of x86-tsc and counter they "
					   "are none");
		if (ww_pmbuild_capped(k->in[i].build))
			ww_note(&k->notes, "a cycle had more lines or callbacks than are kept: "
					   "the rest is in no figure");
		if (k->in[i].reverse)
			ww_note(&k->notes, "its lines run backwards in time, the newest first: "
					   "turned around");
		if (k->in[i].lines == 0)
			ww_note(&k->notes,
				"%s: no line of a kernel in it; a quiet console has none: raise "
				"its loglevel, or take ftrace on the DUT, which 'resumetime "
				"report' reads beside it (--ftrace)",
				k->in[i].text->name != NULL ? k->in[i].text->name : "the text");
		else if (k->in[i].events == 0)
			ww_note(&k->notes, "%s: no line of a suspend in %llu lines (%s)",
				k->in[i].text->name != NULL ? k->in[i].text->name : "the text",
				(unsigned long long)k->in[i].lines, ww_kl_input_kind(&k->in[i]));
	}
	return k->notes.bad ? ww_fail_nomem(err) : 0;
}

int ww_kernlog_next(struct ww_kernlog *k, const struct ww_pm_cycle **out, struct ww_error *err)
{
	struct ww_pm_work *w = NULL;
	int rc;

	*out = NULL;
	ww_pm_work_free(k->lent);
	k->lent = NULL;
	rc = next(k, &w, err);
	if (rc == 0)
		rc = finish(k, err);
	if (rc <= 0 || w == NULL) {
		ww_pm_work_free(w);
		return rc;
	}
	k->lent = w;
	rc = complete(k, w, err);
	if (rc < 0)
		return rc;
	*out = &w->c;
	return 1;
}

const char *ww_kernlog_input(const struct ww_kernlog *k, size_t i)
{
	return i < k->n ? ww_kl_input_kind(&k->in[i]) : NULL;
}

const char *ww_kernlog_note(const struct ww_kernlog *k, size_t i)
{
	return ww_note_at(&k->notes, i);
}

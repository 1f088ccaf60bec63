/* SPDX-License-Identifier: MIT */
/* What was assumed, not observed or left out, in sentences. */
#include "analysis/resume_input.h"

#include <math.h>

#define NOTE(...)                                                                                  \
	do {                                                                                       \
		int rc_ = ww_notes_add(v, err, __VA_ARGS__);                                       \
		if (rc_ < 0)                                                                       \
			return rc_;                                                                \
	} while (0)

/* Cycles that came back in which an event was seen. */
static size_t count(const struct ww_resume *r, int event)
{
	size_t n = 0;

	for (size_t i = 0; i < r->cycles; i++) {
		int result = r->cycle[i].c.result;

		n += (result == WW_RES_OK || result == WW_RES_PM_TEST) &&
		     ww_iv_ok(r->cycle[i].c.event[event]);
	}
	return n;
}

/* Was anything asked of the DUT? */
static bool requested(const struct ww_resume *r)
{
	for (size_t i = 0; i < r->cycles; i++)
		if (ww_iv_ok(r->cycle[i].c.event[WW_EV_REQUEST]))
			return true;
	return false;
}

/* Cycles whose first byte was the first beat itself: no old byte was left to send. */
static size_t count_same(const struct ww_resume *r)
{
	size_t n = 0;

	/* Of plain ones the first may be an old one. */
	for (size_t i = 0; r->scan.stamped && i < r->cycles; i++) {
		const struct ww_interval *e = r->cycle[i].c.event;

		n += ww_iv_ok(e[WW_EV_UART]) && ww_iv_ok(e[WW_EV_FIRST_BEAT]) &&
		     e[WW_EV_UART].lo_ns == e[WW_EV_FIRST_BEAT].lo_ns && !r->cycle[i].queued;
	}
	return n;
}

static int note_found(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err)
{
	const struct ww_scan *s = &r->scan;

	if (s->bytes == 0)
		NOTE("%s: not one byte was recorded", r->port);
	else if (s->beats == 0)
		NOTE("%s: no heartbeat was found among %llu bytes: does it run, and is the baud "
		     "rate right "
		     "(?baud=)?",
		     r->port, (unsigned long long)s->bytes);
	else if (r->cycles == 0)
		NOTE("no cycle was found: no suspend was requested and %s",
		     s->stamped ? "the beats tell of no sleep" : "the beat never fell silent");
	if (s->pauses && !requested(r))
		NOTE("the beat paused %llu time%s without a sleep, for up to %lld ms: starvation, "
		     "or "
		     "suspends that the kernel gave up",
		     (unsigned long long)s->pauses, s->pauses == 1 ? "" : "s",
		     (long long)(s->longest_pause_ns / 1000000));
	if (s->bytes && !s->stamped && s->infos == 0 && r->cycles && !requested(r))
		NOTE("plain beats, no request marked: each silence is taken for a sleep");
	return 0;
}

static int note_plain(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err)
{
	const struct ww_scan *s = &r->scan;
	int64_t pause = 0, by = 0;
	bool only = false;

	for (size_t i = 0; i < r->cycles; i++) {
		only |= r->cycle[i].only_uart;
		if (r->cycle[i].pause_ns > pause)
			pause = r->cycle[i].pause_ns;
		if (r->cycle[i].user_by_ns > by)
			by = r->cycle[i].user_by_ns;
	}
	if (s->line_idles && r->cycles)
		NOTE("plain beats slower than the line: it falls idle between two, so that at most "
		     "one can have waited in the DUT's buffer; the first beat is the first or the "
		     "next one");
	if (s->saturated && r->cycles)
		NOTE("the beats fill the line without a pause, so that a buffer may be full of "
		     "them: "
		     "taken as stream, whatever mode was named");
	if (!only)
		return 0;
	NOTE("plain beats %s: bytes that waited in the DUT's buffer leave as soon as its UART's "
	     "driver has resumed, so they prove \"uart\", not user space; first_beat and "
	     "resume_to_user are not given. What helps: stamped beats, or --mode drain or reopen "
	     "if they were sent so",
	     s->mode == WW_BEAT_STREAM ? "in stream mode" : "of unknown mode");
	if (by)
		NOTE("user space ran at the latest %lld ms after uart: more bytes had come by then "
		     "than a buffer of %d and a FIFO of %d hold (kernels with pages of 64 KiB hold "
		     "more)",
		     (long long)((by + 999999) / 1000000), WW_TTY_BUFFER, WW_TTY_FIFO);
	if (pause)
		NOTE("the line paused for up to %lld ms after uart: tasks that were not thawed "
		     "yet, "
		     "or starvation; plain beats do not tell which",
		     (long long)(pause / 1000000));
	return 0;
}

/* Cycles with a latency of which a bound is known and no more. */
static unsigned long long count_bounds(const struct ww_resume *r, int latency)
{
	unsigned long long n = 0;

	for (size_t i = 0; i < r->cycles; i++)
		n += ww_iv_ok(r->cycle[i].c.latency[latency]) &&
		     (r->cycle[i].bound_only >> latency & 1);
	return n;
}

static int note_entry(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err)
{
	unsigned long long n = count_bounds(r, WW_LAT_SUSPEND_ENTRY);

	if (n)
		NOTE("in %llu cycle%s the last beat came before the request: the beat's period is "
		     "longer than the suspend entry, which is bounded only, by the beat that was "
		     "due next and did not come",
		     n, n == 1 ? "" : "s");
	return 0;
}

/* Came back, but not to its cadence while the bench looked. */
static int note_steady(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err)
{
	struct ww_str list = {0};
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < r->cycles; i++) {
		const struct ww_cycle *c = &r->cycle[i].c;

		if (!ww_iv_ok(c->event[WW_EV_FIRST_BEAT]) || ww_iv_ok(c->event[WW_EV_STEADY]))
			continue;
		if (n < 10)
			ww_str_addf(&list, "%s%u", n ? ", " : "", (unsigned)c->n);
		n++;
	}
	if (list.bad)
		rc = ww_fail_nomem(err);
	else if (n)
		rc = ww_notes_add(v, err,
				  "cycle%s %s%s: the beat was not back to its cadence for a second "
				  "before the cycle ended: steady is not given (a longer --settle "
				  "helps)",
				  n == 1 ? "" : "s", list.p, n > 10 ? ", ..." : "");
	ww_str_free(&list);
	return rc;
}

static int note_events(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err)
{
	size_t wakes = count(r, WW_EV_WAKE), hands = count(r, WW_EV_HANDOFF), texts = 0, queued = 0;
	size_t back = count(r, WW_EV_UART), late = 0;

	for (size_t i = 0; i < r->cycles; i++) {
		texts += r->cycle[i].text_no_hand;
		queued += r->cycle[i].queued;
		late += r->cycle[i].backlog;
	}
	if (late)
		NOTE("in %llu cycle%s a buffer full of old beats outlasted the cycle: first_beat "
		     "and "
		     "resume_to_user are not known; a longer --settle, a faster line or --mode "
		     "drain helps",
		     (unsigned long long)late, late == 1 ? "" : "s");
	if (back == 0)
		return 0;
	if (wakes == 0)
		NOTE("the wake was not observed (no wake command, no line with role=wake): "
		     "latencies "
		     "from it are not given; \"silence\" is the time from the last beat to the "
		     "first, "
		     "sleep and all");
	if (hands && wakes < hands)
		NOTE("without a wake \"firmware\" is bounded only: from the boot loader's first "
		     "byte "
		     "or from the last beat to the hand-over");
	if (texts)
		NOTE("%llu cycle%s with text but no hand-over message: firmware and kernel are one "
		     "phase (name the message: --handoff REGEX)",
		     (unsigned long long)texts, texts == 1 ? "" : "s");
	else if (hands == 0 && r->kernel)
		NOTE("neither %s nor its console has a boot loader's text: firmware and kernel are "
		     "one phase",
		     r->port);
	else if (hands == 0)
		NOTE("no boot loader's text on %s: firmware and kernel are one phase (a serial "
		     "console "
		     "helps: --console)",
		     r->port);
	if (count_same(r))
		NOTE("in %llu cycle%s nothing was left to send before the first beat: uart is that "
		     "beat, and the driver ran earlier",
		     (unsigned long long)count_same(r), count_same(r) == 1 ? "" : "s");
	if (queued)
		NOTE("in %llu cycle%s the first beat queued behind older ones: user space ran "
		     "between "
		     "uart and it",
		     (unsigned long long)queued, queued == 1 ? "" : "s");
	return 0;
}

/* What the lines beside the heartbeat say, and do not. */
static int note_lines(const struct ww_resume *r, const struct ww_resume_input *in,
		      struct ww_notes *v, struct ww_error *err)
{
	const struct ww_edge_list *const lists[] = {&in->off, &in->woken, &in->sleep};
	unsigned long long blinks = 0;

	for (size_t i = 0; i < r->cycles; i++)
		blinks += r->cycle[i].line_blinks;
	for (size_t i = 0; i < WW_COUNTOF(lists); i++)
		if (lists[i]->other)
			NOTE("lines %s and %s have the same role: only %s is used", lists[i]->line,
			     lists[i]->other, lists[i]->line);
	if (blinks)
		NOTE("%s blinked in %llu cycle%s while the machine slept: its sleep may have begun "
		     "as much as a blink earlier than the first fall, and its wake may have come "
		     "as much as a blink later than the last rise; off and wake are as wide",
		     in->sleep.line, blinks, blinks == 1 ? "" : "s");
	return 0;
}

static int note_line(const struct ww_resume *r, const struct ww_resume_input *in,
		     struct ww_notes *v, struct ww_error *err)
{
	const struct ww_scan *s = &r->scan;
	/* What is left of broken beats, and a boot loader's text, is no one else's. */
	uint64_t own = s->lost * WW_BEAT_LEN, foreign;

	for (size_t i = 0; i < r->cycles; i++)
		own += r->cycle[i].said;
	foreign = s->between > own ? s->between - own : 0;
	if (s->lost)
		NOTE("%llu beat%s lost (jumps of the sequence number): not starvation",
		     (unsigned long long)s->lost, s->lost == 1 ? " was" : "s were");
	if (s->getty)
		NOTE("a login prompt came on %s: a getty on the DUT's port takes and echoes bytes "
		     "and "
		     "defeats reopen; stop it (systemctl stop serial-getty@...)",
		     r->port);
	else if (s->beats && foreign > 100 && foreign * 100 > s->bytes)
		NOTE("%llu bytes on %s are no beats: another writer (a console, a getty) shares "
		     "the "
		     "port and disturbs the cadence",
		     (unsigned long long)foreign, r->port);
	if (in->gaps)
		NOTE("%s lost bytes %llu time%s (%s%s): see wwtrace export --what gaps", r->port,
		     (unsigned long long)in->gaps, in->gaps == 1 ? "" : "s", in->gap[0].reason,
		     in->gaps == 1 ? "" : " ...");
	if (s->mode != WW_BEAT_UNKNOWN && !s->stamped && ww_scan_info(s, "mode", WW_TIME_MAX))
		NOTE("mode %s, as the DUT says", ww_scan_info(s, "mode", WW_TIME_MAX));
	return 0;
}

static bool doubtful(const char *clocksource)
{
	return clocksource &&
	       (strcmp(clocksource, "jiffies") == 0 || strcmp(clocksource, "acpi_pm") == 0);
}

/* An RTC's steps, or a figure that nothing confirms. */
static int note_rtc(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err)
{
	long long half = r->rtc_ns / 1000000;
	double lo = r->rtc_off[0] / 1e6, hi = r->rtc_off[1] / 1e6;

	if (lo < 0 || hi > 0)
		NOTE("dut_asleep is what the DUT's kernel believes: off by %s%lld to %s%lld ms "
		     "against the bench, as from an RTC of whole seconds; stated with \xc2\xb1 "
		     "%lld ms",
		     lo < 0 ? "" : "+", llround(lo), hi > 0 ? "+" : "", llround(hi), half);
	else
		NOTE("dut_asleep is what the DUT's kernel believes, and the bench cannot confirm "
		     "it closely: stated with \xc2\xb1 %lld ms, as an RTC with steps of 1 s has "
		     "it",
		     half);
	return 0;
}

static int note_clocks(struct ww_trace *t, const struct ww_resume *r, struct ww_notes *v,
		       struct ww_error *err)
{
	const char *dut = ww_scan_info(&r->scan, "clocksource", WW_TIME_MAX);
	const char *bench = ww_trace_meta(t, "bench.clocksource");
	bool slept = false;
	int rc = 0;

	if (doubtful(dut))
		NOTE("warning: the DUT's clocksource is %s: its stamps are coarse and may be wrong "
		     "around a sleep",
		     dut);
	if (doubtful(bench))
		NOTE("warning: the bench's clocksource is %s: its time stamps are doubtful", bench);
	for (size_t i = 0; i < r->cycles; i++)
		slept |= r->cycle[i].slept_us >= 0;
	if (slept && r->rtc_ns)
		rc = note_rtc(r, v, err);
	if (rc < 0)
		return rc;
	if (r->results[WW_RES_UNKNOWN])
		NOTE("%llu cycle%s unknown: not in the statistics",
		     (unsigned long long)r->results[WW_RES_UNKNOWN],
		     r->results[WW_RES_UNKNOWN] == 1 ? "" : "s");
	for (size_t i = 0; ww_trace_warning(t, i); i++)
		NOTE("warning: %s", ww_trace_warning(t, i));
	if (ww_trace_state(t) == WW_TRACE_UNCLOSED)
		NOTE("the recording was not closed: everything up to its last commit is here");
	return 0;
}

int ww_resume_notes(struct ww_trace *t, struct ww_resume *r, const struct ww_resume_input *in,
		    struct ww_error *err)
{
	int rc;

	if (in->sign && !in->port)
		return ww_control_notes(r, in->sign, err);
	rc = note_found(r, &r->notes, err);

	if (rc >= 0)
		rc = note_plain(r, &r->notes, err);
	if (rc >= 0)
		rc = note_events(r, &r->notes, err);
	if (rc >= 0)
		rc = note_entry(r, &r->notes, err);
	if (rc >= 0)
		rc = note_steady(r, &r->notes, err);
	if (rc >= 0)
		rc = note_line(r, in, &r->notes, err);
	if (rc >= 0)
		rc = note_lines(r, in, &r->notes, err);
	if (rc >= 0)
		rc = note_clocks(t, r, &r->notes, err);
	return rc;
}

/* SPDX-License-Identifier: MIT */
/* Anchors every 10 s, after a sleep of the bench, and after a step of its wall clock. */
#include "capture/capture.h"

#include <stdio.h>

#define LOOK_NS	 WW_NS_PER_S
#define STORE_NS (10 * WW_NS_PER_S)
/* Suspend shorter than this cannot be told from the reads' own spread. */
#define SLEEP_NS (1 * WW_NS_PER_MS)
/* NTP slews by at most 500 ppm (adjtimex(2)): 0.5 ms a second. Steps are what is more. */
#define STEP_NS (5 * WW_NS_PER_MS)
/* How often the loop's own lateness is looked at, and what is worth a word in the trace. */
#define BEAT_NS (100 * WW_NS_PER_MS)
#define LATE_NS (100 * WW_NS_PER_MS)

static void seconds(char *buf, size_t n, const char *what, int64_t ns)
{
	int64_t us = ns / WW_NS_PER_US, a = us < 0 ? -us : us;

	snprintf(buf, n, "%s%s%lld.%06lld s", what, us < 0 ? "-" : "", (long long)(a / 1000000),
		 (long long)(a % 1000000));
}

static void look(void *ctx, int64_t now, int64_t late)
{
	struct ww_timekeeper *k = ctx;
	struct ww_anchor a;
	struct ww_interval since;
	int64_t slept, stepped, slew;
	char text[96];

	(void)now;
	(void)late;
	if (ww_loop_anchor(k->rec->loop, &a) < 0)
		return;
	since = (struct ww_interval){k->last.boot_ns, a.boot_ns};
	slept = (a.boot_ns - a.mono_ns) - (k->last.boot_ns - k->last.mono_ns);
	stepped = (a.real_ns - a.boot_ns) - (k->last.real_ns - k->last.boot_ns);
	slew = (a.boot_ns - k->last.boot_ns) / 2000;
	if (slept > SLEEP_NS) {
		seconds(text, sizeof(text), "the bench itself slept ", slept);
		ww_recorder_put_mark(k->rec, WW_SOURCE_NONE, since, 0, WW_MARK_BENCH_RESUME, text);
	}
	if (stepped > STEP_NS + slew || stepped < -STEP_NS - slew) {
		seconds(text, sizeof(text), "wall clock stepped by ", stepped);
		ww_recorder_put_mark(k->rec, WW_SOURCE_NONE, since, 0, WW_MARK_CLOCK_STEP, text);
	} else {
		stepped = 0;
	}
	k->last = a;
	if (slept > SLEEP_NS || stepped || a.boot_ns - k->stored_ns >= STORE_NS) {
		if (ww_recorder_put_anchor(k->rec, &a) == 0)
			k->stored_ns = a.boot_ns;
	}
}

/*
 * Nothing of the recorder ran for a while (stopped, or its machine overloaded): what
 * arrived then has wide intervals, and a reader of the trace should know why.
 */
static void on_beat(void *ctx, int64_t now, int64_t late)
{
	struct ww_timekeeper *k = ctx;
	struct ww_anchor a;
	int64_t slept;
	char text[96];

	if (ww_loop_anchor(k->rec->loop, &a) < 0)
		return;
	slept = (a.boot_ns - a.mono_ns) - (k->beaten.boot_ns - k->beaten.mono_ns);
	k->beaten = a;
	if (slept > SLEEP_NS)
		late = late > slept ? late - slept : 0;
	ww_late_add(&k->late, late);
	if (late <= LATE_NS)
		return;
	snprintf(text, sizeof(text), "the recorder itself stood still for %.3f s",
		 (double)late / 1e9);
	ww_recorder_warn_at(k->rec, (struct ww_interval){now - late, now}, text);
}

int ww_timekeeper_start(struct ww_timekeeper *k, struct ww_recorder *rec, struct ww_error *err)
{
	int rc;

	k->rec = rec;
	rc = ww_loop_anchor(rec->loop, &k->last);
	if (rc < 0)
		return ww_fail(err, rc, "the clocks cannot be read: %s", strerror(-rc));
	k->stored_ns = k->last.boot_ns;
	ww_recorder_put_anchor(rec, &k->last);
	rc = ww_loop_timer(rec->loop, look, k, &k->timer, err);
	if (rc < 0)
		return rc;
	ww_timer_set(k->timer, k->last.boot_ns + LOOK_NS, LOOK_NS);
	rc = ww_loop_timer(rec->loop, on_beat, k, &k->beat, err);
	if (rc < 0)
		return rc;
	k->beaten = k->last;
	ww_timer_set(k->beat, k->last.boot_ns + BEAT_NS, BEAT_NS);
	return 0;
}

void ww_timekeeper_free(struct ww_timekeeper *k)
{
	ww_timer_free(k->timer);
	ww_timer_free(k->beat);
}

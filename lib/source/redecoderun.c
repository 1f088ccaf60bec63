/* SPDX-License-Identifier: MIT */
/* The turns of a meter's driver once more: as they were kept, or at its own deadlines. */
#include "source/redecode.h"

/* A driver that wants to be called again and again at one moment does not hold us up. */
#define TICKS_AT_ONCE 100000

/* --------------------------------------------------------------- with its turns */

/* The raw bytes of one turn, as far as they are there. 1: all of them. */
static int raw_of(struct ww_redo *r, const struct ww_turn_record *turn, struct ww_error *err)
{
	struct ww_interval row = {0, 0};
	size_t got;
	int rc;

	r->raw_ns = turn->t.hi_ns > r->raw_ns ? turn->t.hi_ns : r->raw_ns;
	while ((rc = ww_feed_peek(&r->raw, &row, err)) > 0 && row.hi_ns < r->raw_ns) {
		r->raw.at++;
		r->unasked++;
	}
	if (rc < 0)
		return rc;
	rc = ww_feed_take(&r->raw, r->raw_ns, turn->n, &r->buf, &r->cap, &got, err);
	if (rc < 0 || got == turn->n)
		return rc < 0 ? rc : 1;
	/* The last turn of a recorder that was killed may have lost its bytes. */
	rc = ww_feed_peek(&r->raw, &row, err);
	if (rc > 0)
		r->lost += turn->n - got;
	return rc < 0 ? rc : 0;
}

static int take_turn(struct ww_redo *r, const struct ww_turn_record *turn, struct ww_error *err)
{
	struct ww_meter_out out = ww_redo_out(r);
	bool live = r->live && !r->failed;
	int rc = 0;

	switch (turn->turn) {
	case WW_TURN_LOOK:
		return ww_redo_listing(r, (size_t)turn->n, err);
	case WW_TURN_START:
		r->every_ns = turn->n > (uint64_t)INT64_MAX ? 0 : (int64_t)turn->n;
		rc = ww_redo_begin(r, turn->t.hi_ns, err);
		break;
	case WW_TURN_FEED:
		rc = raw_of(r, turn, err);
		if (rc > 0 && live)
			r->meter->feed(r->state, turn->t, r->buf, (size_t)turn->n, &out);
		break;
	case WW_TURN_TICK:
		if (live)
			r->meter->tick(r->state, turn->t.hi_ns, &out);
		break;
	case WW_TURN_STOP:
		if (live)
			r->meter->stop(r->state, &out);
		break;
	case WW_TURN_BAUD: /* which today's driver did not ask for */
		break;
	default:
		r->text[turn->n] = '\0';
		ww_redo_event(r, turn->t, 0, WW_MARK_DEVICE, (const char *)r->text);
	}
	ww_redo_hand_over(r);
	return rc < 0 ? rc : 0;
}

static int run_turns(struct ww_redo *r, struct ww_error *err)
{
	struct ww_turn_record turn;
	struct ww_interval row;
	int rc;

	while ((rc = ww_redo_next(r, &turn, err)) > 0) {
		rc = take_turn(r, &turn, err);
		if (rc < 0 || r->why.code)
			return rc < 0 ? rc : ww_fail(err, r->why.code, "%s", r->why.text);
	}
	if (rc < 0)
		return rc;
	while ((rc = ww_feed_peek(&r->raw, &row, err)) > 0) {
		r->raw.at++;
		r->unasked++;
	}
	if (r->lost)
		ww_note(r->notes, "%s: %llu bytes that it sent were not stored: less is decoded",
			r->info->name, (unsigned long long)r->lost);
	if (r->unasked)
		ww_note(r->notes, "%s: %llu bytes have no turn of its driver: they are left out",
			r->info->name, (unsigned long long)r->unasked);
	return rc;
}

/* ------------------------------------------------------------ without its turns */

/* Call it at its own deadlines up to a time. */
static void run_until(struct ww_redo *r, int64_t to)
{
	struct ww_meter_out out = ww_redo_out(r);
	int64_t now = WW_TIME_MIN, d;

	for (unsigned n = 0; r->live && !r->failed && n < TICKS_AT_ONCE; n++) {
		d = r->meter->deadline(r->state);
		if (d > to)
			return;
		now = d > now ? d : now;
		r->meter->tick(r->state, now, &out);
	}
}

static int64_t mark_time(const struct ww_redo *r, const char *kind, int64_t dflt)
{
	const struct ww_mark *m;

	for (size_t i = 0; (m = ww_trace_mark(r->t, i)); i++)
		if (strcmp(m->kind, kind) == 0)
			return m->t.hi_ns;
	return dflt;
}

/* The next time after `after` when it was opened again. */
static int64_t next_replug(const struct ww_redo *r, int64_t after)
{
	const struct ww_mark *m;

	for (size_t i = 0; (m = ww_trace_mark(r->t, i)); i++)
		if (m->source == r->info->id && m->t.hi_ns > after &&
		    strcmp(m->kind, WW_MARK_REPLUGGED) == 0)
			return m->t.hi_ns;
	return WW_TIME_MAX;
}

static int run_deadlines(struct ww_redo *r, struct ww_error *err)
{
	struct ww_interval row = {0, 0};
	struct ww_meter_out out = ww_redo_out(r);
	int rc = ww_feed_peek(&r->raw, &row, err);
	int64_t began, again;
	size_t got;

	if (rc <= 0)
		return rc;
	began = mark_time(r, WW_MARK_START, row.lo_ns == WW_TIME_MIN ? row.hi_ns : row.lo_ns);
	again = next_replug(r, began);
	rc = ww_redo_begin(r, began < row.hi_ns ? began : row.hi_ns, err);
	while (rc >= 0 && !r->why.code && (rc = ww_feed_peek(&r->raw, &row, err)) > 0) {
		for (; rc >= 0 && again <= row.hi_ns; again = next_replug(r, again)) {
			run_until(r, again);
			rc = ww_redo_begin(r, again, err);
		}
		if (rc < 0)
			break;
		run_until(r, row.hi_ns);
		rc = ww_feed_take(&r->raw, row.hi_ns, UINT64_MAX, &r->buf, &r->cap, &got, err);
		if (rc == 0 && r->live && !r->failed)
			r->meter->feed(r->state, row, r->buf, got, &out);
		ww_redo_hand_over(r);
	}
	if (rc < 0 || r->why.code)
		return rc < 0 ? rc : ww_fail(err, r->why.code, "%s", r->why.text);
	run_until(r, mark_time(r, WW_MARK_STOP, row.hi_ns));
	if (r->live && !r->failed)
		r->meter->stop(r->state, &out);
	ww_redo_hand_over(r);
	ww_note(r->notes,
		"%s: recorded before its driver's turns were kept: called at its deadlines "
		"instead, which were a little different then",
		r->info->name);
	return 0;
}

int ww_redo_run(struct ww_redo *r, struct ww_error *err)
{
	struct ww_error why = {0};
	int rc = r->turns_info ? run_turns(r, &why) : run_deadlines(r, &why);

	if (rc >= 0 && r->why.code) {
		rc = r->why.code;
		why = r->why;
	}
	return rc < 0 ? ww_fail(err, rc, "%s cannot be decoded again: %s", r->info->name, why.text)
		      : 0;
}

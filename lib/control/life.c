/* SPDX-License-Identifier: MIT */
#include "control/life.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* Commands follow one another so closely, and none is waited for longer. */
#define ASK_NS	 (200 * WW_NS_PER_MS)
#define STUCK_NS (10 * WW_NS_PER_S)

/* --------------------------------------------------------------- what it is */

static uint32_t find_source(const struct ww_recorder *r, const char *name, size_t n)
{
	for (size_t i = 0; i < r->tracks; i++) {
		const char *label = r->track[i]->label;

		if (label && strlen(label) == n && memcmp(label, name, n) == 0)
			return (uint32_t)i + 1;
	}
	return 0;
}

/* "meter", "meter.power": the source, and the channel of power unless another is named. */
static bool find_channel(struct ww_life *l, const char *text, size_t n)
{
	const char *dot = memchr(text, '.', n);
	size_t head = dot ? (size_t)(dot - text) : n;
	const struct ww_desc *d;

	l->source = find_source(l->rec, text, head);
	if (!l->source)
		return false;
	d = l->rec->track[l->source - 1]->desc;
	for (size_t i = 0; i < d->channels; i++) {
		const char *name = dot ? d->channel[i].name : d->channel[i].quantity;
		const char *want = dot ? dot + 1 : "power";
		size_t len = dot ? n - head - 1 : strlen(want);

		if (strlen(name) == len && memcmp(name, want, len) == 0) {
			l->column = i;
			return true;
		}
	}
	l->column = 0;
	return !dot && d->channels > 0;
}

/* @return 1 "meter>8W" of a source that is recorded, 0 something else, negative */
static int parse_level(struct ww_life *l, const char *text, struct ww_error *err)
{
	size_t n = strcspn(text, "<>=");
	const char *end;

	while (n && text[n - 1] == ' ')
		n--;
	if (!n || strcspn(text, " ") < n)
		return 0;
	end = text + strcspn(text, "<>=");
	if (!*end || !find_channel(l, text, n))
		return 0;
	l->sign = *end;
	l->level = ww_strtod(end + 1, &end);
	while (*end == ' ')
		end++;
	if (!isfinite(l->level) || (*end && strcmp(end, "W") != 0))
		return ww_fail(err, -EINVAL, "%s: expected a level such as meter>8W or line=1",
			       text);
	return 1;
}

static void on_answer(void *ctx);
static void on_again(void *ctx, int64_t now, int64_t late);

static int make_command(struct ww_life *l, const char *text, struct ww_error *err)
{
	struct ww_action_setup setup = {.loop = l->loop, .changed = on_answer, .ctx = l};
	int rc = ww_action_new_setup(text, &setup, &l->ask, err);

	if (rc == 0 && !ww_action_is_command(l->ask))
		rc = ww_fail(err, -EINVAL,
			     "%s: no sign of life: expected a level such as meter>8W, the name of "
			     "a serial port that is recorded, or a command",
			     text);
	if (rc == 0)
		rc = ww_loop_timer(l->loop, on_again, l, &l->again, err);
	if (rc == 0)
		ww_timer_set(l->again, ww_loop_now(l->loop), 0);
	return rc;
}

int ww_life_new(struct ww_life *l, uint32_t serial, const char *text, struct ww_error *err)
{
	int rc;

	l->gone = l->back = WW_INTERVAL_NONE;
	l->kind = WW_LIFE_BYTES;
	l->source = serial;
	l->look_ns = ww_loop_now(l->loop);
	if (!text)
		return 0;
	rc = parse_level(l, text, err);
	if (rc != 0) {
		l->kind = WW_LIFE_LEVEL;
		return rc < 0 ? rc : 0;
	}
	l->source = find_source(l->rec, text, strlen(text));
	if (l->source && l->rec->track[l->source - 1]->desc->info.kind == WW_SERIAL)
		return 0;
	l->kind = WW_LIFE_COMMAND;
	l->source = 0;
	return make_command(l, text, err);
}

/* ----------------------------------------------------------------- evidence */

/* It lived, or did not, at some time in t; the evidence before ended at seen_ns. */
static void evidence(struct ww_life *l, bool alive, struct ww_interval t)
{
	struct ww_interval change = {l->seen_ns ? l->seen_ns : t.lo_ns, t.hi_ns};

	if (change.lo_ns > change.hi_ns)
		change.lo_ns = change.hi_ns;
	if (alive && !l->alive)
		l->back = change;
	else if (!alive && l->alive)
		l->gone = change;
	l->alive = alive;
	l->seen_ns = t.lo_ns;
}

static void sign(struct ww_life *l, int64_t at)
{
	l->last_ns = at;
	l->n++;
}

/* Any byte is a sign; only its absence for long is none, and that the campaign judges. */
static void look_at_bytes(struct ww_life *l, int64_t now)
{
	uint64_t n;
	int64_t last;

	ww_recorder_activity(l->rec, l->source, &last, &n);
	if (n > l->n) /* what came before the last look was taken then */
		l->back = (struct ww_interval){l->look_ns < last ? l->look_ns : last, last};
	l->gone = (struct ww_interval){last, last};
	l->last_ns = last;
	l->n = n;
	l->look_ns = now;
}

static bool holds(const struct ww_life *l, double v)
{
	return l->sign == '>' ? v > l->level : l->sign == '<' ? v < l->level : v == l->level;
}

/* A reading is of the window that ended a delay before it came. */
static void look_at_level(struct ww_life *l, int64_t now)
{
	const struct ww_track *t = l->rec->track[l->source - 1];
	const struct ww_channel_info *c = &t->desc->channel[l->column];
	const struct ww_source_info *s = &t->desc->info;
	int64_t window = s->window_ns > 0 ? s->window_ns : 0;
	struct ww_scale scale = ww_scale_of(c->scale, c->offset);
	double v = ww_code_value(&scale, t->code[l->column]);
	struct ww_interval of = {t->last_ns - s->delay_max_ns - window,
				 t->last_ns - s->delay_min_ns};

	if (isnan(v) || !t->last_ns || t->state == WW_TRACK_UNPLUGGED)
		return;
	/* A line keeps its level until the next edge. */
	if (s->kind == WW_LINE && of.hi_ns <= l->look_ns)
		of = (struct ww_interval){now, now};
	if (of.lo_ns != l->seen_ns)
		evidence(l, holds(l, v), of);
	if (l->alive)
		sign(l, s->kind == WW_LINE ? now : t->last_ns);
	l->look_ns = now;
}

static void on_answer(void *ctx)
{
	struct ww_life *l = ctx;
	struct ww_interval t;
	bool good;

	if (ww_action_running(l->ask))
		return;
	if (ww_action_when(l->ask, &t) < 0)
		t = (struct ww_interval){l->look_ns, ww_loop_now(l->loop)};
	good = strcmp(ww_action_how(l->ask), "exit 0") == 0;
	evidence(l, good, t);
	if (good)
		sign(l, t.hi_ns);
	ww_timer_set(l->again, t.lo_ns + ASK_NS, 0);
}

static void on_again(void *ctx, int64_t now, int64_t late)
{
	struct ww_life *l = ctx;

	(void)late;
	if (ww_action_running(l->ask)) {
		ww_action_stop(l->ask);
		evidence(l, false, (struct ww_interval){l->look_ns, now});
	}
	l->look_ns = now;
	if (ww_action_start(l->ask, l->err) == 0 && ww_action_running(l->ask))
		ww_timer_set(l->again, now + STUCK_NS, 0);
}

void ww_life_look(struct ww_life *l, int64_t now)
{
	if (l->kind == WW_LIFE_BYTES)
		look_at_bytes(l, now);
	else if (l->kind == WW_LIFE_LEVEL)
		look_at_level(l, now);
}

bool ww_life_away(const struct ww_life *l)
{
	return l->source && ww_recorder_away(l->rec, l->source);
}

void ww_life_free(struct ww_life *l)
{
	ww_action_free(l->ask);
	ww_timer_free(l->again);
}

/* SPDX-License-Identifier: MIT */
/* A stretch of the line in arrays, each byte told to be beat, information or text. */
#include "analysis/resume.h"

#define LINE_PACE_NS (2 * WW_NS_PER_MS) /* bytes of one message follow each other faster */
#define PAUSE_NS     (50 * WW_NS_PER_MS)
#define DOTS	     3 /* so many beat characters inside a message belong to it */

static int reserve(struct ww_window *w, size_t n, struct ww_error *err)
{
	size_t cap = w->cap ? w->cap : 4096;
	void *p;

	if (w->n + n <= w->cap)
		return 0;
	while (cap < w->n + n)
		cap *= 2;
	p = realloc(w->lo, cap * sizeof(*w->lo));
	if (!p)
		return ww_fail_nomem(err);
	w->lo = p;
	p = realloc(w->hi, cap * sizeof(*w->hi));
	if (!p)
		return ww_fail_nomem(err);
	w->hi = p;
	p = realloc(w->data, cap);
	if (!p)
		return ww_fail_nomem(err);
	w->data = p;
	p = realloc(w->cls, cap);
	if (!p)
		return ww_fail_nomem(err);
	w->cls = p;
	w->cap = cap;
	return 0;
}

int ww_window_add(struct ww_window *w, size_t n, const int64_t *lo, const int64_t *hi,
		  const uint8_t *data, struct ww_error *err)
{
	int rc = reserve(w, n, err);

	if (rc < 0 || n == 0)
		return rc;
	memcpy(w->lo + w->n, lo, n * sizeof(*lo));
	memcpy(w->hi + w->n, hi, n * sizeof(*hi));
	memcpy(w->data + w->n, data, n);
	memset(w->cls + w->n, WW_CL_TEXT, n);
	w->n += n;
	return 0;
}

struct classifier {
	struct ww_window *w;
	struct ww_beat_decoder dec;
	struct ww_error *err;
	size_t pos; /* of the record that the decoder gives */
	int rc;
};

static int add_beat(struct ww_window *w, struct ww_rbeat b, struct ww_error *err)
{
	int rc = ww_grow(&w->beat, &w->beats_cap, w->beats, sizeof(*w->beat), err);

	if (rc >= 0)
		w->beat[w->beats++] = b;
	return rc;
}

static void on_beat(void *ctx, const struct ww_beat *b)
{
	struct classifier *k = ctx;
	size_t len = k->dec.len;

	memset(k->w->cls + k->pos, WW_CL_BEAT, len);
	if (k->rc >= 0)
		k->rc = add_beat(k->w,
				 (struct ww_rbeat){.at = k->pos,
						   .len = (uint32_t)len,
						   .seq = b->seq,
						   .mono_us = b->mono_us,
						   .sleep_us = b->sleep_us},
				 k->err);
	k->pos += len;
}

static void on_info(void *ctx, struct ww_interval t, const char *key, const char *value)
{
	struct classifier *k = ctx;

	(void)t;
	(void)key;
	(void)value;
	memset(k->w->cls + k->pos, WW_CL_INFO, k->dec.len);
	k->pos += k->dec.len;
}

static void on_other(void *ctx, struct ww_interval t, uint8_t byte)
{
	struct classifier *k = ctx;

	(void)t;
	(void)byte;
	k->pos++;
}

static bool digit(uint8_t c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '+' || c == '/';
}

/*
 * A beat that lost bytes, or that text of someone else cut in two, is no text. A
 * fragment holds a beat's digits only, starts as one or ends as one, and is shorter.
 */
static void mark_fragments(struct ww_window *w)
{
	size_t i = 0;

	while (i < w->n) {
		size_t j = i, digits = 0;

		if (w->cls[i] != WW_CL_TEXT) {
			i++;
			continue;
		}
		if (w->data[j] == '!')
			j++;
		while (j < w->n && w->cls[j] == WW_CL_TEXT && digit(w->data[j]) &&
		       (j == i || w->lo[j] - w->hi[j - 1] < PAUSE_NS)) {
			j++;
			digits++;
		}
		if (digits && j < w->n && w->cls[j] == WW_CL_TEXT && w->data[j] == '\n')
			j++;
		if (j - i < WW_BEAT_LEN && j > i && (w->data[i] == '!' || w->data[j - 1] == '\n') &&
		    (digits > 4 || w->data[i] == '!') &&
		    (i == 0 || w->cls[i - 1] != WW_CL_TEXT || w->lo[i] - w->hi[i - 1] > PAUSE_NS ||
		     w->data[i] == '!'))
			memset(w->cls + i, WW_CL_FRAGMENT, j - i);
		i = j > i ? j : i + 1;
	}
}

/* Is the run of beat characters [i, j) inside a message, or at the head of one? */
static bool inside_text(const struct ww_window *w, size_t i, size_t j, int64_t pace)
{
	bool after = j < w->n && w->cls[j] == WW_CL_TEXT &&
		     ww_iv_mid(ww_window_t(w, j)) - ww_iv_mid(ww_window_t(w, j - 1)) < pace;
	int64_t before = i ? ww_iv_mid(ww_window_t(w, i)) - ww_iv_mid(ww_window_t(w, i - 1)) : 0;

	if (!after || j - i > DOTS)
		return false;
	return i == 0 || before > PAUSE_NS || (w->cls[i - 1] == WW_CL_TEXT && before < pace);
}

static int plain_beats(struct ww_window *w, const struct ww_scan *s, struct ww_error *err)
{
	int64_t pace = 3 * s->char_ns > LINE_PACE_NS ? 3 * s->char_ns : LINE_PACE_NS;
	size_t i = 0;
	int rc = 0;

	for (size_t k = 0; k < w->n; k++)
		if (w->cls[k] == WW_CL_TEXT && s->is_beat[w->data[k]])
			w->cls[k] = WW_CL_BEAT;
	while (i < w->n && rc >= 0) {
		size_t j = i;

		while (j < w->n && w->cls[j] == WW_CL_BEAT)
			j++;
		if (j == i) {
			i++;
			continue;
		}
		if (inside_text(w, i, j, pace)) {
			memset(w->cls + i, WW_CL_TEXT, j - i);
			i = j;
		}
		for (; i < j && rc >= 0; i++)
			rc = add_beat(w, (struct ww_rbeat){.at = i, .len = 1}, err);
	}
	return rc;
}

int ww_window_classify(struct ww_window *w, const struct ww_scan *s, struct ww_error *err)
{
	struct classifier k = {.w = w, .err = err};
	struct ww_beat_sink sink = {&k, s->stamped ? on_beat : NULL, on_info, on_other};

	w->stamped = s->stamped;
	for (size_t i = 0; i < w->n; i++) {
		struct ww_interval t = ww_window_t(w, i);

		ww_beat_feed(&k.dec, &sink, &t, &w->data[i], 1);
	}
	ww_beat_end(&k.dec, &sink);
	if (k.rc < 0)
		return k.rc;
	if (!s->stamped)
		return plain_beats(w, s, err);
	mark_fragments(w);
	return 0;
}

void ww_window_reset(struct ww_window *w)
{
	w->n = 0;
	w->beats = 0;
}

void ww_window_free(struct ww_window *w)
{
	free(w->lo);
	free(w->hi);
	free(w->data);
	free(w->cls);
	free(w->beat);
	*w = (struct ww_window){0};
}

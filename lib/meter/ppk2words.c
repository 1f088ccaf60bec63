/* SPDX-License-Identifier: MIT */
/*
 * The PPK2's stream has no frames: words of four bytes whose counter of six bits is all
 * that tells a lost word from a lost byte. An odd counter alone is a damaged word; five in
 * sequence with each other are the stream after a loss; anything else is a slip of bytes.
 */
#include "meter/ppk2.h"

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void ww_ppk2_words_init(struct ww_ppk2_words *w)
{
	*w = (struct ww_ppk2_words){.synced = false};
}

static bool in_sequence(const uint32_t *word, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (ww_ppk2_counter(word[i]) != ((ww_ppk2_counter(word[i - 1]) + 1) & 63))
			return false;
	return true;
}

static void give_held(struct ww_ppk2_words *w, const struct ww_ppk2_sink *sink)
{
	size_t n = w->held_n;

	w->held_n = 0;
	for (size_t i = 0; i < n; i++)
		sink->sample(sink->ctx, w->held[i]);
}

/* The alignment is lost: what is held are bytes of the hunt again. */
static void slip(struct ww_ppk2_words *w)
{
	w->synced = false;
	w->expect = w->held_expect;
	for (size_t i = 0; i < w->held_n; i++)
		for (unsigned b = 0; b < 4; b++)
			w->byte[4 * i + b] = (uint8_t)(w->held[i] >> (8 * b));
	w->bytes = 4 * w->held_n;
	w->held_n = 0;
	w->dropped = 0;
}

static void judge_held(struct ww_ppk2_words *w, const struct ww_ppk2_sink *sink)
{
	unsigned lost = (ww_ppk2_counter(w->held[0]) - w->held_expect) & 63;

	if (!in_sequence(w->held, w->held_n)) {
		slip(w);
		return;
	}
	w->expect = (ww_ppk2_counter(w->held[w->held_n - 1]) + 1) & 63;
	sink->lost(sink->ctx, lost, "lost by the counter");
	give_held(w, sink);
}

static void take(struct ww_ppk2_words *w, uint32_t word, const struct ww_ppk2_sink *sink)
{
	if (ww_ppk2_counter(word) == w->expect) {
		w->expect = (w->expect + 1) & 63;
		if (w->held_n) {
			sink->odd(sink->ctx, w->held_n);
			give_held(w, sink);
		}
		sink->sample(sink->ctx, word);
		return;
	}
	if (!w->held_n)
		w->held_expect = w->expect;
	w->held[w->held_n++] = word;
	w->expect = (w->expect + 1) & 63;
	if (w->held_n == WW_PPK2_HELD)
		judge_held(w, sink);
}

/* Does an alignment of the hunt hold? */
static bool aligned(const uint8_t *p)
{
	uint32_t word[WW_PPK2_HUNT];

	for (size_t i = 0; i < WW_PPK2_HUNT; i++) {
		word[i] = word_at(p + 4 * i);
		if ((word[i] >> 14 & 7) >= WW_PPK2_RANGES)
			return false;
	}
	return in_sequence(word, WW_PPK2_HUNT);
}

/* Samples between the last good word and the first one now, by bytes and by the counter. */
static uint64_t missing(const struct ww_ppk2_words *w, const uint8_t *p)
{
	unsigned diff = (ww_ppk2_counter(word_at(p)) - w->expect) & 63;
	int64_t words = (int64_t)((w->dropped + 2) / 4), n;

	n = words + (int64_t)((diff - (uint64_t)words) & 63);
	/* The nearest number that the counter allows. */
	return (uint64_t)(n - words > 32 && n >= 64 ? n - 64 : n);
}

static void hunt(struct ww_ppk2_words *w, uint8_t byte, const struct ww_ppk2_sink *sink)
{
	w->byte[w->bytes++] = byte;
	if (w->bytes < (size_t)4 * WW_PPK2_HUNT)
		return;
	if (!aligned(w->byte)) {
		memmove(w->byte, w->byte + 1, --w->bytes);
		w->dropped++;
		return;
	}
	if (w->was_synced)
		sink->lost(sink->ctx, missing(w, w->byte), "bytes were lost");
	w->synced = w->was_synced = true;
	w->held_n = 0;
	w->bytes = 0;
	w->expect = ww_ppk2_counter(word_at(w->byte));
	for (size_t i = 0; i < WW_PPK2_HUNT; i++)
		take(w, word_at(w->byte + 4 * i), sink);
}

void ww_ppk2_words_feed(struct ww_ppk2_words *w, const uint8_t *p, size_t n,
			const struct ww_ppk2_sink *sink)
{
	while (n) {
		/* Whole words at once, nearly always. */
		if (w->synced && !w->bytes && n >= 4) {
			take(w, word_at(p), sink);
			p += 4;
			n -= 4;
			continue;
		}
		if (!w->synced) {
			hunt(w, *p, sink);
		} else {
			w->byte[w->bytes++] = *p;
			if (w->bytes == 4) {
				w->bytes = 0;
				take(w, word_at(w->byte), sink);
			}
		}
		p++;
		n--;
	}
}

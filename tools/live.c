/* SPDX-License-Identifier: MIT */
#include "live.h"

#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LONGEST 1024

/* A line under construction: bytes, and columns that are left. */
struct line {
	char text[LONGEST + 64];
	size_t n;
	int room;
};

bool live_here(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return isatty(STDERR_FILENO) && (group < 0 || group == getpgrp());
}

static int width(void)
{
	struct winsize w = {0};

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col == 0)
		return 80;
	return w.ws_col < LONGEST / 4 ? w.ws_col : LONGEST / 4;
}

static bool inside_char(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Columns of a character by its first byte: at least what a terminal takes. */
static int columns_of(char c)
{
	return inside_char(c) ? 0 : (unsigned char)c >= 0xe1 ? 2 : 1;
}

static int columns(const char *s, size_t n)
{
	int sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += columns_of(s[i]);
	return sum;
}

/* As much of it as there is room for. */
static void put(struct line *l, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int c = columns_of(s[i]);

		if (c > l->room || l->n >= LONGEST) {
			l->room = 0;
			return;
		}
		l->room -= c;
		l->text[l->n++] = (unsigned char)s[i] < ' ' || s[i] == 0x7f ? '?' : s[i];
	}
}

static void put_value(char *buf, size_t n, const struct ww_live *l)
{
	static const char *const state[] = {"waiting", "", "silent", "unplugged", "ended"};
	int decimals = l->resolution > 0 && l->resolution < 1
			       ? (int)ceil(-log10(l->resolution) - 1e-9)
			       : (l->resolution >= 1 ? 0 : 3);

	if (l->kind == WW_SERIAL)
		snprintf(buf, n, "  %s %llu B%s%s", l->source, (unsigned long long)l->n,
			 l->state == 1 ? "" : " ", state[l->state]);
	else if (isnan(l->value))
		snprintf(buf, n, "  %s %s %s", l->source, l->channel,
			 l->state == 1 ? "-" : state[l->state]);
	else if (strcmp(l->unit, "1") == 0)
		snprintf(buf, n, "  %s %s %.*f", l->source, l->channel, decimals, l->value);
	else
		snprintf(buf, n, "  %s %.*f %s", l->source, decimals, l->value, l->unit);
}

/* The newest of what is typed, with a sign that it has a beginning. */
static void put_typed(struct line *l, const char *typed, size_t n)
{
	size_t at = 0;
	int need = columns(typed, n);

	put(l, " > ", 3);
	if (need > l->room)
		put(l, "<", 1);
	for (; at < n && need > l->room; at++)
		need -= columns_of(typed[at]);
	while (at < n && inside_char(typed[at]))
		at++;
	put(l, typed + at, n - at);
}

static void put_piece(struct line *l, const char *format, ...)
{
	char piece[160];
	va_list ap;

	va_start(ap, format);
	vsnprintf(piece, sizeof(piece), format, ap);
	va_end(ap);
	put(l, piece, strlen(piece));
}

static void put_left(struct line *l, int64_t ns)
{
	long long s = (long long)(ns / 1000000000);

	if (s < 120)
		put_piece(l, ", about %lld s left", s);
	else if (s < 7200)
		put_piece(l, ", about %lld min left", (s + 30) / 60);
	else
		put_piece(l, ", about %lld h left", (s + 1800) / 3600);
}

static void put_campaign(struct line *l, const struct ww_campaign *c)
{
	struct ww_campaign_state s;

	ww_campaign_state(c, &s);
	put_piece(l, "  cycle %u", s.cycle);
	if (s.cycles < 1000000)
		put_piece(l, " of %u", s.cycles);
	put_piece(l, ": %s, ok %u", s.phase, s.ok);
	if (s.failed)
		put_piece(l, ", failed %u", s.failed);
	if (s.other)
		put_piece(l, ", unknown %u", s.other);
	if (isfinite(s.median_ms))
		put_piece(l, ", median %.1f ms", s.median_ms);
	if (isfinite(s.width_ms))
		put_piece(l, " (to %.2f)", s.width_ms);
	if (s.left_ns >= 0)
		put_left(l, s.left_ns);
}

void live_draw(const struct recording *r, int64_t start_ns, const char *typed, size_t n)
{
	struct pollfd can = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct line l = {.room = width() - 1};
	int keep = n ? columns(typed, n) + 3 : 0;
	struct ww_live v;
	char piece[160];

	/* A terminal that takes nothing must not hold up the recording. */
	if (poll(&can, 1, 0) <= 0 || !(can.revents & POLLOUT))
		return;
	if (keep > l.room - 12)
		keep = l.room > 12 ? l.room - 12 : 0;
	l.room -= keep;
	snprintf(piece, sizeof(piece), "%8.1f s", (double)(ww_clock_now_ns() - start_ns) / 1e9);
	put(&l, piece, strlen(piece));
	if (r->campaign)
		put_campaign(&l, r->campaign);
	for (size_t i = 0; l.room > 0 && ww_recorder_live(r->rec, i, &v) == 1; i++) {
		put_value(piece, sizeof(piece), &v);
		put(&l, piece, strlen(piece));
	}
	l.room += keep;
	if (n)
		put_typed(&l, typed, n);
	fprintf(stderr, "\r%.*s\033[K", (int)l.n, l.text);
	tool_line_open = true;
}

void live_wipe(void)
{
	if (tool_line_open)
		fputs("\r\033[K", stderr);
	tool_line_open = false;
}

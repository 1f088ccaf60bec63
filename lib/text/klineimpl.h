/* SPDX-License-Identifier: MIT */
/* Between the files of kline; nobody else's business. */
#ifndef WW_TEXT_KLINEIMPL_H
#define WW_TEXT_KLINEIMPL_H

#include "text/kline.h"
#include "base/base.h"
#include "base/str.h"

/* A line while its framing is taken off. */
struct ww_kcur {
	struct ww_kline_state *s;
	struct ww_kline *o;
	const char *p, *end; /* what is left */
	const char *console; /* where the kernel's own bytes begin, NULL not known */
	bool header;	     /* a logger's header with a tag was there */
	bool whole;	     /* nothing is left to take off */
	bool named;	     /* MediaTek's names of modules stand within the text */
};

static inline bool ww_kl_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline const char *ww_kl_blanks(const char *p, const char *end)
{
	while (p < end && ww_kl_blank(*p))
		p++;
	return p;
}

/* Does text stand at p? */
static inline bool ww_kl_at(const char *p, const char *end, const char *text, size_t n)
{
	return (size_t)(end - p) >= n && memcmp(p, text, n) == 0;
}

/* Up to `most` digits; NULL if there is none. */
const char *ww_kl_digits(const char *p, const char *end, int most, uint64_t *v);
/* Seconds with a fraction, "103.459191". NULL: no such number. */
const char *ww_kl_seconds(const char *p, const char *end, int64_t *ns, int *decimals);
int64_t ww_kl_res(int decimals);

/* "18:03:09", with decimals after a point or comma. */
const char *ww_kl_clock(const char *p, const char *end, int64_t *ns, int *decimals);
/* "2026-11-30T12:12:44.549+01:00" and its relatives: a date with year in front, and a time. */
const char *ww_kl_datetime(const char *p, const char *end, int64_t *ns, int *decimals);
/* "Nov 30 22:35:58.123" in any language, without a year or with one after it. */
const char *ww_kl_monthday(struct ww_kline_state *s, const char *p, const char *end, int64_t *ns,
			   int64_t *res);
/* "[Jul 3 18:52]" and "[Dec11 18:52]" of dmesg --reltime, from behind the bracket. */
const char *ww_kl_minute(struct ww_kline_state *s, const char *p, const char *end, int64_t *ns);
/* "11-05 17:33:01.123" */
const char *ww_kl_monthdash(struct ww_kline_state *s, const char *p, const char *end, int64_t *ns,
			    int64_t *res);

/* Stamps in front of the kernel's: the outermost one counts. */
void ww_kl_host(struct ww_kcur *c, int clock, int64_t ns, int64_t res);
void ww_kl_day(struct ww_kcur *c, int64_t ns, int64_t res, bool may_be_delta);
void ww_kl_delta(struct ww_kcur *c, int64_t ns, int64_t res);
void ww_kl_reltime_date(struct ww_kcur *c, int64_t ns);

/* Each takes something off the front and says so, or leaves the line alone. */
bool ww_kl_bracket(struct ww_kcur *c);
bool ww_kl_kernel_stamp(struct ww_kcur *c, const char *at, bool anywhere);
bool ww_kl_search(struct ww_kcur *c);
bool ww_kl_caller(struct ww_kcur *c);
bool ww_kl_number(struct ww_kcur *c);
bool ww_kl_word(struct ww_kcur *c);
bool ww_kl_level(struct ww_kcur *c);
bool ww_kl_logcat(struct ww_kcur *c);
bool ww_kl_brief(struct ww_kcur *c);
/* 'I' -> 6; -1: none of logcat's. */
int ww_kl_priority(char b);
/* "[0.009182 0.006943] " and its dated forms, for who knows where it begins. */
bool ww_kl_grabserial(struct ww_kcur *c, const char *at);
/* What follows the date of a log: host and tag, a level, or the text at once. */
void ww_kl_host_tag(struct ww_kcur *c);
/* "hosta kernel: " after the stamp of journalctl -o short-monotonic. */
void ww_kl_monotonic(struct ww_kcur *c);
/* "info" -> 6; -1: no level. */
int ww_kl_level_name(const char *p, size_t n);

bool ww_kl_peel(struct ww_kcur *c);
/* Is there anything in it that does not belong to the text? */
bool ww_kl_dirty(struct ww_kline_state *s, const char *line, size_t n);
/*
 * Into s->clean, behind what a soft line break of a mail left there; s->carry is not 0 where the
 * line ends in one. @return length
 */
size_t ww_kl_clean(struct ww_kline_state *s, const char *line, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Inside of kmsg*.c. Messages are told by rules: a pattern and what it means. Letters after
 * '%' in a pattern:
 *   s, m, u  a time in seconds, milli-, microseconds: dur_ns
 *   n  a number: count        e  a signed one: err       p  pid
 *   g  a number, passed over  w  a word, passed over     _  blanks, none or more
 *   o  a word: text
 *   x  text that follows      *  whatever follows
 *   d, D, k, t, f, a  device, driver, wakeup, task, func, text: up to the last place where
 *      the letters after it stand, or up to the end; never empty but D
 *   M  a word that names a mode, S  a digit of an ACPI state
 *   v  a verb ("suspend", "power down"), i  "noirq ", "late ", "early ", "start " or nothing,
 *   I  " async", " noirq", " late", " early", any of them
 *   z  a date and a time of day, UTC
 *   {a|b}  one of these: text
 *   |  the text may end here
 */
#ifndef WW_TEXT_KMSG_IN_H
#define WW_TEXT_KMSG_IN_H

#include "text/kmsg.h"

#include <string.h>

/* What stood in front of a message. */
enum {
	WW_KM_PM = 1,
	WW_KM_HIB = 2, /* "hibernation: ", "swsusp: " */
	WW_KM_ACPI = 4,
	WW_KM_LEVEL = 8, /* coreboot's */
	WW_KM_SUB = 16	 /* another part of the kernel: "psci: " */
};

struct ww_km_rule {
	const char *pattern;
	uint8_t kind, phase, verb, mode, fw;
	uint8_t need; /* WW_KM_*: all of these in front of it */
	int8_t count; /* -1: as the pattern tells */
};

struct ww_km_group {
	const struct ww_km_rule *rule;
	size_t n;
};

/* By the first letter of the message. */
struct ww_km_group ww_km_rules(unsigned char first);
/* Those that begin with a verb or what stands before one. */
struct ww_km_group ww_km_verbs(void);
struct ww_km_group ww_km_firmware(unsigned char first);

/* 1 it is, 0 it is not; out->partial where it might become one. */
int ww_km_match(const struct ww_km_rule *r, const char *p, size_t n, struct ww_pmev *out);
bool ww_km_try(struct ww_km_group g, unsigned have, const char *p, size_t n, struct ww_pmev *out);

/* "calling  usb1+ @ 12, parent: ...", "... returned 0 after 3 usecs" and what else names a
 * device first. true: out is complete. */
bool ww_km_call(const char *p, size_t n, const char *at, struct ww_pmev *out);
bool ww_km_return(const char *p, size_t n, struct ww_pmev *out);
bool ww_km_after_colon(const char *p, size_t n, const char *rest, struct ww_pmev *out);
/* A mail cut the line of a device: what there is of it from its function on is a beginning. */
bool ww_km_begun(const char *rest, const char *end, bool core);
/* "DRV DEV" into the two. */
void ww_km_who(const char *p, size_t n, struct ww_pmev *out);
void ww_km_func(const char *p, size_t n, struct ww_pmev *out);

bool ww_km_link(const char *p, size_t n, const char *link, struct ww_pmev *out);
bool ww_km_storage(const char *p, size_t n, struct ww_pmev *out);
/* A task as sched_show_task() of old kernels printed it. */
bool ww_km_old_task(const char *p, size_t n, struct ww_pmev *out);

#define WW_KM_IS(p, n, text) ((n) >= sizeof(text) - 1 && memcmp((p), (text), sizeof(text) - 1) == 0)

/* Last place of needle in p[0..n), NULL none. */
static inline const char *ww_km_last(const char *p, size_t n, const char *needle, size_t k)
{
	if (!k || n < k)
		return NULL;
	for (const char *q = p + (n - k);; q--) {
		if (*q == *needle && memcmp(q, needle, k) == 0)
			return q;
		if (q == p)
			return NULL;
	}
}

/* A signed decimal at p: how many bytes, 0 none. */
static inline size_t ww_km_int(const char *p, size_t n, int64_t *v)
{
	size_t i = n && p[0] == '-', first = i;
	int64_t x = 0;

	for (; i < n && p[i] >= '0' && p[i] <= '9' && i - first < 18; i++)
		x = x * 10 + (p[i] - '0');
	if (i == first)
		return 0;
	*v = first ? -x : x;
	return i;
}

#endif

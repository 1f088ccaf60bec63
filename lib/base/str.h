/* SPDX-License-Identifier: MIT */
/* Growing text, numbers free of the locale, and JSON on top of it. */
#ifndef WW_STR_H
#define WW_STR_H

#include "base/base.h"

/* Zero-initialise. After a failed allocation `bad` stays set and adding does nothing. */
struct ww_str {
	char *p; /* NUL-terminated once anything was added */
	size_t n;
	size_t cap;
	bool bad;
};

void ww_str_free(struct ww_str *s);
void ww_str_reset(struct ww_str *s); /* empty, memory kept */
void ww_str_add(struct ww_str *s, const char *text);
void ww_str_addn(struct ww_str *s, const char *text, size_t n);
/* No %f, %e, %g, %a here: they follow the locale. Use ww_str_fixed and ww_str_num. */
void ww_str_addf(struct ww_str *s, const char *fmt, ...) WW_PRINTF(2, 3);
/* Hands the text over (never NULL on success); -ENOMEM if anything failed on the way. */
int ww_str_take(struct ww_str *s, char **out, struct ww_error *err);

/* Fixed number of decimals; "nan", "inf", "-inf" otherwise. */
void ww_str_fixed(struct ww_str *s, double v, int decimals);
/* The same into a buffer; 350 bytes hold any double. */
void ww_fixed_text(char *buf, size_t n, double v, int decimals);
/* Shortest decimal that reads back as the same double; whole numbers in full below 1e15. */
void ww_str_num(struct ww_str *s, double v);
/* The same into a buffer of at least 32 bytes. */
void ww_num_text(char *buf, size_t n, double v);
/*
 * A value with an uncertainty: decimals such that u shows two significant
 * digits (GUM 7.2.6), value rounded alike. NaN or 0 u: `fallback` decimals.
 */
int ww_decimals_for(double u, int fallback);
/*
 * v as it is printed beside u: both rounded to the second digit of u, also where
 * that is a ten or a hundred: 89752 with u = 432 gives 89750.
 */
double ww_round_for(double v, double u);

/*
 * A moment of CLOCK_REALTIME as ISO 8601 with milliseconds and its offset from
 * UTC: "2026-11-30T14:16:51.250+01:00". The zone is the caller's, never this
 * machine's.
 */
void ww_str_time(struct ww_str *s, int64_t real_ns, int32_t offset_s);

/*
 * strtod, free of the locale; accepts what C's strtod accepts in the "C"
 * locale except hexadecimal. *end as strtod's.
 */
double ww_strtod(const char *s, const char **end);

/* JSON: commas and nesting are kept here; numbers that are NaN or infinite become null. */
struct ww_json {
	struct ww_str *s;
	unsigned depth;
	bool need_comma[32];
};

/* key may be NULL inside arrays and at the top. */
void ww_json_open(struct ww_json *j, const char *key, char bracket);	  /* '{' or '[' */
void ww_json_close(struct ww_json *j, char bracket);			  /* '}' or ']' */
void ww_json_text(struct ww_json *j, const char *key, const char *value); /* NULL: null */
void ww_json_num(struct ww_json *j, const char *key, double v);
void ww_json_fixed(struct ww_json *j, const char *key, double v, int decimals);
void ww_json_int(struct ww_json *j, const char *key, int64_t v);
void ww_json_bool(struct ww_json *j, const char *key, bool v);
void ww_json_null(struct ww_json *j, const char *key);
/* A quoted JSON string alone; bytes that are not UTF-8 become U+FFFD. */
void ww_str_json(struct ww_str *s, const char *text, size_t n);
/* Of ASCII, whatever the locale. */
static inline bool ww_is_digit(char c)
{
	return c >= '0' && c <= '9';
}
/* Length of a well-formed UTF-8 sequence (RFC 3629) at p, 0 if there is none. */
size_t ww_utf8_len(const unsigned char *p, size_t n);
/*
 * n bytes for a reader's terminal, in `size` bytes: what would steer it, and what is no UTF-8,
 * stands there as \xNN. Ends with a whole character.
 */
void ww_plain(char *to, size_t size, const char *text, size_t n);
void ww_str_plain(struct ww_str *s, const char *text);
bool ww_is_plain(const char *text, size_t n);
/* A CSV field, quoted if RFC 4180 asks for it. */
void ww_str_csv(struct ww_str *s, const char *text);

#endif

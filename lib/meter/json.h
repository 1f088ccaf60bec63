/* SPDX-License-Identifier: MIT */
/*
 * JSON as plugs answer it, read by jansson: bounded, and a value that is not there, or
 * no number, is none and never 0. Without jansson every text is no JSON.
 */
#ifndef WW_METER_JSON_H
#define WW_METER_JSON_H

#include "base/base.h"

/* Longer answers are none of a plug's. */
#define WW_JS_MAX 65536

struct ww_js; /* a value inside of a document; lives as long as that */

/* NULL: no JSON object. */
struct ww_js *ww_js_parse(const void *text, size_t n);
void ww_js_free(struct ww_js *document); /* may be NULL */

/* All of these take NULL and then find nothing. */
const struct ww_js *ww_js_get(const struct ww_js *o, const char *key); /* member */
const struct ww_js *ww_js_at(const struct ww_js *a, size_t i);	       /* element */
/* Elements of an array; of what is none 0. */
size_t ww_js_count(const struct ww_js *a);
const char *ww_js_text(const struct ww_js *o, const char *key); /* NULL: no text */
bool ww_js_false(const struct ww_js *o, const char *key);	/* it is there, and false */
/* A finite number; decimals (may be NULL): digits behind the point that it needs, 0..9. */
bool ww_js_value(const struct ww_js *v, double *number, int *decimals);
bool ww_js_num(const struct ww_js *o, const char *key, double *number, int *decimals);
/* A counted code of it: number * per, rounded; false where that is beyond 2^53. */
bool ww_js_code(double number, double per, int64_t *code);

#endif

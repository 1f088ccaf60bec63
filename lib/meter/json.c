/* SPDX-License-Identifier: MIT */
#include "meter/json.h"

#include <math.h>

bool ww_js_num(const struct ww_js *o, const char *key, double *number, int *decimals)
{
	return ww_js_value(ww_js_get(o, key), number, decimals);
}

bool ww_js_code(double number, double per, int64_t *code)
{
	double c = floor(number * per + 0.5);

	if (!(fabs(c) < 9007199254740992.0))
		return false;
	*code = (int64_t)c;
	return true;
}

#ifdef WW_WITH_JANSSON
#include <jansson.h>

/* The library's own type stays in this file. */
static struct ww_js *wrap(json_t *j)
{
	return (struct ww_js *)(void *)j;
}

static json_t *unwrap(const struct ww_js *v)
{
	return (json_t *)(uintptr_t)v;
}

struct ww_js *ww_js_parse(const void *text, size_t n)
{
	json_t *j = n && n <= WW_JS_MAX ? json_loadb(text, n, 0, NULL) : NULL;

	if (j && !json_is_object(j)) {
		json_decref(j);
		j = NULL;
	}
	return wrap(j);
}

void ww_js_free(struct ww_js *document)
{
	json_decref(unwrap(document));
}

const struct ww_js *ww_js_get(const struct ww_js *o, const char *key)
{
	return wrap(json_object_get(unwrap(o), key));
}

const struct ww_js *ww_js_at(const struct ww_js *a, size_t i)
{
	return wrap(json_array_get(unwrap(a), i));
}

size_t ww_js_count(const struct ww_js *a)
{
	return json_array_size(unwrap(a));
}

const char *ww_js_text(const struct ww_js *o, const char *key)
{
	return json_string_value(unwrap(ww_js_get(o, key)));
}

bool ww_js_false(const struct ww_js *o, const char *key)
{
	return json_is_false(unwrap(ww_js_get(o, key)));
}

/* A text with so many digits reads back as the same number. */
static int decimals_of(double v)
{
	double by = 1;
	int d = 0;

	while (d < 9 && floor(v * by + 0.5) / by != v) {
		by *= 10;
		d++;
	}
	return d;
}

bool ww_js_value(const struct ww_js *v, double *number, int *decimals)
{
	json_t *j = unwrap(v);
	double d;

	if (!json_is_number(j))
		return false;
	d = json_number_value(j);
	if (!isfinite(d))
		return false;
	*number = d;
	if (decimals)
		*decimals = json_is_integer(j) ? 0 : decimals_of(d) ? decimals_of(d) : 1;
	return true;
}

#else

struct ww_js *ww_js_parse(const void *text, size_t n)
{
	(void)text;
	(void)n;
	return NULL;
}

void ww_js_free(struct ww_js *document)
{
	(void)document;
}

const struct ww_js *ww_js_get(const struct ww_js *o, const char *key)
{
	(void)o;
	(void)key;
	return NULL;
}

const struct ww_js *ww_js_at(const struct ww_js *a, size_t i)
{
	(void)a;
	(void)i;
	return NULL;
}

size_t ww_js_count(const struct ww_js *a)
{
	(void)a;
	return 0;
}

const char *ww_js_text(const struct ww_js *o, const char *key)
{
	(void)o;
	(void)key;
	return NULL;
}

bool ww_js_false(const struct ww_js *o, const char *key)
{
	(void)o;
	(void)key;
	return false;
}

bool ww_js_value(const struct ww_js *v, double *number, int *decimals)
{
	(void)v;
	(void)number;
	(void)decimals;
	return false;
}

#endif

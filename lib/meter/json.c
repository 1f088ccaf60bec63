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
#include "base/str.h"

#include <jansson.h>
#include <strings.h>

/* The library's own type stays in this file. */
static struct ww_js *wrap(json_t *j)
{
	return (struct ww_js *)(void *)j;
}

static json_t *unwrap(const struct ww_js *v)
{
	return (json_t *)(uintptr_t)v;
}

/* Inside of a string: names of people's making, in whatever character set. */
static size_t mend_text(struct ww_str *out, const uint8_t *p, size_t n)
{
	size_t k = ww_utf8_len(p, n);

	if (p[0] == '\\' && n > 5 && p[1] == 'u' &&
	    (memcmp(p + 2, "0000", 4) == 0 || (p[2] | 32) == 'd')) {
		/* No character, or half of one. */
		ww_str_add(out, "?");
		return 6;
	}
	if (p[0] == '\\' && n > 1 && p[1] >= ' ' && p[1] < 0x80)
		k = 2;
	if (!k || p[0] < ' ')
		ww_str_add(out, "?");
	else
		ww_str_addn(out, (const char *)p, k);
	return k ? k : 1;
}

/* A number or a word outside of strings: one that has no value here becomes null. */
static size_t mend_word(struct ww_str *out, const uint8_t *p, size_t n)
{
	static const char *const none[] = {"nan", "-nan", "inf", "-inf", "infinity", "-infinity"};
	bool lost = false, whole = true;
	char word[400] = "";
	size_t k = 0;

	while (k < n && (ww_is_digit((char)p[k]) || ((p[k] | 32) >= 'a' && (p[k] | 32) <= 'z') ||
			 p[k] == '.' || p[k] == '+' || p[k] == '-')) {
		whole &= ww_is_digit((char)p[k]) || p[k] == '-';
		if (k + 1 < sizeof(word))
			word[k] = (char)p[k];
		k++;
	}
	for (size_t i = 0; i < WW_COUNTOF(none); i++)
		lost |= strcasecmp(word, none[i]) == 0;
	if (ww_is_digit(word[0]) || word[0] == '-')
		lost |= whole ? k > 18 : k >= sizeof(word) || !isfinite(ww_strtod(word, NULL));
	if (lost)
		ww_str_add(out, "null");
	else
		ww_str_addn(out, (const char *)p, k ? k : 1);
	return k ? k : 1;
}

/*
 * Real firmwares say nan, numbers without end and names that are no UTF-8, for which the
 * library refuses the whole document. Only what it refused comes here.
 */
static json_t *parse_mended(const uint8_t *p, size_t n)
{
	struct ww_str out = {0};
	bool text = false;
	json_t *j = NULL;
	size_t i = 0;

	while (n && (p[n - 1] == '\0' || p[n - 1] == ' ' || p[n - 1] == '\r' || p[n - 1] == '\n'))
		n--;
	if (n > 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		i = 3;
	while (i < n) {
		if (p[i] == '"') {
			text = !text;
			ww_str_add(&out, "\"");
			i++;
		} else {
			i += text ? mend_text(&out, p + i, n - i) : mend_word(&out, p + i, n - i);
		}
	}
	if (!out.bad && out.n)
		j = json_loadb(out.p, out.n, 0, NULL);
	ww_str_free(&out);
	return j;
}

struct ww_js *ww_js_parse(const void *text, size_t n)
{
	json_t *j;

	if (!n || n > WW_JS_MAX)
		return NULL;
	j = json_loadb(text, n, 0, NULL);
	if (!j)
		j = parse_mended(text, n);
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

/* SPDX-License-Identifier: MIT */
#include "pwrlog-slurp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST ((size_t)256 << 20)

int tool_slurp(const char *path, char **text, size_t *n)
{
	bool in = strcmp(path, "-") == 0;
	FILE *f = in ? stdin : fopen(path, "rb");
	size_t cap = 0, got;
	char *p = NULL;

	*n = 0;
	if (!f) {
		tool_say("%s: %s", path, strerror(errno));
		return TOOL_FAILED;
	}
	do {
		if (*n + 4096 >= cap) {
			char *more = realloc(p, cap = cap ? 2 * cap : 16384);

			if (!more) {
				errno = ENOMEM;
				break;
			}
			p = more;
		}
		got = fread(p + *n, 1, cap - *n - 1, f);
		*n += got;
	} while (got > 0 && *n <= MOST);
	if (ferror(f) || !p || *n > MOST) {
		tool_say("%s: %s", path,
			 *n > MOST ? "more than 256 MiB: this is no table"
				   : strerror(errno ? errno : EIO));
		free(p);
		if (!in)
			fclose(f);
		return TOOL_FAILED;
	}
	if (!in)
		fclose(f);
	p[*n] = '\0';
	*text = p;
	return TOOL_OK;
}

bool tool_is_trace(const char *path)
{
	char head[4096];
	size_t n;
	FILE *f;

	if (strcmp(path, "-") == 0)
		return false;
	f = fopen(path, "rb");
	if (!f)
		return false;
	n = fread(head, 1, sizeof(head) - 1, f);
	fclose(f);
	head[n] = '\0';
	return memchr(head, '\0', n) != NULL ||
	       (*head == '{' && strstr(head, "wakewatt") != NULL && !strstr(head, "\"results\""));
}

static const char *skip(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* A number at p, with an optional W behind it. NULL: none. */
static const char *take(const char *p, double *v)
{
	char *end;

	p = skip(p);
	*v = strtod(p, &end);
	if (end == p || !isfinite(*v) || fabs(*v) > 1e9)
		return NULL;
	p = skip(end);
	return skip(*p == 'W' ? p + 1 : p);
}

int tool_watts(const char *option, const char *text, double *value, double *u)
{
	static const char *const signs[] = {"\xc2\xb1", "+-", "+/-"};
	const char *p = take(text, value);

	*u = 0;
	for (size_t i = 0; p && *p && i < 3; i++) {
		size_t n = strlen(signs[i]);

		if (strncmp(p, signs[i], n) != 0)
			continue;
		p = take(p + n, u);
		if (p && *p == '\0' && *u >= 0) {
			*u /= 2;
			return 0;
		}
		p = NULL;
	}
	if (p && *p == '\0')
		return 0;
	return tool_usage_error("%s '%s': expected watts, such as 1 or 1\xc2\xb1"
				"0.1",
				option, text);
}

/* A currency without the "/kWh", "per kWh" behind it. @return its bytes */
static size_t without_kwh(const char *p, size_t n)
{
	static const char *const ends[] = {"/kwh", "/ kwh", "per kwh", "a kwh"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t k = strlen(ends[i]);

		if (n < k || strncasecmp(p + n - k, ends[i], k) != 0)
			continue;
		for (n -= k; n && p[n - 1] == ' ';)
			n--;
		break;
	}
	return n;
}

/* Hundredths are no currency: nobody can tell of which one. */
static bool is_hundredth(const char *p, size_t n)
{
	static const char *const words[] = {"ct", "cts", "cent", "cents", "c", "p", "\xc2\xa2"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (n == strlen(words[i]) && strncasecmp(p, words[i], n) == 0)
			return true;
	return false;
}

/* Digits with a decimal point or comma; NaN: it could be read in two ways. */
static double amount(const char *p, const char **end)
{
	char text[64];
	size_t n = strspn(p, "0123456789.,"), marks = 0;

	for (size_t i = 0; i < n; i++)
		marks += p[i] == ',' || p[i] == '.';
	*end = p + n;
	if (n == 0 || n >= sizeof(text) || marks > 1 || p[n - 1] == ',' ||
	    (*p != '0' && memchr(p, ',', n) &&
	     n - (size_t)((const char *)memchr(p, ',', n) - p) == 4))
		return (double)NAN;
	for (size_t i = 0; i < n; i++)
		text[i] = p[i] == ',' ? '.' : p[i];
	text[n] = '\0';
	return strtod(text, NULL);
}

int tool_price(const char *option, const char *text, double *value, char *unit, size_t n)
{
	const char *first = skip(text), *p = first + strcspn(first, "0123456789.,-"), *name;
	size_t before = (size_t)(p - first), after;

	while (before && first[before - 1] == ' ')
		before--;
	*value = amount(p, &p);
	p = skip(p);
	after = strlen(p);
	while (after && p[after - 1] == ' ')
		after--;
	/* "0.0702 $/kWh": a price of a kWh anyway. */
	after = without_kwh(p, after);
	before = without_kwh(first, before);
	name = before ? first : p;
	if (!isfinite(*value) || *value > 1e12 || (before && after) || before + after >= n)
		return tool_usage_error("%s '%s': expected a price, such as 0.0702 or '0.30 EUR'",
					option, text);
	if (is_hundredth(name, before + after))
		return tool_usage_error(
			"%s '%s': of which currency? Write '%g EUR', or another one", option, text,
			*value / 100);
	if (before + after == 0)
		return 0;
	if (*unit && (strlen(unit) != before + after || strncmp(unit, name, before + after) != 0))
		return tool_usage_error(
			"%s '%s': another price is in %s; give both in one currency", option, text,
			unit);
	memcpy(unit, name, before + after);
	unit[before + after] = '\0';
	return 0;
}

int tool_number(const char *option, const char *text, double lo, double hi, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end == text || *skip(end) || !(*value >= lo && *value <= hi))
		return tool_usage_error("%s '%s': expected a number from %g to %g", option, text,
					lo, hi);
	return 0;
}

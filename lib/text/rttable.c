/* SPDX-License-Identifier: MIT */
#include "text/rttable.h"
#include "text/csv.h"

#include <math.h>
#include <stdio.h>

struct reading {
	struct ww_runtime_table *t;
	struct ww_csv d;
	const char *name;
	double factor;		      /* of loads: kW and kVA */
	double minutes[WW_RT_MODELS]; /* one unit of the column in minutes */
	size_t cap;
	struct ww_error *err;
};

/* Is a word of the text this one? Words are letters and digits alone. */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; *p;) {
		size_t len = 0;

		while ((p[len] >= 'a' && p[len] <= 'z') || (p[len] >= 'A' && p[len] <= 'Z') ||
		       (p[len] >= '0' && p[len] <= '9'))
			len++;
		if (len == n) {
			struct ww_field f = {p, len, false};

			if (ww_field_is(&f, word))
				return true;
		}
		p += len ? len : 1;
	}
	return false;
}

static bool has_any(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (has_word(text, *words))
			return true;
	return false;
}

static const char *const va_words[] = {"VA", "kVA", "voltampere", "voltamperes", NULL};
static const char *const w_words[] = {"W", "kW", "watt", "watts", NULL};
static const char *const kilo_words[] = {"kVA", "kW", NULL};
static const char *const hour_words[] = {"h", "hour", "hours", NULL};

/* The head of the first column tells what a load is. */
static int unit_of(struct reading *r, const char *head, const char *given)
{
	bool va = has_any(head, va_words), w = has_any(head, w_words);

	if (va && w)
		return ww_fail(r->err, -EINVAL, "%s: '%s': are the loads in VA or in W?", r->name,
			       head);
	if (!va && !w && !(given && *given))
		return ww_fail(
			r->err, -EINVAL,
			"%s: whether the loads are VA or W is not said: write it at the head "
			"of the first column, or give --table-unit",
			r->name);
	if (given && *given && (va || w) && strcmp(given, va ? "VA" : "W") != 0)
		return ww_fail(r->err, -EINVAL, "%s: the head says %s, the option %s", r->name,
			       va ? "VA" : "W", given);
	if (given && *given && strcmp(given, "VA") != 0 && strcmp(given, "W") != 0)
		return ww_fail(r->err, -EINVAL, "loads are in VA or W, not in '%s'", given);
	r->factor = has_any(head, kilo_words) ? 1000 : 1;
	va = va || (!w && strcmp(given, "VA") == 0);
	memcpy(r->t->unit, va ? "VA" : "W", va ? 3 : 2);
	return 0;
}

static int head_text(struct reading *r, const struct ww_field *f, char **out)
{
	struct ww_str s = {0};

	ww_field_text(f, &s);
	return ww_str_take(&s, out, r->err);
}

static int read_head(struct reading *r, const struct ww_field *f, size_t n, const char *given)
{
	char *first = NULL;
	int rc;

	if (n < 2)
		return ww_fail(
			r->err, -EINVAL,
			"%s: one column only; a table has loads and, beside them, the minutes "
			"of at least one model",
			r->name);
	if (n - 1 > WW_RT_MODELS)
		return ww_fail(r->err, -EINVAL, "%s: more than %d models", r->name, WW_RT_MODELS);
	rc = head_text(r, &f[0], &first);
	if (rc == 0)
		rc = unit_of(r, first, given);
	free(first);
	for (size_t i = 1; rc == 0 && i < n; i++) {
		rc = head_text(r, &f[i], &r->t->model[i - 1]);
		if (rc == 0 &&
		    (has_any(r->t->model[i - 1], va_words) || strcmp(r->t->model[i - 1], "W") == 0))
			rc = ww_fail(r->err, -EINVAL,
				     "%s: '%s' is a second column of loads, no model: take one of "
				     "both out",
				     r->name, r->t->model[i - 1]);
		if (rc < 0)
			break;
		r->t->models = i;
		r->minutes[i - 1] = has_any(r->t->model[i - 1], hour_words) ? 60 : 1;
	}
	return rc;
}

/* Without names the models are numbered as their columns are. */
static int number_models(struct reading *r, size_t n, const char *given)
{
	struct ww_field unit = {"", 0, false};
	char name[24];
	int rc = 0;

	if (n < 2 || n - 1 > WW_RT_MODELS)
		return read_head(r, &unit, n, given);
	rc = unit_of(r, "", given);
	for (size_t i = 1; rc == 0 && i < n; i++) {
		size_t len = (size_t)snprintf(name, sizeof(name), "column %zu", i + 1);

		r->t->model[i - 1] = strndup(name, len);
		if (!r->t->model[i - 1])
			return ww_fail_nomem(r->err);
		r->t->models = i;
		r->minutes[i - 1] = 1;
	}
	return rc;
}

static double unit_minutes(const char *p, size_t n)
{
	static const struct {
		const char *name;
		double minutes;
	} units[] = {{"h", 60},	     {"hr", 60},      {"hrs", 60},	{"hour", 60},
		     {"hours", 60},  {"m", 1},	      {"min", 1},	{"mins", 1},
		     {"minutes", 1}, {"s", 1 / 60.0}, {"sec", 1 / 60.0}};
	struct ww_field f = {p, n, false};

	for (size_t i = 0; i < WW_COUNTOF(units); i++)
		if (ww_field_is(&f, units[i].name))
			return units[i].minutes;
	return NAN;
}

/* "1h30m", "1 h 30 min", "48min": parts that are added. The last one has the last digit. */
static bool parts(const struct reading *r, const char *p, size_t n, double *minutes, double *step)
{
	size_t at = 0, count = 0;

	*minutes = 0;
	while (at < n) {
		size_t from = at, digits, word;
		struct ww_num num;
		double unit;

		while (at < n && ((p[at] >= '0' && p[at] <= '9') || p[at] == '.' || p[at] == ','))
			at++;
		digits = at - from;
		while (at < n && p[at] == ' ')
			at++;
		word = at;
		while (at < n && ((p[at] >= 'a' && p[at] <= 'z') || (p[at] >= 'A' && p[at] <= 'Z')))
			at++;
		unit = unit_minutes(p + word, at - word);
		if (digits == 0 || ++count > 3 || isnan(unit) ||
		    ww_num_read(p + from, digits, r->d.comma, &num) != WW_NUM_OK)
			return false;
		*minutes += num.value * unit;
		*step = unit * pow(10, -num.decimals);
		while (at < n && p[at] == ' ')
			at++;
	}
	return count > 0;
}

/* 1:30 */
static bool clock_time(const char *p, size_t n, double *minutes)
{
	size_t colon = 0;
	double h = 0, m = 0;

	while (colon < n && p[colon] >= '0' && p[colon] <= '9')
		h = h * 10 + (p[colon++] - '0');
	if (colon == 0 || colon > 4 || n != colon + 3 || p[colon] != ':')
		return false;
	for (size_t i = colon + 1; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		m = m * 10 + (p[i] - '0');
	}
	*minutes = 60 * h + m;
	return m < 60;
}

static int read_cell(struct reading *r, size_t line, const struct ww_field *f, size_t model)
{
	struct ww_runtime_table *t = r->t;
	size_t at = t->rows * t->models + model;
	double *v = &t->minutes[at], *step = &t->step[at];
	struct ww_num num;
	int kind = ww_num_read(f->p, f->n, r->d.comma, &num);

	*v = NAN;
	*step = 0;
	if (kind == WW_NUM_EMPTY || kind == WW_NUM_MISSING)
		return 0;
	if (kind == WW_NUM_OK && num.unit_n == 0) {
		*v = num.value * r->minutes[model];
		*step = pow(10, -num.decimals) * r->minutes[model];
	} else if (clock_time(f->p, f->n, v)) {
		*step = 1;
		t->clock = true;
	} else if (!parts(r, f->p, f->n, v, step)) {
		*v = NAN;
	}
	if (!(*v > 0 && *v < 1e7))
		return ww_fail(r->err, -EINVAL,
			       "%s:%zu: '%.*s' is no runtime; minutes, as in 48, or 1h30m", r->name,
			       line, (int)(f->n > 40 ? 40 : f->n), f->p);
	return 0;
}

static int grow(struct reading *r)
{
	struct ww_runtime_table *t = r->t;
	size_t cap = r->cap ? 2 * r->cap : 16;
	double *a, *b, *c;

	if (t->rows < r->cap)
		return 0;
	if ((a = realloc(t->load, cap * sizeof(*a))))
		t->load = a;
	if ((b = realloc(t->minutes, cap * t->models * sizeof(*b))))
		t->minutes = b;
	if ((c = realloc(t->step, cap * t->models * sizeof(*c))))
		t->step = c;
	if (!a || !b || !c)
		return ww_fail_nomem(r->err);
	r->cap = cap;
	return 0;
}

static int read_row(struct reading *r, size_t line, const struct ww_field *f, size_t n)
{
	struct ww_runtime_table *t = r->t;
	struct ww_num num;
	int rc = grow(r);

	if (rc < 0)
		return rc;
	if (t->rows == WW_RT_ROWS)
		return ww_fail(r->err, -EINVAL, "%s: more than %d loads", r->name, WW_RT_ROWS);
	if (n > t->models + 1)
		return ww_fail(r->err, -EINVAL, "%s:%zu: %zu columns, but %zu in the first line",
			       r->name, line, n, t->models + 1);
	if (ww_num_read(f[0].p, f[0].n, r->d.comma, &num) != WW_NUM_OK || !(num.value > 0) ||
	    !(num.value < 1e9))
		return ww_fail(r->err, -EINVAL, "%s:%zu: '%.*s' is no load in %s", r->name, line,
			       (int)(f[0].n > 40 ? 40 : f[0].n), f[0].p, t->unit);
	if (num.unit_n &&
	    !(num.unit_n == strlen(t->unit) && strncmp(num.unit, t->unit, num.unit_n) == 0))
		return ww_fail(r->err, -EINVAL, "%s:%zu: a load in %.*s in a table in %s", r->name,
			       line, (int)num.unit_n, num.unit, t->unit);
	t->load[t->rows] = num.value * r->factor;
	for (size_t i = 0; rc == 0 && i < t->models; i++) {
		static const struct ww_field none = {"", 0, false};

		rc = read_cell(r, line, i + 1 < n ? &f[i + 1] : &none, i);
	}
	t->rows += rc == 0;
	return rc;
}

/* In the order of loads; few rows, so that the simplest way will do. */
static int sort_rows(struct reading *r)
{
	struct ww_runtime_table *t = r->t;
	size_t m = t->models;

	for (size_t i = 1; i < t->rows; i++) {
		for (size_t k = i; k > 0 && t->load[k] < t->load[k - 1]; k--) {
			double x = t->load[k];

			t->load[k] = t->load[k - 1];
			t->load[k - 1] = x;
			for (size_t c = 0; c < m; c++) {
				double a = t->minutes[k * m + c], s = t->step[k * m + c];

				t->minutes[k * m + c] = t->minutes[(k - 1) * m + c];
				t->step[k * m + c] = t->step[(k - 1) * m + c];
				t->minutes[(k - 1) * m + c] = a;
				t->step[(k - 1) * m + c] = s;
			}
		}
	}
	for (size_t i = 1; i < t->rows; i++) {
		char load[32];

		if (t->load[i] == floor(t->load[i]))
			ww_fixed_text(load, sizeof(load), t->load[i], 0);
		else
			ww_num_text(load, sizeof(load), t->load[i]);
		if (t->load[i] == t->load[i - 1])
			return ww_fail(r->err, -EINVAL, "%s: the load of %s %s is there twice",
				       r->name, load, t->unit);
	}
	return 0;
}

static int read_lines(struct reading *r, const char *text, size_t n, const char *given)
{
	size_t at = ww_csv_bom(text, n), line = 0, len, step;
	int rc = 0;

	while (rc == 0 && (step = ww_csv_line(text + at, n - at, &len)) > 0) {
		const char *p = text + at;
		struct ww_field f[WW_RT_MODELS + 1];
		struct ww_num num;
		size_t fields;

		at += step;
		line++;
		if (ww_csv_blank(p, len))
			continue;
		if (memchr(p, '\0', len))
			return ww_fail(r->err, -EINVAL, "%s:%zu: no text", r->name, line);
		fields = ww_csv_split(&r->d, p, len, f, WW_COUNTOF(f));
		if (fields > WW_COUNTOF(f))
			return ww_fail(r->err, -EINVAL, "%s:%zu: more than %d models", r->name,
				       line, WW_RT_MODELS);
		if (r->t->models == 0 &&
		    ww_num_read(f[0].p, f[0].n, r->d.comma, &num) == WW_NUM_OK) {
			rc = number_models(r, fields, given);
			if (rc == 0)
				rc = read_row(r, line, f, fields);
		} else if (r->t->models == 0) {
			rc = read_head(r, f, fields, given);
		} else {
			rc = read_row(r, line, f, fields);
		}
	}
	if (rc == 0 && r->t->rows == 0)
		rc = ww_fail(r->err, -EINVAL, "%s: no loads", r->name);
	return rc == 0 ? sort_rows(r) : rc;
}

int ww_runtime_table_parse(const char *text, size_t n, const char *name, const char *unit,
			   struct ww_runtime_table **out, struct ww_error *err)
{
	struct reading r = {.d = ww_csv_guess(text, n), .name = name ? name : "table", .err = err};
	int rc;

	r.t = calloc(1, sizeof(*r.t));
	if (r.t)
		r.t->name = strdup(r.name);
	if (!r.t || !r.t->name) {
		ww_runtime_table_free(r.t);
		return ww_fail_nomem(err);
	}
	rc = read_lines(&r, text, n, unit);
	if (rc < 0) {
		ww_runtime_table_free(r.t);
		return rc;
	}
	*out = r.t;
	return 0;
}

const char *ww_runtime_table_unit(const struct ww_runtime_table *t)
{
	return t->unit;
}

const char *ww_runtime_table_model(const struct ww_runtime_table *t, size_t i)
{
	return i < t->models ? t->model[i] : NULL;
}

void ww_runtime_table_free(struct ww_runtime_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < WW_RT_MODELS; i++)
		free(t->model[i]);
	free(t->name);
	free(t->load);
	free(t->minutes);
	free(t->step);
	free(t);
}

/* SPDX-License-Identifier: MIT */
/* Rows that grow, with the decimals that the file shows. */
#include "import/import.h"

#include <math.h>
#include <stdio.h>

/* Doubles hold so many digits of a code. */
#define CODE_MOST     INT64_C(9000000000000000)
#define DECIMALS_MOST 15
#define WATTS_MOST    1e9  /* no reading of a meter: W, V, A */
#define VALUE_MOST    1e12 /* ... Wh, Hz, anything else */

static const int64_t ten[] = {1,
			      10,
			      100,
			      1000,
			      10000,
			      100000,
			      1000000,
			      10000000,
			      100000000,
			      1000000000,
			      10000000000,
			      100000000000,
			      1000000000000,
			      10000000000000,
			      100000000000000,
			      1000000000000000,
			      10000000000000000,
			      100000000000000000,
			      1000000000000000000};

struct ww_table *ww_import_table(struct ww_import *im, const char *name, struct ww_error *err)
{
	struct ww_table *list = realloc(im->table, (im->tables + 1) * sizeof(*list)), *t;
	struct ww_str plain = {0};

	if (!list) {
		ww_fail_nomem(err);
		return NULL;
	}
	im->table = list;
	t = &list[im->tables];
	memset(t, 0, sizeof(*t));
	t->driver = im->format;
	ww_str_plain(&plain, name);
	if (ww_str_take(&plain, &t->name, err) < 0)
		return NULL;
	im->tables++;
	return t;
}

static bool name_taken(const struct ww_table *t, const char *name)
{
	for (size_t i = 0; i < t->columns; i++)
		if (strcmp(t->column[i].name, name) == 0)
			return true;
	return false;
}

int ww_table_column(struct ww_table *t, const char *name, const char *quantity, const char *unit,
		    int semantics, struct ww_error *err)
{
	struct ww_column *c = &t->column[t->columns];
	struct ww_str s = {0};

	if (t->columns == WW_COUNTOF(t->column))
		return ww_fail(err, -EINVAL, "more than %zu columns", WW_COUNTOF(t->column));
	ww_str_plain(&s, name);
	for (unsigned i = 2; !s.bad && name_taken(t, s.p ? s.p : ""); i++) {
		ww_str_reset(&s);
		ww_str_plain(&s, name);
		ww_str_addf(&s, "_%u", i);
	}
	*c = (struct ww_column){.quantity = quantity,
				.unit = unit,
				.semantics = semantics,
				.fewest = INT32_MAX};
	if (ww_str_take(&s, &c->name, err) < 0)
		return -ENOMEM;
	t->columns++;
	if (t->cap == 0)
		return (int)t->columns - 1;
	c->code = malloc(t->cap * sizeof(*c->code));
	if (!c->code)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < t->rows; i++)
		c->code[i] = WW_MISSING;
	return (int)t->columns - 1;
}

/* Room for one more, in all arrays alike. */
static int grow(struct ww_table *t, struct ww_error *err)
{
	size_t cap = t->cap ? 2 * t->cap : 1024;
	int64_t *p = realloc(t->hi, cap * sizeof(*p));

	if (!p)
		return ww_fail_nomem(err);
	t->hi = p;
	for (size_t i = 0; i < t->columns; i++) {
		p = realloc(t->column[i].code, cap * sizeof(*p));
		if (!p)
			return ww_fail_nomem(err);
		t->column[i].code = p;
	}
	if (t->lo) {
		p = realloc(t->lo, cap * sizeof(*p));
		if (!p)
			return ww_fail_nomem(err);
		t->lo = p;
	}
	t->cap = cap;
	return 0;
}

int ww_table_row(struct ww_table *t, int64_t hi, struct ww_error *err)
{
	if (t->rows == t->cap && grow(t, err) < 0)
		return -ENOMEM;
	t->hi[t->rows] = hi;
	for (size_t i = 0; i < t->columns; i++)
		t->column[i].code[t->rows] = WW_MISSING;
	t->rows++;
	return 0;
}

int ww_table_lo(struct ww_table *t, int64_t lo, struct ww_error *err)
{
	if (!t->lo) {
		t->lo = malloc(t->cap * sizeof(*t->lo));
		if (!t->lo)
			return ww_fail_nomem(err);
		memcpy(t->lo, t->hi, t->rows * sizeof(*t->lo));
	}
	t->lo[t->rows - 1] = lo;
	return 0;
}

static int64_t divide(int64_t v, int64_t by)
{
	return (v < 0 ? v - by / 2 : v + by / 2) / by;
}

/* All codes of a column with another number of decimals. */
static void set_decimals(struct ww_column *c, size_t rows, int decimals)
{
	int by = decimals - c->decimals;

	for (size_t i = 0; i < rows; i++)
		if (c->code[i] >= WW_CODE_MIN)
			c->code[i] = by > 0 ? c->code[i] * ten[by] : divide(c->code[i], ten[-by]);
	c->most = by > 0 ? c->most * ten[by] : divide(c->most, ten[-by]);
	c->decimals = decimals;
}

/* More decimals as far as the greatest code leaves room for them. */
static void want_decimals(struct ww_column *c, size_t rows, int decimals)
{
	int to = c->decimals;

	if (c->capped || decimals <= to)
		return;
	while (to < decimals && to < DECIMALS_MOST &&
	       c->most <= CODE_MOST / ten[to + 1 - c->decimals])
		to++;
	c->capped = to < decimals;
	if (to > c->decimals)
		set_decimals(c, rows, to);
}

static int64_t scaled(int64_t code, int by)
{
	if (by >= 0)
		return code * ten[by];
	return -by < (int)WW_COUNTOF(ten) ? divide(code, ten[-by]) : 0;
}

static bool fits(int64_t most, int by)
{
	if (by >= (int)WW_COUNTOF(ten))
		return most == 0;
	return by >= 0 ? most <= CODE_MOST / ten[by] : scaled(most, by) <= CODE_MOST;
}

void ww_table_put(struct ww_table *t, size_t column, int kind, const struct ww_num *v, int exponent)
{
	struct ww_column *c = &t->column[column];
	int64_t *code = &c->code[t->rows - 1];
	int decimals = v->decimals - exponent;
	int64_t most = v->code < 0 ? -v->code : v->code;
	bool over = kind == WW_NUM_OVER, under = kind == WW_NUM_UNDER;

	if (kind == WW_NUM_OK) {
		double size = fabs(v->value) * pow(10, exponent);
		double most_seen = *c->unit && !c->unit[1] && strchr("WVA", *c->unit) ? WATTS_MOST
										      : VALUE_MOST;

		over = size > most_seen && v->code > 0;
		under = size > most_seen && v->code < 0;
	}
	c->missing += kind == WW_NUM_MISSING || kind == WW_NUM_TEXT;
	c->empty += kind == WW_NUM_EMPTY;
	c->over += over || under;
	*code = over ? WW_OVER : under ? WW_UNDER : WW_MISSING;
	if (kind != WW_NUM_OK || over || under)
		return;
	c->fewest = decimals < c->fewest ? decimals : c->fewest;
	if (most == 0)
		decimals = decimals < 0 ? 0 : decimals > DECIMALS_MOST ? DECIMALS_MOST : decimals;
	want_decimals(c, t->rows - 1, decimals);
	while (c->decimals > 0 && !fits(most, c->decimals - decimals)) {
		set_decimals(c, t->rows - 1, c->decimals - 1);
		c->capped = true;
	}
	*code = most == 0 ? 0 : scaled(v->code, c->decimals - decimals);
	most = *code < 0 ? -*code : *code;
	c->most = most > c->most ? most : c->most;
}

int ww_table_break(struct ww_table *t, int64_t lost, const char *reason, struct ww_error *err)
{
	struct ww_break *b;

	if (t->breaks) {
		b = &t->brk[t->breaks - 1];
		/* The same hole goes on. */
		if (b->row == t->rows && b->reason == reason) {
			b->lost = b->lost < 0 || lost < 0 ? -1 : b->lost + lost;
			return 0;
		}
	}
	if ((t->breaks & (t->breaks - 1)) == 0) {
		b = realloc(t->brk, (t->breaks ? 2 * t->breaks : 1) * sizeof(*b));
		if (!b)
			return ww_fail_nomem(err);
		t->brk = b;
	}
	t->brk[t->breaks++] = (struct ww_break){t->rows, lost, reason};
	return 0;
}

int ww_table_label(struct ww_table *t, const char *kind, const char *text, size_t n,
		   struct ww_error *err)
{
	struct ww_field f = {text, n, true};
	struct ww_str s = {0};
	char *copy;

	if ((t->labels & (t->labels - 1)) == 0) {
		struct ww_label *list =
			realloc(t->label, (t->labels ? 2 * t->labels : 1) * sizeof(*list));

		if (!list)
			return ww_fail_nomem(err);
		t->label = list;
	}
	ww_field_text(&f, &s);
	if (ww_str_take(&s, &copy, err) < 0)
		return -ENOMEM;
	t->label[t->labels++] =
		(struct ww_label){.row = t->rows ? t->rows - 1 : 0, .kind = kind, .text = copy};
	return 0;
}

double ww_column_value(const struct ww_column *c, size_t row)
{
	return c->code[row] < WW_CODE_MIN ? (double)NAN
					  : (double)c->code[row] / (double)ten[c->decimals];
}

#define STEP_PART   0.995 /* of the values are multiples of it */
#define STEP_VALUES 8	  /* different ones, or more than a digit is chance */

double ww_column_step(const struct ww_column *c, size_t rows)
{
	static const int ladder[] = {1, 2, 5};
	int64_t seen[STEP_VALUES], best = 1;
	size_t distinct = 0, n = 0, k;

	for (size_t i = 0; i < rows; i++) {
		if (c->code[i] < WW_CODE_MIN)
			continue;
		n++;
		for (k = 0; k < distinct && seen[k] != c->code[i]; k++)
			;
		if (k == distinct && distinct < STEP_VALUES)
			seen[distinct++] = c->code[i];
	}
	for (int e = 0; distinct == STEP_VALUES && e < 3 * DECIMALS_MOST; e++) {
		int64_t q = ladder[e % 3] * ten[e / 3];
		size_t fit = 0;

		for (size_t i = 0; i < rows; i++)
			fit += c->code[i] >= WW_CODE_MIN && c->code[i] % q == 0;
		if ((double)fit >= STEP_PART * (double)n)
			best = q;
		else if (ladder[e % 3] == 1)
			break; /* no multiple of it will do */
	}
	return n ? (double)best / (double)ten[c->decimals] : 0;
}

static void table_free(struct ww_table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		free(t->column[i].name);
		free(t->column[i].code);
	}
	for (size_t i = 0; i < t->labels; i++)
		free(t->label[i].text);
	free(t->label);
	free(t->brk);
	free(t->lo);
	free(t->hi);
	free(t->model);
	free(t->name);
}

void ww_import_free(struct ww_import *im)
{
	for (size_t i = 0; i < im->tables; i++)
		table_free(&im->table[i]);
	free(im->table);
	ww_notes_free(&im->notes);
}

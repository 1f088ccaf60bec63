/* SPDX-License-Identifier: MIT */
/* Numbers in lines and columns: one a line, with labels, or a column for each variant. */
#include "text/csv.h"
#include "text/numbers.h"

#include <math.h>
#include <stdio.h>

#define COLUMNS 64

struct column {
	size_t numbers, texts, missing;
	bool same;	     /* all its texts are the first one */
	struct ww_str head;  /* its name, if there is a head */
	struct ww_str first; /* its first text below the head */
	struct ww_str measure, unit;
};

struct table {
	const char *text, *name;
	size_t n;
	struct ww_csv d;
	size_t columns;
	size_t rows; /* below the head */
	bool has_head;
	struct column col[COLUMNS];
	size_t use[COLUMNS]; /* columns of numbers */
	size_t uses;
	size_t label; /* COLUMNS: none */
	struct ww_numbers *x;
	struct ww_error *err;
};

/* What other programs write where a run gave no value. */
static bool failed(const struct ww_field *f)
{
	static const char *const words[] = {"failed",	     "fail",	       "error",
					    "timeout",	     "killed",	       "crashed",
					    "<not counted>", "<not supported>"};

	for (size_t i = 0; i < WW_COUNTOF(words); i++)
		if (ww_field_is(f, words[i]))
			return true;
	return false;
}

static int field_kind(const struct table *t, const struct ww_field *f, struct ww_num *num)
{
	int kind = ww_num_read(f->p, f->n, t->d.comma, num);

	if (kind == WW_NUM_OK && !(fabs(num->value) <= WW_NUMBERS_MOST))
		return WW_NUM_OVER;
	return kind == WW_NUM_TEXT && failed(f) ? WW_NUM_MISSING : kind;
}

/* Calls with each line that holds something. */
typedef int line_fn(struct table *t, size_t number, const struct ww_field *f, size_t n);

static int each_line(struct table *t, bool head_too, line_fn *fn)
{
	size_t at = ww_csv_bom(t->text, t->n), number = 0, len, step, seen = 0;

	while ((step = ww_csv_line(t->text + at, t->n - at, &len)) > 0) {
		const char *line = t->text + at;
		struct ww_field f[COLUMNS];
		size_t n;
		int rc = 0;

		at += step;
		number++;
		if (ww_csv_blank(line, len))
			continue;
		if (memchr(line, '\0', len))
			return ww_fail(t->err, -EINVAL, "%s:%zu: no text", t->name, number);
		n = ww_csv_split(&t->d, line, len, f, COLUMNS);
		if (n > COLUMNS)
			return ww_fail(t->err, -EINVAL, "%s:%zu: more than %d columns", t->name,
				       number, COLUMNS);
		if (seen++ > 0 || head_too || !t->has_head)
			rc = fn(t, number, f, n);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int find_head(struct table *t, size_t number, const struct ww_field *f, size_t n)
{
	struct ww_num num;
	size_t texts = 0, numbers = 0;

	(void)number;
	if (t->rows++ > 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int kind = field_kind(t, &f[i], &num);

		texts += kind == WW_NUM_TEXT;
		numbers += kind == WW_NUM_OK;
	}
	t->has_head = texts > 0 && numbers == 0;
	for (size_t i = 0; t->has_head && i < n; i++)
		ww_field_text(&f[i], &t->col[i].head);
	return 0;
}

static int count(struct table *t, size_t number, const struct ww_field *f, size_t n)
{
	(void)number;
	t->columns = n > t->columns ? n : t->columns;
	for (size_t i = 0; i < n; i++) {
		struct column *c = &t->col[i];
		struct ww_num num;
		int kind = field_kind(t, &f[i], &num);

		c->numbers += kind == WW_NUM_OK;
		c->missing += kind == WW_NUM_MISSING;
		if (kind != WW_NUM_TEXT && kind != WW_NUM_OVER && kind != WW_NUM_UNDER)
			continue;
		if (c->texts++ == 0) {
			c->same = true;
			ww_field_text(&f[i], &c->first);
		} else {
			struct ww_str s = {0};

			ww_field_text(&f[i], &s);
			c->same = c->same && s.p && c->first.p && strcmp(s.p, c->first.p) == 0;
			c->first.bad = c->first.bad || s.bad;
			ww_str_free(&s);
		}
	}
	return 0;
}

static const char *str(const struct ww_str *s)
{
	return s->p ? s->p : "";
}

/* "2" or the name in the head. */
static int column_named(struct table *t, const char *what, size_t len, size_t *out)
{
	size_t number = 0;

	for (size_t i = 0; i < t->columns; i++) {
		const char *head = str(&t->col[i].head);

		if (t->has_head && strlen(head) == len && strncmp(head, what, len) == 0) {
			*out = i;
			return 0;
		}
	}
	for (size_t i = 0; i < len && number < 1000; i++)
		number = what[i] >= '0' && what[i] <= '9' ? number * 10 + (size_t)(what[i] - '0')
							  : 10000;
	if (number >= 1 && number <= t->columns) {
		*out = number - 1;
		return 0;
	}
	return ww_fail(t->err, -ENOENT, "%s: no column '%.*s'; there %s %zu%s", t->name, (int)len,
		       what, t->columns == 1 ? "is" : "are", t->columns,
		       t->has_head ? ", named in the first line" : ", and no line of names");
}

static int columns_asked(struct table *t, const char *list)
{
	size_t whole;

	/* A name may itself hold a comma. */
	for (whole = 0; whole < t->columns; whole++)
		if (t->has_head && strcmp(str(&t->col[whole].head), list) == 0)
			break;
	if (whole < t->columns) {
		t->use[t->uses++] = whole;
		return 0;
	}
	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		int rc = t->uses == COLUMNS ? -EINVAL
					    : column_named(t, p, strcspn(p, ","), &t->use[t->uses]);

		if (rc < 0)
			return ww_fail(t->err, rc, "%s: too many columns asked for", t->name);
		t->uses++;
	}
	return 0;
}

static bool is_unit(const char *s)
{
	static const char *const units[] = {"J",  "mJ",	     "kJ",    "Wh", "kWh", "mWh",
					    "W",  "mW",	     "kW",    "VA", "s",   "ms",
					    "us", "ns",	     "min",   "h",  "Hz",  "Joules",
					    "µs", "seconds", "watts", "%"};

	for (size_t i = 0; i < WW_COUNTOF(units); i++)
		if (strcmp(s, units[i]) == 0)
			return true;
	return false;
}

static int names(struct table *t)
{
	struct ww_str s = {0};
	int rc;

	for (size_t i = 0; i < t->columns; i++) {
		ww_str_add(&s, i ? ", " : "");
		if (t->has_head)
			ww_str_add(&s, str(&t->col[i].head));
		else
			ww_str_addf(&s, "%zu", i + 1);
		if (t->col[i].texts > 0 && t->col[i].numbers == 0)
			ww_str_add(&s, " (text)");
	}
	rc = ww_fail(t->err, -EINVAL,
		     "%s: which column holds the numbers? There are %s; name it with --column%s",
		     t->name, str(&s),
		     t->d.sep == ',' && t->columns == 2
			     ? "; if the commas are decimal ones, write points"
			     : "");
	ww_str_free(&s);
	return rc;
}

/* The columns of numbers where nobody named one. */
static int guess_columns(struct table *t)
{
	size_t found = 0, last = 0;

	for (size_t i = 0; i < t->columns; i++) {
		/* One word among numbers is a mistake to be told, not another kind of column. */
		if (i != t->label && t->col[i].numbers && t->col[i].numbers >= t->col[i].texts) {
			last = i;
			found++;
		}
	}
	if (found == 0)
		return ww_fail(t->err, -EINVAL,
			       "%s: no column of numbers; a list has one a line, as in 12.3",
			       t->name);
	/* Two columns with names, side by side: two variants. */
	if (found == 2 && t->columns == 2 && t->has_head) {
		t->use[t->uses++] = 0;
		t->use[t->uses++] = 1;
		ww_note(&t->x->notes, "%s: '%s' and '%s' are taken as two variants in columns",
			t->name, str(&t->col[0].head), str(&t->col[1].head));
		return 0;
	}
	if (found > 1)
		return names(t);
	t->use[t->uses++] = last;
	return 0;
}

static int choose(struct table *t, const struct ww_numbers_options *opt)
{
	const char *column = WW_OPT(opt, column, NULL), *label = WW_OPT(opt, label, NULL);
	size_t texts = 0, at = COLUMNS;
	int rc = 0;

	t->label = COLUMNS;
	if (label)
		rc = column_named(t, label, strlen(label), &t->label);
	if (rc == 0)
		rc = column ? columns_asked(t, column) : guess_columns(t);
	if (rc < 0 || label)
		return rc;
	for (size_t i = 0; i < t->columns; i++) {
		if (i != t->use[0] && t->col[i].texts > 0 && t->col[i].numbers == 0) {
			at = i;
			texts++;
		}
	}
	if (t->uses == 1 && texts == 1 && t->col[at].same && is_unit(str(&t->col[at].first))) {
		ww_str_add(&t->col[t->use[0]].unit, str(&t->col[at].first));
	} else if (t->uses == 1 && texts == 1) {
		t->label = at;
	} else if (t->uses == 1 && texts > 1) {
		ww_note(&t->x->notes,
			"%s: several columns of text, and none was named with --label: all numbers "
			"are one set",
			t->name);
	}
	return 0;
}

/* "energy (J)", "energy [J]", "energy_J", "energy in J" are "energy" and "J". */
static void divide_head(struct column *c)
{
	const char *head = str(&c->head), *open = strpbrk(head, "([");
	size_t n = open ? (size_t)(open - head) : strlen(head), unit = 0;

	if (open && open[1]) {
		unit = strcspn(open + 1, ")]");
		if (!c->unit.n)
			ww_str_addn(&c->unit, open + 1, unit);
	} else {
		size_t at = n;

		while (at > 0 && head[at - 1] != '_' && head[at - 1] != ' ')
			at--;
		if (at > 1 && is_unit(head + at)) {
			if (!c->unit.n)
				ww_str_add(&c->unit, head + at);
			n = at - 1;
		}
	}
	while (n > 0 && (head[n - 1] == ' ' || head[n - 1] == '_'))
		n--;
	ww_str_addn(&c->measure, head, n);
	for (size_t i = 0; i < c->measure.n; i++)
		if (c->measure.p[i] == '_')
			c->measure.p[i] = ' ';
}

/* The unit behind a number must be that of the others. */
static int check_unit(struct table *t, size_t number, struct column *c, const struct ww_num *num)
{
	if (num->unit_n == 0)
		return 0;
	if (c->unit.n == 0)
		ww_str_addn(&c->unit, num->unit, num->unit_n);
	if (c->unit.n == num->unit_n && strncmp(str(&c->unit), num->unit, num->unit_n) == 0)
		return 0;
	return ww_fail(t->err, -EINVAL, "%s:%zu: in %.*s, but in %s before; use one unit", t->name,
		       number, (int)num->unit_n, num->unit, str(&c->unit));
}

static int group_of(struct table *t, size_t number, const struct ww_field *f, size_t n,
		    const struct column *c)
{
	struct ww_str s = {0};
	int rc;

	if (t->label < n)
		ww_field_text(&f[t->label], &s);
	else if (t->uses > 1)
		ww_str_add(&s, str(&c->head));
	if (t->uses > 1 && t->label == COLUMNS && s.n == 0)
		ww_str_addf(&s, "column %zu", (size_t)(c - t->col) + 1);
	/* Columns of variants have no measure of their own. */
	rc = s.bad ? -ENOMEM
		   : ww_numbers_group(t->x, str(&s), t->uses > 1 ? "" : str(&c->measure),
				      str(&c->unit));
	ww_str_free(&s);
	if (rc == -E2BIG)
		return ww_fail(t->err, rc,
			       "%s:%zu: more than %d different labels; is it the right column?",
			       t->name, number, WW_NUMBERS_GROUPS);
	return rc < 0 ? ww_fail_nomem(t->err) : rc;
}

static int add_field(struct table *t, size_t number, const struct ww_field *f, size_t n, size_t at)
{
	static const struct ww_field none = {"", 0, false};
	const struct ww_field *v = at < n ? &f[at] : &none;
	struct column *c = &t->col[at];
	struct ww_num num = {0};
	int kind = field_kind(t, v, &num), group;

	if (kind == WW_NUM_TEXT || kind == WW_NUM_OVER || kind == WW_NUM_UNDER)
		return ww_fail(
			t->err, -EINVAL,
			"%s:%zu: '%.*s' is no number that can be compared; a run that failed "
			"is written as 'failed'",
			t->name, number, (int)(v->n > 40 ? 40 : v->n), v->p);
	/* Columns side by side may be of different length. */
	if (kind == WW_NUM_EMPTY && (t->uses > 1 || t->columns == 1))
		return 0;
	if (kind == WW_NUM_OK && check_unit(t, number, c, &num) < 0)
		return -EINVAL;
	group = group_of(t, number, f, n, c);
	if (group < 0)
		return group;
	if (ww_numbers_add(t->x, (size_t)group, kind == WW_NUM_OK ? num.value : NAN,
			   (double)(t->rows)) < 0)
		return ww_fail_nomem(t->err);
	return 0;
}

static int add(struct table *t, size_t number, const struct ww_field *f, size_t n)
{
	int rc = 0;

	t->rows++;
	for (size_t i = 0; rc == 0 && i < t->uses; i++)
		rc = add_field(t, number, f, n, t->use[i]);
	return rc;
}

/*
 * A head of one field above lines of two: the comma is a decimal one. (A list without a
 * head could be either, and is refused where nobody says which column is meant.)
 */
static int decimal_comma(struct table *t)
{
	if (t->d.sep != ',' || !t->has_head || t->col[0].head.n == 0 || t->col[1].head.n ||
	    t->columns != 2 || t->col[0].texts || t->col[1].texts || t->col[1].missing)
		return 0;
	t->d = (struct ww_csv){.sep = ';', .comma = true};
	t->columns = 0;
	for (size_t i = 0; i < COLUMNS; i++)
		t->col[i].numbers = t->col[i].missing = 0;
	return each_line(t, false, count);
}

static int read_table(struct table *t, const struct ww_numbers_options *opt)
{
	int rc = each_line(t, true, find_head);

	if (rc == 0)
		rc = each_line(t, false, count);
	if (rc == 0)
		rc = decimal_comma(t);
	if (rc == 0 && t->columns == 0)
		rc = ww_fail(t->err, -EINVAL, "%s: no numbers", t->name);
	if (rc == 0)
		rc = choose(t, opt);
	for (size_t i = 0; rc == 0 && i < t->uses; i++)
		divide_head(&t->col[t->use[i]]);
	t->rows = 0;
	if (rc == 0)
		rc = each_line(t, false, add);
	for (size_t i = 0; i < COLUMNS; i++) {
		struct column *c = &t->col[i];

		if (rc == 0 && (c->head.bad || c->first.bad || c->measure.bad || c->unit.bad))
			rc = ww_fail_nomem(t->err);
	}
	return rc;
}

int ww_numbers_table(const char *text, size_t n, const struct ww_numbers_options *opt,
		     struct ww_numbers *x, struct ww_error *err)
{
	const char *name = WW_OPT(opt, name, NULL);
	struct table *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return ww_fail_nomem(err);
	t->text = text;
	t->n = n;
	t->name = name ? name : "numbers";
	t->d = ww_csv_guess(text, n);
	t->x = x;
	t->err = err;
	rc = read_table(t, opt);
	for (size_t i = 0; i < COLUMNS; i++) {
		ww_str_free(&t->col[i].head);
		ww_str_free(&t->col[i].first);
		ww_str_free(&t->col[i].measure);
		ww_str_free(&t->col[i].unit);
	}
	free(t);
	return rc;
}

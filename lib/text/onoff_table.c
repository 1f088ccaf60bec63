/* SPDX-License-Identifier: MIT */
/*
 * The typed table. Form A: what changed, and the reading. Form B: one column of 0 and 1
 * for each device, and the reading. VA, PF, V, A may follow.
 */
#include "text/onoff_table.h"

#include <math.h>
#include <stdio.h>

/* Digits up to a colon or the end, at most two. @return what follows, NULL: none */
static const char *two_digits(const char *p, const char *end, double *v)
{
	const char *first = p;

	for (*v = 0; p < end && p < first + 2 && *p >= '0' && *p <= '9'; p++)
		*v = *v * 10 + (*p - '0');
	if (p == first || (p < end && *p != ':'))
		return NULL;
	return p < end ? p + 1 : p;
}

/* "14:05", "14:05:30" in seconds. */
static bool time_of_day(const struct ww_field *f, double *out)
{
	const char *end = f->p + f->n, *p = f->p;
	double part[3] = {0};
	size_t n = 0;

	while (p && p < end && n < 3)
		p = two_digits(p, end, &part[n++]);
	*out = part[0] * 3600 + part[1] * 60 + part[2];
	return p == end && n > 1 && end[-1] != ':' && part[1] < 60 && part[2] < 61;
}

static int read_time(struct ww_onoff_parse *t, const struct ww_field *f, double scale, double *out)
{
	struct ww_onoff_number num;

	*out = (double)NAN;
	if (f->n == 0)
		return 0;
	if (memchr(f->p, ':', f->n)) {
		if (!time_of_day(f, out))
			return ww_onoff_bad(t, "is not a time", f,
					    "write seconds, 14:05 or 14:05:30");
		*out += t->day_s;
		if (*out < t->last_s) {
			t->day_s += 86400;
			*out += 86400;
		}
		t->last_s = *out;
		return 0;
	}
	if (ww_onoff_number(f->p, f->n, "", scale, &num) != 1)
		return ww_onoff_bad(t, "is not a time", f, "write seconds, 14:05 or 14:05:30");
	*out = num.value;
	return 0;
}

static int read_figure(struct ww_onoff_parse *t, const struct ww_field *f, enum column kind,
		       double scale, struct ww_onoff_reading *r)
{
	static const char *const unit[] = {
		[C_WATTS] = "W", [C_U] = "W", [C_UU] = "W", [C_VA] = "VA",
		[C_PF] = "",	 [C_V] = "V", [C_A] = "A"};
	struct ww_onoff_number n;
	int rc = ww_onoff_number(f->p, f->n, unit[kind], scale, &n);

	if (rc < 0 && kind == C_WATTS)
		return ww_onoff_bad(t, "is not a reading in W", f, "");
	if (rc < 0)
		return ww_onoff_bad(t, "is not a figure in", f,
				    *unit[kind] ? unit[kind] : "a ratio");
	if (rc == 0)
		return 0;
	if (kind == C_WATTS) {
		r->watts = n.value;
		r->step = n.step;
		r->u = isnan(n.u) ? r->u : n.u;
	} else if (kind == C_U || kind == C_UU) {
		r->u = kind == C_U ? n.value : n.value / 2;
	} else {
		*(kind == C_VA	 ? &r->va
		  : kind == C_PF ? &r->pf
		  : kind == C_V	 ? &r->v
				 : &r->a) = n.value;
	}
	if (kind == C_PF && !(n.value >= -1 && n.value <= 1))
		return ww_onoff_bad(t, "is not a power factor", f, "it lies between 0 and 1");
	return r->u < 0 ? ww_onoff_bad(t, "is not an uncertainty", f, "") : 1;
}

/* Figures behind the watts that no header names: by their unit, else in this order. */
static enum column unnamed(const struct ww_field *f, size_t k)
{
	static const enum column order[] = {C_VA, C_PF, C_V, C_A};
	static const char *const unit[] = {"VA", "", "V", "A"};
	struct ww_onoff_number n;
	enum column found = C_PASS;

	for (size_t i = 0; i < WW_COUNTOF(order); i++)
		if (f->n && (f->p[f->n - 1] < '0' || f->p[f->n - 1] > '9') &&
		    ww_onoff_number(f->p, f->n, unit[i], 1, &n) == 1 && *unit[i])
			return order[i];
	if (k < WW_COUNTOF(order) && ww_onoff_number(f->p, f->n, unit[k], 1, &n) >= 0)
		found = order[k];
	return found;
}

/* "40,5" between commas is 40.5, or 40 and another figure: nobody can tell. */
static bool split_decimal(const struct ww_onoff_parse *t, const struct ww_field *f, size_t n)
{
	size_t next = t->watts + 1;
	const struct ww_field *a = &f[t->watts], *b = &f[next];

	if (t->by_blank || t->dialect.sep != ',' || next >= n || (t->headed && n <= t->columns))
		return false;
	return a->n && b->n && b->p == a->p + a->n + 1 && !memchr(a->p, '.', a->n) &&
	       *b->p >= '0' && *b->p <= '9' && !memchr(b->p, '.', b->n);
}

static int read_row(struct ww_onoff_parse *t, const struct ww_field *f, size_t n)
{
	struct ww_onoff_reading r = {.line = t->line,
				     .u = (double)NAN,
				     .va = (double)NAN,
				     .pf = (double)NAN,
				     .v = (double)NAN,
				     .a = (double)NAN,
				     .t_s = (double)NAN,
				     .watts = (double)NAN};
	int rc = 0;

	if (split_decimal(t, f, n))
		return ww_fail(t->err, -EINVAL,
			       "%s:%zu: '%.*s' may be one number or two columns; write a decimal "
			       "point, or put ';' between the columns",
			       t->name, t->line, (int)(f[t->watts].n + 1 + f[t->watts + 1].n),
			       f[t->watts].p);
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		enum column kind = t->headed	   ? (i < t->columns ? t->kind[i] : C_PASS)
				   : i < t->watts  ? C_DEVICE
				   : i == t->watts ? C_WATTS
						   : unnamed(&f[i], i - t->watts - 1);

		if (kind == C_TIME)
			rc = read_time(t, &f[i], t->headed ? t->scale[i] : 1, &r.t_s);
		else if (kind != C_DEVICE && kind != C_PASS)
			rc = read_figure(t, &f[i], kind, t->headed ? t->scale[i] : 1, &r);
	}
	if (rc < 0)
		return rc;
	if (isnan(r.watts)) {
		t->unfilled++;
		return 0;
	}
	return ww_onoff_read(t->o, &r, t->err);
}

static int set_states(struct ww_onoff_parse *t, const struct ww_field *f, size_t n)
{
	if (t->headed && n <= t->watts)
		return ww_fail(t->err, -EINVAL, "%s:%zu: %zu column%s; the header has %zu", t->name,
			       t->line, n, n == 1 ? "" : "s", t->columns);
	for (size_t i = 0; i < FIELDS; i++) {
		int state;

		if (t->device[i] < 0)
			continue;
		if (i >= n)
			state = 0;
		else if (ww_onoff_is_number(&f[i]) && !ww_onoff_is_bit(&f[i]))
			return ww_onoff_bad(t, "is neither 0 nor 1", &f[i],
					    "write on, off or the name of a state");
		else
			state = ww_onoff_state(t->o, (size_t)t->device[i], f[i].p, f[i].n, t->err);
		if (state < 0)
			return state;
		t->o->device[t->device[i]].now = (uint8_t)state;
	}
	return 0;
}

static int change(struct ww_onoff_parse *t, const struct ww_field *f)
{
	struct ww_str label = {0};
	char where[128];
	int rc;

	ww_field_text(f, &label);
	snprintf(where, sizeof(where), "%s:%zu", t->name, t->line);
	rc = label.bad ? ww_fail_nomem(t->err)
		       : ww_onoff_change(t->o, label.n ? label.p : "", label.n, where, t->line,
					 t->err);
	if (rc == WW_CHANGE_BARE) {
		ww_note(&t->o->notes,
			"%s:%zu: '%s' without + or - is taken as plugged in, in addition to what "
			"was there%s",
			t->name, t->line, label.p,
			t->bare++ ? ""
				  : "; where each was measured alone, take the last one out "
				    "(-name) or write a column of 0 and 1 for each");
		ww_str_reset(&label);
		ww_str_add(&label, "+");
		ww_field_text(f, &label);
		rc = label.bad ? ww_fail_nomem(t->err)
			       : ww_onoff_change(t->o, label.p, label.n, where, t->line, t->err);
	}
	ww_str_free(&label);
	return rc < 0 ? rc : 0;
}

/* "+disk 2" alone between commas is a name, or a reading without its comma. */
static int one_field(struct ww_onoff_parse *t, const struct ww_field *f)
{
	struct ww_onoff_number number;

	for (size_t i = 1; !f->quoted && i < f->n; i++)
		if ((f->p[i - 1] == ' ' || f->p[i - 1] == '\t') &&
		    ww_onoff_number(f->p + i, f->n - i, "W", 1, &number) == 1)
			return ww_fail(t->err, -EINVAL,
				       "%s:%zu: '%.*s' may be a name, or end with a reading; put "
				       "'%c' before the reading, or behind the name",
				       t->name, t->line, f->n < 60 ? (int)f->n : 60, f->p,
				       t->dialect.sep);
	return 0;
}

static int take_line(struct ww_onoff_parse *t, const struct ww_field *f, size_t n)
{
	struct ww_field none = {f[0].p + f[0].n, 0, false};
	int rc = 0;

	if (t->headed && !t->known)
		rc = ww_onoff_first(t, f, n);
	if (rc < 0)
		return rc;
	if (t->form_b) {
		rc = set_states(t, f, n);
	} else {
		size_t what = 0;

		while (t->headed && what < t->columns && t->kind[what] != C_DEVICE)
			what++;
		rc = n == 1 && !t->by_blank ? one_field(t, &f[0]) : 0;
		if (rc == 0)
			rc = change(t, what < n ? &f[what] : &none);
		if (rc == 0 && n == 1 && t->by_blank && n <= t->watts)
			return ww_onoff_bad(t, "has no reading in W at its end", &f[0],
					    "write '+box, 13'");
	}
	return rc < 0 ? rc : read_row(t, f, n);
}

/* "13; +box": the reading may also stand first. */
static void reading_first(const struct ww_onoff_parse *t, struct ww_field *f, size_t n)
{
	struct ww_field swap = f[0];

	if (t->form_b || n != 2 || f[1].n == 0 || ww_onoff_is_number(&f[1]) ||
	    !ww_onoff_is_number(&f[0]))
		return;
	f[0] = f[1];
	f[1] = swap;
}

static int take_lines(struct ww_onoff_parse *t, const char *text, size_t n)
{
	bool first = true;
	size_t step, len;
	int rc = 0;

	for (size_t at = 0; rc >= 0 && (step = ww_onoff_line(text + at, n - at, &len)) > 0;
	     at += step) {
		struct ww_field f[FIELDS];
		size_t k;

		t->line++;
		if (len == 0)
			continue;
		if (memchr(text + at, '\0', len))
			return ww_fail(t->err, -EINVAL, "%s:%zu: this is no text", t->name,
				       t->line);
		k = ww_onoff_split(t, text + at, len, f);
		if (!t->headed)
			reading_first(t, f, k);
		if (first && ww_onoff_is_header(f, k))
			rc = ww_onoff_header(t, f, k);
		else if (first)
			rc = ww_onoff_decide(t, text, n);
		if (rc >= 0 && (!first || !t->headed))
			rc = take_line(t, f, k);
		first = false;
	}
	return rc < 0 ? rc : 0;
}

int ww_onoff_table(struct ww_onoff *o, const char *name, const char *text, size_t n,
		   struct ww_error *err)
{
	struct ww_onoff_parse t = {.o = o, .name = name, .err = err};
	size_t bom = ww_csv_bom(text, n), before = o->readings;
	int rc;

	for (size_t i = 0; i < FIELDS; i++)
		t.device[i] = -1;
	ww_onoff_begin(o);
	ww_onoff_dialect(&t, text + bom, n - bom);
	rc = take_lines(&t, text + bom, n - bom);
	if (rc >= 0)
		rc = ww_onoff_end(o, err);
	/* A column of nothing but 0 is a device too, of which nothing was read. */
	for (size_t i = 0; rc >= 0 && i < o->devices; i++)
		if (o->device[i].states == 0)
			rc = ww_onoff_state(o, i, "on", 2, err);
	if (rc < 0)
		return rc;
	if (o->readings == before)
		return ww_fail(err, -EINVAL,
			       "%s: no line with a reading%s; write one a line, such as "
			       "'all unplugged, 1' and '+box, 13'",
			       name, t.unfilled ? ": none is filled in" : "");
	if (t.unfilled)
		ww_note(&o->notes, "%s: %zu line%s without a reading", name, t.unfilled,
			t.unfilled == 1 ? "" : "s");
	return o->notes.bad ? ww_fail_nomem(err) : 0;
}

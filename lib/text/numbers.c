/* SPDX-License-Identifier: MIT */
#include "text/numbers.h"

#include <math.h>

static char *copy(const char *text)
{
	return strdup(text ? text : "");
}

int ww_numbers_group(struct ww_numbers *x, const char *label, const char *measure, const char *unit)
{
	struct ww_numbers_list *more, *l;

	for (size_t i = 0; i < x->n; i++)
		if (strcmp(x->list[i].label, label) == 0)
			return (int)i;
	if (x->n == WW_NUMBERS_GROUPS)
		return -E2BIG;
	more = realloc(x->list, (x->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	x->list = more;
	l = &x->list[x->n++];
	*l = (struct ww_numbers_list){0};
	l->label = copy(label);
	l->measure = copy(measure);
	l->unit = copy(unit);
	return l->label && l->measure && l->unit ? (int)x->n - 1 : -ENOMEM;
}

int ww_numbers_add(struct ww_numbers *x, size_t group, double value, double when)
{
	struct ww_numbers_list *l = &x->list[group];

	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		double *more = realloc(l->value, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->value = more;
		more = realloc(l->when, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->when = more;
		l->cap = cap;
	}
	l->value[l->n] = value;
	l->when[l->n++] = when;
	return 0;
}

static int lend(struct ww_numbers *x)
{
	x->group = calloc(x->n ? x->n : 1, sizeof(*x->group));
	for (size_t i = 0; x->group && i < x->n; i++) {
		const struct ww_numbers_list *l = &x->list[i];

		x->group[i] = (struct ww_numbers_group){l->label, l->measure, l->unit,
							l->value, l->when,    l->n};
	}
	return x->group && !x->notes.bad ? 0 : -ENOMEM;
}

int ww_numbers_parse(const char *text, size_t n, const struct ww_numbers_options *opt,
		     struct ww_numbers **out, struct ww_error *err)
{
	const char *name = WW_OPT(opt, name, NULL);
	struct ww_numbers *x;
	int rc = WW_OPT_CHECK(opt, err);

	name = name ? name : "numbers";
	if (rc < 0)
		return rc;
	x = calloc(1, sizeof(*x));
	if (!x)
		return ww_fail_nomem(err);
	if (ww_hyperfine_is(text, n))
		rc = ww_hyperfine_parse(text, n, name, x, err);
	else
		rc = ww_numbers_table(text, n, opt, x, err);
	if (rc == 0 && x->n == 0)
		rc = ww_fail(err, -EINVAL, "%s: no numbers", name);
	if (rc == 0 && lend(x) < 0)
		rc = ww_fail_nomem(err);
	if (rc < 0) {
		ww_numbers_free(x);
		return rc;
	}
	*out = x;
	return 0;
}

const struct ww_numbers_group *ww_numbers_at(const struct ww_numbers *x, size_t i)
{
	return i < x->n ? &x->group[i] : NULL;
}

const char *ww_numbers_note(const struct ww_numbers *x, size_t i)
{
	return ww_note_at(&x->notes, i);
}

void ww_numbers_free(struct ww_numbers *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->n; i++) {
		free(x->list[i].label);
		free(x->list[i].measure);
		free(x->list[i].unit);
		free(x->list[i].value);
		free(x->list[i].when);
	}
	free(x->list);
	free(x->group);
	ww_notes_free(&x->notes);
	free(x);
}

/* SPDX-License-Identifier: MIT */
#include "text/flat.h"

static void skip_blanks(struct ww_flat *j)
{
	while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\r'))
		j->p++;
}

static bool take(struct ww_flat *j, char c)
{
	skip_blanks(j);
	if (j->p == j->end || *j->p != c)
		return false;
	j->p++;
	return true;
}

static bool string(struct ww_flat *j, struct ww_field *f)
{
	const char *from = j->p;

	for (; j->p < j->end && *j->p != '"'; j->p++)
		if (*j->p == '\\' && j->p + 1 < j->end)
			j->p++;
	if (j->p >= j->end)
		return false;
	*f = (struct ww_field){from, (size_t)(j->p - from), true};
	j->p++;
	return true;
}

static bool plain(struct ww_flat *j, struct ww_field *f)
{
	const char *from = j->p;

	while (j->p < j->end && !strchr(",}]{[\" \t\r", *j->p))
		j->p++;
	*f = (struct ww_field){from, (size_t)(j->p - from), false};
	return f->n > 0;
}

bool ww_flat_next(struct ww_flat *j, struct ww_field *key, struct ww_field *value)
{
	if (j->bad)
		return false;
	if (!j->open) {
		j->bad = !take(j, '{');
		j->open = true;
		if (j->bad || take(j, '}'))
			return false;
	} else if (!take(j, ',')) {
		j->bad = !take(j, '}');
		return false;
	}
	if (!take(j, '"') || !string(j, key) || !take(j, ':')) {
		j->bad = true;
		return false;
	}
	if (take(j, '"'))
		j->bad = !string(j, value);
	else
		j->bad = !plain(j, value);
	return !j->bad;
}

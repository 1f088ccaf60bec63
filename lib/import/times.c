/* SPDX-License-Identifier: MIT */
/*
 * Times in order. A file's clock may have been set back, its rows may be shuffled or
 * repeated, single times may be nonsense; each case is told apart, mended and said.
 */
#include "import/import.h"

#include <stdio.h>

#define FEW	  3 /* rows that are a slip, not a stretch */
#define LOOK_BACK 64
#define FAR_NS	  (3600 * WW_NS_PER_S)	      /* a slip by more is no time of this file */
#define FAR_STEP  1000			      /* ... and by more than so many usual steps */
#define FOLD_NS	  (3600 * WW_NS_PER_S)	      /* the end of summer time */
#define ODD_NS	  (366 * 86400 * WW_NS_PER_S) /* a step worth a word */

struct place {
	int64_t t;
	size_t i;
};

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static void reorder(int64_t *v, int64_t *spare, const struct place *order, size_t n)
{
	if (!v)
		return;
	for (size_t i = 0; i < n; i++)
		spare[i] = v[order[i].i];
	memcpy(v, spare, n * sizeof(*v));
}

static int sort_rows(struct ww_table *t, struct ww_error *err)
{
	struct place *order = malloc((t->rows + 1) * sizeof(*order));
	int64_t *spare = malloc((t->rows + 1) * sizeof(*spare));

	if (!order || !spare) {
		free(order);
		free(spare);
		return ww_fail_nomem(err);
	}
	for (size_t i = 0; i < t->rows; i++)
		order[i] = (struct place){t->hi[i], i};
	qsort(order, t->rows, sizeof(*order), by_time);
	reorder(t->hi, spare, order, t->rows);
	reorder(t->lo, spare, order, t->rows);
	for (size_t c = 0; c < t->columns; c++)
		reorder(t->column[c].code, spare, order, t->rows);
	for (size_t i = 0; i < t->rows; i++)
		spare[order[i].i] = (int64_t)i;
	for (size_t i = 0; i < t->labels; i++)
		t->label[i].row = (size_t)spare[t->label[i].row];
	/* Between which rows something was missing is lost with their order. */
	t->breaks = 0;
	free(order);
	free(spare);
	return 0;
}

static size_t compact(int64_t *v, const uint8_t *drop, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; v && i < n; i++)
		if (!drop[i])
			v[k++] = v[i];
	return k;
}

static int drop_rows(struct ww_table *t, const uint8_t *drop, struct ww_error *err)
{
	size_t *now = malloc((t->rows + 1) * sizeof(*now)), left = 0; /* rows kept before each */

	if (!now)
		return ww_fail_nomem(err);
	for (size_t i = 0; i <= t->rows; i++) {
		now[i] = left;
		left += i < t->rows && !drop[i];
	}
	for (size_t c = 0; c < t->columns; c++)
		compact(t->column[c].code, drop, t->rows);
	compact(t->hi, drop, t->rows);
	compact(t->lo, drop, t->rows);
	for (size_t i = 0; i < t->labels; i++) {
		t->label[i].row = now[t->label[i].row];
		if (t->label[i].row >= left)
			t->label[i].row = left ? left - 1 : 0;
	}
	for (size_t i = 0; i < t->breaks; i++)
		t->brk[i].row = now[t->brk[i].row];
	t->rows = left;
	free(now);
	return 0;
}

static int64_t usual_step(const struct ww_table *t)
{
	double v[1001] = {0};
	size_t n = 0, every = t->rows / 1000 + 1;

	for (size_t i = 1; i < t->rows && n < WW_COUNTOF(v); i += every)
		if (t->hi[i] > t->hi[i - 1])
			v[n++] = (double)(t->hi[i] - t->hi[i - 1]);
	/* The lower median: of four steps, two may be nonsense. */
	qsort(v, n, sizeof(*v), ww_cmp_double);
	return n ? (int64_t)v[(n - 1) / 2] : 0;
}

static size_t backward(const struct ww_table *t)
{
	size_t n = 0;

	for (size_t i = 1; i < t->rows; i++)
		n += t->hi[i] < t->hi[i - 1];
	return n;
}

/* Do the stretches between backward steps cover different times? */
static int apart(const struct ww_table *t, size_t back, bool *yes, struct ww_error *err)
{
	struct place *s = malloc((back + 1) * sizeof(*s));
	size_t n = 0;

	if (!s)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < t->rows; i++)
		if (i == 0 || t->hi[i] < t->hi[i - 1])
			s[n++] = (struct place){t->hi[i], i};
	qsort(s, n, sizeof(*s), by_time);
	*yes = true;
	for (size_t k = 0; k + 1 < n && *yes; k++) {
		size_t last = s[k].i;

		while (last + 1 < t->rows && t->hi[last + 1] >= t->hi[last])
			last++;
		*yes = t->hi[last] <= s[k + 1].t;
	}
	free(s);
	return 0;
}

/* What a walk through the rows did. */
struct walk {
	struct ww_import *im;
	struct ww_table *t;
	uint8_t *drop;
	int64_t step, shift;
	size_t absurd, absurd_row;
	size_t set_back, folds;
	int64_t back_by;
};

static bool is_far(const struct walk *w, int64_t by)
{
	return by > FAR_NS && by / FAR_STEP > w->step;
}

static bool same_row(const struct ww_table *t, size_t a, size_t b)
{
	for (size_t c = 0; c < t->columns; c++)
		if (t->column[c].code[a] != t->column[c].code[b])
			return false;
	return true;
}

/* Rows that come late find their places empty; those of a clock set back do not. */
static bool fills(const struct walk *w, size_t i, size_t m)
{
	for (size_t k = i; k < i + m; k++) {
		int64_t t = ww_add_sat(w->t->hi[k], k > i ? w->shift : 0);

		for (size_t b = i; b-- > 0 && i - b < LOOK_BACK;) {
			int64_t apart = w->t->hi[b] > t ? w->t->hi[b] - t : t - w->t->hi[b];

			if (apart < w->step / 2 && !same_row(w->t, b, k))
				return false;
			if (w->t->hi[b] < t)
				break;
		}
	}
	return true;
}

/*
 * Row i lies before its predecessor: a few rows ahead of their time, or a few behind it?
 * @return whether the slip was found and needs no shift of the clock
 */
static bool take_slip(struct walk *w, size_t i)
{
	const int64_t *hi = w->t->hi;
	size_t n = w->t->rows;

	for (size_t m = 1; m <= FEW; m++) {
		int64_t later = i + m < n ? ww_add_sat(hi[i + m], w->shift) : INT64_MAX;

		/* The m rows before were ahead. */
		if (i >= m && (i == m || hi[i - m - 1] <= hi[i]) && is_far(w, hi[i - m] - hi[i])) {
			for (size_t k = i - m; k < i; k++)
				w->drop[k] = 1;
			w->absurd += m;
			w->absurd_row = w->absurd_row ? w->absurd_row : i - m + 1;
			return true;
		}
		/* These m rows are behind, and then it goes on as before. */
		if (i + m < n ? later >= hi[i - 1] : i + m == n && i > FEW) {
			if (!is_far(w, hi[i - 1] - hi[i])) {
				if (fills(w, i, m))
					return true; /* sorting does it */
				continue;
			}
			for (size_t k = i; k < i + m; k++)
				w->drop[k] = 1;
			w->absurd += m;
			w->absurd_row = w->absurd_row ? w->absurd_row : i + 1;
			return true;
		}
	}
	return false;
}

/*
 * From row i on the clock shows less: daylight saving ended, or it was set or restarted.
 * @return whether nothing is missing there
 */
static bool set_on(struct walk *w, size_t i)
{
	struct ww_table *t = w->t;
	int64_t by = t->hi[i - 1] - t->hi[i];
	bool fold = false;

	if (w->im->clock == WW_CLOCK_LOCAL && by <= FOLD_NS &&
	    by > FOLD_NS - 4 * w->step - t->tick_ns - WW_NS_PER_S) {
		w->folds++;
		fold = true;
		by = FOLD_NS;
	} else {
		w->set_back++;
		w->back_by = w->back_by ? w->back_by : by;
		by += w->step;
	}
	w->shift = ww_add_sat(w->shift, by);
	t->hi[i] = ww_add_sat(t->hi[i], by);
	return fold;
}

static int walk_rows(struct walk *w, struct ww_error *err)
{
	struct ww_table *t = w->t;
	int rc = 0;

	for (size_t i = 1; rc == 0 && i < t->rows; i++) {
		size_t rows = t->rows, before = i;

		t->hi[i] = ww_add_sat(t->hi[i], w->shift);
		while (before > 0 && w->drop[before - 1])
			before--;
		if (w->drop[i] || before == 0 || t->hi[i] >= t->hi[before - 1])
			continue;
		if (before != i || take_slip(w, i))
			continue;
		if (set_on(w, i))
			continue;
		t->rows = i;
		rc = ww_table_break(t, -1, "clock set back", err);
		t->rows = rows;
	}
	return rc;
}

static void say_walk(const struct walk *w)
{
	struct ww_notes *l = &w->im->notes;
	char by[32];

	ww_fixed_text(by, sizeof(by), (double)w->back_by / 1e9, 0);
	if (w->absurd)
		ww_note(l,
			"%zu row%s with a time far from those around %s left out, the first is "
			"row %zu",
			w->absurd, w->absurd == 1 ? "" : "s", w->absurd == 1 ? "it" : "them",
			w->absurd_row);
	if (w->folds)
		ww_note(l, "the local time goes back by an hour: taken as the end of summer time");
	if (w->set_back)
		ww_note(l,
			"the clock of the file goes back %zu time%s (first by %s s): it goes on "
			"one usual step later, with a gap of unknown length there",
			w->set_back, w->set_back == 1 ? "" : "s", by);
}

static int mend_order(struct ww_import *im, struct ww_table *t, size_t back, struct ww_error *err)
{
	struct walk w = {.im = im, .t = t, .step = usual_step(t)};
	bool sort = back > t->rows / 3;
	int rc = sort ? 0 : apart(t, back, &sort, err);

	if (rc == 0 && !sort) {
		w.drop = calloc(t->rows, 1);
		rc = w.drop ? walk_rows(&w, err) : ww_fail_nomem(err);
		if (rc == 0 && w.absurd)
			rc = drop_rows(t, w.drop, err);
		free(w.drop);
		say_walk(&w);
	}
	if (rc == 0 && (back = backward(t)) > 0) {
		ww_note(&im->notes, "rows are not in the order of time (%zu step%s back): sorted",
			back, back == 1 ? "" : "s");
		rc = sort_rows(t, err);
	}
	return rc;
}

/* Rows [from, to) with the same time: over the time that its last digit leaves open. */
static void spread(struct ww_table *t, size_t from, size_t to, int64_t step)
{
	int64_t room = t->tick_ns;

	if (to < t->rows && t->hi[to] - t->hi[from] < room)
		room = t->hi[to] - t->hi[from];
	else if (to == t->rows && step > 0 && step < room)
		room = step;
	for (size_t k = from + 1; k < to; k++)
		t->hi[k] += room / (int64_t)(to - from) * (int64_t)(k - from);
}

/* The same time again: the same row twice, or a clock that shows too few digits. */
static int mend_repeats(struct ww_import *im, struct ww_table *t, size_t repeats,
			struct ww_error *err)
{
	bool coarse = t->tick_ns >= WW_NS_PER_S || repeats > t->rows / 2;
	uint8_t *drop = calloc(t->rows, 1);
	size_t twice = 0, spreads = 0;
	int64_t step = usual_step(t);
	char tick[40];

	if (!drop)
		return ww_fail_nomem(err);
	for (size_t i = 1; i < t->rows && !coarse; i++)
		if (t->hi[i] == t->hi[i - 1] && same_row(t, i, i - 1)) {
			drop[i] = 1;
			twice++;
		}
	if (twice && drop_rows(t, drop, err) < 0) {
		free(drop);
		return -ENOMEM;
	}
	free(drop);
	for (size_t i = 0, k; i < t->rows; i = k) {
		for (k = i + 1; k < t->rows && t->hi[k] == t->hi[i]; k++)
			;
		spreads += k - i - 1;
		if (k - i > 1)
			spread(t, i, k, step);
	}
	if (twice)
		ww_note(&im->notes, "%zu row%s there twice, with the same time: left out", twice,
			twice == 1 ? " is" : "s are");
	ww_num_text(tick, sizeof(tick), (double)t->tick_ns / 1e9);
	if (spreads && t->tick_ns > 0)
		ww_note(&im->notes,
			"%zu row%s the time of the row before: spread over its last digit (%s s)",
			spreads, spreads == 1 ? " has" : "s have", tick);
	return 0;
}

/* A mean over a second, told each five seconds, says nothing of the four between. */
static void check_windows(struct ww_import *im, struct ww_table *t)
{
	char window[40], step[40];
	bool sparse = false;

	if (t->window_ns == 0 || usual_step(t) <= 2 * t->window_ns)
		return;
	for (size_t i = 0; i < t->columns; i++) {
		struct ww_column *c = &t->column[i];

		sparse |= c->semantics == WW_AVERAGE;
		if (c->semantics == WW_AVERAGE)
			c->semantics = WW_INSTANT;
	}
	ww_num_text(window, sizeof(window), (double)t->window_ns / 1e9);
	ww_num_text(step, sizeof(step), (double)usual_step(t) / 1e9);
	if (sparse)
		ww_note(&im->notes,
			"readings are means over %s s, but come each %s s: taken as those of "
			"moments",
			window, step);
}

int ww_import_times(struct ww_import *im, struct ww_table *t, struct ww_error *err)
{
	size_t back = backward(t), repeats = 0;
	int rc = 0;

	if (back > 0 && t->lo) {
		ww_note(&im->notes, "rows are not in the order of time: sorted");
		rc = sort_rows(t, err);
	} else if (back > 0) {
		rc = mend_order(im, t, back, err);
	}
	for (size_t i = 1; i < t->rows; i++)
		repeats += t->hi[i] == t->hi[i - 1];
	if (rc == 0 && repeats > 0 && !t->lo)
		rc = mend_repeats(im, t, repeats, err);
	check_windows(im, t);
	for (size_t i = 1; rc == 0 && i < t->rows; i++)
		if (t->hi[i] - t->hi[i - 1] > ODD_NS) {
			ww_note(&im->notes, "there is a hole of %lld days before row %zu",
				(long long)((t->hi[i] - t->hi[i - 1]) / (86400 * WW_NS_PER_S)),
				i + 1);
			break;
		}
	return rc;
}

/* SPDX-License-Identifier: MIT */
/*
 * A trace once more, with the readings of its meters decoded anew from what they sent.
 * Everything that does not come from their drivers is copied.
 */
#include "source/redecode.h"
#include "trace/copy.h"

#include <stdio.h>

#define KEY "redecode."

struct job {
	struct ww_trace *t;
	struct ww_writer *w;
	struct ww_notes notes;
	struct ww_redo **redo; /* of each source, NULL: copied */
	size_t sources, done;
	/* Marks or gaps on their way into the new trace, in order. */
	struct ww_redo_event *list;
	size_t n;
};

/* ------------------------------------------------------------- what is decoded */

static bool is_source(const struct ww_source_info *s, const char *name)
{
	return name ? strcmp(s->name, name) == 0 : s->kind == WW_METER;
}

static int no_such(const struct ww_trace *t, const char *name, struct ww_error *err)
{
	if (name)
		return ww_fail(err, -ENOENT, "%s: there is no source '%s' (see wwtrace info)",
			       ww_trace_path(t), name);
	return ww_fail(err, -ENODATA, "%s: there is no meter in this trace", ww_trace_path(t));
}

/* Every meter that can be, or the one that must be. */
static int choose(struct job *j, const char *name, struct ww_error *err)
{
	struct ww_error why = {0};
	size_t found = 0;
	int rc = 0;

	for (size_t i = 0; i < j->sources; i++) {
		const struct ww_source_info *s = ww_trace_source(j->t, i);

		if (!is_source(s, name))
			continue;
		found++;
		why = (struct ww_error){0};
		rc = s->kind == WW_METER
			     ? ww_redo_open(j->t, s, &j->notes, &j->redo[i], &why)
			     : ww_fail(&why, -EINVAL, "%s is no meter: there is nothing to decode",
				       s->name);
		if (rc == 0)
			j->done++;
		else if (rc == -ENOMEM || name)
			break;
		else
			ww_note(&j->notes, "%s; it is copied", why.text);
	}
	if (!found)
		return no_such(j->t, name, err);
	if (j->done == 0)
		return ww_fail(err, rc, "%s: %s", ww_trace_path(j->t), why.text);
	return 0;
}

/* ---------------------------------------------------------------------- heads */

static int copy_source(struct job *j, const struct ww_source_info *s, struct ww_error *err)
{
	int rc = ww_writer_source(j->w, s, err);
	uint32_t id = (uint32_t)rc;

	for (size_t i = 0; rc >= 0 && i < ww_trace_channel_count(j->t); i++) {
		struct ww_channel_info c = *ww_trace_channel(j->t, i);

		if (c.source != s->id)
			continue;
		c.source = id;
		rc = ww_writer_channel(j->w, &c, err);
	}
	return rc;
}

static int write_heads(struct job *j, struct ww_error *err)
{
	int rc = ww_copy_heads(j->t, j->w, err);

	for (size_t i = 0; rc >= 0 && i < j->sources; i++)
		rc = j->redo[i] ? ww_redo_describe(j->redo[i], j->w, err)
				: copy_source(j, ww_trace_source(j->t, i), err);
	return rc;
}

/* ----------------------------------------------------------------------- rows */

static int write_rows(struct job *j, struct ww_error *err)
{
	int64_t rc = 0;

	for (size_t i = 0; rc >= 0 && i < j->sources; i++) {
		if (j->redo[i])
			rc = ww_redo_run(j->redo[i], err);
		else
			rc = ww_copy_rows(j->t, ww_trace_source(j->t, i)->id, (uint32_t)i + 1, j->w,
					  err);
		if (rc >= 0)
			rc = ww_writer_commit(j->w, err);
	}
	return rc < 0 ? (int)rc : 0;
}

/* --------------------------------------------------------------------- events */

static const struct ww_redo *redo_of(const struct job *j, uint32_t id)
{
	for (size_t i = 0; id && i < j->sources; i++)
		if (ww_trace_source(j->t, i)->id == id)
			return j->redo[i];
	return NULL;
}

/* Place in the new trace. */
static uint32_t new_id(const struct job *j, uint32_t id)
{
	for (size_t i = 0; id && i < j->sources; i++)
		if (ww_trace_source(j->t, i)->id == id)
			return (uint32_t)i + 1;
	return 0;
}

/* Did the driver say this, which says it anew now? Of the port's own words turns tell. */
static bool drivers_mark(const struct ww_redo *r, const struct ww_mark *m)
{
	if (!r || (strcmp(m->kind, WW_MARK_RESET) != 0 && strcmp(m->kind, WW_MARK_DEVICE) != 0))
		return false;
	return r->turns_info ||
	       (strncmp(m->text, "overrun:", 8) != 0 && strncmp(m->text, "line errors:", 12) != 0);
}

static bool drivers_gap(const struct ww_redo *r, const struct ww_gap *g)
{
	return r && strcmp(g->reason, "unplugged") != 0 && strcmp(g->reason, "queue full") != 0;
}

static int by_time(const void *a, const void *b)
{
	const struct ww_redo_event *x = a, *y = b;

	if (x->t.hi_ns != y->t.hi_ns)
		return x->t.hi_ns < y->t.hi_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* What one moment brought: first what is copied, in its order, then what is new. */
static int write_marks(struct job *j, struct ww_error *err)
{
	size_t old = ww_trace_mark_count(j->t), at = 0;
	int rc = 0;

	qsort(j->list, j->n, sizeof(*j->list), by_time);
	for (size_t i = 0; rc >= 0 && i <= old; i++) {
		const struct ww_mark *m = i < old ? ww_trace_mark(j->t, i) : NULL;
		struct ww_mark copy;

		for (; rc >= 0 && at < j->n && (!m || j->list[at].t.hi_ns < m->t.hi_ns); at++) {
			const struct ww_redo_event *e = &j->list[at];
			struct ww_mark mark = {.t = e->t,
					       .source = (uint32_t)e->lost,
					       .kind = e->kind,
					       .text = e->text};

			rc = ww_writer_mark(j->w, &mark, err);
		}
		if (rc < 0 || !m || drivers_mark(redo_of(j, m->source), m))
			continue;
		copy = *m;
		copy.source = new_id(j, m->source);
		rc = ww_writer_mark(j->w, &copy, err);
	}
	return rc;
}

static int new_marks(struct job *j, struct ww_error *err)
{
	size_t most = 0;

	for (size_t i = 0; i < j->sources; i++)
		most += j->redo[i] ? j->redo[i]->events : 0;
	j->list = calloc(most + 1, sizeof(*j->list));
	if (!j->list)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < j->sources; i++)
		for (size_t k = 0; j->redo[i] && k < j->redo[i]->events; k++) {
			struct ww_redo_event *e = &j->list[j->n];

			if (!j->redo[i]->event[k].kind)
				continue;
			*e = j->redo[i]->event[k];
			e->lost = j->redo[i]->id; /* a mark loses nothing */
			e->order = j->n++;
		}
	return write_marks(j, err);
}

static int write_gaps(struct job *j, struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < ww_trace_gap_count(j->t); i++) {
		struct ww_gap g = *ww_trace_gap(j->t, i);

		if (drivers_gap(redo_of(j, g.source), &g))
			continue;
		g.source = new_id(j, g.source);
		rc = ww_writer_gap(j->w, &g, err);
	}
	for (size_t i = 0; rc >= 0 && i < j->sources; i++)
		for (size_t k = 0; rc >= 0 && j->redo[i] && k < j->redo[i]->events; k++) {
			const struct ww_redo_event *e = &j->redo[i]->event[k];
			struct ww_gap g = {.t = e->t,
					   .source = j->redo[i]->id,
					   .lost = e->lost,
					   .reason = e->text};

			if (!e->kind)
				rc = ww_writer_gap(j->w, &g, err);
		}
	return rc;
}

/* Notes, and what was decoded by which version. */
static int write_notes(struct job *j, struct ww_error *err)
{
	char key[256], value[256];
	const char *note;
	int rc = j->notes.bad ? ww_fail_nomem(err) : 0;

	for (size_t i = 0; rc >= 0 && i < j->sources; i++) {
		if (!j->redo[i])
			continue;
		snprintf(key, sizeof(key), KEY "source.%.200s", ww_trace_source(j->t, i)->name);
		snprintf(value, sizeof(value), "by driver %s of version %s",
			 j->redo[i]->meter->desc.name, ww_version());
		rc = ww_writer_meta(j->w, key, value, err);
	}
	for (size_t i = 0; rc >= 0 && (note = ww_note_at(&j->notes, i)); i++) {
		snprintf(key, sizeof(key), KEY "note.%02zu", i + 1);
		rc = ww_writer_meta(j->w, key, note, err);
	}
	return rc;
}

int ww_trace_redecode(struct ww_trace *t, const char *source, struct ww_writer *out,
		      struct ww_error *err)
{
	struct job j = {.t = t, .w = out, .sources = ww_trace_source_count(t)};
	int rc;

	j.redo = calloc(j.sources + 1, sizeof(struct ww_redo *));
	if (!j.redo)
		return ww_fail_nomem(err);
	rc = choose(&j, source, err);
	if (rc >= 0)
		rc = write_heads(&j, err);
	if (rc >= 0)
		rc = write_rows(&j, err);
	if (rc >= 0)
		rc = new_marks(&j, err);
	if (rc >= 0)
		rc = write_gaps(&j, err);
	if (rc >= 0)
		rc = write_notes(&j, err);
	for (size_t i = 0; i < j.sources; i++)
		ww_redo_free(j.redo[i]);
	free(j.redo);
	free(j.list);
	ww_notes_free(&j.notes);
	return rc < 0 ? rc : (int)j.done;
}

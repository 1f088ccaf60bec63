/* SPDX-License-Identifier: MIT */
#include "trace/writer.h"

/*
 * A slow source's tail is stored again at each commit; after so many times it is left
 * as it is, so that a day at one row a second does not wear out a memory card.
 */
#define TAIL_COMMITS 1024

void ww_tail_empty(struct ww_wsource *s)
{
	s->first += (int64_t)s->tail.n;
	s->tail.n = 0;
	s->tail.data_n = 0;
	s->rowid = 0;
	s->commits = 0;
	s->dirty = false;
}

/* Note a failure of the back; from then on every call repeats it. */
static int broke(struct ww_writer *w, int rc, struct ww_error *err)
{
	if (rc < 0 && w->failed.code == 0 && err && err->code)
		w->failed = *err;
	else if (rc < 0 && w->failed.code == 0)
		ww_fail(&w->failed, rc, "%s: writing failed before", w->path);
	return rc;
}

static int usable(const struct ww_writer *w, struct ww_error *err)
{
	return w->failed.code ? ww_fail(err, w->failed.code, "%s", w->failed.text) : 0;
}

static void writer_free(struct ww_writer *w)
{
	for (size_t i = 0; i < w->sources; i++) {
		ww_rows_free(&w->source[i]->tail);
		free(w->source[i]->name);
		free(w->source[i]->digits);
		free(w->source[i]);
	}
	free(w->source);
	ww_codec_free(w->codec);
	ww_str_free(&w->out);
	free(w->path);
	free(w);
}

static int writer_new(const char *path, struct ww_writer **out, struct ww_error *err)
{
	struct ww_writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return ww_fail_nomem(err);
	w->fd = -1;
	w->path = strdup(path);
	rc = w->path ? ww_codec_new(&w->codec, err) : ww_fail_nomem(err);
	if (rc < 0) {
		writer_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

/* Undo a writer that did not come to be. */
static int writer_abort(struct ww_writer *w, int rc)
{
	if (w->ops) {
		ww_fail(&w->failed, rc, "never opened");
		w->ops->close(w, NULL);
	}
	writer_free(w);
	return rc;
}

int ww_writer_open(const char *path, const struct ww_writer_options *opt, struct ww_writer **out,
		   struct ww_error *err)
{
	int form = WW_OPT(opt, form, WW_FORM_FILE);
	const char *program = WW_OPT(opt, program, NULL), *command = WW_OPT(opt, command, NULL);
	struct ww_writer *w;
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	if (form < WW_FORM_FILE || form > WW_FORM_BINARY)
		return ww_fail(err, -EINVAL, "no such form of a trace: %d", form);
	if (form == WW_FORM_FILE && (!path || !*path))
		return ww_fail(err, -EINVAL, "a trace needs a path");
	rc = writer_new(form == WW_FORM_FILE ? path : "stream", &w, err);
	if (rc < 0)
		return rc;
	w->fd = WW_OPT(opt, fd, -1);
	rc = form == WW_FORM_FILE ? ww_wfile_open(w, err) : ww_wstream_open(w, form, err);
	if (rc == 0)
		rc = ww_writer_meta(w, "library", "libwakewatt " WW_VERSION_STRING, err);
	if (rc == 0 && program)
		rc = ww_writer_meta(w, "program", program, err);
	if (rc == 0 && command)
		rc = ww_writer_meta(w, "command", command, err);
	if (rc == 0)
		rc = ww_writer_commit(w, err);
	if (rc < 0)
		return writer_abort(w, rc);
	w->born = true;
	*out = w;
	return 0;
}

int ww_writer_append(const char *path, struct ww_writer **out, struct ww_error *err)
{
	struct ww_writer *w;
	int rc = writer_new(path, &w, err);

	if (rc < 0)
		return rc;
	rc = ww_wfile_append(w, err);
	if (rc == 0)
		rc = ww_writer_commit(w, err);
	if (rc < 0)
		return writer_abort(w, rc);
	*out = w;
	return 0;
}

int ww_writer_open_db(sqlite3 *db, const char *path, struct ww_writer **out, struct ww_error *err)
{
	struct ww_writer *w;
	int rc = writer_new(path, &w, err);

	if (rc < 0)
		return rc;
	w->db = db;
	rc = ww_wfile_attach(w, err);
	if (rc < 0)
		return writer_abort(w, rc);
	*out = w;
	return 0;
}

static struct ww_wsource *find(struct ww_writer *w, uint32_t id, struct ww_error *err)
{
	if (id >= 1 && id <= w->sources)
		return w->source[id - 1];
	ww_fail(err, -EINVAL, "%s: there is no source %u", w->path, id);
	return NULL;
}

static int check_source(struct ww_writer *w, const struct ww_source_info *s, struct ww_error *err)
{
	if (!*s->name)
		return ww_fail(err, -EINVAL, "%s: a source needs a name", w->path);
	if (s->kind < WW_METER || s->kind > WW_MANUAL)
		return ww_fail(err, -EINVAL, "%s: source %s: no such kind: %d", w->path, s->name,
			       s->kind);
	for (size_t i = 0; i < w->sources; i++)
		if (i + 1 != s->id && strcmp(w->source[i]->name, s->name) == 0)
			return ww_fail(err, -EINVAL, "%s: two sources are named %s", w->path,
				       s->name);
	return 0;
}

int ww_writer_source(struct ww_writer *w, const struct ww_source_info *info, struct ww_error *err)
{
	struct ww_source_info s = ww_wknown_full(info, (uint32_t)w->sources + 1);
	struct ww_wsource *src, **list;
	int rc = usable(w, err);

	if (rc == 0)
		rc = check_source(w, &s, err);
	if (rc < 0)
		return rc;
	list = realloc(w->source, (w->sources + 1) * sizeof(*list));
	if (!list)
		return ww_fail_nomem(err);
	w->source = list;
	src = calloc(1, sizeof(*src));
	if (src)
		src->name = strdup(s.name);
	if (!src || !src->name) {
		free(src);
		return ww_fail_nomem(err);
	}
	src->id = s.id;
	src->kind = s.kind;
	src->char_ns = s.transport.char_ns;
	src->last_hi = INT64_MIN;
	rc = w->ops->source(w, &s, false, err);
	if (rc < 0) {
		free(src->name);
		free(src);
		return broke(w, rc, err);
	}
	w->source[w->sources++] = src;
	return (int)s.id;
}

int ww_writer_update_source(struct ww_writer *w, const struct ww_source_info *info,
			    struct ww_error *err)
{
	struct ww_source_info s = ww_wknown_full(info, info->id);
	struct ww_wsource *src = find(w, info->id, err);
	char *name;
	int rc = usable(w, err);

	if (!src)
		return -EINVAL;
	rc = rc == 0 ? check_source(w, &s, err) : rc;
	if (rc == 0 && s.kind != src->kind)
		rc = ww_fail(err, -EINVAL, "%s: source %s cannot become another kind", w->path,
			     src->name);
	if (rc < 0)
		return rc;
	name = strdup(s.name);
	if (!name)
		return ww_fail_nomem(err);
	if (s.transport.char_ns != src->char_ns) /* one pace for all its bytes, or none */
		src->char_ns = s.transport.char_ns = 0;
	rc = w->ops->source(w, &s, true, err);
	if (rc < 0) {
		free(name);
		return broke(w, rc, err);
	}
	free(src->name);
	src->name = name;
	return 0;
}

int ww_writer_channel(struct ww_writer *w, const struct ww_channel_info *info, struct ww_error *err)
{
	struct ww_wsource *src = find(w, info->source, err);
	struct ww_channel_info c = *info;
	struct ww_digits *d;
	int rc = usable(w, err);

	if (!src)
		return -EINVAL;
	if (rc < 0)
		return rc;
	if (src->kind == WW_SERIAL || src->started || src->channels == WW_CHANNELS_MAX)
		return ww_fail(err, -EINVAL, "%s: source %s takes no %s", w->path, src->name,
			       src->kind == WW_SERIAL ? "channels: it gives bytes"
			       : src->started	      ? "new channel after its first samples"
						      : "more channels");
	c.id = w->channels + 1;
	c.name = c.name ? c.name : "";
	c.quantity = c.quantity ? c.quantity : "";
	c.unit = c.unit ? c.unit : "";
	if (c.scale == 0.0)
		c.scale = 1.0;
	d = realloc(src->digits, (src->channels + 1) * sizeof(*d));
	if (!d)
		return ww_fail_nomem(err);
	src->digits = d;
	rc = w->ops->channel(w, &c, err);
	if (rc < 0)
		return broke(w, rc, err);
	d[src->channels++] = ww_digits_of(c.scale, c.offset, c.resolution);
	return (int)++w->channels;
}

static int start_rows(struct ww_writer *w, struct ww_wsource *s, bool bytes, struct ww_error *err)
{
	int rc;

	if (s->started)
		return 0;
	rc = ww_rows_init(&s->tail, bytes, s->channels, err);
	if (rc == 0)
		s->started = true;
	else
		broke(w, rc, err);
	return rc;
}

static int check_times(struct ww_writer *w, const struct ww_wsource *s, size_t n, const int64_t *lo,
		       const int64_t *hi, struct ww_error *err)
{
	int64_t last = s->last_hi;

	for (size_t i = 0; i < n; i++) {
		if (lo[i] > hi[i] || hi[i] < last)
			return ww_fail(err, -EINVAL, "%s: source %s: time %s at %lld ns", w->path,
				       s->name, lo[i] > hi[i] ? "interval reversed" : "falls",
				       (long long)hi[i]);
		last = hi[i];
	}
	return 0;
}

/* A full tail goes to the back; the next rows begin a new block. */
static int turn_over(struct ww_writer *w, struct ww_wsource *s, struct ww_error *err)
{
	int rc = s->dirty ? w->ops->rows(w, s, err) : 0;

	if (rc == 0)
		ww_tail_empty(s);
	return broke(w, rc, err);
}

/* n rows whose codes lie `stride` apart in each channel's column. */
static int append(struct ww_writer *w, struct ww_wsource *s, size_t n, const int64_t *lo_ns,
		  const int64_t *hi_ns, const int64_t *const *col, size_t stride,
		  struct ww_error *err)
{
	struct ww_rows *t = &s->tail;
	int rc = check_times(w, s, n, lo_ns, hi_ns, err);

	if (rc == 0 && n > 0)
		rc = start_rows(w, s, false, err);
	for (size_t done = 0; rc == 0 && done < n;) {
		size_t m = WW_BLOCK_ROWS - t->n;

		m = m < n - done ? m : n - done;
		memcpy(t->lo + t->n, lo_ns + done, m * sizeof(*lo_ns));
		memcpy(t->hi + t->n, hi_ns + done, m * sizeof(*hi_ns));
		for (size_t c = 0; c < s->channels; c++)
			for (size_t i = 0; i < m; i++)
				t->col[c][t->n + i] = col[c][(done + i) * stride];
		t->n += m;
		done += m;
		s->last_hi = hi_ns[done - 1];
		s->dirty = true;
		if (t->n == WW_BLOCK_ROWS)
			rc = turn_over(w, s, err);
	}
	return rc;
}

static struct ww_wsource *find_meter(struct ww_writer *w, uint32_t source, struct ww_error *err)
{
	struct ww_wsource *s = usable(w, err) == 0 ? find(w, source, err) : NULL;

	if (!s || (s->kind != WW_SERIAL && s->channels > 0))
		return s;
	ww_fail(err, -EINVAL, "%s: source %s takes no samples: it has no channels", w->path,
		s->name);
	return NULL;
}

int ww_writer_samples(struct ww_writer *w, uint32_t source, size_t n, const int64_t *lo_ns,
		      const int64_t *hi_ns, const int64_t *codes, struct ww_error *err)
{
	struct ww_wsource *s = find_meter(w, source, err);
	const int64_t *col[WW_CHANNELS_MAX] = {NULL};

	if (!s)
		return w->failed.code ? w->failed.code : -EINVAL;
	for (size_t c = 0; c < s->channels; c++)
		col[c] = codes + c;
	return append(w, s, n, lo_ns, hi_ns, col, s->channels, err);
}

/* One chunk, which never crosses blocks: its bytes are modelled together. */
static int add_chunk(struct ww_writer *w, struct ww_wsource *s, struct ww_interval t,
		     const uint8_t *data, size_t n, struct ww_error *err)
{
	struct ww_rows *r = &s->tail;
	int rc = 0;

	if (r->n > 0 && r->data_n + n > WW_BLOCK_DATA)
		rc = turn_over(w, s, err);
	if (rc == 0)
		rc = broke(w, ww_rows_add_data(r, data, n, err), err);
	if (rc < 0)
		return rc;
	r->lo[r->n] = t.lo_ns;
	r->hi[r->n] = t.hi_ns;
	r->col[0][r->n++] = (int64_t)n;
	s->last_hi = t.hi_ns;
	s->dirty = true;
	return r->n == WW_BLOCK_ROWS ? turn_over(w, s, err) : 0;
}

int ww_writer_bytes(struct ww_writer *w, uint32_t source, struct ww_interval t, const uint8_t *data,
		    size_t n, struct ww_error *err)
{
	struct ww_wsource *s = find(w, source, err);
	int rc = usable(w, err);

	if (!s)
		return -EINVAL;
	if (rc == 0 && s->kind != WW_SERIAL)
		rc = ww_fail(err, -EINVAL, "%s: source %s takes samples, not bytes", w->path,
			     s->name);
	if (rc == 0)
		rc = check_times(w, s, 1, &t.lo_ns, &t.hi_ns, err);
	if (rc == 0 && n > 0)
		rc = start_rows(w, s, true, err);
	for (size_t done = 0; rc == 0 && done < n;) {
		size_t m = n - done < WW_CHUNK_MAX ? n - done : WW_CHUNK_MAX;

		rc = add_chunk(w, s, t, data + done, m, err);
		done += m;
	}
	return rc;
}

int ww_writer_rows(struct ww_writer *w, uint32_t source, const struct ww_rows *r,
		   struct ww_error *err)
{
	const uint8_t *p = r->data;
	struct ww_wsource *s;
	int rc = 0;

	if (!r->bytes) {
		s = find_meter(w, source, err);
		return s ? append(w, s, r->n, r->lo, r->hi, (const int64_t *const *)r->col, 1, err)
			 : -EINVAL;
	}
	for (size_t i = 0; rc == 0 && i < r->n; i++) {
		struct ww_interval t = {r->lo[i], r->hi[i]};

		rc = ww_writer_bytes(w, source, t, p, (size_t)r->col[0][i], err);
		p += r->col[0][i];
	}
	return rc;
}

int ww_writer_mark(struct ww_writer *w, const struct ww_mark *m, struct ww_error *err)
{
	struct ww_mark full = *m;
	int rc = usable(w, err);

	full.kind = m->kind ? m->kind : "";
	full.text = m->text ? m->text : "";
	if (rc == 0 && !ww_iv_ok(m->t))
		rc = ww_fail(err, -EINVAL, "%s: mark %s: interval reversed", w->path, full.kind);
	if (rc == 0 && m->source && !find(w, m->source, err))
		rc = -EINVAL;
	return rc < 0 ? rc : broke(w, w->ops->mark(w, &full, err), err);
}

int ww_writer_gap(struct ww_writer *w, const struct ww_gap *g, struct ww_error *err)
{
	struct ww_gap full = *g;
	int rc = usable(w, err);

	full.reason = g->reason ? g->reason : "";
	if (rc == 0 && !ww_iv_ok(g->t))
		rc = ww_fail(err, -EINVAL, "%s: gap: interval reversed", w->path);
	if (rc == 0 && !find(w, g->source, err))
		rc = -EINVAL;
	return rc < 0 ? rc : broke(w, w->ops->gap(w, &full, err), err);
}

int ww_writer_anchor(struct ww_writer *w, const struct ww_anchor *a, struct ww_error *err)
{
	int rc = usable(w, err);

	w->new_real_ns = a->real_ns;
	return rc < 0 ? rc : broke(w, w->ops->anchor(w, a, err), err);
}

int ww_writer_meta(struct ww_writer *w, const char *key, const char *value, struct ww_error *err)
{
	int rc = usable(w, err);

	return rc < 0 ? rc : broke(w, w->ops->meta(w, key, value ? value : "", err), err);
}

int ww_writer_commit(struct ww_writer *w, struct ww_error *err)
{
	int rc = usable(w, err);

	for (size_t i = 0; rc == 0 && i < w->sources; i++) {
		struct ww_wsource *s = w->source[i];

		if (!s->dirty)
			continue;
		rc = w->ops->rows(w, s, err);
		s->dirty = false;
		if (rc == 0 && ++s->commits >= TAIL_COMMITS)
			ww_tail_empty(s);
	}
	rc = rc == 0 ? w->ops->commit(w, err) : rc;
	if (rc == 0)
		w->last_real_ns = w->new_real_ns;
	return broke(w, rc, err);
}

int ww_writer_close(struct ww_writer *w, struct ww_error *err)
{
	int rc, end;

	if (!w)
		return 0;
	rc = ww_writer_commit(w, err);
	end = w->ops->close(w, err);
	writer_free(w);
	return rc < 0 ? rc : end;
}

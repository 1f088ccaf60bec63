/* SPDX-License-Identifier: MIT */
/*
 * Samples as an Arrow C stream. All rows are read at once, so that the stream needs the trace no
 * more and may be taken by any thread; each batch is given away and freed by whoever took it.
 */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "report/arrowabi.h"
#include "report/format.h"

#define BATCH_ROWS 65536

/* A column as it is described: names live in the table. */
struct field {
	char *name;
	const char *format;
	char *metadata; /* key and value pairs as the interface packs them, or NULL */
	size_t metadata_bytes;
	int64_t flags;
};

/* Rows that were read: columns of 8 bytes an entry, then a bitmap for each channel. */
struct batch {
	struct batch *next;
	atomic_size_t refs;
	size_t n;
	struct ArrowArray *child;   /* [fields] */
	struct ArrowArray **childs; /* [fields] */
	const void **buffer;	    /* [fields][2] */
	const void *none[1];	    /* the buffer of the table itself: no bitmap */
	uint8_t *column;	    /* [fields][cap], 8 bytes each */
	uint8_t *bitmap;	    /* [channels][(cap + 7) / 8] */
	size_t cap;
};

struct table {
	size_t fields, channels, first; /* first: index of the first channel's field */
	bool wall;
	int64_t origin;
	struct field *field;
	struct ww_scale *scale;
	size_t *column; /* of each channel in the rows of its source */
	struct batch *head, *tail;
};

static void free_table(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->field && i < t->fields; i++) {
		free(t->field[i].name);
		free(t->field[i].metadata);
	}
	while (t->head) {
		struct batch *b = t->head;

		t->head = b->next;
		free(b);
	}
	free(t->field);
	free(t->scale);
	free(t->column);
	free(t);
}

/* int64_t or double */
static void *column_of(const struct batch *b, size_t field)
{
	return b->column + field * b->cap * sizeof(int64_t);
}

/* ------------------------------------------------------------------ arrays */

static void drop(struct batch *b)
{
	if (atomic_fetch_sub(&b->refs, 1) == 1)
		free(b);
}

/* A child may be moved out of its table, and outlive it. */
static void release_child(struct ArrowArray *a)
{
	struct batch *b = a->private_data;

	a->release = NULL;
	drop(b);
}

static void release_array(struct ArrowArray *a)
{
	struct batch *b = a->private_data;

	for (int64_t i = 0; i < a->n_children; i++)
		if (a->children[i]->release)
			a->children[i]->release(a->children[i]);
	a->release = NULL;
	drop(b);
}

static int64_t nulls(const uint8_t *bitmap, size_t n)
{
	int64_t set = 0;

	for (size_t i = 0; i < n; i++)
		set += bitmap[i / 8] >> (i % 8) & 1;
	return (int64_t)n - set;
}

static void export_batch(const struct table *t, struct batch *b, struct ArrowArray *out)
{
	const size_t bitmap_bytes = (b->cap + 7) / 8;

	for (size_t i = 0; i < t->fields; i++) {
		const bool value = i >= t->first;
		const uint8_t *bitmap = value ? b->bitmap + (i - t->first) * bitmap_bytes : NULL;
		const int64_t missing = value ? nulls(bitmap, b->n) : 0;

		b->buffer[2 * i] = missing ? bitmap : NULL;
		b->buffer[2 * i + 1] = column_of(b, i);
		b->child[i] = (struct ArrowArray){.length = (int64_t)b->n,
						  .null_count = missing,
						  .n_buffers = 2,
						  .buffers = b->buffer + 2 * i,
						  .release = release_child,
						  .private_data = b};
		b->childs[i] = &b->child[i];
	}
	atomic_store(&b->refs, t->fields + 1);
	*out = (struct ArrowArray){.length = (int64_t)b->n,
				   .n_buffers = 1,
				   .buffers = b->none,
				   .n_children = (int64_t)t->fields,
				   .children = b->childs,
				   .release = release_array,
				   .private_data = b};
}

/* One allocation for a batch and all that is given away with it. */
static struct batch *new_batch(const struct table *t, size_t cap)
{
	const size_t f = t->fields, maps = t->channels * ((cap + 7) / 8);
	struct batch *b = malloc(sizeof(*b) +
				 f * (sizeof(struct ArrowArray) + sizeof(struct ArrowArray *) +
				      2 * sizeof(void *) + cap * sizeof(int64_t)) +
				 maps);

	if (!b)
		return NULL;
	*b = (struct batch){.cap = cap};
	b->child = (struct ArrowArray *)(b + 1);
	b->column = (uint8_t *)(b->child + f);
	b->childs = column_of(b, f);
	b->buffer = (const void **)(b->childs + f);
	b->bitmap = memset(b->buffer + 2 * f, 0, maps);
	return b;
}

/* ------------------------------------------------------------------ schema */

/* A schema that was given away, with its own copy of every text. */
struct described {
	atomic_size_t refs;
	struct ArrowSchema **childs;
	struct ArrowSchema child[];
};

static void drop_described(struct described *d)
{
	if (atomic_fetch_sub(&d->refs, 1) == 1)
		free(d);
}

static void release_schema_child(struct ArrowSchema *s)
{
	struct described *d = s->private_data;

	s->release = NULL;
	drop_described(d);
}

static void release_schema(struct ArrowSchema *s)
{
	struct described *d = s->private_data;

	for (int64_t i = 0; i < s->n_children; i++)
		if (s->children[i]->release)
			s->children[i]->release(s->children[i]);
	s->release = NULL;
	drop_described(d);
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	const struct table *t = stream->private_data;
	size_t bytes = sizeof(struct described) +
		       t->fields * (sizeof(struct ArrowSchema) + sizeof(struct ArrowSchema *));
	struct described *d;
	char *text;

	for (size_t i = 0; i < t->fields; i++)
		bytes += strlen(t->field[i].name) + 1 + t->field[i].metadata_bytes;
	d = malloc(bytes);
	if (!d)
		return ENOMEM;
	atomic_init(&d->refs, t->fields + 1);
	d->childs = (struct ArrowSchema **)(d->child + t->fields);
	text = (char *)(d->childs + t->fields);
	for (size_t i = 0; i < t->fields; i++) {
		const struct field *f = &t->field[i];
		const size_t n = strlen(f->name) + 1;

		d->child[i] = (struct ArrowSchema){.format = f->format,
						   .name = memcpy(text, f->name, n),
						   .flags = f->flags,
						   .release = release_schema_child,
						   .private_data = d};
		text += n;
		if (f->metadata) {
			d->child[i].metadata = memcpy(text, f->metadata, f->metadata_bytes);
			text += f->metadata_bytes;
		}
		d->childs[i] = &d->child[i];
	}
	*out = (struct ArrowSchema){.format = "+s",
				    .name = "",
				    .n_children = (int64_t)t->fields,
				    .children = d->childs,
				    .release = release_schema,
				    .private_data = d};
	return 0;
}

/* ------------------------------------------------------------------ stream */

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct table *t = stream->private_data;
	struct batch *b = t->head;

	if (!b) {
		*out = (struct ArrowArray){0};
		return 0;
	}
	t->head = b->next;
	export_batch(t, b, out);
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return "out of memory"; /* the only one that there is once all is read */
}

static void release_stream(struct ArrowArrayStream *stream)
{
	free_table(stream->private_data);
	stream->private_data = NULL;
	stream->release = NULL;
}

/* ------------------------------------------------------------------ filling */

static void pack(struct ww_str *s, const char *text)
{
	const int32_t n = (int32_t)strlen(text);

	ww_str_addn(s, (const char *)&n, sizeof(n));
	ww_str_addn(s, text, (size_t)n);
}

/* Key and value pairs, lengths in the machine's own order of bytes. Empty values stay out. */
static int describe(struct field *f, const char *name, const char *format,
		    const char *const (*pair)[2], size_t pairs, struct ww_error *err)
{
	struct ww_str s = {0};
	int32_t n = 0;

	f->format = format;
	f->name = strdup(name);
	for (size_t i = 0; i < pairs; i++)
		n += pair[i][1][0] != '\0';
	ww_str_addn(&s, (const char *)&n, sizeof(n));
	for (size_t i = 0; i < pairs; i++) {
		if (pair[i][1][0] == '\0')
			continue;
		pack(&s, pair[i][0]);
		pack(&s, pair[i][1]);
	}
	f->metadata_bytes = s.n;
	if (!f->name) {
		ww_str_free(&s);
		return ww_fail_nomem(err);
	}
	return ww_str_take(&s, &f->metadata, err);
}

static int describe_channel(struct field *f, const struct ww_channel_info *c, struct ww_error *err)
{
	struct ww_str digits = {0};
	const char *resolution;
	int rc;

	if (c->resolution > 0)
		ww_str_num(&digits, c->resolution);
	resolution = digits.p ? digits.p : "";
	rc = describe(f, c->name, "g",
		      (const char *const[][2]){{"unit", c->unit},
					       {"quantity", c->quantity},
					       {"semantics", ww_semantics_name(c->semantics)},
					       {"resolution", resolution}},
		      4, err);
	f->flags = ARROW_FLAG_NULLABLE;
	if (digits.bad && rc == 0)
		rc = ww_fail_nomem(err);
	ww_str_free(&digits);
	return rc;
}

static int describe_times(struct table *t, struct ww_error *err)
{
	struct field *f = t->field;
	int rc = 0;

	if (t->wall)
		rc = describe(f++, "time", "tsn:UTC", NULL, 0, err);
	if (rc == 0)
		rc = describe(f++, "t_s", "g", (const char *const[][2]){{"unit", "s"}}, 1, err);
	if (rc == 0)
		rc = describe(f++, "lo_ns", "l", (const char *const[][2]){{"unit", "ns"}}, 1, err);
	return rc == 0 ? describe(f, "hi_ns", "l", (const char *const[][2]){{"unit", "ns"}}, 1, err)
		       : rc;
}

/* Where a channel's codes lie in the rows of its source. */
static const struct ww_channel_info *find(const struct ww_trace *t, uint32_t id, size_t *column)
{
	const struct ww_channel_info *c, *found = NULL;

	for (size_t i = 0; !found && (c = ww_trace_channel(t, i)); i++)
		if (c->id == id)
			found = c;
	*column = 0;
	for (size_t i = 0; found && (c = ww_trace_channel(t, i)) != found; i++)
		*column += c->source == found->source;
	return found;
}

static int describe_all(struct table *x, const struct ww_trace *t, const uint32_t *channel,
			uint32_t *source, struct ww_error *err)
{
	int rc = describe_times(x, err);

	for (size_t i = 0; rc == 0 && i < x->channels; i++) {
		const struct ww_channel_info *c = find(t, channel[i], &x->column[i]);

		if (!c)
			return ww_fail(err, -EINVAL, "%s: there is no channel %u", ww_trace_path(t),
				       channel[i]);
		if (i == 0)
			*source = c->source;
		if (c->source != *source)
			return ww_fail(err, -EINVAL,
				       "%s: channels of two sources make no table: their rows "
				       "come at different times",
				       ww_trace_path(t));
		x->scale[i] = ww_scale_of(c->scale, c->offset);
		rc = describe_channel(&x->field[x->first + i], c, err);
	}
	return rc;
}

static void fill_values(const struct table *x, struct batch *to, const struct ww_batch *from,
			size_t at, size_t n)
{
	for (size_t k = 0; k < x->channels; k++) {
		const int64_t *code = from->codes[x->column[k]] + at;
		double *value = (double *)column_of(to, x->first + k) + to->n;
		uint8_t *bitmap = to->bitmap + k * ((to->cap + 7) / 8);

		for (size_t i = 0; i < n; i++) {
			const size_t bit = to->n + i;

			value[i] = ww_code_value(&x->scale[k], code[i]);
			bitmap[bit / 8] |= (uint8_t)(!isnan(value[i]) << (bit % 8));
		}
	}
}

/* A broken file may have times so far apart that no int64 holds the difference. */
static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The middle of what is sure; an open end gives way to the other one. */
static void fill_times(const struct table *x, const struct ww_trace *t, struct batch *to,
		       const int64_t *lo, const int64_t *hi, size_t n)
{
	int64_t *wall = x->wall ? (int64_t *)column_of(to, 0) + to->n : NULL;
	double *t_s = (double *)column_of(to, x->first - 3) + to->n;

	memcpy((int64_t *)column_of(to, x->first - 2) + to->n, lo, n * sizeof(*lo));
	memcpy((int64_t *)column_of(to, x->first - 1) + to->n, hi, n * sizeof(*hi));
	for (size_t i = 0; i < n; i++) {
		const int64_t a = lo[i] == WW_TIME_MIN ? hi[i] : lo[i];
		const int64_t b = hi[i] == WW_TIME_MAX ? lo[i] : hi[i];

		t_s[i] = (double)minus(minus(a, x->origin), minus(x->origin, b)) * 0.5e-9;
		if (wall)
			wall[i] = (int64_t)((uint64_t)a + ((uint64_t)b - (uint64_t)a) / 2);
	}
	if (wall)
		ww_trace_walls(t, n, wall, wall, NULL);
}

static int fill(struct table *x, struct ww_trace *t, uint32_t source, int64_t from_ns,
		int64_t to_ns, struct ww_error *err)
{
	int64_t left = ww_trace_rows(t, source, from_ns, to_ns, err);
	struct ww_cursor *c = NULL;
	struct ww_batch b;
	int rc = left < 0 ? (int)left : ww_cursor_open(t, source, from_ns, to_ns, 0, &c, err);

	while (rc >= 0 && left > 0 && (rc = ww_cursor_next(c, &b, err)) > 0) {
		for (size_t at = 0, n; at < b.n; at += n, left -= (int64_t)n) {
			const size_t want = left > BATCH_ROWS ? BATCH_ROWS : (size_t)left;

			if (!x->tail || x->tail->n == x->tail->cap) {
				struct batch *more = new_batch(x, want > 0 ? want : b.n - at);

				if (!more) {
					ww_cursor_close(c);
					return ww_fail_nomem(err);
				}
				*(x->tail ? &x->tail->next : &x->head) = more;
				x->tail = more;
			}
			n = x->tail->cap - x->tail->n;
			n = n < b.n - at ? n : b.n - at;
			fill_times(x, t, x->tail, b.lo_ns + at, b.hi_ns + at, n);
			fill_values(x, x->tail, &b, at, n);
			x->tail->n += n;
		}
	}
	ww_cursor_close(c);
	return rc < 0 ? rc : 0;
}

int ww_trace_arrow(struct ww_trace *t, const uint32_t *channel, size_t n, int64_t from_ns,
		   int64_t to_ns, struct ArrowArrayStream *out, struct ww_error *err)
{
	const struct ww_interval span = ww_trace_span(t);
	struct table *x = calloc(1, sizeof(*x));
	uint32_t source = 0;
	int rc = 0;

	*out = (struct ArrowArrayStream){0};
	if (n == 0)
		rc = ww_fail(err, -EINVAL, "%s: a table without channels", ww_trace_path(t));
	if (rc == 0 && x) {
		x->wall = ww_trace_anchor_count(t) > 0;
		x->first = x->wall ? 4 : 3;
		x->channels = n;
		x->fields = x->first + n;
		x->origin = ww_iv_ok(span) ? span.lo_ns : 0;
		x->field = calloc(x->fields, sizeof(*x->field));
		x->scale = calloc(n, sizeof(*x->scale));
		x->column = calloc(n, sizeof(*x->column));
	}
	if (rc == 0 && !(x && x->field && x->scale && x->column))
		rc = ww_fail_nomem(err);
	if (rc == 0)
		rc = describe_all(x, t, channel, &source, err);
	if (rc == 0)
		rc = fill(x, t, source, from_ns, to_ns, err);
	if (rc < 0) {
		free_table(x);
		return rc;
	}
	*out = (struct ArrowArrayStream){.get_schema = get_schema,
					 .get_next = get_next,
					 .get_last_error = get_last_error,
					 .release = release_stream,
					 .private_data = x};
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Writing a trace as a stream: JSON lines, or the same objects and blocks in frames. */
#include "trace/writer.h"
#include "trace/output.h"
#include "base/bytes.h"

#include <unistd.h>

#define FLUSH_BYTES (256u * 1024)

static int flush(struct ww_writer *w, struct ww_error *err)
{
	int rc = w->out.bad
			 ? ww_fail_nomem(err)
			 : ww_write_all(w->fd, w->out.p, w->out.n,
					w->fd == STDOUT_FILENO ? "standard output" : "stream", err);

	if (rc == 0)
		ww_str_reset(&w->out);
	return rc;
}

static int flush_if_large(struct ww_writer *w, struct ww_error *err)
{
	return w->out.bad || w->out.n >= FLUSH_BYTES ? flush(w, err) : 0;
}

/* Frames: type, length, payload, CRC of all before it. Begin, fill, end. */
static size_t frame_begin(struct ww_str *s, char type)
{
	size_t at = s->n;

	ww_str_addn(s, &type, 1);
	ww_str_addn(s, "\0\0\0\0", 4);
	return at;
}

static void frame_end(struct ww_str *s, size_t at)
{
	uint8_t crc[4];

	if (s->bad)
		return;
	ww_put_le((uint8_t *)s->p + at + 1, s->n - at - WW_FRAME_HEAD, 4);
	ww_put_le(crc, ww_crc32(0, s->p + at, s->n - at), 4);
	ww_str_addn(s, (const char *)crc, 4);
}

static const struct ww_writer_ops binary_ops;

static size_t object_begin(struct ww_writer *w)
{
	return w->ops == &binary_ops ? frame_begin(&w->out, WW_FRAME_JSON) : 0;
}

static int object_end(struct ww_writer *w, size_t at, struct ww_error *err)
{
	if (w->ops == &binary_ops)
		frame_end(&w->out, at);
	else
		ww_str_add(&w->out, "\n");
	return flush_if_large(w, err);
}

static int put_source(struct ww_writer *w, const struct ww_source_info *s, bool update,
		      struct ww_error *err)
{
	size_t at = object_begin(w);

	(void)update;
	ww_json_source(&w->out, s);
	return object_end(w, at, err);
}

static int put_channel(struct ww_writer *w, const struct ww_channel_info *c, struct ww_error *err)
{
	size_t at = object_begin(w);

	ww_json_channel(&w->out, c);
	return object_end(w, at, err);
}

static int put_mark(struct ww_writer *w, const struct ww_mark *m, struct ww_error *err)
{
	size_t at = object_begin(w);

	ww_json_mark(&w->out, m);
	return object_end(w, at, err);
}

static int put_gap(struct ww_writer *w, const struct ww_gap *g, struct ww_error *err)
{
	size_t at = object_begin(w);

	ww_json_gap(&w->out, g);
	return object_end(w, at, err);
}

static int put_anchor(struct ww_writer *w, const struct ww_anchor *a, struct ww_error *err)
{
	size_t at = object_begin(w);

	ww_json_anchor(&w->out, a);
	return object_end(w, at, err);
}

/* An object with up to two more members, text or number. */
static int put_small(struct ww_writer *w, const char *type, const char *key, const char *value,
		     struct ww_error *err)
{
	struct ww_json j = {.s = &w->out};
	size_t at = object_begin(w);

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "type", type);
	if (key) {
		ww_json_text(&j, "key", key);
		ww_json_text(&j, "value", value);
	} else if (value) {
		ww_json_int(&j, "format", WW_STREAM_FORMAT);
		ww_json_text(&j, "library", value);
	}
	ww_json_close(&j, '}');
	return object_end(w, at, err);
}

static int put_meta(struct ww_writer *w, const char *key, const char *value, struct ww_error *err)
{
	return put_small(w, "meta", key, value, err);
}

static int json_rows(struct ww_writer *w, struct ww_wsource *s, struct ww_error *err)
{
	ww_json_rows(&w->out, s);
	ww_tail_empty(s);
	return flush_if_large(w, err);
}

static int binary_rows(struct ww_writer *w, struct ww_wsource *s, struct ww_error *err)
{
	size_t at = frame_begin(&w->out, WW_FRAME_BLOCK);
	const uint8_t *blob;
	uint8_t id[WW_BLOCK_FRAME_FIX];
	size_t n;
	int rc = ww_block_encode(w->codec, &s->tail, &blob, &n, err);

	if (rc < 0)
		return rc;
	ww_put_le(id, s->id, sizeof(id));
	ww_str_addn(&w->out, (const char *)id, sizeof(id));
	ww_str_addn(&w->out, (const char *)blob, n);
	frame_end(&w->out, at);
	ww_tail_empty(s);
	return flush_if_large(w, err);
}

static int close_stream(struct ww_writer *w, struct ww_error *err)
{
	int rc;

	if (w->failed.code)
		return 0;
	rc = put_small(w, "end", NULL, NULL, err);
	return rc < 0 ? rc : flush(w, err);
}

static const struct ww_writer_ops json_ops = {.source = put_source,
					      .channel = put_channel,
					      .mark = put_mark,
					      .gap = put_gap,
					      .anchor = put_anchor,
					      .meta = put_meta,
					      .rows = json_rows,
					      .commit = flush,
					      .close = close_stream};
static const struct ww_writer_ops binary_ops = {.source = put_source,
						.channel = put_channel,
						.mark = put_mark,
						.gap = put_gap,
						.anchor = put_anchor,
						.meta = put_meta,
						.rows = binary_rows,
						.commit = flush,
						.close = close_stream};

int ww_wstream_open(struct ww_writer *w, int form, struct ww_error *err)
{
	if (w->fd < 0)
		return ww_fail(err, -EBADF, "stream: no descriptor to write to");
	w->ops = form == WW_FORM_JSONL ? &json_ops : &binary_ops;
	if (form == WW_FORM_BINARY)
		ww_str_addn(&w->out, WW_STREAM_MAGIC, WW_STREAM_MAGIC_N);
	return put_small(w, "wakewatt", NULL, "libwakewatt " WW_VERSION_STRING, err);
}

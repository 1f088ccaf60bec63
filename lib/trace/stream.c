/* SPDX-License-Identifier: MIT */
/* Reading a stream form, or a whole file, from a descriptor, without ever blocking. */
#include "trace/trace.h"
#include "base/bytes.h"

#include <poll.h>
#include <unistd.h>

#define READ_BYTES (64u * 1024)
#define PULL_BYTES (4u * 1024 * 1024) /* most of one pull: the caller has other things to do */

enum form { UNKNOWN, JSONL, BINARY, SQLITE };

static const char sqlite_magic[16] = "SQLite format 3";

struct ww_stream {
	struct ww_trace *t;
	int fd;
	bool own;
	bool eof;
	bool ended; /* it says itself that it is complete */
	enum form form;
	struct ww_apply *apply;
	uint8_t *buf;
	size_t at, n, cap; /* [at, n) is not yet taken */
	size_t scanned;	   /* no newline before this */
	uint64_t line;	   /* of JSON lines, or frames, for errors */
};

/* Read once. @return bytes, 0 nothing now or the end, negative error */
static ssize_t read_some(struct ww_stream *s, bool wait, struct ww_error *err)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};
	ssize_t got;

	if (poll(&p, 1, wait ? -1 : 0) <= 0)
		return 0;
	if (s->at > 0 && s->form != SQLITE) {
		memmove(s->buf, s->buf + s->at, s->n - s->at);
		s->n -= s->at;
		s->scanned -= s->at;
		s->at = 0;
	}
	if (s->cap - s->n < READ_BYTES) {
		size_t cap = s->cap * 2 > s->n + READ_BYTES ? s->cap * 2 : s->n + READ_BYTES;
		uint8_t *buf = realloc(s->buf, cap);

		if (!buf)
			return ww_fail_nomem(err);
		s->buf = buf;
		s->cap = cap;
	}
	got = read(s->fd, s->buf + s->n, s->cap - s->n < PULL_BYTES ? s->cap - s->n : PULL_BYTES);
	if (got < 0)
		return errno == EINTR || errno == EAGAIN
			       ? 0
			       : ww_fail(err, -errno, "%s: %s", s->t->path, strerror(errno));
	s->eof = got == 0;
	s->n += (size_t)got;
	return got;
}

static enum form form_of(const struct ww_stream *s)
{
	if (s->n > 0 && s->buf[0] == '{')
		return JSONL;
	if (s->n >= WW_STREAM_MAGIC_N && memcmp(s->buf, WW_STREAM_MAGIC, WW_STREAM_MAGIC_N) == 0)
		return BINARY;
	if (s->n >= sizeof(sqlite_magic) && memcmp(s->buf, sqlite_magic, sizeof(sqlite_magic)) == 0)
		return SQLITE;
	return UNKNOWN;
}

/* Bytes that were read before it was known that they are a trace's. */
static int take_head(struct ww_stream *s, const uint8_t *head, size_t n, struct ww_error *err)
{
	s->buf = n ? malloc(n) : NULL;
	if (n && !s->buf)
		return ww_fail_nomem(err);
	if (n)
		memcpy(s->buf, head, n);
	s->n = s->cap = n;
	s->form = form_of(s);
	return 0;
}

/* The only place that waits: nothing can be said before the first bytes have come. */
static int identify(struct ww_stream *s, struct ww_error *err)
{
	while (s->form == UNKNOWN && !s->eof && s->n < sizeof(sqlite_magic)) {
		ssize_t got = read_some(s, true, err);

		if (got < 0)
			return (int)got;
		s->form = form_of(s);
	}
	if (s->form == UNKNOWN)
		return ww_fail(err, -EINVAL, "%s: %s", s->t->path,
			       s->n ? "neither a trace nor a stream of one"
				    : "nothing came: no trace");
	if (s->form == BINARY)
		s->at = s->scanned = WW_STREAM_MAGIC_N;
	return 0;
}

int ww_stream_open(struct ww_trace *t, int fd, bool own, const uint8_t *head, size_t head_n,
		   struct ww_error *err)
{
	struct ww_stream *s = calloc(1, sizeof(*s));
	int rc;

	if (!s) {
		if (own)
			close(fd);
		return ww_fail_nomem(err);
	}
	*s = (struct ww_stream){.t = t, .fd = fd, .own = own};
	t->stream = s;
	t->memory = true;
	rc = take_head(s, head, head_n, err);
	if (rc == 0)
		rc = identify(s, err);
	if (rc < 0 || s->form == SQLITE)
		return rc;
	if (sqlite3_open_v2(":memory:", &t->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return ww_db_fail(t->db, t->path, err);
	return ww_apply_new(t->db, t->path, &s->apply, err);
}

void ww_stream_close(struct ww_stream *s)
{
	if (!s)
		return;
	ww_apply_free(s->apply);
	if (s->own)
		close(s->fd);
	free(s->buf);
	free(s);
}

/* Where in the stream something was wrong. */
static int located(struct ww_stream *s, int rc, const struct ww_error *why, struct ww_error *err)
{
	return ww_fail(err, rc, "%s: %s %llu: %s", s->t->path, s->form == JSONL ? "line" : "frame",
		       (unsigned long long)s->line, why->text);
}

static int take_line(struct ww_stream *s, size_t n, struct ww_error *err)
{
	struct ww_error why = {0};
	const char *p = (const char *)s->buf + s->at;
	int rc = 0;

	s->line++;
	if (n > 0 && !(n == 1 && *p == '\r'))
		rc = ww_apply_json(s->apply, p, n, &why);
	s->at += n + 1 < s->n - s->at ? n + 1 : s->n - s->at;
	s->scanned = s->at;
	if (rc < 0)
		return located(s, rc, &why, err);
	s->ended |= rc == 1;
	return 0;
}

static int take_lines(struct ww_stream *s, struct ww_error *err)
{
	int rc = 0;

	while (rc == 0 && !s->ended && s->at < s->n) {
		uint8_t *nl = memchr(s->buf + s->scanned, '\n', s->n - s->scanned);

		if (nl) {
			rc = take_line(s, (size_t)(nl - s->buf) - s->at, err);
			continue;
		}
		s->scanned = s->n;
		if (s->n - s->at > WW_FRAME_MAX)
			return ww_fail(err, -EBADMSG, "%s: line %llu is too long", s->t->path,
				       (unsigned long long)s->line + 1);
		if (!s->eof)
			break;
		/* A last line without its end is taken if it is whole. */
		take_line(s, s->n - s->at, NULL);
	}
	return rc;
}

static int take_frame(struct ww_stream *s, size_t length, struct ww_error *err)
{
	const uint8_t *p = s->buf + s->at;
	struct ww_error why = {0};
	int rc = 0;

	s->line++;
	if (ww_crc32(0, p, WW_FRAME_HEAD + length) !=
	    ((uint32_t)p[WW_FRAME_HEAD + length] | (uint32_t)p[WW_FRAME_HEAD + length + 1] << 8 |
	     (uint32_t)p[WW_FRAME_HEAD + length + 2] << 16 |
	     (uint32_t)p[WW_FRAME_HEAD + length + 3] << 24))
		rc = ww_fail(&why, -EBADMSG, "damaged: its checksum does not fit");
	else if (p[0] == WW_FRAME_JSON)
		rc = ww_apply_json(s->apply, (const char *)p + WW_FRAME_HEAD, length, &why);
	else if (p[0] == WW_FRAME_BLOCK)
		rc = ww_apply_block(s->apply, p + WW_FRAME_HEAD, length, &why);
	s->at += WW_FRAME_HEAD + length + 4;
	s->scanned = s->at;
	if (rc < 0)
		return located(s, rc, &why, err);
	s->ended |= rc == 1;
	return 0;
}

static int take_frames(struct ww_stream *s, struct ww_error *err)
{
	int rc = 0;

	while (rc == 0 && !s->ended && s->n - s->at >= WW_FRAME_HEAD) {
		const uint8_t *p = s->buf + s->at;
		size_t length =
			(size_t)p[1] | (size_t)p[2] << 8 | (size_t)p[3] << 16 | (size_t)p[4] << 24;

		if (length > WW_FRAME_MAX)
			return ww_fail(err, -EBADMSG, "%s: frame %llu: impossible length",
				       s->t->path, (unsigned long long)s->line + 1);
		if (s->n - s->at < WW_FRAME_HEAD + length + 4)
			break;
		rc = take_frame(s, length, err);
	}
	return rc;
}

/* A whole file that came through a pipe: a database in memory, without a log. */
static int take_database(struct ww_stream *s, struct ww_error *err)
{
	struct ww_trace *t = s->t;
	unsigned char *copy;
	enum ww_log log = ww_log_of(s->buf, s->n);
	const char *state;
	int rc;

	if (!s->eof)
		return 0;
	if (log == WW_LOG_ALL)
		return ww_fail(err, -ENOENT,
			       "%s: what its recorder stored lies in the -wal file beside it: "
			       "name the file instead of handing it over",
			       t->path);
	if (log == WW_LOG_REST)
		t->log = "it came without its log: what was stored last lies in the -wal file "
			 "beside it; name the file instead of handing it over";
	copy = sqlite3_malloc64(s->n);
	if (!copy)
		return ww_fail_nomem(err);
	memcpy(copy, s->buf, s->n);
	if (s->n > 20)
		copy[18] = copy[19] = 1;
	free(s->buf);
	s->buf = NULL;
	rc = sqlite3_open_v2(":memory:", &t->db,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			     NULL);
	if (rc != SQLITE_OK) {
		sqlite3_free(copy);
		return ww_db_fail(t->db, t->path, err);
	}
	if (sqlite3_deserialize(t->db, "main", copy, (sqlite3_int64)s->n, (sqlite3_int64)s->n,
				SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
	    SQLITE_OK)
		return ww_db_fail(t->db, t->path, err);
	rc = ww_trace_check_kind(t, err);
	if (rc == 0)
		rc = ww_trace_load(t, err);
	state = ww_trace_meta(t, WW_META_STATE);
	s->ended = rc >= 0 && state && strcmp(state, WW_STATE_CLOSED) == 0;
	return rc < 0 ? rc : 0;
}

int ww_stream_pull(struct ww_stream *s, struct ww_error *err)
{
	size_t taken = 0;
	ssize_t got = 1;
	int rc = 0;

	while (rc == 0 && !s->ended && taken < PULL_BYTES) {
		rc = s->form == JSONL	 ? take_lines(s, err)
		     : s->form == BINARY ? take_frames(s, err)
		     : s->eof		 ? take_database(s, err)
					 : 0;
		if (rc < 0 || s->ended || s->eof)
			break;
		got = read_some(s, false, err);
		if (got < 0)
			rc = (int)got;
		if (got <= 0 && !s->eof)
			break;
		taken += (size_t)got;
	}
	if (s->apply) {
		int end = ww_apply_commit(s->apply, rc < 0 ? NULL : err);

		rc = rc < 0 ? rc : end;
	}
	return rc < 0 ? rc : !s->ended && !s->eof;
}

bool ww_stream_complete(const struct ww_stream *s)
{
	return s->ended;
}

int ww_stream_fd(const struct ww_stream *s)
{
	return s->fd;
}

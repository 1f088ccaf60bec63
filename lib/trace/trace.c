/* SPDX-License-Identifier: MIT */
#include "trace/trace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LOOK_NS (200 * WW_NS_PER_MS)

int ww_trace_db(struct ww_trace *t, sqlite3 **db, struct ww_error *err)
{
	int rc = t->db ? 0 : ww_trace_connect(t, err);

	if (rc < 0) {
		sqlite3_close(t->db);
		t->db = NULL;
	}
	*db = t->db;
	return rc;
}

static void disconnect(struct ww_trace *t)
{
	sqlite3_finalize(t->changed);
	sqlite3_finalize(t->fetch);
	sqlite3_finalize(t->seek);
	t->changed = t->fetch = t->seek = NULL;
	sqlite3_close(t->db);
	t->db = NULL;
}

void ww_trace_release(struct ww_trace *t)
{
	if (!t->memory && !t->keep && t->db)
		disconnect(t);
}

static int make_timer(struct ww_trace *t, struct ww_error *err)
{
	struct itimerspec its = {.it_interval.tv_nsec = LOOK_NS, .it_value.tv_nsec = LOOK_NS};

	t->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (t->fd < 0 || timerfd_settime(t->fd, 0, &its, NULL) != 0)
		return ww_fail(err, -errno, "timerfd: %s", strerror(errno));
	return 0;
}

/* 1: a stream form in a file. Only what SQLite refused is opened here. */
static int starts_like_stream(const char *path)
{
	char head[WW_STREAM_MAGIC_N] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof(head)) : -1;

	if (fd >= 0)
		close(fd);
	return n > 0 && (head[0] == '{' || memcmp(head, WW_STREAM_MAGIC, sizeof(head)) == 0);
}

static int open_stream_file(struct ww_trace *t, struct ww_error *err)
{
	int fd = open(t->path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return ww_fail(err, -errno, "%s: %s", t->path, strerror(errno));
	rc = ww_stream_open(t, fd, true, NULL, 0, err);
	while (rc == 0 && t->state == WW_TRACE_LIVE)
		rc = ww_trace_refresh(t, err) < 0 ? -EIO : 0;
	return rc < 0 && err && err->code ? err->code : rc;
}

static int open_any(struct ww_trace *t, struct ww_error *err)
{
	struct ww_error why = {0};
	struct stat st;
	int rc;

	if (strcmp(t->path, "-") == 0)
		return ww_stream_open(t, STDIN_FILENO, false, NULL, 0, err);
	if (stat(t->path, &st) != 0)
		return ww_fail(err, -errno, "%s: %s", t->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return ww_fail(err, -EISDIR, "%s: a folder, not a trace", t->path);
	if (!S_ISREG(st.st_mode))
		return open_stream_file(t, err);
	rc = ww_trace_connect(t, &why);
	if (rc == -EINVAL && starts_like_stream(t->path)) {
		disconnect(t);
		return open_stream_file(t, err);
	}
	if (rc < 0)
		return ww_fail(err, rc, "%s", why.text);
	rc = ww_trace_load(t, err);
	if (rc >= 0 && t->state == WW_TRACE_LIVE)
		rc = make_timer(t, err);
	ww_trace_release(t);
	return rc;
}

int ww_trace_new(const char *path, struct ww_trace **out, struct ww_error *err)
{
	struct ww_trace *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return ww_fail_nomem(err);
	t->fd = -1;
	t->version = -1;
	t->state = WW_TRACE_LIVE;
	t->span = WW_INTERVAL_NONE;
	t->path = strdup(path);
	rc = t->path ? ww_codec_new(&t->codec, err) : ww_fail_nomem(err);
	if (rc < 0) {
		ww_trace_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

int ww_trace_open(const char *path, struct ww_trace **out, struct ww_error *err)
{
	struct ww_trace *t;
	int rc = ww_trace_new(path, &t, err);

	if (rc < 0)
		return rc;
	rc = open_any(t, err);
	if (rc < 0) {
		ww_trace_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

int ww_trace_open_fd(const char *path, int fd, bool own, const uint8_t *head, size_t head_n,
		     struct ww_trace **out, struct ww_error *err)
{
	struct ww_trace *t;
	int rc = ww_trace_new(path, &t, err);

	if (rc < 0) {
		if (own)
			close(fd);
		return rc;
	}
	rc = ww_stream_open(t, fd, own, head, head_n, err);
	if (rc < 0) {
		ww_trace_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

void ww_trace_close(struct ww_trace *t)
{
	if (!t)
		return;
	ww_stream_close(t->stream);
	disconnect(t);
	if (t->fd >= 0)
		close(t->fd);
	ww_codec_free(t->codec);
	ww_arena_free(&t->fixed);
	ww_arena_free(&t->grown);
	free(t->extent);
	free(t->mark);
	free(t->gap);
	free(t->anchor);
	free(t->damage);
	free(t->path);
	free(t);
}

static int refresh_stream(struct ww_trace *t, struct ww_error *err)
{
	int more = ww_stream_pull(t->stream, err);
	int rc = t->db ? ww_trace_load(t, err) : 0;

	if (more > 0)
		return rc;
	t->state = more == 0 && ww_stream_complete(t->stream) ? WW_TRACE_CLOSED : WW_TRACE_UNCLOSED;
	return more < 0 ? more : rc;
}

int ww_trace_refresh(struct ww_trace *t, struct ww_error *err)
{
	uint64_t ticks;
	sqlite3 *db;
	int rc;

	if (t->state != WW_TRACE_LIVE)
		return 0;
	if (t->stream)
		return refresh_stream(t, err);
	if (t->fd >= 0 && read(t->fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		return ww_fail(err, -errno, "%s: timer: %s", t->path, strerror(errno));
	rc = ww_trace_db(t, &db, err);
	if (rc == 0)
		rc = ww_trace_load(t, err);
	/* The writer waits for its followers before it makes one plain file. */
	if (rc >= 0 && t->state == WW_TRACE_CLOSED)
		disconnect(t);
	return rc;
}

int ww_trace_fd(const struct ww_trace *t)
{
	return t->stream ? ww_stream_fd(t->stream) : t->fd;
}

int ww_trace_state(const struct ww_trace *t)
{
	return t->state;
}

const char *ww_trace_path(const struct ww_trace *t)
{
	return t->path;
}

/* One accessor pair for each list. */
#define LIST(type, one, many)                                                                      \
	size_t ww_trace_##one##_count(const struct ww_trace *t)                                    \
	{                                                                                          \
		return t->many;                                                                    \
	}                                                                                          \
	const struct type *ww_trace_##one(const struct ww_trace *t, size_t i)                      \
	{                                                                                          \
		return i < t->many ? &t->one[i] : NULL;                                            \
	}
LIST(ww_source_info, source, sources)
LIST(ww_channel_info, channel, channels)
LIST(ww_mark, mark, marks)
LIST(ww_gap, gap, gaps)
LIST(ww_anchor, anchor, anchors)

const char *ww_trace_meta(const struct ww_trace *t, const char *key)
{
	for (size_t i = 0; i < t->metas; i++)
		if (strcmp(t->meta[i].key, key) == 0)
			return t->meta[i].value;
	return NULL;
}

int ww_trace_meta_at(const struct ww_trace *t, size_t i, const char **key, const char **value)
{
	if (i >= t->metas)
		return 0;
	*key = t->meta[i].key;
	*value = t->meta[i].value;
	return 1;
}

const char *ww_trace_warning(const struct ww_trace *t, size_t i)
{
	const char *log = t->log ? t->log : ww_trace_meta(t, WW_META_WARNING);

	if (log && i-- == 0)
		return log;
	return i < t->damages ? t->damage[i].text : NULL;
}

struct ww_interval ww_trace_span(const struct ww_trace *t)
{
	return t->span;
}

/* The anchor that serves boot_ns, and every time in [from, to). */
static const struct ww_anchor *anchor_of(const struct ww_trace *t, int64_t boot_ns, int64_t *from,
					 int64_t *to)
{
	const struct ww_anchor *before = NULL, *first = NULL;

	*to = INT64_MAX;
	for (size_t i = 0; i < t->anchors; i++) {
		const struct ww_anchor *a = &t->anchor[i];

		if (!first || a->boot_ns < first->boot_ns)
			first = a;
		if (a->boot_ns > boot_ns)
			*to = a->boot_ns < *to ? a->boot_ns : *to;
		else if (!before || a->boot_ns >= before->boot_ns)
			before = a;
	}
	*from = before ? before->boot_ns : INT64_MIN;
	return before ? before : first;
}

int ww_trace_wall(const struct ww_trace *t, int64_t boot_ns, int64_t *real_ns)
{
	return ww_trace_walls(t, 1, &boot_ns, real_ns, NULL) < 0 ? -ENODATA : 0;
}

int ww_trace_walls(const struct ww_trace *t, size_t n, const int64_t *boot_ns, int64_t *real_ns,
		   struct ww_error *err)
{
	/* The anchor that was best for the last one mostly is for the next one, too. */
	int64_t from = INT64_MAX, to = INT64_MIN, offset = 0;

	for (size_t i = 0; i < n; i++) {
		const int64_t boot = boot_ns[i];

		if (boot < from || boot >= to) {
			const struct ww_anchor *a = anchor_of(t, boot, &from, &to);

			if (!a)
				return ww_fail(err, -ENODATA,
					       "%s: no reading of the wall clock was stored",
					       t->path);
			offset = ww_add_sat(a->real_ns, -a->boot_ns);
		}
		real_ns[i] = ww_add_sat(boot, offset);
	}
	return 0;
}

const struct ww_source_info *ww_trace_source_by_id(const struct ww_trace *t, uint32_t id,
						   struct ww_error *err)
{
	/* A refresh that broke may have described sources whose rows it never looked at. */
	for (size_t i = 0; i < t->sources && i < t->extents; i++)
		if (t->source[i].id == id)
			return &t->source[i];
	ww_fail(err, -EINVAL, "%s: there is no source %u", t->path, id);
	return NULL;
}

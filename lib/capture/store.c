/* SPDX-License-Identifier: MIT */
#include "capture/capture.h"
#include "trace/writer.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

int ww_store_open(struct ww_store *s, size_t queue_bytes, struct ww_error *err)
{
	*s = (struct ww_store){.wake_fd = -1};
	atomic_init(&s->stop, false);
	atomic_init(&s->failed, 0);
	if (ww_ring_init(&s->ring, queue_bytes ? queue_bytes : (size_t)16 << 20) < 0)
		return ww_fail_nomem(err);
	s->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->wake_fd < 0) {
		ww_ring_free(&s->ring);
		return ww_fail(err, -errno, "eventfd: %s", strerror(errno));
	}
	return 0;
}

static int apply_desc(struct ww_store *s, uint16_t source, struct ww_desc *d)
{
	int rc;

	if (s->id[source]) {
		d->info.id = s->id[source];
		rc = ww_writer_update_source(s->writer, &d->info, &s->err);
		for (size_t i = 0; rc == 0 && d->refined && i < d->channels; i++) {
			d->channel[i].id = s->channel[source] + (uint32_t)i;
			d->channel[i].source = s->id[source];
			rc = ww_writer_refine(s->writer, &d->channel[i], &s->err);
		}
		return rc;
	}
	rc = ww_writer_known(s->writer, &d->info, d->channel, d->channels, &s->channel[source],
			     &s->err);
	if (rc > 0) {
		s->id[source] = (uint32_t)rc;
		d->refined = true;
		return apply_desc(s, source, d);
	}
	if (rc == 0)
		rc = ww_writer_source(s->writer, &d->info, &s->err);
	if (rc < 0)
		return rc;
	s->id[source] = (uint32_t)rc;
	for (size_t i = 0; i < d->channels; i++) {
		d->channel[i].source = s->id[source];
		rc = ww_writer_channel(s->writer, &d->channel[i], &s->err);
		if (rc < 0)
			return rc;
		if (i == 0)
			s->channel[source] = (uint32_t)rc;
	}
	return 0;
}

static uint32_t trace_id(const struct ww_store *s, uint16_t source)
{
	return source < WW_STORE_SOURCES ? s->id[source] : 0;
}

/* Onto the axis of a trace that is gone on with; open ends stay open. */
static int64_t on_axis(const struct ww_store *s, int64_t t)
{
	return t == WW_TIME_MIN || t == WW_TIME_MAX ? t : t + s->offset_ns;
}

static struct ww_interval iv_on_axis(const struct ww_store *s, struct ww_interval t)
{
	return (struct ww_interval){on_axis(s, t.lo_ns), on_axis(s, t.hi_ns)};
}

static int apply_mark(struct ww_store *s, const struct ww_ring_item *it, const void *p)
{
	const struct ww_item_mark *m = p;
	const char *kind = (const char *)(m + 1);
	struct ww_mark mark = {.t = iv_on_axis(s, m->t),
			       .source = trace_id(s, it->source),
			       .cycle = m->cycle,
			       .kind = kind,
			       .text = kind + strlen(kind) + 1};

	return ww_writer_mark(s->writer, &mark, &s->err);
}

static int apply_gap(struct ww_store *s, const struct ww_ring_item *it, const void *p)
{
	const struct ww_item_gap *g = p;
	struct ww_gap gap = {.t = iv_on_axis(s, g->t),
			     .source = trace_id(s, it->source),
			     .lost = g->lost,
			     .reason = (const char *)(g + 1)};

	s->given.gaps++;
	return ww_writer_gap(s->writer, &gap, &s->err);
}

/* The queue's memory is ours until the item is popped. */
static int apply_rows(struct ww_store *s, const struct ww_ring_item *it, void *p)
{
	uint64_t n;
	int rc;

	if (it->type == WW_ITEM_SAMPLES) {
		const struct ww_item_samples *h = p;
		int64_t *lo = (int64_t *)p + sizeof(*h) / sizeof(*lo);

		n = h->n;
		for (uint64_t i = 0; s->offset_ns && i < 2 * n; i++)
			lo[i] = on_axis(s, lo[i]);
		rc = ww_writer_samples(s->writer, trace_id(s, it->source), h->n, lo, lo + h->n,
				       lo + 2 * h->n, &s->err);
	} else {
		const struct ww_item_bytes *h = p;

		n = h->n;
		rc = ww_writer_bytes(s->writer, trace_id(s, it->source), iv_on_axis(s, h->t),
				     (const uint8_t *)(h + 1), h->n, &s->err);
	}
	if (rc == 0 && it->source < WW_STORE_SOURCES)
		s->given.n[it->source] += n;
	return rc;
}

static int apply_anchor(struct ww_store *s, const struct ww_anchor *in)
{
	struct ww_anchor a = *in;

	a.boot_ns = on_axis(s, a.boot_ns);
	return ww_writer_anchor(s->writer, &a, &s->err);
}

static int apply(struct ww_store *s, const struct ww_ring_item *it)
{
	void *p = (uint8_t *)(uintptr_t)it + sizeof(*it);
	const char *key = p;

	switch (it->type) {
	case WW_ITEM_DESC:
		return apply_desc(s, it->source, *(struct ww_desc *const *)p);
	case WW_ITEM_SAMPLES:
	case WW_ITEM_BYTES:
		return apply_rows(s, it, p);
	case WW_ITEM_MARK:
		return apply_mark(s, it, p);
	case WW_ITEM_GAP:
		return apply_gap(s, it, p);
	case WW_ITEM_ANCHOR:
		return apply_anchor(s, p);
	case WW_ITEM_META:
		return ww_writer_meta(s->writer, key, key + strlen(key) + 1, &s->err);
	default:
		return 0;
	}
}

/* Everything queued goes to the writer; after a failure it is only thrown away. */
static void drain(struct ww_store *s)
{
	const struct ww_ring_item *it;

	while ((it = ww_ring_peek(&s->ring)) != NULL) {
		int rc = 0;

		if (s->writer && atomic_load(&s->failed) == 0)
			rc = apply(s, it);
		if (it->type == WW_ITEM_DESC)
			ww_desc_free(*(struct ww_desc *const *)(const void *)(it + 1));
		ww_ring_pop(&s->ring, it);
		if (rc < 0)
			atomic_store(&s->failed, rc);
	}
}

static void commit(struct ww_store *s)
{
	int rc;

	if (!s->writer || atomic_load(&s->failed) != 0)
		return;
	rc = ww_writer_commit(s->writer, &s->err);
	if (rc < 0)
		atomic_store(&s->failed, rc);
	else
		s->stored = s->given;
}

static void *run(void *arg)
{
	struct ww_store *s = arg;
	int64_t next = ww_clock_ns(CLOCK_MONOTONIC) + s->commit_ns;

	while (!atomic_load(&s->stop)) {
		struct pollfd p = {.fd = s->wake_fd, .events = POLLIN};
		int64_t now = ww_clock_ns(CLOCK_MONOTONIC);
		int wait = next > now ? (int)((next - now) / WW_NS_PER_MS) + 1 : 0;
		uint64_t count;

		if (poll(&p, 1, wait) > 0 && read(s->wake_fd, &count, sizeof(count)) < 0)
			continue;
		drain(s);
		now = ww_clock_ns(CLOCK_MONOTONIC);
		if (now >= next) {
			commit(s);
			next = now + s->commit_ns;
		}
	}
	drain(s);
	commit(s);
	return NULL;
}

int ww_store_begin(struct ww_store *s, const struct ww_recorder_options *opt, struct ww_error *err)
{
	struct ww_writer_options wo = {.size = sizeof(wo),
				       .form = opt->form,
				       .fd = opt->fd,
				       .program = opt->program,
				       .command = opt->command};
	sigset_t all, old;
	int rc;

	/* A little under the limit: a commit takes time of its own. */
	s->commit_ns = opt->commit_ns > 0 && opt->commit_ns < 400 * WW_NS_PER_MS
			       ? opt->commit_ns
			       : 400 * WW_NS_PER_MS;
	if (opt->path || opt->form != WW_FORM_FILE) {
		rc = opt->append ? ww_append_begin(s, opt, err)
				 : ww_writer_open(opt->path, &wo, &s->writer, err);
		if (rc < 0) {
			ww_writer_close(s->writer, NULL);
			s->writer = NULL;
			return rc;
		}
		s->kept = true;
	}
	/* Signals belong to the application's thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0) {
		ww_writer_close(s->writer, NULL);
		s->writer = NULL;
		return ww_fail(err, -rc, "writer thread: %s", strerror(rc));
	}
	s->running = true;
	return 0;
}

void ww_store_nudge(struct ww_store *s)
{
	uint64_t one = 1;

	/* A full counter means that the thread is being woken already. */
	if (write(s->wake_fd, &one, sizeof(one)) < 0)
		return;
}

int ww_store_end(struct ww_store *s, struct ww_error *err)
{
	int rc;

	if (s->running) {
		atomic_store(&s->stop, true);
		ww_store_nudge(s);
		pthread_join(s->thread, NULL);
		s->running = false;
	}
	rc = ww_writer_close(s->writer, &s->err);
	s->writer = NULL;
	if (rc < 0 && atomic_load(&s->failed) == 0)
		atomic_store(&s->failed, rc);
	rc = atomic_load(&s->failed);
	return rc < 0 ? ww_fail(err, rc, "%s", s->err.text) : 0;
}

void ww_store_free(struct ww_store *s)
{
	if (s->ring.mem)
		drain(s);
	ww_ring_free(&s->ring);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	s->wake_fd = -1;
}

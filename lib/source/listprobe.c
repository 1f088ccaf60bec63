/* SPDX-License-Identifier: MIT */
/*
 * Asking ports whose id tells nothing which meter is behind them: the drivers one
 * after another, all ports at the same time.
 */
#include "source/list.h"
#include "source/source.h"
#include "meter/meter.h"

#include <poll.h>
#include <stdio.h>

/* A driver has so long to hear from its meter; the slowest needs 0.3 s and 2 s. */
#define TRY_NS	 (2500 * WW_NS_PER_MS)
#define TOTAL_NS (30 * WW_NS_PER_S)
#define ASKED	 16

struct asked {
	struct ww_list_entry *entry;
	struct ww_loop *loop;
	struct ww_source *source;
	size_t meter; /* row of the table that is tried */
	int64_t until_ns;
	bool answered, failed;
	char model[128], why[WW_ERROR_TEXT];
};

static int on_describe(void *ctx, const struct ww_source_info *info,
		       const struct ww_channel_info *channels, size_t n, struct ww_error *err)
{
	struct asked *a = ctx;

	(void)channels;
	(void)n;
	(void)err;
	/* The first description comes from opening; a later one from the meter. */
	if (a->source && *info->model) {
		a->answered = true;
		snprintf(a->model, sizeof(a->model), "%s", info->model);
	}
	return 0;
}

static void on_samples(void *ctx, size_t n, const int64_t *lo, const int64_t *hi,
		       const int64_t *codes)
{
	(void)n;
	(void)lo;
	(void)hi;
	(void)codes;
	((struct asked *)ctx)->answered = true;
}

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	(void)ctx;
	(void)t;
	(void)data;
	(void)n;
}

static void on_mark(void *ctx, struct ww_interval t, const char *kind, const char *text)
{
	(void)ctx;
	(void)t;
	(void)kind;
	(void)text;
}

static void on_gap(void *ctx, struct ww_interval t, int64_t lost, const char *reason)
{
	(void)ctx;
	(void)t;
	(void)lost;
	(void)reason;
}

static void on_lost(void *ctx, const struct ww_error *why)
{
	(void)why;
	((struct asked *)ctx)->failed = true;
}

static void on_ended(void *ctx)
{
	((struct asked *)ctx)->failed = true;
}

static void on_warn(void *ctx, const char *text)
{
	(void)ctx;
	(void)text;
}

/* Meters that any serial port may have behind it. */
static bool may_be(const struct ww_meter_desc *d)
{
	bool stream = !d->buses || (d->buses & WW_BUS_STREAM);
	bool known = d->usb != NULL;

	for (const struct ww_usb_id *u = d->usb; u && u->vid; u++)
		known &= !u->generic;
	return stream && !known && !d->left_out && !d->reconnect;
}

static void let_go(struct asked *a)
{
	if (a->source)
		a->source->ops->close(a->source);
	a->source = NULL;
}

/* Try the next driver on this port; false: none is left, or the port cannot be opened. */
static bool try_next(struct asked *a, int64_t now)
{
	struct ww_source_setup setup = {.loop = a->loop,
					.sink = {.ctx = a,
						 .describe = on_describe,
						 .samples = on_samples,
						 .bytes = on_bytes,
						 .raw = on_bytes,
						 .mark = on_mark,
						 .gap = on_gap,
						 .lost = on_lost,
						 .ended = on_ended,
						 .warn = on_warn}};
	char uri[320];

	for (; ww_meters[a->meter]; a->meter++) {
		const struct ww_meter_desc *d = &ww_meters[a->meter]->desc;
		struct ww_error err = {0};

		if (!may_be(d))
			continue;
		snprintf(uri, sizeof(uri), "%s:%s", d->name, a->entry->ask);
		setup.uri = uri;
		a->failed = a->answered = false;
		a->until_ns = now + TRY_NS;
		if (ww_source_open(&setup, &a->source, &err) < 0) {
			snprintf(a->why, sizeof(a->why), "%s", err.text);
			a->source = NULL;
			return false;
		}
		if (a->source->ops->start(a->source, &err) == 0)
			return true;
		let_go(a);
	}
	return false;
}

static int tell(struct asked *a)
{
	const struct ww_meter_desc *d = &ww_meters[a->meter]->desc;
	char uri[320], what[160], detail[600];

	snprintf(uri, sizeof(uri), "%s:%s", d->name, a->entry->ask);
	snprintf(what, sizeof(what), "%s (it answered)", d->name);
	snprintf(detail, sizeof(detail), "%.127s%s%.440s", a->model,
		 *a->model && *a->entry->f.detail ? ", " : "", a->entry->f.detail);
	return ww_list_change(a->entry, uri, what, detail, NULL);
}

/* @return 1 goes on, 0 this port is through, negative: no memory */
static int look(struct asked *a, int64_t now)
{
	if (a->answered) {
		a->source->ops->stop(a->source);
		let_go(a);
		return tell(a);
	}
	if (!a->failed && now < a->until_ns)
		return 1;
	if (!a->failed)
		a->source->ops->stop(a->source);
	let_go(a);
	a->meter++;
	return try_next(a, now) ? 1 : 0;
}

static int ask_all(struct asked *a, size_t n, struct ww_loop *loop, int64_t end_ns,
		   struct ww_error *err)
{
	struct pollfd p = {.fd = ww_loop_fd(loop), .events = POLLIN};
	size_t going = 1;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		try_next(&a[i], ww_loop_now(loop));
	while (going && rc >= 0 && ww_loop_now(loop) < end_ns) {
		going = 0;
		rc = ww_loop_dispatch(loop, err);
		for (size_t i = 0; i < n && rc >= 0; i++) {
			if (!a[i].source)
				continue;
			rc = look(&a[i], ww_loop_now(loop));
			going += rc > 0;
		}
		if (going && rc >= 0)
			poll(&p, 1, 20);
	}
	return rc < 0 ? rc : 0;
}

int ww_list_probe(struct ww_list *l, int64_t for_ns, struct ww_error *err)
{
	struct asked *a = calloc(ASKED, sizeof(*a));
	struct ww_loop *loop = NULL;
	size_t n = 0;
	int rc = a ? ww_loop_new(NULL, &loop, err) : ww_fail_nomem(err);

	for (size_t i = 0; rc == 0 && i < l->n && n < ASKED; i++)
		if (l->e[i].ask)
			a[n++] = (struct asked){.entry = &l->e[i], .loop = loop};
	if (rc == 0 && n)
		rc = ask_all(a, n, loop, ww_loop_now(loop) + (for_ns > 0 ? for_ns : TOTAL_NS), err);
	for (size_t i = 0; i < n; i++) {
		if (rc == 0 && *a[i].why && !*a[i].entry->f.hint)
			rc = ww_list_change(a[i].entry, NULL, NULL, NULL, a[i].why);
		let_go(&a[i]);
	}
	free(a);
	ww_loop_free(loop);
	return rc < 0 ? rc : (int)n;
}

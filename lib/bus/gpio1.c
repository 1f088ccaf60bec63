/* SPDX-License-Identifier: MIT */
/* libgpiod 1.x; gpio2.c is the same over 2.x, gpio0.c without it. */
#include "bus/gpio.h"

#if defined(WW_WITH_GPIOD) && WW_WITH_GPIOD == 1

#include "base/str.h"
#include "bus/gpioutil.h"

#include <fcntl.h>
#include <gpiod.h>
#include <stdio.h>

#define BATCH 16

struct ww_gpio {
	struct gpiod_chip *chip;
	struct gpiod_line *line;
	int fd;
	char text[160];
};

static int request(struct ww_gpio *g, const struct ww_gpio_line *l, struct ww_error *err)
{
	static const int bias[] = {0, GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE,
				   GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP,
				   GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN};
	int flags = bias[l->bias] | (l->active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0);

	if (l->debounce_ns)
		return ww_fail(err, -ENOTSUP,
			       "gpio:%s/%s: option debounce needs libgpiod 2; this build has 1.6",
			       l->chip, l->line);
	if (gpiod_line_request_both_edges_events_flags(g->line, "wakewatt", flags) < 0)
		return ww_gpio_request_failed(l, errno, gpiod_line_consumer(g->line), err);
	g->fd = gpiod_line_event_get_fd(g->line);
	if (g->fd < 0 || fcntl(g->fd, F_SETFL, fcntl(g->fd, F_GETFL) | O_NONBLOCK) < 0)
		return ww_fail(err, -errno, "gpio:%s/%s: no events: %s", l->chip, l->line,
			       strerror(errno));
	return 0;
}

static void name_of(void *chip, unsigned i, char *out)
{
	struct gpiod_line *line = gpiod_chip_get_line(chip, i);
	const char *name = line ? gpiod_line_name(line) : NULL;

	snprintf(out, 40, "%.39s", name ? name : "");
}

static int find(struct ww_gpio *g, const struct ww_gpio_line *l, struct ww_error *err)
{
	unsigned number;

	g->chip = gpiod_chip_open_lookup(l->chip);
	if (!g->chip)
		return ww_gpio_chip_failed(l, errno, err);
	if (ww_gpio_number(l->line, &number))
		g->line = gpiod_chip_get_line(g->chip, number);
	else
		g->line = gpiod_chip_find_line(g->chip, l->line);
	if (!g->line)
		return ww_gpio_line_failed(l, gpiod_chip_num_lines(g->chip), name_of, g->chip, err);
	ww_gpio_describe(g->text, sizeof(g->text), gpiod_chip_name(g->chip),
			 gpiod_line_offset(g->line), gpiod_line_name(g->line),
			 gpiod_chip_label(g->chip));
	return 0;
}

int ww_gpio_find(const struct ww_gpio_line *l, struct ww_gpio_place *out, struct ww_error *err)
{
	struct ww_gpio g = {.fd = -1};
	int rc = find(&g, l, err);

	*out = (struct ww_gpio_place){0};
	if (rc == 0) {
		const char *who = gpiod_line_consumer(g.line);

		snprintf(out->path, sizeof(out->path), "/dev/%.50s", gpiod_chip_name(g.chip));
		out->offset = gpiod_line_offset(g.line);
		out->used = gpiod_line_is_used(g.line);
		out->output = gpiod_line_direction(g.line) == GPIOD_LINE_DIRECTION_OUTPUT;
		snprintf(out->consumer, sizeof(out->consumer), "%.39s", who ? who : "");
		snprintf(out->text, sizeof(out->text), "%s", g.text);
	}
	if (g.chip)
		gpiod_chip_close(g.chip);
	return rc;
}

int ww_gpio_open(const struct ww_gpio_line *l, struct ww_gpio **out, struct ww_error *err)
{
	struct ww_gpio *g = calloc(1, sizeof(*g));
	int rc;

	if (!g)
		return ww_fail_nomem(err);
	g->fd = -1;
	rc = find(g, l, err);
	if (rc == 0)
		rc = request(g, l, err);
	if (rc < 0) {
		ww_gpio_close(g);
		return rc;
	}
	*out = g;
	return 0;
}

void ww_gpio_close(struct ww_gpio *g)
{
	if (!g)
		return;
	if (g->chip)
		gpiod_chip_close(g->chip); /* releases its lines too */
	free(g);
}

int ww_gpio_fd(const struct ww_gpio *g)
{
	return g->fd;
}

int ww_gpio_read(struct ww_gpio *g, struct ww_gpio_edge *edges, size_t max)
{
	struct gpiod_line_event ev[BATCH];
	int n = gpiod_line_event_read_fd_multiple(g->fd, ev, (unsigned)(max < BATCH ? max : BATCH));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		edges[i].stamp_ns = (int64_t)ev[i].ts.tv_sec * WW_NS_PER_S + ev[i].ts.tv_nsec;
		edges[i].seqno = 0;
		edges[i].level = ev[i].event_type == GPIOD_LINE_EVENT_RISING_EDGE;
	}
	return n;
}

int ww_gpio_level(struct ww_gpio *g)
{
	int v = gpiod_line_get_value(g->line);

	return v < 0 ? -errno : v;
}

const char *ww_gpio_text(const struct ww_gpio *g)
{
	return g->text;
}

int ww_gpio_chip(const char *name, char *label, size_t n, unsigned *lines)
{
	struct gpiod_chip *chip = gpiod_chip_open_by_name(name);

	if (!chip)
		return -errno;
	snprintf(label, n, "%s", gpiod_chip_label(chip));
	*lines = gpiod_chip_num_lines(chip);
	gpiod_chip_close(chip);
	return 0;
}

#endif

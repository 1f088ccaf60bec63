/* SPDX-License-Identifier: MIT */
/* libgpiod 2.x; gpio1.c is the same over 1.x. */
#include "bus/gpio.h"

#if defined(WW_WITH_GPIOD) && WW_WITH_GPIOD >= 2

#include "base/str.h"
#include "bus/gpioutil.h"

#include <dirent.h>
#include <fcntl.h>
#include <gpiod.h>
#include <stdio.h>

#define BATCH 64

struct ww_gpio {
	struct gpiod_chip *chip;
	struct gpiod_line_request *req;
	struct gpiod_edge_event_buffer *buf;
	unsigned offset;
	char text[160];
};

/* By name, number or path; else by label among all of them. */
static struct gpiod_chip *find_chip(const char *what)
{
	struct gpiod_chip *chip = NULL;
	int code = ENOENT;
	char path[288];
	struct dirent *e;
	unsigned number;
	DIR *d;

	if (*what == '/')
		return gpiod_chip_open(what);
	snprintf(path, sizeof(path), ww_gpio_number(what, &number) ? "/dev/gpiochip%s" : "/dev/%s",
		 what);
	chip = gpiod_chip_open(path);
	if (chip || errno == EACCES || errno == EPERM)
		return chip;
	d = opendir("/dev");
	while (d && !chip && (e = readdir(d))) {
		struct gpiod_chip_info *info;

		snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		if (strncmp(e->d_name, "gpiochip", 8) != 0)
			continue;
		chip = gpiod_chip_open(path);
		if (!chip) {
			code = errno == EACCES ? errno : code;
			continue;
		}
		info = gpiod_chip_get_info(chip);
		if (!info || strcmp(gpiod_chip_info_get_label(info), what) != 0) {
			gpiod_chip_close(chip);
			chip = NULL;
		}
		gpiod_chip_info_free(info);
	}
	if (d)
		closedir(d);
	if (!chip)
		errno = code;
	return chip;
}

static void name_of(void *chip, unsigned i, char *out)
{
	struct gpiod_line_info *line = gpiod_chip_get_line_info(chip, i);
	const char *name = line ? gpiod_line_info_get_name(line) : NULL;

	snprintf(out, 40, "%.39s", name ? name : "");
	if (line)
		gpiod_line_info_free(line);
}

static int find_line(struct ww_gpio *g, const struct ww_gpio_line *l, struct ww_error *err)
{
	struct gpiod_chip_info *info = gpiod_chip_get_info(g->chip);
	struct gpiod_line_info *line = NULL;
	unsigned lines;
	int off;

	if (!info)
		return ww_gpio_chip_failed(l, errno, err);
	lines = (unsigned)gpiod_chip_info_get_num_lines(info);
	if (!ww_gpio_number(l->line, &g->offset)) {
		off = gpiod_chip_get_line_offset_from_name(g->chip, l->line);
		g->offset = off < 0 ? lines : (unsigned)off;
	}
	if (g->offset < lines)
		line = gpiod_chip_get_line_info(g->chip, g->offset);
	if (line)
		ww_gpio_describe(g->text, sizeof(g->text), gpiod_chip_info_get_name(info),
				 g->offset, gpiod_line_info_get_name(line),
				 gpiod_chip_info_get_label(info));
	gpiod_chip_info_free(info);
	if (!line)
		return ww_gpio_line_failed(l, lines, name_of, g->chip, err);
	gpiod_line_info_free(line);
	return 0;
}

/* What the kernel says of a line that was found. */
static int look(struct ww_gpio *g, struct ww_gpio_place *out)
{
	struct gpiod_line_info *line = gpiod_chip_get_line_info(g->chip, g->offset);
	struct gpiod_chip_info *chip = gpiod_chip_get_info(g->chip);
	const char *who = line ? gpiod_line_info_get_consumer(line) : NULL;
	int rc = line && chip ? 0 : -EIO;

	if (rc == 0) {
		snprintf(out->path, sizeof(out->path), "/dev/%.50s",
			 gpiod_chip_info_get_name(chip));
		out->offset = g->offset;
		out->used = gpiod_line_info_is_used(line);
		out->output = gpiod_line_info_get_direction(line) == GPIOD_LINE_DIRECTION_OUTPUT;
		snprintf(out->consumer, sizeof(out->consumer), "%.39s", who ? who : "");
		snprintf(out->text, sizeof(out->text), "%s", g->text);
	}
	if (line)
		gpiod_line_info_free(line);
	if (chip)
		gpiod_chip_info_free(chip);
	return rc;
}

int ww_gpio_find(const struct ww_gpio_line *l, struct ww_gpio_place *out, struct ww_error *err)
{
	struct ww_gpio g = {.chip = find_chip(l->chip)};
	int rc;

	*out = (struct ww_gpio_place){0};
	if (!g.chip)
		return ww_gpio_chip_failed(l, errno, err);
	rc = find_line(&g, l, err);
	if (rc == 0)
		rc = look(&g, out);
	if (rc == -EIO)
		ww_fail(err, rc, "gpio:%s/%s: the line cannot be looked at", l->chip, l->line);
	gpiod_chip_close(g.chip);
	return rc;
}

static int apply(struct gpiod_line_settings *s, const struct ww_gpio_line *l)
{
	static const enum gpiod_line_bias bias[] = {GPIOD_LINE_BIAS_AS_IS, GPIOD_LINE_BIAS_DISABLED,
						    GPIOD_LINE_BIAS_PULL_UP,
						    GPIOD_LINE_BIAS_PULL_DOWN};

	gpiod_line_settings_set_active_low(s, l->active_low);
	gpiod_line_settings_set_debounce_period_us(s,
						   (unsigned long)(l->debounce_ns / WW_NS_PER_US));
	if (gpiod_line_settings_set_direction(s, GPIOD_LINE_DIRECTION_INPUT) < 0 ||
	    gpiod_line_settings_set_edge_detection(s, GPIOD_LINE_EDGE_BOTH) < 0 ||
	    gpiod_line_settings_set_bias(s, bias[l->bias]) < 0 ||
	    gpiod_line_settings_set_event_clock(s, GPIOD_LINE_CLOCK_MONOTONIC) < 0)
		return -1;
	return 0;
}

static const char *consumer(struct ww_gpio *g, char *out, size_t n)
{
	struct gpiod_line_info *info = gpiod_chip_get_line_info(g->chip, g->offset);
	const char *who = info ? gpiod_line_info_get_consumer(info) : NULL;

	snprintf(out, n, "%s", who ? who : "");
	if (info)
		gpiod_line_info_free(info);
	return out;
}

static int request(struct ww_gpio *g, const struct ww_gpio_line *l, struct ww_error *err)
{
	struct gpiod_line_settings *s = gpiod_line_settings_new();
	struct gpiod_line_config *lc = gpiod_line_config_new();
	struct gpiod_request_config *rc = gpiod_request_config_new();
	char who[64];
	int code = ENOMEM, fd;

	if (s && lc && rc && apply(s, l) == 0 &&
	    gpiod_line_config_add_line_settings(lc, &g->offset, 1, s) == 0) {
		gpiod_request_config_set_consumer(rc, "wakewatt");
		gpiod_request_config_set_event_buffer_size(rc, 1024);
		g->req = gpiod_chip_request_lines(g->chip, rc, lc);
		code = errno;
	}
	gpiod_request_config_free(rc);
	gpiod_line_config_free(lc);
	gpiod_line_settings_free(s);
	if (!g->req)
		return ww_gpio_request_failed(l, code, consumer(g, who, sizeof(who)), err);
	fd = gpiod_line_request_get_fd(g->req);
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return ww_fail(err, -errno, "gpio:%s/%s: no events: %s", l->chip, l->line,
			       strerror(errno));
	return 0;
}

int ww_gpio_open(const struct ww_gpio_line *l, struct ww_gpio **out, struct ww_error *err)
{
	struct ww_gpio *g = calloc(1, sizeof(*g));
	int rc;

	if (!g)
		return ww_fail_nomem(err);
	g->buf = gpiod_edge_event_buffer_new(BATCH);
	if (!g->buf) {
		rc = ww_fail_nomem(err);
		goto fail;
	}
	g->chip = find_chip(l->chip);
	if (!g->chip) {
		rc = ww_gpio_chip_failed(l, errno, err);
		goto fail;
	}
	rc = find_line(g, l, err);
	if (rc == 0)
		rc = request(g, l, err);
	if (rc < 0)
		goto fail;
	*out = g;
	return 0;
fail:
	ww_gpio_close(g);
	return rc;
}

void ww_gpio_close(struct ww_gpio *g)
{
	if (!g)
		return;
	if (g->req)
		gpiod_line_request_release(g->req);
	if (g->chip)
		gpiod_chip_close(g->chip);
	gpiod_edge_event_buffer_free(g->buf);
	free(g);
}

int ww_gpio_fd(const struct ww_gpio *g)
{
	return gpiod_line_request_get_fd(g->req);
}

int ww_gpio_read(struct ww_gpio *g, struct ww_gpio_edge *edges, size_t max)
{
	int n = gpiod_line_request_read_edge_events(g->req, g->buf, max < BATCH ? max : BATCH);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		struct gpiod_edge_event *e =
			gpiod_edge_event_buffer_get_event(g->buf, (unsigned long)i);

		edges[i].stamp_ns = (int64_t)gpiod_edge_event_get_timestamp_ns(e);
		edges[i].seqno = gpiod_edge_event_get_line_seqno(e);
		edges[i].level = gpiod_edge_event_get_event_type(e) == GPIOD_EDGE_EVENT_RISING_EDGE;
	}
	return n;
}

int ww_gpio_level(struct ww_gpio *g)
{
	enum gpiod_line_value v = gpiod_line_request_get_value(g->req, g->offset);

	if (v == GPIOD_LINE_VALUE_ERROR)
		return -errno;
	return v == GPIOD_LINE_VALUE_ACTIVE;
}

const char *ww_gpio_text(const struct ww_gpio *g)
{
	return g->text;
}

int ww_gpio_chip(const char *name, char *label, size_t n, unsigned *lines)
{
	struct gpiod_chip_info *info;
	struct gpiod_chip *chip;
	char path[288];

	snprintf(path, sizeof(path), "/dev/%s", name);
	chip = gpiod_chip_open(path);
	if (!chip)
		return -errno;
	info = gpiod_chip_get_info(chip);
	if (info) {
		snprintf(label, n, "%s", gpiod_chip_info_get_label(info));
		*lines = (unsigned)gpiod_chip_info_get_num_lines(info);
		gpiod_chip_info_free(info);
	}
	gpiod_chip_close(chip);
	return info ? 0 : -EIO;
}

#endif

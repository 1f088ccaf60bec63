/* SPDX-License-Identifier: MIT */
/* A build without libgpiod. */
#include "bus/gpio.h"

#ifndef WW_WITH_GPIOD

int ww_gpio_open(const struct ww_gpio_line *l, struct ww_gpio **out, struct ww_error *err)
{
	*out = NULL;
	return ww_fail(err, -ENOTSUP,
		       "gpio:%s/%s: built without libgpiod: install libgpiod-dev, then make",
		       l->chip, l->line);
}

void ww_gpio_close(struct ww_gpio *g)
{
	(void)g;
}

int ww_gpio_fd(const struct ww_gpio *g)
{
	(void)g;
	return -1;
}

int ww_gpio_read(struct ww_gpio *g, struct ww_gpio_edge *edges, size_t max)
{
	(void)g;
	(void)edges;
	(void)max;
	return -ENOTSUP;
}

int ww_gpio_level(struct ww_gpio *g)
{
	(void)g;
	return -ENOTSUP;
}

const char *ww_gpio_text(const struct ww_gpio *g)
{
	(void)g;
	return "";
}

int ww_gpio_find(const struct ww_gpio_line *l, struct ww_gpio_place *out, struct ww_error *err)
{
	struct ww_gpio *none;

	*out = (struct ww_gpio_place){0};
	return ww_gpio_open(l, &none, err);
}

int ww_gpio_chip(const char *name, char *label, size_t n, unsigned *lines)
{
	(void)name;
	(void)n;
	(void)lines;
	label[0] = '\0';
	return -ENOTSUP;
}

#endif

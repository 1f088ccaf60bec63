/* SPDX-License-Identifier: MIT */
/*
 * A GPIO chip that lives in a test: the functions of libgpiod that the library
 * calls are defined in the program and so come before libgpiod's own. Edges come
 * through a pipe.
 */
#ifndef TESTS_SOURCE_GPIOCHIP_H
#define TESTS_SOURCE_GPIOCHIP_H

#include "bus/gpio.h"

#include <unistd.h>

#define CHIP_LINES 8

static struct {
	int fd[2]; /* struct ww_gpio_edge */
	bool busy;
	int requests, closed, held; /* held: objects of libgpiod not given back */
	bool active_low;
	enum ww_gpio_bias bias;
	int64_t debounce_ns;
} chip;

/* As libgpiod reads: what waits, at most max; -1 where the device has gone. */
static int chip_read(struct ww_gpio_edge *e, size_t max)
{
	ssize_t n = read(chip.fd[0], e, max * sizeof(*e));

	if (n == 0)
		errno = ENODEV;
	return n > 0 ? (int)((size_t)n / sizeof(*e)) : -1;
}

#if WW_WITH_GPIOD >= 2
#include "gpiochip2.h"
#else
#include "gpiochip1.h"
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* What gpio1.c and gpio2.c share: the sentences. */
#ifndef WW_BUS_GPIOUTIL_H
#define WW_BUS_GPIOUTIL_H

#include "bus/gpio.h"

/* Is the text a whole number? */
bool ww_gpio_number(const char *text, unsigned *out);
int ww_gpio_chip_failed(const struct ww_gpio_line *l, int code, struct ww_error *err);
/* Name of the chip's line i into out[40], "" if it has none. */
typedef void (*ww_gpio_name_fn)(void *chip, unsigned i, char *out);
int ww_gpio_line_failed(const struct ww_gpio_line *l, unsigned lines, ww_gpio_name_fn name,
			void *chip, struct ww_error *err);
int ww_gpio_request_failed(const struct ww_gpio_line *l, int code, const char *consumer,
			   struct ww_error *err);
void ww_gpio_describe(char *out, size_t n, const char *chip, unsigned offset, const char *name,
		      const char *label);

#endif

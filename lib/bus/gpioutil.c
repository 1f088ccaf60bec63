/* SPDX-License-Identifier: MIT */
#include "bus/gpioutil.h"

#include <ctype.h>
#include <stdio.h>

bool ww_gpio_number(const char *text, unsigned *out)
{
	unsigned v = 0;

	if (!*text || strlen(text) > 6)
		return false;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return false;
		v = v * 10 + (unsigned)(*text - '0');
	}
	*out = v;
	return true;
}

int ww_gpio_chip_failed(const struct ww_gpio_line *l, int code, struct ww_error *err)
{
	if (code == EACCES || code == EPERM)
		return ww_fail(err, -EACCES,
			       "gpio:%s/%s: permission denied: install wakewatt's udev rules, or "
			       "`sudo usermod -aG gpio $USER` and log in again",
			       l->chip, l->line);
	if (code == ENOENT || code == ENODEV || code == ENXIO || code == ENOTTY)
		return ww_fail(err, -ENODEV,
			       "gpio:%s/%s: no such GPIO chip; `pwrlog list` shows what there is",
			       l->chip, l->line);
	return ww_fail(err, -code, "gpio:%s/%s: the chip cannot be opened: %s", l->chip, l->line,
		       strerror(code));
}

int ww_gpio_line_failed(const struct ww_gpio_line *l, unsigned lines, struct ww_error *err)
{
	return ww_fail(err, -ENOENT, "gpio:%s/%s: no such line; the chip has %u, numbered from 0",
		       l->chip, l->line, lines);
}

int ww_gpio_request_failed(const struct ww_gpio_line *l, int code, const char *consumer,
			   struct ww_error *err)
{
	if (code == EBUSY)
		return ww_fail(err, -EBUSY, "gpio:%s/%s: in use by %s", l->chip, l->line,
			       consumer && *consumer ? consumer : "another program");
	if (code == ENXIO || code == EOPNOTSUPP)
		return ww_fail(err, -ENOTSUP, "gpio:%s/%s: this chip cannot report edges (%s)",
			       l->chip, l->line, strerror(code));
	return ww_fail(err, -code, "gpio:%s/%s: no events from this line: %s", l->chip, l->line,
		       strerror(code));
}

void ww_gpio_describe(char *out, size_t n, const char *chip, unsigned offset, const char *name,
		      const char *label)
{
	if (name && *name)
		snprintf(out, n, "%s %u \"%s\" (%s)", chip, offset, name, label);
	else
		snprintf(out, n, "%s %u (%s)", chip, offset, label);
}

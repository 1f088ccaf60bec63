/* SPDX-License-Identifier: MIT */
#include "bus/gpioutil.h"

#include "base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>

#define NAME	32 /* longest of the kernel's, with its NUL */
#define NEAREST 4
#define LOOKED	4096 /* lines of a chip whose names are looked at */

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

/* What there is instead: "gpiochip0 (pinctrl-bcm2711)". */
static int no_chip(const struct ww_gpio_line *l, struct ww_error *err)
{
	struct ww_str have = {0};
	struct dirent *e;
	DIR *d = opendir("/dev");
	int rc;

	while (d && (e = readdir(d)) && have.n < 200) {
		char label[64] = "";
		unsigned lines;

		if (strncmp(e->d_name, "gpiochip", 8) != 0 ||
		    ww_gpio_chip(e->d_name, label, sizeof(label), &lines) < 0)
			continue;
		ww_str_addf(&have, "%s%s (%s)", have.n ? ", " : "; there are ", e->d_name, label);
	}
	if (d)
		closedir(d);
	rc = ww_fail(err, -ENODEV, "gpio:%s/%s: no such GPIO chip%s", l->chip, l->line,
		     have.n && !have.bad ? have.p : "; this machine has none that may be opened");
	ww_str_free(&have);
	return rc;
}

int ww_gpio_chip_failed(const struct ww_gpio_line *l, int code, struct ww_error *err)
{
	if (code == EACCES || code == EPERM)
		return ww_fail(err, -EACCES,
			       "gpio:%s/%s: permission denied: install wakewatt's udev rules, or "
			       "`sudo usermod -aG gpio $USER` and log in again",
			       l->chip, l->line);
	if (code == ENOENT || code == ENODEV || code == ENXIO || code == ENOTTY)
		return no_chip(l, err);
	return ww_fail(err, -code, "gpio:%s/%s: the chip cannot be opened: %s", l->chip, l->line,
		       strerror(code));
}

/* Edits from one name to the other, of whatever case; both shorter than NAME. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[NAME + 1];

	for (unsigned k = 0; k <= NAME; k++)
		row[k] = k;
	for (unsigned i = 0; a[i] && i < NAME; i++) {
		unsigned diagonal = row[0];

		row[0] = i + 1;
		for (unsigned k = 0; b[k] && k < NAME; k++) {
			unsigned swap = diagonal + (tolower((unsigned char)a[i]) !=
						    tolower((unsigned char)b[k]));
			unsigned other = (row[k] < row[k + 1] ? row[k] : row[k + 1]) + 1;

			diagonal = row[k + 1];
			row[k + 1] = swap < other ? swap : other;
		}
	}
	return row[strnlen(b, NAME)];
}

struct near {
	char name[40];
	unsigned far;
};

static void keep_nearest(struct near *best, const char *name, unsigned far)
{
	for (size_t i = 0; i < NEAREST; i++) {
		if (best[i].name[0] && best[i].far <= far)
			continue;
		memmove(&best[i + 1], &best[i], (NEAREST - 1 - i) * sizeof(*best));
		snprintf(best[i].name, sizeof(best[i].name), "%.39s", name);
		best[i].far = far;
		return;
	}
}

int ww_gpio_line_failed(const struct ww_gpio_line *l, unsigned lines, ww_gpio_name_fn name,
			void *chip, struct ww_error *err)
{
	struct near best[NEAREST] = {0};
	char text[NEAREST * 48] = "";
	unsigned number;
	size_t at = 0;

	for (unsigned i = 0; i < lines && i < LOOKED && !ww_gpio_number(l->line, &number); i++) {
		char buf[40] = "";

		name(chip, i, buf);
		if (buf[0])
			keep_nearest(best, buf, distance(l->line, buf));
	}
	for (size_t i = 0; i < NEAREST && best[i].name[0]; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s",
				       i ? ", " : "; nearest names: ", best[i].name);
	return ww_fail(err, -ENOENT, "gpio:%s/%s: no such line; the chip has %u, numbered from 0%s",
		       l->chip, l->line, lines, text);
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

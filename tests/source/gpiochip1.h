/* SPDX-License-Identifier: MIT */
/* Over libgpiod 1.6. */
#include <gpiod.h>

struct gpiod_chip *gpiod_chip_open_lookup(const char *what)
{
	errno = ENOENT;
	return strcmp(what, "gpiochip0") == 0 ? (struct gpiod_chip *)&chip : NULL;
}

void gpiod_chip_close(struct gpiod_chip *c)
{
	(void)c;
	chip.closed++;
}

struct gpiod_line *gpiod_chip_get_line(struct gpiod_chip *c, unsigned off)
{
	(void)c;
	return off < CHIP_LINES ? (struct gpiod_line *)&chip : NULL;
}

struct gpiod_line *gpiod_chip_find_line(struct gpiod_chip *c, const char *name)
{
	(void)c;
	return strcmp(name, "WAKE") == 0 ? (struct gpiod_line *)&chip : NULL;
}

unsigned gpiod_chip_num_lines(struct gpiod_chip *c)
{
	(void)c;
	return CHIP_LINES;
}

const char *gpiod_chip_name(struct gpiod_chip *c)
{
	(void)c;
	return "gpiochip0";
}

const char *gpiod_chip_label(struct gpiod_chip *c)
{
	(void)c;
	return "bench";
}

unsigned gpiod_line_offset(struct gpiod_line *l)
{
	(void)l;
	return 3;
}

const char *gpiod_line_name(struct gpiod_line *l)
{
	(void)l;
	return "WAKE";
}

bool gpiod_line_is_used(struct gpiod_line *l)
{
	(void)l;
	return chip.busy;
}

int gpiod_line_direction(struct gpiod_line *l)
{
	(void)l;
	return GPIOD_LINE_DIRECTION_INPUT;
}

const char *gpiod_line_consumer(struct gpiod_line *l)
{
	(void)l;
	return "other";
}

int gpiod_line_request_both_edges_events_flags(struct gpiod_line *l, const char *who, int flags)
{
	(void)l;
	(void)who;
	chip.active_low = flags & GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW;
	chip.bias = flags & GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE     ? WW_BIAS_OFF
		    : flags & GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP   ? WW_BIAS_UP
		    : flags & GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN ? WW_BIAS_DOWN
								     : WW_BIAS_AS_IS;
	chip.requests++;
	errno = EBUSY;
	return chip.busy ? -1 : 0;
}

int gpiod_line_event_get_fd(struct gpiod_line *l)
{
	(void)l;
	return chip.fd[0];
}

int gpiod_line_get_value(struct gpiod_line *l)
{
	(void)l;
	return 1;
}

int gpiod_line_event_read_fd_multiple(int fd, struct gpiod_line_event *ev, unsigned max)
{
	struct ww_gpio_edge e[16];
	int n = chip_read(e, max < 16 ? max : 16);

	(void)fd;
	for (int i = 0; i < n; i++)
		ev[i] = (struct gpiod_line_event){.ts = {.tv_sec = e[i].stamp_ns / WW_NS_PER_S,
							 .tv_nsec = e[i].stamp_ns % WW_NS_PER_S},
						  .event_type =
							  e[i].level
								  ? GPIOD_LINE_EVENT_RISING_EDGE
								  : GPIOD_LINE_EVENT_FALLING_EDGE};
	return n;
}

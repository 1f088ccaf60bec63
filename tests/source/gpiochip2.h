/* SPDX-License-Identifier: MIT */
/* Over libgpiod 2. What it hands out is counted: all of it must come back. */
#include <gpiod.h>

struct gpiod_chip_info {
	int unused;
};
struct gpiod_line_info {
	int unused;
};
struct gpiod_line_settings {
	int direction, edge, clock;
	enum gpiod_line_bias bias;
	bool active_low;
	unsigned long debounce_us;
};
struct gpiod_line_config {
	struct gpiod_line_settings settings;
	unsigned offset;
};
struct gpiod_request_config {
	size_t events;
};
struct gpiod_edge_event {
	struct ww_gpio_edge edge;
};
struct gpiod_edge_event_buffer {
	size_t capacity;
	struct gpiod_edge_event ev[64];
};

static void *chip_give(size_t size)
{
	void *p = calloc(1, size);

	assert_non_null(p);
	chip.held++;
	return p;
}

static void chip_back(void *p)
{
	chip.held -= p != NULL;
	free(p);
}

struct gpiod_chip *gpiod_chip_open(const char *path)
{
	if (strcmp(path, "/dev/gpiochip0") != 0) {
		errno = ENOENT;
		return NULL;
	}
	return chip_give(1);
}

void gpiod_chip_close(struct gpiod_chip *c)
{
	chip.closed++;
	chip_back(c);
}

struct gpiod_chip_info *gpiod_chip_get_info(struct gpiod_chip *c)
{
	(void)c;
	return chip_give(sizeof(struct gpiod_chip_info));
}

void gpiod_chip_info_free(struct gpiod_chip_info *i)
{
	chip_back(i);
}

const char *gpiod_chip_info_get_name(struct gpiod_chip_info *i)
{
	(void)i;
	return "gpiochip0";
}

const char *gpiod_chip_info_get_label(struct gpiod_chip_info *i)
{
	(void)i;
	return "bench";
}

size_t gpiod_chip_info_get_num_lines(struct gpiod_chip_info *i)
{
	(void)i;
	return CHIP_LINES;
}

int gpiod_chip_get_line_offset_from_name(struct gpiod_chip *c, const char *name)
{
	(void)c;
	errno = ENOENT;
	return strcmp(name, "WAKE") == 0 ? 3 : -1;
}

struct gpiod_line_info *gpiod_chip_get_line_info(struct gpiod_chip *c, unsigned off)
{
	(void)c;
	errno = EINVAL;
	return off < CHIP_LINES ? chip_give(sizeof(struct gpiod_line_info)) : NULL;
}

void gpiod_line_info_free(struct gpiod_line_info *i)
{
	chip_back(i);
}

const char *gpiod_line_info_get_name(struct gpiod_line_info *i)
{
	(void)i;
	return "WAKE";
}

bool gpiod_line_info_is_used(struct gpiod_line_info *i)
{
	(void)i;
	return chip.busy;
}

enum gpiod_line_direction gpiod_line_info_get_direction(struct gpiod_line_info *i)
{
	(void)i;
	return GPIOD_LINE_DIRECTION_INPUT;
}

const char *gpiod_line_info_get_consumer(struct gpiod_line_info *i)
{
	(void)i;
	return "other";
}

struct gpiod_line_settings *gpiod_line_settings_new(void)
{
	return chip_give(sizeof(struct gpiod_line_settings));
}

void gpiod_line_settings_free(struct gpiod_line_settings *s)
{
	chip_back(s);
}

int gpiod_line_settings_set_direction(struct gpiod_line_settings *s, enum gpiod_line_direction d)
{
	s->direction = (int)d;
	return 0;
}

int gpiod_line_settings_set_edge_detection(struct gpiod_line_settings *s, enum gpiod_line_edge e)
{
	s->edge = (int)e;
	return 0;
}

int gpiod_line_settings_set_bias(struct gpiod_line_settings *s, enum gpiod_line_bias b)
{
	s->bias = b;
	return 0;
}

void gpiod_line_settings_set_active_low(struct gpiod_line_settings *s, bool low)
{
	s->active_low = low;
}

void gpiod_line_settings_set_debounce_period_us(struct gpiod_line_settings *s, unsigned long us)
{
	s->debounce_us = us;
}

int gpiod_line_settings_set_event_clock(struct gpiod_line_settings *s, enum gpiod_line_clock c)
{
	s->clock = (int)c;
	return 0;
}

struct gpiod_line_config *gpiod_line_config_new(void)
{
	return chip_give(sizeof(struct gpiod_line_config));
}

void gpiod_line_config_free(struct gpiod_line_config *c)
{
	chip_back(c);
}

int gpiod_line_config_add_line_settings(struct gpiod_line_config *c, const unsigned *offsets,
					size_t n, struct gpiod_line_settings *s)
{
	assert_int_equal(n, 1);
	c->settings = *s;
	c->offset = *offsets;
	return 0;
}

struct gpiod_request_config *gpiod_request_config_new(void)
{
	return chip_give(sizeof(struct gpiod_request_config));
}

void gpiod_request_config_free(struct gpiod_request_config *c)
{
	chip_back(c);
}

void gpiod_request_config_set_consumer(struct gpiod_request_config *c, const char *who)
{
	(void)c;
	assert_string_equal(who, "wakewatt");
}

void gpiod_request_config_set_event_buffer_size(struct gpiod_request_config *c, size_t n)
{
	c->events = n;
}

struct gpiod_line_request *gpiod_chip_request_lines(struct gpiod_chip *c,
						    struct gpiod_request_config *rc,
						    struct gpiod_line_config *lc)
{
	const struct gpiod_line_settings *s = &lc->settings;

	(void)c;
	assert_true(rc->events > 16);
	assert_true(lc->offset < CHIP_LINES);
	assert_int_equal(s->direction, GPIOD_LINE_DIRECTION_INPUT);
	assert_int_equal(s->edge, GPIOD_LINE_EDGE_BOTH);
	assert_int_equal(s->clock, GPIOD_LINE_CLOCK_MONOTONIC);
	chip.active_low = s->active_low;
	chip.bias = s->bias == GPIOD_LINE_BIAS_DISABLED	   ? WW_BIAS_OFF
		    : s->bias == GPIOD_LINE_BIAS_PULL_UP   ? WW_BIAS_UP
		    : s->bias == GPIOD_LINE_BIAS_PULL_DOWN ? WW_BIAS_DOWN
							   : WW_BIAS_AS_IS;
	chip.debounce_ns = (int64_t)s->debounce_us * WW_NS_PER_US;
	chip.requests++;
	errno = EBUSY;
	return chip.busy ? NULL : chip_give(1);
}

void gpiod_line_request_release(struct gpiod_line_request *r)
{
	chip_back(r);
}

int gpiod_line_request_get_fd(struct gpiod_line_request *r)
{
	(void)r;
	return chip.fd[0];
}

enum gpiod_line_value gpiod_line_request_get_value(struct gpiod_line_request *r, unsigned off)
{
	(void)r;
	assert_true(off < CHIP_LINES);
	return GPIOD_LINE_VALUE_ACTIVE;
}

struct gpiod_edge_event_buffer *gpiod_edge_event_buffer_new(size_t capacity)
{
	struct gpiod_edge_event_buffer *b = chip_give(sizeof(*b));

	assert_true(capacity <= 64);
	b->capacity = capacity;
	return b;
}

void gpiod_edge_event_buffer_free(struct gpiod_edge_event_buffer *b)
{
	chip_back(b);
}

int gpiod_line_request_read_edge_events(struct gpiod_line_request *r,
					struct gpiod_edge_event_buffer *b, size_t max)
{
	struct ww_gpio_edge e[64];
	int n = chip_read(e, max < b->capacity ? max : b->capacity);

	(void)r;
	for (int i = 0; i < n; i++)
		b->ev[i].edge = e[i];
	return n;
}

struct gpiod_edge_event *gpiod_edge_event_buffer_get_event(struct gpiod_edge_event_buffer *b,
							   unsigned long i)
{
	assert_true(i < b->capacity);
	return &b->ev[i];
}

enum gpiod_edge_event_type gpiod_edge_event_get_event_type(struct gpiod_edge_event *e)
{
	return e->edge.level ? GPIOD_EDGE_EVENT_RISING_EDGE : GPIOD_EDGE_EVENT_FALLING_EDGE;
}

uint64_t gpiod_edge_event_get_timestamp_ns(struct gpiod_edge_event *e)
{
	return (uint64_t)e->edge.stamp_ns;
}

unsigned long gpiod_edge_event_get_line_seqno(struct gpiod_edge_event *e)
{
	return (unsigned long)e->edge.seqno;
}

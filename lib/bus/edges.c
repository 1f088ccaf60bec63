/* SPDX-License-Identifier: MIT */
/*
 * Edges of a GPIO line as messages: one byte each, '0' or '1', in the interval of the
 * kernel's own stamp. 'x' stands where the kernel's count of edges tells that some were
 * lost.
 */
#include "bus/portimpl.h"

#include "bus/gpio.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>

#define BATCH	 16
#define BATCHES	 64
#define QUEUE_NS (50 * WW_NS_PER_MS)

struct edges {
	struct ww_gpio *line;
	struct ww_gpio_clock clock;
	int64_t empty_ns; /* when no edge was waiting */
	int64_t last_hi_ns;
	uint64_t seqno; /* of the last edge */
	int64_t delay_ns;
};

/* hi may not fall from one message to the next; the kernel's own order is true. */
static struct ww_interval in_order(struct edges *e, struct ww_interval t)
{
	if (t.hi_ns < e->last_hi_ns)
		t.hi_ns = e->last_hi_ns;
	e->last_hi_ns = t.hi_ns;
	t.lo_ns -= e->delay_ns;
	return t;
}

static void give(struct ww_port *p, const struct ww_anchor *a, const struct ww_gpio_edge *v,
		 size_t n)
{
	struct edges *e = p->impl;

	for (size_t i = 0; i < n && ww_port_alive(p); i++) {
		struct ww_interval t =
			in_order(e, ww_gpio_shift(&e->clock, a, v[i].stamp_ns, e->empty_ns));
		uint8_t level = v[i].level ? '1' : '0';

		if (e->seqno && v[i].seqno > e->seqno + 1) {
			struct ww_interval hole = {e->empty_ns < t.hi_ns ? e->empty_ns : t.hi_ns,
						   t.hi_ns};

			ww_port_trouble(p, hole, (int64_t)(v[i].seqno - e->seqno - 1), "sequence");
			ww_port_message(p, hole, (const uint8_t *)"x", 1);
		}
		e->seqno = v[i].seqno;
		ww_port_message(p, t, &level, 1);
	}
}

static void edges_pump(struct ww_port *p)
{
	struct edges *e = p->impl;
	struct ww_gpio_edge v[BATCH];
	struct ww_anchor a;
	int n = 1;

	for (int i = 0; i < BATCHES && n > 0 && ww_port_alive(p); i++) {
		int64_t before = ww_loop_now(p->loop);

		/*
		 * Read only what is there: some chips' lines cannot be made to not wait. What
		 * is ready without being readable has gone, which not every kernel wakes for.
		 */
		struct pollfd fd = {.fd = p->fd, .events = POLLIN};

		if (poll(&fd, 1, 0) <= 0) {
			e->empty_ns = before;
			ww_port_empty(p, before);
			return;
		}
		n = fd.revents & POLLIN ? ww_gpio_read(e->line, v, BATCH) : -ENODEV;
		if (n < 0) {
			ww_port_lost(p, n, "gone: %s", strerror(-n));
			return;
		}
		if (ww_loop_anchor(p->loop, &a) < 0)
			return;
		ww_gpio_clock_anchor(&e->clock, &a);
		give(p, &a, v, (size_t)n);
	}
}

/* Sees a suspend of the bench soon, so that stamps before and after it stay narrow. */
static void edges_second(struct ww_port *p, int64_t now_ns)
{
	struct edges *e = p->impl;
	struct ww_anchor a;

	(void)now_ns;
	if (ww_loop_anchor(p->loop, &a) == 0)
		ww_gpio_clock_anchor(&e->clock, &a);
}

static void edges_close(struct ww_port *p)
{
	struct edges *e = p->impl;

	if (!e)
		return;
	if (e->line)
		ww_gpio_close(e->line);
	p->fd = -1;
	free(e);
	p->impl = NULL;
}

static const struct ww_port_ops edges_ops = {
	.pump = edges_pump,
	.second = edges_second,
	.close = edges_close,
};

static int options_of(struct ww_port *p, struct ww_uri *uri, struct ww_gpio_line *l,
		      struct ww_error *err)
{
	static const char *const names[] = {"as-is", "disable", "pull-up", "pull-down"};
	const char *bias = uri ? ww_uri_get(uri, "bias", "as-is") : "as-is";
	int64_t low = 0;
	size_t i;

	for (i = 0; i < WW_COUNTOF(names) && strcmp(bias, names[i]) != 0;)
		i++;
	if (i == WW_COUNTOF(names))
		return ww_fail(err, -EINVAL,
			       "%s: option bias=%s: expected as-is, disable, pull-up, pull-down",
			       p->place, bias);
	l->bias = (enum ww_gpio_bias)i;
	if (uri && (ww_uri_int(uri, "active_low", 0, 1, &low, err) < 0 ||
		    ww_uri_dur(uri, "debounce", &l->debounce_ns, err) < 0))
		return -EINVAL;
	l->active_low = low != 0;
	return 0;
}

/*
 * Debounced, an edge is stamped when the line has been quiet for so long, which
 * the kernel counts in jiffies: rounded up, begun within one, and served by a
 * queue that waits its turn on a busy machine. The coarse clock tells how long a
 * jiffy is.
 */
static int64_t debounce_delay(int64_t debounce_ns)
{
	struct timespec jiffy = {0, 10 * WW_NS_PER_MS};

	if (!debounce_ns)
		return 0;
	clock_getres(CLOCK_MONOTONIC_COARSE, &jiffy);
	return 2 * debounce_ns + 3 * (int64_t)jiffy.tv_nsec + QUEUE_NS;
}

static int open_line(struct ww_port *p, const struct ww_gpio_line *l, struct ww_error *err)
{
	struct edges *e = p->impl;
	struct ww_anchor a;
	int rc = ww_gpio_open(l, &e->line, err);

	if (rc < 0)
		return rc;
	p->fd = ww_gpio_fd(e->line);
	rc = ww_loop_anchor(p->loop, &a);
	if (rc < 0)
		return ww_fail(err, rc, "%s: the clocks cannot be read", p->place);
	ww_gpio_clock_anchor(&e->clock, &a);
	e->empty_ns = p->empty_ns = a.boot_ns;
	e->last_hi_ns = WW_TIME_MIN;
	e->delay_ns = debounce_delay(l->debounce_ns);
	p->transport.delay_max_ns = e->delay_ns;
	p->level = ww_gpio_level(e->line);
	snprintf(p->model, sizeof(p->model), "%s", ww_gpio_text(e->line));
	ww_port_setting(p, "level=%d(at the opening) active_low=%d debounce_us=%lld", p->level,
			l->active_low, (long long)(l->debounce_ns / WW_NS_PER_US));
	return 0;
}

int ww_edges_open(struct ww_port *p, const char *place, struct ww_uri *options,
		  struct ww_error *err)
{
	struct edges *e = calloc(1, sizeof(*e));
	const char *slash = strrchr(place, '/');
	struct ww_gpio_line l = {0};
	char chip[128];
	int rc;

	if (!e)
		return ww_fail_nomem(err);
	p->impl = e;
	p->ops = &edges_ops;
	p->transport.name = "kernel";
	p->tick_ns = WW_NS_PER_S; /* the descriptor tells */
	if (!slash || slash == place || !slash[1] || (size_t)(slash - place) >= sizeof(chip))
		return ww_fail(err, -EINVAL,
			       "gpio:%s: expected gpio:CHIP/LINE, such as "
			       "gpio:gpiochip0/17",
			       place);
	memcpy(chip, place, (size_t)(slash - place));
	chip[slash - place] = '\0';
	l.chip = chip;
	l.line = slash + 1;
	rc = options_of(p, options, &l, err);
	return rc < 0 ? rc : open_line(p, &l, err);
}

/* SPDX-License-Identifier: MIT */
/* A GPIO line: its edges, with the kernel's stamps, as samples of one channel. */
#include "source/source.h"
#include "bus/gpio.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>

#define BATCH	  16
#define ANCHOR_NS WW_NS_PER_S
#define QUEUE_NS  (50 * WW_NS_PER_MS)

struct gpio {
	struct ww_source base;
	struct ww_sink sink;
	struct ww_loop *loop;
	struct ww_gpio *line;
	struct ww_watch *watch;
	struct ww_timer *timer;
	struct ww_gpio_clock clock;
	int64_t empty_ns; /* when no edge was waiting */
	int64_t last_hi_ns;
	uint64_t seqno; /* of the last edge */
	int64_t delay_ns;
	bool started;
};

static void lost(struct gpio *g, int code)
{
	struct ww_error err = {0};

	ww_fail(&err, code, "gpio: %s: gone: %s", ww_gpio_text(g->line), strerror(-code));
	ww_watch_free(g->watch);
	g->watch = NULL;
	ww_timer_set(g->timer, WW_TIME_MAX, 0);
	g->sink.lost(g->sink.ctx, &err);
}

/* hi may not fall from one sample to the next; the kernel's own order is true. */
static struct ww_interval in_order(struct gpio *g, struct ww_interval t)
{
	if (t.hi_ns < g->last_hi_ns)
		t.hi_ns = g->last_hi_ns;
	g->last_hi_ns = t.hi_ns;
	return t;
}

static void give(struct gpio *g, const struct ww_anchor *a, const struct ww_gpio_edge *e, size_t n)
{
	int64_t lo[BATCH], hi[BATCH], code[BATCH];

	for (size_t i = 0; i < n; i++) {
		struct ww_interval t =
			in_order(g, ww_gpio_shift(&g->clock, a, e[i].stamp_ns, g->empty_ns));

		if (g->seqno && e[i].seqno > g->seqno + 1)
			g->sink.gap(g->sink.ctx, (struct ww_interval){g->empty_ns, t.hi_ns},
				    (int64_t)(e[i].seqno - g->seqno - 1), "sequence");
		g->seqno = e[i].seqno;
		lo[i] = t.lo_ns - g->delay_ns;
		hi[i] = t.hi_ns;
		code[i] = e[i].level;
	}
	g->sink.samples(g->sink.ctx, n, lo, hi, code);
}

/*
 * Takes what waits. Returns with the source possibly closed by its sink, so
 * nothing of it is touched after lost().
 */
static void take(struct gpio *g)
{
	struct ww_gpio_edge e[BATCH];
	struct ww_anchor a;
	int n = 1;

	for (int i = 0; i < 64 && n > 0; i++) {
		int64_t before = ww_loop_now(g->loop);

		n = ww_gpio_read(g->line, e, BATCH);
		if (n < 0) {
			lost(g, n);
			return;
		}
		if (n == 0) {
			g->empty_ns = before;
			return;
		}
		if (ww_loop_anchor(g->loop, &a) < 0)
			return;
		ww_gpio_clock_anchor(&g->clock, &a);
		if (g->started)
			give(g, &a, e, (size_t)n);
	}
}

static void on_ready(void *ctx, uint32_t events)
{
	struct gpio *g = ctx;

	if (events & EPOLLIN)
		take(g);
	else if (events & (EPOLLERR | EPOLLHUP))
		lost(g, -ENODEV);
}

/*
 * Sees a suspend of the bench soon, so that stamps before and after it stay narrow, and
 * an unplugged chip, which not every kernel wakes its users for.
 */
static void on_anchor(void *ctx, int64_t now_ns, int64_t late_ns)
{
	struct gpio *g = ctx;
	struct pollfd p = {.fd = ww_gpio_fd(g->line), .events = POLLIN};
	struct ww_anchor a;

	(void)now_ns;
	(void)late_ns;
	if (ww_loop_anchor(g->loop, &a) == 0)
		ww_gpio_clock_anchor(&g->clock, &a);
	if (poll(&p, 1, 0) > 0 && !(p.revents & POLLIN))
		lost(g, -ENODEV);
}

static int gpio_start(struct ww_source *s, struct ww_error *err)
{
	(void)err;
	((struct gpio *)s)->started = true;
	return 0;
}

static int64_t gpio_stop(struct ww_source *s)
{
	((struct gpio *)s)->started = false;
	return 0;
}

static void gpio_close(struct ww_source *s)
{
	struct gpio *g = (struct gpio *)s;

	ww_watch_free(g->watch);
	ww_timer_free(g->timer);
	ww_gpio_close(g->line);
	free(g);
}

static const struct ww_source_ops gpio_ops = {
	.start = gpio_start,
	.stop = gpio_stop,
	.close = gpio_close,
};

static int options(struct ww_uri *uri, struct ww_gpio_line *l, struct ww_error *err)
{
	static const char *const names[] = {"as-is", "disable", "pull-up", "pull-down"};
	const char *bias = ww_uri_get(uri, "bias", "as-is");
	int64_t low = 0;
	size_t i;

	for (i = 0; i < WW_COUNTOF(names) && strcmp(bias, names[i]) != 0;)
		i++;
	if (i == WW_COUNTOF(names))
		return ww_fail(err, -EINVAL,
			       "gpio: option bias=%s: expected as-is, disable, pull-up, pull-down",
			       bias);
	l->bias = (enum ww_gpio_bias)i;
	if (ww_uri_int(uri, "active_low", 0, 1, &low, err) < 0 ||
	    ww_uri_dur(uri, "debounce", &l->debounce_ns, err) < 0)
		return -EINVAL;
	l->active_low = low != 0;
	return 0;
}

static int describe(struct gpio *g, const struct ww_source_setup *setup, const char *role,
		    const struct ww_gpio_line *l, struct ww_error *err)
{
	int level = ww_gpio_level(g->line);
	const struct ww_channel_info ch = {.name = "level",
					   .quantity = "level",
					   .unit = "1",
					   .semantics = WW_EDGE,
					   .scale = 1,
					   .resolution = 1,
					   .acc_abs = NAN,
					   .acc_rel = NAN};
	struct ww_source_info info = {.kind = WW_LINE,
				      .name = "",
				      .uri = setup->uri,
				      .driver = "gpio",
				      .model = ww_gpio_text(g->line),
				      .serial = "",
				      .firmware = "",
				      .role = role,
				      .notes = ""};
	char text[128];

	info.transport = (struct ww_transport){.name = "kernel",
					       .settings = text,
					       .delay_max_ns = g->delay_ns};
	snprintf(text, sizeof(text), "level=%d(at the opening) active_low=%d debounce_us=%lld",
		 level, l->active_low, (long long)(l->debounce_ns / WW_NS_PER_US));
	return g->sink.describe(g->sink.ctx, &info, &ch, 1, err);
}

static int open_line(struct gpio *g, const struct ww_gpio_line *l, struct ww_error *err)
{
	struct ww_anchor a;
	int rc = ww_gpio_open(l, &g->line, err);

	if (rc < 0)
		return rc;
	rc = ww_loop_anchor(g->loop, &a);
	if (rc < 0)
		return ww_fail(err, rc, "gpio: the clocks cannot be read");
	ww_gpio_clock_anchor(&g->clock, &a);
	g->empty_ns = a.boot_ns;
	rc = ww_loop_timer(g->loop, on_anchor, g, &g->timer, err);
	if (rc < 0)
		return rc;
	ww_timer_set(g->timer, a.boot_ns + ANCHOR_NS, ANCHOR_NS);
	return ww_loop_watch(g->loop, ww_gpio_fd(g->line), EPOLLIN, on_ready, g, &g->watch, err);
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

static int gpio_open(const struct ww_source_setup *setup, struct ww_uri *uri,
		     struct ww_source **out, struct ww_error *err)
{
	struct gpio *g = calloc(1, sizeof(*g));
	const char *slash = strrchr(uri->place, '/');
	const char *role = ww_uri_get(uri, "role", "");
	struct ww_gpio_line l = {0};
	char chip[128];
	int rc = -EINVAL;

	if (!g)
		return ww_fail_nomem(err);
	g->base.ops = &gpio_ops;
	g->sink = setup->sink;
	g->loop = setup->loop;
	if (!slash || slash == uri->place || !slash[1] ||
	    (size_t)(slash - uri->place) >= sizeof(chip)) {
		ww_fail(err, rc, "gpio:%s: expected gpio:CHIP/LINE, such as gpio:gpiochip0/17",
			uri->place);
		goto fail;
	}
	memcpy(chip, uri->place, (size_t)(slash - uri->place));
	chip[slash - uri->place] = '\0';
	l.chip = chip;
	l.line = slash + 1;
	rc = options(uri, &l, err);
	g->delay_ns = debounce_delay(l.debounce_ns);
	if (rc == 0)
		rc = ww_uri_check_used(uri, "bias, active_low, debounce, role", err);
	if (rc == 0)
		rc = open_line(g, &l, err);
	if (rc == 0)
		rc = describe(g, setup, role, &l, err);
	if (rc < 0)
		goto fail;
	*out = &g->base;
	return 0;
fail:
	gpio_close(&g->base);
	return rc;
}

const struct ww_driver ww_source_gpio = {
	.name = "gpio",
	.summary = "edges of a GPIO line, stamped by the kernel",
	.example = "gpio:gpiochip0/17?role=wake",
#ifdef WW_WITH_GPIOD
	.available = true,
#endif
	.proven = false,
	.open = gpio_open,
};

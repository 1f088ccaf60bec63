/* SPDX-License-Identifier: MIT */
/*
 * Several meters on one RS-485 line: models of three on a pseudo-terminal, each a source
 * of its own. A dead one delays the others and does not stop them; when the line goes
 * away, all are told.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sinklog.h"
#include "bus/port.h"
#include "../emu/emu.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <stdatomic.h>
#include <termios.h>
#include <unistd.h>

#define SEC    WW_NS_PER_S
#define MS     WW_NS_PER_MS
#define METERS 3
#define QUEUE  64

/* The line as its meters see it. */
static struct bus {
	int master, keep;
	char path[64];
	pthread_t thread;
	atomic_bool stop;
	atomic_int clashes; /* questions while an answer was on its way */
	atomic_int asked[METERS];
	void *meter[METERS];
	const struct emu_model *model[METERS];
	struct {
		int64_t at;
		size_t n;
		uint8_t p[256];
	} queue[QUEUE];
	size_t queued;
} bus;

static void on_send(void *ctx, int64_t at, const void *p, size_t n)
{
	struct bus *b = ctx;

	if (b->queued == QUEUE || n > sizeof(b->queue[0].p))
		return;
	b->queue[b->queued].at = at + (int64_t)n * SEC / 960;
	b->queue[b->queued].n = n;
	memcpy(b->queue[b->queued++].p, p, n);
}

static void answers(struct bus *b, int64_t now)
{
	for (size_t i = 0; i < b->queued;) {
		if (b->queue[i].at > now) {
			i++;
			continue;
		}
		assert_int_equal(write(b->master, b->queue[i].p, b->queue[i].n), b->queue[i].n);
		b->queued--;
		memmove(b->queue + i, b->queue + i + 1, (b->queued - i) * sizeof(b->queue[0]));
	}
}

static void *carry(void *arg)
{
	struct bus *b = arg;
	const struct emu_out out = {.ctx = b, .send = on_send};

	while (!b->stop) {
		struct pollfd f = {.fd = b->master, .events = POLLIN};
		int64_t now;
		uint8_t buf[256];
		ssize_t n = 0;

		poll(&f, 1, 1);
		now = ww_clock_now_ns();
		if (f.revents & POLLIN)
			n = read(b->master, buf, sizeof(buf));
		if (n > 0) {
			b->clashes += b->queued > 0;
			b->asked[buf[0] >= 1 && buf[0] <= METERS ? buf[0] - 1 : 0]++;
		}
		for (size_t i = 0; i < METERS; i++) {
			if (n > 0)
				b->model[i]->host(b->meter[i], now, buf, (size_t)n, &out);
			while (b->model[i]->due(b->meter[i]) <= now)
				b->model[i]->tick(b->meter[i], now, &out);
		}
		answers(b, now);
	}
	return NULL;
}

static void plug(const char *const *models, const char *const *faults)
{
	struct termios t;

	memset(&bus, 0, sizeof(bus));
	assert_int_equal(openpty(&bus.master, &bus.keep, bus.path, NULL, NULL), 0);
	tcgetattr(bus.keep, &t);
	cfmakeraw(&t);
	tcsetattr(bus.keep, TCSANOW, &t);
	for (size_t i = 0; i < METERS; i++) {
		const struct emu_setup s = {.volts = 230,
					    .amps = 0.1 * (double)(i + 1),
					    .pf = 1,
					    .hz = 50,
					    .fault = faults[i],
					    .address = (unsigned)i + 1};

		bus.model[i] = emu_find(models[i]);
		assert_non_null(bus.model[i]);
		bus.meter[i] = calloc(1, bus.model[i]->state_size);
		assert_int_equal(bus.model[i]->init(bus.meter[i], &s), 0);
	}
	assert_int_equal(pthread_create(&bus.thread, NULL, carry, &bus), 0);
}

static void unplug(void)
{
	if (!bus.stop) {
		bus.stop = true;
		pthread_join(bus.thread, NULL);
		close(bus.keep);
		close(bus.master);
	}
}

static void remove_bus(void)
{
	unplug();
	for (size_t i = 0; i < METERS; i++)
		free(bus.meter[i]);
}

static int open_one(struct sinklog *s, struct ww_loop *loop, const char *driver,
		    const char *options, struct ww_source **src, struct ww_error *err)
{
	static char memory[METERS][WW_PORT_MEMORY];
	char uri[128];
	const struct ww_source_setup setup = {.loop = loop,
					      .sink = sl_sink(s),
					      .uri = uri,
					      .memory = memory[options[5] - '1'],
					      .every_ns = 200 * MS};
	int rc;

	snprintf(uri, sizeof(uri), "%s:%s?%s", driver, bus.path, options);
	rc = ww_source_open(&setup, src, err);
	return rc < 0 ? rc : (*src)->ops->start(*src, err);
}

static struct ww_loop *open_all(const char *const *models, const char *const *options,
				const char *const *faults, struct sinklog *s,
				struct ww_source **src)
{
	struct ww_error err = {0};
	struct ww_loop *loop;

	plug(models, faults);
	assert_int_equal(ww_loop_new(NULL, &loop, NULL), 0);
	for (size_t i = 0; i < METERS; i++)
		if (open_one(&s[i], loop, models[i], options[i], &src[i], &err) < 0)
			fail_msg("%s", err.text);
	return loop;
}

static void close_all(struct ww_loop *loop, struct sinklog *s, struct ww_source **src)
{
	for (size_t i = 0; i < METERS; i++) {
		if (src[i])
			src[i]->ops->close(src[i]);
		ww_str_free(&s[i].text);
		free(s[i].lo);
		free(s[i].hi);
		free(s[i].codes);
	}
	ww_loop_free(loop);
	remove_bus();
}

/* Until each has so many readings, or is lost. */
static void run_until(struct ww_loop *loop, struct sinklog *s, const size_t *rows)
{
	int64_t give_up = ww_clock_now_ns() + 30 * SEC;
	size_t ready = 0;

	while (ready < METERS) {
		struct pollfd f = {.fd = ww_loop_fd(loop), .events = POLLIN};

		if (ww_clock_now_ns() > give_up)
			fail_msg("%zu %zu %zu readings in 30 s", s[0].n, s[1].n, s[2].n);
		poll(&f, 1, 20);
		assert_true(ww_loop_dispatch(loop, NULL) >= 0);
		ready = 0;
		for (size_t i = 0; i < METERS; i++)
			ready += s[i].n >= rows[i] || s[i].lost;
	}
}

static void share(void **unused)
{
	static const char *const models[] = {"pzem004t", "sdm230", "pzem004t"};
	static const char *const options[] = {"addr=1&baud=9600", "addr=2&baud=9600", "addr=3"};
	static const char *const faults[] = {NULL, NULL, NULL};
	static const size_t rows[] = {3, 3, 3};
	struct sinklog s[METERS] = {0};
	struct ww_source *src[METERS];
	struct ww_loop *loop = open_all(models, options, faults, s, src);

	(void)unused;
	run_until(loop, s, rows);
	for (size_t i = 0; i < METERS; i++) {
		assert_false(s[i].lost);
		for (size_t k = 0; k < s[i].n; k++)
			assert_true(fabs(sl_value(&s[i], k, 0) - 23.0 * (double)(i + 1)) < 0.01);
	}
	assert_int_equal(bus.clashes, 0);
	/* One leaves; the others go on. */
	src[0]->ops->stop(src[0]);
	src[0]->ops->close(src[0]);
	run_until(loop, s, (const size_t[]){0, s[1].n + 2, s[2].n + 2});
	/* The line goes away under the rest. */
	unplug();
	run_until(loop, s, (const size_t[]){0, SIZE_MAX, SIZE_MAX});
	assert_true(s[1].lost && s[2].lost);
	src[0] = NULL;
	close_all(loop, s, src);
}

/* One is dead: the others have their readings all the same. */
static void dead_one(void **unused)
{
	static const char *const models[] = {"pzem004t", "pzem004t", "pzem004t"};
	static const char *const options[] = {"addr=1", "addr=2&timeout=40ms", "addr=3"};
	static const char *const faults[] = {NULL, "silent", NULL};
	static const size_t rows[] = {2, SIZE_MAX, 2};
	struct sinklog s[METERS] = {0};
	struct ww_source *src[METERS];
	struct ww_error err = {0};
	struct ww_loop *loop = open_all(models, options, faults, s, src);

	(void)unused;
	run_until(loop, s, rows);
	assert_true(s[1].lost);
	assert_non_null(strstr(s[1].why, "no answer from unit 2: nothing came"));
	assert_false(s[0].lost || s[2].lost);
	assert_int_equal(s[1].n, 0);
	assert_int_equal(bus.clashes, 0);
	/* The speed of a line is one. */
	src[1]->ops->close(src[1]);
	assert_true(open_one(&s[1], loop, "pzem004t", "addr=2&baud=4800", &src[1], &err) < 0);
	assert_non_null(strstr(err.text, "another meter has it open at 9600 baud"));
	src[1] = NULL;
	close_all(loop, s, src);
}

/* It takes a tenth of the line, and not all the time that the others leave. */
static void dead_rests(void **unused)
{
	static const char *const models[] = {"pzem004t", "pzem004t", "pzem004t"};
	static const char *const options[] = {"addr=1", "addr=2&timeout=300ms", "addr=3"};
	static const char *const faults[] = {NULL, "silent", NULL};
	struct sinklog s[METERS] = {0};
	struct ww_source *src[METERS];
	struct ww_loop *loop = open_all(models, options, faults, s, src);

	(void)unused;
	run_until(loop, s, (const size_t[]){5, 0, 5});
	assert_true(bus.asked[0] >= 5);
	assert_true(bus.asked[1] <= 3);
	close_all(loop, s, src);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(share),
		cmocka_unit_test(dead_one),
		cmocka_unit_test(dead_rests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "bus/loop.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <cmocka.h>

struct vclock {
	int64_t now;
};

static int64_t v_now(void *ctx)
{
	return ((struct vclock *)ctx)->now;
}

static int v_anchor(void *ctx, struct ww_anchor *out)
{
	*out = (struct ww_anchor){.boot_ns = v_now(ctx), .mono_ns = v_now(ctx)};
	return 0;
}

static void v_advance(void *ctx, int64_t to)
{
	struct vclock *v = ctx;

	assert_true(to > v->now);
	v->now = to;
}

static struct ww_loop *virtual_loop(struct vclock *v)
{
	struct ww_clock c = {v, v_now, v_anchor, v_advance};
	struct ww_loop *l = NULL;

	assert_int_equal(ww_loop_new(&c, &l, NULL), 0);
	return l;
}

static bool readable(const struct ww_loop *l, int ms)
{
	struct pollfd p = {.fd = ww_loop_fd(l), .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

/* What ran, in order. */
struct log {
	char text[64];
	size_t n;
	int64_t when[64];
	int64_t late[64];
};

struct cb {
	struct log *log;
	char name;
	struct ww_timer *t;
	struct ww_timer **kill; /* timer to free in the callback */
	struct ww_watch **kill_watch;
	int fd;
};

static void on_timer(void *ctx, int64_t now, int64_t late)
{
	struct cb *c = ctx;
	struct log *g = c->log;

	g->when[g->n] = now;
	g->late[g->n] = late;
	g->text[g->n++] = c->name;
	if (c->kill) {
		ww_timer_free(*c->kill);
		*c->kill = NULL;
	}
}

static void test_virtual_order(void **state)
{
	struct vclock v = {1000};
	struct ww_loop *l = virtual_loop(&v);
	struct log g = {0};
	struct cb c[4] = {{.log = &g, .name = 'a'},
			  {.log = &g, .name = 'b'},
			  {.log = &g, .name = 'c'},
			  {.log = &g, .name = 'd'}};
	const int64_t at[] = {5000, 3000, 5000, 4000};

	(void)state;
	assert_false(readable(l, 0));
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ww_loop_timer(l, on_timer, &c[i], &c[i].t, NULL), 0);
		ww_timer_set(c[i].t, at[i], 0);
	}
	/* A virtual clock does not wait: the loop asks for its turn at once. */
	while (readable(l, 100) && g.n < 10)
		assert_int_equal(ww_loop_dispatch(l, NULL), 0);
	assert_string_equal(g.text, "bdac");
	assert_int_equal(v.now, 5000);
	assert_int_equal(g.when[0], 3000);
	assert_int_equal(g.late[1], 0);
	assert_false(readable(l, 0));
	for (int i = 0; i < 4; i++)
		ww_timer_free(c[i].t);
	ww_loop_free(l);
}

static void test_periodic_virtual(void **state)
{
	struct vclock v = {0};
	struct ww_loop *l = virtual_loop(&v);
	struct log g = {0};
	struct cb c = {.log = &g, .name = 'p'};

	(void)state;
	assert_int_equal(ww_loop_timer(l, on_timer, &c, &c.t, NULL), 0);
	ww_timer_set(c.t, 10, 10);
	for (int i = 0; i < 5; i++)
		ww_loop_dispatch(l, NULL);
	assert_int_equal(g.n, 5);
	assert_int_equal(v.now, 50);
	/* Held up for 3 and a half periods: called once, with the first one's lateness. */
	v.now = 95;
	ww_loop_dispatch(l, NULL);
	assert_int_equal(g.n, 6);
	assert_int_equal(g.late[5], 35);
	ww_loop_dispatch(l, NULL);
	assert_int_equal(g.when[6], 100);
	ww_timer_free(c.t);
	ww_loop_free(l);
}

/* Every timer of a set may be freed by the one before it, itself included. */
static void test_free_in_callback(void **state)
{
	struct vclock v = {0};
	struct ww_loop *l = virtual_loop(&v);
	struct log g = {0};
	struct cb c[3] = {{.log = &g, .name = 'a'},
			  {.log = &g, .name = 'b'},
			  {.log = &g, .name = 'c'}};

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ww_loop_timer(l, on_timer, &c[i], &c[i].t, NULL), 0);
		ww_timer_set(c[i].t, 100, i == 2 ? 50 : 0);
	}
	c[0].kill = &c[1].t; /* due in the same pass */
	c[2].kill = &c[2].t; /* itself, periodic */
	for (int i = 0; i < 4; i++)
		ww_loop_dispatch(l, NULL);
	assert_string_equal(g.text, "ac");
	ww_timer_free(c[0].t);
	ww_loop_free(l);
}

static void rearm_past(void *ctx, int64_t now, int64_t late)
{
	struct cb *c = ctx;

	(void)late;
	c->log->n++;
	ww_timer_set(c->t, now - 5, 0);
}

/* A timer that sets itself into the past must not take the loop for itself. */
static void test_past_does_not_spin(void **state)
{
	struct ww_loop *l = NULL;
	struct log g = {0};
	struct cb c = {.log = &g, .name = 'x'};

	(void)state;
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	assert_int_equal(ww_loop_timer(l, rearm_past, &c, &c.t, NULL), 0);
	ww_timer_set(c.t, 1, 0);
	assert_true(readable(l, 1000));
	ww_loop_dispatch(l, NULL);
	assert_int_equal(g.n, 1);
	assert_true(readable(l, 1000));
	ww_loop_dispatch(l, NULL);
	assert_int_equal(g.n, 2);
	ww_timer_free(c.t);
	ww_loop_free(l);
}

static void test_heap(void **state)
{
	enum { N = 500 };
	static struct cb c[N];
	struct vclock v = {0};
	struct ww_loop *l = virtual_loop(&v);
	struct log g = {0};
	uint32_t x = 12345;
	int64_t last = 0;
	int ran = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		c[i] = (struct cb){.log = &g, .name = 'h'};
		assert_int_equal(ww_loop_timer(l, on_timer, &c[i], &c[i].t, NULL), 0);
	}
	for (int i = 0; i < 3 * N; i++) {
		x = x * 1664525u + 1013904223u;
		ww_timer_set(c[(x >> 8) % N].t, x >> 28 ? 1 + (int64_t)(x >> 12) : WW_TIME_MAX, 0);
	}
	while (readable(l, 0)) {
		g.n = 0;
		ww_loop_dispatch(l, NULL);
		for (size_t i = 0; i < g.n; i++) {
			assert_true(g.when[i] >= last);
			last = g.when[i];
			ran++;
		}
	}
	assert_in_range(ran, N / 2, N);
	for (int i = 0; i < N; i++)
		ww_timer_free(c[i].t);
	ww_loop_free(l);
}

static void test_real_clock(void **state)
{
	struct ww_loop *l = NULL;
	struct log g = {0};
	struct cb c = {.log = &g, .name = 'r'};
	int64_t due;

	(void)state;
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	assert_int_equal(ww_loop_timer(l, on_timer, &c, &c.t, NULL), 0);
	due = ww_loop_now(l) + 20 * WW_NS_PER_MS;
	ww_timer_set(c.t, due, 0);
	assert_true(readable(l, 5000));
	ww_loop_dispatch(l, NULL);
	assert_int_equal(g.n, 1);
	assert_true(g.when[0] >= due);
	assert_int_equal(g.late[0], g.when[0] - due);
	assert_false(readable(l, 0));
	ww_timer_free(c.t);
	ww_loop_free(l);
}

static void on_watch(void *ctx, uint32_t events)
{
	struct cb *c = ctx;
	char b;

	assert_true(events & EPOLLIN);
	assert_int_equal(read(c->fd, &b, 1), 1);
	c->log->text[c->log->n++] = c->name;
	if (c->kill_watch && *c->kill_watch) {
		ww_watch_free(*c->kill_watch);
		*c->kill_watch = NULL;
	}
}

/* Two are ready; whichever runs first removes the other, which then must not run. */
static void test_watch_removed_by_another(void **state)
{
	struct ww_loop *l = NULL;
	struct ww_watch *w[2] = {NULL, NULL};
	struct log g = {0};
	struct cb c[2] = {{.log = &g, .name = 'a'}, {.log = &g, .name = 'b'}};
	int fd[2][2];

	(void)state;
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(fd[i]), 0);
		c[i].fd = fd[i][0];
		c[i].kill_watch = &w[1 - i];
		assert_int_equal(ww_loop_watch(l, fd[i][0], EPOLLIN, on_watch, &c[i], &w[i], NULL),
				 0);
		assert_int_equal(write(fd[i][1], "x", 1), 1);
	}
	assert_true(readable(l, 1000));
	assert_int_equal(ww_loop_dispatch(l, NULL), 0);
	assert_int_equal(g.n, 1);
	assert_false(readable(l, 0));
	for (int i = 0; i < 2; i++) {
		ww_watch_free(w[i]);
		close(fd[i][0]);
		close(fd[i][1]);
	}
	ww_loop_free(l);
}

static void dispatch_again(void *ctx, int64_t now, int64_t late)
{
	struct ww_error err = {0};

	(void)now;
	(void)late;
	assert_int_equal(ww_loop_dispatch(ctx, &err), -EBUSY);
	assert_true(err.text[0]);
}

static void test_no_reentry(void **state)
{
	struct vclock v = {0};
	struct ww_loop *l = virtual_loop(&v);
	struct ww_timer *t;

	(void)state;
	assert_int_equal(ww_loop_timer(l, dispatch_again, l, &t, NULL), 0);
	ww_timer_set(t, 1, 0);
	assert_int_equal(ww_loop_dispatch(l, NULL), 0);
	ww_timer_free(t);
	ww_loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_virtual_order),
		cmocka_unit_test(test_periodic_virtual),
		cmocka_unit_test(test_free_in_callback),
		cmocka_unit_test(test_past_does_not_spin),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_real_clock),
		cmocka_unit_test(test_watch_removed_by_another),
		cmocka_unit_test(test_no_reentry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

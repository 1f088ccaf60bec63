/* SPDX-License-Identifier: MIT */
/* ww_recorder_run(): what makes it return, and that it has recorded meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "wakewatt.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct ww_recorder *started(const char *uri)
{
	struct ww_recorder_options opt = {.size = sizeof(opt)};
	struct ww_recorder *r;
	struct ww_error err = {0};

	if (ww_recorder_new(&opt, &r, &err) < 0 || ww_recorder_add(r, uri, NULL, &err) < 0 ||
	    ww_recorder_start(r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static uint64_t rows(const struct ww_recorder *r)
{
	struct ww_recorder_stats s;

	ww_recorder_stats(r, &s);
	return s.samples;
}

/* Woken before it began: one turn, as often as it is called, until the caller empties it. */
static void test_woken(void **state)
{
	struct ww_recorder *r = started("sim:?watts=5&rate=100");
	struct ww_error err = {0};
	int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);

	(void)state;
	assert_int_equal(ww_recorder_run(r, fd, &err), 1);
	assert_int_equal(ww_recorder_run(r, fd, &err), 1);
	assert_int_equal(ww_recorder_stop(r, &err), 0);
	ww_recorder_free(r);
	close(fd);
}

struct waker {
	int fd;
	pthread_t whom;
};

/* A signal to the thread of the loop is no reason to return; the descriptor is. */
static void *wake_later(void *arg)
{
	struct waker *w = arg;

	usleep(50000);
	pthread_kill(w->whom, SIGUSR1);
	usleep(100000);
	eventfd_write(w->fd, 1);
	return NULL;
}

static void nothing(int sig)
{
	(void)sig;
}

static void test_woken_later(void **state)
{
	struct sigaction act = {.sa_handler = nothing};
	struct ww_recorder *r = started("sim:?watts=5&rate=100");
	struct waker w = {eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), pthread_self()};
	struct ww_error err = {0};
	int64_t began = ww_clock_now_ns();
	pthread_t t;

	(void)state;
	sigaction(SIGUSR1, &act, NULL);
	assert_int_equal(pthread_create(&t, NULL, wake_later, &w), 0);
	assert_int_equal(ww_recorder_run(r, w.fd, &err), 1);
	assert_true(ww_clock_now_ns() - began >= 150000000);
	pthread_join(t, NULL);
	/* It recorded while it waited: readings came every 10 ms. */
	assert_true(rows(r) >= 5);
	assert_int_equal(ww_recorder_stop(r, &err), 0);
	ww_recorder_free(r);
	close(w.fd);
}

/* All sources have ended: told with nobody to wake it, and before that it was woken. */
static void test_ended(void **state)
{
	struct ww_error err = {0};
	int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);

	(void)state;
	for (int both = 0; both < 2; both++) {
		struct ww_recorder *r = started("sim:?watts=5&rate=1000&end=100ms");
		int rc;

		do {
			rc = ww_recorder_run(r, both ? fd : -1, &err);
		} while (both && rc == 1);
		assert_int_equal(rc, 0);
		assert_true(rows(r) >= 50);
		assert_int_equal(ww_recorder_stop(r, &err), 0);
		ww_recorder_free(r);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_woken),
		cmocka_unit_test(test_woken_later),
		cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

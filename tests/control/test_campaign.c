/* SPDX-License-Identifier: MIT */
/*
 * Campaigns against a pretended DUT: a process that writes a character every 5 ms to a
 * pseudo-terminal as long as a file "asleep" is absent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/base.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char dir[64], flag[96], path[96];

static long beat_ns = 5000000;

static pid_t dut(int master)
{
	const struct timespec t = {.tv_nsec = beat_ns};
	struct stat st;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (;;) {
		if (stat(flag, &st) != 0 && write(master, "a", 1) != 1)
			_exit(1);
		nanosleep(&t, NULL);
	}
}

struct outcome {
	char ends[256]; /* "ok,ok,timeout," */
	size_t requests, request_ends, wakes, wake_ends;
	char how[256]; /* text of the last request-end */
	int rc;
	char error[512];
};

static void read_marks(struct outcome *o)
{
	struct ww_error err = {0};
	struct ww_trace *t;

	if (ww_trace_open(path, &t, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < ww_trace_mark_count(t); i++) {
		const struct ww_mark *m = ww_trace_mark(t, i);

		if (strcmp(m->kind, WW_MARK_CYCLE_END) == 0) {
			strncat(o->ends, m->text, sizeof(o->ends) - strlen(o->ends) - 1);
			strncat(o->ends, ",", sizeof(o->ends) - strlen(o->ends) - 1);
		}
		o->requests += strcmp(m->kind, WW_MARK_REQUEST) == 0;
		o->wakes += strcmp(m->kind, WW_MARK_WAKE) == 0;
		o->wake_ends += strcmp(m->kind, WW_MARK_WAKE_END) == 0;
		if (strcmp(m->kind, WW_MARK_REQUEST_END) == 0) {
			o->request_ends++;
			snprintf(o->how, sizeof(o->how), "%s", m->text);
		}
	}
	ww_trace_close(t);
	unlink(path);
}

static struct outcome campaign(const char *suspend, const char *wake, uint32_t cycles)
{
	struct ww_campaign_options opt = {.size = sizeof(opt),
					  .suspend = suspend,
					  .wake = wake,
					  .cycles = cycles,
					  .asleep_ns = 200 * WW_NS_PER_MS,
					  .suspend_timeout_ns = 1500 * WW_NS_PER_MS,
					  .resume_timeout_ns = 1500 * WW_NS_PER_MS,
					  .settle_ns = 300 * WW_NS_PER_MS,
					  .silence_ns = 200 * WW_NS_PER_MS};
	struct ww_recorder_options ro = {.size = sizeof(ro), .path = path};
	struct outcome o = {0};
	struct ww_error err = {0};
	struct ww_recorder *r;
	struct ww_campaign *c = NULL;
	int master, slave;
	char port[64];
	pid_t pid;

	unlink(flag);
	unlink(path);
	assert_int_equal(openpty(&master, &slave, port, NULL, NULL), 0);
	pid = dut(master);
	if (ww_recorder_new(&ro, &r, &err) < 0 || ww_recorder_add(r, port, "port", &err) != 1 ||
	    ww_recorder_start(r, &err) < 0 || ww_campaign_new(r, 1, &opt, &c, &err) < 0)
		fail_msg("%s", err.text);
	do {
		struct pollfd p[2] = {{.fd = ww_recorder_fd(r), .events = POLLIN},
				      {.fd = ww_campaign_fd(c), .events = POLLIN}};

		poll(p, 2, 1000);
		assert_int_equal(ww_recorder_dispatch(r, &err), 1);
		o.rc = ww_campaign_dispatch(c, &err);
	} while (o.rc > 0);
	snprintf(o.error, sizeof(o.error), "%s", err.text);
	ww_campaign_free(c);
	ww_recorder_stop(r, NULL);
	ww_recorder_free(r);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(master);
	close(slave);
	read_marks(&o);
	return o;
}

static char *command(char *buf, size_t n, const char *verb)
{
	snprintf(buf, n, "%s %s", verb, flag);
	return buf;
}

static void test_two_good_cycles(void **state)
{
	char s[160], w[160];
	struct outcome o;

	(void)state;
	o = campaign(command(s, sizeof(s), "touch"), command(w, sizeof(w), "rm"), 2);
	assert_int_equal(o.rc, 0);
	assert_string_equal(o.ends, "ok,ok,");
	assert_int_equal(o.requests, 2);
	assert_int_equal(o.wakes, 2);
	assert_int_equal(o.wake_ends, 2);
	assert_string_equal(o.how, "exit 0");
}

static void test_refused(void **state)
{
	char w[160];
	struct outcome o;

	(void)state;
	o = campaign("echo 'write error: Device or resource busy' >&2; exit 16",
		     command(w, sizeof(w), "rm"), 1);
	assert_int_equal(o.rc, 0);
	assert_string_equal(o.ends, "no silence,");
	assert_int_equal(o.wakes, 0);
	assert_string_equal(o.how, "exit 16: write error: Device or resource busy");
}

static void test_never_back(void **state)
{
	char s[160];
	struct outcome o;

	(void)state;
	/* Three cycles wanted; the first ends the campaign. */
	o = campaign(command(s, sizeof(s), "touch"), "true", 3);
	assert_int_equal(o.rc, 0);
	assert_string_equal(o.ends, "timeout,");
	assert_int_equal(o.requests, 1);
}

static void test_wakes_by_itself(void **state)
{
	char s[300];
	struct outcome o;

	(void)state;
	snprintf(s, sizeof(s), "touch %s; sleep 0.6; rm %s", flag, flag);
	o = campaign(s, NULL, 1);
	assert_string_equal(o.ends, "ok,");
	assert_int_equal(o.wakes, 0);
	assert_int_equal(o.request_ends, 1);
}

/* Slower than the silence that means asleep: said, instead of waiting for ever. */
static void test_slow_beat_is_said(void **state)
{
	struct outcome o;

	(void)state;
	beat_ns = 400000000;
	o = campaign("true", "true", 2);
	beat_ns = 5000000;
	assert_int_equal(o.rc, -ETIMEDOUT);
	assert_non_null(strstr(o.error, "slower than the silence"));
	assert_int_equal(o.requests, 0);
}

/* A command that ends for no SIGTERM is ended all the same, and it is said. */
static void test_stubborn_command(void **state)
{
	int64_t begin = ww_clock_now_ns();
	struct outcome o;

	(void)state;
	o = campaign("trap '' TERM; while :; do sleep 0.1; done", "true", 1);
	assert_string_equal(o.ends, "no silence,");
	assert_non_null(strstr(o.how, "still ran"));
	assert_true(ww_clock_now_ns() - begin < 10 * WW_NS_PER_S);
}

static void test_no_heartbeat_is_said(void **state)
{
	struct ww_campaign_options opt = {.size = sizeof(opt),
					  .suspend = "true",
					  .resume_timeout_ns = 300 * WW_NS_PER_MS};
	struct ww_recorder_options ro = {.size = sizeof(ro)};
	struct ww_error err = {0};
	struct ww_recorder *r;
	struct ww_campaign *c;
	int master, slave, rc;
	char port[64];

	(void)state;
	assert_int_equal(openpty(&master, &slave, port, NULL, NULL), 0);
	assert_int_equal(ww_recorder_new(&ro, &r, &err), 0);
	assert_int_equal(ww_recorder_add(r, port, NULL, &err), 1);
	assert_int_equal(ww_recorder_start(r, &err), 0);
	assert_int_equal(ww_campaign_new(r, 1, &opt, &c, &err), 0);
	do {
		struct pollfd p = {.fd = ww_campaign_fd(c), .events = POLLIN};

		poll(&p, 1, 1000);
		ww_recorder_dispatch(r, NULL);
		rc = ww_campaign_dispatch(c, &err);
	} while (rc > 0);
	assert_int_equal(rc, -ETIMEDOUT);
	assert_non_null(strstr(err.text, "heartbeat"));
	ww_campaign_free(c);
	ww_recorder_free(r);
	close(master);
	close(slave);
}

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/ww-campaign-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(flag, sizeof(flag), "%s/asleep", dir);
	snprintf(path, sizeof(path), "%s/t.wwt", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(flag);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_good_cycles),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_never_back),
		cmocka_unit_test(test_wakes_by_itself),
		cmocka_unit_test(test_slow_beat_is_said),
		cmocka_unit_test(test_stubborn_command),
		cmocka_unit_test(test_no_heartbeat_is_said),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: MIT */
/* Actions over lines that live in fakelines.h; the guard is the real process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "acting.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define WW_GPIO_ENABLED (WW_WITH_GPIOD + 0)

#if WW_GPIO_ENABLED
#include "../source/gpiochip.h"
#endif

/* --------------------------------------------------------------------- GPIO */

#if WW_GPIO_ENABLED

/* When the line did what, of the n-th event so. */
static int64_t event_ns(char what)
{
	for (unsigned i = 0; i < fake->n; i++)
		if (fake->ev[i].what == what)
			return fake->ev[i].ns;
	fail_msg("no '%c' in %s", what, fake_story());
	return 0;
}

static void test_press_of_an_input(void **state)
{
	struct ww_interval t, len;
	struct ww_error err = {0};
	struct ww_action *a;
	int64_t before, after;

	(void)state;
	fake_reset();
	a = make("gpio:gpiochip0/WAKE=low,20ms?delay=5ms..9ms");
	assert_int_equal(ww_action_dispatch(a, &err), 0);
	assert_int_equal(ww_action_when(a, &t), -EAGAIN);
	before = ww_clock_now_ns();
	assert_int_equal(through(a, &err), 0);
	after = ww_clock_now_ns();
	/* Taken as it is, low, an input again with the pull-up that it had. */
	assert_string_equal(fake_story(), "R3 O0 I0");
	assert_true(fake->flags == (GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_BIAS_PULL_UP));
	assert_int_equal(ww_action_when(a, &t), 0);
	assert_true(t.lo_ns >= before + 5 * WW_NS_PER_MS && t.hi_ns <= after + 9 * WW_NS_PER_MS);
	assert_true(t.lo_ns - 5 * WW_NS_PER_MS <= event_ns('O'));
	assert_true(t.hi_ns - 9 * WW_NS_PER_MS >= event_ns('O'));
	len = ww_action_length(a);
	assert_true(len.lo_ns >= 20 * WW_NS_PER_MS - 1000);
	assert_true(len.lo_ns <= event_ns('I') - event_ns('O') &&
		    len.hi_ns >= event_ns('I') - event_ns('O'));
	assert_true(begins(ww_action_how(a), "pulse of 2"));
	ww_action_free(a);
}

/* It stood at the level of the press: it does not stay pressed. */
static void test_press_of_an_output(void **state)
{
	struct ww_error err = {0};
	struct ww_action *a;

	(void)state;
	fake_reset();
	fake->found_output = true;
	a = make("gpio:gpiochip0/3=low,5ms?drive=open-drain");
	assert_int_equal(through(a, &err), 0);
	assert_string_equal(fake_story(), "R3 O0 V1");
	assert_true(fake->flags & GPIO_V2_LINE_FLAG_OPEN_DRAIN);
	/* Again: each start is a press. */
	assert_int_equal(through(a, &err), 0);
	assert_string_equal(fake_story(), "R3 O0 V1 R3 O0 V1");
	ww_action_free(a);
}

static void test_held(void **state)
{
	struct ww_error err = {0};
	struct ww_action *a;

	(void)state;
	fake_reset();
	fake->found_output = true;
	a = make("gpio:gpiochip0/3=high");
	assert_int_equal(through(a, &err), 0);
	assert_string_equal(ww_action_how(a), "held high");
	assert_string_equal(fake_story(), "R3 O1");
	/* Once more: not a moment without it. */
	assert_int_equal(through(a, &err), 0);
	assert_string_equal(fake_story(), "R3 O1");
	ww_action_free(a);
	assert_string_equal(fake_story(), "R3 O1 V0");
}

/* A press that took longer than asked is an error, and says so. */
static void test_too_long(void **state)
{
	struct ww_error err = {0};
	struct ww_action *a;

	(void)state;
	fake_reset();
	fake->back_ms = 150;
	a = make("gpio:gpiochip0/3=low,20ms");
	assert_int_equal(through(a, &err), -ETIME);
	assert_non_null(strstr(err.text, "driven for"));
	assert_non_null(strstr(err.text, "instead of 20 ms"));
	assert_true(begins(ww_action_how(a), "too long: pulse of "));
	ww_action_free(a);
}

static void test_what_a_line_refuses(void **state)
{
	struct ww_error err = {0};
	struct ww_action *a;
	const struct {
		int *code, value, rc;
		const char *says, *story;
	} how[] = {
		{&fake->open_code, EACCES, -EACCES, "permission denied for /dev/gpiochip0", ""},
		{&fake->open_code, ENODEV, -ENODEV, "is gone", ""},
		{&fake->take_code, EBUSY, -EBUSY, "in use by another program", ""},
		{&fake->set_code, EINVAL, -EINVAL, "cannot be an output", "R3 I0"},
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(how); i++) {
		fake_reset();
		ww_error_clear(&err);
		a = make("gpio:gpiochip0/3=low,20ms");
		*how[i].code = how[i].value;
		assert_int_equal(through(a, &err), how[i].rc);
		if (!strstr(err.text, how[i].says))
			fail_msg("'%s' does not say '%s'", err.text, how[i].says);
		assert_string_equal(fake_story(), how[i].story);
		assert_true(begins(ww_action_how(a), "failed: "));
		ww_action_free(a);
	}
	fake_reset();
	chip.busy = true;
	refused("gpio:gpiochip0/3=low,20ms", -EBUSY, "in use by other");
	chip.busy = false;
	refused("gpio:gpiochip7/3=low,20ms", -ENODEV, "no such GPIO chip");
	refused("gpio:gpiochip0/9=low,20ms", -ENOENT, "numbered from 0");
	refused("gpio:gpiochip0/WAKEUP=low,20ms", -ENOENT, "nearest names: WAKE");
	assert_string_equal(fake_story(), "");
}

/* Stopped in a press, and started again: what the guard said of the old one is not heard. */
static void test_stopped(void **state)
{
	struct ww_error err = {0};
	struct ww_interval len;
	struct ww_action *a;

	(void)state;
	fake_reset();
	a = make("gpio:gpiochip0/3=low,800ms");
	assert_int_equal(ww_action_start(a, &err), 0);
	assert_int_equal(ww_action_start(a, &err), -EBUSY);
	ww_error_clear(&err);
	while (!fake->output)
		fake_sleep(1);
	ww_action_stop(a);
	assert_int_equal(through(a, &err), 0);
	len = ww_action_length(a);
	assert_true(len.lo_ns > 790 * WW_NS_PER_MS);
	assert_string_equal(fake_story(), "R3 O0 I0 R3 O0 I0");
	ww_action_free(a);
}

/* The program dies in the middle of a press: the line is back at once. */
static void test_killed(void **state)
{
	static const int with[] = {SIGKILL, SIGTERM, SIGSEGV};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(with); i++) {
		int64_t killed, end;
		pid_t pid;

		fake_reset();
		pid = fork();
		if (pid == 0) {
			struct ww_action *a = make("gpio:gpiochip0/3=low,30s,hold");

			signal(SIGSEGV, SIG_DFL);
			through(a, NULL);
			_exit(1);
		}
		end = ww_clock_now_ns() + 20 * WW_NS_PER_S;
		while (!fake->output && ww_clock_now_ns() < end)
			fake_sleep(1);
		assert_true(fake->output);
		killed = ww_clock_now_ns();
		kill(pid, with[i]);
		waitpid(pid, NULL, 0);
		while (fake->output && ww_clock_now_ns() < end)
			fake_sleep(1);
		assert_string_equal(fake_story(), "R3 O0 I0");
		/* Within the time that a busy machine gives a process. */
		assert_true(event_ns('I') - killed < WW_NS_PER_S);
		print_message("put back %.1f ms after signal %d\n",
			      (double)(event_ns('I') - killed) / 1e6, with[i]);
	}
}

#else

static void test_without_libgpiod(void **state)
{
	(void)state;
	refused("gpio:gpiochip0/3=low,20ms", -ENOTSUP, "built without libgpiod");
}

#endif

/* -------------------------------------------------------------- packets, alarms */

static void packet(const char *options, size_t want)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	socklen_t n = sizeof(sa);
	struct ww_error err = {0};
	struct ww_interval t;
	struct ww_action *a;
	uint8_t got[200];
	char text[160];
	int64_t before;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &n), 0);
	snprintf(text, sizeof(text), "wol:00-11:22:aA:44:55?host=127.0.0.1&port=%d%s",
		 ntohs(sa.sin_port), options);
	a = make(text);
	before = ww_clock_now_ns();
	assert_int_equal(through(a, &err), 0);
	assert_string_equal(ww_action_how(a), "sent");
	assert_int_equal(recv(fd, got, sizeof(got), MSG_DONTWAIT), want);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(got[i], 0xff);
	for (size_t i = 0; i < 16; i++)
		assert_memory_equal(got + 6 + 6 * i, "\x00\x11\x22\xaa\x44\x55", 6);
	if (want > 102)
		assert_memory_equal(got + 102, "\x01\x02\x03\x04\x05\x06", 6);
	assert_int_equal(ww_action_when(a, &t), 0);
	/* The packet's way is part of it. */
	assert_true(t.lo_ns >= before && t.hi_ns - t.lo_ns >= 10 * WW_NS_PER_MS);
	ww_action_free(a);
	close(fd);
}

static void test_packet(void **state)
{
	(void)state;
	packet("", 102);
	packet("&password=01:02:03:04:05:06", 108);
	refused("wol:00:11:22:33:44", -EINVAL, "address of the DUT's network card");
	refused("wol:00:11:22:33:44:55?host=nas.lan", -EINVAL, "numeric address");
	refused("wol:00:11:22:33:44:55?dev=nosuch0", -ENODEV, "no such network interface");
	refused("wol:00:11:22:33:44:55?password=1", -EINVAL, "six bytes");
}

/* Never tighter than a clock of whole seconds. */
static void test_alarm(void **state)
{
	struct ww_action *a = make("rtc:20s");
	struct ww_interval t;

	(void)state;
	assert_int_equal(ww_action_alarm_s(a), 20);
	assert_int_equal(ww_action_when(a, &t), -EAGAIN);
	assert_int_equal(ww_action_start(a, NULL), 0);
	assert_int_equal(ww_action_when(a, &t), 0);
	assert_int_equal(t.hi_ns - t.lo_ns, 2 * WW_NS_PER_S);
	ww_action_alarm_set(a, (struct ww_interval){100, 500});
	assert_int_equal(ww_action_when(a, &t), 0);
	assert_int_equal(t.lo_ns, 100 + 19 * WW_NS_PER_S);
	assert_int_equal(t.hi_ns, 500 + 21 * WW_NS_PER_S);
	ww_action_free(a);
}

static void test_command(void **state)
{
	struct ww_error err = {0};
	struct ww_interval t;
	struct ww_action *a;
	int64_t before = ww_clock_now_ns();
	char *text;

	(void)state;
	a = make("echo no >&2; exit 3");
	assert_int_equal(through(a, &err), 0);
	assert_string_equal(ww_action_how(a), "exit 3: no");
	assert_int_equal(ww_action_when(a, &t), 0);
	assert_true(t.lo_ns >= before && t.hi_ns <= ww_clock_now_ns() && t.lo_ns < t.hi_ns);
	assert_int_equal(ww_action_report(a, WW_REPORT_JSON, &text, &err), 0);
	assert_non_null(strstr(text, "\"how\":\"exit 3: no\""));
	assert_non_null(strstr(text, "\"pulse_ms\":null"));
	ww_free(text);
	ww_action_free(a);
	refused("  ", -EINVAL, "empty");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if WW_GPIO_ENABLED
		cmocka_unit_test(test_press_of_an_input),
		cmocka_unit_test(test_press_of_an_output),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_what_a_line_refuses),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_killed),
#else
		cmocka_unit_test(test_without_libgpiod),
#endif
		cmocka_unit_test(test_packet),
		cmocka_unit_test(test_alarm),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

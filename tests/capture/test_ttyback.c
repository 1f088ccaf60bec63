/* SPDX-License-Identifier: MIT */
/*
 * A serial line behind a USB adapter that is unplugged and comes back under another name,
 * while another adapter takes the old one. The ports are pseudo-terminals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/base.h"
#include "bus/ttyfind.h"
#include "../ttysys.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>

static struct {
	int master, slave;
	char name[64];
} line[2]; /* of ttyUSB0, ttyUSB1 */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
bool __real_ww_tty_ident(const char *dir, const char *name, struct ww_tty_ident *out);
bool __wrap_ww_tty_ident(const char *dir, const char *name, struct ww_tty_ident *out);
int __real_ww_tty_find_again(const char *dir, const struct ww_tty_ident *was,
			     struct ww_tty_ident *out);
int __wrap_ww_tty_find_again(const char *dir, const struct ww_tty_ident *was,
			     struct ww_tty_ident *out);

int __wrap_open(const char *path, int flags, ...)
{
	for (int i = 0; i < 2; i++)
		if (strcmp(path, i ? "/dev/ttyUSB1" : "/dev/ttyUSB0") == 0)
			path = line[i].name;
	return __real_open(path, flags, 0644);
}

bool __wrap_ww_tty_ident(const char *dir, const char *name, struct ww_tty_ident *out)
{
	assert_string_equal(dir, WW_TTY_CLASS);
	return __real_ww_tty_ident(class_dir, name, out);
}

int __wrap_ww_tty_find_again(const char *dir, const struct ww_tty_ident *was,
			     struct ww_tty_ident *out)
{
	assert_string_equal(dir, WW_TTY_CLASS);
	return __real_ww_tty_find_again(class_dir, was, out);
}

static void line_up(int i)
{
	struct termios t;

	assert_int_equal(openpty(&line[i].master, &line[i].slave, line[i].name, NULL, NULL), 0);
	tcgetattr(line[i].slave, &t);
	cfmakeraw(&t);
	tcsetattr(line[i].slave, TCSANOW, &t);
}

static void line_down(int i)
{
	close(line[i].master);
	close(line[i].slave);
	line[i].name[0] = '\0';
}

static void run(struct ww_recorder *r, int64_t ns)
{
	int64_t end = ww_clock_now_ns() + ns;

	while (ww_clock_now_ns() < end) {
		struct pollfd p = {.fd = ww_recorder_fd(r), .events = POLLIN};

		poll(&p, 1, 20);
		assert_true(ww_recorder_dispatch(r, NULL) >= 0);
	}
}

/* Until this many bytes have come; fails after 10 s. */
static void heard(struct ww_recorder *r, uint64_t bytes)
{
	struct ww_recorder_stats s;

	for (int i = 0; i < 500; i++) {
		run(r, 20 * WW_NS_PER_MS);
		ww_recorder_stats(r, &s);
		if (s.bytes >= bytes)
			return;
	}
	fail_msg("%llu bytes of %llu", (unsigned long long)s.bytes, (unsigned long long)bytes);
}

static size_t marks(struct ww_trace *t, const char *kind, const char *text)
{
	const struct ww_mark *m;
	size_t n = 0;

	for (size_t i = 0; (m = ww_trace_mark(t, i)); i++)
		n += strcmp(m->kind, kind) == 0 && strstr(m->text, text);
	return n;
}

static void check(const char *path)
{
	struct ww_error err = {0};
	struct ww_cursor *c;
	struct ww_trace *t;
	struct ww_batch b;
	char text[64] = "";

	if (ww_trace_open(path, &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(marks(t, WW_MARK_UNPLUGGED, ""), 1);
	assert_int_equal(marks(t, WW_MARK_REPLUGGED, ""), 1);
	assert_int_equal(marks(t, WW_MARK_DEVICE, "came back as /dev/ttyUSB1"), 1);
	assert_int_equal(
		marks(t, "warning",
		      "/dev/ttyUSB0: is another device now (0403:6001, serial OTHER); waiting for "
		      "0403:6001, serial A7005IDU"),
		1);
	assert_int_equal(ww_cursor_open(t, 1, WW_TIME_MIN, WW_TIME_MAX, 0, &c, NULL), 0);
	while (ww_cursor_next(c, &b, NULL) > 0)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s", (int)b.n,
			 (const char *)b.data);
	assert_string_equal(text, "before after");
	ww_cursor_close(c);
	ww_trace_close(t);
}

static void test_back(void **state)
{
	struct ww_recorder_options o = {.size = sizeof(o)};
	struct ww_recorder *r;
	struct ww_error err = {0};
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/t.wwt", root);
	o.path = path;
	plug("1-2", "0403:6001", "A7005IDU", 0, "ttyUSB0");
	line_up(0);
	assert_int_equal(ww_recorder_new(&o, &r, NULL), 0);
	if (ww_recorder_add(r, "tty:/dev/ttyUSB0", NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(ww_recorder_start(r, NULL), 0);
	assert_int_equal(write(line[0].master, "before ", 7), 7);
	heard(r, 7);
	unplug("ttyUSB0");
	line_down(0);
	run(r, 400 * WW_NS_PER_MS);
	/* Somebody plugs in another one first, which gets the name. */
	plug("1-3", "0403:6001", "OTHER", 0, "ttyUSB0");
	line_up(0);
	assert_int_equal(write(line[0].master, "WRONG", 5), 5);
	run(r, 700 * WW_NS_PER_MS);
	plug("2-1", "0403:6001", "A7005IDU", 0, "ttyUSB1");
	line_up(1);
	run(r, 500 * WW_NS_PER_MS);
	assert_int_equal(write(line[1].master, "after", 5), 5);
	heard(r, 12);
	assert_int_equal(ww_recorder_stop(r, NULL), 0);
	ww_recorder_free(r);
	check(path);
	line_down(0);
	line_down(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_back, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

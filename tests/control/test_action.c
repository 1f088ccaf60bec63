/* SPDX-License-Identifier: MIT */
/* Actions over lines that live in fakelines.h; the guard is the real process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "control/action.h"
#include "bus/guard.h"
#include "fakelines.h"
#include "bus/usbfind.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define WW_GPIO_ENABLED (WW_WITH_GPIOD + 0)

#if WW_GPIO_ENABLED
#include "../source/gpiochip.h"
#endif

static char root[24] = "/tmp/ww-act-XXXXXX";

const char *ww_usb_root(void)
{
	return root;
}

/* Until it is over. @return of the last dispatch */
static int through(struct ww_action *a, struct ww_error *err)
{
	int64_t end = ww_clock_now_ns() + 20 * WW_NS_PER_S;
	struct pollfd p = {.fd = ww_action_fd(a), .events = POLLIN};
	int rc = ww_action_start(a, err);

	while (rc >= 0 && (rc = ww_action_dispatch(a, err)) > 0) {
		assert_true(ww_clock_now_ns() < end);
		poll(&p, 1, 1000);
	}
	return rc;
}

static struct ww_action *make(const char *text)
{
	struct ww_error err = {0};
	struct ww_action *a;

	if (ww_action_new(text, &a, &err) < 0)
		fail_msg("%s", err.text);
	return a;
}

static void refused(const char *text, int code, const char *words)
{
	struct ww_error err = {0};
	struct ww_action *a;

	assert_int_equal(ww_action_new(text, &a, &err), code);
	assert_null(a);
	if (!strstr(err.text, words))
		fail_msg("%s: '%s' does not have '%s'", text, err.text, words);
}

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* When the line did what, of the n-th event so. */
static int64_t event_ns(char what)
{
	for (unsigned i = 0; i < fake->n; i++)
		if (fake->ev[i].what == what)
			return fake->ev[i].ns;
	fail_msg("no '%c' in %s", what, fake_story());
	return 0;
}

/* --------------------------------------------------------------------- GPIO */

#if WW_GPIO_ENABLED

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

/* ---------------------------------------------------------------- modem lines */

static void no_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	(void)ctx;
	(void)t;
	(void)data;
	(void)n;
}

static void no_loss(void *ctx, const struct ww_error *err)
{
	(void)ctx;
	fail_msg("%s", err->text);
}

static struct ww_port *one_port(void *ctx, size_t i, bool *more)
{
	*more = i < 2;
	return i == 1 ? ctx : NULL;
}

static void test_dtr_of_a_closed_port(void **state)
{
	struct ww_error err = {0};
	struct ww_action *a;
	char name[64], text[128];
	int master, slave;
	pid_t other;

	(void)state;
	fake_reset();
	assert_int_equal(openpty(&master, &slave, name, NULL, NULL), 0);
	close(slave);
	snprintf(text, sizeof(text), "tty:%s?rts=pulse,5ms", name);
	a = make(text);
	fake->modem = TIOCM_DTR | TIOCM_RTS; /* as the kernel's opening leaves them */
	assert_int_equal(through(a, &err), 0);
	/* The other line clear at once; this one for its time. */
	assert_string_equal(fake_story(), "C2 B4 C4");
	ww_action_free(a);
	assert_int_equal(fake->modem, 0);
	/* Somebody else has it. */
	slave = open(name, O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	other = fork();
	if (other == 0) {
		pause();
		_exit(0);
	}
	close(slave);
	refused(text, -EBUSY, "in use by process ");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	close(master);
	refused("tty:/dev/nosuchtty?dtr=pulse,5ms", -ENODEV, "no such serial port");
}

/* The port of the heartbeat itself: by its descriptor, and back as it stood. */
static void test_dtr_of_our_port(void **state)
{
	const struct ww_port_events ev = {.bytes = no_bytes, .lost = no_loss};
	struct ww_action_setup s = {.ports = {one_port, NULL}};
	struct ww_error err = {0};
	struct ww_port *p = NULL;
	struct ww_loop *l;
	struct ww_action *a;
	char name[64], text[128];
	int master, slave;

	(void)state;
	fake_reset();
	fake->modem = TIOCM_DTR;
	assert_int_equal(openpty(&master, &slave, name, NULL, NULL), 0);
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	if (ww_port_open(l, name, NULL, 115200, &ev, &p, &err) < 0)
		fail_msg("%s", err.text);
	s.ports.ctx = p;
	snprintf(text, sizeof(text), "tty:%s?dtr=pulse,5ms", name);
	assert_int_equal(ww_action_new_setup(text, &s, &a, &err), 0);
	assert_int_equal(through(a, &err), 0);
	/* It was set: the pulse is a clear one. */
	assert_string_equal(fake_story(), "C2 B2");
	assert_int_equal(fake->modem, TIOCM_DTR);
	ww_action_free(a);
	assert_int_equal(ww_port_modem(p, TIOCM_RTS, TIOCM_DTR, &err), 0);
	assert_int_equal(fake->modem, TIOCM_RTS);
	ww_port_close(p);
	ww_loop_free(l);
	close(master);
	close(slave);
}

/* ---------------------------------------------------------------------- FTDI */

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_chip(const char *name, const char *pid, const char *number, const char *serial)
{
	char dir[160], command[400];

	snprintf(dir, sizeof(dir), "%s/sys/bus/usb/devices/%s", root, name);
	snprintf(command, sizeof(command),
		 "mkdir -p %s %s/dev/bus/usb/001 && touch %s/dev/bus/usb/001/%s", dir, root, root,
		 number);
	assert_int_equal(system(command), 0);
	write_file(dir, "idVendor", "0403\n");
	write_file(dir, "idProduct", pid);
	write_file(dir, "busnum", "1\n");
	write_file(dir, "devnum", number);
	write_file(dir, "serial", serial);
	write_file(dir, "bDeviceClass", "00\n");
}

static void test_ftdi(void **state)
{
	static const struct {
		const char *text, *story;
	} how[] = {
		/* A chip of one interface; DTR on and off. */
		{"ftdi:?serial=ONE&dtr=pulse,5ms", "U10101 U10100"},
		{"ftdi:ONE?rts=off,5ms", "U10200 U10202"},
		/* CBUS 2 low as an output, high, the chip's own again. */
		{"ftdi:?serial=ONE&pin=C2&level=low,5ms", "Ub2040 Ub2044 Ub0000"},
		/* Claimed; inputs, the level, then the output; back the same way. */
		{"ftdi:?serial=TWO&pin=D3&level=high,5ms&interface=2",
		 "K0 Ub0100 W8 Ub0108 W0 Ub0000 L0 D0"},
	};
	struct ww_error err = {0};
	struct ww_action *a;

	(void)state;
	make_chip("1-1", "6001\n", "004", "ONE\n");
	make_chip("1-2", "6010\n", "005", "TWO\n");
	for (size_t i = 0; i < WW_COUNTOF(how); i++) {
		fake_reset();
		a = make(how[i].text);
		if (through(a, &err) < 0)
			fail_msg("%s", err.text);
		assert_string_equal(fake_story(), how[i].story);
		ww_action_free(a);
	}
	refused("ftdi:?dtr=pulse,5ms", -ENOTUNIQ, "choose one");
	refused("ftdi:?serial=SIX&dtr=pulse,5ms", -ENODEV, "no FTDI chip with serial SIX");
}

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

static int setup(void **state)
{
	(void)state;
	fake_init();
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
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
		cmocka_unit_test(test_dtr_of_a_closed_port),
		cmocka_unit_test(test_dtr_of_our_port),
		cmocka_unit_test(test_ftdi),
		cmocka_unit_test(test_packet),
		cmocka_unit_test(test_alarm),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

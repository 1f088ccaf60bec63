/* SPDX-License-Identifier: MIT */
/* Actions by DTR and RTS of ports, ours too, and by an FTDI chip's requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "acting.h"

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dtr_of_a_closed_port),
		cmocka_unit_test(test_dtr_of_our_port),
		cmocka_unit_test(test_ftdi),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

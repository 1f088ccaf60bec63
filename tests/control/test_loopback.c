/* SPDX-License-Identifier: MIT */
/*
 * A loopback through a pseudo-terminal with a line of known faults behind it, and what is
 * kept of it for later openings.
 */
#include "bus/portcal.h"
#include "bus/portimpl.h"
#include "base/str.h"
#include "../scratch.h"

#include <math.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <cmocka.h>

struct wire {
	int64_t delay_ns;
	unsigned drop, damage; /* every so many bytes; 0 none */
	bool mute;
	const char *says; /* while it is silent */
	pid_t pid;
	int master;
	char name[64];
};

static void run_wire(const struct wire *w, int fd)
{
	unsigned n = 0;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		uint8_t in[256], out[256];
		size_t m = 0;
		ssize_t k;

		/* Again and again: what came before the port was opened is not read. */
		while (w->says && poll(&p, 1, 50) == 0)
			if (write(fd, w->says, strlen(w->says)) < 0)
				_exit(1);
		k = read(fd, in, sizeof(in));
		if (k <= 0)
			_exit(0);
		for (ssize_t i = 0; i < k; i++, n++) {
			if (w->drop && n % w->drop == 3)
				continue;
			out[m++] = w->damage && n % w->damage == 4 ? 0x01 : in[i];
		}
		if (w->delay_ns) {
			struct timespec ts = {0, w->delay_ns};

			clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
		}
		if (!w->mute && m && write(fd, out, m) < 0)
			_exit(1);
	}
}

static void plug(struct wire *w)
{
	struct termios raw;
	int slave;

	assert_int_equal(openpty(&w->master, &slave, w->name, NULL, NULL), 0);
	assert_int_equal(tcgetattr(slave, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
	w->pid = fork();
	assert_true(w->pid >= 0);
	if (w->pid == 0)
		run_wire(w, w->master);
}

static void unplug(struct wire *w)
{
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
	close(w->master);
}

/* 0 and *out, or the error. */
static int measure(struct wire *w, uint32_t bytes, uint32_t echo, struct ww_loopback **out,
		   struct ww_error *err)
{
	const struct ww_loopback_options opt = {sizeof(opt), bytes, echo};
	int64_t end = ww_clock_now_ns() + 60 * WW_NS_PER_S;
	struct pollfd p = {.events = POLLIN};
	int rc;

	ww_error_clear(err);
	plug(w);
	rc = ww_loopback_new(w->name, &opt, out, err);
	assert_int_equal(rc, 0);
	p.fd = ww_loopback_fd(*out);
	while ((rc = ww_loopback_dispatch(*out, err)) > 0) {
		assert_true(ww_clock_now_ns() < end);
		poll(&p, 1, 100);
	}
	unplug(w);
	return rc;
}

static bool says(const struct ww_loopback *l, const char *part)
{
	const char *s;

	for (size_t i = 0; (s = ww_loopback_note(l, i)); i++)
		if (strstr(s, part))
			return true;
	return false;
}

static void delay_is_found(void **state)
{
	struct wire w = {.delay_ns = 3 * WW_NS_PER_MS};
	struct ww_loopback_result r;
	struct ww_error err = {0};
	struct ww_loopback *l;
	char *text;

	(void)state;
	assert_int_equal(measure(&w, 120, 0, &l, &err), 0);
	assert_int_equal(ww_loopback_result(l, &r, &err), 0);
	assert_true(r.sent == 120 && r.back == 120 && r.wrong == 0);
	assert_true(r.min_s >= 3e-3 - r.resolution_s && r.median_s < 0.2);
	assert_true(r.min_s <= r.median_s && r.median_s <= r.p99_s && r.p99_s <= r.max_s);
	/* When a byte stood on a line without a pace nobody knows. */
	assert_true(isnan(r.inside));
	assert_int_equal(r.latency_ns, -1);
	assert_true(isnan(r.baud.value));
	assert_int_equal(ww_loopback_report(l, WW_REPORT_TEXT, &text, &err), 0);
	assert_non_null(strstr(text, "120 bytes sent, 120 came back, 0 of them wrong"));
	ww_free(text);
	assert_int_equal(ww_loopback_report(l, WW_REPORT_JSON, &text, &err), 0);
	assert_non_null(strstr(text, "\"schema\":\"wakewatt/loopback/1\""));
	ww_free(text);
	assert_true(ww_loopback_store(l, NULL, 0, &err) < 0);
	ww_loopback_free(l);
}

static void prompt_wire(void **state)
{
	struct wire w = {0};
	struct ww_loopback_result r;
	struct ww_error err = {0};
	struct ww_loopback *l;

	(void)state;
	assert_int_equal(measure(&w, 100, 0, &l, &err), 0);
	assert_int_equal(ww_loopback_result(l, &r, &err), 0);
	assert_true(r.back == 100 && r.wrong == 0);
	assert_true(r.width_s > 0);
	/* Too few, and no adapter that could be known again. */
	assert_true(ww_loopback_store(l, NULL, 0, &err) < 0);
	ww_loopback_free(l);
}

static void faults(void **state)
{
	struct wire w = {.drop = 10};
	struct ww_loopback_result r;
	struct ww_error err = {0};
	struct ww_loopback *l;

	(void)state;
	assert_int_equal(measure(&w, 40, 0, &l, &err), 0);
	assert_int_equal(ww_loopback_result(l, &r, &err), 0);
	assert_true(r.sent == 40 && r.back >= 35 && r.back <= 37);
	assert_true(says(l, "did not come back"));
	assert_int_equal(ww_loopback_store(l, NULL, 0, &err), -EINVAL);
	ww_loopback_free(l);

	w = (struct wire){.damage = 10};
	assert_int_equal(measure(&w, 40, 0, &l, &err), 0);
	assert_int_equal(ww_loopback_result(l, &r, &err), 0);
	assert_true(r.wrong >= 3 && r.wrong <= 5);
	ww_loopback_free(l);

	w = (struct wire){.says = "\r\nDebian GNU/Linux 12 dut ttyS0\r\n\r\ndut login: "};
	assert_int_equal(measure(&w, 40, 1, &l, &err), 0);
	assert_true(says(l, "a getty or a console is on this line"));
	assert_true(says(l, "is in every delay"));
	ww_loopback_free(l);
}

static void nothing_back(void **state)
{
	struct wire w = {.mute = true};
	struct ww_error err = {0};
	struct ww_loopback *l;

	(void)state;
	assert_int_equal(measure(&w, 10, 0, &l, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "connect TX with RX"));
	ww_loopback_free(l);
	w = (struct wire){.mute = true, .says = "[    0.000000] Linux version 6.1"};
	assert_int_equal(measure(&w, 10, 0, &l, &err), -ETIMEDOUT);
	if (!strstr(err.text, "console"))
		fail_msg("%s", err.text);
	ww_loopback_free(l);
	assert_true(ww_loopback_new("/dev/no-such-port", NULL, &l, &err) < 0);
	assert_null(l);
}

/* ------------------------------------------------------------------ what is kept */

static const struct ww_portcal kept = {.adapter = "usb:10c4:ea60:0001/x y:0",
				       .driver = "cp210x",
				       .baud = 115200,
				       .latency_ms = -1,
				       .bytes = 1000,
				       .delay_min_ns = 200000,
				       .delay_max_ns = 4100000,
				       .date = "2026-11-30"};

static struct ww_port port_of(const struct ww_portcal *c, const char *name, int64_t model_ns)
{
	struct ww_port p = {.latency_ms = c->latency_ms,
			    .transport = {.name = name, .settings = "", .delay_max_ns = model_ns}};

	snprintf(p.adapter, sizeof(p.adapter), "%s", c->adapter);
	return p;
}

static void used_where_it_fits(void **state)
{
	char dir[64], path[300];
	struct ww_port p;
	struct stat st;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/ww-portcal-%d", scratch(), (int)getpid());
	setenv("WAKEWATT_STATE", dir, 1);
	assert_int_equal(ww_portcal_store(&kept, path, sizeof(path), NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_null(strchr(path + strlen(dir) + 1, '/'));
	/* Assumed before: what was measured instead, to either side. */
	p = port_of(&kept, "cp210x", 20 * WW_NS_PER_MS);
	ww_portcal_use(&p, 115200, true);
	assert_int_equal(p.transport.delay_max_ns, 4100000);
	assert_int_equal(p.transport.delay_min_ns, 200000);
	assert_string_equal(p.transport.settings, "loopback=measured(2026-11-30, 1000 bytes)");
	ww_str_free(&p.settings);
	p = port_of(&kept, "cp210x", WW_NS_PER_MS);
	ww_portcal_use(&p, 115200, true);
	assert_int_equal(p.transport.delay_max_ns, 4100000);
	ww_str_free(&p.settings);
	/* Known for sure: never narrower than the model. */
	p = port_of(&kept, "cp210x", 9 * WW_NS_PER_MS);
	ww_portcal_use(&p, 115200, false);
	assert_int_equal(p.transport.delay_max_ns, 9 * WW_NS_PER_MS);
	assert_int_equal(p.transport.delay_min_ns, 0);
	ww_str_free(&p.settings);
	/* Another rate, timer, driver, adapter: nothing. */
	p = port_of(&kept, "cp210x", 20 * WW_NS_PER_MS);
	ww_portcal_use(&p, 9600, true);
	p.latency_ms = 16;
	ww_portcal_use(&p, 115200, true);
	p.latency_ms = -1;
	p.transport.name = "ch341";
	ww_portcal_use(&p, 115200, true);
	p.transport.name = "cp210x";
	p.adapter[4] = '2';
	ww_portcal_use(&p, 115200, true);
	p.adapter[0] = '\0';
	ww_portcal_use(&p, 115200, true);
	assert_int_equal(p.transport.delay_max_ns, 20 * WW_NS_PER_MS);
	assert_string_equal(p.transport.settings, "");
	assert_string_equal(p.warning, "");
	unlink(path);
	rmdir(dir);
}

static void write_file(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

/* Damaged anywhere, foreign, of a port whose name looks alike: told, and not used. */
static void damaged(void **state)
{
	struct ww_portcal alike = kept, back;
	char dir[64], path[300], text[WW_PORTCAL_TEXT], bad[WW_PORTCAL_TEXT];
	struct ww_error err = {0};
	struct ww_port p;
	size_t n;
	FILE *f;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/ww-portcal-%d/deep/er", scratch(), (int)getpid());
	setenv("WAKEWATT_STATE", dir, 1);
	assert_int_equal(ww_portcal_store(&kept, path, sizeof(path), NULL), 0);
	f = fopen(path, "rb");
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	assert_int_equal(ww_portcal_parse(text, n, &back), 0);
	assert_memory_equal(&back, &kept, sizeof(kept));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ww_portcal_parse(text, i, &back), -EBADMSG);
	memcpy(bad, text, n);
	*strstr(bad, "delay_min") = 'x';
	write_file(path, bad, n);
	p = port_of(&kept, "cp210x", 20 * WW_NS_PER_MS);
	ww_portcal_use(&p, 115200, true);
	assert_int_equal(p.transport.delay_max_ns, 20 * WW_NS_PER_MS);
	assert_non_null(strstr(p.warning, "damaged: not used"));
	alike.adapter[18] = '-';
	assert_int_equal(ww_portcal_store(&alike, NULL, 0, NULL), 0);
	p = port_of(&kept, "cp210x", 20 * WW_NS_PER_MS);
	ww_portcal_use(&p, 115200, true);
	assert_int_equal(p.transport.delay_max_ns, 20 * WW_NS_PER_MS);
	assert_non_null(strstr(p.warning, "another port"));
	alike.delay_max_ns = 1;
	assert_int_equal(ww_portcal_store(&alike, NULL, 0, &err), -EINVAL);
	unlink(path);
	for (int i = 0; i < 3; i++) {
		rmdir(dir);
		*strrchr(dir, '/') = '\0';
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delay_is_found),
		cmocka_unit_test(prompt_wire),
		cmocka_unit_test(faults),
		cmocka_unit_test(nothing_back),
		cmocka_unit_test(used_where_it_fits),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Modem inputs of the kernel's ports, over a driver that lives in this file. */
#include "bus/portimpl.h"
#include "bus/sysfs.h"

#include <linux/serial.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <cmocka.h>

static struct {
	int lines;
	struct serial_icounter_struct count;
	int asked; /* TIOCMGET */
	bool no_counts;
} driver;

/* Before libc's own. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *p;

	(void)fd;
	va_start(ap, request);
	p = va_arg(ap, void *);
	va_end(ap);
	if (request == TIOCMGET) {
		driver.asked++;
		*(int *)p = driver.lines;
		return 0;
	}
	if (request == TIOCGICOUNT && !driver.no_counts) {
		memcpy(p, &driver.count, sizeof(driver.count));
		return 0;
	}
	errno = ENOTTY;
	return -1;
}

static int64_t clock_ns;

static int64_t now(void *ctx)
{
	(void)ctx;
	return clock_ns;
}

struct told {
	size_t n;
	struct ww_interval t[128];
	int lines[128], changed[128];
	int64_t lost;
};

static void on_modem(void *ctx, struct ww_interval t, int lines, int changed)
{
	struct told *k = ctx;

	assert_true(k->n < WW_COUNTOF(k->t));
	assert_true(t.lo_ns <= t.hi_ns);
	k->t[k->n] = t;
	k->lines[k->n] = lines;
	k->changed[k->n++] = changed;
}

static void on_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	(void)t;
	(void)text;
	((struct told *)ctx)->lost += lost;
}

struct bench {
	struct ww_port p;
	struct ww_tty_lines *l;
	struct told told;
	struct ww_error err;
};

static int open_as(struct bench *b, const char *transport, int64_t delay_ns)
{
	const struct ww_clock c = {.now = now};
	const struct ww_tty_info info = {.driver = ""};

	memset(b, 0, sizeof(*b));
	clock_ns = 1000 * WW_NS_PER_S;
	assert_int_equal(ww_loop_new(&c, &b->p.loop, NULL), 0);
	b->p.place = (char *)"/dev/ttyX0";
	b->p.fd = 3;
	b->p.lines = -1;
	b->p.transport =
		(struct ww_transport){.name = transport, .settings = "", .delay_max_ns = delay_ns};
	b->p.ev =
		(struct ww_port_events){.ctx = &b->told, .modem = on_modem, .trouble = on_trouble};
	return ww_tty_lines_open(&b->p, &info, &b->l, &b->err);
}

static void look(struct bench *b, int64_t after_ms)
{
	clock_ns += after_ms * WW_NS_PER_MS;
	ww_tty_lines_look(&b->p, b->l);
}

static void done(struct bench *b)
{
	ww_loop_free(b->p.loop);
	ww_str_free(&b->p.settings);
	free(b->l);
	memset(&driver, 0, sizeof(driver));
}

static void uart(void **state)
{
	struct bench b;

	(void)state;
	driver.lines = TIOCM_DSR;
	assert_int_equal(open_as(&b, "uart", 5 * WW_NS_PER_MS), 0);
	assert_string_equal(b.p.transport.settings, "cts=0 dsr=1 ri=0 dcd=0");
	look(&b, 1);
	assert_int_equal(b.told.n, 0);
	driver.lines |= TIOCM_CTS;
	driver.count.cts = 1;
	look(&b, 3);
	assert_int_equal(b.told.n, 1);
	assert_int_equal(b.told.t[0].lo_ns, clock_ns - 3 * WW_NS_PER_MS);
	assert_int_equal(b.told.t[0].hi_ns, clock_ns);
	assert_int_equal(b.told.lines[0], TIOCM_DSR | TIOCM_CTS);
	assert_int_equal(b.told.changed[0], TIOCM_CTS);
	/* Down, up and down within one look; nothing but a count tells of a whole pulse. */
	driver.lines &= ~TIOCM_CTS;
	driver.count.cts = 4;
	driver.count.dsr = 2;
	look(&b, 1);
	assert_int_equal(b.told.n, 6);
	for (size_t i = 1; i < 4; i++) {
		assert_int_equal(b.told.changed[i], TIOCM_CTS);
		assert_int_equal((b.told.lines[i] & TIOCM_CTS) != 0, i == 2);
	}
	assert_int_equal(b.told.lines[4], 0);
	assert_int_equal(b.told.lines[5], TIOCM_DSR);
	/* RI is counted where it ends. */
	driver.count.rng = 1;
	look(&b, 1);
	assert_int_equal(b.told.n, 8);
	driver.lines |= TIOCM_RI;
	look(&b, 1);
	assert_int_equal(b.told.n, 9);
	assert_int_equal(b.told.changed[8], TIOCM_RI);
	/* A storm. */
	driver.count.cts += 1000;
	look(&b, 1);
	assert_int_equal(b.told.n, 9 + 64);
	assert_int_equal(b.told.lost, 1000 - 64);
	done(&b);
}

/* By counts alone, which are of no use before the chip's first packets are in. */
static void ftdi(void **state)
{
	struct bench b;
	int asked;

	(void)state;
	assert_int_equal(open_as(&b, "ftdi_sio", 3 * WW_NS_PER_MS), 0);
	driver.count.cts = 1; /* of the first packet: what the driver did not know */
	look(&b, 10);
	look(&b, 30);
	assert_int_equal(b.told.n, 0);
	look(&b, 20);
	assert_int_equal(b.told.n, 0);
	asked = driver.asked;
	driver.count.cts = 2;
	look(&b, 1);
	assert_int_equal(b.told.n, 1);
	assert_int_equal(b.told.lines[0], TIOCM_CTS);
	assert_int_equal(b.told.t[0].lo_ns, clock_ns - 4 * WW_NS_PER_MS);
	driver.count.cts = 4;
	look(&b, 1);
	assert_int_equal(b.told.n, 3);
	assert_int_equal(b.told.lines[2], TIOCM_CTS);
	/* Nothing of it waited for the chip. */
	assert_int_equal(driver.asked, asked);
	done(&b);
	/* A change before the counts hold is an edge since the opening. */
	assert_int_equal(open_as(&b, "ftdi_sio", 3 * WW_NS_PER_MS), 0);
	driver.lines = TIOCM_CD;
	look(&b, 60);
	assert_int_equal(b.told.n, 1);
	assert_int_equal(b.told.changed[0], TIOCM_CD);
	assert_true(b.told.t[0].lo_ns <= 1000 * WW_NS_PER_S);
	done(&b);
}

static void told_by_interrupt(void **state)
{
	struct bench b;

	(void)state;
	driver.no_counts = true;
	assert_int_equal(open_as(&b, "cdc", 2 * WW_NS_PER_MS), 0);
	driver.lines = TIOCM_CD;
	look(&b, 1);
	assert_int_equal(b.told.n, 1);
	/* As old as its endpoint lets it get. */
	assert_true(clock_ns - b.told.t[0].lo_ns >= 32 * WW_NS_PER_MS);
	done(&b);
}

static void refused(void **state)
{
	static const char *const who[] = {"pty", "cp210x", "usb-serial"};
	struct bench b;

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(who); i++) {
		assert_int_equal(open_as(&b, who[i], 0), -ENOTSUP);
		assert_non_null(strstr(b.err.text, i ? "FTDI" : "pseudo-terminal"));
		done(&b);
	}
	driver.no_counts = true;
	assert_int_equal(open_as(&b, "ftdi_sio", 0), -ENOTSUP);
	done(&b);
	for (size_t i = 0; i < 2; i++) {
		const char *uri = i ? "modem:/dev/ttyX0?line=rts" : "modem:ttyX0?line=cts";
		struct ww_error err = {0};
		struct ww_loop *l;
		struct ww_port *p;
		struct ww_uri u;
		struct ww_port_setup s = {.options = &u};

		assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
		assert_int_equal(ww_uri_parse(uri, &u, NULL), 0);
		s.loop = l;
		s.place = i ? "modem:/dev/ttyX0" : "modem:ttyX0";
		assert_int_equal(ww_port_open_setup(&s, &p, &err), -EINVAL);
		assert_non_null(strstr(err.text, i ? "line=rts" : "modem:/dev/ttyUSB0"));
		ww_uri_free(&u);
		ww_loop_free(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uart),
		cmocka_unit_test(ftdi),
		cmocka_unit_test(told_by_interrupt),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Modem inputs of the kernel's serial ports. Waiting for them (TIOCMIWAIT) would block;
 * looking costs nothing where the driver keeps what it knows: TIOCMGET reads a register
 * of a UART, and what CDC, PL2303 and CH341 were last told. FTDI's driver asks the chip
 * by a request that waits; but it counts the changes that the chip tells with each packet
 * (TIOCGICOUNT), and an odd number of them is a new level.
 */
#include "bus/portimpl.h"
#include "bus/sysfs.h"

#include <linux/serial.h>
#include <sys/ioctl.h>

/* Its driver's idea of the lines is as old as the last packet before the opening. */
#define SETTLE_NS (50 * WW_NS_PER_MS)
/* Pace at which others tell by their interrupt endpoint; assumed. */
#define TOLD_NS (32 * WW_NS_PER_MS)

struct ww_tty_lines {
	bool counts;   /* there are counts */
	bool by_count; /* they alone tell */
	bool uart;     /* RI is counted where it ends only */
	bool settled;
	int64_t opened_ns;
	int64_t look_ns; /* before the last look */
	int64_t delay_ns;
	struct serial_icounter_struct count;
};

#define INPUTS (TIOCM_CTS | TIOCM_DSR | TIOCM_RI | TIOCM_CD)

static bool get_counts(struct ww_port *p, struct serial_icounter_struct *out)
{
	memset(out, 0, sizeof(*out));
	return ioctl(p->fd, TIOCGICOUNT, out) == 0;
}

static unsigned counted(const struct ww_tty_lines *l, const struct serial_icounter_struct *c,
			int bit)
{
	const struct serial_icounter_struct *o = &l->count;
	int n = bit == TIOCM_CTS   ? c->cts - o->cts
		: bit == TIOCM_DSR ? c->dsr - o->dsr
		: bit == TIOCM_RI  ? c->rng - o->rng
				   : c->dcd - o->dcd;

	return n > 0 ? (unsigned)n : 0;
}

/* How many edges lie between two looks that found the level `was` and `is`. */
static unsigned edges(const struct ww_tty_lines *l, const struct serial_icounter_struct *c, int bit,
		      bool was, bool is)
{
	unsigned n = l->counts ? counted(l, c, bit) : 0;

	if (l->uart && bit == TIOCM_RI)
		n = !n ? 0 : was == is ? 2 * n : is ? 2 * n + 1 : 2 * n - 1;
	/* A count that does not fit its level was read between the two. */
	return (n & 1) == (was != is) ? n : was != is;
}

static void take(struct ww_port *p, struct ww_tty_lines *l, struct ww_interval t, int now,
		 const struct serial_icounter_struct *c)
{
	static const int bits[] = {TIOCM_CTS, TIOCM_DSR, TIOCM_RI, TIOCM_CD};
	int was = p->lines;
	unsigned n[WW_COUNTOF(bits)];

	for (size_t i = 0; i < WW_COUNTOF(bits); i++)
		n[i] = l->by_count
			       ? counted(l, c, bits[i])
			       : edges(l, c, bits[i], (was & bits[i]) != 0, (now & bits[i]) != 0);
	l->count = *c;
	/* Last: the owner may close the port in here. */
	for (size_t i = 0; i < WW_COUNTOF(bits) && ww_port_alive(p); i++)
		ww_port_line_edges(p, t, bits[i], n[i]);
}

/* The first look at an FTDI's lines when its packets flow: asked once. */
static void settle(struct ww_port *p, struct ww_tty_lines *l, struct ww_interval t)
{
	struct serial_icounter_struct before, after;
	int now = 0;

	if (!get_counts(p, &before) || ioctl(p->fd, TIOCMGET, &now) < 0 || !get_counts(p, &after))
		return;
	if (memcmp(&before, &after, sizeof(before)) != 0)
		return;
	l->count = after;
	l->settled = true;
	ww_port_lines(p, t, now & INPUTS);
}

void ww_tty_lines_look(struct ww_port *p, struct ww_tty_lines *l)
{
	struct serial_icounter_struct c = {0};
	int64_t before = ww_loop_now(p->loop);
	struct ww_interval t = {l->look_ns - l->delay_ns, 0};
	int now = 0;

	if (l->by_count && !l->settled && before < l->opened_ns + SETTLE_NS)
		return;
	if (l->counts && !get_counts(p, &c))
		return;
	if (!l->by_count && ioctl(p->fd, TIOCMGET, &now) < 0)
		return;
	t.hi_ns = ww_loop_now(p->loop);
	l->look_ns = before;
	if (l->by_count && !l->settled)
		settle(p, l, t);
	else
		take(p, l, t, now & INPUTS, &c);
}

static int refuse(struct ww_port *p, const char *driver, struct ww_error *err)
{
	if (strcmp(driver, "pty") == 0)
		return ww_fail(err, -ENOTSUP, "%s: a pseudo-terminal has no modem lines", p->place);
	return ww_fail(err, -ENOTSUP,
		       "%s: the modem lines of this adapter (%s) can be asked only by a request "
		       "that waits, which would hold up everything else: wire them to an FTDI "
		       "chip, a UART or a GPIO line",
		       p->place, driver);
}

int ww_tty_lines_open(struct ww_port *p, const struct ww_tty_info *info, struct ww_tty_lines **out,
		      struct ww_error *err)
{
	static const char *const known[] = {"ftdi_sio", "uart", "tty", "cdc", "pl2303", "ch341"};
	const char *name = p->transport.name;
	struct ww_tty_lines *l;
	int now = 0;
	size_t i;

	for (i = 0; i < WW_COUNTOF(known) && strcmp(known[i], name) != 0;)
		i++;
	if (i == WW_COUNTOF(known))
		return refuse(p, *info->driver ? info->driver : name, err);
	if (ioctl(p->fd, TIOCMGET, &now) < 0)
		return ww_fail(err, -errno, "%s: its modem lines cannot be read: %s", p->place,
			       strerror(errno));
	l = calloc(1, sizeof(*l));
	if (!l)
		return ww_fail_nomem(err);
	*out = l;
	l->by_count = i == 0;
	l->uart = i == 1 || i == 2;
	l->counts = get_counts(p, &l->count);
	if (l->by_count && !l->counts)
		return ww_fail(err, -ENOTSUP, "%s: the driver does not count its modem lines",
			       p->place);
	l->delay_ns = l->by_count ? p->transport.delay_max_ns : l->uart ? 0 : TOLD_NS;
	l->opened_ns = l->look_ns = ww_loop_now(p->loop);
	p->lines = now & INPUTS;
	ww_port_lines_setting(p);
	return 0;
}

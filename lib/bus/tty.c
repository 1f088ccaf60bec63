/* SPDX-License-Identifier: MIT */
/* Serial lines of the kernel: raw, locked, as prompt as the driver lets us. */
#include "bus/baud.h"
#include "bus/portcal.h"
#include "bus/sysfs.h"
#include "bus/ttychoose.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/serial.h>
#include <linux/tty_flags.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

struct tty {
	struct ww_tty_info info;
	struct ww_line line;
	struct ww_termios *saved;
	struct ww_tty_lines *lines; /* NULL: nobody wants them */
	bool exclusive;
	bool lowlat_set;      /* we set ASYNC_LOW_LATENCY */
	char old_latency[16]; /* of latency_timer, "" untouched */
	char old_trigger[16]; /* of rx_trig_bytes, "" untouched */
	struct serial_icounter_struct count;
	bool counts;
	int64_t count_ns;
};

/* --------------------------------------------------------- open and the lock */

static int open_failed(const char *path, int code, struct ww_error *err)
{
	char who[128];

	switch (code) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return ww_fail(err, -code,
			       "%s: no such serial port; `pwrlog list` shows what is plugged in",
			       path);
	case EACCES:
	case EPERM:
		return ww_fail(err, -code,
			       "%s: permission denied: `sudo usermod -aG dialout $USER` and log in "
			       "again, or install wakewatt's udev rules",
			       path);
	case EBUSY:
		if (ww_holder(path, who, sizeof(who)))
			return ww_fail(err, -EBUSY, "%s: in use by %s", path, who);
		return ww_fail(err, -EBUSY, "%s: in use by another program", path);
	case EIO:
		return ww_fail(err, -EIO,
			       "%s: the port does not answer (no UART there, unplugged, "
			       "or hung up by the other side)",
			       path);
	default:
		return ww_fail(err, -code, "%s: cannot be opened: %s", path, strerror(code));
	}
}

/* TIOCEXCL keeps out later open()s but root's; flock whoever locks likewise. */
static int lock(struct ww_port *p, const char *path, struct ww_error *err)
{
	if (flock(p->fd, LOCK_EX | LOCK_NB) < 0)
		return open_failed(path, errno == EWOULDBLOCK ? EBUSY : errno, err);
	if (ioctl(p->fd, TIOCEXCL) < 0)
		return ww_fail(err, -errno, "%s: no exclusive use: %s", path, strerror(errno));
	return 0;
}

static int open_locked(struct ww_port *p, const char *path, struct ww_uri *options,
		       struct ww_error *err)
{
	struct tty *t = p->impl;
	int64_t exclusive = 1;
	struct stat st;

	if (options && ww_uri_int(options, "exclusive", 0, 1, &exclusive, err) < 0)
		return -EINVAL;
	p->fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (p->fd < 0)
		return open_failed(path, errno, err);
	if (fstat(p->fd, &st) < 0 || !S_ISCHR(st.st_mode) || !isatty(p->fd))
		return ww_fail(err, -ENOTTY, "%s: is not a serial port", path);
	ww_tty_info_path(path, st.st_rdev, &t->info);
	p->transport.name = t->info.transport;
	t->exclusive = exclusive != 0;
	return t->exclusive ? lock(p, path, err) : 0;
}

/* ------------------------------------------------------------ what can be set */

static void set_modem(struct ww_port *p)
{
	struct tty *t = p->impl;
	const int want[] = {t->line.dtr, t->line.rts};
	const int bit[] = {TIOCM_DTR, TIOCM_RTS};
	int now = 0;

	for (int i = 0; i < 2; i++)
		if (want[i] >= 0 && ioctl(p->fd, want[i] ? TIOCMBIS : TIOCMBIC, &bit[i]) < 0)
			ww_port_setting(p, "%s=%d(refused)", i ? "rts" : "dtr", want[i]);
	if (ioctl(p->fd, TIOCMGET, &now) == 0)
		ww_port_setting(p, "dtr=%d rts=%d", (now & TIOCM_DTR) != 0, (now & TIOCM_RTS) != 0);
}

static void set_low_latency(struct ww_port *p)
{
	struct tty *t = p->impl;
	struct serial_struct ss;

	if (ioctl(p->fd, TIOCGSERIAL, &ss) < 0)
		return;
	if (t->info.type < 0 && !*t->info.vid)
		t->info.type = ss.type;
	if (ss.flags & (int)ASYNC_LOW_LATENCY) {
		ww_port_setting(p, "low_latency=1");
		return;
	}
	ss.flags |= (int)ASYNC_LOW_LATENCY;
	t->lowlat_set = ioctl(p->fd, TIOCSSERIAL, &ss) == 0 &&
			ioctl(p->fd, TIOCGSERIAL, &ss) == 0 && (ss.flags & (int)ASYNC_LOW_LATENCY);
	ww_port_setting(p, t->lowlat_set ? "low_latency=1" : "low_latency=0(refused)");
}

/* Milliseconds of the FTDI chip's timer that are in force; 16 where nobody tells. */
static int64_t set_latency_timer(struct ww_port *p)
{
	struct tty *t = p->impl;
	char device[WW_SYSFS_PATH + 8], text[24];
	int64_t want = t->line.latency_ms ? t->line.latency_ms : 1, now = 0;

	snprintf(device, sizeof(device), "%s/device", t->info.dir);
	if (t->line.event_char >= 0) {
		/* The driver takes the character plus 256, and cannot be asked for it. */
		snprintf(text, sizeof(text), "%d", t->line.event_char + 256);
		ww_port_setting(p, "event_char=0x%02x(%s)", (unsigned)t->line.event_char,
				ww_sysfs_write(device, "event_char", text) == 0 ? "requested"
										: "refused");
	}
	if (!ww_sysfs_read(device, "latency_timer", text, sizeof(text)) ||
	    !ww_sysfs_int(device, "latency_timer", &now)) {
		ww_port_setting(p, "latency_timer=16(assumed)");
		return 16;
	}
	if (now != want) {
		char value[24];

		snprintf(value, sizeof(value), "%lld", (long long)want);
		if (ww_sysfs_write(device, "latency_timer", value) == 0) {
			snprintf(t->old_latency, sizeof(t->old_latency), "%.15s", text);
			ww_sysfs_int(device, "latency_timer", &now);
		}
	}
	p->latency_ms = now;
	ww_port_setting(p, "latency_timer=%lld(requested) latency_timer=%lld(in force)",
			(long long)want, (long long)now);
	return now;
}

/*
 * A 16550 raises its interrupt when `trigger` bytes wait or when 4 character
 * times pass without another. The first of them waits longest when the others
 * follow just within the time-out: 4 characters each. One millisecond more for
 * the interrupt itself; a port without one is polled by a timer of the kernel.
 */
static int64_t uart_delay(struct ww_port *p)
{
	struct tty *t = p->impl;
	int64_t trigger = 0, irq = 1, chars, nominal;
	char text[24];

	if (ww_sysfs_int(t->info.dir, "rx_trig_bytes", &trigger) && trigger > 1 &&
	    t->line.baud <= 115200 && ww_sysfs_write(t->info.dir, "rx_trig_bytes", "1") == 0) {
		snprintf(text, sizeof(text), "%lld", (long long)trigger);
		snprintf(t->old_trigger, sizeof(t->old_trigger), "%.15s", text);
		ww_sysfs_int(t->info.dir, "rx_trig_bytes", &trigger);
	}
	if (trigger > 0) {
		ww_port_setting(p, "rx_trigger=%lld(in force)", (long long)trigger);
	} else {
		trigger = 64;
		ww_sysfs_int(t->info.dir, "xmit_fifo_size", &trigger);
		trigger = trigger < 1 ? 1 : trigger;
		ww_port_setting(p, "rx_trigger=%lld(assumed)", (long long)trigger);
	}
	nominal = ww_line_char_ns(&t->line) * 100 / 95;
	chars = trigger > 1 ? 4 * trigger : 1;
	if (ww_sysfs_int(t->info.dir, "irq", &irq) && irq == 0) {
		ww_port_setting(p, "irq=0(polled)");
		return chars * nominal + 40 * WW_NS_PER_MS;
	}
	return chars * nominal + WW_NS_PER_MS;
}

/*
 * What is known of the way from the wire. The pace, char_ns, holds for a UART
 * and for one behind USB: characters cannot follow each other on the wire
 * faster than the line carries them, in whatever packets they come. It does not
 * hold in a virtual machine, whose emulated UART hands on what it has at once.
 */
static void set_model(struct ww_port *p)
{
	struct tty *t = p->impl;
	struct ww_transport *tr = &p->transport;
	bool vm = ww_in_vm();

	if (strcmp(tr->name, "tty") == 0 && t->info.type > 0)
		tr->name = "uart";
	if (strcmp(tr->name, "pty") == 0)
		return;
	ww_tty_adapter(&t->info, p->adapter, sizeof(p->adapter));
	if (strcmp(tr->name, "uart") == 0)
		tr->delay_max_ns = uart_delay(p);
	else if (strcmp(tr->name, "ftdi_sio") == 0) /* the timer, a USB frame, the host */
		tr->delay_max_ns = (set_latency_timer(p) + 2) * WW_NS_PER_MS;
	else if (strcmp(tr->name, "cdc") == 0) /* the bytes come from the device itself */
		tr->delay_max_ns = 2 * WW_NS_PER_MS;
	else /* a chip whose own timer nobody tells */
		tr->delay_max_ns = 20 * WW_NS_PER_MS;
	ww_portcal_use(p, t->line.baud,
		       strcmp(tr->name, "uart") != 0 && strcmp(tr->name, "ftdi_sio") != 0);
	if (!t->info.bridge && strcmp(tr->name, "uart") != 0)
		return;
	if (vm)
		ww_port_setting(p, "pace=unknown(virtual machine)");
	else
		tr->char_ns = ww_line_char_ns(&t->line);
}

/* ------------------------------------------------------------------- running */

static bool read_counts(struct ww_port *p, struct serial_icounter_struct *out)
{
	memset(out, 0, sizeof(*out));
	return ioctl(p->fd, TIOCGICOUNT, out) == 0;
}

static void tty_second(struct ww_port *p, int64_t now_ns)
{
	struct tty *t = p->impl;
	struct ww_interval iv = {t->count_ns, now_ns};
	struct serial_icounter_struct c;
	char text[160];
	int lost;

	if (!t->counts || !read_counts(p, &c))
		return;
	t->count_ns = now_ns;
	lost = c.overrun - t->count.overrun + c.buf_overrun - t->count.buf_overrun;
	if (lost > 0) {
		snprintf(text, sizeof(text), "overrun: %d byte%s", lost, lost == 1 ? "" : "s");
		ww_port_trouble(p, iv, lost, text);
	}
	if (c.frame != t->count.frame || c.parity != t->count.parity || c.brk != t->count.brk) {
		snprintf(text, sizeof(text), "line errors: %d framing, %d parity, %d breaks",
			 c.frame - t->count.frame, c.parity - t->count.parity,
			 c.brk - t->count.brk);
		ww_port_trouble(p, iv, 0, text);
	}
	t->count = c;
}

static int tty_modem(struct ww_port *p, int set, int clear, struct ww_error *err)
{
	if ((set && ioctl(p->fd, TIOCMBIS, &set) < 0) ||
	    (clear && ioctl(p->fd, TIOCMBIC, &clear) < 0))
		return ww_fail(err, errno == ENOTTY || errno == EINVAL ? -ENOTSUP : -errno,
			       "%s: its modem lines cannot be set: %s", p->place, strerror(errno));
	return 0;
}

static int tty_baud(struct ww_port *p, int64_t baud, struct ww_error *err)
{
	struct tty *t = p->impl;
	struct ww_line line = t->line;
	struct ww_termios *now = NULL;
	int64_t got;
	int rc;

	line.baud = baud;
	rc = ww_line_set(p->fd, p->place, &line, strcmp(p->transport.name, "pty") == 0, &now, &got,
			 err);
	/* What was found at first is what is put back. */
	free(now);
	if (rc < 0)
		return rc;
	t->line = line;
	if (p->transport.char_ns)
		p->transport.char_ns = ww_line_char_ns(&line);
	return 0;
}

static void tty_reach(const struct ww_port *p, struct ww_port_reach *out)
{
	out->fd = p->fd;
	if (ioctl(p->fd, TIOCMGET, &out->lines) == 0)
		out->known = TIOCM_DTR | TIOCM_RTS;
}

static void tty_close(struct ww_port *p)
{
	struct tty *t = p->impl;
	char device[WW_SYSFS_PATH + 8];
	struct serial_struct ss;

	if (!t)
		return;
	if (p->fd >= 0) {
		snprintf(device, sizeof(device), "%s/device", t->info.dir);
		if (*t->old_latency)
			ww_sysfs_write(device, "latency_timer", t->old_latency);
		if (*t->old_trigger)
			ww_sysfs_write(t->info.dir, "rx_trig_bytes", t->old_trigger);
		if (t->lowlat_set && ioctl(p->fd, TIOCGSERIAL, &ss) == 0) {
			ss.flags &= ~(int)ASYNC_LOW_LATENCY;
			ioctl(p->fd, TIOCSSERIAL, &ss);
		}
		ww_line_restore(p->fd, t->saved);
		t->saved = NULL;
		if (t->exclusive)
			ioctl(p->fd, TIOCNXCL);
		close(p->fd);
		p->fd = -1;
	}
	free(t->saved);
	free(t->lines);
	free(t);
	p->impl = NULL;
}

static void tty_pump(struct ww_port *p)
{
	struct tty *t = p->impl;

	ww_port_fd_pump(p);
	if (t->lines && ww_port_alive(p))
		ww_tty_lines_look(p, t->lines);
}

static int64_t tty_outq(const struct ww_port *p)
{
	int n = 0;

	return ioctl(p->fd, TIOCOUTQ, &n) == 0 ? n : -1;
}

static const struct ww_port_ops tty_ops = {
	.outq = tty_outq,
	.pump = tty_pump,
	.send = ww_port_fd_send,
	.second = tty_second,
	.modem = tty_modem,
	.baud = tty_baud,
	.reach = tty_reach,
	.close = tty_close,
};

/* Bytes from before the opening have no time: read them away until none is left. */
static void purge(struct ww_port *p)
{
	p->mute = true;
	p->empty_ns = WW_TIME_MIN;
	for (int i = 0; i < 64 && p->empty_ns == WW_TIME_MIN && ww_port_alive(p); i++)
		ww_port_fd_pump(p);
	p->mute = false;
}

int ww_tty_open(struct ww_port *p, const char *asked, struct ww_uri *options, int64_t baud,
		struct ww_error *err)
{
	struct tty *t = calloc(1, sizeof(*t));
	struct ww_tty_ident id = {.vid = 0};
	char path[PATH_MAX];
	int64_t got = 0;
	int rc;

	if (!t)
		return ww_fail_nomem(err);
	p->impl = t;
	p->ops = &tty_ops;
	rc = ww_line_options(options, baud, &t->line, err);
	if (rc < 0)
		return rc;
	rc = ww_tty_choose(p, asked, options, path, sizeof(path), &id, err);
	if (rc == 0)
		rc = open_locked(p, path, options, err);
	if (rc < 0)
		return rc;
	rc = ww_line_set(p->fd, path, &t->line, strcmp(p->transport.name, "pty") == 0, &t->saved,
			 &got, err);
	if (rc < 0)
		return rc;
	ww_port_setting(p, "baud=%lld", (long long)t->line.baud);
	if (got != t->line.baud)
		ww_port_setting(p, "baud=%lld(in force)", (long long)got);
	ww_port_setting(p, "frame=%d%c%d", t->line.bits, t->line.parity, t->line.stop);
	if (strcmp(p->transport.name, "pty") != 0) {
		set_modem(p);
		set_low_latency(p);
	}
	set_model(p);
	if (p->ev.modem) {
		rc = ww_tty_lines_open(p, &t->info, &t->lines, err);
		if (rc < 0)
			return rc;
	}
	purge(p);
	if (p->dead)
		return ww_fail(err, -EIO, "%s: hung up by the other side", path);
	t->counts = read_counts(p, &t->count);
	t->count_ns = ww_loop_now(p->loop);
	ww_tty_remember(p, asked, path, &id);
	return 0;
}

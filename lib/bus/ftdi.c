/* SPDX-License-Identifier: MIT */
/*
 * An FTDI chip without the kernel's driver: libftdi sets it up, transfers of
 * libusb read it, one packet each. A completed transfer is the earliest moment
 * at which a program can know of a byte; the status-only packets that the chip
 * sends while idle show that nothing waits in it.
 */
#include "bus/portimpl.h"

#ifdef WW_WITH_FTDI

#include "bus/ftdi.h"
#include "bus/ftdifind.h"
#include "bus/sysfs.h"

#include <ftdi.h>
#include <libusb.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#define TRANSFERS   8
#define PACKET_MAX  512
#define FDS	    8
#define RETRIES	    10
#define PUMP_ROUNDS 16
#define CONTROL_MS  500

struct ftdi;

struct xfer {
	struct ftdi *f;
	struct libusb_transfer *t;
	bool in_flight;
	bool done;
	int64_t done_ns;
	uint8_t buf[PACKET_MAX];
};

struct ftdi {
	struct ww_port *p;
	struct ftdi_context *c;
	struct ww_line line;
	bool open;
	struct xfer x[TRANSFERS + 1]; /* the last one sends */
	struct xfer *done[TRANSFERS + 1];
	size_t n_done;
	unsigned errors;   /* in a row */
	int64_t packet_ns; /* when the last packet was taken */
	struct {
		int fd;
		struct ww_watch *w;
	} fds[FDS];
};

/* ---------------------------------------------------------------- transfers */

/* Runs inside libusb, which must not be entered again: stamp and note, no more. */
static void LIBUSB_CALL on_transfer(struct libusb_transfer *t)
{
	struct xfer *x = t->user_data;

	x->in_flight = false;
	x->done_ns = ww_loop_now(x->f->p->loop);
	x->f->done[x->f->n_done++] = x;
}

static void submit(struct ftdi *f, struct xfer *x)
{
	int rc = libusb_submit_transfer(x->t);

	if (rc == 0)
		x->in_flight = true;
	else if (rc == LIBUSB_ERROR_NO_DEVICE)
		ww_port_lost(f->p, -ENODEV, "unplugged");
	else
		ww_port_lost(f->p, -EIO, "USB: %s", libusb_error_name(rc));
}

/*
 * The inputs as the chip saw them when it made the packet: that was after it made the one
 * before, whose own way here took no longer than delay_max.
 */
static void take_lines(struct ftdi *f, int64_t done_ns, uint8_t modem)
{
	int now = (modem & 0x10 ? TIOCM_CTS : 0) | (modem & 0x20 ? TIOCM_DSR : 0) |
		  (modem & 0x40 ? TIOCM_RI : 0) | (modem & 0x80 ? TIOCM_CD : 0);
	struct ww_interval t = {f->packet_ns - f->p->transport.delay_max_ns, done_ns};

	ww_port_lines(f->p, t, now);
}

static void take_packet(struct ftdi *f, struct xfer *x)
{
	struct ww_interval iv = {f->p->empty_ns, x->done_ns};
	struct ww_ftdi_status st;
	size_t n = ww_ftdi_strip(x->buf, (size_t)x->t->actual_length, f->c->max_packet_size, &st);

	if (st.packets && f->p->ev.modem)
		take_lines(f, x->done_ns, st.modem);
	f->packet_ns = x->done_ns;
	if (st.line & WW_FTDI_OVERRUN)
		ww_port_trouble(f->p, iv, -1, "overrun: the chip lost bytes");
	if (st.line & (WW_FTDI_PARITY | WW_FTDI_FRAMING | WW_FTDI_BREAK))
		ww_port_trouble(f->p, iv, 0,
				st.line & WW_FTDI_BREAK	    ? "line errors: break"
				: st.line & WW_FTDI_FRAMING ? "line errors: framing"
							    : "line errors: parity");
	ww_port_got(f->p, x->done_ns, x->buf, n);
}

static void take(struct ftdi *f, struct xfer *x)
{
	bool sends = x == &f->x[TRANSFERS];

	switch (x->t->status) {
	case LIBUSB_TRANSFER_COMPLETED:
		f->errors = 0;
		if (sends)
			ww_port_flush(f->p);
		else
			take_packet(f, x);
		break;
	case LIBUSB_TRANSFER_NO_DEVICE:
		ww_port_lost(f->p, -ENODEV, "unplugged");
		break;
	case LIBUSB_TRANSFER_CANCELLED:
		return;
	default:
		if (++f->errors > RETRIES)
			ww_port_lost(f->p, -EIO, "USB transfers fail (status %d)", x->t->status);
	}
	if (!sends && ww_port_alive(f->p))
		submit(f, x);
}

static void ftdi_pump(struct ww_port *p)
{
	struct ftdi *f = p->impl;
	struct timeval zero = {0, 0};

	for (int i = 0; i < PUMP_ROUNDS && ww_port_alive(p); i++) {
		int64_t before = ww_loop_now(p->loop);

		f->n_done = 0;
		libusb_handle_events_timeout_completed(f->c->usb_ctx, &zero, NULL);
		if (!f->n_done) {
			/*
			 * The chip sends a packet each period of its timer, with data or without.
			 * Where none came for longer than one can take, they are held up on the
			 * way (a machine that has no time for USB), and nothing here proves that
			 * no byte is among them.
			 */
			if (before - f->packet_ns <= p->transport.delay_max_ns)
				ww_port_empty(p, before);
			return;
		}
		for (size_t k = 0; k < f->n_done && ww_port_alive(p); k++)
			take(f, f->done[k]);
	}
}

static ssize_t ftdi_send(struct ww_port *p, const uint8_t *data, size_t n)
{
	struct ftdi *f = p->impl;
	struct xfer *x = &f->x[TRANSFERS];

	if (x->in_flight)
		return -EAGAIN;
	n = n < sizeof(x->buf) ? n : sizeof(x->buf);
	memcpy(x->buf, data, n);
	x->t->length = (int)n;
	submit(f, x);
	return x->in_flight ? (ssize_t)n : -EAGAIN;
}

static int make_transfers(struct ftdi *f, struct ww_error *err)
{
	/* libftdi names the endpoints from the chip's side: out_ep is what we read. */
	for (size_t i = 0; i <= TRANSFERS; i++) {
		struct xfer *x = &f->x[i];
		int ep = i < TRANSFERS ? f->c->out_ep : f->c->in_ep;

		x->f = f;
		x->t = libusb_alloc_transfer(0);
		if (!x->t)
			return ww_fail_nomem(err);
		libusb_fill_bulk_transfer(x->t, f->c->usb_dev, (unsigned char)ep, x->buf,
					  (int)f->c->max_packet_size, on_transfer, x, 0);
	}
	return 0;
}

/* ------------------------------------------------------------ libusb's descriptors */

static void on_fd(void *ctx, uint32_t events)
{
	struct ftdi *f = ctx;

	(void)events;
	ww_port_pump(f->p);
}

static void LIBUSB_CALL fd_added(int fd, short events, void *ctx)
{
	struct ftdi *f = ctx;
	uint32_t ev = (events & 1 ? (uint32_t)EPOLLIN : 0) | (events & 4 ? (uint32_t)EPOLLOUT : 0);

	for (size_t i = 0; i < FDS; i++) {
		if (f->fds[i].w)
			continue;
		f->fds[i].fd = fd;
		/* What cannot be watched is polled by the port's tick all the same. */
		ww_loop_watch(f->p->loop, fd, ev, on_fd, f, &f->fds[i].w, NULL);
		return;
	}
}

static void LIBUSB_CALL fd_removed(int fd, void *ctx)
{
	struct ftdi *f = ctx;

	for (size_t i = 0; i < FDS; i++) {
		if (f->fds[i].w && f->fds[i].fd == fd) {
			ww_watch_free(f->fds[i].w);
			f->fds[i].w = NULL;
		}
	}
}

static void watch_libusb(struct ftdi *f)
{
	const struct libusb_pollfd **list = libusb_get_pollfds(f->c->usb_ctx);

	libusb_set_pollfd_notifiers(f->c->usb_ctx, fd_added, fd_removed, f);
	for (size_t i = 0; list && list[i]; i++)
		fd_added(list[i]->fd, list[i]->events, f);
	libusb_free_pollfds(list);
}

/* -------------------------------------------------------------- open and close */

static void drain_transfers(struct ftdi *f)
{
	struct timeval wait = {0, 10000};
	bool flying = false;

	for (size_t i = 0; i <= TRANSFERS; i++)
		if (f->x[i].t && f->x[i].in_flight)
			libusb_cancel_transfer(f->x[i].t);
	for (int round = 0; round < 50; round++) {
		flying = false;
		for (size_t i = 0; i <= TRANSFERS; i++)
			flying |= f->x[i].in_flight;
		if (!flying)
			break;
		f->n_done = 0;
		libusb_handle_events_timeout_completed(f->c->usb_ctx, &wait, NULL);
	}
	for (size_t i = 0; i <= TRANSFERS; i++)
		if (f->x[i].t && !f->x[i].in_flight)
			libusb_free_transfer(f->x[i].t);
}

/* The chip does not tell how its outputs stand: what was set is kept. */
static int ftdi_modem(struct ww_port *p, int set, int clear, struct ww_error *err)
{
	struct ftdi *f = p->impl;

	if (((set | clear) & TIOCM_DTR && ftdi_setdtr(f->c, (set & TIOCM_DTR) != 0) < 0) ||
	    ((set | clear) & TIOCM_RTS && ftdi_setrts(f->c, (set & TIOCM_RTS) != 0) < 0))
		return ww_fail(err, -EIO, "%s: its modem lines cannot be set: %s", p->place,
			       ftdi_get_error_string(f->c));
	if ((set | clear) & TIOCM_DTR)
		f->line.dtr = (set & TIOCM_DTR) != 0;
	if ((set | clear) & TIOCM_RTS)
		f->line.rts = (set & TIOCM_RTS) != 0;
	return 0;
}

static void ftdi_reach(const struct ww_port *p, struct ww_port_reach *out)
{
	struct ftdi *f = p->impl;
	libusb_device *d = libusb_get_device(f->c->usb_dev);

	snprintf(out->node, sizeof(out->node), "/dev/bus/usb/%03u/%03u", libusb_get_bus_number(d),
		 libusb_get_device_address(d));
	out->interface = f->c->interface;
	out->known = (f->line.dtr >= 0 ? TIOCM_DTR : 0) | (f->line.rts >= 0 ? TIOCM_RTS : 0);
	out->lines = (f->line.dtr == 1 ? TIOCM_DTR : 0) | (f->line.rts == 1 ? TIOCM_RTS : 0);
}

static void ftdi_close(struct ww_port *p)
{
	struct ftdi *f = p->impl;

	if (!f)
		return;
	if (f->c) {
		libusb_set_pollfd_notifiers(f->c->usb_ctx, NULL, NULL, NULL);
		for (size_t i = 0; i < FDS; i++)
			ww_watch_free(f->fds[i].w);
		drain_transfers(f);
		if (f->open)
			ftdi_usb_close(f->c);
		ftdi_free(f->c);
	}
	free(f);
	p->impl = NULL;
}

static const struct ww_port_ops ftdi_ops = {
	.pump = ftdi_pump,
	.send = ftdi_send,
	.modem = ftdi_modem,
	.reach = ftdi_reach,
	.close = ftdi_close,
};

static int chip_failed(struct ftdi *f, const char *what, struct ww_error *err)
{
	return ww_fail(err, -EIO, "%s: %s: %s", f->p->place, what, ftdi_get_error_string(f->c));
}

static int set_frame(struct ftdi *f, struct ww_error *err)
{
	static const char letters[] = "noems"; /* in the order of enum ftdi_parity_type */
	const struct ww_line *l = &f->line;
	enum ftdi_parity_type parity =
		(enum ftdi_parity_type)(strchr(letters, l->parity) - letters);
	int flow = l->flow == 'r' ? SIO_RTS_CTS_HS : SIO_DISABLE_FLOW_CTRL;

	if (l->bits < 7)
		return ww_fail(err, -EINVAL, "%s: option bits=%d: the chip does 7 or 8",
			       f->p->place, l->bits);
	if (ftdi_set_line_property(f->c, (enum ftdi_bits_type)l->bits,
				   l->stop == 2 ? STOP_BIT_2 : STOP_BIT_1, parity) < 0)
		return chip_failed(f, "frame", err);
	if ((l->flow == 'x' ? ftdi_setflowctrl_xonxoff(f->c, 0x11, 0x13)
			    : ftdi_setflowctrl(f->c, flow)) < 0)
		return chip_failed(f, "flow control", err);
	ww_port_setting(f->p, "baud=%lld frame=%d%c%d", (long long)l->baud, l->bits, l->parity,
			l->stop);
	return 0;
}

static int set_timing(struct ftdi *f, struct ww_error *err)
{
	unsigned char want = (unsigned char)(f->line.latency_ms ? f->line.latency_ms : 1), now = 0;

	if (ftdi_set_latency_timer(f->c, want) < 0 || ftdi_get_latency_timer(f->c, &now) < 0)
		return chip_failed(f, "latency timer", err);
	ww_port_setting(f->p, "latency_timer=%u(requested) latency_timer=%u(in force)", want, now);
	/* The timer, one frame of USB, and the host's own time to see it. */
	f->p->transport.delay_max_ns = (now + INT64_C(2)) * WW_NS_PER_MS;
	if (ww_in_vm())
		ww_port_setting(f->p, "pace=unknown(virtual machine)");
	else
		f->p->transport.char_ns = ww_line_char_ns(&f->line);
	if (f->line.event_char < 0)
		return 0;
	if (ftdi_set_event_char(f->c, (unsigned char)f->line.event_char, 1) < 0)
		return chip_failed(f, "event character", err);
	ww_port_setting(f->p, "event_char=0x%02x(set)", (unsigned)f->line.event_char);
	return 0;
}

static int set_chip(struct ftdi *f, struct ww_error *err)
{
	int rc;

	if (ftdi_set_baudrate(f->c, (int)f->line.baud) < 0)
		return chip_failed(f, "baud rate", err);
	rc = set_frame(f, err);
	if (rc == 0)
		rc = set_timing(f, err);
	if (rc < 0)
		return rc;
	if ((f->line.dtr >= 0 && ftdi_setdtr(f->c, f->line.dtr) < 0) ||
	    (f->line.rts >= 0 && ftdi_setrts(f->c, f->line.rts) < 0))
		return chip_failed(f, "modem lines", err);
	if (f->line.dtr >= 0)
		ww_port_setting(f->p, "dtr=%d", f->line.dtr);
	if (f->line.rts >= 0)
		ww_port_setting(f->p, "rts=%d", f->line.rts);
	return 0;
}

static int first_lines(struct ftdi *f, struct ww_error *err)
{
	unsigned short status = 0;

	if (ftdi_poll_modem_status(f->c, &status) < 0)
		return chip_failed(f, "modem lines", err);
	take_lines(f, f->packet_ns, (uint8_t)status);
	ww_port_lines_setting(f->p);
	return 0;
}

int ww_ftdi_open(struct ww_port *p, const char *place, struct ww_uri *options, int64_t baud,
		 struct ww_error *err)
{
	struct ftdi *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return ww_fail_nomem(err);
	f->p = p;
	p->impl = f;
	p->ops = &ftdi_ops;
	p->transport.name = "ftdi";
	rc = ww_line_options(options, baud, &f->line, err);
	if (rc < 0)
		return rc;
	f->c = ftdi_new();
	if (!f->c)
		return ww_fail(err, -EIO, "%s: libusb cannot be used here (no USB?)", p->place);
	f->c->module_detach_mode = AUTO_DETACH_REATACH_SIO_MODULE;
	f->c->usb_read_timeout = f->c->usb_write_timeout = CONTROL_MS;
	rc = ww_ftdi_find_open(f->c, p->place, place, options, err);
	if (rc < 0)
		return rc;
	f->open = true;
	if (f->c->max_packet_size < 3 || f->c->max_packet_size > PACKET_MAX)
		return ww_fail(err, -EPROTO, "%s: packets of %u bytes are no FTDI chip's", p->place,
			       f->c->max_packet_size);
	rc = set_chip(f, err);
	if (rc == 0)
		rc = make_transfers(f, err);
	if (rc < 0)
		return rc;
	p->empty_ns = f->packet_ns = ww_loop_now(p->loop);
	if (ftdi_tciflush(f->c) < 0)
		return chip_failed(f, "purge", err);
	if (p->ev.modem) {
		rc = first_lines(f, err);
		if (rc < 0)
			return rc;
	}
	p->mute = true; /* lost() in here becomes our own error */
	for (size_t i = 0; i < TRANSFERS && ww_port_alive(p); i++)
		submit(f, &f->x[i]);
	p->mute = false;
	if (p->dead)
		return ww_fail(err, -EIO, "%s: its endpoint cannot be read", p->place);
	watch_libusb(f);
	return 0;
}

#else

int ww_ftdi_open(struct ww_port *p, const char *place, struct ww_uri *options, int64_t baud,
		 struct ww_error *err)
{
	(void)place;
	(void)options;
	(void)baud;
	return ww_fail(err, -ENOTSUP, "%s: built without libftdi: install libftdi1-dev, then make",
		       p->place);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * An FTDI chip without the kernel's driver: libftdi sets it up, transfers of
 * libusb read it, one packet each. A completed transfer is the earliest moment
 * at which a program can know of a byte; the status-only packets that the chip
 * sends while idle show that nothing waits in it.
 */
#include "bus/portcal.h"
#include "bus/portimpl.h"

#ifdef WW_WITH_FTDI

#include "bus/ftdi.h"
#include "bus/ftdifind.h"
#include "bus/usbinit.h"
#include "bus/usbloop.h"

#include <ftdi.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define TRANSFERS  8
#define PACKET_MAX 512
#define RETRIES	   10
#define CONTROL_MS 500

struct packet {
	struct ww_usb_xfer x;
	uint8_t buf[PACKET_MAX];
};

struct ftdi {
	struct ww_port *p;
	struct ftdi_context *c;
	struct ww_line line;
	bool open;
	struct ww_usbloop loop;
	struct packet x[TRANSFERS + 1]; /* the last one sends */
	unsigned errors;		/* in a row */
	int64_t packet_ns;		/* when the last packet was taken */
	struct ww_usb_dev dev;
	struct ww_usb_power power;
};

/* ---------------------------------------------------------------- transfers */

/*
 * The inputs as the chip saw them when it made the packet. A change is told within
 * delay_max, as a byte is, and nothing was there when the port was last found empty; when
 * the packet before was taken proves nothing where both had waited for us.
 */
static void take_lines(struct ftdi *f, int64_t done_ns, uint8_t modem)
{
	int now = (modem & 0x10 ? TIOCM_CTS : 0) | (modem & 0x20 ? TIOCM_DSR : 0) |
		  (modem & 0x40 ? TIOCM_RI : 0) | (modem & 0x80 ? TIOCM_CD : 0);
	struct ww_interval t = {ww_add_sat(f->p->empty_ns, -f->p->transport.delay_max_ns), done_ns};

	ww_port_lines(f->p, t, now);
}

static void take_packet(struct ftdi *f, struct ww_usb_xfer *x)
{
	uint8_t *buf = x->t->buffer;
	struct ww_interval iv = {f->p->empty_ns, x->done_ns};
	struct ww_ftdi_status st;
	size_t n = ww_ftdi_strip(buf, (size_t)x->t->actual_length, f->c->max_packet_size, &st);

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
	ww_port_got(f->p, x->done_ns, buf, n);
}

static void take(void *ctx, struct ww_usb_xfer *x)
{
	struct ftdi *f = ctx;
	bool sends = x == &f->x[TRANSFERS].x;

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
		ww_usb_submit(x);
}

static void ftdi_pump(struct ww_port *p)
{
	struct ftdi *f = p->impl;
	int64_t before = ww_usbloop_turn(&f->loop);

	/*
	 * The chip sends a packet each period of its timer, with data or without. Where none
	 * came for longer than one can take, they are held up on the way (a machine that has
	 * no time for USB), and nothing here proves that no byte is among them.
	 */
	if (before != WW_TIME_MIN && before - f->packet_ns <= p->transport.delay_max_ns)
		ww_port_empty(p, before);
}

static ssize_t ftdi_send(struct ww_port *p, const uint8_t *data, size_t n)
{
	struct ftdi *f = p->impl;
	struct packet *out = &f->x[TRANSFERS];

	if (out->x.in_flight)
		return -EAGAIN;
	n = n < sizeof(out->buf) ? n : sizeof(out->buf);
	memcpy(out->buf, data, n);
	out->x.t->length = (int)n;
	return ww_usb_submit(&out->x) ? (ssize_t)n : -EAGAIN;
}

static int64_t ftdi_outq(const struct ww_port *p)
{
	const struct packet *out = &((const struct ftdi *)p->impl)->x[TRANSFERS];

	return out->x.in_flight ? out->x.t->length : 0;
}

static int make_transfers(struct ftdi *f, struct ww_error *err)
{
	/* libftdi names the endpoints from the chip's side: out_ep is what we read. */
	for (size_t i = 0; i <= TRANSFERS; i++) {
		struct packet *x = &f->x[i];
		int ep = i < TRANSFERS ? f->c->out_ep : f->c->in_ep;
		int rc = ww_usb_xfer_new(&f->loop, &x->x, err);

		if (rc < 0)
			return rc;
		libusb_fill_bulk_transfer(x->x.t, f->c->usb_dev, (unsigned char)ep, x->buf,
					  (int)f->c->max_packet_size, ww_usb_xfer_done, &x->x, 0);
	}
	return 0;
}

/* -------------------------------------------------------------- open and close */

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

	snprintf(out->node, sizeof(out->node), "%.31s", f->dev.node);
	out->interface = f->c->interface;
	out->known = (f->line.dtr >= 0 ? TIOCM_DTR : 0) | (f->line.rts >= 0 ? TIOCM_RTS : 0);
	out->lines = (f->line.dtr == 1 ? TIOCM_DTR : 0) | (f->line.rts == 1 ? TIOCM_RTS : 0);
}

static void ftdi_close(struct ww_port *p)
{
	struct ftdi *f = p->impl;

	if (!f)
		return;
	ww_usbloop_stop(&f->loop);
	ww_usb_asleep(&f->power);
	if (f->open)
		ftdi_usb_close(f->c);
	if (f->c)
		ftdi_free(f->c);
	free(f);
	p->impl = NULL;
}

static int ftdi_baud(struct ww_port *p, int64_t baud, struct ww_error *err)
{
	struct ftdi *f = p->impl;

	if (baud > INT_MAX || ftdi_set_baudrate(f->c, (int)baud) < 0)
		return ww_fail(err, -EIO, "%s: %lld baud: %s", p->place, (long long)baud,
			       ftdi_get_error_string(f->c));
	f->line.baud = baud;
	p->transport.char_ns = ww_line_char_ns(&f->line);
	return 0;
}

static const struct ww_port_ops ftdi_ops = {
	.pump = ftdi_pump,
	.send = ftdi_send,
	.modem = ftdi_modem,
	.baud = ftdi_baud,
	.reach = ftdi_reach,
	.outq = ftdi_outq,
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
	f->p->latency_ms = now;
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
	int rc, interface = 0;

	if (!f)
		return ww_fail_nomem(err);
	f->p = p;
	p->impl = f;
	p->ops = &ftdi_ops;
	p->transport.name = "ftdi";
	rc = ww_line_options(options, baud, &f->line, err);
	if (rc < 0)
		return rc;
	rc = ww_ftdi_find(p, place, options, &f->dev, &interface, err);
	if (rc < 0)
		return rc;
	f->c = ww_ftdi_new();
	if (!f->c)
		return ww_fail(err, -EIO, "%s: libusb cannot be used here (no USB?)", p->place);
	f->c->module_detach_mode = AUTO_DETACH_REATACH_SIO_MODULE;
	f->c->usb_read_timeout = f->c->usb_write_timeout = CONTROL_MS;
	rc = ww_ftdi_open_dev(f->c, &f->dev, interface, p->place, err);
	if (rc < 0)
		return rc;
	f->open = true;
	ww_usb_remember(p->memory, &f->dev);
	if (f->c->max_packet_size < 3 || f->c->max_packet_size > PACKET_MAX)
		return ww_fail(err, -EPROTO, "%s: packets of %u bytes are no FTDI chip's", p->place,
			       f->c->max_packet_size);
	f->loop = (struct ww_usbloop){.p = p, .c = f->c->usb_ctx, .take = take, .ctx = f};
	rc = set_chip(f, err);
	if (rc == 0) {
		ww_usb_adapter(f->dev.vid, f->dev.pid, *f->dev.serial ? f->dev.serial : f->dev.name,
			       interface > 1 ? interface - 1 : 0, p->adapter, sizeof(p->adapter));
		ww_portcal_use(p, f->line.baud, false);
	}
	ww_usb_awake(p, &f->dev, true, &f->power);
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
		ww_usb_submit(&f->x[i].x);
	p->mute = false;
	if (p->dead)
		return ww_fail(err, -EIO, "%s: its endpoint cannot be read", p->place);
	ww_usbloop_watch(&f->loop);
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

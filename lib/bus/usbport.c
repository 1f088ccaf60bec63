/* SPDX-License-Identifier: MIT */
/*
 * A device with endpoints of its maker's own: each packet that it sends is a message. One
 * transfer holds one packet, and several wait at the host's controller, so that none is
 * kept waiting at the device while we are busy.
 */
#include "bus/portimpl.h"
#include "bus/usbloop.h"

#ifdef WW_WITH_USB

#include "bus/msgq.h"

#include <stdio.h>

#define TRANSFERS  16
#define PACKET_MAX 1024
#define ERRORS	   10 /* in a row */
#define OUT_MS	   5000

struct packet {
	struct ww_usb_xfer x;
	uint8_t buf[PACKET_MAX];
};

struct usb {
	struct ww_port *p;
	struct ww_usb_handle u;
	struct ww_usbloop loop;
	struct packet in[TRANSFERS];
	struct ww_usb_xfer out;
	uint8_t *out_buf; /* WW_PORT_QUEUE bytes, once something is sent */
	struct ww_msgq waiting;
	struct ww_usb_control control;
	bool halted_in, halted_out; /* STALL: to be asked to go on */
	uint8_t asking;		    /* the endpoint that is being asked; 0 none */
	unsigned errors;
};

/* ------------------------------------------------------------------ STALL and go */

static bool any_in(const struct usb *s)
{
	for (size_t i = 0; i < TRANSFERS; i++)
		if (s->in[i].x.in_flight)
			return true;
	return false;
}

static void ask_to_go_on(struct usb *s)
{
	if (s->asking || !ww_port_alive(s->p))
		return;
	if (s->halted_out)
		s->asking = s->u.iface.ep_out;
	else if (s->halted_in && !any_in(s)) /* the others wait behind the halt: taken back first */
		s->asking = s->u.iface.ep_in;
	if (s->asking)
		ww_usb_unhalt(&s->control, &s->u, s->asking);
}

static void send_next(struct usb *s);

static void asked(struct usb *s)
{
	uint8_t ep = s->asking;

	s->asking = 0;
	if (s->control.x.t->status != LIBUSB_TRANSFER_COMPLETED) {
		ww_port_lost(s->p, -EIO,
			     "its endpoint 0x%02x stalls and does not go on (status %d)", ep,
			     s->control.x.t->status);
		return;
	}
	ww_usb_unhalted(&s->u, ep);
	if (ep == s->u.iface.ep_out && s->halted_out) {
		s->halted_out = false;
		send_next(s);
	} else {
		s->halted_in = false;
		for (size_t i = 0; i < TRANSFERS && ww_port_alive(s->p); i++)
			ww_usb_submit(&s->in[i].x);
	}
	ask_to_go_on(s);
}

static void stalled(struct usb *s, bool in, int64_t now)
{
	const struct ww_interval t = {s->p->empty_ns, now};

	ww_port_trouble(s->p, t, -1,
			in ? "the device refused to be read (STALL)"
			   : "the device refused a message (STALL)");
	if (in && !s->halted_in)
		for (size_t i = 0; i < TRANSFERS; i++)
			if (s->in[i].x.in_flight)
				libusb_cancel_transfer(s->in[i].x.t);
	if (in)
		s->halted_in = true;
	else
		s->halted_out = true;
}

/* ---------------------------------------------------------------------- transfers */

/* true: it may go on. */
static bool failed(struct usb *s, const struct ww_usb_xfer *x, bool in)
{
	switch (x->t->status) {
	case LIBUSB_TRANSFER_NO_DEVICE:
		ww_port_lost(s->p, -ENODEV, "unplugged");
		return false;
	case LIBUSB_TRANSFER_TIMED_OUT:
		ww_port_lost(s->p, -ETIMEDOUT, "takes nothing of what is sent to it (%d s)",
			     OUT_MS / 1000);
		return false;
	case LIBUSB_TRANSFER_CANCELLED:
		return false;
	case LIBUSB_TRANSFER_STALL:
		if (in && s->halted_in) /* the others that waited say the same */
			return false;
		break;
	default:
		break;
	}
	if (++s->errors > ERRORS) {
		ww_port_lost(s->p, -EIO,
			     x->t->status == LIBUSB_TRANSFER_STALL
				     ? "stalls again and again"
				     : "USB transfers fail (status %d)",
			     x->t->status);
		return false;
	}
	if (x->t->status == LIBUSB_TRANSFER_STALL)
		stalled(s, in, x->done_ns);
	return x->t->status != LIBUSB_TRANSFER_STALL;
}

static void send_next(struct usb *s)
{
	const uint8_t *data;
	size_t n;

	if (s->out.in_flight || s->halted_out || !ww_port_alive(s->p))
		return;
	data = ww_msgq_first(&s->waiting, &n);
	if (!data)
		return;
	memcpy(s->out_buf, data, n);
	ww_msgq_drop(&s->waiting);
	s->out.t->buffer = s->out_buf;
	s->out.t->length = (int)n;
	ww_usb_submit(&s->out);
}

static void take(void *ctx, struct ww_usb_xfer *x)
{
	struct usb *s = ctx;
	bool fine = x->t->status == LIBUSB_TRANSFER_COMPLETED;

	if (x == &s->control.x) {
		asked(s);
		return;
	}
	if (x == &s->out) {
		if (fine || failed(s, x, false))
			send_next(s);
	} else if (fine) {
		s->errors = 0;
		ww_port_got(s->p, x->done_ns, x->t->buffer, (size_t)x->t->actual_length);
		if (ww_port_alive(s->p) && !s->halted_in)
			ww_usb_submit(x);
	} else if (failed(s, x, true) && !s->halted_in) {
		ww_usb_submit(x);
	}
	if (s->halted_in || s->halted_out)
		ask_to_go_on(s);
}

static void usb_pump(struct ww_port *p)
{
	struct usb *s = p->impl;
	int64_t before = ww_usbloop_turn(&s->loop);

	if (before != WW_TIME_MIN)
		ww_port_empty(p, before);
}

static int usb_message(struct ww_port *p, const uint8_t *data, size_t n, struct ww_error *err)
{
	struct usb *s = p->impl;
	int rc;

	if (!s->u.iface.ep_out)
		return ww_fail(err, -ENOTSUP, "%s: has no endpoint to send to", p->place);
	if (!s->out_buf) {
		s->out_buf = malloc(WW_PORT_QUEUE);
		if (!s->out_buf)
			return ww_fail_nomem(err);
	}
	rc = ww_msgq_put(&s->waiting, p->place, data, n, err);
	if (rc == 0)
		send_next(s);
	return rc;
}

/* --------------------------------------------------------------- open and close */

static void usb_close(struct ww_port *p)
{
	struct usb *s = p->impl;

	if (!s)
		return;
	ww_usbloop_stop(&s->loop);
	ww_usb_unclaim(&s->u);
	free(s->waiting.p);
	free(s->out_buf);
	free(s);
	p->impl = NULL;
}

static const struct ww_port_ops usb_ops = {
	.pump = usb_pump,
	.message = usb_message,
	.close = usb_close,
};

static int make_transfers(struct usb *s, struct ww_error *err)
{
	const struct ww_usb_iface *i = &s->u.iface;
	int rc = 0;

	for (size_t k = 0; k < TRANSFERS && rc == 0; k++) {
		struct packet *in = &s->in[k];

		rc = ww_usb_xfer_new(&s->loop, &in->x, err);
		if (rc < 0)
			return rc;
		libusb_fill_bulk_transfer(in->x.t, s->u.h, i->ep_in, in->buf, i->in_max,
					  ww_usb_xfer_done, &in->x, 0);
		if (!i->in_bulk)
			in->x.t->type = LIBUSB_TRANSFER_TYPE_INTERRUPT;
	}
	rc = ww_usb_xfer_new(&s->loop, &s->out, err);
	if (rc == 0)
		rc = ww_usb_xfer_new(&s->loop, &s->control.x, err);
	if (rc < 0)
		return rc;
	libusb_fill_bulk_transfer(s->out.t, s->u.h, i->ep_out, NULL, 0, ww_usb_xfer_done, &s->out,
				  OUT_MS);
	if (!i->out_bulk)
		s->out.t->type = LIBUSB_TRANSFER_TYPE_INTERRUPT;
	return 0;
}

int ww_usb_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	const struct ww_usb_pick vendor = {-1, LIBUSB_CLASS_VENDOR_SPEC, -1, 0, 0};
	struct usb *s = calloc(1, sizeof(*s));
	struct ww_usb_want w;
	int rc;

	if (!s)
		return ww_fail_nomem(err);
	s->p = p;
	s->u.fd = -1;
	p->impl = s;
	p->ops = &usb_ops;
	p->transport.name = "usb";
	ww_usb_want(&w, p, place, options, WW_BUS_USB);
	rc = ww_usb_claim(&s->u, p, &w, &vendor, err);
	if (rc < 0)
		return rc;
	s->loop = (struct ww_usbloop){.p = p, .c = s->u.c, .take = take, .ctx = s};
	rc = make_transfers(s, err);
	if (rc < 0)
		return rc;
	/* Until the host looks, and until it has told. */
	p->transport.delay_max_ns = ww_usb_poll_ns(&s->u.dev, &s->u.iface) + WW_NS_PER_MS;
	p->empty_ns = ww_loop_now(p->loop);
	p->mute = true; /* lost() in here becomes our own error */
	for (size_t i = 0; i < TRANSFERS && ww_port_alive(p); i++)
		ww_usb_submit(&s->in[i].x);
	p->mute = false;
	if (p->dead)
		return ww_fail(err, -EIO, "%s: its endpoint 0x%02x cannot be read", p->place,
			       s->u.iface.ep_in);
	ww_usbloop_watch(&s->loop);
	return 0;
}

#else

int ww_usb_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	(void)place;
	(void)options;
	return ww_fail(err, -ENOTSUP,
		       "%s: built without libusb: install libusb-1.0-0-dev, then make", p->place);
}

#endif

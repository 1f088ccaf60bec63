/* SPDX-License-Identifier: MIT */
/*
 * An instrument of the USB test and measurement class. The kernel's own driver of it waits
 * for answers inside of read() and write(), so the interface is taken from it and its
 * messages are framed here. What came wrong or not at all is cleared as the class has it:
 * INITIATE_CLEAR, CHECK_CLEAR_STATUS until it is done, and the endpoints go on.
 */
#include "bus/portimpl.h"
#include "bus/usbloop.h"

#ifdef WW_WITH_USB

#include "bus/msgq.h"
#include "bus/tmc.h"

#include <stdio.h>

#define ANSWER_MAX 65536
/* One short packet less than the buffer, so that each answer's end is seen. */
#define IN_BUFFER 4096
#define ASK	  (IN_BUFFER - WW_TMC_HEADER - 4)
#define OUT_MS	  5000
#define TRIES	  3 /* in a row, each without a sound answer between them */
#define CHECK_NS  (20 * WW_NS_PER_MS)
#define CHECKS	  100

enum { INITIATE_CLEAR = 5, CHECK_CLEAR_STATUS = 6, PENDING = 2 };

enum state {
	IDLE,
	SENDING,   /* a message */
	ASKING,	   /* for its answer */
	READING,   /* the answer */
	STOPPING,  /* transfers are taken back, then it is cleared */
	CLEARING,  /* INITIATE_CLEAR is on its way */
	CHECKING,  /* CHECK_CLEAR_STATUS, or the time until the next */
	DRAINING,  /* it has something left to say, which nobody wants */
	UNHALTING, /* the endpoints */
};

struct tmc {
	struct ww_port *p;
	struct ww_usb_handle u;
	struct ww_usbloop loop;
	struct ww_usb_xfer out, in;
	struct ww_usb_control control;
	struct ww_timer *timer;
	struct ww_msgq waiting;
	enum state state;
	int64_t limit_ns; /* for an answer */
	uint8_t tag;
	uint8_t unhalting;
	bool query;   /* the message on its way wants an answer */
	bool unclear; /* it is being cleared for the first time, at the opening */
	unsigned tries, checks, asks, empties;
	size_t got;	 /* of the answer */
	size_t left;	 /* of this part of it */
	bool is_late;	 /* the timer has run out */
	bool end;	 /* this part is the last */
	int64_t from_ns; /* no byte of the answer is older */
	uint8_t *answer, *frame;
	uint8_t buf[IN_BUFFER];
};

static void next_message(struct tmc *s);

/* ------------------------------------------------------------------- clearing */

static void class_request(struct tmc *s, uint8_t request, uint16_t length)
{
	ww_usb_control(&s->control, &s->u,
		       LIBUSB_ENDPOINT_IN | LIBUSB_REQUEST_TYPE_CLASS | LIBUSB_RECIPIENT_INTERFACE,
		       request, 0, s->u.iface.number, length);
}

static void clear(struct tmc *s)
{
	s->state = CLEARING;
	s->checks = 0;
	s->is_late = false;
	ww_timer_set(s->timer, WW_TIME_MAX, 0);
	class_request(s, INITIATE_CLEAR, 1);
}

/* What is on its way is dropped, and the instrument brought back to where it listens. */
static void give_up(struct tmc *s, int64_t from_ns, const char *why)
{
	const struct ww_interval t = {from_ns, ww_loop_now(s->p->loop)};

	ww_port_trouble(s->p, t, -1, why);
	if (!ww_port_alive(s->p))
		return;
	if (++s->tries > TRIES) {
		ww_port_lost(s->p, -EPROTO, "%s, again and again: not the instrument, or hung",
			     why);
		return;
	}
	s->got = 0;
	if (s->out.in_flight)
		libusb_cancel_transfer(s->out.t);
	if (s->in.in_flight)
		libusb_cancel_transfer(s->in.t);
	s->state = STOPPING;
	if (!s->out.in_flight && !s->in.in_flight)
		clear(s);
}

static void unhalt(struct tmc *s, uint8_t ep)
{
	s->state = UNHALTING;
	s->unhalting = ep;
	ww_usb_unhalt(&s->control, &s->u, ep);
}

static void cleared(struct tmc *s)
{
	s->state = IDLE;
	s->unclear = false;
	next_message(s);
}

static void read_in(struct tmc *s)
{
	s->in.t->buffer = s->buf;
	s->in.t->length = IN_BUFFER;
	ww_usb_submit(&s->in);
}

static void check_said(struct tmc *s, const uint8_t *said)
{
	if (said[0] != PENDING) {
		unhalt(s, s->u.iface.ep_out);
	} else if (++s->checks > CHECKS) {
		ww_port_lost(s->p, -ETIMEDOUT, "does not come back to itself (CLEAR is pending)");
	} else if (said[1] & 1) {
		s->state = DRAINING;
		read_in(s);
		ww_timer_set(s->timer, ww_loop_now(s->p->loop) + s->limit_ns, 0);
	} else {
		ww_timer_set(s->timer, ww_loop_now(s->p->loop) + CHECK_NS, 0);
	}
}

/* A control request is through. */
static void take_control(struct tmc *s)
{
	const struct libusb_transfer *t = s->control.x.t;
	const uint8_t *said = s->control.buf + LIBUSB_CONTROL_SETUP_SIZE;

	if (t->status == LIBUSB_TRANSFER_NO_DEVICE) {
		ww_port_lost(s->p, -ENODEV, "unplugged");
	} else if (t->status == LIBUSB_TRANSFER_STALL && s->unclear) {
		cleared(s); /* it knows no such request; it may do without */
	} else if (t->status != LIBUSB_TRANSFER_COMPLETED) {
		ww_port_lost(s->p, -EIO, "does not answer when it is cleared (status %d)",
			     t->status);
	} else if (s->state == UNHALTING) {
		ww_usb_unhalted(&s->u, s->unhalting);
		if (s->unhalting == s->u.iface.ep_out)
			unhalt(s, s->u.iface.ep_in);
		else
			cleared(s);
	} else if (s->state == CLEARING) {
		s->state = CHECKING;
		class_request(s, CHECK_CLEAR_STATUS, 2);
	} else if (t->actual_length < 2) {
		ww_port_lost(s->p, -EPROTO, "does not tell whether it is clear");
	} else {
		check_said(s, said);
	}
}

/* The timer has run out. */
static void late(struct tmc *s)
{
	char why[80];

	s->is_late = false;
	if (s->state == CHECKING) {
		class_request(s, CHECK_CLEAR_STATUS, 2);
	} else if (s->state == DRAINING) {
		libusb_cancel_transfer(s->in.t);
	} else if (s->state == ASKING || s->state == READING) {
		snprintf(why, sizeof(why), "no answer in %lld ms",
			 (long long)(s->limit_ns / WW_NS_PER_MS));
		give_up(s, ww_loop_now(s->p->loop) - s->limit_ns, why);
	}
}

static void on_timer(void *ctx, int64_t now_ns, int64_t late_ns)
{
	struct tmc *s = ctx;

	(void)now_ns;
	(void)late_ns;
	s->is_late = true;
	ww_port_pump(s->p);
}

/* ------------------------------------------------------------------- messages */

static void send_frame(struct tmc *s, size_t n)
{
	s->out.t->buffer = s->frame;
	s->out.t->length = (int)n;
	ww_usb_submit(&s->out);
}

static void ask(struct tmc *s)
{
	s->state = ASKING;
	s->tag = ww_tmc_tag(s->tag);
	ww_tmc_request(s->frame, s->tag, ASK);
	send_frame(s, WW_TMC_HEADER);
	if (!s->asks++) /* the whole answer has so much time */
		ww_timer_set(s->timer, ww_loop_now(s->p->loop) + s->limit_ns, 0);
}

static void next_message(struct tmc *s)
{
	const uint8_t *data;
	size_t n;

	if (s->state != IDLE || !ww_port_alive(s->p))
		return;
	data = ww_msgq_first(&s->waiting, &n);
	if (!data)
		return;
	s->state = SENDING;
	s->query = memchr(data, '?', n) != NULL;
	s->tag = ww_tmc_tag(s->tag);
	ww_tmc_frame(s->frame, s->tag, data, n);
	ww_msgq_drop(&s->waiting);
	send_frame(s, WW_TMC_FRAME(n));
}

static void whole(struct tmc *s, int64_t done_ns)
{
	const struct ww_interval t = {s->from_ns, done_ns};
	size_t n = s->got;

	s->state = IDLE;
	s->tries = 0;
	s->got = 0;
	ww_timer_set(s->timer, WW_TIME_MAX, 0);
	ww_port_message(s->p, t, s->answer, n);
	next_message(s);
}

/* n bytes of the answer, without the header. */
static void take_part(struct tmc *s, const uint8_t *p, size_t n, int64_t done_ns)
{
	n = n < s->left ? n : s->left; /* the rest is padding */
	if (n > ANSWER_MAX - s->got) {
		give_up(s, s->from_ns, "an answer without end");
		return;
	}
	memcpy(s->answer + s->got, p, n);
	s->got += n;
	s->left -= n;
	if (s->left && s->empties < TRIES)
		read_in(s); /* against the rules, but there are such: the part in several */
	else if (s->left)
		give_up(s, s->from_ns, "an answer shorter than it said");
	else if (s->end)
		whole(s, done_ns);
	else
		ask(s);
}

static void take_in(struct tmc *s, const struct ww_usb_xfer *x)
{
	const uint8_t *p = s->buf;
	size_t n = (size_t)x->t->actual_length;
	struct ww_tmc_part part;

	if (s->state == DRAINING) {
		s->state = CHECKING;
		class_request(s, CHECK_CLEAR_STATUS, 2);
		return;
	}
	s->empties = n ? 0 : s->empties + 1;
	if (!s->got && !s->left)
		s->from_ns = ww_add_sat(s->p->empty_ns, -s->p->transport.delay_max_ns);
	if (!s->left) {
		if (!ww_tmc_answer(p, n, s->tag, ASK, &part)) {
			give_up(s, s->from_ns,
				"an answer that was not asked for, or none of USBTMC");
			return;
		}
		s->left = part.n;
		s->end = part.end;
		p += WW_TMC_HEADER;
		n -= WW_TMC_HEADER;
	}
	take_part(s, p, n, x->done_ns);
}

/* ---------------------------------------------------------------------- transfers */

static void take_failed(struct tmc *s, const struct ww_usb_xfer *x)
{
	enum libusb_transfer_status st = x->t->status;

	if (st == LIBUSB_TRANSFER_NO_DEVICE) {
		ww_port_lost(s->p, -ENODEV, "unplugged");
	} else if (s->state == STOPPING) {
		if (!s->out.in_flight && !s->in.in_flight)
			clear(s);
	} else if (s->state == DRAINING) {
		s->state = CHECKING;
		class_request(s, CHECK_CLEAR_STATUS, 2);
	} else if (st == LIBUSB_TRANSFER_TIMED_OUT) {
		ww_port_lost(s->p, -ETIMEDOUT, "takes nothing of what is sent to it (%d s)",
			     OUT_MS / 1000);
	} else {
		give_up(s, s->p->empty_ns,
			st == LIBUSB_TRANSFER_STALL ? "the instrument refused a transfer (STALL)"
						    : "a USB transfer failed");
	}
}

static void take(void *ctx, struct ww_usb_xfer *x)
{
	struct tmc *s = ctx;

	if (x == &s->control.x) {
		take_control(s);
	} else if (x->t->status != LIBUSB_TRANSFER_COMPLETED || s->state == STOPPING) {
		take_failed(s, x);
	} else if (x == &s->in) {
		take_in(s, x);
	} else if (s->state == SENDING && s->query) {
		s->got = s->left = s->asks = 0;
		ask(s);
	} else if (s->state == SENDING) {
		s->state = IDLE;
		next_message(s);
	} else if (s->state == ASKING) {
		s->state = READING;
		read_in(s);
	}
}

static void tmc_pump(struct ww_port *p)
{
	struct tmc *s = p->impl;
	int64_t before = ww_usbloop_turn(&s->loop);

	if (before != WW_TIME_MIN)
		ww_port_empty(p, before);
	if (s->is_late && ww_port_alive(p))
		late(s);
}

static int tmc_message(struct ww_port *p, const uint8_t *data, size_t n, struct ww_error *err)
{
	struct tmc *s = p->impl;
	int rc = ww_msgq_put(&s->waiting, p->place, data, n, err);

	if (rc == 0)
		next_message(s);
	return rc;
}

/* --------------------------------------------------------------- open and close */

static void tmc_close(struct ww_port *p)
{
	struct tmc *s = p->impl;

	if (!s)
		return;
	ww_usbloop_stop(&s->loop);
	ww_timer_free(s->timer);
	ww_usb_unclaim(&s->u);
	free(s->waiting.p);
	free(s->answer);
	free(s->frame);
	free(s);
	p->impl = NULL;
}

static const struct ww_port_ops tmc_ops = {
	.pump = tmc_pump,
	.message = tmc_message,
	.close = tmc_close,
};

/* "usbtmc0", "/dev/usbtmc0": the kernel's name of the interface; else "1-2.3" or "". */
static int where(struct ww_usb_want *w, struct ww_usb_pick *pick, const char *place, char *name,
		 size_t n, struct ww_error *err)
{
	char dir[WW_SYSFS_PATH];

	if (strncmp(place, "/dev/", 5) == 0)
		place += 5;
	if (strncmp(place, "usbtmc", 6) != 0 || (w->memory && *w->memory))
		return 0;
	snprintf(dir, sizeof(dir), "%.32s/sys/class/usbmisc/%.64s/device", ww_usb_root(), place);
	if (!ww_usb_above(dir, name, n, &pick->number))
		return ww_fail(err, -ENODEV,
			       "%s: no such instrument; `pwrlog list` shows what is plugged in",
			       w->who);
	w->at = name;
	w->ids = NULL;
	return 0;
}

static int make_transfers(struct tmc *s, struct ww_error *err)
{
	const struct ww_usb_iface *i = &s->u.iface;
	int rc = ww_usb_xfer_new(&s->loop, &s->out, err);

	if (rc == 0)
		rc = ww_usb_xfer_new(&s->loop, &s->in, err);
	if (rc == 0)
		rc = ww_usb_xfer_new(&s->loop, &s->control.x, err);
	if (rc < 0)
		return rc;
	libusb_fill_bulk_transfer(s->out.t, s->u.h, i->ep_out, NULL, 0, ww_usb_xfer_done, &s->out,
				  OUT_MS);
	libusb_fill_bulk_transfer(s->in.t, s->u.h, i->ep_in, NULL, 0, ww_usb_xfer_done, &s->in, 0);
	s->answer = malloc(ANSWER_MAX);
	s->frame = malloc(WW_TMC_FRAME(WW_PORT_QUEUE));
	if (!s->answer || !s->frame)
		return ww_fail_nomem(err);
	return ww_loop_timer(s->p->loop, on_timer, s, &s->timer, err);
}

static int open_instrument(struct tmc *s, const char *place, struct ww_uri *options,
			   struct ww_error *err)
{
	struct ww_usb_pick pick = {-1, LIBUSB_CLASS_APPLICATION, 3, 0, 0};
	int64_t limit_ms = 5000;
	struct ww_usb_want w;
	char name[32];
	int rc;

	if (options && ww_uri_int(options, "timeout", 100, 60000, &limit_ms, err) < 0)
		return -EINVAL;
	s->limit_ns = limit_ms * WW_NS_PER_MS;
	ww_usb_want(&w, s->p, place, options, WW_BUS_TMC);
	rc = where(&w, &pick, place, name, sizeof(name), err);
	if (rc == 0)
		rc = ww_usb_claim(&s->u, s->p, &w, &pick, err);
	if (rc < 0)
		return rc;
	if (!s->u.iface.ep_out)
		return ww_fail(err, -EPROTO, "%s: has no endpoint to send to", s->p->place);
	s->loop = (struct ww_usbloop){.p = s->p, .c = s->u.c, .take = take, .ctx = s};
	return make_transfers(s, err);
}

int ww_tmc_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	struct tmc *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return ww_fail_nomem(err);
	s->p = p;
	s->u.fd = -1;
	p->impl = s;
	p->ops = &tmc_ops;
	p->transport.name = "usbtmc";
	rc = open_instrument(s, place, options, err);
	if (rc < 0)
		return rc;
	p->transport.delay_max_ns = 2 * WW_NS_PER_MS;
	p->empty_ns = ww_loop_now(p->loop);
	/* Who had it before may have left an answer in it. */
	s->unclear = true;
	p->mute = true;
	clear(s);
	p->mute = false;
	if (p->dead)
		return ww_fail(err, -EIO, "%s: takes no request", p->place);
	ww_usbloop_watch(&s->loop);
	return 0;
}

#else

int ww_tmc_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	(void)place;
	(void)options;
	return ww_fail(err, -ENOTSUP,
		       "%s: built without libusb: install libusb-1.0-0-dev, then make", p->place);
}

#endif

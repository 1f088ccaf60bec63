/* SPDX-License-Identifier: MIT */
/*
 * A pin of an FTDI chip as edges: asked each millisecond by a vendor request, which needs
 * no claim of the interface, so that the chip's serial port may be in use beside it. The
 * pins of the data bus can be read in every mode; those of CBUS only in a mode of their
 * own, in which they are made inputs.
 */
#include "bus/ftdibits.h"
#include "bus/portimpl.h"

#include <stdio.h>

#ifdef WW_WITH_FTDI

#include "bus/usbinit.h"
#include "bus/usbloop.h"

#include <fcntl.h>
#include <unistd.h>

#define CONTROL_MS 500
#define RETRIES	   10

struct ftdipin {
	struct ww_usbloop loop;
	libusb_device_handle *h;
	int fd;
	struct ww_usb_xfer x;
	struct ww_ftdi_pin pin;
	uint16_t index; /* wIndex: interface */
	bool inverted;
	bool cbus_mode; /* to be left */
	unsigned errors;
	int64_t asked_ns; /* before the request in flight */
	int64_t seen_ns;  /* before the request that showed the level as it is known */
	uint8_t buf[LIBUSB_CONTROL_SETUP_SIZE + 8];
};

static int level_of(const struct ftdipin *f, uint8_t pins)
{
	return ((pins >> f->pin.bit) & 1) != f->inverted;
}

static void take(void *ctx, struct ww_usb_xfer *x)
{
	struct ftdipin *f = ctx;
	struct ww_port *p = f->loop.p;
	struct ww_interval t = {f->seen_ns, x->done_ns};
	uint8_t text;
	int level;

	if (x->t->status == LIBUSB_TRANSFER_NO_DEVICE) {
		ww_port_lost(p, -ENODEV, "unplugged");
		return;
	}
	if (x->t->status != LIBUSB_TRANSFER_COMPLETED || x->t->actual_length < 1) {
		if (x->t->status != LIBUSB_TRANSFER_CANCELLED && ++f->errors > RETRIES)
			ww_port_lost(p, -EIO, "the chip does not tell its pins (status %d)",
				     x->t->status);
		return;
	}
	f->errors = 0;
	f->seen_ns = f->asked_ns;
	level = level_of(f, *libusb_control_transfer_get_data(x->t));
	if (level == p->level)
		return;
	p->level = level;
	text = level ? '1' : '0';
	ww_port_message(p, t, &text, 1);
}

static void pin_pump(struct ww_port *p)
{
	struct ftdipin *f = p->impl;
	int64_t before = ww_usbloop_turn(&f->loop);

	if (before != WW_TIME_MIN)
		ww_port_empty(p, before);
	if (!ww_port_alive(p) || f->x.in_flight)
		return;
	/* One in flight: the chip answers within a frame, and the next tick is a frame later. */
	if (f->asked_ns > ww_loop_now(p->loop) - WW_PORT_TICK_NS / 2)
		return;
	f->asked_ns = ww_loop_now(p->loop);
	ww_usb_submit(&f->x);
}

static void pin_close(struct ww_port *p)
{
	struct ftdipin *f = p->impl;

	if (!f)
		return;
	ww_usbloop_stop(&f->loop);
	if (f->h && f->cbus_mode && !p->dead)
		libusb_control_transfer(f->h, WW_FTDI_OUT, WW_FTDI_SET_BITMODE,
					WW_FTDI_MODE_UART << 8, f->index, NULL, 0, CONTROL_MS);
	if (f->h)
		libusb_close(f->h);
	if (f->fd >= 0)
		close(f->fd);
	if (f->loop.c)
		libusb_exit(f->loop.c);
	free(f);
	p->impl = NULL;
}

static const struct ww_port_ops pin_ops = {
	.pump = pin_pump,
	.close = pin_close,
};

static int find(struct ww_port *p, struct ww_uri *u, const char *place, struct ww_usb_dev *dev,
		struct ww_error *err)
{
	static const struct ww_usb_id chips[] = {{.vid = 0x0403, .pid = 0x6001},
						 {.vid = 0x0403, .pid = 0x6010},
						 {.vid = 0x0403, .pid = 0x6011},
						 {.vid = 0x0403, .pid = 0x6014},
						 {.vid = 0x0403, .pid = 0x6015},
						 {.vid = 0}};
	int64_t vid = 0x0403, pid = 0;
	struct ww_usb_id own[2] = {{.vid = 0}, {.vid = 0}};
	struct ww_usb_want w = {.who = p->place,
				.at = "",
				.memory = p->memory,
				.what = "FTDI chip"};
	int rc;

	if (ww_uri_usb_id(u, "vid", &vid, err) < 0 || ww_uri_usb_id(u, "pid", &pid, err) < 0)
		return -EINVAL;
	own[0].vid = (uint16_t)vid;
	own[0].pid = (uint16_t)pid;
	w.ids = pid ? own : chips;
	w.serial = ww_uri_get(u, "serial", place);
	rc = ww_usb_find(&w, dev, err);
	if (rc == 0)
		ww_usb_remember(p->memory, dev);
	return rc;
}

static int open_device(struct ww_port *p, struct ftdipin *f, const struct ww_usb_dev *dev,
		       struct ww_error *err)
{
	int rc = ww_usb_init(&f->loop.c);

	if (rc < 0) {
		f->loop.c = NULL;
		return ww_fail(err, -EIO, "%s: libusb cannot be used here: %s", p->place,
			       libusb_error_name(rc));
	}
	f->fd = open(dev->node, O_RDWR | O_CLOEXEC);
	if (f->fd < 0)
		return ww_fail(err, -errno,
			       "%s: %s: %s: install wakewatt's udev rules (60-wakewatt.rules), "
			       "then plug it in again",
			       p->place, dev->node, strerror(errno));
	rc = libusb_wrap_sys_device(f->loop.c, f->fd, &f->h);
	if (rc < 0) {
		f->h = NULL;
		return ww_fail(err, -EIO, "%s: %s: %s", p->place, dev->node, libusb_error_name(rc));
	}
	snprintf(p->model, sizeof(p->model), "FTDI %04x:%04x%s%s", dev->vid, dev->pid,
		 *dev->serial ? " " : "", dev->serial);
	return 0;
}

/* Once, waiting, before the loop runs. */
static int first_level(struct ww_port *p, struct ftdipin *f, struct ww_error *err)
{
	uint8_t pins = 0;
	int rc = 0;

	if (f->pin.cbus) {
		rc = libusb_control_transfer(f->h, WW_FTDI_OUT, WW_FTDI_SET_BITMODE,
					     WW_FTDI_MODE_CBUS << 8, f->index, NULL, 0, CONTROL_MS);
		f->cbus_mode = rc >= 0;
	}
	f->seen_ns = ww_loop_now(p->loop);
	if (rc >= 0)
		rc = libusb_control_transfer(f->h, WW_FTDI_IN, WW_FTDI_READ_PINS, 0, f->index,
					     &pins, 1, CONTROL_MS);
	if (rc < 0)
		return ww_fail(err, -EIO, "%s: the chip does not tell its pins: %s", p->place,
			       libusb_error_name(rc));
	p->level = level_of(f, pins);
	return 0;
}

static int start(struct ww_port *p, struct ftdipin *f, const char *pin, struct ww_error *err)
{
	int rc = first_level(p, f, err);

	if (rc == 0)
		rc = ww_usb_xfer_new(&f->loop, &f->x, err);
	if (rc < 0)
		return rc;
	libusb_fill_control_setup(f->buf, WW_FTDI_IN, WW_FTDI_READ_PINS, 0, f->index, 1);
	libusb_fill_control_transfer(f->x.t, f->h, f->buf, ww_usb_xfer_done, &f->x, CONTROL_MS);
	ww_usbloop_watch(&f->loop);
	ww_port_setting(p, "pin=%s level=%d(at the opening)", pin, p->level);
	return 0;
}

int ww_ftdipin_open(struct ww_port *p, const char *place, struct ww_uri *options,
		    struct ww_error *err)
{
	struct ftdipin *f = calloc(1, sizeof(*f));
	struct ww_uri none = {.driver = "", .place = ""};
	struct ww_uri *u = options ? options : &none;
	const char *pin = ww_uri_get(u, "pin", "");
	struct ww_usb_dev dev = {0};
	int64_t interface = 0;
	int rc;

	if (!f)
		return ww_fail_nomem(err);
	f->fd = -1;
	f->loop.p = p;
	f->loop.take = take;
	f->loop.ctx = f;
	p->impl = f;
	p->ops = &pin_ops;
	p->transport.name = "ftdi";
	f->inverted = *pin == '!';
	rc = ww_ftdi_pin_parse(pin + f->inverted, &f->pin, err);
	if (rc == 0)
		rc = ww_uri_int(u, "interface", 1, 4, &interface, err);
	if (rc < 0)
		return rc;
	f->index = (uint16_t)interface;
	rc = find(p, u, place, &dev, err);
	if (rc == 0)
		rc = open_device(p, f, &dev, err);
	return rc < 0 ? rc : start(p, f, pin, err);
}

#else

int ww_ftdipin_open(struct ww_port *p, const char *place, struct ww_uri *options,
		    struct ww_error *err)
{
	(void)place;
	(void)options;
	return ww_fail(err, -ENOTSUP, "%s: built without libftdi: install libftdi1-dev, then make",
		       p->place);
}

#endif

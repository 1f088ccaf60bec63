/* SPDX-License-Identifier: MIT */
/*
 * A USB device that lives in the test: what libusb does for a port is defined here and so comes
 * before the library's. /sys and /dev are a folder with two devices, a meter and an instrument.
 */
#ifndef FAKEUSB_H
#define FAKEUSB_H

#include "porttest.h"
#include "faketree.h"

#include <libusb.h>

#define SLOTS 32

static struct {
	struct libusb_transfer *flying[SLOTS];
	size_t n_flying, n_alive;
	uint8_t in[SLOTS][64]; /* packets that wait for the host */
	int len[SLOTS];
	size_t n_in;
	uint8_t out[4096];
	size_t n_out;
	bool unplugged, stall, deaf;
	int claimed, detached, busy;
	unsigned cleared;
	bool tmc; /* answers as an instrument */
	bool clear_stalls;
	uint8_t tag;
	libusb_pollfd_removed_cb removed;
	void *removed_ctx;
} dev;

int libusb_init(libusb_context **c)
{
	*c = (libusb_context *)&dev;
	return 0;
}

#if LIBUSB_API_VERSION >= 0x0100010A
int libusb_init_context(libusb_context **c, const struct libusb_init_option *o, int n)
{
	(void)o;
	(void)n;
	return libusb_init(c);
}
#endif

void libusb_exit(libusb_context *c)
{
	(void)c;
}

int libusb_wrap_sys_device(libusb_context *c, intptr_t fd, libusb_device_handle **h)
{
	(void)c;
	(void)fd;
	*h = (libusb_device_handle *)&dev;
	return 0;
}

void libusb_close(libusb_device_handle *h)
{
	(void)h;
}

int libusb_detach_kernel_driver(libusb_device_handle *h, int i)
{
	(void)h;
	(void)i;
	dev.detached++;
	return 0;
}

int libusb_claim_interface(libusb_device_handle *h, int i)
{
	(void)h;
	dev.claimed = i + 1;
	return dev.busy ? LIBUSB_ERROR_BUSY : 0;
}

int libusb_release_interface(libusb_device_handle *h, int i)
{
	(void)h;
	(void)i;
	dev.claimed = 0;
	return 0;
}

struct libusb_transfer *libusb_alloc_transfer(int iso)
{
	struct libusb_transfer *t = calloc(1, sizeof(*t));

	(void)iso;
	dev.n_alive += t != NULL;
	return t;
}

void libusb_free_transfer(struct libusb_transfer *t)
{
	dev.n_alive--;
	free(t);
}

int libusb_submit_transfer(struct libusb_transfer *t)
{
	if (dev.unplugged)
		return LIBUSB_ERROR_NO_DEVICE;
	assert_true(dev.n_flying < SLOTS);
	t->status = LIBUSB_TRANSFER_COMPLETED;
	dev.flying[dev.n_flying++] = t;
	return 0;
}

int libusb_cancel_transfer(struct libusb_transfer *t)
{
	t->status = LIBUSB_TRANSFER_CANCELLED;
	return 0;
}

static inline void say(const void *p, size_t n)
{
	memcpy(dev.in[dev.n_in], p, n);
	dev.len[dev.n_in++] = (int)n;
}

/* An answer of an instrument to the request of this tag. */
static inline void answer(uint8_t tag, const char *text, bool end)
{
	uint8_t p[64] = {2, tag, (uint8_t)~tag, 0, (uint8_t)strlen(text), 0, 0, 0, end};

	memcpy(p + 12, text, strlen(text));
	say(p, 12 + strlen(text));
}

static void control(struct libusb_transfer *t)
{
	uint8_t *data = t->buffer + LIBUSB_CONTROL_SETUP_SIZE;
	uint8_t request = t->buffer[1];

	t->actual_length = 0;
	if (request == LIBUSB_REQUEST_CLEAR_FEATURE)
		dev.stall = false;
	dev.cleared++;
	if (request == 5 && dev.clear_stalls) {
		t->status = LIBUSB_TRANSFER_STALL;
	} else if (request == 5 || request == 6) {
		data[0] = 1;
		data[1] = 0;
		t->actual_length = request == 5 ? 1 : 2;
	}
}

static bool finish_in(struct libusb_transfer *t)
{
	if (dev.stall) {
		t->status = LIBUSB_TRANSFER_STALL;
		return true;
	}
	if (!dev.n_in)
		return false;
	memcpy(t->buffer, dev.in[0], (size_t)dev.len[0]);
	t->actual_length = dev.len[0];
	dev.n_in--;
	memmove(dev.in, dev.in + 1, sizeof(dev.in) - sizeof(dev.in[0]));
	memmove(dev.len, dev.len + 1, sizeof(dev.len) - sizeof(dev.len[0]));
	return true;
}

/* true: this one has ended. */
static bool finish(struct libusb_transfer *t)
{
	if (t->status == LIBUSB_TRANSFER_CANCELLED)
		return true;
	if (dev.unplugged) {
		t->status = LIBUSB_TRANSFER_NO_DEVICE;
		return true;
	}
	if (t->type == LIBUSB_TRANSFER_TYPE_CONTROL) {
		control(t);
		return true;
	}
	if (t->endpoint & 0x80)
		return finish_in(t);
	if (dev.deaf)
		return false;
	assert_true(dev.n_out + (size_t)t->length <= sizeof(dev.out));
	memcpy(dev.out + dev.n_out, t->buffer, (size_t)t->length);
	dev.n_out += (size_t)t->length;
	t->actual_length = t->length;
	if (t->buffer[0] == 2)
		dev.tag = t->buffer[1];
	return true;
}

int libusb_handle_events_timeout_completed(libusb_context *c, struct timeval *tv, int *done)
{
	struct libusb_transfer *now[SLOTS];
	size_t n = 0, keep = 0;

	(void)c;
	(void)tv;
	(void)done;
	if (dev.unplugged && dev.removed)
		dev.removed(-1, dev.removed_ctx);
	for (size_t i = 0; i < dev.n_flying; i++) {
		struct libusb_transfer *t = dev.flying[i];

		if (finish(t))
			now[n++] = t;
		else
			dev.flying[keep++] = t;
	}
	dev.n_flying = keep;
	for (size_t i = 0; i < n; i++)
		now[i]->callback(now[i]);
	return 0;
}

void libusb_set_pollfd_notifiers(libusb_context *c, libusb_pollfd_added_cb a,
				 libusb_pollfd_removed_cb r, void *ctx)
{
	(void)c;
	(void)a;
	dev.removed = r;
	dev.removed_ctx = ctx;
}

const struct libusb_pollfd **libusb_get_pollfds(libusb_context *c)
{
	(void)c;
	return NULL;
}

void libusb_free_pollfds(const struct libusb_pollfd **list)
{
	(void)list;
}

/* ------------------------------------------------------------------ the devices */

static const struct ww_usb_id ids[] = {
	{.vid = 0x1234,
	 .pid = 0x0001,
	 .name = "meter",
	 .bus = WW_BUS_USB,
	 .interface = 1,
	 .ep_in = 0x81,
	 .ep_out = 0x01},
	{.vid = 0x1234, .pid = 0x0002, .name = "instrument", .bus = WW_BUS_TMC, .interface = -1},
	{0}};

/* Two interfaces: a disk, and the vendor's own. */
static const uint8_t vendor_desc[] = {18, 1,  0, 2,    0, 0,  0, 64, 0x34, 0x12, 1, 0,	0,
				      1,  1,  2, 3,    1, 9,  2, 64, 0,	   2,	 1, 0,	0,
				      50, 9,  4, 0,    0, 2,  8, 6,  0x50, 0,	 7, 5,	0x82,
				      2,  64, 0, 0,    7, 5,  2, 2,  64,   0,	 0, 9,	4,
				      1,  0,  2, 0xff, 0, 0,  0, 7,  5,	   0x81, 2, 64, 0,
				      0,  7,  5, 1,    2, 64, 0, 0};
static const uint8_t tmc_desc[] = {18,	 1, 0,	  2, 0, 0,  0, 64,   0x34, 0x12, 2, 0,	0, 1, 1,
				   2,	 3, 1,	  9, 2, 39, 0, 1,    1,	   0,	 0, 50, 9, 4, 0,
				   0,	 3, 0xfe, 3, 1, 0,  7, 5,    0x83, 3,	 2, 0,	1, 7, 5,
				   0x82, 2, 64,	  0, 0, 7,  5, 0x01, 2,	   64,	 0, 0};

static inline int setup(void **state)
{
	(void)state;
	memset(&dev, 0, sizeof(dev));
	tree_new();
	tree_usb("1-1", 0x1234, 1, 3, "S1", vendor_desc, sizeof(vendor_desc));
	tree_text("/sys/bus/usb/devices/1-1/1-1:1.1", "bInterfaceNumber", "01");
	tree_usb("1-2", 0x1234, 2, 4, "S2", tmc_desc, sizeof(tmc_desc));
	tree_text("/sys/bus/usb/devices/1-2/1-2:1.0", "bInterfaceNumber", "00");
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	tree_free();
	assert_int_equal(dev.n_alive, 0);
	assert_int_equal(dev.claimed, 0);
	return 0;
}

static inline int open_place(struct got *g, const char *place, char *memory)
{
	struct ww_port_setup s = {
		.place = place,
		.usb = ids,
		.memory = memory,
		.ev = {.ctx = g, .bytes = got_bytes, .lost = got_lost, .trouble = got_trouble}};

	if (!g->loop) {
		assert_int_equal(ww_loop_new(NULL, &g->loop, NULL), 0);
		g->max = 4096;
		g->data = calloc(g->max, 1);
		g->t = calloc(g->max, sizeof(*g->t));
	}
	s.loop = g->loop;
	memset(&g->err, 0, sizeof(g->err));
	return ww_port_open_setup(&s, &g->port, &g->err);
}

#endif

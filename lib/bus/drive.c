/* SPDX-License-Identifier: MIT */
/* System calls only: see drive.h. */
#include "bus/drive.h"
#include "bus/ftdibits.h"

#include <fcntl.h>
#include <linux/gpio.h>
#include <linux/usbdevice_fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USB_MS 500
#define GPIO_BIAS                                                                                  \
	(GPIO_V2_LINE_FLAG_BIAS_PULL_UP | GPIO_V2_LINE_FLAG_BIAS_PULL_DOWN |                       \
	 GPIO_V2_LINE_FLAG_BIAS_DISABLED)

static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

/* --------------------------------------------------------------------- GPIO */

/* As it is, and in the same request: nobody else can have it between. */
static int gpio_take(struct ww_drive_state *s, const struct ww_drive *d)
{
	struct gpio_v2_line_info info = {.offset = d->offset};
	struct gpio_v2_line_request req = {.num_lines = 1, .consumer = "wakewatt"};
	struct gpio_v2_line_values v = {.mask = 1};
	int rc = call(s->fd, GPIO_V2_GET_LINEINFO_IOCTL, &info);

	if (rc < 0)
		return rc;
	req.offsets[0] = d->offset;
	rc = call(s->fd, GPIO_V2_GET_LINE_IOCTL, &req);
	if (rc < 0)
		return rc;
	s->line = req.fd;
	s->found = info.flags;
	s->input = !(info.flags & GPIO_V2_LINE_FLAG_OUTPUT);
	if (call(s->line, GPIO_V2_LINE_GET_VALUES_IOCTL, &v) == 0)
		s->level = (int)(v.bits & 1);
	return 0;
}

static int gpio_set(struct ww_drive_state *s, const struct ww_drive *d)
{
	static const uint64_t type[] = {0, GPIO_V2_LINE_FLAG_OPEN_DRAIN,
					GPIO_V2_LINE_FLAG_OPEN_SOURCE};
	struct gpio_v2_line_config c = {.flags = GPIO_V2_LINE_FLAG_OUTPUT | type[d->type] |
						 (s->found & GPIO_BIAS),
					.num_attrs = 1};

	c.attrs[0].attr.id = GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES;
	c.attrs[0].attr.values = d->level == 1;
	c.attrs[0].mask = 1;
	return call(s->line, GPIO_V2_LINE_SET_CONFIG_IOCTL, &c);
}

static int gpio_back(struct ww_drive_state *s, const struct ww_drive *d, bool pulse)
{
	struct gpio_v2_line_config c = {.flags = GPIO_V2_LINE_FLAG_INPUT | (s->found & GPIO_BIAS)};
	struct gpio_v2_line_values v = {.mask = 1};

	if (s->input)
		return call(s->line, GPIO_V2_LINE_SET_CONFIG_IOCTL, &c);
	v.bits = pulse ? d->level != 1 : s->level == 1;
	return call(s->line, GPIO_V2_LINE_SET_VALUES_IOCTL, &v);
}

/* ---------------------------------------------------------------------- tty */

static int tty_take(struct ww_drive_state *s, const struct ww_drive *d)
{
	int lines = 0, other = d->rts ? TIOCM_DTR : TIOCM_RTS, rc;

	if (!s->borrowed && flock(s->fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	rc = call(s->fd, TIOCMGET, &lines);
	if (rc < 0)
		return rc == -ENOTTY || rc == -EINVAL ? -ENOTSUP : rc;
	s->level = (lines & (d->rts ? TIOCM_RTS : TIOCM_DTR)) != 0;
	if (!s->borrowed) {
		/* The kernel sets both at every opening: before it, they were clear. */
		s->level = 0;
		call(s->fd, TIOCMBIC, &other);
	}
	return 0;
}

static int tty_put(struct ww_drive_state *s, const struct ww_drive *d, int level)
{
	int bit = d->rts ? TIOCM_RTS : TIOCM_DTR;

	return call(s->fd, level ? TIOCMBIS : TIOCMBIC, &bit);
}

/* --------------------------------------------------------------------- FTDI */

static int request(struct ww_drive_state *s, const struct ww_drive *d, uint8_t what, uint16_t value)
{
	struct usbdevfs_ctrltransfer t = {.bRequestType = WW_FTDI_OUT,
					  .bRequest = what,
					  .wValue = value,
					  .wIndex = (uint16_t)d->index,
					  .timeout = USB_MS};

	return call(s->fd, USBDEVFS_CONTROL, &t);
}

static int pins_claim(struct ww_drive_state *s, const struct ww_drive *d)
{
	struct usbdevfs_disconnect_claim c = {.interface = (unsigned)d->interface};
	int rc = call(s->fd, USBDEVFS_DISCONNECT_CLAIM, &c);

	s->claimed = rc == 0;
	return rc;
}

static int pins_level(struct ww_drive_state *s, const struct ww_drive *d, int level)
{
	uint8_t byte = (uint8_t)(level ? 1 << d->offset : 0);
	struct usbdevfs_bulktransfer t = {.ep = (unsigned)(2 + 2 * d->interface),
					  .len = 1,
					  .timeout = USB_MS,
					  .data = &byte};
	int n = ioctl(s->fd, USBDEVFS_BULK, &t);

	return n < 0 ? -errno : n == 1 ? 0 : -EIO;
}

/* The level first, with all pins as inputs: no other level is ever on the line. */
static int pins_set(struct ww_drive_state *s, const struct ww_drive *d)
{
	uint16_t mode = WW_FTDI_MODE_BITBANG << 8;
	int rc = request(s, d, WW_FTDI_SET_BITMODE, mode);

	if (rc >= 0)
		rc = pins_level(s, d, d->level);
	if (rc >= 0)
		rc = request(s, d, WW_FTDI_SET_BITMODE, (uint16_t)(mode | 1 << d->offset));
	return rc;
}

static int pins_back(struct ww_drive_state *s, const struct ww_drive *d, bool pulse)
{
	int rc = 0;

	if (d->kind == WW_DRIVE_CBUS)
		rc = request(s, d, WW_FTDI_SET_BITMODE,
			     ww_ftdi_cbus_value((uint8_t)d->offset, !d->level));
	else if (pulse)
		rc = pins_level(s, d, !d->level);
	/* Then the pins are the chip's own again. */
	return request(s, d, WW_FTDI_SET_BITMODE, WW_FTDI_MODE_UART << 8) < 0 ? -EIO : rc;
}

static void pins_give(struct ww_drive_state *s, const struct ww_drive *d)
{
	struct usbdevfs_ioctl again = {.ifno = d->interface, .ioctl_code = USBDEVFS_CONNECT};
	unsigned interface = (unsigned)d->interface;

	call(s->fd, USBDEVFS_RELEASEINTERFACE, &interface);
	call(s->fd, USBDEVFS_IOCTL, &again);
	s->claimed = false;
}

/* ---------------------------------------------------------------------- any */

int ww_drive_take(struct ww_drive_state *s, const struct ww_drive *d, int fd)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

	*s = (struct ww_drive_state){.fd = fd, .line = -1, .borrowed = fd >= 0};
	if (s->fd < 0)
		s->fd = open(d->path, flags);
	if (s->fd < 0)
		return -errno;
	switch (d->kind) {
	case WW_DRIVE_GPIO:
		return gpio_take(s, d);
	case WW_DRIVE_TTY:
		return tty_take(s, d);
	case WW_DRIVE_BITS:
		return pins_claim(s, d);
	default:
		return 0;
	}
}

int ww_drive_set(struct ww_drive_state *s, const struct ww_drive *d)
{
	switch (d->kind) {
	case WW_DRIVE_GPIO:
		return gpio_set(s, d);
	case WW_DRIVE_TTY:
		return tty_put(s, d, d->level == WW_DRIVE_OTHER ? !s->level : d->level);
	case WW_DRIVE_MODEM:
		return request(s, d, WW_FTDI_SET_MODEM, ww_ftdi_modem_value(d->rts, d->level == 1));
	case WW_DRIVE_CBUS:
		return request(s, d, WW_FTDI_SET_BITMODE,
			       ww_ftdi_cbus_value((uint8_t)d->offset, d->level));
	default:
		return pins_set(s, d);
	}
}

int ww_drive_back(struct ww_drive_state *s, const struct ww_drive *d, bool pulse)
{
	switch (d->kind) {
	case WW_DRIVE_GPIO:
		return gpio_back(s, d, pulse);
	case WW_DRIVE_TTY:
		return tty_put(s, d,
			       pulse && d->level != WW_DRIVE_OTHER ? d->level != 1 : s->level);
	case WW_DRIVE_MODEM:
		/* The chip does not tell how it stood. */
		return request(s, d, WW_FTDI_SET_MODEM, ww_ftdi_modem_value(d->rts, d->level != 1));
	default:
		return pins_back(s, d, pulse);
	}
}

void ww_drive_drop(struct ww_drive_state *s, const struct ww_drive *d)
{
	if (s->claimed)
		pins_give(s, d);
	if (s->line >= 0)
		close(s->line);
	if (s->fd >= 0)
		close(s->fd); /* a port that was lent: only our copy */
	s->fd = s->line = -1;
}

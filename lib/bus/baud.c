/* SPDX-License-Identifier: MIT */
/*
 * termios2 by the kernel's own structures: <termios.h> of the C library knows
 * no rate outside its table, and the two headers exclude each other.
 */
#include "bus/baud.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <sys/ioctl.h>

#define BAUDS(X)                                                                                   \
	X(50)                                                                                      \
	X(75)                                                                                      \
	X(110)                                                                                     \
	X(134)                                                                                     \
	X(150)                                                                                     \
	X(200)                                                                                     \
	X(300)                                                                                     \
	X(600)                                                                                     \
	X(1200)                                                                                    \
	X(1800)                                                                                    \
	X(2400)                                                                                    \
	X(4800)                                                                                    \
	X(9600)                                                                                    \
	X(19200)                                                                                   \
	X(38400)                                                                                   \
	X(57600)                                                                                   \
	X(115200)                                                                                  \
	X(230400)                                                                                  \
	X(460800)                                                                                  \
	X(500000)                                                                                  \
	X(576000)                                                                                  \
	X(921600)                                                                                  \
	X(1000000)                                                                                 \
	X(1152000)                                                                                 \
	X(1500000)                                                                                 \
	X(2000000)                                                                                 \
	X(2500000)                                                                                 \
	X(3000000)                                                                                 \
	X(3500000)                                                                                 \
	X(4000000)

#define ROW(n) {n, B##n},
static const struct {
	int64_t baud;
	uint32_t code;
} bauds[] = {BAUDS(ROW)};

struct ww_termios {
	struct termios2 t;
};

uint32_t ww_baud_code(int64_t baud)
{
	for (size_t i = 0; i < WW_COUNTOF(bauds); i++)
		if (bauds[i].baud == baud)
			return bauds[i].code;
	return 0;
}

int64_t ww_baud_at(size_t i)
{
	return i < WW_COUNTOF(bauds) ? bauds[i].baud : 0;
}

static uint32_t frame_flags(const struct ww_line *l)
{
	static const uint32_t size[] = {CS5, CS6, CS7, CS8};
	uint32_t f = size[l->bits - 5];

	if (l->stop == 2)
		f |= CSTOPB;
	if (l->parity != 'n')
		f |= PARENB;
	if (l->parity == 'o' || l->parity == 'm')
		f |= PARODD;
	if (l->parity == 'm' || l->parity == 's')
		f |= CMSPAR;
	if (l->flow == 'r')
		f |= CRTSCTS;
	return f;
}

#define FRAME ((uint32_t)(CSIZE | CSTOPB | PARENB | PARODD | CMSPAR | CRTSCTS))

static void make_raw(struct termios2 *t, const struct ww_line *l)
{
	uint32_t code = ww_baud_code(l->baud);

	t->c_iflag = l->flow == 'x' ? IXON | IXOFF : 0;
	t->c_oflag = 0;
	t->c_lflag = 0;
	t->c_cflag = frame_flags(l) | CREAD | CLOCAL | (code ? code : (uint32_t)BOTHER);
	t->c_ispeed = t->c_ospeed = (uint32_t)l->baud;
	memset(t->c_cc, 0, sizeof(t->c_cc));
	t->c_cc[VMIN] = 1; /* with 0, read() could not tell "nothing" from "hung up" */
	t->c_cc[VSTART] = 0x11;
	t->c_cc[VSTOP] = 0x13;
}

int ww_line_set(int fd, const char *name, const struct ww_line *line, bool lenient,
		struct ww_termios **saved, int64_t *baud, struct ww_error *err)
{
	struct ww_termios *old = calloc(1, sizeof(*old));
	struct termios2 t;
	int rc;

	if (!old)
		return ww_fail_nomem(err);
	if (ioctl(fd, TCGETS2, &old->t) < 0) {
		rc = ww_fail(err, -errno, "%s: its line settings cannot be read: %s", name,
			     strerror(errno));
		free(old);
		return rc;
	}
	*saved = old;
	t = old->t;
	make_raw(&t, line);
	if (ioctl(fd, TCSETS2, &t) < 0 || ioctl(fd, TCGETS2, &t) < 0)
		return ww_fail(err, -errno, "%s: %lld baud, %d%c%d: %s", name,
			       (long long)line->baud, line->bits, line->parity, line->stop,
			       strerror(errno));
	*baud = t.c_ospeed;
	/* TCSETS succeeds if any part of it could be done; look at what is in force. */
	if (llabs(*baud - line->baud) * 40 > line->baud)
		return ww_fail(
			err, -EINVAL,
			"%s: asked for %lld baud, its driver gives %lld: choose baud= it has", name,
			(long long)line->baud, (long long)*baud);
	if (!lenient && ((t.c_cflag ^ frame_flags(line)) & FRAME))
		return ww_fail(err, -EINVAL,
			       "%s: its driver does not do %d%c%d with this flow control", name,
			       line->bits, line->parity, line->stop);
	return 0;
}

void ww_line_restore(int fd, struct ww_termios *saved)
{
	if (!saved)
		return;
	saved->t.c_cflag &= ~(uint32_t)HUPCL;
	ioctl(fd, TCSETS2, &saved->t);
	free(saved);
}

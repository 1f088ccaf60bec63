/* SPDX-License-Identifier: MIT */
/*
 * Lines that live in a test: open() and ioctl() of the program come before libc's, in the
 * guard too, which is a copy of it; what they did is in memory that all share. A line of
 * a GPIO chip, DTR and RTS of any tty, and an FTDI chip at a node below `root`.
 */
#ifndef TESTS_CONTROL_FAKELINES_H
#define TESTS_CONTROL_FAKELINES_H

#include "base/base.h"

#include <fcntl.h>
#include <linux/gpio.h>
#include <linux/usbdevice_fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FAKE_CHIP "/dev/gpiochip0"

struct fake_event {
	int64_t ns;
	char what; /* R request, O output, I input, V value, B set, C clear, U usb control, W bulk
		    */
	int value;
};

static struct fake {
	/* What the test asks for. */
	int open_code, take_code, set_code; /* errno, 0: works */
	int back_ms;			    /* putting back takes as long */
	bool found_output;
	int found_value;
	/* What is. */
	bool output;
	int value;
	uint64_t flags;
	int modem;
	_Atomic unsigned n;
	struct fake_event ev[64];
} * fake;

static void fake_init(void)
{
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fake != MAP_FAILED);
}

static inline void fake_reset(void)
{
	memset(fake, 0, sizeof(*fake));
}

static void fake_note(char what, int value)
{
	struct timespec t;
	unsigned i = fake->n;

	clock_gettime(CLOCK_BOOTTIME, &t);
	if (i < WW_COUNTOF(fake->ev))
		fake->ev[i] = (struct fake_event){(int64_t)t.tv_sec * WW_NS_PER_S + t.tv_nsec, what,
						  value};
	fake->n = i + 1;
}

/* "R-1 O0 I-1": what was done, in order. */
static inline const char *fake_story(void)
{
	static char text[512];
	size_t at = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < fake->n && at < sizeof(text) - 16; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%c%x", i ? " " : "",
				       fake->ev[i].what, (unsigned)fake->ev[i].value);
	return text;
}

static int fake_fail(int code)
{
	errno = code;
	return -1;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (fake && strcmp(path, FAKE_CHIP) == 0)
		return fake->open_code ? fake_fail(fake->open_code) : eventfd(0, EFD_CLOEXEC);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void fake_sleep(int ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	if (ms)
		nanosleep(&t, NULL);
}

static int fake_config(const struct gpio_v2_line_config *c)
{
	if (fake->set_code && c->flags & GPIO_V2_LINE_FLAG_OUTPUT)
		return fake_fail(fake->set_code);
	fake->flags = c->flags;
	fake->output = c->flags & GPIO_V2_LINE_FLAG_OUTPUT;
	if (fake->output)
		fake->value = (int)(c->attrs[0].attr.values & 1);
	else
		fake_sleep(fake->back_ms);
	fake_note(fake->output ? 'O' : 'I', fake->output ? fake->value : 0);
	return 0;
}

static int fake_gpio(unsigned long request, void *arg)
{
	struct gpio_v2_line_request *r = arg;
	struct gpio_v2_line_values *v = arg;

	switch (request) {
	case GPIO_V2_GET_LINEINFO_IOCTL:
		((struct gpio_v2_line_info *)arg)->flags =
			fake->found_output
				? GPIO_V2_LINE_FLAG_OUTPUT
				: GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_BIAS_PULL_UP;
		return 0;
	case GPIO_V2_GET_LINE_IOCTL:
		if (fake->take_code)
			return fake_fail(fake->take_code);
		assert_int_equal(r->num_lines, 1);
		assert_int_equal(r->config.flags, 0);
		fake_note('R', (int)r->offsets[0]);
		r->fd = eventfd(0, EFD_CLOEXEC);
		return 0;
	case GPIO_V2_LINE_SET_CONFIG_IOCTL:
		return fake_config(arg);
	case GPIO_V2_LINE_GET_VALUES_IOCTL:
		v->bits = (unsigned)fake->found_value;
		return 0;
	default:
		fake_sleep(fake->back_ms);
		fake->value = (int)(v->bits & 1);
		fake_note('V', fake->value);
		return 0;
	}
}

static int fake_tty(unsigned long request, int *arg)
{
	if (request == TIOCMGET) {
		*arg = fake->modem;
		return 0;
	}
	fake->modem = request == TIOCMBIS ? fake->modem | *arg : fake->modem & ~*arg;
	fake_note(request == TIOCMBIS ? 'B' : 'C', *arg);
	return 0;
}

static int fake_usb(unsigned long request, void *arg)
{
	const struct usbdevfs_ctrltransfer *c = arg;

	if (request == USBDEVFS_CONTROL)
		fake_note('U', c->bRequest << 16 | c->wValue);
	else if (request == USBDEVFS_BULK)
		fake_note('W', *(uint8_t *)((struct usbdevfs_bulktransfer *)arg)->data);
	else
		fake_note(request == USBDEVFS_DISCONNECT_CLAIM	 ? 'K'
			  : request == USBDEVFS_RELEASEINTERFACE ? 'L'
								 : 'D',
			  0);
	return request == USBDEVFS_BULK ? 1 : 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fake && _IOC_TYPE(request) == 0xb4)
		return fake_gpio(request, arg);
	if (fake && _IOC_TYPE(request) == 'U')
		return fake_usb(request, arg);
	if (fake && (request == TIOCMGET || request == TIOCMBIS || request == TIOCMBIC))
		return fake_tty(request, arg);
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

#endif

/* SPDX-License-Identifier: MIT */
#include "bus/usbinit.h"

#if defined(WW_WITH_USB) || defined(WW_WITH_FTDI)

#include <libusb.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#ifdef WW_WITH_FTDI
#include <ftdi.h>
#endif

static void block_all(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

int ww_usb_init(struct libusb_context **c)
{
	sigset_t old;
	int rc;

	block_all(&old);
	rc = libusb_init(c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int ww_usb_init_known(struct libusb_context **c)
{
#if LIBUSB_API_VERSION >= 0x0100010A
	const struct libusb_init_option o = {.option = LIBUSB_OPTION_NO_DEVICE_DISCOVERY};

	return libusb_init_context(c, &o, 1);
#else
	return ww_usb_init(c);
#endif
}

#ifdef WW_WITH_FTDI
struct ftdi_context *ww_ftdi_new(void)
{
	struct ftdi_context *c;
	sigset_t old;

	block_all(&old);
	c = ftdi_new();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return c;
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * libusb watches for what is plugged in with a thread of its own, which inherits the signals
 * that are blocked where it is started. One that blocks none takes the Ctrl-C that the program
 * waits for elsewhere: so it is started with all of them blocked.
 */
#ifndef WW_BUS_USBINIT_H
#define WW_BUS_USBINIT_H

#if defined(WW_WITH_USB) || defined(WW_WITH_FTDI)
struct libusb_context;
/* As libusb_init(). */
int ww_usb_init(struct libusb_context **c);
/* For a device that is known already: without a look at all the others where that can be. */
int ww_usb_init_known(struct libusb_context **c);
#endif
#ifdef WW_WITH_FTDI
struct ftdi_context;
struct ftdi_context *ww_ftdi_new(void);
#endif

#endif

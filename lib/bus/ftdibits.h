/* SPDX-License-Identifier: MIT */
/*
 * Pins of an FTDI chip as lines: the data bus D0 to D7 in bit-bang mode, which takes the
 * pins from the UART (they are TXD, RXD, RTS, CTS, DTR, DSR, DCD, RI), and CBUS C0 to C3,
 * which a chip has beside its UART where its EEPROM gives them to the host (FT232R,
 * FT-X). Vendor requests need no claim of the interface, so CBUS and the modem lines work
 * beside whoever has the serial port. Source: FTDI's D2XX guide, AN_232R-01, ftdi_sio.h.
 */
#ifndef WW_BUS_FTDIBITS_H
#define WW_BUS_FTDIBITS_H

#include "base/base.h"

/* bmRequestType and bRequest; wIndex: interface from 1 (0 on chips that have one). */
#define WW_FTDI_OUT	    0x40
#define WW_FTDI_IN	    0xc0
#define WW_FTDI_SET_MODEM   0x01
#define WW_FTDI_SET_BITMODE 0x0b /* wValue: mode << 8 | mask */
#define WW_FTDI_READ_PINS   0x0c /* answers one byte: pins as they are, in any mode */

#define WW_FTDI_MODE_UART    0x00
#define WW_FTDI_MODE_BITBANG 0x01 /* mask: 1 is an output; levels are written to the endpoint */
#define WW_FTDI_MODE_CBUS    0x20 /* mask: direction << 4 | level, of C3 to C0 */

struct ww_ftdi_pin {
	bool cbus;
	uint8_t bit; /* 0 to 7, of CBUS 0 to 3 */
};

/* "D3", "c0". @return 0, or -EINVAL */
int ww_ftdi_pin_parse(const char *text, struct ww_ftdi_pin *out, struct ww_error *err);

/* wValue that makes one CBUS pin an output of a level, the others inputs. */
static inline uint16_t ww_ftdi_cbus_value(uint8_t bit, int level)
{
	return (uint16_t)(WW_FTDI_MODE_CBUS << 8 | 0x10 << bit | (level ? 1 << bit : 0));
}

/* wValue for SET_MODEM: which of DTR and RTS are set, of those named in the mask. */
static inline uint16_t ww_ftdi_modem_value(bool rts, bool on)
{
	return (uint16_t)(rts ? 0x0200 | (on ? 0x02 : 0) : 0x0100 | (on ? 0x01 : 0));
}

#endif

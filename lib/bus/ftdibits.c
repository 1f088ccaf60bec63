/* SPDX-License-Identifier: MIT */
#include "bus/ftdibits.h"

int ww_ftdi_pin_parse(const char *text, struct ww_ftdi_pin *out, struct ww_error *err)
{
	char bus = (char)(text[0] & ~0x20);
	int most = bus == 'D' ? 7 : 3;

	if ((bus != 'D' && bus != 'C') || text[1] < '0' || text[1] > '0' + most || text[2])
		return ww_fail(err, -EINVAL,
			       "pin=%s: expected D0 to D7 (the data bus) or C0 to C3 (CBUS)", text);
	*out = (struct ww_ftdi_pin){.cbus = bus == 'C', .bit = (uint8_t)(text[1] - '0')};
	return 0;
}

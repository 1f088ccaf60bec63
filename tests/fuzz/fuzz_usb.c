/* SPDX-License-Identifier: MIT */
/*
 * What a USB device says of itself, and what an instrument answers. The first byte chooses:
 * descriptors with a pick, a HID report descriptor, a part of a USBTMC answer.
 */
#include "bus/tmc.h"
#include "bus/usbdesc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void descriptors(const uint8_t *p, size_t n)
{
	const struct ww_usb_pick picks[] = {{-1, -1, -1, 0, 0},
					    {-1, 0xff, -1, 0, 0},
					    {-1, 0xfe, 3, 0, 0},
					    {p[0], -1, -1, 0, 0},
					    {-1, -1, -1, p[1], p[2]}};
	struct ww_usb_iface i;

	for (size_t k = 0; k < WW_COUNTOF(picks); k++) {
		if (!ww_usb_desc_find(p + 3, n - 3, p[0] & 3, &picks[k], &i))
			continue;
		if (!(i.ep_in & 0x80) || i.ep_out & 0x80 || i.in_max < 1 || i.in_max > 1024 ||
		    (i.ep_out && (i.out_max < 1 || i.out_max > 1024)))
			abort();
		if ((picks[k].number >= 0 && i.number != picks[k].number) ||
		    (picks[k].class_ >= 0 && i.class_ != picks[k].class_) ||
		    (picks[k].ep_in && i.ep_in != picks[k].ep_in))
			abort();
	}
}

static void answer(const uint8_t *p, size_t n)
{
	uint8_t frame[WW_TMC_FRAME(64)];
	struct ww_tmc_part part;
	size_t len = n < 64 ? n : 64;

	if (ww_tmc_answer(p, n, p[0], 4080, &part) && (part.n > 4080 || n < WW_TMC_HEADER))
		abort();
	ww_tmc_frame(frame, ww_tmc_tag(p[0]), p, len);
	if (frame[1] == 0 || (frame[1] ^ frame[2]) != 0xff || memcmp(frame + 12, p, len) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ww_hid_reports r;
	uint8_t *copy;

	if (n < 5)
		return 0;
	/* Exactly as long as what was given: a look beyond it is found. */
	copy = malloc(n - 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, n - 1);
	if (data[0] % 3 == 0)
		descriptors(copy, n - 1);
	else if (data[0] % 3 == 1)
		ww_hid_desc(copy, n - 1, &r);
	else
		answer(copy, n - 1);
	free(copy);
	return 0;
}

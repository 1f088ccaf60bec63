/* SPDX-License-Identifier: MIT */
#include "bus/usbdesc.h"

enum { CONFIG = 2, INTERFACE = 4, ENDPOINT = 5 };

/* The next descriptor at *at; NULL: no whole one is left. */
static const uint8_t *next(const uint8_t *d, size_t n, size_t *at)
{
	const uint8_t *p = d + *at;

	if (n - *at < 2 || p[0] < 2 || p[0] > n - *at)
		return NULL;
	*at += p[0];
	return p;
}

static void take_endpoint(struct ww_usb_iface *i, const uint8_t *p, const struct ww_usb_pick *want)
{
	uint16_t max = (uint16_t)((p[4] | p[5] << 8) & 0x7ff);
	bool in = p[2] & 0x80, bulk = (p[3] & 3) == 2;
	uint8_t wanted = in ? want->ep_in : want->ep_out;
	uint8_t have = in ? i->ep_in : i->ep_out;
	bool have_bulk = in ? i->in_bulk : i->out_bulk;

	if ((p[3] & 2) == 0 || !(p[2] & 0x0f) || max < 1 || max > 1024)
		return; /* isochronous, control, or no endpoint at all */
	if (wanted ? p[2] != wanted : have && (have_bulk || !bulk))
		return;
	if (in) {
		i->ep_in = p[2];
		i->in_max = max;
		i->in_bulk = bulk;
		i->interval = p[6];
	} else {
		i->ep_out = p[2];
		i->out_max = max;
		i->out_bulk = bulk;
	}
}

static bool is_wanted(const uint8_t *p, const struct ww_usb_pick *want)
{
	return (want->number < 0 || p[2] == want->number) && p[3] == 0 &&
	       (want->class_ < 0 || p[5] == want->class_) &&
	       (want->subclass < 0 || p[6] == want->subclass);
}

static bool complete(const struct ww_usb_iface *i, const struct ww_usb_pick *want)
{
	return i->ep_in && (!want->ep_in || i->ep_in == want->ep_in) &&
	       (!want->ep_out || i->ep_out == want->ep_out);
}

bool ww_usb_desc_find(const uint8_t *d, size_t n, unsigned config, const struct ww_usb_pick *want,
		      struct ww_usb_iface *out)
{
	struct ww_usb_iface i = {0};
	bool here = false, mine = false;
	const uint8_t *p;
	size_t at = 0;

	while ((p = next(d, n, &at))) {
		if (p[1] == CONFIG && p[0] >= 9) {
			if (mine && complete(&i, want))
				break;
			here = p[5] == config;
			mine = false;
		} else if (p[1] == INTERFACE && p[0] >= 9) {
			if (mine && complete(&i, want))
				break;
			mine = here && is_wanted(p, want);
			i = (struct ww_usb_iface){.number = p[2],
						  .class_ = p[5],
						  .subclass = p[6],
						  .protocol = p[7]};
		} else if (p[1] == ENDPOINT && p[0] >= 7 && mine) {
			take_endpoint(&i, p, want);
		}
	}
	if (!mine || !complete(&i, want))
		return false;
	*out = i;
	return true;
}

void ww_hid_desc(const uint8_t *d, size_t n, struct ww_hid_reports *out)
{
	static const uint8_t sizes[] = {0, 1, 2, 4};
	uint8_t id = 0;
	size_t at = 0;

	*out = (struct ww_hid_reports){0};
	while (at < n) {
		uint8_t tag = d[at] & 0xfc;
		size_t size = sizes[d[at] & 3];

		if (d[at] == 0xfe) { /* a long item: its size, its tag */
			if (n - at < 3)
				return;
			at += 3 + (size_t)d[at + 1];
			continue;
		}
		if (n - at - 1 < size)
			return;
		if (tag == 0x84 && size) { /* Report ID */
			id = d[at + 1];
			out->numbered = true;
		} else if (tag == 0x90 && !out->out_id) { /* Output */
			out->out_id = id;
		}
		at += 1 + size;
	}
}

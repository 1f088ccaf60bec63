/* SPDX-License-Identifier: MIT */
#include "source/meterport.h"

#include <stdio.h>

/* How a place begins, and the bus that this means. */
static const struct {
	const char *prefix;
	uint32_t bus;
} beginnings[] = {
	{"usb:", WW_BUS_USB},	    {"hid:", WW_BUS_HID},	 {"/dev/hidraw", WW_BUS_HID},
	{"usbtmc", WW_BUS_TMC},	    {"/dev/usbtmc", WW_BUS_TMC}, {"http:", WW_BUS_HTTP},
	{"https:", WW_BUS_HTTP},    {"files:", WW_BUS_FILES},	 {"iio:", WW_BUS_IIO},
	{"edges:", WW_BUS_EDGES},   {"gpio:", WW_BUS_EDGES},	 {"modem:", WW_BUS_EDGES},
	{"ftdipin:", WW_BUS_EDGES}, {"tty:", WW_BUS_STREAM},	 {"ftdi:", WW_BUS_STREAM},
	{"unix:", WW_BUS_STREAM},   {"tcp:", WW_BUS_STREAM},	 {"/dev/", WW_BUS_STREAM},
};

static uint32_t mask_of(const struct ww_meter_desc *d)
{
	return d->buses ? d->buses : (uint32_t)WW_BUS_STREAM;
}

static int wrong(const struct ww_meter_desc *d, const struct ww_uri *uri, struct ww_error *err)
{
	return ww_fail(err, -EINVAL, "%s:%s: %s Example: %s", uri->driver, uri->place,
		       *uri->place ? "this meter is not reached that way." : "where is the meter?",
		       d->example);
}

/* Nothing said: the device of the first id, on the bus that serves it best. */
static int by_id(const struct ww_meter_desc *d, const struct ww_uri *uri, char *place, size_t n,
		 enum ww_bus *bus, struct ww_error *err)
{
	uint32_t b = d->usb ? d->usb->bus : 0;

	*bus = (enum ww_bus)b;
	if (b == WW_BUS_USB)
		snprintf(place, n, "usb:");
	else if (b == WW_BUS_HID)
		snprintf(place, n, "hid:");
	else if (b == WW_BUS_TMC)
		snprintf(place, n, "usbtmc:");
	else if (b == WW_BUS_STREAM && !d->usb->generic)
		snprintf(place, n, "tty:");
	else
		return wrong(d, uri, err);
	return 0;
}

/* A name of its own kind: "hwmon3", "BAT0", "device0", "gpiochip0/17", a path. */
static int by_name(const struct ww_meter_desc *d, const struct ww_uri *uri, char *place, size_t n,
		   enum ww_bus *bus, struct ww_error *err)
{
	static const struct {
		uint32_t bus;
		const char *prefix;
	} named[] = {{WW_BUS_FILES, "files:"}, {WW_BUS_IIO, "iio:"}, {WW_BUS_EDGES, "edges:"}};

	for (size_t i = 0; i < WW_COUNTOF(named); i++) {
		if (!(mask_of(d) & named[i].bus))
			continue;
		*bus = (enum ww_bus)named[i].bus;
		/* "battery:" alone is the only one of its class, "battery:BAT0" one of that class.
		 */
		if (named[i].bus == WW_BUS_FILES && *uri->place != '/' && !strchr(uri->place, ':'))
			snprintf(place, n, "%s%s:%s", named[i].prefix, d->name, uri->place);
		else
			snprintf(place, n, "%s%s", named[i].prefix, uri->place);
		return 0;
	}
	/* A pseudo-terminal's link may lie anywhere. */
	if (!(mask_of(d) & WW_BUS_STREAM))
		return wrong(d, uri, err);
	*bus = WW_BUS_STREAM;
	snprintf(place, n, "%s", uri->place);
	return 0;
}

int ww_meter_place(const struct ww_meter_desc *d, const struct ww_uri *uri, char *place, size_t n,
		   enum ww_bus *bus, struct ww_error *err)
{
	if (strlen(uri->place) + strlen(d->name) + 16 > n)
		return ww_fail(err, -EINVAL, "%s: the place is too long", uri->driver);
	if (!*uri->place && !(mask_of(d) & (WW_BUS_FILES | WW_BUS_IIO)))
		return by_id(d, uri, place, n, bus, err);
	for (size_t i = 0; i < WW_COUNTOF(beginnings); i++) {
		if (strncmp(uri->place, beginnings[i].prefix, strlen(beginnings[i].prefix)) != 0)
			continue;
		if (!(mask_of(d) & beginnings[i].bus))
			break;
		*bus = (enum ww_bus)beginnings[i].bus;
		snprintf(place, n, "%s", uri->place);
		return 0;
	}
	return by_name(d, uri, place, n, bus, err);
}

void ww_meter_notes(const struct ww_meter_desc *d, char *text, size_t n)
{
	snprintf(text, n, "%s%s%s", d->proven ? "" : "this driver has never met the real device",
		 d->notes && !d->proven ? "; " : "", d->notes ? d->notes : "");
}

int ww_meter_keep(char **where, const char *text)
{
	char *copy;

	if (!text)
		return 0;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(*where);
	*where = copy;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* From what a user writes after a meter's name to the port that reaches it. */
#ifndef WW_METERPORT_H
#define WW_METERPORT_H

#include "bus/port.h"
#include "meter/meter.h"

#define WW_METER_PLACE 512

/*
 * "pzem004t:/dev/ttyUSB0" is a tty, "fnb58:" the report of a device of that id,
 * "wt310:usbtmc0" an instrument, "shelly:http://host" a web server, "hwmon:hwmon3" a
 * folder: the place for ww_port_open_setup(), and the bus that it is on. An error says
 * which places the meter knows.
 */
int ww_meter_place(const struct ww_meter_desc *d, const struct ww_uri *uri, char *place, size_t n,
		   enum ww_bus *bus, struct ww_error *err);

/*
 * Times of a source's records never fall, whatever its driver says: a later record that
 * claims to be older is known no better than that it came by then.
 */
static inline struct ww_interval ww_meter_in_order(struct ww_interval t, int64_t *last_ns)
{
	t.hi_ns = t.hi_ns > *last_ns ? t.hi_ns : *last_ns;
	t.lo_ns = t.lo_ns < t.hi_ns ? t.lo_ns : t.hi_ns;
	*last_ns = t.hi_ns;
	return t;
}

/* What a reader of the trace should know of the driver. */
void ww_meter_notes(const struct ww_meter_desc *d, char *text, size_t n);
/* Keep a copy of text; NULL: what is there stays. -ENOMEM. */
int ww_meter_keep(char **where, const char *text);

#endif

/* SPDX-License-Identifier: MIT */
/* What the two forms of the report of an attribution share. */
#ifndef WW_REPORT_ATTRIBUTE_H
#define WW_REPORT_ATTRIBUTE_H

#include "analysis/attribute.h"
#include "report/format.h"

/* Why the watts of a device are not given, "" where they are. */
void ww_attribute_why(struct ww_str *s, const struct ww_attribute *a, size_t device);
/* "box, monitor (standby)" */
void ww_attribute_list(struct ww_str *s, const struct ww_attribute *a, const uint32_t *device,
		       size_t n);
void ww_attribute_json(struct ww_str *s, const struct ww_attribute *a);

#endif

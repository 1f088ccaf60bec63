/* SPDX-License-Identifier: MIT */
#include "source/source.h"
#include "meter/meter.h"
#include "base/str.h"

static const struct ww_driver *const drivers[] = {
	&ww_source_serial_tty,	&ww_source_serial_unix, &ww_source_serial_tcp,
	&ww_source_serial_ftdi, &ww_source_gpio,	&ww_source_modem,
	&ww_source_ftdipin,	&ww_source_sim,		&ww_source_replay,
	&ww_source_manual,
};

/* i-th driver (sources, then meters); false past the end. */
static bool driver_get(size_t i, struct ww_driver *out)
{
	if (i < WW_COUNTOF(drivers)) {
		*out = *drivers[i];
		return true;
	}
	/* The list of meters ends with NULL: walk, so that it is not overrun. */
	i -= WW_COUNTOF(drivers);
	for (size_t k = 0; ww_meters[k]; k++) {
		const struct ww_meter_desc *d = &ww_meters[k]->desc;

		if (k != i)
			continue;
		*out = (struct ww_driver){.name = d->name,
					  .summary = d->summary,
					  .example = d->example,
					  .available = !d->left_out,
					  .proven = d->proven,
					  .open = ww_source_meter_open};
		return true;
	}
	return false;
}

int ww_driver_at(size_t i, struct ww_driver_info *out)
{
	struct ww_driver d;

	if (!driver_get(i, &d))
		return 0;
	*out = (struct ww_driver_info){.name = d.name,
				       .summary = d.summary,
				       .example = d.example,
				       .available = d.available,
				       .proven = d.proven};
	return 1;
}

int64_t ww_source_fastest(const char *driver)
{
	const struct ww_meter_ops *m = ww_meter_find(driver);

	return m ? m->desc.fastest_ns : 0;
}

static int unknown(const struct ww_uri *uri, struct ww_error *err)
{
	struct ww_str known = {0};
	struct ww_driver d;

	for (size_t i = 0; driver_get(i, &d); i++)
		ww_str_addf(&known, "%s%s", i ? ", " : "", d.name);
	ww_fail(err, -EINVAL, "%s:%s: there is no driver '%s' (known: %s)", uri->driver, uri->place,
		uri->driver, known.p ? known.p : "");
	ww_str_free(&known);
	return -EINVAL;
}

int ww_source_open(const struct ww_source_setup *asked, struct ww_source **out,
		   struct ww_error *err)
{
	struct ww_source_setup shown = *asked, *setup = &shown;
	char *hidden = ww_uri_hide(asked->uri, false);
	struct ww_uri uri;
	struct ww_driver d;
	const char *name;
	int rc;

	*out = NULL;
	rc = hidden ? ww_uri_parse(asked->uri, &uri, err) : ww_fail_nomem(err);
	if (rc < 0) {
		free(hidden);
		return rc;
	}
	/* What a source says of itself goes into traces: it never sees the password there. */
	shown.uri = hidden;
	/* Any source may be given a role for the analyses, which read it in the stored URI. */
	ww_uri_get(&uri, "role", "");
	/* A bare path is a serial line. */
	name = *uri.driver ? uri.driver : ww_source_serial_tty.name;
	for (size_t i = 0;; i++) {
		if (!driver_get(i, &d)) {
			rc = unknown(&uri, err);
			break;
		}
		if (strcmp(d.name, name) == 0) {
			rc = d.open(setup, &uri, out, err);
			break;
		}
	}
	ww_uri_free(&uri);
	free(hidden);
	return rc;
}

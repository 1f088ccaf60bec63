/* SPDX-License-Identifier: MIT */
/* Options of a serial line. */
#include "bus/portimpl.h"

static int one_of(struct ww_uri *u, const char *key, const char *const *names, const char *letters,
		  char *out, struct ww_error *err)
{
	const char *v = ww_uri_get(u, key, NULL);
	struct ww_str list = {0};
	int rc;

	for (size_t i = 0; v && names[i]; i++) {
		if (strcmp(v, names[i]) == 0 || (v[0] == letters[i] && !v[1])) {
			*out = letters[i];
			v = NULL;
		}
	}
	if (!v)
		return 0;
	for (size_t i = 0; names[i]; i++)
		ww_str_addf(&list, "%s%s", i ? ", " : "", names[i]);
	rc = ww_fail(err, -EINVAL, "%s: option %s=%s: expected one of %s", u->driver, key, v,
		     list.p ? list.p : "");
	ww_str_free(&list);
	return rc;
}

static int small(struct ww_uri *u, const char *key, int64_t lo, int64_t hi, int *out,
		 struct ww_error *err)
{
	int64_t v = *out;
	int rc = ww_uri_int(u, key, lo, hi, &v, err);

	*out = (int)v;
	return rc;
}

int ww_line_options(struct ww_uri *options, int64_t baud, struct ww_line *out, struct ww_error *err)
{
	static const char *const parity[] = {"none", "even", "odd", "mark", "space", NULL};
	static const char *const flow[] = {"none", "rtscts", "xonxoff", NULL};
	struct ww_uri none = {.driver = "", .place = ""};
	struct ww_uri *u = options ? options : &none;
	const char *lat;

	*out = (struct ww_line){.baud = baud ? baud : 115200,
				.bits = 8,
				.parity = 'n',
				.stop = 1,
				.flow = 'n',
				.dtr = -1,
				.rts = -1,
				.event_char = -1};
	/* Rate 0 would hang up; the kernel's upper end is that of its field. */
	if (ww_uri_int(u, "baud", 1, INT32_MAX, &out->baud, err) < 0 ||
	    small(u, "bits", 5, 8, &out->bits, err) < 0 ||
	    small(u, "stop", 1, 2, &out->stop, err) < 0 ||
	    one_of(u, "parity", parity, "neoms", &out->parity, err) < 0 ||
	    one_of(u, "flow", flow, "nrx", &out->flow, err) < 0 ||
	    small(u, "dtr", 0, 1, &out->dtr, err) < 0 ||
	    small(u, "rts", 0, 1, &out->rts, err) < 0 ||
	    small(u, "event_char", 0, 255, &out->event_char, err) < 0)
		return -EINVAL;
	lat = ww_uri_get(u, "latency", NULL);
	if (lat) {
		int64_t ns = 0;

		/* A bare number is milliseconds here, as the chip's makers have it. */
		if (ww_uri_int(u, "latency", 1, 255, &out->latency_ms, NULL) > 0)
			return 0;
		if (ww_duration_parse(lat, &ns, NULL) < 0 || ns < WW_NS_PER_MS ||
		    ns > 255 * WW_NS_PER_MS)
			return ww_fail(err, -EINVAL,
				       "%s: option latency=%s: expected 1 to 255 milliseconds",
				       u->driver, lat);
		out->latency_ms = ns / WW_NS_PER_MS;
	}
	return 0;
}

int64_t ww_line_char_ns(const struct ww_line *l)
{
	int64_t bits = 1 + l->bits + (l->parity != 'n') + l->stop;

	return bits * (WW_NS_PER_S / 100 * 95) / l->baud;
}

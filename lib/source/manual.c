/* SPDX-License-Identifier: MIT */
/*
 * manual: a person types what a meter's display shows. A reading holds until the
 * next one; its time is that of the typing.
 */
#include "source/source.h"

#include <math.h>
#include <stdio.h>

/* What was typed is kept, also where it has more digits than the display is said to have. */
#define FINER 1000

struct manual {
	struct ww_source base;
	struct ww_sink sink;
	char *uri;
	char *name, *unit, *model;
	const char *quantity;
	double resolution, acc, acc_rel;
	int32_t semantics;
	int64_t last_ns;
};

static const struct unit {
	const char *unit, *quantity;
	double resolution;
} unit[] = {
	{"W", "power", 1},	  {"VA", "apparent_power", 1}, {"V", "voltage", 0.1},
	{"A", "current", 0.01},	  {"kWh", "energy", 0.01},     {"Wh", "energy", 0.1},
	{"Hz", "frequency", 0.1}, {"1", "power_factor", 0.01},
};

static int manual_start(struct ww_source *s, struct ww_error *err)
{
	(void)s;
	(void)err;
	return 0;
}

static int64_t manual_stop(struct ww_source *s)
{
	(void)s;
	return 0;
}

static void manual_close(struct ww_source *base)
{
	struct manual *s = (struct manual *)base;

	free(s->uri);
	free(s->name);
	free(s->unit);
	free(s->model);
	free(s);
}

static int manual_type(struct ww_source *base, struct ww_interval t, double value,
		       const char *label, struct ww_error *err)
{
	struct manual *s = (struct manual *)base;
	double x = value / (s->resolution / FINER);
	int64_t code;

	if (!isfinite(x) || fabs(x) > 9e15)
		return ww_fail(err, -EINVAL, "%s: that is no reading", s->uri);
	if (!ww_iv_ok(t) || t.hi_ns < s->last_ns)
		return ww_fail(err, -EINVAL, "%s: a reading before the last one", s->uri);
	code = (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
	s->last_ns = t.hi_ns;
	s->sink.samples(s->sink.ctx, 1, &t.lo_ns, &t.hi_ns, &code);
	/* The label alone, so that it can be named again: stat --between A,B. */
	if (label && *label)
		s->sink.mark(s->sink.ctx, t, WW_MARK_LABEL, label);
	return 0;
}

static const struct ww_source_ops manual_ops = {.start = manual_start,
						.stop = manual_stop,
						.close = manual_close,
						.type = manual_type};

static int read_options(struct manual *s, struct ww_uri *uri, struct ww_error *err)
{
	const char *name = ww_uri_get(uri, "unit", "W"), *dflt;
	const struct unit *u = NULL;

	for (size_t i = 0; i < WW_COUNTOF(unit) && !u; i++)
		if (strcmp(unit[i].unit, name) == 0)
			u = &unit[i];
	if (!u)
		return ww_fail(err, -EINVAL,
			       "manual: option unit=%s: expected W, VA, V, A, Wh, kWh, Hz or 1",
			       name);
	s->quantity = u->quantity;
	s->resolution = u->resolution;
	s->semantics = strcmp(u->quantity, "energy") == 0 ? WW_COUNTER : WW_HOLD;
	/* What is not said of the meter is unknown, not zero. */
	s->acc = s->acc_rel = (double)NAN;
	dflt = u->quantity;
	s->unit = strdup(u->unit);
	s->name = strdup(ww_uri_get(uri, "name", dflt));
	s->model = strdup(ww_uri_get(uri, "label", ww_uri_get(uri, "model", "")));
	if (!s->uri || !s->unit || !s->name || !s->model)
		return ww_fail_nomem(err);
	if (!*s->name)
		return ww_fail(err, -EINVAL, "manual: option name is empty");
	if (ww_uri_num(uri, "resolution", 1e-9, 1e9, &s->resolution, err) < 0 ||
	    ww_uri_num(uri, "acc", 0, 1e9, &s->acc, err) < 0 ||
	    ww_uri_num(uri, "acc_rel", 0, 1, &s->acc_rel, err) < 0)
		return -EINVAL;
	return ww_uri_check_used(uri, "unit, name, resolution, acc, acc_rel, label", err);
}

static int describe(struct manual *s, struct ww_error *err)
{
	struct ww_source_info info = {
		.kind = WW_MANUAL,
		.name = "",
		.uri = s->uri,
		.driver = "manual",
		.model = s->model,
		.serial = "",
		.firmware = "",
		.notes = "readings typed by a person",
		.transport = {.name = "person", .settings = ""},
	};
	struct ww_channel_info ch = {
		.name = s->name,
		.quantity = s->quantity,
		.unit = s->unit,
		.semantics = s->semantics,
		.scale = s->resolution / FINER,
		.resolution = s->resolution,
		.acc_abs = s->acc,
		.acc_rel = s->acc_rel,
	};

	return s->sink.describe(s->sink.ctx, &info, &ch, 1, err);
}

static int manual_open(const struct ww_source_setup *setup, struct ww_uri *uri,
		       struct ww_source **out, struct ww_error *err)
{
	struct manual *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return ww_fail_nomem(err);
	s->base.ops = &manual_ops;
	s->sink = setup->sink;
	s->last_ns = WW_TIME_MIN;
	s->uri = strdup(setup->uri);
	rc = *uri->place ? ww_fail(err, -EINVAL,
				   "manual:%s: a display is at no place; what meter it is goes "
				   "into an option: manual:?label=%s",
				   uri->place, uri->place)
			 : read_options(s, uri, err);
	if (rc >= 0)
		rc = describe(s, err);
	if (rc < 0) {
		manual_close(&s->base);
		return rc;
	}
	*out = &s->base;
	return 0;
}

const struct ww_driver ww_source_manual = {
	.name = "manual",
	.summary = "readings typed by a person, for a meter with only a display",
	.example = "manual:?unit=W&resolution=1&label=Kill A Watt",
	.available = true,
	.proven = true,
	.open = manual_open,
};

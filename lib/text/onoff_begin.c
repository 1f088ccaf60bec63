/* SPDX-License-Identifier: MIT */
/* What was on before anybody said so: "-box" at first, and "all on". */
#include "text/onoff.h"

static const char rest[] = "the rest", all[] = "all";

void ww_onoff_begin(struct ww_onoff *o)
{
	for (size_t i = 0; i < o->devices; i++) {
		struct ww_onoff_device *d = &o->device[i];

		d->line = d->now ? 0 : d->line;
		d->now = 0;
		d->named = d->begun = false;
	}
	o->first = o->readings;
	o->emptied = o->all_on = false;
}

/* A device is "on" in the readings [from, to), unless they say otherwise. */
static int make_on(struct ww_onoff *o, size_t device, size_t from, size_t to, struct ww_error *err)
{
	int state = ww_onoff_state(o, device, "on", 2, err);

	if (state < 0)
		return state;
	for (size_t i = from; i < to; i++) {
		struct ww_onoff_reading *r = &o->reading[i];

		if (r->devices <= device) {
			uint8_t *on = realloc(r->on, device + 1);

			if (!on)
				return ww_fail_nomem(err);
			memset(on + r->devices, 0, device + 1 - r->devices);
			r->on = on;
			r->devices = device + 1;
		}
		r->on[device] = (uint8_t)state;
	}
	return state;
}

int ww_onoff_was_on(struct ww_onoff *o, const char *name, size_t n, const char *where,
		    struct ww_error *err)
{
	int i = ww_onoff_find(o, name, n), state;
	size_t from = o->all_on ? o->all_from : o->first;

	if ((i >= 0 && o->device[i].named) || (o->emptied && !o->all_on))
		return 0;
	i = ww_onoff_device(o, name, n, err);
	if (i < 0)
		return i;
	state = make_on(o, (size_t)i, from, o->readings, err);
	if (state < 0)
		return state;
	o->device[i].now = (uint8_t)state;
	o->device[i].named = o->device[i].begun = true;
	if (!o->all_on && o->readings > from)
		ww_note(&o->notes,
			"%s: '%s' goes out without having come in: it is taken as on from the "
			"beginning",
			where, o->device[i].name);
	return 1;
}

int ww_onoff_all_on(struct ww_onoff *o, size_t line, struct ww_error *err)
{
	for (size_t i = 0; i < o->devices; i++) {
		struct ww_onoff_device *d = &o->device[i];
		int state = ww_onoff_state(o, i, "on", 2, err);

		if (state < 0)
			return state;
		d->line = d->now == state ? d->line : line;
		d->now = (uint8_t)state;
		d->named = true;
	}
	if (!o->all_on) {
		o->all_on = true;
		o->alone = o->devices == 0;
		o->all_from = o->readings;
	}
	return 0;
}

/* Of those that "all on" spoke of, what nobody named. */
static int make_rest(struct ww_onoff *o, struct ww_error *err)
{
	bool named = false;
	const char *name;
	int i;

	for (size_t k = 0; k < o->devices; k++)
		named |= o->device[k].begun;
	if (!o->all_on || o->all_from == o->readings || (!named && !o->alone))
		return 0;
	/* Always on, it is part of what the meter shows anyway. */
	if (named && !o->emptied)
		return 0;
	name = named ? rest : all;
	i = ww_onoff_device(o, name, strlen(name), err);
	return i < 0 ? i : make_on(o, (size_t)i, o->all_from, o->readings, err);
}

int ww_onoff_end(struct ww_onoff *o, struct ww_error *err)
{
	int rc = make_rest(o, err);

	o->all_on = false;
	return rc < 0 ? rc : 0;
}

int ww_onoff_reset(struct ww_onoff *o, size_t line, struct ww_error *err)
{
	int rc;

	o->resets++;
	o->emptied = true;
	rc = ww_onoff_end(o, err);
	for (size_t i = 0; i < o->devices; i++) {
		if (o->device[i].now) {
			o->device[i].now = 0;
			o->device[i].line = line;
		}
	}
	return rc;
}

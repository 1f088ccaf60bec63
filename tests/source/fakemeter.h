/* SPDX-License-Identifier: MIT */
/*
 * A meter that does what the bytes say, for tests of those who run meters; linked with
 * --wrap=ww_meter_find. It is called each second and then gives 1000, 1001, ...
 */
#ifndef FAKEMETER_H
#define FAKEMETER_H

#include "meter/meter.h"

struct fake {
	int64_t next, count;
	size_t channels;
};

static int fake_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct fake *f = state;

	f->next = WW_TIME_MAX;
	f->channels = 2;
	f->count = every_ns / WW_NS_PER_S;
	if (*ww_uri_get(options, "refuse", ""))
		return ww_fail(err, -EINVAL, "this option is refused");
	return 0;
}

/* "channels=1" */
static int fake_look(void *state, const char *listing, size_t n, struct ww_error *err)
{
	struct fake *f = state;

	if (n < 10 || strncmp(listing, "channels=", 9) != 0)
		return ww_fail(err, -ENODEV, "this folder has no channels");
	f->channels = (size_t)(listing[9] - '0');
	return 0;
}

static void fake_shape(const void *state, struct ww_meter_shape *s)
{
	s->channels = ((const struct fake *)state)->channels;
}

static void fake_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	((struct fake *)state)->next = now_ns + WW_NS_PER_S;
	out->send(out->ctx, "hello", 5);
}

static void fake_give(struct fake *f, struct ww_interval t, int64_t code,
		      const struct ww_meter_out *out)
{
	const int64_t codes[2] = {code, f->count};

	out->reading(out->ctx, t, codes);
}

static void fake_do(struct fake *f, struct ww_interval t, uint8_t what,
		    const struct ww_meter_out *out)
{
	if (what >= 'a' && what <= 'z')
		fake_give(f, t, what, out);
	else if (what == '!')
		out->loss(out->ctx, t, 3, "three");
	else if (what == '?')
		out->event(out->ctx, t, WW_MARK_DEVICE, "said something");
	else if (what == '#')
		out->identity(out->ctx, "model", NULL, "firmware");
	else if (what == '~')
		(out->fail)(out->ctx, -EPROTO, "nonsense came");
	else if (what == '<') /* a time that falls */
		fake_give(f, (struct ww_interval){t.lo_ns - WW_NS_PER_S, t.hi_ns - WW_NS_PER_S}, 1,
			  out);
	else if (what == '@')
		fake_give(f, t, out->baud(out->ctx, 9600) < 0 ? 2 : 3, out);
	else if (what == '*')
		for (int i = 0; i < 3000; i++)
			fake_give(f, t, i, out);
}

static void fake_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		      const struct ww_meter_out *out)
{
	for (size_t i = 0; i < n; i++)
		fake_do(state, t, p[i], out);
}

static int64_t fake_deadline(const void *state)
{
	return ((const struct fake *)state)->next;
}

static void fake_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct fake *f = state;

	fake_give(f, (struct ww_interval){now_ns, now_ns}, 1000 + f->count, out);
	f->count++;
	f->next = now_ns + WW_NS_PER_S;
	out->send(out->ctx, "poll", 4);
}

static void fake_stop(void *state, const struct ww_meter_out *out)
{
	((struct fake *)state)->next = WW_TIME_MAX;
	out->send(out->ctx, "bye", 3);
}

static int fake_drops;

static void fake_drop(void *state)
{
	(void)state;
	fake_drops++;
}

#define FAKE_DESC(n, how)                                                                          \
	{                                                                                          \
		.name = n, .summary = "a fake", .example = n ":/dev/fake", .buses = how,           \
		.period_ns = WW_NS_PER_S, .window_ns = WW_NS_PER_S, .channels = 2,                 \
		.channel = {{.name = "power",                                                      \
			     .quantity = "power",                                                  \
			     .unit = "W",                                                          \
			     .scale = 1,                                                           \
			     .resolution = 1},                                                     \
			    {.name = "count",                                                      \
			     .quantity = "other",                                                  \
			     .unit = "1",                                                          \
			     .scale = 1,                                                           \
			     .resolution = 1}},                                                    \
		.state_size = sizeof(struct fake)                                                  \
	}

#define FAKE_OPS(n, how, l)                                                                        \
	{                                                                                          \
		.desc = FAKE_DESC(n, how), .init = fake_init, .look = l, .shape = fake_shape,      \
		.start = fake_start, .feed = fake_feed, .deadline = fake_deadline,                 \
		.tick = fake_tick, .stop = fake_stop, .drop = fake_drop                            \
	}

static const struct ww_meter_ops fake_stream = FAKE_OPS("fake", WW_BUS_STREAM, NULL);
static const struct ww_meter_ops fake_files = FAKE_OPS("fakefiles", WW_BUS_FILES, fake_look);
static const struct ww_meter_ops fake_web = FAKE_OPS("fakeweb", WW_BUS_HTTP, NULL);

const struct ww_meter_ops *__wrap_ww_meter_find(const char *name);
const struct ww_meter_ops *__wrap_ww_meter_find(const char *name)
{
	const struct ww_meter_ops *const all[] = {&fake_stream, &fake_files, &fake_web};

	for (size_t i = 0; i < WW_COUNTOF(all); i++)
		if (strcmp(all[i]->desc.name, name) == 0)
			return all[i];
	return NULL;
}

#endif

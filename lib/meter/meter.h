/* SPDX-License-Identifier: MIT */
/*
 * A meter's driver: a description and a pure state machine over bytes. Bytes
 * and times in; bytes, readings, events and the next deadline out. It does no
 * I/O, reads no clock, allocates nothing: the same bytes at the same times give
 * the same readings, in a test, a fuzzer, a replay and on the real port.
 */
#ifndef WW_METER_H
#define WW_METER_H

#include "base/base.h"
#include "base/uri.h"

#define WW_METER_CHANNELS 32

/* Where a driver puts what it has to say; implemented by lib/source and by tests. */
struct ww_meter_out {
	void *ctx;
	void (*send)(void *ctx, const void *data, size_t n);
	/* codes[channels]; WW_MISSING where not given. t: the reading's arrival. */
	void (*reading)(void *ctx, struct ww_interval t, const int64_t *codes);
	/* kind: WW_MARK_RESET, WW_MARK_DEVICE ... */
	void (*event)(void *ctx, struct ww_interval t, const char *kind, const char *text);
	/* Items lost on the way, -1 unknown. */
	void (*loss)(void *ctx, struct ww_interval t, int64_t lost, const char *reason);
	/* The device told what it is; NULL members unchanged. */
	void (*identity)(void *ctx, const char *model, const char *serial, const char *firmware);
	/* The device cannot be used (wrong device, no reply): the sentence goes to the user. */
	void (*fail)(void *ctx, int code, const char *text);
};

struct ww_meter_desc {
	const char *name; /* driver of the URI */
	const char *summary;
	const char *example; /* URI */
	bool proven;	     /* has met the real device */
	int64_t baud;
	int64_t period_ns, window_ns, delay_min_ns, delay_max_ns;
	size_t channels; /* of every instance, unless ops->shape says otherwise */
	struct ww_channel_info channel[WW_METER_CHANNELS]; /* id and source unset */
	size_t state_size;
};

struct ww_meter_ops {
	struct ww_meter_desc desc;
	/* Fresh state (zeroed memory). every_ns: asked interval of readings, 0 the fastest. */
	int (*init)(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err);
	/*
	 * What the options made of the description: channels in use (the first so many
	 * of desc.channel) and the period. May be NULL.
	 */
	void (*shape)(const void *state, size_t *channels, int64_t *period_ns);
	/* The port is open. */
	void (*start)(void *state, int64_t now_ns, const struct ww_meter_out *out);
	void (*feed)(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		     const struct ww_meter_out *out);
	/* Next time the driver wants to be called; WW_TIME_MAX: never. */
	int64_t (*deadline)(const void *state);
	void (*tick)(void *state, int64_t now_ns, const struct ww_meter_out *out);
	/* Leave the meter in a sane state: what must be sent is sent here. */
	void (*stop)(void *state, const struct ww_meter_out *out);
};

/* Number of channels of an initialised meter; period_ns may be NULL. */
size_t ww_meter_shape(const struct ww_meter_ops *m, const void *state, int64_t *period_ns);
/* By the driver's name; NULL if there is none. */
const struct ww_meter_ops *ww_meter_find(const char *name);

/* Every driver there is; ends with NULL. */
extern const struct ww_meter_ops *const ww_meters[];

#endif

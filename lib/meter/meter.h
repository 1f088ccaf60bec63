/* SPDX-License-Identifier: MIT */
/*
 * A meter's driver: a description and a pure state machine over bytes. Bytes
 * and times in; bytes, readings, events and the next deadline out. It does no
 * I/O, reads no clock, keeps nothing outside its state: the same bytes at the same
 * times give the same readings, in a test, a fuzzer, a replay and on the real port.
 *
 * On the buses of messages (every one but WW_BUS_STREAM) one send() is one message
 * and one feed() is one whole message:
 *
 * WW_BUS_USB, WW_BUS_HID  a packet, a report (without the report's number).
 * WW_BUS_TMC    what the instrument says up to its END; a send() of a query (its
 *               text has a '?') also fetches the answer.
 * WW_BUS_HTTP   send "GET /path" or "POST /path\nbody"; the answer is
 *               "200\nbody", or "0\nwhy" where no server answered. One at a time.
 * WW_BUS_FILES  send names, one a line ("power1_input\nname"); the answer has a line
 *               for each, "name=value" (first line of the file; of a file of many lines
 *               such as uevent "name=" with its lines joined by '\x1f'), or "name!ENODATA"
 *               where reading fails. A line "name:=value" writes instead.
 * WW_BUS_IIO    as WW_BUS_FILES, each answer begins with 'T'; "buffer=64" as a line of
 *               its own opens /dev/iio:deviceN with that length (buffer=0 closes it),
 *               whose scans then come as messages 'B' + whole scans.
 * WW_BUS_EDGES  one byte an edge: '0' or '1', the level after it; t is the edge's. 'x'
 *               where edges were lost.
 *
 * t of a message: from the moment before it can have arrived (files: before the first
 * was read; http: when the request was sent) to the moment when it had.
 */
#ifndef WW_METER_H
#define WW_METER_H

#include "base/base.h"
#include "base/uri.h"
#include "base/usbid.h"

#define WW_METER_CHANNELS 32

/* Where a driver puts what it has to say; implemented by lib/source and by tests. */
struct ww_meter_out {
	void *ctx;
	enum ww_bus bus; /* how this instance is reached */
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
	/* Other speed of the line, from the next send() on; < 0: this port has none. May be NULL.
	 */
	int (*baud)(void *ctx, int64_t baud);
};

struct ww_meter_desc {
	const char *name; /* driver of the URI */
	const char *summary;
	const char *example;	     /* URI */
	bool proven;		     /* has met the real device */
	uint32_t buses;		     /* mask of enum ww_bus; 0: WW_BUS_STREAM */
	bool left_out;		     /* a library that it needs was left out of this build */
	const char *notes;	     /* of its values, for the reader of a trace; NULL none */
	const char *needs;	     /* that library: "nettle"; NULL none */
	const struct ww_usb_id *usb; /* ids it is known by, ends with vid 0; NULL none */
	/*
	 * Its connections last for one answer: on WW_BUS_STREAM the end of one is no loss, a
	 * send() opens the next, and a send() of 0 bytes hangs up. A feed() of 0 bytes: the
	 * other end did, or could not be reached.
	 */
	bool reconnect;
	int64_t baud;
	int64_t read_every_ns; /* of a dense stream, see ww_port_setup; 0: at once */
	int64_t fastest_ns;    /* asked no more often than this, whatever is wanted; 0: see shape */
	int64_t period_ns, window_ns, delay_min_ns, delay_max_ns;
	size_t channels; /* of every instance, unless ops->shape says otherwise */
	struct ww_channel_info channel[WW_METER_CHANNELS]; /* id and source unset */
	size_t state_size;
};

/* What options and device made of the description; begins as the description says. */
struct ww_meter_shape {
	size_t channels; /* must not change once the source is described */
	int64_t period_ns, window_ns, delay_min_ns, delay_max_ns;
};

struct ww_meter_ops {
	struct ww_meter_desc desc;
	/* Fresh state (zeroed memory). every_ns: asked interval of readings, 0 the fastest. */
	int (*init)(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err);
	/*
	 * WW_BUS_FILES and WW_BUS_IIO: what the folder holds, "name=value" a line (value
	 * as feed() has it; folders as "name/"), called once, after init and before shape.
	 * Decides what channels there are, or refuses the folder. Else NULL.
	 */
	int (*look)(void *state, const char *listing, size_t n, struct ww_error *err);
	/*
	 * Channels in use (the first so many of desc.channel, unless `channel` is given),
	 * period, window and delay. Called after init (and look), and again after each
	 * identity(). May be NULL.
	 */
	void (*shape)(const void *state, struct ww_meter_shape *s);
	/* The i-th channel of this instance; strings live as long as the state. May be NULL. */
	void (*channel)(const void *state, size_t i, struct ww_channel_info *out);
	/* The port is open. */
	void (*start)(void *state, int64_t now_ns, const struct ww_meter_out *out);
	void (*feed)(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		     const struct ww_meter_out *out);
	/* Next time the driver wants to be called; WW_TIME_MAX: never. */
	int64_t (*deadline)(const void *state);
	void (*tick)(void *state, int64_t now_ns, const struct ww_meter_out *out);
	/*
	 * It waits for an answer: nobody else may speak on its line. Meters that have this
	 * may share a port, several of them on one RS-485 line (source/shareline.h); they
	 * speak in tick() and feed() only, not in start(). NULL: the port is theirs alone.
	 */
	bool (*busy)(const void *state);
	/* Leave the meter in a sane state: what must be sent is sent here. */
	void (*stop)(void *state, const struct ww_meter_out *out);
	/* Free what the state holds besides itself. May be NULL, and mostly is. */
	void (*drop)(void *state);
};

/* Of an initialised meter. */
struct ww_meter_shape ww_meter_shape(const struct ww_meter_ops *m, const void *state);
void ww_meter_channel(const struct ww_meter_ops *m, const void *state, size_t i,
		      struct ww_channel_info *out);
/* By the driver's name; NULL if there is none. */
const struct ww_meter_ops *ww_meter_find(const char *name);

/* Every driver there is; ends with NULL. */
extern const struct ww_meter_ops *const ww_meters[];

#endif

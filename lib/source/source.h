/* SPDX-License-Identifier: MIT */
/*
 * A URI becomes a source. Sources hand records to a sink and know no file; the
 * recorder is the sink. A source opens in its driver's open(), says what it is by
 * sink->describe() before anything else, and gives records from the loop's
 * callbacks. When its device goes away it says lost() once; the recorder closes
 * it, writes down the gap, and opens the same URI again until it is back.
 */
#ifndef WW_SOURCE_H
#define WW_SOURCE_H

#include "bus/loop.h"
#include "base/uri.h"

struct ww_source;
struct ww_port;

struct ww_sink {
	void *ctx;
	/*
	 * What the source is; called in open(), and again when more is known. Ids in
	 * info and channels are ignored; the number and order of channels never change.
	 */
	int (*describe)(void *ctx, const struct ww_source_info *info,
			const struct ww_channel_info *channels, size_t n, struct ww_error *err);
	void (*samples)(void *ctx, size_t n, const int64_t *lo_ns, const int64_t *hi_ns,
			const int64_t *codes);
	void (*bytes)(void *ctx, struct ww_interval t, const uint8_t *data, size_t n);
	/* A meter's own bytes, kept only where asked. */
	void (*raw)(void *ctx, struct ww_interval t, const uint8_t *data, size_t n);
	/*
	 * A turn of the meter's driver, kept beside its raw bytes, so that they can be
	 * decoded again exactly: enum ww_turn; data only with WW_TURN_LOOK and _TROUBLE.
	 * May be NULL.
	 */
	void (*turn)(void *ctx, struct ww_interval t, int turn, const void *data, size_t n);
	/*
	 * A source within this one, the i-th, as the modem inputs of a serial line are: stored
	 * beside it as "NAME.suffix", with one channel. Described in open(), after describe().
	 * May be NULL.
	 */
	int (*beside)(void *ctx, size_t i, const char *suffix, const struct ww_source_info *info,
		      const struct ww_channel_info *channels, size_t n, struct ww_error *err);
	void (*beside_sample)(void *ctx, size_t i, struct ww_interval t, int64_t code);
	void (*mark)(void *ctx, struct ww_interval t, const char *kind, const char *text);
	void (*gap)(void *ctx, struct ww_interval t, int64_t lost, const char *reason);
	void (*lost)(void *ctx, const struct ww_error *why);
	void (*ended)(void *ctx); /* a finite source is through */
	void (*warn)(void *ctx, const char *text);
};

/* What the meter's driver was called for. */
enum ww_turn {
	WW_TURN_LOOK = 'L',  /* look(): n bytes of listing; before its first start */
	WW_TURN_START = 'S', /* start() at t.hi_ns; again after each reconnection, of fresh state */
	WW_TURN_TICK = 'T',  /* tick() at t.hi_ns */
	WW_TURN_FEED = 'F',  /* feed() of the next n raw bytes, which came in t */
	WW_TURN_STOP = 'E',  /* stop() */
	WW_TURN_BAUD = 'B',  /* within the turn before: out->baud(), n: 0 done, 1 refused */
	WW_TURN_TROUBLE = 'P' /* no call: the port said something in between, n bytes of text */
};

struct ww_source_setup {
	struct ww_loop *loop;
	struct ww_sink sink; /* copied */
	const char *uri;     /* whole text */
	int64_t every_ns;    /* asked interval of readings, 0 the fastest */
	/*
	 * When this URI was opened for the first time on this loop; 0: now. A source
	 * that is opened again after lost() gets the same value again (a simulator's
	 * time goes on while it is unplugged).
	 */
	int64_t first_open_ns;
	/* See ww_port_setup.memory; may be NULL. */
	char *memory;
};

struct ww_source_ops {
	/* Begin to give records. */
	int (*start)(struct ww_source *s, struct ww_error *err);
	/*
	 * Ask the device to stop and leave it in a sane state; returns the time in ns
	 * that the loop should still run for it (at most 500 ms), 0 if none.
	 */
	int64_t (*stop)(struct ww_source *s);
	/* Free everything; works at any moment, also after lost(). */
	void (*close)(struct ww_source *s);
	/* Manual sources: a reading typed at t. May be NULL. */
	int (*type)(struct ww_source *s, struct ww_interval t, double value, const char *label,
		    struct ww_error *err);
	/* The port of a serial line, lent, for who sets its outputs. May be NULL. */
	struct ww_port *(*port)(const struct ww_source *s);
	/* Lateness of the stamping timer as ww_port_lateness(). May be NULL. */
	void (*lateness)(const struct ww_source *s, int64_t *max_ns, int64_t *p99_ns);
};

/* First member of every source's own structure. */
struct ww_source {
	const struct ww_source_ops *ops;
};

struct ww_driver {
	const char *name;
	const char *summary;
	const char *example;
	bool available;
	bool proven;
	int (*open)(const struct ww_source_setup *setup, struct ww_uri *uri, struct ww_source **out,
		    struct ww_error *err);
};

/*
 * Open by URI: driver name looked up among the drivers of lib/source and the
 * meters of lib/meter; a bare path or tty:, unix:, tcp: is a serial source.
 */
int ww_source_open(const struct ww_source_setup *asked, struct ww_source **out,
		   struct ww_error *err);

/* A meter of this name is asked no more often than this; 0: as often as wanted. */
int64_t ww_source_fastest(const char *driver);

/* The sources of this layer; table.c joins them and the meters into one list. */
extern const struct ww_driver ww_source_serial_tty, ww_source_serial_unix, ww_source_serial_tcp,
	ww_source_serial_ftdi, ww_source_gpio, ww_source_modem, ww_source_ftdipin, ww_source_sim,
	ww_source_replay, ww_source_manual;
/* The channel of a line: its level after an edge. */
extern const struct ww_channel_info ww_line_channel;
/* Open a meter of lib/meter; the driver's name is in the URI. */
int ww_source_meter_open(const struct ww_source_setup *setup, struct ww_uri *uri,
			 struct ww_source **out, struct ww_error *err);

#endif

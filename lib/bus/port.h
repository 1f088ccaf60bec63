/* SPDX-License-Identifier: MIT */
/*
 * A port moves bytes and stamps them: a tty, an FTDI chip by libftdi, a UNIX
 * or TCP socket, one interface for all. Nothing here blocks.
 *
 * The stamp. A read that returns data at `hi` (clock read immediately after it)
 * delivered bytes that became readable no earlier than `lo`: the clock read
 * immediately BEFORE the last read that found the port empty (EAGAIN). Linux runs
 * the tty's pending buffer work inside a read() that finds nothing
 * (drivers/tty/n_tty.c: tty_buffer_flush_work), so EAGAIN does prove emptiness even
 * where a busy machine delays that work. A short count proves it on sockets only:
 * a tty's read that copied something returns without looking at the pending buffers,
 * so one reads on until EAGAIN. The loop's 1 ms timer polls the
 * port, so that `lo` is seldom more than a millisecond old; when the timer is
 * late, `lo` simply stays where it was. Then the transport's own delay is taken
 * off: lo - delay_max, hi - delay_min.
 */
#ifndef WW_BUS_PORT_H
#define WW_BUS_PORT_H

#include "bus/loop.h"
#include "base/uri.h"

struct ww_port;

struct ww_port_events {
	void *ctx;
	/* n bytes that one read delivered; each arrived in t. */
	void (*bytes)(void *ctx, struct ww_interval t, const uint8_t *data, size_t n);
	/* The port is gone (unplugged, hung up): err->text says how. No call after it. */
	void (*lost)(void *ctx, const struct ww_error *err);
	/* Something to be told: "overrun: 3 bytes" (TIOCGICOUNT), with the loss, -1 unknown. */
	void (*trouble)(void *ctx, struct ww_interval t, int64_t lost, const char *text);
};

/*
 * Open by place: "/dev/ttyUSB0", "tty:/dev/ttyUSB0", "ftdi:", "unix:/path",
 * "tcp://host:port" (numeric address, or a name resolved at open only). Options
 * used: baud, bits, parity, stop, flow, dtr, rts, latency, event_char, exclusive,
 * serial, vid, pid, interface; `baud` is the default rate where the URI has none.
 */
int ww_port_open(struct ww_loop *l, const char *place, struct ww_uri *options, int64_t baud,
		 const struct ww_port_events *ev, struct ww_port **out, struct ww_error *err);
/* Queue bytes to be sent; never blocks. -ENOBUFS if 64 KiB wait already. */
int ww_port_write(struct ww_port *p, const void *data, size_t n, struct ww_error *err);
/* Send what is queued if the port takes it now (before closing). Never blocks. */
void ww_port_flush(struct ww_port *p);
const struct ww_transport *ww_port_transport(const struct ww_port *p);
/* Worst lateness of the 1 ms timer: max and 99th percentile, ns; -1 if none ran. */
void ww_port_lateness(const struct ww_port *p, int64_t *max_ns, int64_t *p99_ns);
/* May be NULL. */
void ww_port_close(struct ww_port *p);

#endif

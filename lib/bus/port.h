/* SPDX-License-Identifier: MIT */
/*
 * A port moves bytes and stamps them: a tty, an FTDI chip by libftdi, a UNIX
 * or TCP socket, a USB endpoint, a web server, files of the kernel; one interface
 * for all. Nothing here blocks: what can (a name server, a file of a slow chip) is
 * done elsewhere.
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
#include "base/usbid.h"

struct ww_port;

struct ww_port_events {
	void *ctx;
	/* n bytes that one read delivered; each arrived in t. */
	void (*bytes)(void *ctx, struct ww_interval t, const uint8_t *data, size_t n);
	/* The port is gone (unplugged, hung up): err->text says how. No call after it. */
	void (*lost)(void *ctx, const struct ww_error *err);
	/* Something to be told: "overrun: 3 bytes" (TIOCGICOUNT), with the loss, -1 unknown. */
	void (*trouble)(void *ctx, struct ww_interval t, int64_t lost, const char *text);
	/*
	 * A modem line changed in t: bits of TIOCM_CTS, TIOCM_DSR, TIOCM_RI, TIOCM_CD, as
	 * they are now and which changed. May be NULL: then lines are not looked at.
	 */
	void (*modem)(void *ctx, struct ww_interval t, int lines, int changed);
};

#define WW_PORT_MEMORY 256

struct ww_port_setup {
	struct ww_loop *loop;
	/*
	 * Where: see below. The options used are noted in `options`.
	 */
	const char *place;
	struct ww_uri *options;
	int64_t baud; /* where the options have none */
	/*
	 * Of a dense stream: read it this often, instead of whenever there is something. 0:
	 * at once. What waits is stamped as wide as it waited.
	 */
	int64_t read_every_ns;
	struct ww_port_events ev;
	const struct ww_usb_id *usb; /* ids for "usb:", "hid:", "usbtmc:", "tty:" without more */
	/*
	 * WW_PORT_MEMORY bytes that the owner keeps between one opening and the next, ""
	 * at first: the port writes there which device it has, and opens that one again,
	 * whatever name or bus it comes back under. May be NULL.
	 */
	char *memory;
};

/*
 * Places of messages (see meter/meter.h for what a message is):
 * "usb:" by setup.usb, narrowed by serial=; "usb:1-2.3" by the kernel's name
 * "hid:" likewise; "hid:/dev/hidraw3", "/dev/hidraw3"
 * "usbtmc:" likewise; "usbtmc0", "/dev/usbtmc0"
 * "http://host[:port]", "https://host[:port]" (options user=, password=)
 * "files:/sys/class/hwmon/hwmon3" a folder
 * "iio:device0", "iio:/sys/bus/iio/devices/iio:device0"
 * "edges:gpiochip0/17", "gpio:gpiochip0/17" (options of a gpio source)
 * "modem:/dev/ttyUSB0", "modem:ftdi:" (line=) and "ftdipin:" (pin=): edges too
 * and of bytes: those of ww_port_open(), and "tty:" alone: the tty of setup.usb.
 */
int ww_port_open_setup(const struct ww_port_setup *s, struct ww_port **out, struct ww_error *err);

/*
 * Open by place: "/dev/ttyUSB0", "tty:/dev/ttyUSB0", "ftdi:", "unix:/path",
 * "tcp://host:port" (numeric address, or a name resolved at open only). Options
 * used: baud, bits, parity, stop, flow, dtr, rts, latency, event_char, exclusive,
 * serial, vid, pid, interface; `baud` is the default rate where the URI has none.
 */
int ww_port_open(struct ww_loop *l, const char *place, struct ww_uri *options, int64_t baud,
		 const struct ww_port_events *ev, struct ww_port **out, struct ww_error *err);
/*
 * Queue bytes, or one message, to be sent; never blocks. -ENOBUFS if 64 KiB wait already.
 */
int ww_port_write(struct ww_port *p, const void *data, size_t n, struct ww_error *err);
/* Send what is queued if the port takes it now (before closing). Never blocks. */
void ww_port_flush(struct ww_port *p);
/* Is there another end? Not while a name is resolved or a connection is made. */
bool ww_port_ready(const struct ww_port *p);
/* What a folder of files holds, for ww_meter_ops.look; NULL for other ports. Lent. */
const char *ww_port_listing(const struct ww_port *p, size_t *n);
/* Bytes that were written and have not left for the adapter; -1 unknown. */
int64_t ww_port_outq(const struct ww_port *p);
/* Latency timer of the adapter in force; -1 none or unknown. */
int64_t ww_port_latency_ms(const struct ww_port *p);
/* What a serial adapter is known by (see portcal.h); "" nothing. Lent. */
const char *ww_port_adapter(const struct ww_port *p);
/* What the device is, for people ("gpiochip0 17 \"WAKE\" (bench)"); "" unknown. Lent. */
const char *ww_port_model(const struct ww_port *p);
/* Level of a line at the opening, 0 or 1; -1 unknown. */
int ww_port_level(const struct ww_port *p);
/* Set DTR or RTS (TIOCM_DTR, TIOCM_RTS); -ENOTSUP where there are none. */
int ww_port_modem(struct ww_port *p, int set, int clear, struct ww_error *err);
/* TIOCM_ bit of "cts", "dsr", "ri", "dcd"; 0: no such input. */
int ww_modem_bit(const char *name);
/* How another process of ours reaches the outputs of an open port: see guard.h. */
struct ww_port_reach {
	int fd;		  /* of a tty, lent; -1 none */
	char node[32];	  /* of an FTDI chip, "/dev/bus/usb/001/004"; "" none */
	int interface;	  /* of the chip, from 0 */
	int known, lines; /* TIOCM_DTR, TIOCM_RTS: which are known, and how they stand */
};
/* -ENOTSUP where there are none. */
int ww_port_reach(const struct ww_port *p, struct ww_port_reach *out);
/* Another speed from now on (a meter's is looked for); -ENOTSUP where there is none. */
int ww_port_baud(struct ww_port *p, int64_t baud, struct ww_error *err);
const struct ww_transport *ww_port_transport(const struct ww_port *p);
/* Worst lateness of the 1 ms timer: max and 99th percentile, ns; -1 if none ran. */
void ww_port_lateness(const struct ww_port *p, int64_t *max_ns, int64_t *p99_ns);
/* May be NULL. */
void ww_port_close(struct ww_port *p);

#endif

/* SPDX-License-Identifier: MIT */
/* The inside of a port, shared by its kinds: tty.c, sock.c, ftdi.c. */
#ifndef WW_BUS_PORTIMPL_H
#define WW_BUS_PORTIMPL_H

#include "bus/port.h"
#include "base/str.h"

struct ww_tty_info;

#define WW_PORT_TICK_NS WW_NS_PER_MS
#define WW_PORT_QUEUE	65536
/* Buckets of lateness: four to each power of two of nanoseconds. */
#define WW_LATE_BUCKETS (64 * 4)

struct ww_port_ops {
	/* Read what is there; see ww_port_got() and ww_port_empty(). Once a tick and when ready. */
	void (*pump)(struct ww_port *p);
	/* Bytes taken, 0 or -EAGAIN: not now; another negative errno: lost. */
	ssize_t (*send)(struct ww_port *p, const uint8_t *data, size_t n);
	/* The descriptor became ready; false: there is nothing more to do. May be NULL. */
	bool (*ready)(struct ww_port *p, uint32_t events);
	/* A whole message instead of `send`: taken, or refused with a negative errno. */
	int (*message)(struct ww_port *p, const uint8_t *data, size_t n, struct ww_error *err);
	const char *(*listing)(const struct ww_port *p, size_t *n);
	int (*modem)(struct ww_port *p, int set, int clear, struct ww_error *err);
	/* Other speed of the line. May be NULL. */
	int (*baud)(struct ww_port *p, int64_t baud, struct ww_error *err);
	/* Bytes on their way to the line that have not left for the adapter. May be NULL. */
	int64_t (*outq)(const struct ww_port *p);
	void (*reach)(const struct ww_port *p, struct ww_port_reach *out);
	/* Once a second. May be NULL. */
	void (*second)(struct ww_port *p, int64_t now_ns);
	/* Leave the device as it was found and close it. */
	void (*close)(struct ww_port *p);
};

struct ww_late {
	int64_t max_ns;
	uint64_t n;
	uint32_t count[WW_LATE_BUCKETS];
};
void ww_late_add(struct ww_late *h, int64_t late_ns);
/* Upper end of the bucket in which the quantile q lies; -1 if empty. */
int64_t ww_late_quantile(const struct ww_late *h, double q);

struct ww_port {
	const struct ww_port_ops *ops;
	void *impl; /* of the kind; freed by ops->close */
	struct ww_loop *loop;
	struct ww_port_events ev;
	const struct ww_usb_id *usb; /* of the setup; NULL none */
	char *memory;		     /* of the setup; NULL none */
	struct ww_transport transport;
	struct ww_str settings;
	char *place;
	char model[128];	     /* what the device is, for people; "" unknown */
	char adapter[192];	     /* of a serial line, for portcal.h; "" unknown */
	char warning[WW_ERROR_TEXT]; /* to be told once the port runs */
	int64_t latency_ms;	     /* timer of the adapter in force; -1 none or unknown */
	int level;		     /* of a line, at the opening; -1 unknown */
	int lines;		     /* modem inputs (TIOCM_) as last seen; -1 not looked at */
	uint32_t input;		     /* EPOLLIN, or 0: read by the tick alone */
	int64_t tick_ns; /* WW_PORT_TICK_NS, unless the kind has no need to look so often */
	int fd;		 /* -1: none */
	struct ww_watch *watch;
	struct ww_timer *tick;
	/* Clock before the last read that found nothing: no later byte is older. */
	int64_t empty_ns;
	int64_t second_ns;
	bool dead;   /* lost() was called */
	bool closed; /* closed in one of its own callbacks: freed when that returns */
	bool connecting;
	bool mute; /* drops what comes: the purge at open */
	unsigned busy;
	uint32_t events; /* watched */
	struct ww_late late;
	uint8_t *queue; /* WW_PORT_QUEUE bytes, once something had to wait */
	size_t queued;
};

/* Bytes that a read delivered; done_ns: the clock right after it. */
void ww_port_got(struct ww_port *p, int64_t done_ns, const uint8_t *data, size_t n);
/* A read found nothing; before_ns: the clock right before it. */
void ww_port_empty(struct ww_port *p, int64_t before_ns);
/* A message that arrived in t, as the kind knows it. */
void ww_port_message(struct ww_port *p, struct ww_interval t, const uint8_t *data, size_t n);
void ww_port_lost(struct ww_port *p, int code, const char *fmt, ...) WW_PRINTF(3, 4);
void ww_port_trouble(struct ww_port *p, struct ww_interval t, int64_t lost, const char *text);
/*
 * So many edges of a modem input in t: it has the level it had, or the other one. A look
 * that comes late finds several; where they lie between themselves nobody knows.
 */
void ww_port_line_edges(struct ww_port *p, struct ww_interval t, int bit, unsigned edges);
/* The inputs are so now; those that differ from p->lines have one edge in t. */
void ww_port_lines(struct ww_port *p, struct ww_interval t, int now);
/* Adds "cts=1 dsr=0 ..." to the settings: the inputs at the opening. */
void ww_port_lines_setting(struct ww_port *p);
/* Adds "key=value" to the settings. */
void ww_port_setting(struct ww_port *p, const char *fmt, ...) WW_PRINTF(2, 3);
/* False after lost() or close(). */
static inline bool ww_port_alive(const struct ww_port *p)
{
	return !p->dead && !p->closed;
}

/* Pump from a callback of the kind's own. */
void ww_port_pump(struct ww_port *p);
/* Watch p->fd, a new one. */
int ww_port_rewatch(struct ww_port *p, uint32_t events);

/* read(2) until EAGAIN, write(2): for kinds with a descriptor. */
void ww_port_fd_pump(struct ww_port *p);
ssize_t ww_port_fd_send(struct ww_port *p, const uint8_t *data, size_t n);

/* The kinds. place is what follows "tty:", "unix:", "tcp:", "ftdi:". */
int ww_tty_open(struct ww_port *p, const char *asked, struct ww_uri *options, int64_t baud,
		struct ww_error *err);
int ww_unix_open(struct ww_port *p, const char *path, struct ww_error *err);
int ww_tcp_open(struct ww_port *p, const char *hostport, struct ww_error *err);
/* "//host:port", "host:port", "//[::1]:port". */
int ww_hostport(const char *text, char *host, size_t hn, char *port, size_t pn,
		struct ww_error *err);
int ww_ftdi_open(struct ww_port *p, const char *place, struct ww_uri *options, int64_t baud,
		 struct ww_error *err);
/* Of messages: place is what follows "usb:", "hid:", "usbtmc:" ...; http has the whole URL. */
int ww_usb_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err);
int ww_hid_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err);
int ww_tmc_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err);
int ww_http_open(struct ww_port *p, const char *url, struct ww_uri *options, struct ww_error *err);
int ww_files_open(struct ww_port *p, const char *place, struct ww_uri *options,
		  struct ww_error *err);
int ww_iio_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err);
int ww_edges_open(struct ww_port *p, const char *place, struct ww_uri *options,
		  struct ww_error *err);
int ww_modem_open(struct ww_port *p, const char *place, struct ww_uri *options,
		  struct ww_error *err);
int ww_ftdipin_open(struct ww_port *p, const char *place, struct ww_uri *options,
		    struct ww_error *err);

/* ttylines.c: modem inputs of the kernel's serial ports, looked at each tick. */
struct ww_tty_lines;
int ww_tty_lines_open(struct ww_port *p, const struct ww_tty_info *info, struct ww_tty_lines **out,
		      struct ww_error *err);
void ww_tty_lines_look(struct ww_port *p, struct ww_tty_lines *l);

/* How characters are framed on the line. */
struct ww_line {
	int64_t baud;
	int bits;	    /* 5 to 8 */
	char parity;	    /* n, e, o, m, s */
	int stop;	    /* 1, 2 */
	char flow;	    /* n none, r RTS/CTS, x XON/XOFF */
	int dtr, rts;	    /* -1: as found */
	int64_t latency_ms; /* 0: the least */
	int event_char;	    /* -1: none */
};
int ww_line_options(struct ww_uri *options, int64_t baud, struct ww_line *out,
		    struct ww_error *err);
/*
 * Least time from one character to the next on the wire: the nominal one less
 * 5 %, since a receiver still reads a sender that is that much too fast.
 */
int64_t ww_line_char_ns(const struct ww_line *l);

#endif

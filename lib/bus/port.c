/* SPDX-License-Identifier: MIT */
#include "bus/portimpl.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

/* One call reads at most this often, so that a flood leaves the loop to others. */
#define READS_A_CALL 16

static unsigned late_bucket(int64_t ns)
{
	unsigned e, i;

	if (ns < 4)
		return ns < 0 ? 0 : (unsigned)ns;
	e = 63 - (unsigned)__builtin_clzll((unsigned long long)ns);
	i = e * 4 + ((unsigned)(ns >> (e - 2)) & 3) - 4;
	return i < WW_LATE_BUCKETS ? i : WW_LATE_BUCKETS - 1;
}

void ww_late_add(struct ww_late *h, int64_t late_ns)
{
	if (late_ns > h->max_ns)
		h->max_ns = late_ns;
	h->count[late_bucket(late_ns)]++;
	h->n++;
}

int64_t ww_late_quantile(const struct ww_late *h, double q)
{
	uint64_t want = (uint64_t)((double)h->n * q), seen = 0;
	int64_t end;
	unsigned i;

	if (!h->n)
		return -1;
	for (i = 0; i + 1 < WW_LATE_BUCKETS; i++) {
		seen += h->count[i];
		if (seen > want)
			break;
	}
	if (i < 3)
		return i;
	/* The lower end of the next bucket, less one. */
	i += 5;
	if (i / 4 >= 60)
		return h->max_ns;
	end = ((INT64_C(4) + (i & 3)) << (i / 4 - 2)) - 1;
	return end > h->max_ns ? h->max_ns : end;
}

/* ------------------------------------------------------------ to the outside */

static void enter(struct ww_port *p)
{
	p->busy++;
}

static void release(struct ww_port *p)
{
	ww_watch_free(p->watch);
	p->watch = NULL;
	ww_timer_free(p->tick);
	p->tick = NULL;
	if (p->ops)
		p->ops->close(p);
	p->ops = NULL;
}

static void leave(struct ww_port *p)
{
	if (--p->busy || !p->closed)
		return;
	release(p);
	ww_str_free(&p->settings);
	free(p->place);
	free(p->queue);
	free(p);
}

void ww_port_got(struct ww_port *p, int64_t done_ns, const uint8_t *data, size_t n)
{
	struct ww_interval t;

	if (!ww_port_alive(p) || p->mute || !n)
		return;
	t.lo_ns = p->empty_ns == WW_TIME_MIN ? WW_TIME_MIN
					     : ww_add_sat(p->empty_ns, -p->transport.delay_max_ns);
	t.hi_ns = done_ns - p->transport.delay_min_ns;
	p->ev.bytes(p->ev.ctx, t, data, n);
}

void ww_port_message(struct ww_port *p, struct ww_interval t, const uint8_t *data, size_t n)
{
	if (ww_port_alive(p) && !p->mute && n)
		p->ev.bytes(p->ev.ctx, t, data, n);
}

void ww_port_empty(struct ww_port *p, int64_t before_ns)
{
	p->empty_ns = before_ns;
}

void ww_port_lost(struct ww_port *p, int code, const char *fmt, ...)
{
	struct ww_error err = {.code = code};
	va_list ap;
	int n;

	if (!ww_port_alive(p))
		return;
	p->dead = true;
	if (p->watch)
		ww_watch_free(p->watch);
	p->watch = NULL;
	if (p->tick)
		ww_timer_set(p->tick, WW_TIME_MAX, 0);
	if (p->mute) /* still in open(), which tells by its own error */
		return;
	n = snprintf(err.text, sizeof(err.text), "%s: ", p->place);
	if (n < 0 || (size_t)n >= sizeof(err.text))
		n = 0;
	va_start(ap, fmt);
	vsnprintf(err.text + n, sizeof(err.text) - (size_t)n, fmt, ap);
	va_end(ap);
	p->ev.lost(p->ev.ctx, &err);
}

void ww_port_trouble(struct ww_port *p, struct ww_interval t, int64_t lost, const char *text)
{
	if (ww_port_alive(p) && p->ev.trouble)
		p->ev.trouble(p->ev.ctx, t, lost, text);
}

void ww_port_setting(struct ww_port *p, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (p->settings.n)
		ww_str_add(&p->settings, " ");
	ww_str_add(&p->settings, text);
	p->transport.settings = p->settings.bad || !p->settings.p ? "" : p->settings.p;
}

/* ------------------------------------------------- kinds with a descriptor */

/*
 * Only EAGAIN proves emptiness. A short count does not: n_tty's read() looks at
 * what the line discipline has first and runs the pending buffer work only if
 * that is nothing, so older bytes may still be on their way to it.
 */
void ww_port_fd_pump(struct ww_port *p)
{
	uint8_t buf[8192];
	int64_t before = ww_loop_now(p->loop);

	for (int i = 0; i < READS_A_CALL && ww_port_alive(p); i++) {
		ssize_t n = read(p->fd, buf, sizeof(buf));
		int code = errno;

		if (n < 0 && code == EAGAIN) {
			ww_port_empty(p, before);
			return;
		}
		before = ww_loop_now(p->loop);
		if (n > 0)
			ww_port_got(p, before, buf, (size_t)n);
		else if (n == 0)
			ww_port_lost(p, -EPIPE, "hung up by the other side");
		else if (code == EIO || code == ENXIO || code == ENODEV)
			ww_port_lost(p, -code, "gone: unplugged, or hung up by the other side");
		else if (code != EINTR)
			ww_port_lost(p, -code, "reading: %s", strerror(code));
	}
}

ssize_t ww_port_fd_send(struct ww_port *p, const uint8_t *data, size_t n)
{
	ssize_t k = write(p->fd, data, n);

	if (k >= 0)
		return k;
	return errno == EINTR ? -EAGAIN : -errno;
}

static void watch_for(struct ww_port *p, uint32_t events)
{
	if (p->watch && events != p->events && ww_watch_events(p->watch, events) == 0)
		p->events = events;
}

void ww_port_flush(struct ww_port *p)
{
	while (ww_port_alive(p) && p->ops && p->ops->send && p->queued) {
		ssize_t k = p->ops->send(p, p->queue, p->queued);

		if (k <= 0) {
			if (k < 0 && k != -EAGAIN)
				ww_port_lost(p, (int)k, "writing: %s", strerror((int)-k));
			break;
		}
		p->queued -= (size_t)k;
		memmove(p->queue, p->queue + k, p->queued);
	}
	if (ww_port_alive(p))
		watch_for(p, p->input | (p->queued || p->connecting ? (uint32_t)EPOLLOUT : 0));
}

int ww_port_write(struct ww_port *p, const void *data, size_t n, struct ww_error *err)
{
	int rc;

	if (!ww_port_alive(p))
		return ww_fail(err, -ENODEV, "%s: gone", p->place);
	if (p->ops->message) {
		enter(p);
		rc = p->ops->message(p, data, n, err);
		leave(p);
		return rc;
	}
	if (n > WW_PORT_QUEUE - p->queued)
		return ww_fail(err, -ENOBUFS, "%s: takes no bytes: %zu wait to be sent", p->place,
			       p->queued);
	if (!p->queue) {
		p->queue = malloc(WW_PORT_QUEUE);
		if (!p->queue)
			return ww_fail_nomem(err);
	}
	memcpy(p->queue + p->queued, data, n);
	p->queued += n;
	enter(p);
	ww_port_flush(p);
	leave(p);
	return 0;
}

static void on_ready(void *ctx, uint32_t events)
{
	struct ww_port *p = ctx;

	enter(p);
	if (p->ops->ready && !p->ops->ready(p, events))
		events = 0;
	if (ww_port_alive(p) && (events & (EPOLLIN | EPOLLPRI | EPOLLHUP | EPOLLERR)))
		p->ops->pump(p);
	if (ww_port_alive(p) && (events & EPOLLOUT))
		ww_port_flush(p);
	/* Still here after a hang-up: nothing was left to read that would have told. */
	if (ww_port_alive(p) && (events & (EPOLLHUP | EPOLLERR)) && !(events & EPOLLIN))
		ww_port_lost(p, -EPIPE, "hung up by the other side");
	leave(p);
}

void ww_port_pump(struct ww_port *p)
{
	enter(p);
	if (ww_port_alive(p))
		p->ops->pump(p);
	leave(p);
}

/* What the opening found, now that somebody listens. */
static void tell_warning(struct ww_port *p, int64_t now_ns)
{
	char text[sizeof(p->warning)];

	if (!*p->warning)
		return;
	memcpy(text, p->warning, sizeof(text));
	*p->warning = '\0';
	ww_port_trouble(p, (struct ww_interval){now_ns, now_ns}, 0, text);
}

static void on_tick(void *ctx, int64_t now_ns, int64_t late_ns)
{
	struct ww_port *p = ctx;

	enter(p);
	ww_late_add(&p->late, late_ns);
	tell_warning(p, now_ns);
	/* What was found empty a moment ago needs no second look. */
	if (now_ns - p->empty_ns > WW_PORT_TICK_NS / 4 || p->empty_ns == WW_TIME_MIN)
		p->ops->pump(p);
	if (ww_port_alive(p) && p->queued && !(p->events & EPOLLOUT))
		ww_port_flush(p);
	if (ww_port_alive(p) && p->ops->second && now_ns >= p->second_ns) {
		p->second_ns = now_ns + WW_NS_PER_S;
		p->ops->second(p, now_ns);
	}
	leave(p);
}

/* ----------------------------------------------------------------- opening */

int ww_port_rewatch(struct ww_port *p, uint32_t events)
{
	p->events = events;
	return ww_loop_watch(p->loop, p->fd, events, on_ready, p, &p->watch, NULL);
}

/* Kinds that move messages, and the ends of their names. */
static int open_message_kind(struct ww_port *p, const char *place, struct ww_uri *options,
			     struct ww_error *err)
{
	static const struct {
		const char *prefix;
		size_t skip;
		int (*open)(struct ww_port *p, const char *place, struct ww_uri *options,
			    struct ww_error *err);
	} kinds[] = {
		{"usb:", 4, ww_usb_open},	 {"hid:", 4, ww_hid_open},
		{"/dev/hidraw", 0, ww_hid_open}, {"usbtmc:", 7, ww_tmc_open},
		{"usbtmc", 0, ww_tmc_open},	 {"/dev/usbtmc", 0, ww_tmc_open},
		{"http:", 0, ww_http_open},	 {"https:", 0, ww_http_open},
		{"files:", 6, ww_files_open},	 {"iio:", 4, ww_iio_open},
		{"edges:", 6, ww_edges_open},	 {"gpio:", 5, ww_edges_open},
		{"modem:", 6, ww_modem_open},	 {"ftdipin:", 8, ww_ftdipin_open},
	};

	for (size_t i = 0; i < WW_COUNTOF(kinds); i++)
		if (strncmp(place, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return kinds[i].open(p, place + kinds[i].skip, options, err);
	return -ENOENT;
}

static int open_kind(struct ww_port *p, const char *place, struct ww_uri *options, int64_t baud,
		     struct ww_error *err)
{
	int rc;

	if (strncmp(place, "unix:", 5) == 0)
		return ww_unix_open(p, place + 5, err);
	if (strncmp(place, "tcp:", 4) == 0)
		return ww_tcp_open(p, place + 4, err);
	if (strncmp(place, "ftdi:", 5) == 0)
		return ww_ftdi_open(p, place + 5, options, baud, err);
	rc = open_message_kind(p, place, options, err);
	if (p->ops || err->code)
		return rc;
	if (strncmp(place, "tty:", 4) == 0)
		place += 4;
	return ww_tty_open(p, place, options, baud, err);
}

static int open_port(struct ww_port *p, const struct ww_port_setup *s, struct ww_error *err)
{
	int rc = open_kind(p, s->place, s->options, s->baud, err);

	if (rc < 0)
		return rc;
	if (p->settings.bad)
		return ww_fail_nomem(err);
	if (s->read_every_ns > 0 && !p->ops->message && p->fd >= 0) {
		p->input = 0;
		p->events &= ~(uint32_t)EPOLLIN;
		p->tick_ns = s->read_every_ns;
	}
	rc = ww_loop_timer(p->loop, on_tick, p, &p->tick, err);
	if (rc == 0 && p->fd >= 0)
		rc = ww_loop_watch(p->loop, p->fd, p->events, on_ready, p, &p->watch, err);
	return rc;
}

int ww_port_open_setup(const struct ww_port_setup *s, struct ww_port **out, struct ww_error *err)
{
	struct ww_port *p = calloc(1, sizeof(*p));
	struct ww_error why = {0};
	int rc = -ENOMEM;

	if (!p)
		return ww_fail_nomem(err);
	p->loop = s->loop;
	p->ev = s->ev;
	p->usb = s->usb;
	p->memory = s->memory;
	p->fd = -1;
	p->transport.name = "";
	p->transport.settings = "";
	p->events = p->input = EPOLLIN;
	p->level = p->lines = -1;
	p->latency_ms = -1;
	p->tick_ns = WW_PORT_TICK_NS;
	p->place = strdup(s->place);
	if (!p->place)
		ww_fail_nomem(&why);
	else
		rc = open_port(p, s, &why);
	if (rc < 0) {
		ww_port_close(p);
		return ww_fail(err, rc, "%s", why.text);
	}
	p->second_ns = ww_loop_now(p->loop) + WW_NS_PER_S;
	ww_timer_set(p->tick, ww_loop_now(p->loop) + p->tick_ns, p->tick_ns);
	*out = p;
	return 0;
}

int ww_port_open(struct ww_loop *l, const char *place, struct ww_uri *options, int64_t baud,
		 const struct ww_port_events *ev, struct ww_port **out, struct ww_error *err)
{
	const struct ww_port_setup s = {
		.loop = l, .place = place, .options = options, .baud = baud, .ev = *ev};

	return ww_port_open_setup(&s, out, err);
}

bool ww_port_ready(const struct ww_port *p)
{
	return !p->connecting || p->dead;
}

const char *ww_port_listing(const struct ww_port *p, size_t *n)
{
	*n = 0;
	return p->ops->listing ? p->ops->listing(p, n) : NULL;
}

int ww_port_baud(struct ww_port *p, int64_t baud, struct ww_error *err)
{
	int rc;

	if (!p->ops->baud)
		return ww_fail(err, -ENOTSUP, "%s: it has no speed to be set", p->place);
	rc = p->ops->baud(p, baud, err);
	if (rc >= 0)
		ww_port_setting(p, "baud=%lld", (long long)baud);
	return rc;
}

int ww_port_modem(struct ww_port *p, int set, int clear, struct ww_error *err)
{
	if (!ww_port_alive(p) || !p->ops->modem)
		return ww_fail(err, -ENOTSUP, "%s: has no modem lines", p->place);
	return p->ops->modem(p, set, clear, err);
}

int64_t ww_port_outq(const struct ww_port *p)
{
	int64_t own = p->ops && p->ops->outq ? p->ops->outq(p) : -1;

	return own < 0 ? own : own + (int64_t)p->queued;
}

int64_t ww_port_latency_ms(const struct ww_port *p)
{
	return p->latency_ms;
}

const char *ww_port_adapter(const struct ww_port *p)
{
	return p->adapter;
}

const char *ww_port_model(const struct ww_port *p)
{
	return p->model;
}

int ww_port_level(const struct ww_port *p)
{
	return p->level;
}

int ww_port_reach(const struct ww_port *p, struct ww_port_reach *out)
{
	*out = (struct ww_port_reach){.fd = -1};
	if (!ww_port_alive(p) || !p->ops->reach)
		return -ENOTSUP;
	p->ops->reach(p, out);
	return out->fd >= 0 || *out->node ? 0 : -ENOTSUP;
}

const struct ww_transport *ww_port_transport(const struct ww_port *p)
{
	return &p->transport;
}

void ww_port_lateness(const struct ww_port *p, int64_t *max_ns, int64_t *p99_ns)
{
	*max_ns = p->late.n ? p->late.max_ns : -1;
	*p99_ns = ww_late_quantile(&p->late, 0.99);
}

void ww_port_close(struct ww_port *p)
{
	if (!p)
		return;
	enter(p);
	p->closed = true;
	leave(p);
}

/* SPDX-License-Identifier: MIT */
/*
 * A line: its edges as samples of one channel. GPIO lines with the kernel's stamps,
 * modem inputs of a serial port, pins of an FTDI chip.
 */
#include "source/source.h"
#include "bus/port.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

struct line {
	struct ww_source base;
	struct ww_sink sink;
	struct ww_port *port;
	bool started;
};

const struct ww_channel_info ww_line_channel = {.name = "level",
						.quantity = "level",
						.unit = "1",
						.semantics = WW_EDGE,
						.scale = 1,
						.resolution = 1,
						.acc_abs = (double)NAN,
						.acc_rel = (double)NAN};

static void on_edge(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct line *l = ctx;
	int64_t code = *data == '1';

	(void)n;
	/* 'x': edges were lost, which trouble() has told. */
	if (l->started && *data != 'x')
		l->sink.samples(l->sink.ctx, 1, &t.lo_ns, &t.hi_ns, &code);
}

static void on_lost(void *ctx, const struct ww_error *err)
{
	struct line *l = ctx;

	l->sink.lost(l->sink.ctx, err);
}

static void on_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	struct line *l = ctx;

	if (l->started)
		l->sink.gap(l->sink.ctx, t, lost, text);
}

static int line_start(struct ww_source *s, struct ww_error *err)
{
	(void)err;
	((struct line *)s)->started = true;
	return 0;
}

static int64_t line_stop(struct ww_source *s)
{
	((struct line *)s)->started = false;
	return 0;
}

static void line_close(struct ww_source *s)
{
	struct line *l = (struct line *)s;

	ww_port_close(l->port);
	free(l);
}

static const struct ww_source_ops line_ops = {
	.start = line_start,
	.stop = line_stop,
	.close = line_close,
};

static int describe(struct line *l, const struct ww_source_setup *setup, struct ww_uri *uri,
		    struct ww_error *err)
{
	const struct ww_source_info info = {.kind = WW_LINE,
					    .name = "",
					    .uri = setup->uri,
					    .driver = uri->driver,
					    .model = ww_port_model(l->port),
					    .serial = "",
					    .firmware = "",
					    .role = ww_uri_get(uri, "role", ""),
					    .notes = "",
					    .transport = *ww_port_transport(l->port)};

	return l->sink.describe(l->sink.ctx, &info, &ww_line_channel, 1, err);
}

/* A wrong option is told before a chip that is not there. */
static int only_known(struct ww_uri *uri, const char *known, struct ww_error *err)
{
	for (const char *s = known; *s; s += strspn(s, ", ")) {
		char key[32];
		size_t n = strcspn(s, ",");

		snprintf(key, sizeof(key), "%.*s", (int)n, s);
		ww_uri_get(uri, key, "");
		s += n;
	}
	return ww_uri_check_used(uri, known, err);
}

static int open_line(const struct ww_source_setup *setup, struct ww_uri *uri, const char *known,
		     struct ww_source **out, struct ww_error *err)
{
	struct line *l = calloc(1, sizeof(*l));
	struct ww_port_setup ps = {.loop = setup->loop, .options = uri, .memory = setup->memory};
	struct ww_str place = {0};
	int rc;

	if (!l)
		return ww_fail_nomem(err);
	l->base.ops = &line_ops;
	l->sink = setup->sink;
	ps.ev = (struct ww_port_events){.ctx = l,
					.bytes = on_edge,
					.lost = on_lost,
					.trouble = on_trouble};
	ww_str_addf(&place, "%s:%s", uri->driver, uri->place);
	ps.place = place.p;
	rc = place.bad ? ww_fail_nomem(err) : only_known(uri, known, err);
	if (rc == 0)
		rc = ww_port_open_setup(&ps, &l->port, err);
	ww_str_free(&place);
	if (rc == 0)
		rc = describe(l, setup, uri, err);
	if (rc < 0) {
		line_close(&l->base);
		return rc;
	}
	*out = &l->base;
	return 0;
}

static int gpio_open(const struct ww_source_setup *setup, struct ww_uri *uri,
		     struct ww_source **out, struct ww_error *err)
{
	return open_line(setup, uri, "bias, active_low, debounce, role", out, err);
}

static int modem_open(const struct ww_source_setup *setup, struct ww_uri *uri,
		      struct ww_source **out, struct ww_error *err)
{
	return open_line(setup, uri,
			 "line, role, baud, dtr, rts, latency, exclusive, serial, vid, pid, "
			 "interface",
			 out, err);
}

static int ftdipin_open(const struct ww_source_setup *setup, struct ww_uri *uri,
			struct ww_source **out, struct ww_error *err)
{
	return open_line(setup, uri, "pin, role, serial, vid, pid, interface", out, err);
}

const struct ww_driver ww_source_gpio = {
	.name = "gpio",
	.summary = "edges of a GPIO line, stamped by the kernel",
	.example = "gpio:gpiochip0/17?role=wake",
#ifdef WW_WITH_GPIOD
	.available = true,
#endif
	.proven = false,
	.open = gpio_open,
};

const struct ww_driver ww_source_modem = {
	.name = "modem",
	.summary = "edges of a modem input (CTS, DSR, RI, DCD) of a serial port",
	.example = "modem:/dev/ttyUSB0?line=cts&role=wake",
	.available = true,
	.proven = false,
	.open = modem_open,
};

const struct ww_driver ww_source_ftdipin = {
	.name = "ftdipin",
	.summary = "edges of a pin of an FTDI chip, looked at each millisecond",
	.example = "ftdipin:?serial=A7005IDU&pin=D3&role=off",
#ifdef WW_WITH_FTDI
	.available = true,
#endif
	.proven = false,
	.open = ftdipin_open,
};

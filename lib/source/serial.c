/* SPDX-License-Identifier: MIT */
/* A serial line whose bytes are the record: a heartbeat, a console. */
#include "source/source.h"
#include "bus/port.h"
#include "bus/sysfs.h"
#include "base/str.h"

#include <stdio.h>

/* Modem inputs that are wired to something, each a source of its own beside the line. */
static const char *const inputs[] = {"cts", "dsr", "ri", "dcd"};
#define INPUTS WW_COUNTOF(inputs)

struct serial {
	struct ww_source base;
	struct ww_sink sink;
	struct ww_port *port;
	bool started;
	struct {
		const char *role; /* NULL: not wired. Of the URI: lent during open() only */
		bool wired, inverted;
		int64_t hi_ns; /* of the last edge */
	} input[INPUTS];
};

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct serial *s = ctx;

	if (s->started)
		s->sink.bytes(s->sink.ctx, t, data, n);
}

static void on_modem(void *ctx, struct ww_interval t, int lines, int changed)
{
	struct serial *s = ctx;

	for (size_t i = 0; i < INPUTS && s->started; i++) {
		int bit = ww_modem_bit(inputs[i]);

		if (!(changed & bit) || !s->input[i].wired)
			continue;
		/* hi may not fall from one edge to the next. */
		if (t.hi_ns < s->input[i].hi_ns)
			t.hi_ns = s->input[i].hi_ns;
		s->input[i].hi_ns = t.hi_ns;
		s->sink.beside_sample(s->sink.ctx, i, t,
				      ((lines & bit) != 0) != s->input[i].inverted);
	}
}

static void on_lost(void *ctx, const struct ww_error *err)
{
	struct serial *s = ctx;

	s->sink.lost(s->sink.ctx, err);
}

static void on_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	struct serial *s = ctx;

	if (lost != 0)
		s->sink.gap(s->sink.ctx, t, lost, text);
	else
		s->sink.mark(s->sink.ctx, t, WW_MARK_DEVICE, text);
}

static int serial_start(struct ww_source *src, struct ww_error *err)
{
	(void)err;
	((struct serial *)src)->started = true;
	return 0;
}

static int64_t serial_stop(struct ww_source *src)
{
	((struct serial *)src)->started = false;
	return 0;
}

static void serial_close(struct ww_source *src)
{
	struct serial *s = (struct serial *)src;

	ww_port_close(s->port);
	free(s);
}

static void serial_lateness(const struct ww_source *src, int64_t *max_ns, int64_t *p99_ns)
{
	ww_port_lateness(((const struct serial *)src)->port, max_ns, p99_ns);
}

static struct ww_port *serial_port(const struct ww_source *src)
{
	return ((const struct serial *)src)->port;
}

static const struct ww_source_ops serial_ops = {
	.start = serial_start,
	.stop = serial_stop,
	.close = serial_close,
	.lateness = serial_lateness,
	.port = serial_port,
};

/* What hangs on USB tells what it is; the rest keeps silent. */
static int describe(struct serial *s, const struct ww_source_setup *setup, const char *driver,
		    struct ww_uri *uri, struct ww_error *err)
{
	const struct ww_transport *tr = ww_port_transport(s->port);
	struct ww_source_info info = {.kind = WW_SERIAL,
				      .name = "",
				      .uri = setup->uri,
				      .driver = driver,
				      .model = "",
				      .serial = "",
				      .firmware = "",
				      .role = ww_uri_get(uri, "role", ""),
				      .notes = "",
				      .transport = *tr};
	struct ww_tty_info tty;

	if (strcmp(driver, "tty") == 0) {
		ww_tty_info_path(uri->place, 0, &tty);
		info.model = tty.product;
		info.serial = tty.serial;
	}
	return s->sink.describe(s->sink.ctx, &info, NULL, 0, err);
}

/* "cts=wake": CTS is wired to the line of that role; "cts=!wake": and inverted. */
static bool find_wired(struct serial *s, struct ww_uri *uri)
{
	bool any = false;

	for (size_t i = 0; i < INPUTS; i++) {
		const char *role = ww_uri_get(uri, inputs[i], NULL);

		s->input[i].hi_ns = WW_TIME_MIN;
		if (!role || !s->sink.beside)
			continue;
		s->input[i].inverted = *role == '!';
		s->input[i].role = role + s->input[i].inverted;
		any = s->input[i].wired = true;
	}
	return any;
}

static int describe_wired(struct serial *s, const struct ww_source_setup *setup, const char *driver,
			  const char *place, struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < INPUTS && rc == 0; i++) {
		char model[160];
		struct ww_source_info info = {.kind = WW_LINE,
					      .name = "",
					      .uri = setup->uri,
					      .driver = driver,
					      .model = model,
					      .serial = "",
					      .firmware = "",
					      .role = s->input[i].role,
					      .notes = "",
					      .transport = *ww_port_transport(s->port)};

		if (!s->input[i].wired)
			continue;
		info.transport.char_ns = 0;
		snprintf(model, sizeof(model), "%s%s of %.120s", inputs[i],
			 s->input[i].inverted ? ", inverted," : "", place);
		rc = s->sink.beside(s->sink.ctx, i, inputs[i], &info, &ww_line_channel, 1, err);
		s->input[i].role = NULL;
	}
	return rc;
}

static int open_serial(const struct ww_source_setup *setup, struct ww_uri *uri, const char *driver,
		       const char *known, struct ww_source **out, struct ww_error *err)
{
	struct serial *s = calloc(1, sizeof(*s));
	struct ww_port_setup ps = {
		.loop = setup->loop,
		.options = uri,
		.baud = 115200,
		.ev = {.ctx = s, .bytes = on_bytes, .lost = on_lost, .trouble = on_trouble},
		.memory = setup->memory};
	struct ww_str place = {0};
	int rc;

	if (!s)
		return ww_fail_nomem(err);
	s->base.ops = &serial_ops;
	s->sink = setup->sink;
	ww_str_addf(&place, "%s:%s", driver, uri->place);
	if (place.bad) {
		rc = ww_fail_nomem(err);
		goto fail;
	}
	ww_uri_get(uri, "role", "");
	if (strstr(known, "cts") && find_wired(s, uri))
		ps.ev.modem = on_modem;
	ps.place = place.p;
	rc = ww_port_open_setup(&ps, &s->port, err);
	if (rc < 0)
		goto fail;
	rc = ww_uri_check_used(uri, known, err);
	if (rc == 0)
		rc = describe(s, setup, driver, uri, err);
	if (rc == 0)
		rc = describe_wired(s, setup, driver, place.p, err);
	if (rc < 0)
		goto fail;
	ww_str_free(&place);
	*out = &s->base;
	return 0;
fail:
	ww_str_free(&place);
	serial_close(&s->base);
	return rc;
}

#define LINE_OPTIONS                                                                               \
	"baud, bits, parity, stop, flow, dtr, rts, latency, event_char, role, cts, dsr, ri, dcd"

static int open_tty(const struct ww_source_setup *setup, struct ww_uri *uri, struct ww_source **out,
		    struct ww_error *err)
{
	return open_serial(setup, uri, "tty", LINE_OPTIONS ", exclusive", out, err);
}

static int open_unix(const struct ww_source_setup *setup, struct ww_uri *uri,
		     struct ww_source **out, struct ww_error *err)
{
	return open_serial(setup, uri, "unix", "role", out, err);
}

static int open_tcp(const struct ww_source_setup *setup, struct ww_uri *uri, struct ww_source **out,
		    struct ww_error *err)
{
	return open_serial(setup, uri, "tcp", "role", out, err);
}

static int open_ftdi(const struct ww_source_setup *setup, struct ww_uri *uri,
		     struct ww_source **out, struct ww_error *err)
{
	return open_serial(setup, uri, "ftdi", LINE_OPTIONS ", serial, vid, pid, interface", out,
			   err);
}

const struct ww_driver ww_source_serial_tty = {
	.name = "tty",
	.summary = "serial port of the kernel: heartbeat or console",
	.example = "/dev/ttyUSB0?baud=115200",
	.available = true,
	.proven = false,
	.open = open_tty,
};

const struct ww_driver ww_source_serial_unix = {
	.name = "unix",
	.summary = "serial line of a virtual machine or console server on a UNIX socket",
	.example = "unix:/run/vm/serial.sock",
	.available = true,
	.proven = true,
	.open = open_unix,
};

const struct ww_driver ww_source_serial_tcp = {
	.name = "tcp",
	.summary = "serial line of a console server on the network",
	.example = "tcp://console.lan:4001",
	.available = true,
	.proven = true,
	.open = open_tcp,
};

const struct ww_driver ww_source_serial_ftdi = {
	.name = "ftdi",
	.summary = "FTDI chip by libftdi, without the kernel's driver",
	.example = "ftdi:?serial=A7005IDU&baud=115200",
#ifdef WW_WITH_FTDI
	.available = true,
#endif
	.proven = false,
	.open = open_ftdi,
};

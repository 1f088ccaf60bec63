/* SPDX-License-Identifier: MIT */
/* One modem input of a serial port that carries nothing else, as edges. */
#include "bus/portimpl.h"

#include <stdio.h>
#include <sys/ioctl.h>

struct modem {
	struct ww_port *inner;
	int bit;
	bool inverted;
};

static bool level_of(const struct modem *m, int lines)
{
	return ((lines & m->bit) != 0) != m->inverted;
}

/* What the line carries besides is not looked at. */
static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	(void)ctx;
	(void)t;
	(void)data;
	(void)n;
}

static void on_lost(void *ctx, const struct ww_error *err)
{
	struct ww_port *p = ctx;

	ww_port_lost(p, err->code, "%s", err->text);
}

static void on_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	struct ww_port *p = ctx;

	/* Bytes that were lost are nothing here. */
	if (strncmp(text, "modem", 5) == 0)
		ww_port_trouble(p, t, lost, text);
}

static void on_modem(void *ctx, struct ww_interval t, int lines, int changed)
{
	struct ww_port *p = ctx;
	struct modem *m = p->impl;
	uint8_t level = level_of(m, lines) ? '1' : '0';

	/* The port may be closed in there, and is not touched after it. */
	if (changed & m->bit)
		ww_port_message(p, t, &level, 1);
}

static void modem_pump(struct ww_port *p)
{
	(void)p;
}

static void modem_close(struct ww_port *p)
{
	struct modem *m = p->impl;

	if (m)
		ww_port_close(m->inner);
	free(m);
	p->impl = NULL;
}

static const struct ww_port_ops modem_ops = {
	.pump = modem_pump,
	.close = modem_close,
};

static int pick_line(struct ww_port *p, struct modem *m, struct ww_uri *options,
		     struct ww_error *err)
{
	const char *line = options ? ww_uri_get(options, "line", "") : "";

	m->inverted = *line == '!';
	m->bit = ww_modem_bit(line + m->inverted);
	if (m->bit)
		return 0;
	return ww_fail(err, -EINVAL,
		       "%s: option line=%s: expected cts, dsr, ri or dcd (!cts: inverted)",
		       p->place, line);
}

int ww_modem_open(struct ww_port *p, const char *place, struct ww_uri *options,
		  struct ww_error *err)
{
	struct modem *m = calloc(1, sizeof(*m));
	const struct ww_port_setup s = {.loop = p->loop,
					.place = place,
					.options = options,
					.baud = 9600,
					.ev = {.ctx = p,
					       .bytes = on_bytes,
					       .lost = on_lost,
					       .trouble = on_trouble,
					       .modem = on_modem},
					.usb = p->usb,
					.memory = p->memory};
	struct ww_error why = {0};
	int rc;

	if (!m)
		return ww_fail_nomem(err);
	p->impl = m;
	p->ops = &modem_ops;
	p->tick_ns = WW_NS_PER_S; /* the port below has its own */
	rc = pick_line(p, m, options, err);
	if (rc < 0)
		return rc;
	if (!*place ||
	    (strncmp(place, "ftdi:", 5) != 0 && strncmp(place, "tty:", 4) != 0 && *place != '/'))
		return ww_fail(err, -EINVAL,
			       "%s: expected modem:/dev/ttyUSB0 or modem:ftdi: before its options",
			       p->place);
	rc = ww_port_open_setup(&s, &m->inner, &why);
	if (rc < 0)
		return ww_fail(err, rc, "%s", why.text);
	p->level = level_of(m, m->inner->lines);
	p->transport = m->inner->transport;
	p->transport.char_ns = 0;
	p->transport.settings = "";
	snprintf(p->model, sizeof(p->model), "%s of %.100s", ww_uri_get(options, "line", ""),
		 place);
	ww_port_setting(p, "level=%d(at the opening) %s", p->level, m->inner->transport.settings);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * One modem input of a serial port that carries nothing else, as edges; or its RX, on which
 * a pulse reads as a character: at 300 baud one bit is 3.3 ms, and the character is over
 * 33 ms after the pulse began.
 */
#include "bus/portimpl.h"

#include <stdio.h>
#include <sys/ioctl.h>

struct modem {
	struct ww_port *inner;
	int bit; /* TIOCM_; 0: RX */
	bool inverted;
	int64_t char_ns;
	/* On their way to the owner. */
	unsigned n;
	struct ww_interval t[2];
	uint8_t level[2];
};

static bool level_of(const struct modem *m, int lines)
{
	return ((lines & m->bit) != 0) != m->inverted;
}

/* Low from the start bit on and then high: 0x00 (a break), 0x80 ... 0xfe, 0xff. */
static bool is_pulse(uint8_t c)
{
	uint8_t high = (uint8_t)~c;

	return (high & (high + 1)) == 0;
}

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct ww_port *p = ctx;
	struct modem *m = p->impl;

	/* What a line carries beside its modem input is not looked at. */
	if (m->bit || !is_pulse(data[n - 1]))
		return;
	m->t[0] = (struct ww_interval){ww_add_sat(t.lo_ns, -m->char_ns), t.hi_ns - m->char_ns};
	m->t[1] = t;
	m->level[0] = m->inverted ? '0' : '1';
	m->level[1] = m->inverted ? '1' : '0';
	m->n = 2;
	ww_port_pump(p);
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

	if (!(changed & m->bit))
		return;
	m->t[0] = t;
	m->level[0] = level_of(m, lines) ? '1' : '0';
	m->n = 1;
	ww_port_pump(p);
}

static void modem_pump(struct ww_port *p)
{
	struct modem *m = p->impl;
	unsigned n = m->n;

	m->n = 0;
	for (unsigned i = 0; i < n; i++)
		ww_port_message(p, m->t[i], &m->level[i], 1);
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
	if (m->bit || strcmp(line + m->inverted, "rx") == 0)
		return 0;
	return ww_fail(
		err, -EINVAL,
		"%s: option line=%s: expected cts, dsr, ri, dcd, or rx for pulses (!cts: inverted)",
		p->place, line);
}

int ww_modem_open(struct ww_port *p, const char *place, struct ww_uri *options,
		  struct ww_error *err)
{
	struct modem *m = calloc(1, sizeof(*m));
	struct ww_port_setup s = {
		.loop = p->loop,
		.place = place,
		.options = options,
		.baud = 300,
		.ev = {.ctx = p, .bytes = on_bytes, .lost = on_lost, .trouble = on_trouble},
		.usb = p->usb,
		.memory = p->memory};
	struct ww_error why = {0};
	int64_t baud = s.baud;
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
	if (m->bit)
		s.ev.modem = on_modem;
	if (ww_uri_int(options, "baud", 50, 4000000, &baud, err) < 0)
		return -EINVAL;
	m->char_ns = 10 * WW_NS_PER_S / baud;
	rc = ww_port_open_setup(&s, &m->inner, &why);
	if (rc < 0)
		return ww_fail(err, rc, "%s", why.text);
	p->level = m->bit ? level_of(m, m->inner->lines) : m->inverted;
	p->transport = m->inner->transport;
	p->transport.char_ns = 0;
	p->transport.settings = "";
	snprintf(p->model, sizeof(p->model), "%s of %.100s", ww_uri_get(options, "line", ""),
		 place);
	ww_port_setting(p, "level=%d(at the opening) %s", p->level, m->inner->transport.settings);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Modem inputs of any port: what changed, told edge by edge. */
#include "bus/portimpl.h"

#include <sys/ioctl.h>

/* More in one look are noise that no analysis needs one by one. */
#define EDGES_MOST 64

static const struct {
	int bit;
	const char *name;
} inputs[] = {{TIOCM_CTS, "cts"}, {TIOCM_DSR, "dsr"}, {TIOCM_RI, "ri"}, {TIOCM_CD, "dcd"}};

int ww_modem_bit(const char *name)
{
	for (size_t i = 0; i < WW_COUNTOF(inputs); i++)
		if (strcmp(inputs[i].name, name) == 0)
			return inputs[i].bit;
	return 0;
}

void ww_port_line_edges(struct ww_port *p, struct ww_interval t, int bit, unsigned edges)
{
	if (edges > EDGES_MOST) {
		unsigned left_out = (edges - EDGES_MOST + 1) & ~1u;

		ww_port_trouble(p, t, left_out, "modem line: more edges than can be told apart");
		edges -= left_out;
	}
	for (unsigned i = 0; i < edges && ww_port_alive(p); i++) {
		p->lines ^= bit;
		if (p->ev.modem)
			p->ev.modem(p->ev.ctx, t, p->lines, bit);
	}
}

void ww_port_lines(struct ww_port *p, struct ww_interval t, int now)
{
	int was = p->lines;

	if (was < 0) {
		p->lines = now;
		return;
	}
	for (size_t i = 0; i < WW_COUNTOF(inputs); i++)
		if ((was ^ now) & inputs[i].bit)
			ww_port_line_edges(p, t, inputs[i].bit, 1);
}

void ww_port_lines_setting(struct ww_port *p)
{
	for (size_t i = 0; i < WW_COUNTOF(inputs); i++)
		ww_port_setting(p, "%s=%d", inputs[i].name, (p->lines & inputs[i].bit) != 0);
}

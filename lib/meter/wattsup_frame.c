/* SPDX-License-Identifier: MIT */
#include "meter/wattsup_frame.h"

const struct ww_wu_field ww_wu_field[WW_WU_FIELDS] = {
	{0, "power", 0, 50000},
	{1, "voltage", 900, 2800},
	{2, "current", 0, 20000},
	{3, "energy", 0, UINT32_MAX},
	{13, "power_factor", 0, 100},
	{16, "frequency", 400, 700},
	{17, "apparent_power", 0, INT32_MAX},
	{7, "power_max", 0, 50000},
	{8, "voltage_max", 0, INT32_MAX},
	{9, "current_max", 0, INT32_MAX},
	{10, "power_min", 0, INT32_MAX},
	{11, "voltage_min", 0, INT32_MAX},
	{12, "current_min", 0, INT32_MAX},
	{14, "duty_cycle", 0, 100},
	{15, "power_cycles", 0, 255},
	{4, "cost", 0, UINT32_MAX},
	{5, "energy_month", 0, UINT32_MAX},
	{6, "cost_month", 0, UINT32_MAX},
};

static enum ww_wu_event open_packet(struct ww_wu_frame *f, enum ww_wu_event what)
{
	/* buf still holds the line before it: the packet's bytes overwrite it later. */
	f->buf[f->n] = '\0';
	f->n = 0;
	f->in = true;
	return what;
}

static enum ww_wu_event outside(struct ww_wu_frame *f, struct ww_interval t, char c)
{
	bool ends = c == '\r' || c == '\n' || c == ';';

	if (ends || f->n == sizeof(f->buf) - 1) {
		size_t n = f->n;

		f->buf[n] = '\0';
		f->n = 0;
		return n == 0 ? WW_WU_NONE : c == ';' ? WW_WU_HEADLESS : WW_WU_LINE;
	}
	if (f->n == 0)
		f->t = t;
	/* What is no text becomes a point, so that a mark stays readable. */
	f->buf[f->n++] = c == '\t' ? ' ' : c >= ' ' && c <= '~' ? c : '.';
	return WW_WU_NONE;
}

enum ww_wu_event ww_wu_byte(struct ww_wu_frame *f, struct ww_interval t, char c)
{
	enum ww_wu_event ev = WW_WU_NONE;

	/* Real meters strew NULs, also into the middle of a number. */
	if (c == '\0')
		return WW_WU_NONE;
	if (c == '#') {
		ev = open_packet(f, f->in ? WW_WU_UNENDED : f->n ? WW_WU_LINE : WW_WU_NONE);
		f->t = t;
		return ev;
	}
	if (!f->in)
		return outside(f, t, c);
	if (c == '\r' || c == '\n' || c == '\t')
		return WW_WU_NONE;
	if (c != ';' && f->n < sizeof(f->buf) - 1) {
		f->buf[f->n++] = c;
		return WW_WU_NONE;
	}
	f->buf[f->n] = '\0';
	f->n = 0;
	f->in = false;
	return c == ';' ? WW_WU_PACKET_END : WW_WU_TOO_LONG;
}

int ww_wu_split(char *packet, char **arg, size_t max)
{
	char *s = packet;
	int64_t count;
	size_t n = 0;

	for (;;) {
		arg[n++] = s;
		s += strcspn(s, ",");
		if (!*s || n == max)
			break;
		*s++ = '\0';
	}
	if (n < 3 || *s || !arg[0][0] || arg[0][1] || !ww_wu_number(arg[2], &count) ||
	    count != (int64_t)n - 3)
		return -1;
	return (int)n - 3;
}

bool ww_wu_number(const char *s, int64_t *v)
{
	bool minus = *s == '-';
	int64_t x = 0;
	size_t n = 0;

	if (strcmp(s, "_") == 0 || *s == '\0') {
		*v = WW_MISSING;
		return true;
	}
	for (s += minus; *s >= '0' && *s <= '9' && n < 11; s++, n++)
		x = x * 10 + (*s - '0');
	if (n == 0 || *s || x > UINT32_MAX)
		return false;
	*v = minus ? -x : x;
	return true;
}

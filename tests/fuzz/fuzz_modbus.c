/* SPDX-License-Identifier: MIT */
/*
 * Modbus on any bytes at any times. Input: flags (1: TCP; the rest is the count asked
 * for), then chunks as in fuzz_meter: length (7 bits; the 8th: time passes first), bytes.
 * What must hold: frames lie within their bytes, an answer is the one that was asked for,
 * deadlines move on.
 */
#include "meter/modbus.h"

static void on_send(void *ctx, const void *data, size_t n)
{
	(void)ctx;
	if (!data || (n != 8 && n != 12))
		abort();
}

static void frames(const uint8_t *p, size_t n)
{
	struct ww_mb_answer a;
	int rtu = ww_mb_rtu_frame(p, n, &a);

	if (rtu > (int)n || rtu < -1)
		abort();
	if (rtu > 0 && a.bytes && (a.data < p || a.data + a.bytes > p + n || a.bytes % 2))
		abort();
	rtu = ww_mb_tcp_frame(p, n, &a);
	if (rtu > (int)n || rtu < -1)
		abort();
	if (rtu > 0 && a.bytes && (a.data < p || a.data + a.bytes > p + n))
		abort();
}

static void look(struct ww_modbus *m, enum ww_mb_event ev)
{
	char text[160];

	if (ev != WW_MB_NONE && m->waiting)
		abort();
	if (ev == WW_MB_REFUSED && !m->exception)
		abort();
	ww_modbus_why(m, text, sizeof(text));
	if (!*text || m->n > WW_MB_BUF)
		abort();
}

static void pass(struct ww_modbus *m, int64_t *now, int64_t to, const struct ww_meter_out *out)
{
	int64_t d;

	for (unsigned turns = 0; (d = ww_modbus_deadline(m)) <= to; turns++) {
		if (turns > 100)
			abort();
		if (d > *now)
			*now = d;
		look(m, ww_modbus_tick(m, *now, out));
	}
	*now = to;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	const struct ww_meter_out out = {.send = on_send};
	struct ww_modbus *m = calloc(1, sizeof(*m));
	struct ww_uri uri;
	int64_t now = 0, before = 0;
	uint16_t count;

	if (!m)
		abort();
	if (n < 1) {
		free(m);
		return 0;
	}
	if (ww_uri_parse(*p & 1 ? "x:tcp://h:502" : "x:/dev/x", &uri, NULL) < 0 ||
	    ww_modbus_init(m, &uri, 9600, 0, NULL) < 0)
		abort();
	ww_uri_free(&uri);
	count = (uint16_t)(*p >> 1);
	frames(p + 1, n - 1);
	for (p++, n--; n;) {
		size_t k = *p & 0x7f;

		if (!ww_modbus_busy(m))
			ww_modbus_read(m, 1, WW_MB_INPUT, 0, count, now, &out);
		if (*p & 0x80) {
			before = now;
			pass(m, &now, now + 350 * WW_NS_PER_MS, &out);
		}
		p++;
		n--;
		k = k < n ? k : n;
		look(m, ww_modbus_feed(m, (struct ww_interval){before, now}, p, k));
		p += k;
		n -= k;
	}
	free(m);
	return 0;
}

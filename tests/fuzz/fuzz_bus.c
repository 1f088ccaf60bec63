/* SPDX-License-Identifier: MIT */
/* What the bus parses: FTDI packets, host:port, options of a line, GPIO numbers. */
#include "bus/ftdi.h"
#include "bus/gpioutil.h"
#include "bus/portimpl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void packets(const uint8_t *data, size_t n, size_t max_packet)
{
	struct ww_ftdi_status st;
	uint8_t *copy = malloc(n ? n : 1);

	if (!copy)
		return;
	if (n)
		memcpy(copy, data, n);
	/* Each packet holds two bytes that are no data. */
	if (ww_ftdi_strip(copy, n, max_packet, &st) + 2 * (size_t)st.packets > n)
		abort();
	free(copy);
}

static void text(const char *s)
{
	struct ww_error err = {0};
	char host[40], port[12];
	struct ww_line line;
	struct ww_uri u;
	unsigned v;

	if (ww_hostport(s, host, sizeof(host), port, sizeof(port), &err) == 0 && (!*host || !*port))
		abort();
	if (ww_gpio_number(s, &v) && v > 999999)
		abort();
	ww_error_clear(&err);
	if (ww_uri_parse(s, &u, &err) < 0)
		return;
	if (ww_line_options(&u, 0, &line, &err) == 0 &&
	    (line.baud < 1 || line.bits < 5 || line.bits > 8 || ww_line_char_ns(&line) < 0))
		abort();
	ww_uri_free(&u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *s;

	if (!n)
		return 0;
	packets(data + 1, n - 1, data[0] & 1 ? 512 : data[0]);
	s = malloc(n);
	if (!s)
		return 0;
	memcpy(s, data + 1, n - 1);
	s[n - 1] = '\0';
	text(s);
	free(s);
	return 0;
}

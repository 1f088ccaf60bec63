/* SPDX-License-Identifier: MIT */
/*
 * What the DUT says of itself between its beats (text/beat.h), as meta "dut.*", so that
 * a trace tells its environment without being analysed. The bytes are kept in any case.
 */
#include "capture/capture.h"
#include "base/str.h"
#include "text/beat.h"

#define KEYS	40
#define MOST	4096 /* bytes of one value */
#define AT_ONCE 256

struct ww_dutinfo {
	struct ww_recorder *rec;
	struct ww_beat_decoder dec;
	size_t n;
	struct {
		char *key;
		struct ww_str value;
	} item[KEYS];
};

static size_t find(struct ww_dutinfo *d, const char *key, size_t len)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (strlen(d->item[i].key) == len && memcmp(d->item[i].key, key, len) == 0)
			return i;
	if (d->n == KEYS)
		return KEYS;
	d->item[i].key = strndup(key, len);
	if (!d->item[i].key)
		return KEYS;
	d->n++;
	return i;
}

/* "KEY" begins a value, "KEY+" goes on with it. */
static void on_info(void *ctx, struct ww_interval t, const char *key, const char *value)
{
	struct ww_dutinfo *d = ctx;
	size_t len = strlen(key), i;
	bool more = len > 0 && key[len - 1] == '+';
	struct ww_str name = {0};

	(void)t;
	len -= more;
	if (len == 0 || strcmp(key, "info") == 0 || strcmp(key, "beat") == 0)
		return;
	i = find(d, key, len);
	if (i == KEYS)
		return;
	/* A value whose beginning was not heard is not kept by its end. */
	if (more && d->item[i].value.n == 0)
		return;
	if (!more)
		ww_str_reset(&d->item[i].value);
	if (d->item[i].value.n + strlen(value) <= MOST)
		ww_str_add(&d->item[i].value, value);
	ww_str_add(&name, "dut.");
	ww_str_add(&name, d->item[i].key);
	if (!name.bad && !d->item[i].value.bad && d->item[i].value.p)
		ww_recorder_put_meta(d->rec, name.p, d->item[i].value.p);
	ww_str_free(&name);
}

struct ww_dutinfo *ww_dutinfo_new(struct ww_recorder *rec)
{
	struct ww_dutinfo *d = calloc(1, sizeof(*d));

	if (d)
		d->rec = rec;
	return d;
}

void ww_dutinfo_feed(struct ww_dutinfo *d, struct ww_interval t, const uint8_t *data, size_t n)
{
	const struct ww_beat_sink sink = {.ctx = d, .info = on_info};
	struct ww_interval when[AT_ONCE];

	for (size_t i = 0; i < AT_ONCE && i < n; i++)
		when[i] = t;
	for (size_t i = 0; i < n; i += AT_ONCE)
		ww_beat_feed(&d->dec, &sink, when, data + i, n - i < AT_ONCE ? n - i : AT_ONCE);
}

void ww_dutinfo_free(struct ww_dutinfo *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++) {
		free(d->item[i].key);
		ww_str_free(&d->item[i].value);
	}
	free(d);
}

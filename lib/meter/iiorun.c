/* SPDX-License-Identifier: MIT */
/* Reading a device of IIO: by its files, or by its buffer. */
#include "meter/iio.h"

#include <math.h>
#include <stdio.h>

#define SETUP_NS (5 * WW_NS_PER_S)
#define LENGTH	 512 /* scans that the kernel keeps for us */
/* A stamp further from its arrival than this is of another clock, or nonsense. */
#define FAR_NS	 (10 * WW_NS_PER_S)
#define SLACK_NS WW_NS_PER_MS

/* ------------------------------------------------------------- its beginning */

static void poll_files(struct ww_iio *s, int64_t now_ns, const char *why,
		       const struct ww_meter_out *out)
{
	if (why && s->length > 0) {
		char text[220];

		s->phase = WW_IIO_OFF;
		snprintf(text, sizeof(text),
			 "its buffer cannot be used (%s): as root, or with write access to its "
			 "files in /sys and its node in /dev by a udev rule; buffer=0 polls",
			 why);
		out->fail(out->ctx, -EACCES, text);
		return;
	}
	if (why)
		ww_meter_tell(out, (struct ww_interval){now_ns, now_ns},
			      "its buffer cannot be used (%s): its files are polled", why);
	s->phase = WW_IIO_POLL;
	ww_sysask_start(&s->ask, now_ns);
}

/* Which elements, which clock; and what came of it. */
static void set_up(struct ww_iio *s, int64_t now_ns, const struct ww_meter_out *out)
{
	char text[4000];
	size_t k = 0;

	for (size_t i = 0; i < s->scan.n; i++) {
		const char *name = s->scan.e[i].name;
		bool wanted = strcmp(name, "in_timestamp") == 0;

		for (size_t j = 0; j < s->n; j++)
			wanted |= strcmp(s->item[j].element, name) == 0;
		if (k + 160 < sizeof(text))
			k += (size_t)snprintf(text + k, sizeof(text) - k,
					      "scan_elements/%s_en:=%d\nscan_elements/%s_en\n",
					      name, wanted, name);
	}
	k += (size_t)snprintf(text + k, sizeof(text) - k,
			      "current_timestamp_clock:=boottime\ncurrent_timestamp_clock\n");
	s->phase = WW_IIO_SETUP;
	s->limit_ns = now_ns + SETUP_NS;
	out->send(out->ctx, text, k);
}

void ww_iio_begin(struct ww_iio *s, int64_t now_ns, const struct ww_meter_out *out)
{
	bool slow = s->every_ns > s->conversion_ns && s->every_ns > 0;

	s->has_last = false;
	s->dts = 0;
	if (s->length == 0 || (s->length < 0 && (slow || !s->has_buffer)))
		poll_files(s, now_ns, NULL, out);
	else if (!s->has_buffer)
		poll_files(s, now_ns, "it has none", out);
	else
		set_up(s, now_ns, out);
}

/* Is this element on? By what is read back: others may be on as well. */
static void read_back(struct ww_iio *s, const char *text, size_t n)
{
	struct ww_sysline l;

	for (size_t i = 0; i < s->scan.n; i++) {
		const char *p = text;
		int64_t on = 0;
		char name[80];

		snprintf(name, sizeof(name), "scan_elements/%s_en", s->scan.e[i].name);
		while (ww_sysline_next(&p, text + n, &l))
			if (l.kind == '=' && ww_sysline_is(&l, name))
				ww_sysline_int(&l, &on);
		s->scan.e[i].on = on == 1;
	}
	s->boottime = false;
	for (const char *p = text; ww_sysline_next(&p, text + n, &l);)
		if (l.kind == '=' && ww_sysline_is(&l, "current_timestamp_clock"))
			s->boottime = l.n == 8 && memcmp(l.value, "boottime", 8) == 0;
}

static void set_up_done(struct ww_iio *s, struct ww_interval t, const char *text, size_t n,
			const struct ww_meter_out *out)
{
	const char *p = text;
	struct ww_sysline l;
	char why[32] = "", ask[32];
	size_t have = 0;

	while (ww_sysline_next(&p, text + n, &l))
		if (l.kind == '!' && !*why && l.name_n > 14 &&
		    memcmp(l.name, "scan_elements/", 14) == 0)
			ww_sysline_text(&l, why, sizeof(why));
	read_back(s, text, n);
	for (size_t i = 0; i < s->n; i++) {
		const struct ww_scan_element *e = ww_scan_find(&s->scan, s->item[i].element);

		have += e && e->on;
	}
	if (*why || have < s->n || !ww_scan_layout(&s->scan)) {
		poll_files(s, t.hi_ns, *why ? why : "not all channels are in it", out);
		return;
	}
	if (!s->boottime)
		ww_meter_tell(out, t,
			      "the kernel cannot stamp its scans on CLOCK_BOOTTIME: their times "
			      "are those of their arrival");
	s->phase = WW_IIO_BEGIN;
	s->limit_ns = t.hi_ns + SETUP_NS;
	snprintf(ask, sizeof(ask), "buffer=%lld", (long long)(s->length > 0 ? s->length : LENGTH));
	out->send(out->ctx, ask, strlen(ask));
}

/* --------------------------------------------------------------------- scans */

static int64_t code_of(const struct ww_iio_item *i, int64_t raw)
{
	if (raw > WW_SYSVAL_MOST || raw < -WW_SYSVAL_MOST)
		return WW_MISSING;
	return i->negative ? -raw : raw;
}

/* When a scan was made: the kernel's stamp where it can be one, else its arrival. */
static struct ww_interval time_of(struct ww_iio *s, struct ww_interval t, const uint8_t *scan,
				  const struct ww_meter_out *out)
{
	const struct ww_scan_element *e = ww_scan_find(&s->scan, "in_timestamp");
	int64_t at;

	if (!s->boottime || !e || !e->on)
		return t;
	at = ww_scan_value(e, scan);
	if (ww_since(at, t.hi_ns) <= SLACK_NS && ww_since(t.hi_ns, at) < FAR_NS) {
		at = at < t.hi_ns ? at : t.hi_ns;
		return (struct ww_interval){at, at};
	}
	if (!s->nonsense_told)
		ww_meter_tell(out, t, "a scan's time is not that of its arrival: left aside");
	s->nonsense_told = true;
	return t;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The usual distance of scans: the middle one of the last. 0: not known yet. */
static int64_t usual(const struct ww_iio *s)
{
	int64_t copy[WW_COUNTOF(s->dt)];

	if (s->dts < WW_COUNTOF(s->dt))
		return 0;
	memcpy(copy, s->dt, sizeof(copy));
	qsort(copy, WW_COUNTOF(copy), sizeof(*copy), by_size);
	return copy[WW_COUNTOF(copy) / 2];
}

/* A full buffer drops scans without a word: only their times tell. */
static void watch_loss(struct ww_iio *s, struct ww_interval t, const struct ww_meter_out *out)
{
	int64_t dt = ww_since(ww_iv_mid(t), ww_iv_mid(s->last)), step = usual(s);

	if (!s->has_last || t.lo_ns != t.hi_ns || s->last.lo_ns != s->last.hi_ns)
		return;
	if (step > 0 && dt > 3 * step && dt > 3 * s->conversion_ns) {
		out->loss(out->ctx, (struct ww_interval){s->last.hi_ns, t.lo_ns},
			  (dt + step / 2) / step - 1, "overrun");
		return;
	}
	s->dt[s->dts++ % WW_COUNTOF(s->dt)] = dt;
	if (s->dts >= 2 * WW_COUNTOF(s->dt))
		s->dts -= WW_COUNTOF(s->dt);
}

static void scans(struct ww_iio *s, struct ww_interval t, const uint8_t *p, size_t n,
		  const struct ww_meter_out *out)
{
	int64_t codes[WW_IIO_ITEMS];

	if (s->phase != WW_IIO_RUN)
		return;
	if (!s->scan.bytes || n % s->scan.bytes)
		ww_meter_tell(out, t, "%zu bytes are no whole scans of %zu", n, s->scan.bytes);
	for (; n >= s->scan.bytes; p += s->scan.bytes, n -= s->scan.bytes) {
		struct ww_interval at = time_of(s, t, p, out);

		/* Never backwards: a stamp before the last one is none. */
		if (s->has_last && at.hi_ns < s->last.hi_ns)
			at = t;
		watch_loss(s, at, out);
		for (size_t i = 0; i < s->n; i++)
			codes[i] = code_of(&s->item[i],
					   ww_scan_value(ww_scan_find(&s->scan, s->item[i].element),
							 p));
		s->has_last = true;
		s->last = at;
		out->reading(out->ctx, at, codes);
	}
	s->limit_ns = ww_add_sat(t.hi_ns, SETUP_NS + 3 * s->conversion_ns);
}

/* --------------------------------------------------------------------- files */

static void values(struct ww_iio *s, struct ww_interval t, const char *text, size_t n,
		   const struct ww_meter_out *out)
{
	int64_t codes[WW_IIO_ITEMS];
	size_t good = 0;
	char why[32] = "";

	for (size_t i = 0; i < s->n; i++) {
		struct ww_sysline l;
		int64_t v;

		codes[i] = WW_MISSING;
		if (!ww_sysline_find(text, n, s->item[i].file, &l))
			continue;
		if (ww_sysline_int(&l, &v)) {
			codes[i] = code_of(&s->item[i], v);
			good++;
		} else {
			ww_sysline_why(&l, why, sizeof(why));
		}
	}
	if (good) {
		ww_sysask_good(&s->ask, t, out);
		out->reading(out->ctx, t, codes);
	} else if (*why) {
		ww_sysask_bad(&s->ask, t, why, out);
	}
}

void ww_iio_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		 const struct ww_meter_out *out)
{
	struct ww_iio *s = state;
	const char *text = (const char *)p + 1;
	struct ww_sysline l;
	char why[32];

	if (n < 2 || !s->n || s->phase == WW_IIO_OFF)
		return;
	if (p[0] == 'B') {
		scans(s, t, p + 1, n - 1, out);
		return;
	}
	if (p[0] != 'T')
		return;
	n--;
	if (s->phase == WW_IIO_POLL) {
		values(s, t, text, n, out);
	} else if (s->phase == WW_IIO_SETUP && n > 14 && memcmp(text, "scan_elements/", 14) == 0) {
		set_up_done(s, t, text, n, out);
	} else if (s->phase == WW_IIO_BEGIN && ww_sysline_find(text, n, "buffer", &l)) {
		ww_sysline_text(&l, why, sizeof(why));
		if (l.kind != '=') {
			poll_files(s, t.hi_ns, why, out);
			return;
		}
		s->phase = WW_IIO_RUN;
		s->limit_ns = t.hi_ns + SETUP_NS + 3 * s->conversion_ns;
		/* Its period is that of the conversions now. */
		out->identity(out->ctx, NULL, NULL, NULL);
	}
}

int64_t ww_iio_deadline(const void *state)
{
	const struct ww_iio *s = state;

	switch (s->phase) {
	case WW_IIO_POLL:
		return ww_sysask_deadline(&s->ask);
	case WW_IIO_OFF:
		return WW_TIME_MAX;
	default:
		return s->limit_ns;
	}
}

void ww_iio_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct ww_iio *s = state;
	char ask[WW_IIO_ITEMS * 42];
	size_t k = 0;

	if (s->phase == WW_IIO_POLL && ww_sysask_due(&s->ask, now_ns, out)) {
		for (size_t i = 0; i < s->n; i++)
			k += (size_t)snprintf(ask + k, sizeof(ask) - k, "%s%s", i ? "\n" : "",
					      s->item[i].file);
		out->send(out->ctx, ask, k);
	} else if (s->phase == WW_IIO_RUN && now_ns >= s->limit_ns) {
		if (s->has_last)
			out->loss(out->ctx, (struct ww_interval){s->last.hi_ns, now_ns}, -1,
				  "silent");
		s->has_last = false;
		s->dts = 0;
		/* What is in a scan can be said only while it is off. */
		out->send(out->ctx, "buffer=0", 8);
		set_up(s, now_ns, out);
	} else if (s->phase > WW_IIO_POLL && s->phase < WW_IIO_RUN && now_ns >= s->limit_ns) {
		/* Writing to its files hangs: asked again. */
		set_up(s, now_ns, out);
	}
}

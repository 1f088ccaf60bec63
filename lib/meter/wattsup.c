/* SPDX-License-Identifier: MIT */
/*
 * Watts up? Standard, PRO, ES, .NET and blind modules: packets of text
 * "#c,s,n,a1,...,an;" without a checksum, a record of 16 or 18 integers each
 * second. A meter that a killed program left streaming is stopped first.
 */
#include "meter/pace.h"
#include "meter/wattsup_frame.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define WW_WU_FIELDS 18
#define REPLY_NS     (2 * WW_NS_PER_S)
#define QUIET_NS     (300 * WW_NS_PER_MS)
#define SILENT	     3 /* periods without a record */

enum phase { IDLE, DRAIN, ASK, BEGIN, RUN, DEAD };

struct wattsup {
	enum phase phase;
	int64_t period_ns, deadline_ns, limit_ns, begun_ns;
	int64_t baud;
	bool all;
	unsigned tries;
	size_t variant; /* of the reserved argument */

	struct ww_wu_frame frame;
	struct ww_interval t; /* first byte of the packet at hand */
	uint64_t junk;	      /* bytes outside packets since the last packet */
	uint64_t heard;	      /* bytes since start */
	uint64_t packets;

	/* the stream */
	bool first, restart, has_last, damaged;
	struct ww_interval last;     /* last record that was given */
	int64_t told_ns, told;	     /* silence already told: up to when, how many records */
	int64_t value[WW_WU_FIELDS]; /* of the last record */
	uint32_t beyond;	     /* fields that are out of their range now */
};

#define USUAL 7 /* channels without all=1 */

/* Firmware differs in what it takes as the reserved argument. */
static const char *const reserved[] = {"0", "-", "_", ""};

static void send_text(const struct ww_meter_out *out, const char *s)
{
	out->send(out->ctx, s, strlen(s));
}

WW_PRINTF(3, 4)
static void tell(const struct ww_meter_out *out, struct ww_interval t, const char *fmt, ...)
{
	char text[WW_WU_PACKET + 64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out->event(out->ctx, t, WW_MARK_DEVICE, text);
}

/* Intervals may be open: a port that was never seen empty. */
static int64_t since(int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_sub_overflow(a, b, &r) ? (a > b ? WW_TIME_MAX : WW_TIME_MIN) : r;
}

static void to_phase(struct wattsup *w, enum phase p, int64_t deadline_ns)
{
	w->phase = p;
	w->deadline_ns = deadline_ns;
}

static void give_up(struct wattsup *w, const struct ww_meter_out *out, int code, const char *text)
{
	to_phase(w, DEAD, WW_TIME_MAX);
	out->fail(out->ctx, code, text);
}

static void quieten(struct wattsup *w, int64_t now, const struct ww_meter_out *out)
{
	/* What a killed program left behind is ended before anything is asked. */
	w->tries++;
	send_text(out, "\x18#L,R,0;");
	w->limit_ns = now + REPLY_NS;
	to_phase(w, DRAIN, now + QUIET_NS);
}

static void send_begin(struct wattsup *w, int64_t now, const struct ww_meter_out *out)
{
	char text[64];

	snprintf(text, sizeof(text), "#L,W,3,E,%s,%lld;", reserved[w->variant],
		 (long long)(w->period_ns / WW_NS_PER_S));
	send_text(out, text);
	w->begun_ns = now;
	w->first = true;
	w->restart = false;
}

static void begin(struct wattsup *w, int64_t now, const struct ww_meter_out *out)
{
	send_begin(w, now, out);
	to_phase(w, BEGIN, now + w->period_ns + REPLY_NS);
}

static void ranges(struct wattsup *w, const int64_t *v, const struct ww_meter_out *out)
{
	for (unsigned i = 0; i < WW_WU_FIELDS; i++) {
		int64_t x = v[ww_wu_field[i].index];
		uint32_t bit = 1u << i;
		bool bad = x != WW_MISSING && (x < ww_wu_field[i].lo || x > ww_wu_field[i].hi);

		if (bad && !(w->beyond & bit))
			tell(out, w->t, "over-range: %s reads %lld, beyond %lld..%lld",
			     ww_wu_field[i].name, (long long)x, (long long)ww_wu_field[i].lo,
			     (long long)ww_wu_field[i].hi);
		w->beyond = bad ? w->beyond | bit : w->beyond & ~bit;
	}
}

/* The register has 4 bytes: a fall from its upper to its lower half is its wrap. */
static void check_register(struct wattsup *w, int64_t wh, const struct ww_meter_out *out)
{
	int64_t was = w->has_last ? w->value[3] : WW_MISSING;
	char text[96];

	if (wh == WW_MISSING || was == WW_MISSING || wh >= was || was - wh > UINT32_MAX / 2)
		return;
	snprintf(text, sizeof(text), "energy register fell from %lld.%lld to %lld.%lld Wh",
		 (long long)(was / 10), (long long)(was % 10), (long long)(wh / 10),
		 (long long)(wh % 10));
	out->event(out->ctx, w->t, WW_MARK_RESET, text);
}

/* Records that should have come since the last one and were not told yet. */
static void account(struct wattsup *w, const struct ww_meter_out *out)
{
	int64_t from = w->told ? w->told_ns : w->last.hi_ns;
	int64_t dt = since(ww_iv_mid(w->t), ww_iv_mid(w->last)), n;
	const char *why = w->told ? "silent" : w->damaged ? "damaged" : "missing";

	if (!w->has_last || since(w->t.lo_ns, w->last.hi_ns) <= w->period_ns * 3 / 2)
		return;
	n = ww_add_sat(dt, w->period_ns / 2) / w->period_ns - 1 - w->told;
	if (n > 0 && from < w->t.lo_ns)
		out->loss(out->ctx, ww_lost_before(from, w->t, w->period_ns), n, why);
}

static void record(struct wattsup *w, const int64_t *v, const struct ww_meter_out *out)
{
	int64_t codes[WW_METER_CHANNELS];
	bool early = w->first && since(w->t.hi_ns, w->begun_ns) < w->period_ns / 2;
	bool again = w->has_last && since(w->t.hi_ns, w->last.lo_ns) < w->period_ns / 2 &&
		     memcmp(v, w->value, sizeof(w->value)) == 0;

	to_phase(w, RUN, ww_add_sat(w->t.hi_ns, SILENT * w->period_ns));
	w->first = false;
	if (early) {
		tell(out, w->t, "stale: a first record %lld ms after the start, left out",
		     (long long)(since(w->t.hi_ns, w->begun_ns) / WW_NS_PER_MS));
		return;
	}
	if (again) {
		tell(out, w->t, "repeated record, left out");
		return;
	}
	account(w, out);
	ranges(w, v, out);
	check_register(w, v[3], out);
	memcpy(w->value, v, sizeof(w->value));
	w->last = w->t;
	w->has_last = true;
	w->told = 0;
	w->damaged = false;
	for (size_t i = 0; i < WW_METER_CHANNELS; i++)
		codes[i] = i < WW_WU_FIELDS ? v[ww_wu_field[i].index] : WW_MISSING;
	out->reading(out->ctx, w->t, codes);
}

static void damaged(struct wattsup *w, const struct ww_meter_out *out, const char *what)
{
	if (w->phase != RUN)
		return;
	w->damaged = true;
	tell(out, w->t, "damaged packet left out: %s", what);
}

static void version(struct wattsup *w, char *const *arg, size_t n, const struct ww_meter_out *out)
{
	static const char *const models[] = {"Watts up? Standard", "Watts up? PRO", "Watts up? ES",
					     "Watts up? .NET", "Watts up? blind module"};
	char firmware[128], model[32];
	int64_t m = -1;

	if (w->phase == BEGIN && w->variant + 1 < WW_COUNTOF(reserved)) {
		/* A command that it does not know is answered with the version. */
		w->variant++;
		begin(w, w->t.hi_ns, out);
	}
	if (w->phase != ASK || n < 6)
		return;
	ww_wu_number(arg[0], &m);
	snprintf(model, sizeof(model), "Watts up? model %.8s", arg[0]);
	snprintf(firmware, sizeof(firmware), "hardware %.8s.%.8s firmware %.8s.%.8s %.16s", arg[2],
		 arg[3], arg[4], arg[5], n > 6 ? arg[6] : "");
	out->identity(out->ctx, m >= 0 && m < (int64_t)WW_COUNTOF(models) ? models[m] : model, NULL,
		      firmware);
	if (strcmp(arg[3], "1") == 0 && w->baud != 19200)
		tell(out, w->t, "hardware minor 1 is made for 19200 baud: use ?baud=19200");
	begin(w, w->t.hi_ns, out);
}

static void packet(struct wattsup *w, char *s, const struct ww_meter_out *out)
{
	char *arg[WW_WU_FIELDS + 48];
	int64_t v[WW_WU_FIELDS];
	int n = ww_wu_split(s, arg, WW_COUNTOF(arg));

	if (n < 0) {
		damaged(w, out, "not as many values as it announces");
		return;
	}
	w->packets++;
	if (arg[0][0] == 'v')
		version(w, arg + 3, (size_t)n, out);
	if (arg[0][0] != 'd' || (w->phase != RUN && w->phase != BEGIN))
		return;
	if (n != 16 && n != WW_WU_FIELDS) {
		damaged(w, out, "neither 16 nor 18 values");
		return;
	}
	for (int i = 0; i < WW_WU_FIELDS; i++) {
		v[i] = WW_MISSING;
		if (i < n && !ww_wu_number(arg[3 + i], &v[i])) {
			damaged(w, out, "a value is no number");
			return;
		}
	}
	record(w, v, out);
}

/* Text between packets: a banner after a restart of the meter, or noise. */
static void outside(struct wattsup *w, const struct ww_meter_out *out)
{
	if (!strstr(w->frame.buf, "Revision")) {
		w->junk += strlen(w->frame.buf);
		return;
	}
	tell(out, w->frame.t, "banner: %s", w->frame.buf);
	if (w->phase == RUN) {
		w->restart = true;
		w->deadline_ns = ww_add_sat(w->frame.t.hi_ns, QUIET_NS);
	}
}

/* The '#' may have passed before the port was open: "d,-,18,..." or "-,18,...". */
static void headless(struct wattsup *w, const struct ww_meter_out *out)
{
	char *s = w->frame.buf, text[WW_WU_PACKET + 4];

	if (strncmp(s, "d,-,", 4) == 0)
		s += 2;
	if ((w->phase != RUN && w->phase != BEGIN) ||
	    (strncmp(s, "-,18,", 5) != 0 && strncmp(s, "-,16,", 5) != 0)) {
		outside(w, out);
		return;
	}
	snprintf(text, sizeof(text), "d,%s", s);
	packet(w, text, out);
}

static void byte(struct wattsup *w, struct ww_interval t, char c, const struct ww_meter_out *out)
{
	/* At '#' the frame's time is already that of the packet which begins. */
	struct ww_interval before = w->frame.t;
	enum ww_wu_event ev = ww_wu_byte(&w->frame, t, c);

	w->t = ev == WW_WU_UNENDED ? before : w->frame.t;
	switch (ev) {
	case WW_WU_NONE:
		break;
	case WW_WU_PACKET_END:
		if (w->junk && w->phase == RUN)
			tell(out, w->t, "%llu bytes outside packets", (unsigned long long)w->junk);
		w->junk = 0;
		packet(w, w->frame.buf, out);
		break;
	case WW_WU_HEADLESS:
		headless(w, out);
		break;
	case WW_WU_LINE:
		outside(w, out);
		break;
	case WW_WU_UNENDED:
		damaged(w, out, "its end is missing");
		break;
	case WW_WU_TOO_LONG:
		damaged(w, out, "too long");
		break;
	}
}

static int wu_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct wattsup *w = state;
	int64_t all = 0;

	*w = (struct wattsup){.baud = 115200, .deadline_ns = WW_TIME_MAX};
	if (ww_uri_int(options, "baud", 1, 4000000, &w->baud, err) < 0 ||
	    ww_uri_int(options, "all", 0, 1, &all, err) < 0)
		return -EINVAL;
	if (every_ns > 86400 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "wattsup: the longest interval is a day");
	w->all = all != 0;
	/* The meter counts whole seconds, and one is its fastest. */
	w->period_ns = (every_ns + WW_NS_PER_S - 1) / WW_NS_PER_S * WW_NS_PER_S;
	if (w->period_ns < WW_NS_PER_S)
		w->period_ns = WW_NS_PER_S;
	return 0;
}

static void wu_shape(const void *state, struct ww_meter_shape *s)
{
	const struct wattsup *w = state;

	s->channels = w->all ? WW_WU_FIELDS : USUAL;
	s->period_ns = w->period_ns;
}

static void wu_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	quieten(state, now_ns, out);
}

static void wu_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		    const struct ww_meter_out *out)
{
	struct wattsup *w = state;

	for (size_t i = 0; i < n && w->phase != DEAD && w->phase != IDLE; i++) {
		w->heard += p[i] != 0;
		byte(w, t, (char)p[i], out);
	}
	if (w->phase == DRAIN && n) {
		w->deadline_ns = ww_add_sat(t.hi_ns, QUIET_NS);
		if (w->deadline_ns > w->limit_ns)
			w->deadline_ns = w->limit_ns;
	}
}

static int64_t wu_deadline(const void *state)
{
	return ((const struct wattsup *)state)->deadline_ns;
}

static void no_version(struct wattsup *w, int64_t now, const struct ww_meter_out *out)
{
	char text[320], heard[64] = "nothing at all was received";

	/* It speaks the protocol: a long dump may have swallowed the request. */
	if (w->packets && w->tries < 3) {
		quieten(w, now, out);
		return;
	}
	if (w->heard)
		snprintf(heard, sizeof(heard), "%llu bytes came, %llu packets among them",
			 (unsigned long long)w->heard, (unsigned long long)w->packets);
	snprintf(text, sizeof(text),
		 "no reply to the version request in 2 s (%s at %lld baud). Try ?baud=19200 "
		 "(hardware minor 1) or ?baud=9600 (RS-232 models); is the meter powered, and is "
		 "this a Watts up? and no other serial device",
		 heard, (long long)w->baud);
	give_up(w, out, -ETIMEDOUT, text);
}

static void no_stream(struct wattsup *w, int64_t now, const struct ww_meter_out *out)
{
	if (w->variant + 1 < WW_COUNTOF(reserved)) {
		w->variant++;
		begin(w, now, out);
		return;
	}
	give_up(w, out, -ETIMEDOUT,
		"the meter told its version but sends no records in any known form of the "
		"command #L,W: take it off the mains for 10 s and try again");
}

static void silence(struct wattsup *w, int64_t now, const struct ww_meter_out *out)
{
	int64_t from = w->told ? w->told_ns : w->last.hi_ns, n;

	if (w->has_last && !w->restart) {
		n = since(now, w->last.hi_ns) / w->period_ns - w->told;
		out->loss(out->ctx, (struct ww_interval){from, now}, n > 0 ? n : -1, "silent");
		w->told += n > 0 ? n : 0;
		w->told_ns = now;
	}
	send_begin(w, now, out);
	w->deadline_ns = now + SILENT * w->period_ns;
}

static void wu_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct wattsup *w = state;

	if (now_ns < w->deadline_ns)
		return;
	switch (w->phase) {
	case DRAIN:
		send_text(out, "#V,R,0;");
		to_phase(w, ASK, now_ns + REPLY_NS);
		break;
	case ASK:
		no_version(w, now_ns, out);
		break;
	case BEGIN:
		no_stream(w, now_ns, out);
		break;
	case RUN:
		silence(w, now_ns, out);
		break;
	default:
		break;
	}
}

static void wu_stop(void *state, const struct ww_meter_out *out)
{
	struct wattsup *w = state;

	/* Or it would stream into whatever opens the port next. */
	send_text(out, "#L,R,0;");
	to_phase(w, IDLE, WW_TIME_MAX);
}

/*
 * No source at hand states an accuracy: unknown, not zero. Versions of clang-format do
 * not agree on the braces.
 */
/* clang-format off */
#define CH(n, q, u, sem, s, w)                                                                     \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = s, .acc_abs = (double)NAN, .acc_rel = (double)NAN, .wrap = w         \
	}
/* clang-format on */
#define MEAN(n, q, u, s) CH(n, q, u, WW_AVERAGE, s, 0)
/* Extremes are no power that flows: no analysis may integrate them. */
#define KEPT(n, u, s) CH(n, "other", u, WW_INSTANT, s, 0)

const struct ww_meter_ops ww_meter_wattsup = {
	.desc = {.name = "wattsup",
		 .summary = "Watts up? Standard, PRO, ES, .NET (1 s, 0.1 W)",
		 .example = "wattsup:/dev/ttyUSB0",
		 .proven = false,
		 .baud = 115200,
		 .period_ns = WW_NS_PER_S,
		 .window_ns = WW_NS_PER_S,
		 /* Sent after its window has ended and before the next one has. */
		 .delay_min_ns = 0,
		 .delay_max_ns = WW_NS_PER_S,
		 .channels = USUAL,
		 .channel = {MEAN("power", "power", "W", 0.1), MEAN("voltage", "voltage", "V", 0.1),
			     MEAN("current", "current", "A", 0.001),
			     CH("energy", "energy", "Wh", WW_COUNTER, 0.1, 429496729.6),
			     MEAN("power_factor", "power_factor", "1", 0.01),
			     MEAN("frequency", "frequency", "Hz", 0.1),
			     MEAN("apparent_power", "apparent_power", "VA", 0.1),
			     KEPT("power_max", "W", 0.1), KEPT("voltage_max", "V", 0.1),
			     KEPT("current_max", "A", 0.001), KEPT("power_min", "W", 0.1),
			     KEPT("voltage_min", "V", 0.1), KEPT("current_min", "A", 0.001),
			     KEPT("duty_cycle", "1", 0.01),
			     CH("power_cycles", "other", "1", WW_COUNTER, 1, 256),
			     KEPT("cost", "1", 0.001), KEPT("energy_month", "Wh", 1),
			     KEPT("cost_month", "1", 0.001)},
		 .state_size = sizeof(struct wattsup)},
	.init = wu_init,
	.shape = wu_shape,
	.start = wu_start,
	.feed = wu_feed,
	.deadline = wu_deadline,
	.tick = wu_tick,
	.stop = wu_stop,
};

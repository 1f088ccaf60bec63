/* SPDX-License-Identifier: MIT */
/*
 * RuiDeng UM24C, UM25C and UM34C by Bluetooth: the byte 0xf0 is answered by 130 bytes,
 * big-endian, that begin with the model's number. The meter renews them twice a second,
 * without a number or a time, and has no sign of the current.
 */
#include "meter/ask.h"
#include "meter/pace.h"

#include <math.h>
#include <stdio.h>

#define ANSWER	   130
#define RENEW_NS   (500 * WW_NS_PER_MS)
#define FASTEST_NS (100 * WW_NS_PER_MS)
#define REPLY_NS   (1500 * WW_NS_PER_MS)
#define QUIET_NS   (150 * WW_NS_PER_MS)
#define STILL_NS   (10 * WW_NS_PER_S)
#define GROUPS	   10

enum kind { UM24C, UM25C, UM34C, UNKNOWN };

static const struct {
	const char *name, *driver;
	uint16_t id;
	int64_t steps; /* of 1 mV and of 0.1 mA in its own least digit */
} model[] = {
	{"UM24C", "um24c", 0x0963, 10},
	{"UM25C", "um25c", 0x09c9, 1},
	{"UM34C", "um34c", 0x0d4c, 10},
};

enum { POWER, VOLTAGE, CURRENT, ENERGY, CHARGE, TEMPERATURE, DP, DM, USUAL };
enum { MODE = USUAL, GROUP, REC_ENERGY, REC_CHARGE, REC_TIME, ALL };

struct um {
	struct ww_ask ask;
	enum kind wanted; /* UNKNOWN: whatever answers */
	bool all;
	uint8_t buf[ANSWER];
	size_t n;
	struct ww_interval t; /* first byte of the answer at hand */
	uint8_t junk[8];      /* first bytes that were no answer */
	size_t junk_n;

	bool has_last, told_repeats, told_still, over;
	uint8_t last[ANSWER];
	struct ww_interval given;
	int64_t changed_ns;
};

static uint64_t be(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

static enum kind kind_of(const uint8_t *p)
{
	for (int i = 0; i < UNKNOWN; i++)
		if (be(p, 2) == model[i].id)
			return (enum kind)i;
	return UNKNOWN;
}

/* The UM34C sums some of its bytes; the others have a constant end and no sum at all. */
static bool sound(const uint8_t *p)
{
	static const uint8_t summed[] = {1,  3,	 7,  9,	 15,  17,  19,	23,  31,  39, 41,
					 45, 49, 53, 55, 57,  59,  63,	67,  69,  73, 79,
					 83, 89, 97, 99, 109, 111, 113, 119, 121, 127};
	uint8_t sum = 0;

	if (kind_of(p) != UM34C)
		return p[128] == 0xff && p[129] == 0xf1;
	for (size_t i = 0; i < WW_COUNTOF(summed); i++)
		sum ^= p[summed[i]];
	return sum == p[129];
}

/* What the groups have counted together: it does not jump when another is chosen. */
static uint64_t groups(const uint8_t *p, size_t at)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < GROUPS; i++)
		sum += be(p + 16 + 8 * i + at, 4);
	return sum;
}

/* Without a checksum, this is all that a damaged answer may show. */
static bool agrees(const uint8_t *p, enum kind k)
{
	double v = (double)be(p + 2, 2) * (double)model[k].steps * 1e-3;
	double i = (double)be(p + 4, 2) * (double)model[k].steps * 1e-4;
	double w = (double)be(p + 6, 4) * 1e-3;

	return fabs(v * i - w) <= 0.2 * v * i + 0.2;
}

static void registers(struct um *u, const uint8_t *p, const struct ww_meter_out *out)
{
	uint64_t was = groups(u->last, 4), now = groups(p, 4);
	unsigned from = (unsigned)be(u->last + 14, 2), to = (unsigned)be(p + 14, 2);
	char text[96];

	if (!u->has_last)
		return;
	if (from != to)
		ww_meter_tell(out, u->t, "group %u of the meter's registers is chosen, was %u", to,
			      from);
	if (now >= was || was - now > UINT32_MAX / 2)
		return;
	snprintf(text, sizeof(text), "energy registers fell from %llu to %llu mWh",
		 (unsigned long long)was, (unsigned long long)now);
	out->event(out->ctx, u->t, WW_MARK_RESET, text);
}

/* The same answer, before the meter can have renewed it. */
static bool repeated(struct um *u, const uint8_t *p, const struct ww_meter_out *out)
{
	bool same = u->has_last && memcmp(p, u->last, ANSWER) == 0;

	if (!same) {
		u->changed_ns = u->t.hi_ns;
		u->told_still = false;
	} else if (!u->told_still && be(p + 4, 2) &&
		   ww_since(u->t.lo_ns, u->changed_ns) >= STILL_NS) {
		u->told_still = true;
		ww_meter_tell(out, u->t, "stale: the same answer for 10 s, though a current flows");
	}
	if (!same || ww_since(u->t.hi_ns, u->given.lo_ns) >= RENEW_NS * 9 / 10)
		return false;
	if (!u->told_repeats)
		ww_meter_tell(out, u->t,
			      "repeats left out: the meter renews its answer twice a second");
	u->told_repeats = true;
	return true;
}

static void range(struct um *u, const uint8_t *p, enum kind k, const struct ww_meter_out *out)
{
	int64_t mv = (int64_t)be(p + 2, 2) * model[k].steps;
	int64_t tenths = (int64_t)be(p + 4, 2) * model[k].steps;
	bool over = mv > 26000 || tenths > 52000;

	if (over && !u->over)
		ww_meter_tell(out, u->t, "over-range: %lld mV, %lld mA, made for 24 V and 5 A",
			      (long long)mv, (long long)(tenths / 10));
	u->over = over;
}

static void reading(struct um *u, const uint8_t *p, enum kind k, const struct ww_meter_out *out)
{
	int64_t fine = u->wanted == UNKNOWN ? model[k].steps : 1;
	const int64_t c[ALL] = {
		[POWER] = (int64_t)be(p + 6, 4),
		[VOLTAGE] = (int64_t)be(p + 2, 2) * fine,
		[CURRENT] = (int64_t)be(p + 4, 2) * fine,
		[ENERGY] = (int64_t)groups(p, 4),
		[CHARGE] = (int64_t)groups(p, 0),
		[TEMPERATURE] = (int64_t)be(p + 10, 2),
		[DP] = (int64_t)be(p + 96, 2),
		[DM] = (int64_t)be(p + 98, 2),
		[MODE] = (int64_t)be(p + 100, 2),
		[GROUP] = (int64_t)be(p + 14, 2),
		[REC_ENERGY] = (int64_t)be(p + 106, 4),
		[REC_CHARGE] = (int64_t)be(p + 102, 4),
		[REC_TIME] = (int64_t)be(p + 112, 4),
	};

	u->given = u->t;
	out->reading(out->ctx, u->t, c);
}

static void wrong_model(struct um *u, enum kind k, const struct ww_meter_out *out)
{
	char text[128];

	snprintf(text, sizeof(text), "this is a %s: use %s: instead of %s:, or ?model=auto",
		 model[k].name, model[k].driver, model[u->wanted].driver);
	u->ask.phase = WW_ASK_DEAD;
	u->ask.deadline_ns = WW_TIME_MAX;
	out->fail(out->ctx, -ENODEV, text);
}

static void answer(struct um *u, const uint8_t *p, const struct ww_meter_out *out)
{
	enum kind k = kind_of(p);

	if (u->wanted != UNKNOWN && k != u->wanted) {
		wrong_model(u, k, out);
		return;
	}
	if (!agrees(p, k)) {
		ww_meter_tell(out, u->t,
			      "damaged answer left out: its power is not volts times amperes");
		ww_ask_bad(&u->ask, u->t);
		return;
	}
	if (!u->ask.known)
		out->identity(out->ctx, model[k].name, NULL, NULL);
	ww_ask_good(&u->ask, u->t, out);
	if (u->ask.slower)
		out->identity(out->ctx, NULL, NULL, NULL);
	u->ask.slower = false;
	range(u, p, k, out);
	registers(u, p, out);
	if (!repeated(u, p, out))
		reading(u, p, k, out);
	memcpy(u->last, p, ANSWER);
	u->has_last = true;
}

/* Take bytes from the front until what is left may be the beginning of an answer. */
static void resync(struct um *u, struct ww_interval now)
{
	size_t at = 0;

	for (; at < u->n; at++) {
		const uint8_t *p = u->buf + at;
		bool may = false;

		for (int i = 0; i < UNKNOWN; i++)
			may |= p[0] == model[i].id >> 8 &&
			       (u->n - at < 2 || p[1] == (model[i].id & 0xff));
		if (may)
			break;
		if (u->junk_n < sizeof(u->junk))
			u->junk[u->junk_n++] = *p;
	}
	u->n -= at;
	memmove(u->buf, u->buf + at, u->n);
	/* What begins further on came at any time until now. */
	if (at)
		u->t.hi_ns = now.hi_ns;
}

static void byte(struct um *u, struct ww_interval t, uint8_t b, const struct ww_meter_out *out)
{
	uint8_t whole[ANSWER];

	if (u->n == 0)
		u->t = t;
	u->buf[u->n++] = b;
	resync(u, t);
	if (u->n == 1)
		u->t = t;
	if (u->n < ANSWER)
		return;
	memcpy(whole, u->buf, ANSWER);
	if (sound(whole)) {
		u->n = 0;
		answer(u, whole, out);
		return;
	}
	if (u->ask.known)
		ww_meter_tell(out, u->t, "damaged answer left out: its check is wrong");
	u->ask.damaged = true;
	u->ask.bad++;
	memmove(u->buf, u->buf + 1, --u->n);
	resync(u, t);
}

static int option_model(struct um *u, struct ww_uri *options, struct ww_error *err)
{
	const char *s = ww_uri_get(options, "model", NULL);

	if (!s)
		return 0;
	u->wanted = UNKNOWN;
	if (strcmp(s, "auto") == 0)
		return 0;
	for (int i = 0; i < UNKNOWN; i++)
		if (strcmp(s, model[i].driver) == 0)
			u->wanted = (enum kind)i;
	if (u->wanted == UNKNOWN)
		return ww_fail(err, -EINVAL, "model=%s: auto, um24c, um25c or um34c", s);
	return 0;
}

static int init(struct um *u, enum kind k, struct ww_uri *options, int64_t every_ns,
		struct ww_error *err)
{
	int64_t all = 0;

	*u = (struct um){.wanted = k};
	if (option_model(u, options, err) < 0 || ww_uri_int(options, "all", 0, 1, &all, err) < 0)
		return -EINVAL;
	if (every_ns > 86400 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "%s: the longest interval is a day", model[k].driver);
	u->all = all != 0;
	/* Asked more often than it renews, the moment of the change is better known. */
	every_ns = every_ns ? every_ns : RENEW_NS;
	u->ask = (struct ww_ask){.period_ns = every_ns < FASTEST_NS ? FASTEST_NS : every_ns,
				 .expect_ns = every_ns < RENEW_NS ? RENEW_NS : every_ns,
				 .reply_ns = REPLY_NS,
				 .least_ns = 10 * WW_NS_PER_MS,
				 .piece_ns = 500 * WW_NS_PER_MS,
				 .quiet_ns = QUIET_NS,
				 .deadline_ns = WW_TIME_MAX};
	return 0;
}

static int um24c_init(void *state, struct ww_uri *o, int64_t every_ns, struct ww_error *err)
{
	return init(state, UM24C, o, every_ns, err);
}

static int um25c_init(void *state, struct ww_uri *o, int64_t every_ns, struct ww_error *err)
{
	return init(state, UM25C, o, every_ns, err);
}

static int um34c_init(void *state, struct ww_uri *o, int64_t every_ns, struct ww_error *err)
{
	return init(state, UM34C, o, every_ns, err);
}

static void um_shape(const void *state, struct ww_meter_shape *s)
{
	const struct um *u = state;

	s->channels = u->all ? ALL : USUAL;
	s->period_ns = u->ask.expect_ns;
	s->delay_max_ns += u->ask.held_ns;
}

static void um_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct um *u = state;

	(void)out;
	ww_ask_start(&u->ask, now_ns);
}

static void um_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		    const struct ww_meter_out *out)
{
	struct um *u = state;

	if (u->ask.phase == WW_ASK_IDLE || u->ask.phase == WW_ASK_DEAD)
		return;
	ww_ask_heard(&u->ask, t, n);
	for (size_t i = 0; i < n && u->ask.phase != WW_ASK_DEAD; i++)
		byte(u, t, p[i], out);
}

static int64_t um_deadline(const void *state)
{
	return ((const struct um *)state)->ask.deadline_ns;
}

static void give_up(struct um *u, const struct ww_meter_out *out)
{
	char tale[128], text[400];

	ww_ask_tale(&u->ask, u->junk, u->junk_n, tale, sizeof(tale));
	snprintf(text, sizeof(text),
		 "no answer of a UM24C, UM25C or UM34C in 6 s (%s). Is the meter powered, is this "
		 "its serial port (rfcomm bind 0 ADDRESS 1, PIN 1234), and is no telephone "
		 "connected to it?",
		 tale);
	out->fail(out->ctx, -ETIMEDOUT, text);
}

static void um_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	static const uint8_t request = 0xf0;
	struct um *u = state;

	switch (ww_ask_tick(&u->ask, now_ns, out)) {
	case WW_ASK_SEND:
		u->n = 0;
		out->send(out->ctx, &request, 1);
		break;
	case WW_ASK_GIVE_UP:
		give_up(u, out);
		break;
	case WW_ASK_NOTHING:
		break;
	}
}

/* It sends nothing unasked: nothing has to be undone. */
static void um_stop(void *state, const struct ww_meter_out *out)
{
	struct um *u = state;

	(void)out;
	ww_ask_stop(&u->ask);
}

/* clang-format off */
#define CH(n, q, u, sem, s, w)                                                                     \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = s, .acc_abs = (double)NAN, .acc_rel = (double)NAN, .wrap = w         \
	}
/* clang-format on */
#define MEAN(n, u, s)  CH(n, n, u, WW_AVERAGE, s, 0)
#define OTHER(n, u, s) CH(n, "other", u, WW_INSTANT, s, 0)

/* The sums of ten registers fall by 2^32 where one of them starts again. */
#define CHANNELS(v, i)                                                                             \
	{                                                                                          \
		[POWER] = MEAN("power", "W", 0.001), [VOLTAGE] = MEAN("voltage", "V", v),          \
		[CURRENT] = MEAN("current", "A", i),                                               \
		[ENERGY] = CH("energy", "energy", "Wh", WW_COUNTER, 0.001, 4294967.296),           \
		[CHARGE] = CH("charge", "other", "mAh", WW_COUNTER, 1, 4294967296.0),              \
		[TEMPERATURE] = OTHER("temperature", "degC", 1),                                   \
		[DP] = OTHER("d_plus", "V", 0.01), [DM] = OTHER("d_minus", "V", 0.01),             \
		[MODE] = OTHER("charge_mode", "1", 1), [GROUP] = OTHER("group", "1", 1),           \
		[REC_ENERGY] = OTHER("record_energy", "Wh", 0.001),                                \
		[REC_CHARGE] = OTHER("record_charge", "mAh", 1),                                   \
		[REC_TIME] = OTHER("record_time", "s", 1),                                         \
	}

static const struct ww_channel_info fine[ALL] = CHANNELS(0.001, 0.0001);
static const struct ww_channel_info coarse[ALL] = CHANNELS(0.01, 0.001);

/* Of an unknown model: codes of the finest, of which the coarser use each tenth. */
static void um_channel(const void *state, size_t i, struct ww_channel_info *out)
{
	const struct um *u = state;

	*out = u->wanted == UM25C || u->wanted == UNKNOWN ? fine[i] : coarse[i];
	if (u->wanted == UNKNOWN)
		out->resolution = coarse[i].resolution;
}

#define UM(n, NAME, v, i, what)                                                                    \
	{                                                                                          \
		.desc = {.name = #n,                                                               \
			 .summary = "RuiDeng " NAME " by Bluetooth (0.5 s, " what ")",             \
			 .example = #n ":/dev/rfcomm0",                                            \
			 .proven = false,                                                          \
			 .buses = WW_BUS_STREAM,                                                   \
			 .baud = 9600,                                                             \
			 .period_ns = RENEW_NS,                                                    \
			 .window_ns = RENEW_NS, /* What it answers with was ready up to half a     \
						   second before. */                               \
			 .delay_min_ns = 0,                                                        \
			 .delay_max_ns = RENEW_NS,                                                 \
			 .channels = USUAL,                                                        \
			 .channel = CHANNELS(v, i),                                                \
			 .state_size = sizeof(struct um)},                                         \
		.init = n##_init, .shape = um_shape, .channel = um_channel, .start = um_start,     \
		.feed = um_feed, .deadline = um_deadline, .tick = um_tick, .stop = um_stop,        \
	}

const struct ww_meter_ops ww_meter_um24c = UM(um24c, "UM24C", 0.01, 0.001, "10 mV, 1 mA");
const struct ww_meter_ops ww_meter_um25c = UM(um25c, "UM25C", 0.001, 0.0001, "1 mV, 0.1 mA");
const struct ww_meter_ops ww_meter_um34c = UM(um34c, "UM34C", 0.01, 0.001, "10 mV, 1 mA");

/* SPDX-License-Identifier: MIT */
/*
 * RuiDeng TC66 and TC66C: "getva" is answered by 192 bytes, three blocks of 64 with a
 * CRC each, enciphered with the one key that all of these meters have. The answer has no
 * beginning of its own: it is where a deciphered block says "pac1".
 */
#include "meter/ask.h"
#include "meter/cipher.h"
#include "meter/modbus.h"
#include "meter/pace.h"

#include <math.h>
#include <stdio.h>

#define ANSWER	   192
#define BLOCK	   64
#define PACE_NS	   (200 * WW_NS_PER_MS)
#define RENEW_NS   (150 * WW_NS_PER_MS)
#define FASTEST_NS (100 * WW_NS_PER_MS)
#define REPLY_NS   WW_NS_PER_S
#define QUIET_NS   (100 * WW_NS_PER_MS)
#define STILL_NS   (10 * WW_NS_PER_S)
/* V and I are renewed in turn, each about every 0.4 s: what is told is no older. */
#define WINDOW_NS (500 * WW_NS_PER_MS)

enum { POWER, VOLTAGE, CURRENT, ENERGY, CHARGE, TEMPERATURE, DP, DM, USUAL };
enum { ENERGY1 = USUAL, CHARGE1, ALL };
enum step { QUERY, VALUES };

struct tc66 {
	struct ww_ask ask;
	enum step step;
	bool ble, all;
	uint8_t buf[ANSWER];
	size_t n;
	struct ww_interval t; /* from the first byte of those at hand */
	uint8_t junk[8];
	size_t junk_n;

	bool has_last, told_repeats, told_still, over;
	uint8_t last[ANSWER];
	struct ww_interval given;
	int64_t changed_ns;
};

/* In each such meter and in the maker's program: it hides nothing from anybody. */
static const uint8_t key[32] = {0x58, 0x21, 0xfa, 0x56, 0x01, 0xb2, 0xf0, 0x26, 0x87, 0xff, 0x12,
				0x04, 0x62, 0x2a, 0x4f, 0xb0, 0x86, 0xf4, 0x02, 0x60, 0x81, 0x6f,
				0x9a, 0x0b, 0xa7, 0xf1, 0x06, 0x61, 0x9a, 0xb8, 0x72, 0x88};

static uint32_t le(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool begins(const uint8_t *p)
{
	uint8_t plain[16];

	ww_aes_decrypt(key, sizeof(key), plain, p, sizeof(plain));
	return memcmp(plain, "pac1", 4) == 0;
}

/* The plain text, if all three blocks are whole. */
static bool decipher(const uint8_t *p, uint8_t *plain)
{
	static const char names[] = "pac1pac2pac3";

	ww_aes_decrypt(key, sizeof(key), plain, p, ANSWER);
	for (size_t i = 0; i < 3; i++) {
		const uint8_t *b = plain + BLOCK * i;

		if (memcmp(b, names + 4 * i, 4) != 0 || le(b + 60) != ww_mb_crc(b, 60))
			return false;
	}
	return true;
}

static void identity(const uint8_t *p, const struct ww_meter_out *out)
{
	char name[5] = {0}, firmware[5] = {0}, serial[16];

	for (int i = 0; i < 4; i++) {
		name[i] = (char)(p[4 + i] > ' ' && p[4 + i] < 127 ? p[4 + i] : '?');
		firmware[i] = (char)(p[8 + i] > ' ' && p[8 + i] < 127 ? p[8 + i] : '?');
	}
	snprintf(serial, sizeof(serial), "%lu", (unsigned long)le(p + 12));
	out->identity(out->ctx, name, serial, firmware);
}

static void registers(struct tc66 *z, const uint8_t *p, const struct ww_meter_out *out)
{
	static const size_t at[] = {BLOCK + 12, BLOCK + 20};

	for (size_t g = 0; z->has_last && g < WW_COUNTOF(at); g++) {
		uint32_t was = le(z->last + at[g]), now = le(p + at[g]);
		char text[96];

		if (now >= was || was - now > UINT32_MAX / 2)
			continue;
		snprintf(text, sizeof(text), "energy register %zu fell from %lu to %lu mWh", g,
			 (unsigned long)was, (unsigned long)now);
		out->event(out->ctx, z->t, g ? WW_MARK_DEVICE : WW_MARK_RESET, text);
	}
}

/* The same values, before the meter can have renewed them. */
static bool repeated(struct tc66 *z, const uint8_t *p, const struct ww_meter_out *out)
{
	bool same = z->has_last && memcmp(p, z->last, ANSWER) == 0;

	if (!same) {
		z->changed_ns = z->t.hi_ns;
		z->told_still = false;
	} else if (!z->told_still && le(p + 52) &&
		   ww_since(z->t.lo_ns, z->changed_ns) >= STILL_NS) {
		z->told_still = true;
		ww_meter_tell(out, z->t, "stale: the same answer for 10 s, though a current flows");
	}
	if (!same || ww_since(z->t.hi_ns, z->given.lo_ns) >= RENEW_NS)
		return false;
	if (!z->told_repeats)
		ww_meter_tell(out, z->t,
			      "repeats left out: the meter renews its answer five times a second");
	z->told_repeats = true;
	return true;
}

static void range(struct tc66 *z, const uint8_t *p, const struct ww_meter_out *out)
{
	bool over = le(p + 48) > 320000 || le(p + 52) > 600000;

	if (over && !z->over)
		ww_meter_tell(out, z->t, "over-range: %lu.%04lu V, %lu.%05lu A",
			      (unsigned long)le(p + 48) / 10000, (unsigned long)le(p + 48) % 10000,
			      (unsigned long)le(p + 52) / 100000,
			      (unsigned long)le(p + 52) % 100000);
	z->over = over;
}

static void reading(struct tc66 *z, const uint8_t *p, const struct ww_meter_out *out)
{
	const uint8_t *q = p + BLOCK;
	const int64_t c[ALL] = {
		[POWER] = le(p + 56),
		[VOLTAGE] = le(p + 48),
		[CURRENT] = le(p + 52),
		[ENERGY] = le(q + 12),
		[CHARGE] = le(q + 8),
		[TEMPERATURE] = le(q + 24) == 1 ? -(int64_t)le(q + 28) : (int64_t)le(q + 28),
		[DP] = le(q + 32),
		[DM] = le(q + 36),
		[ENERGY1] = le(q + 20),
		[CHARGE1] = le(q + 16),
	};

	z->given = z->t;
	out->reading(out->ctx, z->t, c);
}

static void dead(struct tc66 *z, const struct ww_meter_out *out, int code, const char *text)
{
	z->ask.phase = WW_ASK_DEAD;
	z->ask.deadline_ns = WW_TIME_MAX;
	out->fail(out->ctx, code, text);
}

static void answer(struct tc66 *z, const uint8_t *p, const struct ww_meter_out *out)
{
	if (memcmp(p + 4, "TC66", 4) != 0) {
		dead(z, out, -ENODEV,
		     "it answers as a TC66 does, but says that it is another meter");
		return;
	}
	if (!z->ask.known)
		identity(p, out);
	z->step = VALUES;
	ww_ask_good(&z->ask, z->t, out);
	if (z->ask.slower)
		out->identity(out->ctx, NULL, NULL, NULL);
	z->ask.slower = false;
	range(z, p, out);
	registers(z, p, out);
	if (!repeated(z, p, out))
		reading(z, p, out);
	memcpy(z->last, p, ANSWER);
	z->has_last = true;
}

/* "firm" or "boot" is what is left of the answer to "query". */
static void said(struct tc66 *z, struct ww_interval t, const struct ww_meter_out *out)
{
	if (z->step != QUERY || z->n < 4)
		return;
	if (memcmp(z->buf + z->n - 4, "boot", 4) == 0) {
		dead(z, out, -ENODEV,
		     "the meter is in its boot loader and measures nothing: unplug it, and plug "
		     "it in again without holding a button");
	} else if (memcmp(z->buf + z->n - 4, "firm", 4) == 0) {
		z->step = VALUES;
		z->n = 0;
		z->ask.phase = WW_ASK_REST;
		z->ask.next_ns = z->ask.deadline_ns = t.hi_ns;
	}
}

static void byte(struct tc66 *z, struct ww_interval t, uint8_t b, const struct ww_meter_out *out)
{
	uint8_t plain[ANSWER];

	if (z->n == ANSWER) {
		/* No answer begins here; with the next byte it may. */
		memmove(z->buf, z->buf + 1, --z->n);
		z->t.hi_ns = t.hi_ns;
	}
	if (z->n == 0)
		z->t = t;
	if (!z->ask.known && z->junk_n < sizeof(z->junk))
		z->junk[z->junk_n++] = b;
	z->buf[z->n++] = b;
	said(z, t, out);
	if (z->n < ANSWER || !begins(z->buf))
		return;
	z->n = 0;
	if (decipher(z->buf, plain)) {
		answer(z, plain, out);
		return;
	}
	if (z->ask.known)
		ww_meter_tell(out, z->t, "damaged answer left out: a CRC is wrong");
	ww_ask_bad(&z->ask, t);
}

static int tc_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct tc66 *z = state;
	int64_t all = 0, ble = 0;

	*z = (struct tc66){.step = QUERY};
	if (ww_uri_int(options, "all", 0, 1, &all, err) < 0 ||
	    ww_uri_int(options, "ble", 0, 1, &ble, err) < 0)
		return -EINVAL;
	if (every_ns > 86400 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "tc66c: the longest interval is a day");
	z->all = all != 0;
	z->ble = ble != 0;
	every_ns = every_ns ? every_ns : PACE_NS;
	z->ask = (struct ww_ask){.period_ns = every_ns < FASTEST_NS ? FASTEST_NS : every_ns,
				 .expect_ns = every_ns < PACE_NS ? PACE_NS : every_ns,
				 .reply_ns = REPLY_NS,
				 .least_ns = 10 * WW_NS_PER_MS,
				 .piece_ns = z->ble ? 500 * WW_NS_PER_MS : QUIET_NS,
				 .quiet_ns = QUIET_NS,
				 .deadline_ns = WW_TIME_MAX};
	return 0;
}

static void tc_shape(const void *state, struct ww_meter_shape *s)
{
	const struct tc66 *z = state;

	s->channels = z->all ? ALL : USUAL;
	s->period_ns = z->ask.expect_ns;
	s->delay_max_ns += z->ask.held_ns;
}

static void tc_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct tc66 *z = state;

	(void)out;
	ww_ask_start(&z->ask, now_ns);
}

static void tc_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		    const struct ww_meter_out *out)
{
	struct tc66 *z = state;

	if (z->ask.phase == WW_ASK_IDLE || z->ask.phase == WW_ASK_DEAD)
		return;
	ww_ask_heard(&z->ask, t, n);
	for (size_t i = 0; i < n && z->ask.phase != WW_ASK_DEAD; i++)
		byte(z, t, p[i], out);
}

static int64_t tc_deadline(const void *state)
{
	return ((const struct tc66 *)state)->ask.deadline_ns;
}

static void give_up(struct tc66 *z, const struct ww_meter_out *out)
{
	char tale[128], text[400];

	ww_ask_tale(&z->ask, z->junk, z->junk_n, tale, sizeof(tale));
	snprintf(text, sizeof(text),
		 "no answer of a TC66 in 6 s (%s). Is this its port, is no other program "
		 "asking it, and if it is a Bluetooth bridge, is ?ble=1 given?",
		 tale);
	out->fail(out->ctx, -ETIMEDOUT, text);
}

static void tc_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct tc66 *z = state;
	const char *order;

	switch (ww_ask_tick(&z->ask, now_ns, out)) {
	case WW_ASK_SEND:
		/* Not all of them know the query: it is asked once. */
		order = z->step == QUERY && z->ask.missed == 0 ? "query" : "getva";
		z->n = 0;
		if (z->ble)
			order = *order == 'q' ? "bquery\r\n" : "bgetva\r\n";
		out->send(out->ctx, order, strlen(order));
		break;
	case WW_ASK_GIVE_UP:
		give_up(z, out);
		break;
	case WW_ASK_NOTHING:
		break;
	}
}

/* It sends nothing unasked: nothing has to be undone. */
static void tc_stop(void *state, const struct ww_meter_out *out)
{
	struct tc66 *z = state;

	(void)out;
	ww_ask_stop(&z->ask);
}

/* clang-format off */
#define CH(n, q, u, sem, s, w)                                                                     \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = s, .acc_abs = (double)NAN, .acc_rel = (double)NAN, .wrap = w         \
	}
/* clang-format on */
#define MEAN(n, u, s)	  CH(n, n, u, WW_AVERAGE, s, 0)
#define OTHER(n, u, s)	  CH(n, "other", u, WW_INSTANT, s, 0)
#define COUNT(n, q, u, s) CH(n, q, u, WW_COUNTER, s, 4294967296.0 * (s))

const struct ww_meter_ops ww_meter_tc66c = {
	.desc = {.name = "tc66c",
		 .summary = "RuiDeng TC66, TC66C (0.2 s, 0.1 mV, 10 uA)",
		 .example = "tc66c:/dev/ttyACM0",
		 .proven = false,
		 .buses = WW_BUS_STREAM,
		 .left_out = !WW_CIPHER,
		 .needs = "nettle",
		 .baud = 115200,
		 .period_ns = PACE_NS,
		 .window_ns = WINDOW_NS,
		 .delay_min_ns = 0,
		 .delay_max_ns = 250 * WW_NS_PER_MS,
		 .channels = USUAL,
		 .channel = {[POWER] = MEAN("power", "W", 0.0001),
			     [VOLTAGE] = MEAN("voltage", "V", 0.0001),
			     [CURRENT] = MEAN("current", "A", 0.00001),
			     [ENERGY] = COUNT("energy", "energy", "Wh", 0.001),
			     [CHARGE] = COUNT("charge", "other", "mAh", 1),
			     [TEMPERATURE] = OTHER("temperature", "degC", 1),
			     [DP] = OTHER("d_plus", "V", 0.01),
			     [DM] = OTHER("d_minus", "V", 0.01),
			     [ENERGY1] = COUNT("energy_1", "other", "Wh", 0.001),
			     [CHARGE1] = COUNT("charge_1", "other", "mAh", 1)},
		 .state_size = sizeof(struct tc66)},
	.init = tc_init,
	.shape = tc_shape,
	.start = tc_start,
	.feed = tc_feed,
	.deadline = tc_deadline,
	.tick = tc_tick,
	.stop = tc_stop,
};

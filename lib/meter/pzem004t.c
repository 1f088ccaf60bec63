/* SPDX-License-Identifier: MIT */
/*
 * Peacefair PZEM-004T v3 and v4, PZEM-014 and PZEM-016 (mains), PZEM-003 and PZEM-017
 * (direct current): Modbus RTU at 9600 baud, values renewed once a second, 32-bit values
 * low word first. The meter lives on the mains that it measures: with the mains off it
 * is silent, and that is a gap and not 0 W. Source: the maker's manuals.
 */
#include "meter/modbus.h"
#include "meter/pace.h"

#include <math.h>
#include <stdio.h>

#define BAUD	   9600
#define REFRESH_NS WW_NS_PER_S
#define GENERAL	   0xf8
#define TRIES	   3
#define OLD_NS	   (400 * WW_NS_PER_MS)
#define WRAP_WH	   9999990

enum phase { IDLE, ASK, OLD, RUN, DEAD };
enum { POWER, VOLTAGE, CURRENT, ENERGY, FACTOR, HZ };

struct pzem {
	bool dc;
	enum phase phase;
	struct ww_modbus mb;
	struct ww_pace pace;
	uint8_t unit;
	unsigned tries;
	int64_t old_ns;
	uint8_t old[7]; /* last bytes heard while a v1 is looked for */
	uint64_t heard;
	char why[160];
	int alarm; /* -1 not known yet */
	bool zero_told, refused_told;
};

static size_t registers(const struct pzem *z)
{
	return z->dc ? 8 : 10;
}

static void give_up(struct pzem *z, const struct ww_meter_out *out, int code, const char *text)
{
	z->phase = DEAD;
	out->fail(out->ctx, code, text);
}

static void ask(struct pzem *z, int64_t now, const struct ww_meter_out *out)
{
	ww_pace_asked(&z->pace, now);
	ww_modbus_read(&z->mb, z->unit, WW_MB_INPUT, 0, (uint16_t)registers(z), now, out);
}

/* ------------------------------------------------------------------- values */

static void decode(const struct pzem *z, const uint16_t *v, int64_t *c)
{
	if (z->dc) {
		c[VOLTAGE] = v[0];
		c[CURRENT] = v[1];
		c[POWER] = ww_mb_low_first(v + 2);
		c[ENERGY] = ww_mb_low_first(v + 4);
		return;
	}
	c[VOLTAGE] = v[0];
	c[CURRENT] = ww_mb_low_first(v + 1);
	c[POWER] = ww_mb_low_first(v + 3);
	c[ENERGY] = ww_mb_low_first(v + 5);
	c[HZ] = v[7];
	c[FACTOR] = v[8];
}

static bool switch_word(uint16_t v)
{
	return v == 0 || v == 0xffff;
}

/* Is this what the meter's manual allows? Another meter's registers are not. */
static bool plausible(const struct pzem *z, const uint16_t *v, const int64_t *c)
{
	if (z->dc) {
		double va = (double)c[VOLTAGE] * (double)c[CURRENT] / 1e4;
		double w = (double)c[POWER] / 10;

		return switch_word(v[6]) && switch_word(v[7]) && c[VOLTAGE] <= 33000 &&
		       fabs(w - va) <= 1 + va / 20 + (double)(c[VOLTAGE] + c[CURRENT]) / 100 * 0.02;
	}
	return switch_word(v[9]) && c[VOLTAGE] <= 4000 && c[CURRENT] <= 120000 &&
	       c[POWER] <= 300000 && (c[HZ] == 0 || (c[HZ] >= 400 && c[HZ] <= 700)) &&
	       c[FACTOR] <= 100;
}

static void alarms(struct pzem *z, const uint16_t *v, const struct ww_meter_out *out)
{
	int on = z->dc ? (v[6] ? 1 : 0) | (v[7] ? 2 : 0) : v[9] ? 1 : 0;

	if (on != z->alarm && (on || z->alarm > 0))
		ww_meter_tell(out, z->mb.t, "alarm: %s",
			      !on     ? "off"
			      : z->dc ? (on & 1 ? "voltage too high" : "voltage too low")
				      : "power above the meter's threshold");
	z->alarm = on;
}

static void tell_zero(struct pzem *z, const int64_t *c, const struct ww_meter_out *out)
{
	if (c[POWER] || z->zero_told || z->dc)
		return;
	z->zero_told = true;
	ww_meter_tell(out, z->mb.t, "reads 0 W: this meter shows nothing below 0.4 W");
}

static void wrong(struct pzem *z, const uint16_t *v, const struct ww_meter_out *out)
{
	float f = ww_mb_float(v);
	char text[320];

	if (f > 1 && f < 1000)
		snprintf(text, sizeof(text),
			 "unit %u answers, but with floating point values as Eastron's meters do "
			 "(%d V): use sdm120: or sdm230:",
			 z->unit, (int)lroundf(f));
	else
		snprintf(text, sizeof(text),
			 "unit %u answers, but its registers are not those of a %s (the first are "
			 "%u, %u, %u): this is another meter",
			 z->unit, z->dc ? "PZEM-003 or PZEM-017" : "PZEM-004T v3", v[0], v[1],
			 v[2]);
	give_up(z, out, -ENODEV, text);
}

static void answer(struct pzem *z, const struct ww_meter_out *out)
{
	int64_t codes[WW_METER_CHANNELS];
	const uint16_t *v = z->mb.value;

	for (size_t i = 0; i < WW_METER_CHANNELS; i++)
		codes[i] = WW_MISSING;
	decode(z, v, codes);
	z->refused_told = false;
	if (!plausible(z, v, codes)) {
		if (z->phase == ASK) {
			wrong(z, v, out);
			return;
		}
		ww_meter_tell(out, z->mb.t, "an answer left out: its values cannot be (%u, %u, %u)",
			      v[0], v[1], v[2]);
		ww_pace_miss(&z->pace, z->mb.t.hi_ns, "damaged", out);
		return;
	}
	if (z->mb.slower && z->phase == RUN)
		out->identity(out->ctx, NULL, NULL, NULL);
	z->mb.slower = false;
	if (z->phase == ASK)
		out->identity(out->ctx, z->dc ? "PZEM-003 or PZEM-017" : "PZEM-004T v3 or v4", NULL,
			      NULL);
	z->phase = RUN;
	alarms(z, v, out);
	tell_zero(z, codes, out);
	ww_pace_register(&z->pace, z->mb.t, codes, ENERGY, WRAP_WH, "Wh", out);
	ww_pace_give(&z->pace, z->mb.t, codes, out);
}

/* ---------------------------------------------------------- what goes wrong */

static void refused(struct pzem *z, const struct ww_meter_out *out)
{
	const char *name = ww_mb_exception(z->mb.exception);
	char text[320];

	/* Busy, or its gateway found it silent: asked again. */
	if (z->phase == RUN || z->mb.exception >= 4) {
		if (!z->refused_told)
			ww_meter_tell(out, z->mb.t, "exception %u: %s", z->mb.exception, name);
		z->refused_told = true;
		snprintf(z->why, sizeof(z->why), "exception %u: %s", z->mb.exception, name);
		if (z->phase == RUN)
			ww_pace_miss(&z->pace, z->mb.t.hi_ns, "refused", out);
		else if (++z->tries >= TRIES)
			give_up(z, out, -EIO, z->why);
		return;
	}
	snprintf(
		text, sizeof(text),
		"unit %u refuses to give %zu registers (exception %u, %s): this is another meter%s",
		z->unit, registers(z), z->mb.exception, name,
		z->dc ? "" : ", such as a PZEM-003 or PZEM-017 (use pzem017:)");
	give_up(z, out, -ENODEV, text);
}

/* Version 1 and 2 speak another protocol: is one of them there? */
static void look_for_old(struct pzem *z, int64_t now, const struct ww_meter_out *out)
{
	/* "Voltage, at 192.168.1.1", and the sum of it all. */
	static const uint8_t question[7] = {0xb0, 0xc0, 0xa8, 0x01, 0x01, 0x00, 0x1a};

	z->phase = OLD;
	memset(z->old, 0, sizeof(z->old));
	z->old_ns = ww_add_sat(now, OLD_NS);
	out->send(out->ctx, question, sizeof(question));
}

static void feed_old(struct pzem *z, const uint8_t *p, size_t n, const struct ww_meter_out *out)
{
	for (size_t i = 0; i < n && z->phase == OLD; i++) {
		uint8_t sum = 0;

		memmove(z->old, z->old + 1, sizeof(z->old) - 1);
		z->old[6] = p[i];
		for (size_t k = 0; k < 6; k++)
			sum = (uint8_t)(sum + z->old[k]);
		if (z->old[0] == 0xa0 && sum == z->old[6])
			give_up(z, out, -ENODEV,
				"this is a PZEM-004T of version 1 or 2, which speaks another "
				"protocol (frames of 7 bytes) that is not supported: version 3 "
				"and later speak Modbus");
	}
}

static void no_answer(struct pzem *z, const struct ww_meter_out *out)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "no answer from unit %u: %s. Is the mains on (it feeds the meter's side, 5 V the "
		 "side of the adapter), are TX and RX (A and B) the right way round, is the "
		 "address right? ?addr=248 asks whatever single meter is there",
		 z->unit, z->why);
	give_up(z, out, -ETIMEDOUT, text);
}

static void silent(struct pzem *z, int64_t now, const struct ww_meter_out *out)
{
	ww_modbus_why(&z->mb, z->why, sizeof(z->why));
	z->heard += z->mb.heard;
	if (z->phase == RUN) {
		ww_pace_miss(&z->pace, now, z->mb.heard ? "damaged" : "silent", out);
		return;
	}
	if (++z->tries < TRIES)
		return;
	if (z->dc || z->mb.tcp)
		no_answer(z, out);
	else
		look_for_old(z, now, out);
}

static void event(struct pzem *z, enum ww_mb_event ev, int64_t now, const struct ww_meter_out *out)
{
	if (ev == WW_MB_ANSWER)
		answer(z, out);
	else if (ev == WW_MB_REFUSED)
		refused(z, out);
	else if (ev == WW_MB_SILENT)
		silent(z, now, out);
}

/* ---------------------------------------------------------------- interface */

static int init(struct pzem *z, bool dc, struct ww_uri *options, int64_t every_ns,
		struct ww_error *err)
{
	int64_t addr = 1, baud = BAUD;
	int64_t every = every_ns ? every_ns : REFRESH_NS;

	*z = (struct pzem){.dc = dc, .alarm = -1};
	if (ww_uri_int(options, "addr", 1, GENERAL, &addr, err) < 0 ||
	    ww_uri_int(options, "baud", 1, 4000000, &baud, err) < 0 ||
	    ww_modbus_init(&z->mb, options, baud, 10 * WW_NS_PER_MS, err) < 0)
		return -EINVAL;
	if (every > 86400 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "%s: the longest interval is a day", options->driver);
	/* Sooner than it is renewed it may be asked, but not all the time. */
	if (every < 200 * WW_NS_PER_MS)
		every = 200 * WW_NS_PER_MS;
	z->unit = (uint8_t)addr;
	ww_pace_init(&z->pace, dc ? 4 : 6, every, REFRESH_NS);
	z->pace.live = !dc;
	return 0;
}

static int pz_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	return init(state, false, options, every_ns, err);
}

static int pz_init_dc(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	return init(state, true, options, every_ns, err);
}

static void pz_shape(const void *state, struct ww_meter_shape *s)
{
	const struct pzem *z = state;

	s->period_ns = ww_pace_period(&z->pace);
	s->delay_max_ns += z->mb.held_ns;
}

static void pz_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct pzem *z = state;

	z->phase = ASK;
	z->pace.next_ns = now_ns;
	if (z->unit == GENERAL)
		ww_meter_tell(out, (struct ww_interval){now_ns, now_ns},
			      "address 248 is answered by every meter: it works with a single "
			      "one on the line only");
}

static void pz_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		    const struct ww_meter_out *out)
{
	struct pzem *z = state;

	if (z->phase == OLD)
		feed_old(z, p, n, out);
	else if (z->phase == ASK || z->phase == RUN)
		event(z, ww_modbus_feed(&z->mb, t, p, n), t.hi_ns, out);
}

static int64_t pz_deadline(const void *state)
{
	const struct pzem *z = state;

	if (z->phase == OLD)
		return z->old_ns;
	if (z->phase != ASK && z->phase != RUN)
		return WW_TIME_MAX;
	return ww_modbus_busy(&z->mb) ? ww_modbus_deadline(&z->mb) : z->pace.next_ns;
}

static void pz_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct pzem *z = state;

	if (now_ns < pz_deadline(z))
		return;
	if (z->phase == OLD)
		no_answer(z, out);
	else if (ww_modbus_busy(&z->mb))
		event(z, ww_modbus_tick(&z->mb, now_ns, out), now_ns, out);
	else
		ask(z, now_ns, out);
}

static void pz_stop(void *state, const struct ww_meter_out *out)
{
	(void)out;
	((struct pzem *)state)->phase = IDLE;
}

static bool pz_busy(const void *state)
{
	const struct pzem *z = state;

	return z->phase == OLD || ww_modbus_busy(&z->mb);
}

/* clang-format off */
#define CH(n, q, u, sem, s, rel, w)                                                                \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = s, .acc_abs = (double)NAN, .acc_rel = rel, .wrap = w                 \
	}
#define PZEM(n, text, init_, ...)                                                                  \
	{                                                                                          \
		.desc = {.name = n, .summary = text, .example = n ":/dev/ttyUSB0",                 \
			 .baud = BAUD, .period_ns = REFRESH_NS, .window_ns = REFRESH_NS,           \
			 /* Renewed once a second, whenever it is asked. */                        \
			 .delay_min_ns = 0, .delay_max_ns = REFRESH_NS + 100 * WW_NS_PER_MS,       \
			 __VA_ARGS__, .state_size = sizeof(struct pzem)},                          \
		.init = init_, .shape = pz_shape, .start = pz_start, .feed = pz_feed,              \
		.deadline = pz_deadline, .tick = pz_tick, .stop = pz_stop, .busy = pz_busy         \
	}
#define MAINS                                                                                      \
	.channels = 6,                                                                             \
	.channel = {CH("power", "power", "W", WW_AVERAGE, 0.1, 0.005, 0),                          \
		    CH("voltage", "voltage", "V", WW_AVERAGE, 0.1, 0.005, 0),                      \
		    CH("current", "current", "A", WW_AVERAGE, 0.001, 0.005, 0),                    \
		    CH("energy", "energy", "Wh", WW_COUNTER, 1, 0.005, WRAP_WH),                   \
		    CH("power_factor", "power_factor", "1", WW_AVERAGE, 0.01, 0.01, 0),            \
		    CH("frequency", "frequency", "Hz", WW_AVERAGE, 0.1, (double)NAN, 0)}
#define DIRECT                                                                                     \
	.channels = 4,                                                                             \
	.channel = {CH("power", "power", "W", WW_AVERAGE, 0.1, 0.01, 0),                           \
		    CH("voltage", "voltage", "V", WW_AVERAGE, 0.01, 0.01, 0),                      \
		    CH("current", "current", "A", WW_AVERAGE, 0.01, 0.01, 0),                      \
		    CH("energy", "energy", "Wh", WW_COUNTER, 1, 0.01, WRAP_WH)}

const struct ww_meter_ops ww_meter_pzem004t =
	PZEM("pzem004t", "Peacefair PZEM-004T v3/v4, PZEM-014/016 (Modbus, 1 s, 0.1 W)", pz_init,
	     MAINS);
const struct ww_meter_ops ww_meter_pzem017 =
	PZEM("pzem017", "Peacefair PZEM-003/017, direct current (Modbus, 1 s, 0.1 W)", pz_init_dc,
	     DIRECT);
/* clang-format on */

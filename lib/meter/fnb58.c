/* SPDX-License-Identifier: MIT */
/*
 * FNIRSI FNB48, FNB48S, FNB58 and C1: once begun, 25 HID reports a second of four samples
 * each, as long as the host keeps asking for them. The first of the four is measured; the
 * others lie between their neighbours. No sign, no number, no time: what is missing is
 * found by the reports' own pace.
 */
#include "meter/pace.h"

#include <math.h>
#include <stdio.h>

#define REPORT	   64
#define SAMPLES	   4
#define SAMPLE_NS  (10 * WW_NS_PER_MS)
#define REPORT_NS  (SAMPLES * SAMPLE_NS)
#define STEP_NS	   (10 * WW_NS_PER_MS) /* between the commands of the beginning */
#define BEGUN_NS   (2 * WW_NS_PER_S)
#define SILENT_NS  WW_NS_PER_S
#define TRIES	   3
#define STILL_NS   (10 * WW_NS_PER_S)
#define SETTLED	   5	    /* reports in a row that are as late: those between are lost */
#define VOLTS_MOST 15000000 /* 150 V in 1e-5 V: no such meter shows it */
#define AMPS_MOST  2000000

enum phase { IDLE, BEGIN, RUN, DEAD };
enum { POWER, VOLTAGE, CURRENT, DP, DM, TEMPERATURE, CHANNELS };

struct report {
	struct ww_interval t;
	uint8_t p[REPORT];
};

struct fnb {
	enum phase phase;
	bool old; /* FNB48, C1: begun and kept alive in another way */
	bool measured_only;
	unsigned step, tries;
	int64_t keep_ns;	       /* between keep-alives */
	int64_t next_ns;	       /* command or keep-alive */
	int64_t limit_ns;	       /* no report by then: silent */
	uint64_t reports, bad, others; /* of the beginning */
	uint8_t junk[8];
	size_t junk_n;

	bool has_last, first, told_still;
	struct ww_interval last;     /* arrival of the last report */
	struct ww_interval given;    /* last reading */
	int64_t report_ns;	     /* between reports, as it is: near REPORT_NS */
	int64_t due_ns;		     /* when the last report was due, by the pace */
	int64_t told_ns, told;	     /* silence already told */
	struct ww_interval late_in;  /* where reports may be missing */
	unsigned late_n;	     /* reports that were as late since then */
	int64_t late_least;	     /* the least lateness of these */
	struct report held[SETTLED]; /* they: given when it is known why they were late */
	unsigned held_n;
	int64_t before_ns; /* least time of the last report that was given */
	bool damaged;
	uint8_t same[15];
	int64_t changed_ns;
};

static uint32_t le(const uint8_t *p, size_t n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static uint8_t crc(const uint8_t *p)
{
	uint8_t c = 0x42;

	for (size_t i = 1; i < REPORT - 1; i++) {
		c ^= p[i];
		for (int b = 0; b < 8; b++)
			c = (uint8_t)(c & 0x80 ? (c << 1) ^ 0x39 : c << 1);
	}
	return c;
}

static void command(const struct ww_meter_out *out, uint8_t c)
{
	uint8_t p[REPORT] = {0xaa, c};

	p[REPORT - 1] = crc(p);
	out->send(out->ctx, p, sizeof(p));
}

static void begin(struct fnb *f, int64_t now)
{
	f->phase = BEGIN;
	f->step = 0;
	f->tries++;
	f->first = true;
	f->next_ns = now;
	f->limit_ns = now + BEGUN_NS;
}

/* ------------------------------------------------------------- what is missing */

/* Reports that should have come between `from` and `to`, beside those already told. */
static void lost(struct fnb *f, struct ww_interval in, int64_t reports, const char *why,
		 const struct ww_meter_out *out)
{
	in.hi_ns = in.hi_ns < in.lo_ns ? in.lo_ns : in.hi_ns;
	if (reports > 0)
		out->loss(out->ctx, in, reports * (f->measured_only ? 1 : SAMPLES), why);
}

/*
 * A report that the machine took up late is followed by others at once, and none is
 * missing; only when all that follow are as late, some were never sent. The pace is that
 * of the meter: it may be a little faster or slower than it says.
 */
static void pace(struct fnb *f, struct ww_interval t, const struct ww_meter_out *out)
{
	int64_t late = ww_since(t.hi_ns, ww_add_sat(f->due_ns, f->report_ns));
	int64_t apart = ww_since(t.hi_ns, f->last.hi_ns);

	f->due_ns = ww_add_sat(f->due_ns, f->report_ns);
	if (late < f->report_ns / 2) {
		/* Its 40 ms are its own: a report that is only a little off tells how long. */
		if (apart > REPORT_NS * 3 / 4 && apart < REPORT_NS * 5 / 4)
			f->report_ns += (apart - f->report_ns) / 32;
		/* Follow the meter's clock, slowly where it lags. */
		f->due_ns = late < 0 ? t.hi_ns : f->due_ns + late / 8;
		f->late_n = 0;
		f->damaged = false;
		return;
	}
	if (!f->late_n++) {
		f->late_in = (struct ww_interval){f->last.hi_ns, t.lo_ns};
		f->late_least = late;
	}
	f->late_least = late < f->late_least ? late : f->late_least;
	if (f->late_n < SETTLED)
		return;
	lost(f, f->late_in, (f->late_least + f->report_ns / 2) / f->report_ns,
	     f->damaged ? "damaged" : "missing", out);
	/* What is later still was lost after that. */
	f->due_ns = ww_add_sat(f->due_ns, f->late_least);
	f->late_n = 0;
	f->damaged = false;
}

/* After a silence that was told; the meter has begun anew. */
static void back(struct fnb *f, struct ww_interval t, const struct ww_meter_out *out)
{
	int64_t n = (ww_since(ww_iv_mid(t), ww_iv_mid(f->last)) + f->report_ns / 2) / f->report_ns;

	lost(f, (struct ww_interval){f->told_ns, t.lo_ns}, n - 1 - f->told, "silent", out);
	f->told = 0;
	f->due_ns = t.hi_ns;
	f->late_n = 0;
}

static void arrived(struct fnb *f, struct ww_interval t, const struct ww_meter_out *out)
{
	if (!f->has_last)
		f->due_ns = t.hi_ns;
	else if (f->told)
		back(f, t, out);
	else
		pace(f, t, out);
	f->has_last = true;
	f->last = t;
	f->limit_ns = ww_add_sat(t.hi_ns, SILENT_NS);
}

/* ---------------------------------------------------------------- the samples */

static void still(struct fnb *f, const uint8_t *p, struct ww_interval t,
		  const struct ww_meter_out *out)
{
	if (memcmp(p, f->same, sizeof(f->same)) != 0) {
		memcpy(f->same, p, sizeof(f->same));
		f->changed_ns = t.hi_ns;
		f->told_still = false;
	} else if (!f->told_still && le(p + 4, 4) && ww_since(t.lo_ns, f->changed_ns) >= STILL_NS) {
		f->told_still = true;
		ww_meter_tell(out, t, "stale: the same sample for 10 s, though a current flows");
	}
}

/* Each is 10 ms after the one before; times never fall, whatever the report's own did. */
static void sample(struct fnb *f, const uint8_t *p, struct ww_interval t, int64_t before,
		   const struct ww_meter_out *out)
{
	int64_t v = le(p, 4), i = le(p + 4, 4), c[CHANNELS];

	t.lo_ns = ww_add_sat(t.lo_ns, -before);
	t.hi_ns = ww_add_sat(t.hi_ns, -before);
	if (f->given.lo_ns > t.lo_ns)
		t.lo_ns = f->given.lo_ns;
	if (f->given.hi_ns > t.hi_ns)
		t.hi_ns = f->given.hi_ns;
	if (v > VOLTS_MOST || i > AMPS_MOST) {
		ww_meter_tell(out, t, "over-range: %lld.%05lld V, %lld.%05lld A left out",
			      (long long)v / 100000, (long long)v % 100000, (long long)i / 100000,
			      (long long)i % 100000);
		return;
	}
	f->given = t;
	c[POWER] = (v * i + 5000) / 10000;
	c[VOLTAGE] = v;
	c[CURRENT] = i;
	c[DP] = le(p + 8, 2);
	c[DM] = le(p + 10, 2);
	c[TEMPERATURE] = le(p + 13, 2);
	out->reading(out->ctx, t, c);
}

static void give(struct fnb *f, struct ww_interval t, const uint8_t *p,
		 const struct ww_meter_out *out)
{
	bool first = f->first;
	int64_t least = ww_add_sat(f->before_ns, f->report_ns * 3 / 4);

	/* Two reports are never much closer than their pace. */
	if (!first && t.lo_ns < least)
		t.lo_ns = least < t.hi_ns ? least : t.hi_ns;
	f->before_ns = t.lo_ns;
	f->first = false;
	for (int k = 0; k < SAMPLES; k++) {
		/* After a beginning it is of another time, or of none. */
		if ((k == 0 && first) || (k && f->measured_only))
			continue;
		sample(f, p + 2 + 15 * k, t, (SAMPLES - 1 - k) * f->report_ns / SAMPLES, out);
	}
	still(f, p + 2, t, out);
}

/* Those that waited; none of them came later than `before`, or than the next of them. */
static void give_held(struct fnb *f, int64_t before, const struct ww_meter_out *out)
{
	for (unsigned i = f->held_n; i--;) {
		before = ww_add_sat(before, -(f->report_ns * 3 / 4));
		if (f->held[i].t.hi_ns > before)
			f->held[i].t.hi_ns = before;
		if (f->held[i].t.lo_ns > f->held[i].t.hi_ns)
			f->held[i].t.lo_ns = f->held[i].t.hi_ns;
		before = f->held[i].t.hi_ns;
	}
	for (unsigned i = 0; i < f->held_n; i++)
		give(f, f->held[i].t, f->held[i].p, out);
	f->held_n = 0;
}

static void data(struct fnb *f, struct ww_interval t, const uint8_t *p,
		 const struct ww_meter_out *out)
{
	arrived(f, t, out);
	f->phase = RUN;
	f->tries = 0;
	if (f->late_n && f->held_n < SETTLED) {
		f->held[f->held_n].t = t;
		memcpy(f->held[f->held_n++].p, p, REPORT);
		return;
	}
	give_held(f, t.hi_ns, out);
	give(f, t, p, out);
}

static void fnb_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		     const struct ww_meter_out *out)
{
	struct fnb *f = state;

	if (f->phase == IDLE || f->phase == DEAD || !n)
		return;
	if (n == REPORT && p[0] == 0xaa && crc(p) == p[REPORT - 1]) {
		f->reports++;
		if (p[1] == 4)
			data(f, t, p, out);
		return;
	}
	f->bad++;
	if (f->phase == RUN && n == REPORT && p[0] == 0xaa && p[1] == 4) {
		/* What it held is known to be missing, and when it was measured. */
		struct ww_interval in = {f->last.hi_ns, t.hi_ns};

		arrived(f, t, out);
		lost(f, in, 1, "damaged", out);
	} else {
		f->damaged = true;
	}
	if (f->phase == RUN)
		ww_meter_tell(out, t, "damaged report left out: %s",
			      n != REPORT    ? "not 64 bytes long"
			      : p[0] != 0xaa ? "no 0xaa"
					     : "wrong CRC");
	while (f->junk_n < n && f->junk_n < sizeof(f->junk)) {
		f->junk[f->junk_n] = p[f->junk_n];
		f->junk_n++;
	}
}

/* ------------------------------------------------------------------ its turns */

static int init(struct fnb *f, bool old, struct ww_uri *options, int64_t every_ns,
		struct ww_error *err)
{
	int64_t measured = every_ns >= REPORT_NS;

	if (ww_uri_int(options, "measured", 0, 1, &measured, err) < 0)
		return -EINVAL;
	*f = (struct fnb){.old = old,
			  .keep_ns = old ? 3 * WW_NS_PER_MS : WW_NS_PER_S,
			  .measured_only = measured != 0,
			  .report_ns = REPORT_NS,
			  .given = {WW_TIME_MIN, WW_TIME_MIN},
			  .next_ns = WW_TIME_MAX,
			  .limit_ns = WW_TIME_MAX};
	return 0;
}

static int new_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	return init(state, false, options, every_ns, err);
}

static int old_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	return init(state, true, options, every_ns, err);
}

static void fnb_shape(const void *state, struct ww_meter_shape *s)
{
	if (((const struct fnb *)state)->measured_only)
		s->period_ns = REPORT_NS;
}

static void fnb_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	(void)out;
	begin(state, now_ns);
}

static int64_t fnb_deadline(const void *state)
{
	const struct fnb *f = state;

	if (f->phase == IDLE || f->phase == DEAD)
		return WW_TIME_MAX;
	return f->next_ns < f->limit_ns ? f->next_ns : f->limit_ns;
}

static void next_command(struct fnb *f, int64_t now, const struct ww_meter_out *out)
{
	const uint8_t beginning[] = {0x81, 0x82, f->old ? 0x83 : 0x82};

	if (f->step < WW_COUNTOF(beginning)) {
		command(out, beginning[f->step++]);
		f->next_ns = now + (f->step < WW_COUNTOF(beginning) ? STEP_NS : f->keep_ns);
		return;
	}
	command(out, 0x83);
	f->next_ns += f->keep_ns;
	if (f->next_ns <= now)
		f->next_ns = now + f->keep_ns;
}

static void give_up(struct fnb *f, const struct ww_meter_out *out)
{
	char text[400], heard[96] = "nothing came";
	size_t k;

	if (f->bad) {
		k = (size_t)snprintf(heard, sizeof(heard), "%llu reports came, none of its kind:",
				     (unsigned long long)f->bad);
		for (size_t i = 0; i < f->junk_n && k + 4 < sizeof(heard); i++)
			k += (size_t)snprintf(heard + k, sizeof(heard) - k, " %02x", f->junk[i]);
	} else if (f->reports) {
		snprintf(heard, sizeof(heard), "%llu reports came, none with data",
			 (unsigned long long)f->reports);
	}
	snprintf(text, sizeof(text),
		 "no data from a FNIRSI meter after %d beginnings (%s). Is this its interface "
		 "(an FNB58 has several), is no other program reading it? Unplug it and plug it "
		 "in again; a C1 needs firmware 0.70",
		 TRIES, heard);
	f->phase = DEAD;
	out->fail(out->ctx, -ETIMEDOUT, text);
}

static void silent(struct fnb *f, int64_t now, const struct ww_meter_out *out)
{
	int64_t from = f->told ? f->told_ns : f->last.hi_ns, n;

	give_held(f, WW_TIME_MAX, out);
	f->late_n = 0;
	if (!f->has_last && f->tries >= TRIES) {
		give_up(f, out);
		return;
	}
	if (f->has_last) {
		n = ww_since(now, f->last.hi_ns) / f->report_ns - f->told;
		lost(f, (struct ww_interval){from, now}, n, f->damaged ? "damaged" : "silent", out);
		f->told += n > 0 ? n : 0;
		f->told_ns = now;
		f->damaged = false;
	}
	begin(f, now);
}

static void fnb_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct fnb *f = state;

	if (f->phase == IDLE || f->phase == DEAD)
		return;
	if (now_ns >= f->limit_ns)
		silent(f, now_ns, out);
	if (f->phase != DEAD && now_ns >= f->next_ns)
		next_command(f, now_ns, out);
}

/*
 * It stops by itself when it is no longer kept alive; until then what it sends is read
 * by the port, or it would stand still the next time.
 */
static void fnb_stop(void *state, const struct ww_meter_out *out)
{
	struct fnb *f = state;

	if (f->phase == RUN)
		give_held(f, WW_TIME_MAX, out);
	f->phase = IDLE;
}

/* clang-format off */
#define CH(n, q, u, sem, s, r)                                                                     \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = r, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */

/*
 * The power is V times I of one sample: a step of 10 uA at 28 V and of 10 uV at 7 A. Three
 * of four samples are drawn between measured ones: values at moments, 40 ms wide.
 */
#define FNB(n, NAME, ids, how)                                                                     \
	{                                                                                          \
		.desc = {.name = n,                                                                \
			 .summary = "FNIRSI " NAME " (10 ms, 10 uV, 10 uA)",                       \
			 .example = n ":",                                                         \
			 .proven = false,                                                          \
			 .buses = WW_BUS_HID,                                                      \
			 .notes = computed,                                                        \
			 .usb = ids,                                                               \
			 .period_ns = SAMPLE_NS,                                                   \
			 .window_ns = REPORT_NS,                                                   \
			 .delay_min_ns = 0,                                                        \
			 .delay_max_ns = REPORT_NS + SAMPLE_NS,                                    \
			 .channels = CHANNELS,                                                     \
			 .channel = {[POWER] =                                                     \
					     CH("power", "power", "W", WW_INSTANT, 1e-6, 3.5e-4),  \
				     [VOLTAGE] = CH("voltage", "voltage", "V", WW_INSTANT, 1e-5,   \
						    1e-5),                                         \
				     [CURRENT] = CH("current", "current", "A", WW_INSTANT, 1e-5,   \
						    1e-5),                                         \
				     [DP] = CH("d_plus", "other", "V", WW_INSTANT, 0.001, 0.001),  \
				     [DM] = CH("d_minus", "other", "V", WW_INSTANT, 0.001, 0.001), \
				     [TEMPERATURE] = CH("temperature", "other", "degC",            \
							WW_INSTANT, 0.1, 0.1)},                    \
			 .state_size = sizeof(struct fnb)},                                        \
		.init = how##_init, .shape = fnb_shape, .start = fnb_start, .feed = fnb_feed,      \
		.deadline = fnb_deadline, .tick = fnb_tick, .stop = fnb_stop,                      \
	}

static const char computed[] =
	"power is computed, volts times amperes of each sample; three of four samples lie "
	"between measured ones";

#define ID(v, p, text)                                                                             \
	{                                                                                          \
		.vid = v, .pid = p, .name = text, .bus = WW_BUS_HID, .interface = -1               \
	}

static const struct ww_usb_id fnb48_ids[] = {ID(0x0483, 0x003a, "FNIRSI FNB48"), {.vid = 0}};
static const struct ww_usb_id c1_ids[] = {ID(0x0483, 0x003b, "FNIRSI C1"), {.vid = 0}};
static const struct ww_usb_id fnb48s_ids[] = {ID(0x2e3c, 0x0049, "FNIRSI FNB48S, FNB48P"),
					      {.vid = 0}};
static const struct ww_usb_id fnb58_ids[] = {ID(0x2e3c, 0x5558, "FNIRSI FNB58"), {.vid = 0}};

const struct ww_meter_ops ww_meter_fnb48 = FNB("fnb48", "FNB48", fnb48_ids, old);
const struct ww_meter_ops ww_meter_c1 = FNB("c1", "C1", c1_ids, old);
const struct ww_meter_ops ww_meter_fnb48s = FNB("fnb48s", "FNB48S, FNB48P", fnb48s_ids, new);
const struct ww_meter_ops ww_meter_fnb58 = FNB("fnb58", "FNB58", fnb58_ids, new);

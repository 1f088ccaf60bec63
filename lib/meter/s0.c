/* SPDX-License-Identifier: MIT */
/*
 * Pulse meters: S0 (EN 62053-31, a contact closed for 30 to 150 ms) and blinking LEDs
 * (2 to 50 ms), so many pulses a kWh, on any line that gives edges. Power is energy of whole pulses
 * over the time from edge to edge, never pulses counted in a window, which would jump by one: a
 * meter that blinks evenly reads evenly. Each reading is the mean since the one before, however
 * long ago that was, so that its integral is the energy of the pulses.
 */
#include "meter/meter.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define MILLI 1000.0 /* codes of power a watt */
/* Usual ways from a pulse's begin to the driver: nothing is said of times so young. */
#define LAG_NS	 (20 * WW_NS_PER_MS)
#define FIRST_NS (10 * WW_NS_PER_S) /* till the first bound where no pace is known */
#define LONG_NS	 (500 * WW_NS_PER_MS)
#define SHORT_NS (250 * WW_NS_PER_MS)

enum { POWER, ENERGY, POWER_LO, POWER_HI, CHANNELS };

struct s0 {
	double per_kwh, joules /* of a pulse */, max_watts;
	int64_t hold_ns; /* a shorter pulse is none */
	int64_t dead_ns; /* nor is one that comes sooner than this after another */
	int64_t every_ns;

	/* the line */
	bool known, burst, stable;
	bool level;		     /* after the latest edge */
	struct ww_interval edge;     /* that one */
	struct ww_interval burst_t;  /* first edge since the level was steady */
	struct ww_interval change_t; /* of the steady level */
	bool changed;
	int64_t active_ns; /* how long the latest pulse was */
	unsigned odd;	   /* pulses in a row that look like pauses */
	uint64_t spikes, soon;

	/* pulses */
	bool begun, counting; /* counting: `given` is a pulse, and nothing was lost since */
	int64_t start_ns;
	struct ww_interval last, given; /* latest pulse, latest that has a reading */
	struct ww_interval lost_t;
	bool lost;
	int64_t pulses, fresh; /* in all, since `given` */
	double carry;	       /* J that rounding has kept back */
	int64_t row_hi_ns;
	int64_t bound_ns; /* when the bound is told again */
	bool stopped;
};

WW_PRINTF(3, 4)
static void tell(const struct ww_meter_out *out, int64_t at, const char *fmt, ...)
{
	char text[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out->event(out->ctx, (struct ww_interval){at, at}, WW_MARK_DEVICE, text);
}

/* 1, 10, 100: what may happen a thousand times is not told as often. */
static bool worth_telling(uint64_t n)
{
	while (n && n % 10 == 0)
		n /= 10;
	return n == 1;
}

static int64_t sub(int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_sub_overflow(a, b, &r) ? (a > b ? WW_TIME_MAX : WW_TIME_MIN) : r;
}

static int64_t between(struct ww_interval from, struct ww_interval to)
{
	return sub(ww_iv_mid(to), ww_iv_mid(from));
}

/* --------------------------------------------------------------------- readings */

static int64_t code_of(double watts, double (*round_to)(double))
{
	double c = round_to(watts * MILLI);

	return c < 9e15 ? (int64_t)c : WW_OVER;
}

static void row(struct s0 *s, struct ww_interval t, const int64_t *first,
		const struct ww_meter_out *out)
{
	int64_t codes[WW_METER_CHANNELS];

	for (size_t i = 0; i < WW_METER_CHANNELS; i++)
		codes[i] = i < CHANNELS ? first[i] : WW_MISSING;
	s->row_hi_ns = t.hi_ns;
	out->reading(out->ctx, t, codes);
}

/* The pulses since `given` up to `last`. */
static void give(struct s0 *s, const struct ww_meter_out *out)
{
	int64_t code[CHANNELS] = {WW_MISSING, s->pulses, WW_MISSING, WW_MISSING};
	double dt = (double)between(s->given, s->last) / 1e9;
	double energy = (double)s->fresh * s->joules;
	double least = ((double)s->last.lo_ns - (double)s->given.hi_ns) / 1e9;
	double most = ((double)s->last.hi_ns - (double)s->given.lo_ns) / 1e9;

	if (s->counting && dt > 0) {
		/* What is rounded off goes to the next reading: the sum stays that of pulses. */
		code[POWER] = code_of((energy + s->carry) / dt, round);
		if (code[POWER] < 0)
			code[POWER] = 0;
		s->carry += energy - (double)code[POWER] / MILLI * dt;
		code[POWER_LO] = code_of(energy / most, floor);
		code[POWER_HI] = least > 0 ? code_of(energy / least, ceil) : WW_OVER;
	}
	row(s, s->last, code, out);
	s->given = s->last;
	s->counting = true;
	s->fresh = 0;
}

static void plan_bound(struct s0 *s)
{
	int64_t usual = s->counting && s->fresh ? between(s->given, s->last) / s->fresh : 0;

	usual = !usual ? FIRST_NS : usual + usual / 2;
	s->bound_ns =
		ww_add_sat(s->last.hi_ns, (usual > WW_NS_PER_S ? usual : WW_NS_PER_S) + LAG_NS);
}

static void pulse(struct s0 *s, struct ww_interval t, const struct ww_meter_out *out)
{
	if (t.hi_ns < s->row_hi_ns)
		t.hi_ns = s->row_hi_ns;
	if (t.lo_ns > t.hi_ns)
		t.lo_ns = t.hi_ns;
	if (s->begun && between(s->last, t) < s->dead_ns) {
		if (worth_telling(++s->soon))
			tell(out, t.hi_ns,
			     "%llu pulse%s left out: sooner than max_watts=%.0f allows. A bouncing "
			     "contact (try debounce=5ms), or imp_per_kwh=%g is not this meter's",
			     (unsigned long long)s->soon, s->soon == 1 ? "" : "s", s->max_watts,
			     s->per_kwh);
		return;
	}
	s->pulses += s->begun;
	s->last = t;
	s->begun = true;
	s->fresh++;
	plan_bound(s);
	if (s->lost) {
		out->loss(out->ctx, (struct ww_interval){s->lost_t.lo_ns, t.hi_ns}, -1, "sequence");
		s->lost = s->counting = false;
	}
	if (!s->counting || between(s->given, t) >= s->every_ns - s->every_ns / 20)
		give(s, out);
}

/*
 * No pulse at all: told in words, at longer and longer intervals. A row would seem to begin
 * the first mean.
 */
static void none_yet(struct s0 *s, int64_t now, const struct ww_meter_out *out)
{
	double age = (double)sub(now, s->start_ns) / 1e9;

	s->bound_ns = ww_add_sat(now, (int64_t)fmax(1e9, age * 9e9));
	tell(out, now,
	     "no pulse in %.0f s since the start: less than %.3g W flows, or the line is not "
	     "wired (S0 needs a pull-up: bias=pull-up; an LED a sensor)",
	     age, s->joules / age);
}

/* No pulse until now: whatever flows is less than this. */
static void bound(struct s0 *s, int64_t now, const struct ww_meter_out *out)
{
	int64_t at = now - LAG_NS;
	int64_t code[CHANNELS] = {WW_MISSING, WW_MISSING, 0, WW_MISSING};
	double age = (double)sub(at, s->last.hi_ns) / 1e9;

	if (s->fresh)
		give(s, out);
	s->bound_ns = ww_add_sat(now, (int64_t)fmax(1e9, age * 0.125e9));
	if (age <= 0 || at < s->row_hi_ns)
		return;
	code[POWER_HI] = code_of(s->joules / age, ceil);
	row(s, (struct ww_interval){at, at}, code, out);
}

static void edges_lost(struct s0 *s, struct ww_interval t, const struct ww_meter_out *out)
{
	if (s->fresh && s->counting)
		give(s, out);
	if (!s->lost && s->begun) {
		s->lost = true;
		s->lost_t = (struct ww_interval){s->last.hi_ns, t.hi_ns};
	}
	s->known = s->burst = s->changed = false;
}

/* --------------------------------------------------------------------- the line */

/* Active for long and idle for the length of a pulse: it is the other way round. */
static void judge_polarity(struct s0 *s, int64_t idle_ns, const struct ww_meter_out *out)
{
	bool odd = s->active_ns > LONG_NS && idle_ns < SHORT_NS;

	s->odd = odd ? s->odd + 1 : 0;
	if (s->odd != 5)
		return;
	tell(out, s->change_t.hi_ns,
	     "the line is active all the time but for %lld ms: it is wired the other way round. "
	     "Nothing is lost, but each pulse is late by its length: set active_low= the other "
	     "way (%s)",
	     (long long)(idle_ns / WW_NS_PER_MS), "on modem lines and pins: put ! before its name");
}

/* The level is steady since the latest edge. */
static void settle(struct s0 *s, const struct ww_meter_out *out)
{
	struct ww_interval t = s->burst_t;
	int64_t lasted = s->changed ? between(s->change_t, t) : -1;

	s->burst = false;
	if (s->level == s->stable) {
		if (worth_telling(++s->spikes))
			tell(out, s->edge.hi_ns,
			     "%llu spike%s shorter than min_pulse=%.1f ms left out: interference, "
			     "or a "
			     "meter whose pulses are shorter",
			     (unsigned long long)s->spikes, s->spikes == 1 ? "" : "s",
			     (double)s->hold_ns / 1e6);
		return;
	}
	s->stable = s->level;
	s->change_t = t;
	s->changed = true;
	if (!s->stable) {
		s->active_ns = lasted;
		return;
	}
	if (lasted >= 0)
		judge_polarity(s, lasted, out);
	pulse(s, t, out);
}

static void edge(struct s0 *s, struct ww_interval t, bool level, const struct ww_meter_out *out)
{
	/* The longest that the level before it can have lasted. */
	if (s->burst && sub(t.hi_ns, s->edge.lo_ns) >= s->hold_ns)
		settle(s, out);
	if (s->known && level == s->level) {
		/* Two alike: the one between them was lost. */
		edges_lost(s, t, out);
	}
	if (!s->known) {
		s->known = true;
		s->stable = !level;
	}
	if (!s->burst) {
		s->burst = true;
		s->burst_t = t;
	}
	s->level = level;
	s->edge = t;
}

/* ------------------------------------------------------------------- the driver */

static int s0_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct s0 *s = state;

	*s = (struct s0){.per_kwh = 0,
			 .max_watts = 36000,
			 .hold_ns = WW_NS_PER_MS,
			 .every_ns = every_ns > 0 ? every_ns : 0,
			 .row_hi_ns = WW_TIME_MIN,
			 .bound_ns = WW_TIME_MAX};
	if (ww_uri_num(options, "imp_per_kwh", 1, 100000, &s->per_kwh, err) < 0 ||
	    ww_uri_num(options, "max_watts", 1, 1e9, &s->max_watts, err) < 0 ||
	    ww_uri_dur(options, "min_pulse", &s->hold_ns, err) < 0)
		return -EINVAL;
	if (s->per_kwh <= 0)
		return ww_fail(err, -EINVAL,
			       "s0: option imp_per_kwh= is needed: the pulses a kWh that stand on "
			       "the meter, such as imp_per_kwh=1000");
	if (s->hold_ns > 150 * WW_NS_PER_MS)
		return ww_fail(err, -EINVAL,
			       "s0: option min_pulse=: no pulse is longer than 150 ms");
	s->joules = 3.6e6 / s->per_kwh;
	s->dead_ns = (int64_t)(s->joules / s->max_watts * 1e9);
	return 0;
}

/* clang-format off */
#define CH(n, q, u, sem)                                                                           \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = 0.001,             \
		.resolution = 0.001, .acc_abs = (double)NAN, .acc_rel = (double)NAN                \
	}
/* clang-format on */

static void s0_channel(const void *state, size_t i, struct ww_channel_info *out)
{
	static const struct ww_channel_info channel[CHANNELS] = {
		CH("power", "power", "W", WW_AVERAGE), CH("energy", "energy", "Wh", WW_COUNTER),
		/* Bounds are no power that flows: no analysis may integrate them. */
		CH("power_lo", "other", "W", WW_INSTANT), CH("power_hi", "other", "W", WW_INSTANT)};
	const struct s0 *s = state;

	*out = channel[i];
	if (i == ENERGY)
		out->scale = out->resolution = 1000 / s->per_kwh;
}

static void s0_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct s0 *s = state;

	(void)out;
	s->start_ns = now_ns;
	s->bound_ns = now_ns + FIRST_NS;
}

static void s0_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		    const struct ww_meter_out *out)
{
	struct s0 *s = state;

	for (size_t i = 0; i < n && !s->stopped; i++) {
		if (p[i] == 'x')
			edges_lost(s, t, out);
		else if (p[i] == '0' || p[i] == '1')
			edge(s, t, p[i] == '1', out);
	}
}

static int64_t steady_ns(const struct s0 *s)
{
	return s->burst ? ww_add_sat(s->edge.hi_ns, s->hold_ns + LAG_NS) : WW_TIME_MAX;
}

static int64_t s0_deadline(const void *state)
{
	const struct s0 *s = state;

	return steady_ns(s) < s->bound_ns ? steady_ns(s) : s->bound_ns;
}

static void s0_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct s0 *s = state;

	if (now_ns >= steady_ns(s))
		settle(s, out);
	if (now_ns >= s->bound_ns && s->begun)
		bound(s, now_ns, out);
	else if (now_ns >= s->bound_ns)
		none_yet(s, now_ns, out);
}

static void s0_stop(void *state, const struct ww_meter_out *out)
{
	struct s0 *s = state;

	if (s->burst && s->level != s->stable)
		settle(s, out);
	if (s->fresh)
		give(s, out);
	s->burst = false;
	s->stopped = true;
	s->bound_ns = WW_TIME_MAX;
}

const struct ww_meter_ops ww_meter_s0 = {
	.desc = {.name = "s0",
		 .summary = "pulse meters: S0 contact or LED on a GPIO, modem or RX line",
		 .example = "s0:gpiochip0/17?imp_per_kwh=1000&bias=pull-up&active_low=1",
		 .proven = false,
		 .buses = WW_BUS_EDGES,
		 .window_ns = -1, /* the time since the reading before */
		 .channels = CHANNELS,
		 .channel = {CH("power", "power", "W", WW_AVERAGE),
			     CH("energy", "energy", "Wh", WW_COUNTER),
			     CH("power_lo", "other", "W", WW_INSTANT),
			     CH("power_hi", "other", "W", WW_INSTANT)},
		 .state_size = sizeof(struct s0)},
	.init = s0_init,
	.channel = s0_channel,
	.start = s0_start,
	.feed = s0_feed,
	.deadline = s0_deadline,
	.tick = s0_tick,
	.stop = s0_stop,
};

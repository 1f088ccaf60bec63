/* SPDX-License-Identifier: MIT */
/*
 * A battery of the machine, by the kernel's power_supply class: one reading of `uevent`
 * is one snapshot of all (Documentation/ABI/testing/sysfs-class-power); where that says
 * nothing, the files are read one after another. Drivers do not
 * agree on the sign of a current, so `status` decides: watts that the battery gives
 * are positive. The fuel gauge renews its values every 1 to 30 s and does not say when:
 * a snapshot that is new changed between the last look and this one, and one that
 * is unchanged still holds: it is given as often as the period says, no more.
 */
#include "meter/sysval.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define LOOK_NS	   WW_NS_PER_S
#define FASTEST_NS (100 * WW_NS_PER_MS)
#define GAUGE_NS   (30 * WW_NS_PER_S) /* slowest known */
#define LEARN	   4		      /* changes before their pace is told */

enum { POWER, VOLTAGE, CURRENT, ENERGY, LEFT, CHARGE, CAPACITY, ONLINE, CHANNELS };

/* clang-format off */
#define CH(n, q, u, sem, s)                                                                        \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = s, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */
static const struct ww_channel_info channels[CHANNELS] = {
	[POWER] = CH("power", "power", "W", WW_HOLD, 1e-6),
	[VOLTAGE] = CH("voltage", "voltage", "V", WW_HOLD, 1e-6),
	[CURRENT] = CH("current", "current", "A", WW_HOLD, 1e-6),
	/* What was taken out since it was full. */
	[ENERGY] = CH("energy", "energy", "Wh", WW_COUNTER, 1e-6),
	[LEFT] = CH("energy_left", "other", "Wh", WW_HOLD, 1e-6),
	[CHARGE] = CH("charge_left", "other", "Ah", WW_HOLD, 1e-6),
	[CAPACITY] = CH("capacity", "other", "%", WW_HOLD, 1),
	[ONLINE] = CH("online", "level", "1", WW_HOLD, 1),
};

struct snapshot {
	char status[20], name[40], maker[40], serial[40];
	int64_t power, current, voltage, energy, full, charge, capacity, online;
};

struct battery {
	struct ww_sysask ask;
	bool stopped, files, has_last, told, mains, full_known, sign_told;
	size_t n;
	uint8_t channel[CHANNELS]; /* of `channels` */
	int64_t full;		   /* energy when full: the counter's zero */
	struct snapshot last;
	struct ww_interval seen; /* last look */
	bool unread;		 /* since the last snapshot it could not be read */
	int64_t given_ns, change_ns;
	int64_t pace_ns;     /* learnt; 0 not yet */
	int64_t shortest_ns; /* between changes, of those since it was told */
	unsigned changes;
};

static int battery_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct battery *b = state;

	(void)options;
	(void)err;
	*b = (struct battery){.n = 1};
	if (every_ns <= 0)
		every_ns = LOOK_NS;
	ww_sysask_init(&b->ask, every_ns < FASTEST_NS ? FASTEST_NS : every_ns);
	return 0;
}

static bool listed(const char *text, size_t n, const char *name)
{
	struct ww_sysline l;

	return ww_sysline_find(text, n, name, &l);
}

static int battery_look(void *state, const char *text, size_t n, struct ww_error *err)
{
	struct battery *b = state;
	bool volts = listed(text, n, "voltage_now"), amps = listed(text, n, "current_now");
	bool energy = listed(text, n, "energy_now");
	const bool has[CHANNELS] = {
		[POWER] = listed(text, n, "power_now") || (volts && amps),
		[VOLTAGE] = volts,
		[CURRENT] = amps,
		[ENERGY] = energy && listed(text, n, "energy_full"),
		[LEFT] = energy,
		[CHARGE] = listed(text, n, "charge_now"),
		[CAPACITY] = listed(text, n, "capacity"),
		[ONLINE] = listed(text, n, "online"),
	};

	b->n = 0;
	for (unsigned i = 0; i < CHANNELS; i++)
		if (has[i])
			b->channel[b->n++] = (uint8_t)i;
	b->mains = !listed(text, n, "status");
	b->files = !listed(text, n, "uevent");
	if (!b->n)
		return ww_fail(err, -ENODEV,
			       "this is no battery that tells its power, voltage or charge");
	return 0;
}

static int64_t period_ns(const struct battery *b)
{
	return b->pace_ns ? b->pace_ns : b->ask.every_ns;
}

static void battery_shape(const void *state, struct ww_meter_shape *s)
{
	const struct battery *b = state;

	s->channels = b->n;
	s->period_ns = period_ns(b);
	/* What the gauge averages over is not told; its values are as old as its pace. */
	s->window_ns = b->pace_ns;
	s->delay_min_ns = 0;
	s->delay_max_ns = b->pace_ns ? b->pace_ns : GAUGE_NS;
}

static void battery_channel(const void *state, size_t i, struct ww_channel_info *out)
{
	*out = channels[((const struct battery *)state)->channel[i]];
}

/* ----------------------------------------------------------------- a snapshot */

/* The name of a file is that of the property in small letters; in any locale. */
static bool same_letters(const char *name, const char *key)
{
	for (; *key; name++, key++)
		if (*name != *key && !(*name >= 'a' && *name <= 'z' && *name - 'a' + 'A' == *key))
			return false;
	return true;
}

/*
 * POWER_SUPPLY_NAME=value of the joined lines of uevent, or name=value of files read one by
 * one.
 */
static bool property(const char *p, size_t n, const char *key, struct ww_sysline *out)
{
	static const char prefix[] = "POWER_SUPPLY_";
	const char *end = p + n;

	while (p < end) {
		const char *stop = p, *eq, *name = p;

		while (stop < end && *stop != '\x1f' && *stop != '\n')
			stop++;
		eq = memchr(p, '=', (size_t)(stop - p));
		if (eq && (size_t)(eq - p) > sizeof(prefix) - 1 &&
		    memcmp(p, prefix, sizeof(prefix) - 1) == 0)
			name += sizeof(prefix) - 1;
		if (eq && (size_t)(eq - name) == strlen(key) && same_letters(name, key)) {
			*out = (struct ww_sysline){.name = p,
						   .name_n = (size_t)(eq - p),
						   .value = eq + 1,
						   .n = (size_t)(stop - eq - 1),
						   .kind = '='};
			return true;
		}
		p = stop + 1;
	}
	return false;
}

static int64_t number(const char *p, size_t n, const char *key)
{
	struct ww_sysline l;
	int64_t v;

	return property(p, n, key, &l) && ww_sysline_int(&l, &v) && v > -(INT64_C(1) << 40) &&
			       v < INT64_C(1) << 40
		       ? v
		       : WW_MISSING;
}

static void words(const char *p, size_t n, const char *key, char *out, size_t size)
{
	struct ww_sysline l;

	out[0] = '\0';
	if (property(p, n, key, &l))
		ww_sysline_text(&l, out, size);
}

static struct snapshot snapshot_of(const char *p, size_t n)
{
	struct snapshot s = {
		.power = number(p, n, "POWER_NOW"),
		.current = number(p, n, "CURRENT_NOW"),
		.voltage = number(p, n, "VOLTAGE_NOW"),
		.energy = number(p, n, "ENERGY_NOW"),
		.full = number(p, n, "ENERGY_FULL"),
		.charge = number(p, n, "CHARGE_NOW"),
		.capacity = number(p, n, "CAPACITY"),
		.online = number(p, n, "ONLINE"),
	};

	words(p, n, "STATUS", s.status, sizeof(s.status));
	words(p, n, "MODEL_NAME", s.name, sizeof(s.name));
	words(p, n, "MANUFACTURER", s.maker, sizeof(s.maker));
	words(p, n, "SERIAL_NUMBER", s.serial, sizeof(s.serial));
	return s;
}

/* +1 it gives, -1 it takes, 0 nobody knows. */
static int sign_of(const struct battery *b, const struct snapshot *s)
{
	if (b->mains || strcmp(s->status, "Discharging") == 0)
		return 1;
	return strcmp(s->status, "Charging") == 0 ? -1 : 0;
}

static int64_t magnitude(int64_t v)
{
	return v == WW_MISSING ? v : v < 0 ? -v : v;
}

/* µW: its own, else volts times amperes of the same snapshot. */
static int64_t watts_of(const struct snapshot *s)
{
	int64_t a = magnitude(s->current), p;

	if (s->power != WW_MISSING)
		return magnitude(s->power);
	if (a == WW_MISSING || s->voltage == WW_MISSING ||
	    __builtin_mul_overflow(a, s->voltage, &p))
		return WW_MISSING;
	return (p + 500000) / 1000000;
}

static int64_t with_sign(int64_t v, int sign)
{
	if (v == WW_MISSING || v == 0)
		return v;
	return sign ? v * sign : WW_MISSING;
}

static void codes_of(const struct battery *b, const struct snapshot *s, int64_t *codes)
{
	int sign = sign_of(b, s);
	const int64_t all[CHANNELS] = {
		[POWER] = with_sign(watts_of(s), sign),
		[VOLTAGE] = s->voltage,
		[CURRENT] = with_sign(magnitude(s->current), sign),
		[ENERGY] = s->energy == WW_MISSING || !b->full_known ? WW_MISSING
								     : b->full - s->energy,
		[LEFT] = s->energy,
		[CHARGE] = s->charge,
		[CAPACITY] = s->capacity,
		[ONLINE] = s->online,
	};

	for (size_t i = 0; i < b->n; i++)
		codes[i] = all[b->channel[i]];
}

/* -------------------------------------------------------------- what it means */

/* The gauge's pace: the shortest time between two changes, told when it is known. */
static void learn(struct battery *b, struct ww_interval t, const struct ww_meter_out *out)
{
	int64_t dt = ww_since(t.hi_ns, b->change_ns);

	if (b->change_ns && (!b->shortest_ns || dt < b->shortest_ns))
		b->shortest_ns = dt;
	b->change_ns = t.hi_ns;
	if (++b->changes <= LEARN)
		return;
	if (!b->pace_ns || b->shortest_ns < b->pace_ns - b->ask.every_ns) {
		b->pace_ns = b->shortest_ns;
		ww_meter_tell(out, t, "the battery's gauge renews its values each %lld ms or so",
			      (long long)(b->pace_ns / WW_NS_PER_MS));
		out->identity(out->ctx, NULL, NULL, NULL);
	}
}

static void remarks(struct battery *b, struct ww_interval t, const struct snapshot *s,
		    const struct ww_meter_out *out)
{
	bool moved = b->has_last && strcmp(s->status, b->last.status) != 0;

	if ((!b->has_last || moved) && *s->status)
		ww_meter_tell(out, t, "status %s%s%s", s->status, moved ? ", was " : "",
			      moved ? b->last.status : "");
	if (b->has_last && s->online != b->last.online)
		ww_meter_tell(out, t, "online %lld", (long long)s->online);
	if (!sign_of(b, s) && watts_of(s) > 0 && !b->sign_told) {
		b->sign_told = true;
		ww_meter_tell(out, t,
			      "status %s: nobody can say whether it gives or takes: power and "
			      "current are left out",
			      *s->status ? s->status : "unknown");
	}
	if (b->has_last && s->energy != WW_MISSING && b->last.energy != WW_MISSING &&
	    s->energy > b->last.energy && strcmp(b->last.status, "Charging") != 0)
		out->event(out->ctx, t, WW_MARK_RESET, "it holds more than before: charged");
}

static void identify(struct battery *b, const struct snapshot *s, const struct ww_meter_out *out)
{
	char model[90];

	if (b->told)
		return;
	b->told = true;
	b->full = s->full;
	b->full_known = s->full != WW_MISSING;
	snprintf(model, sizeof(model), "%s%s%s", s->maker, *s->maker && *s->name ? " " : "",
		 s->name);
	out->identity(out->ctx, *model ? model : NULL, *s->serial ? s->serial : NULL, NULL);
}

static bool same(const struct snapshot *a, const struct snapshot *b)
{
	return a->power == b->power && a->current == b->current && a->voltage == b->voltage &&
	       a->energy == b->energy && a->charge == b->charge && a->capacity == b->capacity &&
	       a->online == b->online && strcmp(a->status, b->status) == 0;
}

/* The last snapshot held until the last look. */
static void held(struct battery *b, const struct ww_meter_out *out)
{
	int64_t codes[CHANNELS];

	if (!b->has_last || b->seen.hi_ns <= b->given_ns)
		return;
	b->given_ns = b->seen.hi_ns;
	codes_of(b, &b->last, codes);
	out->reading(out->ctx, b->seen, codes);
}

static void take(struct battery *b, struct ww_interval t, const struct snapshot *s,
		 const struct ww_meter_out *out)
{
	struct ww_interval when = t;
	int64_t codes[CHANNELS];
	bool again = b->has_last && same(s, &b->last);

	identify(b, s, out);
	if (!again) {
		/* The old values stood there at the last look. */
		if (b->has_last && !b->unread && b->seen.lo_ns < t.lo_ns)
			when.lo_ns = b->seen.lo_ns;
		remarks(b, t, s, out);
		learn(b, t, out);
	}
	b->seen = t;
	b->last = *s;
	b->has_last = true;
	if (again && !b->unread &&
	    ww_since(t.hi_ns, b->given_ns) < period_ns(b) - b->ask.every_ns / 2)
		return;
	b->unread = false;
	b->given_ns = t.hi_ns;
	codes_of(b, s, codes);
	out->reading(out->ctx, when, codes);
}

static void battery_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct battery *b = state;

	(void)out;
	b->stopped = false;
	ww_sysask_start(&b->ask, now_ns);
}

static int64_t battery_deadline(const void *state)
{
	const struct battery *b = state;

	return b->stopped ? WW_TIME_MAX : ww_sysask_deadline(&b->ask);
}

/* One snapshot, or where the driver gives none, the files one after another. */
static void ask(const struct battery *b, const struct ww_meter_out *out)
{
	static const char one_by_one[] =
		"status\npower_now\nvoltage_now\ncurrent_now\nenergy_now\nenergy_full\n"
		"charge_now\ncapacity\nonline\nmodel_name\nmanufacturer\nserial_number";

	if (b->files)
		out->send(out->ctx, one_by_one, sizeof(one_by_one) - 1);
	else
		out->send(out->ctx, "uevent", 6);
}

static void battery_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct battery *b = state;

	if (!b->stopped && ww_sysask_due(&b->ask, now_ns, out))
		ask(b, out);
}

static void unread(struct battery *b, struct ww_interval t, const char *why,
		   const struct ww_meter_out *out)
{
	held(b, out);
	b->unread = true;
	ww_sysask_bad(&b->ask, t, why, out);
}

static void battery_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
			 const struct ww_meter_out *out)
{
	struct battery *b = state;
	struct ww_sysline l;
	struct snapshot s;
	char why[32];

	if (b->stopped)
		return;
	if (b->files)
		l = (struct ww_sysline){.value = (const char *)p, .n = n, .kind = '='};
	else if (!ww_sysline_find((const char *)p, n, "uevent", &l))
		return;
	if (l.kind != '=') {
		ww_sysline_text(&l, why, sizeof(why));
		unread(b, t, why, out);
		return;
	}
	s = snapshot_of(l.value, l.n);
	if (s.power == WW_MISSING && s.voltage == WW_MISSING && s.energy == WW_MISSING &&
	    s.charge == WW_MISSING && s.online == WW_MISSING && s.capacity == WW_MISSING) {
		if (!b->files && !b->has_last) {
			b->files = true;
			ask(b, out);
		} else {
			unread(b, t, "no values in it", out);
		}
		return;
	}
	ww_sysask_good(&b->ask, t, out);
	take(b, t, &s, out);
}

static void battery_stop(void *state, const struct ww_meter_out *out)
{
	struct battery *b = state;

	if (!b->stopped)
		held(b, out);
	b->stopped = true;
}

const struct ww_meter_ops ww_meter_battery = {
	.desc = {.name = "battery",
		 .summary = "the machine's own battery (power_supply), and its mains adapter",
		 .example = "battery:BAT0",
		 .proven = false,
		 .buses = WW_BUS_FILES,
		 .period_ns = LOOK_NS,
		 .window_ns = 0,
		 .delay_min_ns = 0,
		 .delay_max_ns = GAUGE_NS,
		 .channels = 1,
		 .channel = {CH("power", "power", "W", WW_HOLD, 1e-6)},
		 .state_size = sizeof(struct battery)},
	.init = battery_init,
	.look = battery_look,
	.shape = battery_shape,
	.channel = battery_channel,
	.start = battery_start,
	.feed = battery_feed,
	.deadline = battery_deadline,
	.tick = battery_tick,
	.stop = battery_stop,
};

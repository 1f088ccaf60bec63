/* SPDX-License-Identifier: MIT */
/*
 * Energy counters of processors by the kernel's powercap class: a zone and the zones in
 * it (Documentation/power/powercap/powercap.rst). A counter starts again after
 * max_energy_range_uj: it is unwrapped here, by what the processor can have drawn since the
 * last look, and looked at more often than readings are wanted where it turns fast; where
 * two answers are possible none is given. The hardware renews a counter
 * about once a millisecond and tells no time, so power is a difference of readings
 * with an error of that millisecond at either end.
 */
#include "meter/sysval.h"

#include <math.h>
#include <stdio.h>

#define ZONES	   8
#define USUAL_NS   (100 * WW_NS_PER_MS)
#define FASTEST_NS (5 * WW_NS_PER_MS)
#define COARSE_NS  (50 * WW_NS_PER_MS) /* below it the error of the renewal passes 4 % */
#define RENEWAL_NS WW_NS_PER_MS
#define UNIT_UJ	   61	  /* of most: 2^-14 J */
#define MOST_W	   1000.0 /* where the limits are not told */
#define LOOKS	   4	  /* in the shortest time of a turn */

struct zone {
	char folder[64]; /* "" or "intel-rapl:0:1/" */
	char name[16];	 /* "", "core", "dram" */
	char power[24], energy[24];
	int64_t range_uj; /* 0 unknown */
	bool has_last, has_given;
	bool broken;	    /* since the reading before, something is not known */
	int64_t raw, total; /* total: unwrapped */
	struct ww_interval t;
	int64_t given; /* total at the latest reading, */
	struct ww_interval given_t;
};

struct rapl {
	struct ww_sysask ask;
	int64_t every_ns; /* of readings */
	bool stopped, bounds, any;
	int64_t due_ns; /* next reading, if `any` */
	char name[32];
	size_t n;
	struct zone zone[ZONES];
	double most_w; /* greatest plausible power */
	bool most_given;
	char request[ZONES * 80];
};

static int rapl_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct rapl *r = state;
	int64_t bounds = 0;

	*r = (struct rapl){.most_w = MOST_W};
	if (ww_uri_num(options, "max", 0.1, 1e6, &r->most_w, err) < 0 ||
	    ww_uri_int(options, "bounds", 0, 1, &bounds, err) < 0)
		return -EINVAL;
	r->most_given = r->most_w < MOST_W || r->most_w > MOST_W;
	r->bounds = bounds != 0;
	if (every_ns <= 0)
		every_ns = USUAL_NS;
	r->every_ns = every_ns < FASTEST_NS ? FASTEST_NS : every_ns;
	ww_sysask_init(&r->ask, r->every_ns);
	return 0;
}

/* Looks at the counters: several in the time in which one of them can turn at most. */
static void set_pace(struct rapl *r)
{
	int64_t looks = 1, most = r->every_ns / FASTEST_NS;

	for (size_t i = 0; i < r->n; i++) {
		double turn_ns = (double)r->zone[i].range_uj / r->most_w * 1e3;
		double k = ceil((double)r->every_ns * LOOKS / turn_ns);

		if (r->zone[i].range_uj > 0 && k > (double)looks)
			looks = k < (double)most ? (int64_t)k : most;
	}
	r->ask.every_ns = r->every_ns / looks;
	r->ask.reads = looks;
}

/* ------------------------------------------------------------- what is there */

/* A zone's name as part of a channel's: letters and digits. */
static void zone_name(const char *text, size_t n, struct zone *z)
{
	char file[96];

	snprintf(file, sizeof(file), "%sname", z->folder);
	ww_sysline_value(text, n, file, z->name, sizeof(z->name));
	for (char *c = z->name; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9')))
			*c = '_';
}

static void add_zone(struct rapl *r, const char *text, size_t n, const char *folder, size_t len)
{
	struct zone *z = &r->zone[r->n];
	char file[96], name[sizeof(z->name)];
	struct ww_sysline l;

	if (r->n == ZONES || len >= sizeof(z->folder))
		return;
	*z = (struct zone){.range_uj = 0};
	memcpy(z->folder, folder, len);
	z->folder[len] = '\0';
	snprintf(file, sizeof(file), "%senergy_uj", z->folder);
	if (!ww_sysline_find(text, n, file, &l))
		return;
	zone_name(text, n, z);
	snprintf(file, sizeof(file), "%smax_energy_range_uj", z->folder);
	if (ww_sysline_find(text, n, file, &l) && !ww_sysline_int(&l, &z->range_uj))
		z->range_uj = 0;
	memcpy(name, z->name, sizeof(name));
	if (r->n && *name) {
		snprintf(z->power, sizeof(z->power), "power_%s", name);
		snprintf(z->energy, sizeof(z->energy), "energy_%s", name);
	} else {
		snprintf(z->power, sizeof(z->power), r->n ? "power%zu" : "power", r->n);
		snprintf(z->energy, sizeof(z->energy), r->n ? "energy%zu" : "energy", r->n);
	}
	r->n++;
}

static int rapl_look(void *state, const char *text, size_t n, struct ww_error *err)
{
	struct rapl *r = state;
	const char *p = text;
	struct ww_sysline l;
	size_t k = 0;

	r->n = 0;
	add_zone(r, text, n, "", 0);
	if (!r->n)
		return ww_fail(err, -ENODEV,
			       "this is no zone with an energy counter: one of "
			       "/sys/class/powercap, such as intel-rapl:0");
	while (ww_sysline_next(&p, text + n, &l))
		if (l.kind == '/')
			add_zone(r, text, n, l.name, l.name_n + 1);
	snprintf(r->name, sizeof(r->name), "%s", r->zone[0].name);
	for (size_t i = 0; i < r->n; i++)
		k += (size_t)snprintf(r->request + k, sizeof(r->request) - k, "%s%senergy_uj",
				      i ? "\n" : "", r->zone[i].folder);
	set_pace(r);
	return 0;
}

static void rapl_shape(const void *state, struct ww_meter_shape *s)
{
	const struct rapl *r = state;

	s->channels = 2 * (r->n ? r->n : 1) + 2 * r->bounds;
	s->period_ns = s->window_ns = r->every_ns;
	s->delay_min_ns = 0;
	s->delay_max_ns = RENEWAL_NS;
}

static struct ww_channel_info power_channel(const struct rapl *r, const char *name,
					    const char *quantity)
{
	double window_s = (double)r->every_ns / 1e9;

	return (struct ww_channel_info){.name = name,
					.quantity = quantity,
					.unit = "W",
					.semantics = WW_AVERAGE,
					.scale = 1e-6,
					/* One unit of energy in the time between readings. */
					.resolution = UNIT_UJ * 1e-6 / window_s,
					.acc_abs = (double)NAN,
					.acc_rel = (double)NAN};
}

/* power, energy; then those of the zones in it; bounds of the first one's power at the end. */
static void rapl_channel(const void *state, size_t i, struct ww_channel_info *out)
{
	const struct rapl *r = state;
	size_t n = r->n ? r->n : 1, z = i / 2;

	if (i >= 2 * n) {
		*out = power_channel(r, i == 2 * n ? "power_low" : "power_high", "other");
	} else if (i % 2 == 0) {
		*out = power_channel(r, r->n ? r->zone[z].power : "power", "power");
	} else {
		*out = (struct ww_channel_info){.name = r->n ? r->zone[z].energy : "energy",
						.quantity = "energy",
						.unit = "Wh",
						.semantics = WW_COUNTER,
						.scale = 1e-6 / 3600,
						.resolution = UNIT_UJ * 1e-6 / 3600,
						.acc_abs = (double)NAN,
						.acc_rel = (double)NAN};
	}
}

/* ------------------------------------------------------------------ a counter */

/*
 * What was counted since the last look: the rest of a turn, or a turn more for each
 * that the time allows. A counter that merely rose did so, limits or not. -> µJ; -1 there
 * are several answers, -2 none.
 */
static int64_t counted(const struct zone *z, int64_t raw, double most_uj, double rise_uj)
{
	/* The last value before zero is the range itself. */
	double turn = (double)z->range_uj + 1;
	int64_t d = raw - z->raw;
	bool fell = d < 0;

	if (fell) {
		if (z->range_uj <= 0 || z->raw > z->range_uj)
			return -2;
		d += z->range_uj + 1;
	}
	if ((double)d > (fell ? most_uj : rise_uj))
		return -2;
	return z->range_uj > 0 && (double)d + turn <= most_uj ? -1 : d;
}

/* µW of µJ in ns; WW_MISSING beyond what a code holds. */
static int64_t quotient(double uj, double ns)
{
	double uw = ns > 0 ? uj / ns * 1e9 : 0;

	return uw >= 0 && uw < 9e15 ? (int64_t)(uw + 0.5) : WW_MISSING;
}

/*
 * The counter was renewed up to RENEWAL_NS before it was read, and read somewhere in its
 * interval: the power lies between these for sure, one unit more or less.
 */
static void power_bounds(const struct zone *z, struct ww_interval t, int64_t uj, int64_t *codes)
{
	double least = (double)(t.lo_ns - z->given_t.hi_ns - RENEWAL_NS);
	double most = (double)(t.hi_ns - z->given_t.lo_ns + RENEWAL_NS);

	codes[0] = quotient((double)(uj > UNIT_UJ ? uj - UNIT_UJ : 0), most);
	codes[1] = least > 0 ? quotient((double)(uj + UNIT_UJ), least) : WW_MISSING;
}

static void keep(struct zone *z, struct ww_interval t, int64_t raw, int64_t total)
{
	z->has_last = true;
	z->raw = raw;
	z->total = total;
	z->t = t;
}

/* A zone's counter has a new value. */
static void zone_value(struct rapl *r, struct zone *z, struct ww_interval t, int64_t raw,
		       const struct ww_meter_out *out)
{
	double dt = (double)ww_iv_mid(t) - (double)ww_iv_mid(z->t), most_s;
	int64_t d;
	char text[160];

	if (!z->has_last) {
		keep(z, t, raw, raw);
		return;
	}
	most_s = ((double)(t.hi_ns - z->t.lo_ns) + RENEWAL_NS) / 1e9;
	d = counted(z, raw, most_s * r->most_w * 1e6,
		    most_s * 1e6 * (r->most_given ? r->most_w : fmax(r->most_w, MOST_W)));
	if (d >= 0 && z->total <= WW_SYSVAL_MOST - d) {
		keep(z, t, raw, z->total + d);
		return;
	}
	snprintf(text, sizeof(text),
		 d == -1 ? "%s: it may have gone round more than once in %.*f s: what it "
			   "counted is not known"
			 : "%s: %.*f s after the last value this one is no sum: set back",
		 z->energy, dt < 1e9 ? 3 : 0, dt / 1e9);
	out->event(out->ctx, t, WW_MARK_RESET, text);
	keep(z, t, raw, d >= 0 ? 0 : z->total);
	z->broken = true;
}

/* Power since the reading before, and energy. */
static void zone_codes(struct rapl *r, size_t i, int64_t *codes)
{
	struct zone *z = &r->zone[i];
	double dt = (double)ww_iv_mid(z->t) - (double)ww_iv_mid(z->given_t);

	codes[2 * i + 1] = z->total;
	if (z->has_given && !z->broken) {
		codes[2 * i] = quotient((double)(z->total - z->given), dt);
		if (i == 0 && r->bounds)
			power_bounds(z, z->t, z->total - z->given, codes + 2 * r->n);
	}
	z->has_given = true;
	z->broken = false;
	z->given = z->total;
	z->given_t = z->t;
}

/* A look at all counters; raw < 0: not readable. */
static void take(struct rapl *r, struct ww_interval t, const int64_t *raw,
		 const struct ww_meter_out *out)
{
	int64_t codes[2 * ZONES + 2], at = ww_iv_mid(t);

	for (size_t i = 0; i < r->n; i++)
		if (raw[i] >= 0)
			zone_value(r, &r->zone[i], t, raw[i], out);
	if (r->any && r->ask.reads > 1 && at < r->due_ns - r->ask.every_ns / 2)
		return;
	if (!r->any || ww_since(at, r->due_ns) > r->every_ns)
		r->due_ns = at;
	r->due_ns = ww_add_sat(r->due_ns, r->every_ns);
	r->any = true;
	for (size_t i = 0; i < 2 * r->n + 2; i++)
		codes[i] = WW_MISSING;
	for (size_t i = 0; i < r->n; i++)
		if (raw[i] >= 0)
			zone_codes(r, i, codes);
	out->reading(out->ctx, t, codes);
}

/* ------------------------------------------------------------------- reading */

static void rapl_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct rapl *r = state;
	char text[160];

	r->stopped = false;
	out->identity(out->ctx, r->name, NULL, NULL);
	if (r->every_ns < COARSE_NS) {
		snprintf(text, sizeof(text),
			 "each %lld ms is fast for counters that are renewed once a millisecond: "
			 "up to %.0f %% wrong; 50 ms or more is better",
			 (long long)(r->every_ns / WW_NS_PER_MS),
			 200.0 * (double)RENEWAL_NS / (double)r->every_ns);
		out->event(out->ctx, (struct ww_interval){now_ns, now_ns}, WW_MARK_DEVICE, text);
	}
	/* What the firmware lets it draw tells what cannot have been drawn. */
	if (!r->most_given)
		out->send(out->ctx,
			  "constraint_0_power_limit_uw\nconstraint_1_power_limit_uw\n"
			  "constraint_2_power_limit_uw",
			  3 * 27 + 2);
	ww_sysask_start(&r->ask, now_ns);
}

static void limits(struct rapl *r, const char *text, size_t n)
{
	char name[40];
	double most = 0;

	for (int i = 0; i < 3; i++) {
		struct ww_sysline l;
		int64_t uw;

		snprintf(name, sizeof(name), "constraint_%d_power_limit_uw", i);
		if (ww_sysline_find(text, n, name, &l) && ww_sysline_int(&l, &uw) && uw > 0 &&
		    uw < INT64_C(5000000000) && (double)uw * 1e-6 > most)
			most = (double)uw * 1e-6;
	}
	/* Limits of means over a while are passed for moments. */
	if (most > 0 && 2 * most > 50)
		r->most_w = 2 * most;
	set_pace(r);
}

static void refused(struct rapl *r, const struct ww_meter_out *out)
{
	r->stopped = true;
	out->fail(out->ctx, -EACCES,
		  "energy_uj may be read by root only (it betrays what a processor works on). As "
		  "root, or let a group of your choice: chgrp GROUP and chmod 440 "
		  "/sys/class/powercap/intel-rapl:*/energy_uj after each boot, by a udev rule");
}

static void rapl_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		      const struct ww_meter_out *out)
{
	struct rapl *r = state;
	int64_t raw[ZONES];
	const char *text = (const char *)p;
	char file[96], why[32] = "";
	struct ww_sysline l;
	size_t good = 0;

	if (r->stopped)
		return;
	if (n > 11 && memcmp(text, "constraint_", 11) == 0) {
		limits(r, text, n);
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		raw[i] = WW_MISSING;
		snprintf(file, sizeof(file), "%senergy_uj", r->zone[i].folder);
		if (!ww_sysline_find(text, n, file, &l))
			continue;
		if (ww_sysline_int(&l, &raw[i]) && raw[i] >= 0)
			good++;
		else
			ww_sysline_why(&l, why, sizeof(why));
	}
	if (!good) {
		if (strcmp(why, "EACCES") == 0 || strcmp(why, "EPERM") == 0)
			refused(r, out);
		else if (*why)
			ww_sysask_bad(&r->ask, t, why, out);
		return;
	}
	ww_sysask_good(&r->ask, t, out);
	/* Twice in one renewal: nothing can be said of the time between. */
	if (r->zone[0].has_last && ww_since(t.lo_ns, r->zone[0].t.hi_ns) < RENEWAL_NS)
		return;
	take(r, t, raw, out);
}

static int64_t rapl_deadline(const void *state)
{
	const struct rapl *r = state;

	return r->stopped ? WW_TIME_MAX : ww_sysask_deadline(&r->ask);
}

static void rapl_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct rapl *r = state;

	if (!r->stopped && ww_sysask_due(&r->ask, now_ns, out))
		out->send(out->ctx, r->request, strlen(r->request));
}

static void rapl_stop(void *state, const struct ww_meter_out *out)
{
	(void)out;
	((struct rapl *)state)->stopped = true;
}

/* clang-format off */
#define CH(n, q, u, sem, s)                                                                        \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = UNIT_UJ * s, .acc_abs = (double)NAN, .acc_rel = (double)NAN          \
	}
/* clang-format on */

const struct ww_meter_ops ww_meter_rapl = {
	.desc = {.name = "rapl",
		 .summary = "energy counters of the processor (powercap; root, or a group)",
		 .example = "rapl:intel-rapl:0",
		 .proven = false,
		 .buses = WW_BUS_FILES,
		 .period_ns = USUAL_NS,
		 .window_ns = USUAL_NS,
		 .delay_min_ns = 0,
		 .delay_max_ns = RENEWAL_NS,
		 .channels = 2,
		 .channel = {CH("power", "power", "W", WW_AVERAGE, 1e-6),
			     CH("energy", "energy", "Wh", WW_COUNTER, 1e-6 / 3600)},
		 .state_size = sizeof(struct rapl)},
	.init = rapl_init,
	.look = rapl_look,
	.shape = rapl_shape,
	.channel = rapl_channel,
	.start = rapl_start,
	.feed = rapl_feed,
	.deadline = rapl_deadline,
	.tick = rapl_tick,
	.stop = rapl_stop,
};

/* SPDX-License-Identifier: MIT */
/*
 * Chips of the kernel's hardware monitoring that know watts, volts, amperes or joules.
 * Its interface gives whole µW, mV, mA and µJ (Documentation/hwmon/sysfs-interface).
 * Each file may be a read of the chip of its own: only the chip's own power belongs
 * together, so volts times amperes are multiplied on request only.
 */
#include "meter/sysval.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define USUAL_NS   (100 * WW_NS_PER_MS)
#define FASTEST_NS (5 * WW_NS_PER_MS)
#define CACHE_NS   WW_NS_PER_S /* drivers may keep a value that long */
#define EACH	   8	       /* files of a kind */

enum kind { POWER, CURRENT, VOLTAGE, ENERGY, KINDS };

static const struct {
	const char *begin, *name, *quantity, *unit;
	double scale;
} kinds[KINDS] = {
	[POWER] = {"power", "power", "power", "W", 1e-6},
	[CURRENT] = {"curr", "current", "current", "A", 1e-3},
	[VOLTAGE] = {"in", "voltage", "voltage", "V", 1e-3},
	[ENERGY] = {"energy", "energy", "energy", "Wh", 1e-6 / 3600},
};

/* As their drivers' sources tell: A step = shunt_nV / µOhm, W step = n times it. */
static const struct chip {
	const char *name;
	double shunt_nv, volt, watts_per_amp;
	unsigned bus; /* number of the voltage that is the bus's; in0 is its shunt */
	int64_t window_ns;
} chips[] = {
	{"ina219", 10000, 4e-3, 20, 1, 1064000}, {"ina220", 10000, 4e-3, 20, 1, 1064000},
	{"ina226", 2500, 1.25e-3, 25, 1, 0},	 {"ina230", 2500, 1.25e-3, 25, 1, 0},
	{"ina231", 2500, 1.25e-3, 25, 1, 0},	 {"ina260", 0, 1.25e-3, 0, 1, 0},
	{"ina238", 0, 3.125e-3, 0, 1, 0},	 {"ina237", 0, 3.125e-3, 0, 1, 0},
};

struct item {
	enum kind kind;
	unsigned number;
	bool average;
	char label[24]; /* as part of a name; "" none */
	char name[40];
};

/* Volts times amperes of one number, of a chip that gives no watts. */
struct product {
	size_t volts, amps; /* items */
	char name[40];
};

struct hwmon {
	struct ww_sysask ask;
	char chip[32];
	const struct chip *known;
	bool multiply;
	double shunt; /* µOhm; 0 unknown */
	int64_t window_ns, asked_ns;
	size_t items;
	struct item item[WW_METER_CHANNELS];
	size_t products;
	struct product product[EACH];
	char request[1024];
	uint32_t bad;		 /* items that cannot be read, told */
	bool stopped, backwards; /* told that amperes are negative where watts cannot be */
};

static const char *file_of(const struct item *i, char *buf, size_t n)
{
	snprintf(buf, n, "%s%u_%s", kinds[i->kind].begin, i->number,
		 i->average ? "average" : "input");
	return buf;
}

static int hwmon_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct hwmon *h = state;
	int64_t multiply = 0;

	*h = (struct hwmon){.asked_ns = every_ns};
	if (ww_uri_int(options, "multiply", 0, 1, &multiply, err) < 0)
		return -EINVAL;
	h->multiply = multiply != 0;
	return 0;
}

/* ------------------------------------------------------------- what is there */

static bool listed(const char *text, size_t n, enum kind k, unsigned number, const char *end)
{
	struct ww_sysline l;
	char name[40];

	snprintf(name, sizeof(name), "%s%u_%s", kinds[k].begin, number, end);
	return ww_sysline_find(text, n, name, &l) && l.kind == '=';
}

static void add(struct hwmon *h, enum kind k, unsigned number, bool average, bool first)
{
	struct item *i = &h->item[h->items];

	if (h->items == WW_COUNTOF(h->item))
		return;
	*i = (struct item){.kind = k, .number = number, .average = average};
	if (k == VOLTAGE && h->known && number != h->known->bus)
		snprintf(i->name, sizeof(i->name), number == 0 ? "shunt" : "in%u", number);
	else if (first)
		snprintf(i->name, sizeof(i->name), "%s", kinds[k].name);
	else
		snprintf(i->name, sizeof(i->name), "%s%u", kinds[k].name, number);
	h->items++;
}

static void add_kind(struct hwmon *h, const char *text, size_t n, enum kind k)
{
	size_t found = 0;

	/* The chip's own bus first, so that it is "voltage". */
	if (k == VOLTAGE && h->known && listed(text, n, k, h->known->bus, "input"))
		add(h, k, h->known->bus, false, found++ == 0);
	for (unsigned i = 0; i < 64 && found < EACH; i++) {
		bool input = listed(text, n, k, i, "input");
		bool average = !input && k == POWER && listed(text, n, k, i, "average");

		if (k == VOLTAGE && h->known && i == h->known->bus)
			continue;
		if (input || average)
			add(h, k, i, average, found++ == 0);
	}
}

/* A kind of which several have labels is named by them: "voltage_vdd_cpu". */
static void read_labels(struct hwmon *h, const char *text, size_t n)
{
	char file[40];

	for (size_t i = 0; i < h->items; i++) {
		struct item *m = &h->item[i];

		snprintf(file, sizeof(file), "%s%u_label", kinds[m->kind].begin, m->number);
		ww_sysline_value(text, n, file, m->label, sizeof(m->label));
		for (char *c = m->label; *c; c++)
			*c = (*c >= 'a' && *c <= 'z') || ww_is_digit(*c) ? *c
			     : *c >= 'A' && *c <= 'Z'			 ? (char)(*c - 'A' + 'a')
									 : '_';
	}
}

static bool labelled(const struct hwmon *h, const struct item *m)
{
	size_t of_kind = 0;

	for (size_t i = 0; i < h->items; i++) {
		const struct item *o = &h->item[i];

		if (o->kind != m->kind || !*o->label)
			continue;
		of_kind++;
		/* Two of the same label are told apart by their numbers only. */
		if (o != m && strcmp(o->label, m->label) == 0)
			return false;
	}
	return *m->label && of_kind > 1;
}

static void add_labels(struct hwmon *h)
{
	for (size_t i = 0; i < h->items; i++) {
		const struct item m = h->item[i];

		if (labelled(h, &h->item[i]) && strcmp(m.name, "shunt") != 0)
			snprintf(h->item[i].name, sizeof(m.name), "%s_%s", kinds[m.kind].name,
				 m.label);
	}
}

static const struct chip *chip_of(const char *name)
{
	for (size_t i = 0; i < WW_COUNTOF(chips); i++)
		if (strcmp(chips[i].name, name) == 0)
			return &chips[i];
	return NULL;
}

/* The first item of a kind; h->items: there is none. */
static size_t first_of(const struct hwmon *h, enum kind k)
{
	size_t i = 0;

	while (i < h->items && h->item[i].kind != k)
		i++;
	return i;
}

static void add_product(struct hwmon *h, size_t volts, size_t amps)
{
	const struct item v = h->item[volts];
	bool named = labelled(h, &h->item[volts]);
	struct product *p = &h->product[h->products];

	*p = (struct product){volts, amps, "power"};
	if (named)
		snprintf(p->name, sizeof(p->name), "power_%s", v.label);
	else if (h->products)
		snprintf(p->name, sizeof(p->name), "power%u", v.number);
	h->products++;
}

/*
 * Of several currents, in2 and curr2 are of one rail. A single one belongs to the first voltage,
 * whatever their numbers: in0 and curr1 of powerz. An INA3221 has three rails; then come its
 * shunts and their sum.
 */
static int multiplied(struct hwmon *h, struct ww_error *err)
{
	unsigned most = strcmp(h->chip, "ina3221") == 0 ? 3 : 64;
	size_t v = first_of(h, VOLTAGE), a = first_of(h, CURRENT), currents = 0;

	if (first_of(h, POWER) < h->items)
		return ww_fail(err, -EINVAL,
			       "multiply=1: this chip gives its power itself, of one conversion");
	if (v == h->items || a == h->items)
		return ww_fail(err, -EINVAL, "multiply=1: it has no voltage and current");
	for (size_t i = 0; i < h->items; i++)
		currents += h->item[i].kind == CURRENT;
	for (size_t i = 0; i < h->items && currents > 1; i++)
		for (size_t k = 0; k < h->items && h->products < EACH; k++)
			if (h->item[i].kind == VOLTAGE && h->item[k].kind == CURRENT &&
			    h->item[i].number == h->item[k].number && h->item[i].number <= most)
				add_product(h, i, k);
	if (!h->products)
		add_product(h, v, a);
	return 0;
}

static void timing(struct hwmon *h, const char *text, size_t n)
{
	struct ww_sysline l;
	int64_t ms = 0, period;

	h->window_ns = h->known ? h->known->window_ns : 0;
	if (ww_sysline_find(text, n, "update_interval", &l) && ww_sysline_int(&l, &ms) && ms > 0 &&
	    ms < 3600000)
		h->window_ns = ms * WW_NS_PER_MS;
	if (ww_sysline_find(text, n, "shunt_resistor", &l) && ww_sysline_int(&l, &ms) && ms > 0)
		h->shunt = (double)ms;
	period = h->window_ns ? h->window_ns : USUAL_NS;
	period = period < FASTEST_NS ? FASTEST_NS : period;
	ww_sysask_init(&h->ask, h->asked_ns > period ? h->asked_ns : period);
}

static int hwmon_look(void *state, const char *text, size_t n, struct ww_error *err)
{
	struct hwmon *h = state;
	char file[40];
	size_t k = 0;

	h->items = h->products = 0;
	ww_sysline_value(text, n, "name", h->chip, sizeof(h->chip));
	h->known = chip_of(h->chip);
	for (enum kind q = POWER; q < KINDS; q++)
		add_kind(h, text, n, q);
	if (!h->items)
		return ww_fail(err, -ENODEV,
			       "this chip (%s) measures neither power, current, voltage nor "
			       "energy. 'pwrlog list' shows those that do",
			       *h->chip ? h->chip : "without a name");
	read_labels(h, text, n);
	add_labels(h);
	timing(h, text, n);
	for (size_t i = 0; i < h->items; i++)
		k += (size_t)snprintf(h->request + k, sizeof(h->request) - k, "%s%s", i ? "\n" : "",
				      file_of(&h->item[i], file, sizeof(file)));
	return h->multiply ? multiplied(h, err) : 0;
}

static void hwmon_shape(const void *state, struct ww_meter_shape *s)
{
	const struct hwmon *h = state;

	if (!h->items)
		return;
	s->channels = h->items + h->products;
	s->period_ns = h->ask.every_ns;
	s->window_ns = h->window_ns;
	s->delay_min_ns = 0;
	s->delay_max_ns = h->window_ns ? h->window_ns : CACHE_NS;
}

static double step_of(const struct hwmon *h, const struct item *i)
{
	double amp = h->known && h->shunt > 0 ? h->known->shunt_nv / h->shunt * 1e-3 : 0;
	double least = kinds[i->kind].scale, step = least;

	if (h->known && i->kind == VOLTAGE && i->number == h->known->bus)
		step = h->known->volt;
	else if (h->known && i->kind == CURRENT)
		step = amp;
	else if (h->known && i->kind == POWER)
		step = amp * h->known->watts_per_amp;
	return step > least ? step : least;
}

/* Volts times amperes stand last: a channel that the kernel does not give. */
static void hwmon_channel(const void *state, size_t k, struct ww_channel_info *out)
{
	const struct hwmon *h = state;
	const struct item made = {.kind = POWER};
	const struct item *i = k < h->items ? &h->item[k] : &made;
	bool counter = i->kind == ENERGY;

	*out = (struct ww_channel_info){
		.name = k < h->items		     ? h->item[k].name
			: k - h->items < h->products ? h->product[k - h->items].name
						     : "power",
		.quantity = strcmp(i->name, "shunt") == 0 ? "other" : kinds[i->kind].quantity,
		.unit = kinds[i->kind].unit,
		.semantics = counter			      ? WW_COUNTER
			     : h->window_ns > 0 || i->average ? WW_AVERAGE
							      : WW_INSTANT,
		.scale = kinds[i->kind].scale,
		.resolution = step_of(h, i),
		.acc_abs = (double)NAN,
		.acc_rel = (double)NAN,
	};
	if (k >= h->items)
		out->resolution = 1e-3; /* one step of the current at a volt */
}

/* ----------------------------------------------------------------- reading it */

static void hwmon_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct hwmon *h = state;

	h->stopped = false;
	out->identity(out->ctx, h->chip, NULL, NULL);
	ww_sysask_start(&h->ask, now_ns);
}

static int64_t hwmon_deadline(const void *state)
{
	const struct hwmon *h = state;

	return h->stopped ? WW_TIME_MAX : ww_sysask_deadline(&h->ask);
}

static void hwmon_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct hwmon *h = state;

	if (!h->stopped && ww_sysask_due(&h->ask, now_ns, out))
		out->send(out->ctx, h->request, strlen(h->request));
}

static int64_t product(const struct product *m, const int64_t *codes)
{
	int64_t v = codes[m->volts], i = codes[m->amps], p;

	return v < WW_CODE_MIN || i < WW_CODE_MIN || __builtin_mul_overflow(v, i, &p) ||
			       p > WW_SYSVAL_MOST || p < -WW_SYSVAL_MOST
		       ? WW_MISSING
		       : p;
}

/* The power register of these chips has no sign (Documentation/hwmon/ina2xx.rst). */
static void watch_sign(struct hwmon *h, struct ww_interval t, const int64_t *codes,
		       const struct ww_meter_out *out)
{
	bool flows = false, back = false;

	for (size_t i = 0; i < h->items && h->known; i++) {
		if (codes[i] < WW_CODE_MIN)
			continue;
		flows |= h->item[i].kind == POWER && codes[i] > 0;
		back |= h->item[i].kind == CURRENT && codes[i] < 0;
	}
	if (flows && back && !h->backwards)
		ww_meter_tell(out, t,
			      "current flows backwards, which its power does not show: "
			      "watts have no sign");
	h->backwards |= flows && back;
}

/* One file fails where others do not: told when it begins. */
static void one_bad(struct hwmon *h, struct ww_interval t, size_t i, bool bad, const char *why,
		    const struct ww_meter_out *out)
{
	uint32_t bit = 1u << i;
	char file[40];

	if (bad && !(h->bad & bit))
		ww_meter_tell(out, t, "%s cannot be read: %s",
			      file_of(&h->item[i], file, sizeof(file)), *why ? why : "no answer");
	h->bad = bad ? h->bad | bit : h->bad & ~bit;
}

static void refused(struct hwmon *h, const char *why, const struct ww_meter_out *out)
{
	char text[200];

	h->stopped = true;
	snprintf(text, sizeof(text),
		 "%s: no permission to read its values: as root, or let a group read them (chgrp, "
		 "chmod g+r on the files, by a udev rule)",
		 why);
	out->fail(out->ctx, -EACCES, text);
}

/* Codes of all items; *why: what the last of those that failed said. -> how many are good */
static size_t decode(const struct hwmon *h, const char *text, size_t n, int64_t *codes, char *why,
		     size_t why_n)
{
	size_t good = 0;

	for (size_t i = 0; i < h->items; i++) {
		struct ww_sysline l;
		char file[40];

		codes[i] = WW_MISSING;
		if (!ww_sysline_find(text, n, file_of(&h->item[i], file, sizeof(file)), &l))
			continue;
		if (ww_sysline_int(&l, &codes[i]))
			good++;
		else
			ww_sysline_why(&l, why, why_n);
	}
	return good;
}

static void hwmon_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		       const struct ww_meter_out *out)
{
	struct hwmon *h = state;
	int64_t codes[WW_METER_CHANNELS + EACH];
	char why[32] = "";
	size_t good;

	if (h->stopped)
		return;
	good = decode(h, (const char *)p, n, codes, why, sizeof(why));
	if (good) {
		ww_sysask_good(&h->ask, t, out);
		for (size_t i = 0; i < h->items; i++)
			one_bad(h, t, i, codes[i] == WW_MISSING, why, out);
		watch_sign(h, t, codes, out);
		for (size_t i = 0; i < h->products; i++)
			codes[h->items + i] = product(&h->product[i], codes);
		out->reading(out->ctx, t, codes);
	} else if (strcmp(why, "EACCES") == 0 || strcmp(why, "EPERM") == 0) {
		refused(h, h->chip, out);
	} else if (*why) {
		ww_sysask_bad(&h->ask, t, why, out);
	}
}

static void hwmon_stop(void *state, const struct ww_meter_out *out)
{
	(void)out;
	((struct hwmon *)state)->stopped = true;
}

/* Of a chip that is not there. */
/* clang-format off */
#define CH(n, q, u, s)                                                                             \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = WW_INSTANT, .scale = s,          \
		.resolution = s, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */

const struct ww_meter_ops ww_meter_hwmon = {
	.desc = {.name = "hwmon",
		 .summary = "power and current chips of the kernel's hwmon (ina2xx, amdgpu ...)",
		 .example = "hwmon:hwmon3",
		 .proven = false,
		 .buses = WW_BUS_FILES,
		 .period_ns = USUAL_NS,
		 .window_ns = 0,
		 .delay_min_ns = 0,
		 .delay_max_ns = CACHE_NS,
		 .channels = 1,
		 .channel = {CH("power", "power", "W", 1e-6)},
		 .state_size = sizeof(struct hwmon)},
	.init = hwmon_init,
	.look = hwmon_look,
	.shape = hwmon_shape,
	.channel = hwmon_channel,
	.start = hwmon_start,
	.feed = hwmon_feed,
	.deadline = hwmon_deadline,
	.tick = hwmon_tick,
	.stop = hwmon_stop,
};

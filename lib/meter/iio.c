/* SPDX-License-Identifier: MIT */
/*
 * Power chips and converters of the kernel's Industrial I/O. Units are those of its
 * interface (Documentation/ABI/testing/sysfs-bus-iio): raw values, (raw + offset) * scale
 * gives mV, mA, mW and J. Polled by their files, or by the buffer, where each
 * conversion comes once, with the kernel's time.
 */
#include "meter/iio.h"

#include <math.h>
#include <stdio.h>

#define USUAL_NS   (100 * WW_NS_PER_MS)
#define FASTEST_NS (5 * WW_NS_PER_MS)

static const struct kind {
	const char *type, *name, *quantity, *unit;
	double si;
} kinds[] = {
	{"power", "power", "power", "W", 1e-3},
	{"current", "current", "current", "A", 1e-3},
	{"voltage", "voltage", "voltage", "V", 1e-3},
	{"energy", "energy", "energy", "Wh", 1.0 / 3600},
};

static int init_for(void *state, struct ww_uri *options, int64_t every_ns, const char *chip,
		    struct ww_error *err)
{
	struct ww_iio *s = state;

	*s = (struct ww_iio){.wanted = chip, .every_ns = every_ns, .length = -1};
	return ww_uri_int(options, "buffer", 0, 65536, &s->length, err) < 0 ? -EINVAL : 0;
}

static int any_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	return init_for(state, options, every_ns, NULL, err);
}

static int ina226_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	return init_for(state, options, every_ns, "ina226", err);
}

static int ina219_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	return init_for(state, options, every_ns, "ina219", err);
}

/* ------------------------------------------------------------- what is there */

/* in_voltage1_scale, else in_voltage_scale of all voltages. */
static bool factor(const char *text, size_t n, const struct ww_iio_item *i, const char *type,
		   const char *what, double *v)
{
	struct ww_sysline l;
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", i->element, what);
	if (ww_sysline_find(text, n, name, &l) && ww_sysline_num(&l, v))
		return true;
	snprintf(name, sizeof(name), "in_%s_%s", type, what);
	return ww_sysline_find(text, n, name, &l) && ww_sysline_num(&l, v);
}

/* The voltage over the shunt of an ina2xx is no voltage of the device under test. */
static bool is_shunt(const struct ww_iio *s, const char *element)
{
	return strncmp(s->chip, "ina2", 4) == 0 && strcmp(element, "in_voltage0") == 0;
}

static void name_item(const struct ww_iio *s, struct ww_iio_item *i, const struct kind *k)
{
	size_t others = 0;

	i->quantity = k->quantity;
	if (is_shunt(s, i->element)) {
		snprintf(i->name, sizeof(i->name), "shunt");
		i->quantity = "other";
		return;
	}
	for (size_t j = 0; j < s->n; j++)
		others += s->item[j].quantity == k->quantity;
	if (others)
		snprintf(i->name, sizeof(i->name), "%.18s", i->element + 3);
	else
		snprintf(i->name, sizeof(i->name), "%s", k->name);
}

/* A file of raw or of finished values ("in_energy_input"). */
static void add(struct ww_iio *s, const char *text, size_t n, const struct ww_sysline *l,
		const struct kind *k, bool raw)
{
	struct ww_iio_item *i = &s->item[s->n];
	size_t len = l->name_n - (raw ? 4 : 6);
	double scale = 1, offset = 0;

	if (s->n == WW_IIO_ITEMS || l->name_n >= sizeof(i->file) || len >= sizeof(i->element))
		return;
	*i = (struct ww_iio_item){.unit = k->unit, .counter = strcmp(k->type, "energy") == 0};
	memcpy(i->file, l->name, l->name_n);
	memcpy(i->element, l->name, len);
	if (raw && !factor(text, n, i, k->type, "scale", &scale))
		return;
	if (raw)
		factor(text, n, i, k->type, "offset", &offset);
	if (scale == 0)
		return;
	i->negative = scale < 0;
	i->scale = fabs(scale) * k->si;
	i->offset = offset * scale * k->si;
	name_item(s, i, k);
	s->n++;
}

static void add_kind(struct ww_iio *s, const char *text, size_t n, const struct kind *k)
{
	const char *p = text;
	char begin[32];
	struct ww_sysline l;
	unsigned number;

	snprintf(begin, sizeof(begin), "in_%s", k->type);
	while (ww_sysline_next(&p, text + n, &l)) {
		char plain[48];

		snprintf(plain, sizeof(plain), "%s_input", begin);
		if (ww_sysline_nth(&l, begin, "_raw", &number))
			add(s, text, n, &l, k, true);
		else if (ww_sysline_nth(&l, begin, "_input", &number) || ww_sysline_is(&l, plain))
			add(s, text, n, &l, k, false);
	}
}

static double value_of(const char *text, size_t n, const char *name)
{
	struct ww_sysline l;
	double v;

	return ww_sysline_find(text, n, name, &l) && ww_sysline_num(&l, &v) && v > 0 && v < 1e9 ? v
												: 0;
}

/* Time of one conversion of all channels: by its rate, else averages times integrations. */
static void timing(struct ww_iio *s, const char *text, size_t n)
{
	static const char *const rates[] = {"in_sampling_frequency", "sampling_frequency"};
	double averages = value_of(text, n, "in_oversampling_ratio"), seconds = 0, hz = 0;
	const char *p = text;
	struct ww_sysline l;

	for (size_t i = 0; i < WW_COUNTOF(rates) && !(hz > 0); i++)
		hz = value_of(text, n, rates[i]);
	while (ww_sysline_next(&p, text + n, &l)) {
		static const char end[] = "_integration_time";
		double v;

		if (l.name_n > sizeof(end) && ww_sysline_num(&l, &v) && v > 0 && v < 100 &&
		    memcmp(l.name + l.name_n - (sizeof(end) - 1), end, sizeof(end) - 1) == 0)
			seconds += v;
	}
	seconds *= averages > 0 ? averages : 1;
	if (!(seconds > 0) && hz > 0)
		seconds = 1 / hz;
	s->conversion_ns = seconds > 0 && seconds < 3600 ? (int64_t)(seconds * 1e9 + 0.5) : 0;
}

static void elements(struct ww_iio *s, const char *text, size_t n)
{
	const char *p = text;
	struct ww_sysline l;

	s->scan.n = 0;
	while (s->scan.n < WW_SCAN_ELEMENTS && ww_sysline_next(&p, text + n, &l)) {
		static const char folder[] = "scan_elements/", end[] = "_type";
		struct ww_scan_element *e = &s->scan.e[s->scan.n];
		size_t len = l.name_n - (sizeof(folder) - 1) - (sizeof(end) - 1);
		struct ww_sysline index;
		char name[80];
		int64_t k;

		if (l.name_n < sizeof(folder) + sizeof(end) || len >= sizeof(e->name) ||
		    memcmp(l.name, folder, sizeof(folder) - 1) != 0 ||
		    memcmp(l.name + l.name_n - (sizeof(end) - 1), end, sizeof(end) - 1) != 0)
			continue;
		*e = (struct ww_scan_element){.index = 0};
		memcpy(e->name, l.name + sizeof(folder) - 1, len);
		snprintf(name, sizeof(name), "scan_elements/%s_index", e->name);
		if (ww_scan_type(l.value, l.n, e) && ww_sysline_find(text, n, name, &index) &&
		    ww_sysline_int(&index, &k) && k >= 0 && k < 1000) {
			e->index = (unsigned)k;
			s->scan.n++;
		}
	}
}

static int iio_look(void *state, const char *text, size_t n, struct ww_error *err)
{
	struct ww_iio *s = state;
	struct ww_sysline l;
	int64_t period;

	ww_sysline_value(text, n, "name", s->chip, sizeof(s->chip));
	if (s->wanted && strcmp(s->chip, s->wanted) != 0)
		return ww_fail(err, -ENODEV, "this chip is called '%s', not '%s': iio: takes any",
			       s->chip, s->wanted);
	s->n = 0;
	for (size_t k = 0; k < WW_COUNTOF(kinds); k++)
		add_kind(s, text, n, &kinds[k]);
	if (!s->n)
		return ww_fail(err, -ENODEV,
			       "this device (%s) has no power, current, voltage or energy that "
			       "can be read with its scale",
			       *s->chip ? s->chip : "without a name");
	timing(s, text, n);
	elements(s, text, n);
	s->has_buffer = s->scan.n && ww_sysline_find(text, n, "buffer/enable", &l);
	period = s->conversion_ns ? s->conversion_ns : USUAL_NS;
	period = period < FASTEST_NS ? FASTEST_NS : period;
	ww_sysask_init(&s->ask, s->every_ns > period ? s->every_ns : period);
	return 0;
}

static void iio_shape(const void *state, struct ww_meter_shape *sh)
{
	const struct ww_iio *s = state;
	bool runs = s->phase == WW_IIO_RUN;

	if (!s->n)
		return;
	sh->channels = s->n;
	sh->period_ns = runs && s->conversion_ns ? s->conversion_ns : s->ask.every_ns;
	sh->window_ns = s->conversion_ns;
	sh->delay_min_ns = 0;
	/* The kernel looks whether a conversion is ready about as often as there is one. */
	sh->delay_max_ns = s->conversion_ns ? s->conversion_ns : WW_NS_PER_S;
}

static void iio_channel(const void *state, size_t k, struct ww_channel_info *out)
{
	const struct ww_iio *s = state;
	const struct ww_iio_item *i = &s->item[k];

	*out = (struct ww_channel_info){.name = "power",
					.quantity = "power",
					.unit = "W",
					.semantics = s->conversion_ns ? WW_AVERAGE : WW_INSTANT,
					.scale = 1e-3,
					.resolution = 1e-3,
					.acc_abs = (double)NAN,
					.acc_rel = (double)NAN};
	if (k >= s->n)
		return;
	out->name = i->name;
	out->quantity = i->quantity;
	out->unit = i->unit;
	out->semantics = i->counter ? WW_COUNTER : out->semantics;
	out->scale = out->resolution = i->scale;
	out->offset = i->offset;
}

static void iio_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct ww_iio *s = state;

	out->identity(out->ctx, s->chip, NULL, NULL);
	ww_iio_begin(s, now_ns, out);
}

static void iio_stop(void *state, const struct ww_meter_out *out)
{
	struct ww_iio *s = state;

	/* What was written for the buffer, the port puts back. */
	if (s->phase == WW_IIO_RUN || s->phase == WW_IIO_BEGIN)
		out->send(out->ctx, "buffer=0", 8);
	s->phase = WW_IIO_OFF;
}

/* clang-format off */
#define CH(n, q, u, s)                                                                             \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = WW_INSTANT, .scale = s,          \
		.resolution = s, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
#define IIO(id, text, uri, begin)                                                                  \
	const struct ww_meter_ops ww_meter_##id = {                                                \
		.desc = {.name = #id,                                                              \
			 .summary = text,                                                          \
			 .example = uri,                                                           \
			 .proven = false,                                                          \
			 .buses = WW_BUS_IIO,                                                      \
			 .period_ns = USUAL_NS,                                                    \
			 .delay_max_ns = WW_NS_PER_S,                                              \
			 .channels = 1,                                                            \
			 .channel = {CH("power", "power", "W", 1e-3)},                             \
			 .state_size = sizeof(struct ww_iio)},                                     \
		.init = begin,                                                                     \
		.look = iio_look,                                                                  \
		.shape = iio_shape,                                                                \
		.channel = iio_channel,                                                            \
		.start = iio_start,                                                                \
		.feed = ww_iio_feed,                                                               \
		.deadline = ww_iio_deadline,                                                       \
		.tick = ww_iio_tick,                                                               \
		.stop = iio_stop,                                                                  \
	}
/* clang-format on */

IIO(iio, "power chips and converters of the kernel's IIO, polled or buffered", "iio:device0",
    any_init);
IIO(ina226, "TI INA226 by the kernel's IIO driver", "ina226:iio:device0", ina226_init);
IIO(ina219, "TI INA219 by the kernel's IIO driver", "ina219:iio:device0", ina219_init);

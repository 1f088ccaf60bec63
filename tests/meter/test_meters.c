/* SPDX-License-Identifier: MIT */
/* What must hold for every meter's driver; a new row of the table is tested at once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "meterlog.h"

#include <math.h>

/* A stream that some driver may understand: each one's frames, one after another. */
static const char stream[] =
	"\x7f\x01#v,-,8,1,65206,5,2,3,14,200612211910,0;\r\n"
	"#d,-,18,965,1204,792,1,0,69384,5550,965,1205,833,965,1203,779,100,0,0,500,965;\r\n"
	"noise\r\n#d,-,16,124,1191,97,0,1,2,3,124,1192,98,123,1190,96,100,0,0;\r\n"
	"#d,-,18,124,1191,97,0,_,_,_,124,_,_,_,_,_,100,_,_,_,_;\r\n"
	"#d,-,18,12#d,-,18,972,2277,433,5,0,70035,5602,973,2280,435,972,2274,432,95,0,0,500,1020;";

/* To a meter of pulses every edge is one: it knows no noise, and has no pace of its own. */
static bool pulses_only(const struct ww_meter_ops *m)
{
	return m->desc.buses == WW_BUS_EDGES;
}

static void open_meter(struct meterlog *l, const struct ww_meter_ops *m)
{
	struct ww_error err = {0};

	if (ml_open(l, m, m->desc.example, 0, &err) < 0)
		fail_msg("%s: %s", m->desc.name, err.text);
}

static void sane_channel(const struct ww_meter_desc *d, size_t i)
{
	static const char *const quantities[] = {"power",     "apparent_power", "power_factor",
						 "voltage",   "current",	"energy",
						 "frequency", "level",		"other"};
	const struct ww_channel_info *c = &d->channel[i];
	bool known = false;

	assert_non_null(c->name);
	assert_non_null(c->unit);
	assert_true(*c->name && *c->unit);
	for (size_t q = 0; q < WW_COUNTOF(quantities); q++)
		known |= strcmp(c->quantity, quantities[q]) == 0;
	if (!known)
		fail_msg("%s: quantity %s", d->name, c->quantity);
	assert_true(c->scale > 0 && c->resolution >= c->scale * 0.999);
	assert_true(c->semantics >= WW_INSTANT && c->semantics <= WW_COUNTER);
	/* Not zero by forgetfulness: a bound is positive, or unknown. */
	assert_true(isnan(c->acc_abs) || c->acc_abs >= 0);
	assert_true(!(c->acc_abs <= 0 && c->acc_rel <= 0));
	assert_true(c->wrap >= 0);
	for (size_t k = 0; k < i; k++)
		assert_string_not_equal(d->channel[k].name, c->name);
}

static void descriptions(void **unused)
{
	(void)unused;
	for (size_t i = 0; ww_meters[i]; i++) {
		const struct ww_meter_desc *d = &ww_meters[i]->desc;
		size_t n = strlen(d->name);

		assert_true(n > 0);
		assert_true(*d->summary);
		assert_true(strncmp(d->example, d->name, n) == 0 && d->example[n] == ':');
		assert_ptr_equal(ww_meter_find(d->name), ww_meters[i]);
		assert_true(d->channels >= 1 && d->channels <= WW_METER_CHANNELS);
		assert_true(d->period_ns > 0 || pulses_only(ww_meters[i]));
		assert_true(d->window_ns >= 0 || pulses_only(ww_meters[i]));
		assert_true(d->delay_min_ns >= 0 && d->delay_max_ns >= d->delay_min_ns);
		assert_true(d->state_size > 0);
		for (size_t c = 0; c < WW_METER_CHANNELS && d->channel[c].name; c++)
			sane_channel(d, c);
		assert_non_null(d->channel[d->channels - 1].name);
	}
}

/* No loop of deadlines, no crash, and no reading of noise. */
static void garbage(void **unused)
{
	(void)unused;
	for (size_t i = 0; ww_meters[i]; i++) {
		struct meterlog l;
		uint64_t x = 88172645463325252u;

		/* A meter of files is looked at first: see hostile(). */
		if (pulses_only(ww_meters[i]) || ww_meters[i]->look)
			continue;
		open_meter(&l, ww_meters[i]);
		ml_start(&l);
		for (int k = 0; k < 400; k++) {
			uint8_t buf[257];

			for (size_t b = 0; b < sizeof(buf); b++) {
				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
				buf[b] = (uint8_t)(x >> 24);
			}
			ml_feed(&l, buf, (size_t)(x % sizeof(buf)));
			ml_until(&l, l.now_ns + 37 * WW_NS_PER_MS);
		}
		assert_int_equal(l.given, 0);
		assert_true(l.m->deadline(l.state) > l.now_ns);
		ml_close(&l);
	}
}

static unsigned draw(uint64_t *x, unsigned below)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (unsigned)(*x >> 24) % below;
}

static const char *const words[] = {"name",
				    "power1_input",
				    "energy_uj",
				    "max_energy_range_uj",
				    "in1_input",
				    "curr1_input",
				    "power_now",
				    "voltage_now",
				    "current_now",
				    "status",
				    "uevent",
				    "in_voltage0_raw",
				    "in_power2_raw",
				    "in_power2_scale",
				    "sampling_frequency",
				    "type",
				    "scan_elements/in_voltage0_en",
				    "scan_elements/in_voltage0_type",
				    "scan_elements/",
				    "buffer/",
				    "POWER_SUPPLY_VOLTAGE_NOW",
				    "energy1_input",
				    "power1_average",
				    "in_voltage0_scale",
				    "in_current3_raw",
				    "in_current3_scale"};
static const char *const values[] = {"0",
				     "1",
				     "-1",
				     "12345678901234567890123",
				     "ina226",
				     "package-0",
				     "ina2xx",
				     "le:s16/16>>0",
				     "le:s64/64>>0",
				     "be:u0/0>>99",
				     "1e308",
				     "nan",
				     "Battery",
				     "Discharging",
				     "",
				     "0.000000001"};

/* What a folder could hold, and never does: at most `room` bytes. */
static size_t listing(uint64_t *x, char *out, size_t room)
{
	size_t n = 0;

	for (unsigned lines = draw(x, 40); lines; lines--) {
		int k = snprintf(out + n, room - n, "%s%s%s%s%s", words[draw(x, WW_COUNTOF(words))],
				 draw(x, 9) ? "=" : "!", draw(x, 5) ? "" : "POWER_SUPPLY_CYCLE=",
				 values[draw(x, WW_COUNTOF(values))], draw(x, 20) ? "\n" : "\x1f");

		if (k < 0 || (size_t)k >= room - n)
			break;
		n += (size_t)k;
	}
	return n;
}

/* A message as the bus brings it, whose inside is nonsense. */
static size_t message(uint64_t *x, enum ww_bus bus, char *out, size_t room)
{
	static const char *const answers[] = {"200\n", "0\n", "404\n", "200", "200\n{\"", "\n"};
	size_t n = 0;

	if (bus == WW_BUS_FILES || (bus == WW_BUS_IIO && draw(x, 2))) {
		if (bus == WW_BUS_IIO)
			out[n++] = 'T';
		return n + listing(x, out + n, room - n);
	}
	if (bus == WW_BUS_IIO)
		out[n++] = 'B';
	if (bus == WW_BUS_HTTP)
		n = (size_t)snprintf(out, room, "%s", answers[draw(x, WW_COUNTOF(answers))]);
	for (unsigned more = draw(x, 300); more && n < room; more--)
		out[n++] = (char)draw(x, 256);
	return n;
}

/* Where it was looked at a folder or not: it says something sane of itself. */
static void sane_shape(const struct meterlog *l)
{
	struct ww_meter_shape s = ww_meter_shape(l->m, l->state);
	struct ww_channel_info c;

	assert_true(s.channels >= 1 && s.channels <= WW_METER_CHANNELS);
	for (size_t i = 0; i < s.channels; i++) {
		ww_meter_channel(l->m, l->state, i, &c);
		assert_true(c.name && *c.name && c.quantity && c.unit);
		assert_true(isfinite(c.scale) && c.scale != 0.0 && isfinite(c.offset));
	}
}

/* On each bus: nothing hangs, nothing crashes, every deadline moves on. */
static void hostile_bus(const struct ww_meter_ops *m, enum ww_bus bus, uint64_t *x)
{
	struct ww_error err = {0};
	struct meterlog l;
	char buf[2048];

	open_meter(&l, m);
	l.bus = bus;
	if (m->look && m->look(l.state, buf, listing(x, buf, sizeof(buf)), &err) < 0) {
		assert_true(*err.text);
		ml_close(&l);
		return;
	}
	sane_shape(&l);
	l.channels = ww_meter_shape(m, l.state).channels;
	ml_start(&l);
	for (int k = 0; k < 60 && !l.fails; k++) {
		size_t n = message(x, bus, buf, sizeof(buf));

		if (n)
			ml_feed(&l, buf, n);
		if (!l.fails)
			ml_until(&l, l.now_ns + 211 * WW_NS_PER_MS);
	}
	assert_true(l.fails || l.m->deadline(l.state) > l.now_ns);
	assert_true(l.fails <= 1);
	ml_close(&l);
}

static void hostile(void **unused)
{
	uint64_t x = 88172645463325252u;

	(void)unused;
	for (size_t i = 0; ww_meters[i]; i++) {
		uint32_t buses = ww_meters[i]->desc.buses ? ww_meters[i]->desc.buses
							  : (uint32_t)WW_BUS_STREAM;

		for (uint32_t bus = 1; bus && !ww_meters[i]->desc.left_out; bus <<= 1)
			for (int k = 0; (buses & bus) && k < (ww_meters[i]->look ? 200 : 10); k++)
				hostile_bus(ww_meters[i], (enum ww_bus)bus, &x);
	}
}

static char *readings_of(const struct ww_meter_ops *m, size_t chunk, size_t *given)
{
	struct meterlog l;
	char *text = NULL;

	open_meter(&l, m);
	ml_start(&l);
	/* Twice: first to be known, then to be read. */
	for (int round = 0; round < 2; round++) {
		ml_until(&l, l.now_ns + WW_NS_PER_S);
		for (size_t at = 0; at < sizeof(stream) - 1; at += chunk) {
			size_t n = sizeof(stream) - 1 - at;

			ml_feed(&l, stream + at, n < chunk ? n : chunk);
		}
		ml_until(&l, l.now_ns + 1500 * WW_NS_PER_MS);
	}
	*given = l.given;
	text = strdup(ml_text(&l));
	ml_close(&l);
	return text;
}

/* However a stream is cut into reads, the same comes out of it. */
static void splits(void **unused)
{
	(void)unused;
	for (size_t i = 0; ww_meters[i]; i++) {
		size_t given, n;
		char *whole;

		/* Only a stream may be cut: a message is a whole. */
		if (ww_meters[i]->desc.buses && !(ww_meters[i]->desc.buses & WW_BUS_STREAM))
			continue;
		whole = readings_of(ww_meters[i], sizeof(stream), &given);
		assert_non_null(whole);
		assert_true(given > 0 || strcmp(ww_meters[i]->desc.name, "wattsup") != 0);
		for (size_t chunk = 1; chunk < 100; chunk++) {
			char *cut = readings_of(ww_meters[i], chunk, &n);

			assert_string_equal(cut, whole);
			free(cut);
		}
		free(whole);
	}
}

/* After its stop nothing is sent, given or waited for any more. */
static void stopped_is_still(void **unused)
{
	(void)unused;
	for (size_t i = 0; ww_meters[i]; i++) {
		struct meterlog l;
		struct ww_meter_out out;

		if (ww_meters[i]->look)
			continue;
		open_meter(&l, ww_meters[i]);
		out = ml_out(&l);
		ml_start(&l);
		ml_until(&l, WW_NS_PER_S);
		ml_feed(&l, stream, sizeof(stream) - 1);
		l.m->stop(l.state, &out);
		ml_clear(&l);
		ml_feed(&l, stream, sizeof(stream) - 1);
		ml_until(&l, 600 * WW_NS_PER_S);
		assert_string_equal(ml_text(&l), "");
		ml_close(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptions),	    cmocka_unit_test(garbage),
		cmocka_unit_test(hostile),	    cmocka_unit_test(splits),
		cmocka_unit_test(stopped_is_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

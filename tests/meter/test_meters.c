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

		if (pulses_only(ww_meters[i]))
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
		cmocka_unit_test(descriptions),
		cmocka_unit_test(garbage),
		cmocka_unit_test(splits),
		cmocka_unit_test(stopped_is_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

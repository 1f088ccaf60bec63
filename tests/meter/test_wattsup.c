/* SPDX-License-Identifier: MIT */
/* wattsup's records: the protocol's frames, and each known fault in them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "wattsuplog.h"

#include <math.h>

/* The worked frames of the protocol: hexadecimal and what it means. */
static void golden(void **unused)
{
	static const char *const want[] = {"reading 965 1204 792 1 100 500 965\n",
					   "reading 972 2277 433 5 95 500 1020\n"};
	FILE *f = fopen("tests/data/wattsup_frames.tsv", "r");
	char line[1024], *hex;
	size_t k = 0;

	(void)unused;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct meterlog l;

		run_up(&l, "wattsup:/dev/x");
		hex = strchr(line, '\t');
		assert_non_null(hex);
		for (hex++; hex[0] != '\t'; hex += 2) {
			char two[3] = {hex[0], hex[1], 0};
			uint8_t b = (uint8_t)strtol(two, NULL, 16);

			ml_feed(&l, &b, 1);
		}
		assert_true(k < WW_COUNTOF(want));
		assert_string_equal(ml_readings(&l), want[k]);
		k++;
		ml_close(&l);
	}
	assert_int_equal(k, WW_COUNTOF(want));
	fclose(f);
}

static void scales(void **unused)
{
	const struct ww_meter_desc *d = &ww_meter_find("wattsup")->desc;
	static const struct {
		const char *name, *unit;
		double code, value;
	} want[] = {{"power", "W", 965, 96.5},		{"voltage", "V", 1204, 120.4},
		    {"current", "A", 792, 0.792},	{"energy", "Wh", 1, 0.1},
		    {"power_factor", "1", 100, 1.00},	{"frequency", "Hz", 500, 50.0},
		    {"apparent_power", "VA", 965, 96.5}};

	(void)unused;
	assert_int_equal(d->channels, WW_COUNTOF(want));
	for (size_t i = 0; i < WW_COUNTOF(want); i++) {
		assert_string_equal(d->channel[i].name, want[i].name);
		assert_string_equal(d->channel[i].unit, want[i].unit);
		assert_true(fabs(want[i].code * d->channel[i].scale - want[i].value) < 1e-9);
		assert_true(isnan(d->channel[i].acc_abs) && isnan(d->channel[i].acc_rel));
	}
	assert_int_equal(d->channel[3].semantics, WW_COUNTER);
	assert_true(fabs(d->channel[3].wrap - 429496729.6) < 1e-6);
	assert_int_equal(d->window_ns, SEC);
}

static void unlogged_and_old(void **unused)
{
	struct meterlog l;

	(void)unused;
	run_up(&l, "wattsup:/dev/x");
	ml_say(&l, "#d,-,18,124,1191,97,0,_,_,_,124,_,_,_,_,_,100,_,_,_,_;\r\n");
	next_record(&l, "#d,-,16,124,1191,97,0,1,2,3,124,1192,98,123,1190,96,100,0,0;\n");
	next_record(&l, "#d,-,18,0,1201,0,0,0,2,0,0,1202,0,0,1201,0,100,0,0,600,0;");
	assert_string_equal(ml_readings(&l), "reading 124 1191 97 0 100 _ _\n"
					     "reading 124 1191 97 0 100 _ _\n"
					     "reading 0 1201 0 0 100 600 0\n");
	assert_int_equal(l.events + l.losses, 0);
	ml_close(&l);
}

static void all_channels(void **unused)
{
	struct meterlog l;

	(void)unused;
	run_up(&l, "wattsup:/dev/x?all=1");
	assert_int_equal(l.channels, 18);
	ml_say(&l, "#d,-,18,1,1000,3,4,5,6,7,8,9,10,11,12,13,14,15,16,500,18;");
	assert_string_equal(ml_readings(&l),
			    "reading 1 1000 3 4 14 500 18 8 9 10 11 12 13 15 16 5 6 7\n");
	ml_close(&l);
}

static void noise_between_and_within(void **unused)
{
	static const char nuls[] = "#d,\0-,18,96\0005,1204,79\0002,1,0,69384,5550,965,1205,833,965,"
				   "1203,779,100,0,0,500,965\0;\r\n\0\0";
	struct meterlog l;

	(void)unused;
	run_up(&l, "wattsup:/dev/x");
	ml_feed(&l, nuls, sizeof(nuls) - 1);
	assert_string_equal(ml_readings(&l), "reading 965 1204 792 1 100 500 965\n");
	assert_int_equal(l.events, 0);
	ml_until(&l, l.now_ns + SEC);
	ml_say(&l, "\xff\xfeyz" REC("966"));
	HAS(&l, "event device 4 bytes outside packets\n");
	next_record(&l, "#d,-,18,96\r\n7,12\t04,792,1,0,69384,5550,965,1205,833,965,1203,779,100,0,"
			"0,500,965;");
	HAS(&l, "reading 966 ");
	HAS(&l, "reading 967 1204 ");
	ml_close(&l);
}

static void headless_first(void **unused)
{
	struct meterlog l;

	(void)unused;
	run_up(&l, "wattsup:/dev/x");
	ml_say(&l, "-,18,610,1186,545,45,_,_,_,610,_,_,_,_,_,94,_,_,_,_;\r\n");
	assert_string_equal(ml_readings(&l), "reading 610 1186 545 45 94 _ _\n");
	/* Cut within its values, it may not be read as anything. */
	next_record(&l, "86,545,45,_,_,_,610,_,_,_,_,_,94,_,_,_,_;\r\n" REC("611"));
	assert_int_equal(l.given, 2);
	HAS(&l, "reading 611 ");
	ml_close(&l);
}

static void damaged_records(void **unused)
{
	struct meterlog l;

	(void)unused;
	run_up(&l, "wattsup:/dev/x");
	ml_say(&l, REC("965"));
	ml_clear(&l);
	next_record(&l,
		    "#d,-,18,966,1204,792,1,0,69384,5550,965,1205,833,965,1203,100,0,0,500,965;");
	next_record(&l, REC("967"));
	assert_string_equal(ml_readings(&l), "reading 967 1204 792 1 100 500 965\n");
	HAS(&l, "event device damaged packet left out: not as many values as it announces\n");
	HAS(&l, "loss 1400..2399 ms 1 damaged\n");
	ml_clear(&l);
	ml_until(&l, l.now_ns + SEC);
	next_record(&l, REC("967"));
	HAS(&l, "ms 1 missing\n");
	ml_clear(&l);
	next_record(&l, "#d,-,18,96" REC("968"));
	HAS(&l, "its end is missing");
	HAS(&l, "reading 968 ");
	next_record(
		&l,
		"#d,-,18,96x,1204,792,1,0,69384,5550,965,1205,833,965,1203,779,100,0,0,500,965;");
	HAS(&l, "a value is no number");
	next_record(&l, "#d,-,2,965,1204;");
	HAS(&l, "neither 16 nor 18 values");
	assert_int_equal(l.given, 1);
	ml_close(&l);
}

static void register_reset_and_wrap(void **unused)
{
#define WH(wh) "#d,-,18,965,1204,792," wh ",0,0,0,965,1205,833,965,1203,779,100,0,0,500,965;"
	struct meterlog l;

	(void)unused;
	run_up(&l, "wattsup:/dev/x");
	ml_say(&l, WH("1234"));
	next_record(&l, WH("1235"));
	assert_int_equal(l.events, 0);
	next_record(&l, WH("0"));
	HAS(&l, "event counter-reset energy register fell from 123.5 to 0.0 Wh\n");
	next_record(&l, WH("4294967295"));
	ml_clear(&l);
	next_record(&l, WH("2"));
	assert_int_equal(l.events, 0);
	HAS(&l, "reading 965 1204 792 2 ");
	next_record(&l, WH("4294967296"));
	HAS(&l, "a value is no number");
	ml_close(&l);
#undef WH
}

static void stale_repeated_beyond(void **unused)
{
	struct meterlog l;

	(void)unused;
	open_with(&l, "wattsup:/dev/x", 0);
	ml_start(&l);
	ml_until(&l, 400 * MS);
	ml_say(&l, VERSION);
	ml_until(&l, 420 * MS);
	ml_say(&l, REC("1965"));
	HAS(&l, "event device stale: a first record 20 ms after the start, left out\n");
	assert_int_equal(l.given, 0);
	ml_until(&l, 1400 * MS);
	ml_say(&l, REC("965"));
	ml_until(&l, 1450 * MS);
	ml_say(&l, REC("965"));
	HAS(&l, "event device repeated record, left out\n");
	assert_int_equal(l.given, 1);
	next_record(&l, REC("50001"));
	HAS(&l, "event device over-range: power reads 50001, beyond 0..50000\n");
	ml_clear(&l);
	next_record(&l, REC("50002"));
	assert_int_equal(l.events, 0);
	assert_int_equal(l.given, 1);
	ml_close(&l);
}

/* A recording that opens in the middle of everything, with an open first interval. */
static void open_interval(void **unused)
{
	struct meterlog l;
	struct ww_meter_out out;

	(void)unused;
	run_up(&l, "wattsup:/dev/x");
	out = ml_out(&l);
	l.m->feed(l.state, (struct ww_interval){WW_TIME_MIN, l.now_ns}, (const uint8_t *)REC("965"),
		  strlen(REC("965")), &out);
	next_record(&l, REC("966"));
	assert_int_equal(l.given, 2);
	assert_int_equal(l.losses, 0);
	ml_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
		cmocka_unit_test(scales),
		cmocka_unit_test(unlogged_and_old),
		cmocka_unit_test(all_channels),
		cmocka_unit_test(noise_between_and_within),
		cmocka_unit_test(headless_first),
		cmocka_unit_test(damaged_records),
		cmocka_unit_test(register_reset_and_wrap),
		cmocka_unit_test(stale_repeated_beyond),
		cmocka_unit_test(open_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

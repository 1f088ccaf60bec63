/* SPDX-License-Identifier: MIT */
/* Logs of known programs: what each column means, and the marks among them. */
#include "imported.h"

#define ARRAY(...) ((const double[]){__VA_ARGS__})

static void tracebase(void **state)
{
	struct ww_trace *t = import("05/04/2021 00:00:03;60;58\r\n05/04/2021 00:00:08;61;59\r\n"
				    "05/04/2021 00:00:13;0;55\r\n");

	(void)state;
	assert_string_equal(ww_import_name(t), "tracebase");
	check_rows(t, "power", 3, ARRAY(0, 5, 10), ARRAY(60, 61, 0));
	check_rows(t, "power_8s", 3, ARRAY(0, 5, 10), ARRAY(58, 59, 55));
	assert_int_equal(channel(t, "power")->semantics, WW_INSTANT);
	assert_true(noted(t, "means over 1 s, but come each 5 s"));
	assert_string_equal(channel(t, "power_8s")->quantity, "other");
	assert_int_equal(ww_trace_source(t, 0)->window_ns, 1000000000);
	assert_int_equal(ww_trace_anchor(t, 0)->real_ns, INT64_C(1617580803) * 1000000000);
	assert_true(noted(t, "tell no zone"));
	ww_trace_close(t);
	t = import("05/04/2021 00:00:03;60;58\n05/04/2021 00:00:04;61;59\n"
		   "05/04/2021 00:00:05;0;55\n");
	assert_int_equal(channel(t, "power")->semantics, WW_AVERAGE);
	ww_trace_close(t);
}

static void tc66(void **state)
{
	struct ww_trace *t =
		import("0.25;5.01230;0.500000\n0.50;5.01240;0.250000\n0.75;5.00000;0.000000\n");

	(void)state;
	assert_string_equal(ww_import_name(t), "tc66");
	check_rows(t, "voltage", 3, ARRAY(0.25, 0.5, 0.75), ARRAY(5.0123, 5.0124, 5));
	check_rows(t, "power", 3, ARRAY(0.25, 0.5, 0.75), ARRAY(2.50615, 1.2531, 0));
	assert_true(channel(t, "voltage")->resolution == 1e-4);
	assert_true(fabs(channel(t, "power")->resolution - 5e-5) < 1e-12);
	assert_true(noted(t, "volts times amperes"));
	ww_trace_close(t);
}

static void pmt(void **state)
{
	struct ww_trace *t = import("timestamp card_instant card_average\n"
				    "1700000000.000 30.125 28.5\n"
				    "1700000000.050 30.250 28.75\n"
				    "M 0.060 \"begin\"\n"
				    "1700000000.100 90.500 31.25\n");

	(void)state;
	assert_string_equal(ww_import_name(t), "pmt");
	check_rows(t, "card_instant", 3, ARRAY(0, 0.05, 0.1), ARRAY(30.125, 30.25, 90.5));
	assert_string_equal(channel(t, "card_instant")->quantity, "power");
	assert_string_equal(channel(t, "card_average")->quantity, "other");
	assert_int_equal(ww_trace_mark_count(t), 1);
	assert_string_equal(ww_trace_mark(t, 0)->text, "begin");
	assert_int_equal(ww_trace_mark(t, 0)->t.lo_ns, 60000000);
	check_notes(t, 0);
	ww_trace_close(t);
}

/* Energy since the line before is a mean power over that time; the first line has none. */
static void rapl(void **state)
{
	struct ww_trace *t = import("\n1700000000000000 999 Package_0\n"
				    "1700000000000100 888 Package_1\n"
				    "1700000000100000 400000 Package_0\n"
				    "1700000000100100 100000 Package_1\n"
				    "1700000000300000 500000 Package_0\n");
	struct rows r = rows_of(t, "power");

	(void)state;
	assert_string_equal(ww_import_name(t), "gmt");
	assert_int_equal(ww_trace_source_count(t), 2);
	assert_string_equal(ww_trace_source(t, 1)->name, "Package_1");
	assert_int_equal(r.n, 2);
	assert_int_equal(r.hi[1] - r.hi[0], 200000000);
	assert_true(r.v[0] == 4 && r.v[1] == 2.5);
	assert_int_equal(channel(t, "power")->semantics, WW_AVERAGE);
	ww_trace_close(t);
}

/* Names of a file never steer a terminal; the same name is the same source. */
static void plain_names(void **state)
{
	struct ww_trace *t = import("1700000000000000 999 Pack\x1b[1m\x0c"
				    "0\n"
				    "1700000000100000 400000 Pack\x1b[1m\x0c"
				    "0\n"
				    "1700000000300000 500000 Pack\x1b[1m\x0c"
				    "0\n");

	(void)state;
	assert_int_equal(ww_trace_source_count(t), 1);
	assert_string_equal(ww_trace_source(t, 0)->name, "Pack\\x1b[1m\\x0c0");
	ww_trace_close(t);
	t = import("t_lo_ns,t_hi_ns,source,channel,value,unit\n5,7,m\x1b,p\x07,1,W\n"
		   "6,8,m\x1b,p\x07,2,W\n");
	assert_int_equal(ww_trace_source_count(t), 1);
	assert_string_equal(ww_trace_source(t, 0)->name, "m\\x1b");
	check_rows(t, "p\\x07", 2, ARRAY(7e-9, 8e-9), ARRAY(1, 2));
	ww_trace_close(t);
	t = import("timestamp a\x1b b\n1700000000.000 30.125 28.5\n1700000001.000 30 28\n");
	check_rows(t, "a\\x1b", 2, ARRAY(0, 1), ARRAY(30.125, 30));
	ww_trace_close(t);
}

static void gmt_power(void **state)
{
	struct ww_trace *t = import("1700000000000000 21500\n1700000000100000 22500\n");

	(void)state;
	check_rows(t, "power", 2, ARRAY(0, 0.1), ARRAY(21.5, 22.5));
	assert_true(noted(t, "taken as milliwatts"));
	ww_trace_close(t);
	t = import("1700000000000000 21500000\n1700000000100000 22500000\nx\n");
	check_rows(t, "power", 2, ARRAY(0, 0.1), ARRAY(21.5, 22.5));
	assert_true(noted(t, "taken as microwatts"));
	assert_true(noted(t, "1 line left out; the first is line 3"));
	ww_trace_close(t);
	t = import_with("1700000000000000 21500000\n1700000000100000 22500000\n",
			&(struct ww_import_options){.size = sizeof(struct ww_import_options),
						    .columns = "us,mW"});
	check_rows(t, "power", 2, ARRAY(0, 0.1), ARRAY(21500, 22500));
	ww_trace_close(t);
}

static void ptd(void **state)
{
	struct ww_trace *t = import(
		"Time,03-04-2022 10:00:00.000,NOTICE,Analyzer identity response of 20 bytes: "
		"ACME,PM1000,S1,F1\n"
		"Time,03-04-2022 "
		"10:00:01.000,Watts,50.5,Volts,230.1,Amps,0.25,PF,0.88,Mark,notset\n"
		"Time,03-04-2022 10:00:02.000,Watts,51.5,Volts,-1.0,Amps,0.26,PF,0.89,Mark,run1,"
		"Ch1,Watts,20.5,Volts,230.0,Ch2,Watts,31.0\n"
		"Time,03-04-2022 10:00:03.000,ERROR,Bad volts reading nan from PM1000\n"
		"rubbish\n"
		"Time,03-04-2022 10:00:04.000,Watts,52.5,Volts,230.2,Amps,nan,PF,0.9,Mark,run1\n");

	(void)state;
	assert_string_equal(ww_import_name(t), "ptd");
	assert_string_equal(ww_trace_source(t, 0)->model, "ACME PM1000");
	check_rows(t, "power", 3, ARRAY(0, 1, 3), ARRAY(50.5, 51.5, 52.5));
	check_rows(t, "voltage", 3, ARRAY(0, 1, 3), ARRAY(230.1, NAN, 230.2));
	check_rows(t, "current", 3, ARRAY(0, 1, 3), ARRAY(0.25, 0.26, NAN));
	check_rows(t, "ch2_power", 3, ARRAY(0, 1, 3), ARRAY(NAN, 31, NAN));
	assert_string_equal(channel(t, "ch2_power")->quantity, "other");
	assert_int_equal(ww_trace_mark_count(t), 2);
	assert_string_equal(ww_trace_mark(t, 0)->text, "run1");
	assert_string_equal(ww_trace_mark(t, 0)->kind, WW_MARK_LABEL);
	assert_string_equal(ww_trace_mark(t, 1)->kind, WW_MARK_DEVICE);
	assert_string_equal(ww_trace_mark(t, 1)->text, "ERROR,Bad volts reading nan from PM1000");
	assert_int_equal(ww_trace_gap_count(t), 1);
	assert_int_equal(ww_trace_anchor(t, 0)->real_ns, INT64_C(1646388001) * 1000000000);
	ww_trace_close(t);
	t = import("Time,03-04-2022 10:00:01.000,Watts,inf,Volts,230.1,Amps,0.25,PF,0.88\n"
		   "Time,03-04-2022 10:00:02.000,Watts,5,Volts,230.1,Amps,0.25,PF,0.88\n");
	assert_true(noted(t, "power: 1 reading is beyond any meter's range"));
	ww_trace_close(t);
	assert_non_null(strstr(import_error("Time,03-04-2022 10:00:00.000,NOTICE,hello\n", NULL),
			       "no readings in it"));
}

/* What an export wrote comes back, to the last digit and nanosecond. */
static void own(void **state)
{
	static const char *const forms[] = {
		"t_lo_ns,t_hi_ns,source,channel,value,unit\n"
		"5,7,meter,power,119.1,W\n5,7,meter,power_factor,0.95,1\n"
		"6,8,other,power,2.50,W\n"
		"9,9,meter,power,,W\n9,9,meter,power_factor,1.00,1\n"
		"9,9,meter,power,3.0,W\n9,9,meter,power_factor,,1\n",
		"{\"t_lo_ns\":5,\"t_hi_ns\":7,\"source\":\"meter\",\"channel\":\"power\","
		"\"value\":119.1,\"unit\":\"W\"}\n"
		"{\"t_lo_ns\":5,\"t_hi_ns\":7,\"source\":\"meter\",\"channel\":\"power_factor\","
		"\"value\":0.95,\"unit\":\"1\"}\n"
		"{\"unit\":\"W\", \"value\":2.50, \"t_lo_ns\":6,\"t_hi_ns\":8,"
		"\"source\":\"other\",\"channel\":\"power\"}\n"
		"{\"t_lo_ns\":9,\"t_hi_ns\":9,\"source\":\"meter\",\"channel\":\"power\","
		"\"value\":null,\"unit\":\"W\"}\n"
		"{\"t_lo_ns\":9,\"t_hi_ns\":9,\"source\":\"meter\",\"channel\":\"power_factor\","
		"\"value\":1.00,\"unit\":\"1\"}\n"
		"{\"t_lo_ns\":9,\"t_hi_ns\":9,\"source\":\"meter\",\"channel\":\"power\","
		"\"value\":3.0,\"unit\":\"W\"}\n"
		"{\"t_lo_ns\":9,\"t_hi_ns\":9,\"source\":\"meter\",\"channel\":\"power_factor\","
		"\"value\":null,\"unit\":\"1\"}\n"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct ww_trace *t = import(forms[i]);
		struct rows r = rows_of(t, "power");

		assert_string_equal(ww_import_name(t), i ? "export-jsonl" : "export-csv");
		assert_int_equal(ww_trace_source_count(t), 2);
		assert_int_equal(r.n, 3);
		assert_int_equal(r.lo[0], 5);
		assert_int_equal(r.hi[0], 7);
		assert_true(r.v[0] == 119.1 && isnan(r.v[1]) && r.v[2] == 3);
		assert_true(rows_of(t, "power_factor").v[1] == 1);
		assert_string_equal(channel(t, "power_factor")->quantity, "power_factor");
		assert_int_equal(ww_trace_anchor_count(t), 0);
		ww_trace_close(t);
	}
	assert_non_null(
		strstr(import_error("t_lo_ns,t_hi_ns,source,hex\n1,2,port,2e\n", NULL), "columns"));
}

/* Stored as a trace, nothing is lost, and what was assumed is still known. */
static void stored(void **state)
{
	struct ww_trace *t = import(
				"time,power_W,label\n2023-11-14 22:13:20,119.1,\n"
				"2023-11-14 22:13:21,nan,on\nrubbish,,\n2023-11-14 22:13:22,2,on\n"
				"2023-11-14 22:13:23,3,on\n2023-11-14 22:13:24,2,on\n"),
			*back;
	const char *path = at("stored.wwt");

	(void)state;
	assert_int_equal(ww_import_store(t, path, NULL, NULL), 5);
	assert_int_equal(ww_import_store(t, path, NULL, NULL), -EEXIST);
	OK(ww_import_open(path, NULL, &back, err));
	check_rows(back, "power", 5, ARRAY(0, 1, 2, 3, 4), ARRAY(119.1, NAN, 2, 3, 2));
	assert_string_equal(ww_import_name(back), "csv");
	for (size_t i = 0; ww_import_note(t, i); i++)
		assert_string_equal(ww_import_note(back, i), ww_import_note(t, i));
	assert_int_equal(ww_trace_mark_count(back), 1);
	assert_int_equal(ww_trace_gap_count(back), 1);
	assert_int_equal(ww_trace_anchor(back, 0)->real_ns, ww_trace_anchor(t, 0)->real_ns);
	ww_trace_close(back);
	ww_trace_close(t);
}

/* The battery of an XO: its own header, microvolts and microamperes, charge and words. */
static void olpc(void **state)
{
	static const char *const heads[] = {
		"pwr_log Ver: 0.1.5\nDATE: Tue Mar 2 10:00:00 UTC 2010\nXOVER: 1.5\n<StartData>\n",
		"<StartData>\n", "Seconds,SOC,Vb,Ib,Tb,ACR\n",
		"XOVER: 1\n<StartData>\nSeconds,SOC,Vb,Ib,Tb,ACR\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		char text[400];
		struct ww_trace *t;

		snprintf(text, sizeof(text), "%s%s", heads[i],
			 "1267524000,97,6500000,-800000,2500,1000,Discharging\n"
			 "1267524010,97,6490000,-820000,2500,990,Discharging\n"
			 "1267524020,96,6500000,300000,2500,980,Charging\n");
		t = import(text);
		assert_string_equal(ww_import_name(t), "olpc");
		check_rows(t, "power", 3, ARRAY(0, 10, 20), ARRAY(-5.2, -5.3218, 1.95));
		check_rows(t, "voltage", 3, ARRAY(0, 10, 20), ARRAY(6.5, 6.49, 6.5));
		assert_int_equal(ww_trace_mark_count(t), 2);
		assert_string_equal(ww_trace_mark(t, 1)->text, "Charging");
		assert_int_equal(ww_trace_anchor(t, 0)->real_ns, INT64_C(1267524000) * 1000000000);
		ww_trace_close(t);
	}
	assert_non_null(strstr(import_error("XOVER: 1\n<StartData>\n", NULL), "no rows behind"));
	assert_non_null(strstr(import_error("<StartData>\n1,2\n", NULL), ":2: 2 columns"));
}

/* Records as the meter sends them; tenths of W, V and Wh, mA, hundredths of PF. */
static void wattsup(void **state)
{
	static const char records[] =
		"#n,-,3,0,5,2;\r\n"
		"#d,-,18,972,2277,433,5,0,70035,5602,973,2280,435,972,2274,432,95,0,0,500,1020;\r\n"
		"#d,-,18,124,1191,97,0,_,_,_,124,_,_,_,_,_,100,_,_,_,_;\r\n";
	struct ww_import_options o = {.size = sizeof(o), .rate_hz = 0.1};
	struct ww_trace *t = import(records);

	(void)state;
	assert_string_equal(ww_import_name(t), "wattsup");
	check_rows(t, "power", 2, ARRAY(0, 5), ARRAY(97.2, 12.4));
	check_rows(t, "voltage", 2, ARRAY(0, 5), ARRAY(227.7, 119.1));
	check_rows(t, "current", 2, ARRAY(0, 5), ARRAY(0.433, 0.097));
	check_rows(t, "energy", 2, ARRAY(0, 5), ARRAY(0.5, 0));
	check_rows(t, "power_factor", 2, ARRAY(0, 5), ARRAY(0.95, 1));
	check_rows(t, "frequency", 2, ARRAY(0, 5), ARRAY(50, NAN));
	check_rows(t, "apparent_power", 2, ARRAY(0, 5), ARRAY(102, NAN));
	assert_true(channel(t, "power")->resolution == 0.1);
	assert_int_equal(channel(t, "energy")->semantics, WW_COUNTER);
	assert_true(noted(t, "frequency: 1 of 2 readings are missing"));
	check_notes(t, 2);
	ww_trace_close(t);
	t = import_with(records, &o);
	check_rows(t, "power", 2, ARRAY(0, 10), ARRAY(97.2, 12.4));
	ww_trace_close(t);
	t = import("1400000000.5 #d,-,18,450,1200,375,1;\n1400000001.5 #d,-,18,460,1200,383,1;\n");
	check_rows(t, "power", 2, ARRAY(0, 1), ARRAY(45, 46));
	assert_int_equal(ww_trace_anchor(t, 0)->real_ns, INT64_C(1400000000500000000));
	ww_trace_close(t);
	t = import("#d,-,18,450,1200,375,1;\n#d,-,18,460,1200,383,1;\n");
	assert_true(noted(t, "taken as one a second"));
	ww_trace_close(t);
}

/* The row of all CPUs is the machine's; those of single ones are no readings of it. */
static void turbostat(void **state)
{
	static const char timed[] =
		"turbostat version 2022\n"
		"usec\tTime_Of_Day_Seconds\tCore\tCPU\tBusy%\tPkgWatt\tRAMWatt\n"
		"600\t1700000000.1\t-\t-\t1.0\t5.50\t0.9\n"
		"500\t1700000000.1001\t0\t0\t1\t5.50\t0.9\n"
		"20\t1700000000.1002\t0\t2\t1\n"
		"usec\tTime_Of_Day_Seconds\tCore\tCPU\tBusy%\tPkgWatt\tRAMWatt\n"
		"600\t1700000005.1\t-\t-\t1.0\t6.50\t0.8\n"
		"500\t1700000005.1001\t0\t0\t1\t6.50\t0.8\n"
		"20\t1700000005.1002\t0\t2\t1\n";
	static const char plain[] = "Core CPU Avg_MHz Busy% PkgWatt\n-   -   20  1.0  5.50\n"
				    "0   0   20  1.0  5.50\n0   2   20  1.0\n"
				    "-   -   20  1.0  6.50\n0   0   20  1.0  6.50\n";
	struct ww_import_options o = {.size = sizeof(o), .rate_hz = 0.2};
	struct ww_trace *t = import(timed);

	(void)state;
	assert_string_equal(ww_import_name(t), "turbostat");
	check_rows(t, "pkg", 2, ARRAY(0, 5), ARRAY(5.5, 6.5));
	check_rows(t, "ram", 2, ARRAY(0, 5), ARRAY(0.9, 0.8));
	assert_int_equal(ww_trace_gap_count(t), 0);
	assert_true(noted(t, "4 rows of single CPUs are passed over"));
	assert_true(noted(t, "the header comes again 1 time"));
	check_notes(t, 2);
	ww_trace_close(t);
	t = import_with(plain, &o);
	check_rows(t, "pkg", 2, ARRAY(0, 5), ARRAY(5.5, 6.5));
	ww_trace_close(t);
	assert_non_null(strstr(import_error(plain, NULL), "--rate 0.2"));
}

/* sigrok tells the rate in the head; its channels are V1, I1, P1. */
static void sigrok(void **state)
{
	struct ww_trace *t = import("; CSV generated by libsigrok 0.5.2 on Tue Mar  2 2021\n"
				    "; Channels (2/2): V1, I1\n; Samplerate: 1 kHz\nV1,I1\n"
				    "5.0,0.5\n5.0,0.25\n5.0,0.5\n");

	(void)state;
	check_rows(t, "power", 3, ARRAY(0, 0.001, 0.002), ARRAY(2.5, 1.25, 2.5));
	assert_true(noted(t, "the head of the file tells 1000 rows a second"));
	ww_trace_close(t);
	t = import("; Samplerate: 200 Hz\nTime,P1\n0,5\n1,6\n");
	check_rows(t, "power", 2, ARRAY(0, 1), ARRAY(5, 6));
	ww_trace_close(t);
	/* A table with empty first cells is none of comments. */
	t = import("t_s;power_W\n0;5\n1;6\n; 7\n");
	assert_true(noted(t, "1 line left out"));
	ww_trace_close(t);
}

/* An entity that measures is a source; what others did are labels. */
static void hass(void **state)
{
	struct ww_trace *t = import("entity_id,state,last_changed\n"
				    "switch.desk,off,2024-03-01T08:00:00.000Z\n"
				    "sensor.plug_power,3.2,2024-03-01T08:00:00.000Z\n"
				    "sensor.plug_energy,1.25,2024-03-01T08:00:00.000Z\n"
				    "switch.desk,on,2024-03-01T08:00:09.000Z\n"
				    "sensor.plug_power,65.4,2024-03-01T08:00:10.500Z\n"
				    "sensor.plug_power,unavailable,2024-03-01T08:00:20.000Z\n"
				    "sensor.plug_energy,1.5,2024-03-01T08:00:30.000Z\n"
				    "sensor.plug_power,64,yesterday\n");

	(void)state;
	assert_string_equal(ww_import_name(t), "hass");
	assert_int_equal(ww_trace_source_count(t), 2);
	assert_string_equal(ww_trace_source(t, 0)->name, "plug_power");
	check_rows(t, "power", 3, ARRAY(0, 10.5, 20), ARRAY(3.2, 65.4, NAN));
	check_rows(t, "energy", 2, ARRAY(0, 30), ARRAY(1250, 1500));
	assert_int_equal(channel(t, "power")->semantics, WW_HOLD);
	assert_int_equal(channel(t, "energy")->semantics, WW_COUNTER);
	assert_int_equal(ww_trace_mark_count(t), 2);
	assert_string_equal(ww_trace_mark(t, 1)->text, "desk on");
	assert_int_equal(ww_trace_mark(t, 1)->t.lo_ns, INT64_C(9000000000));
	assert_true(noted(t, "plug_power tells no unit: taken as W"));
	assert_true(noted(t, "plug_energy tells no unit: taken as kWh"));
	assert_true(noted(t, "1 line left out; the first is line 9: 'yesterday' is no time"));
	ww_trace_close(t);
	t = import_with("entity_id,state,last_changed\nsensor.a_power,3,2024-03-01T08:00:00Z\n"
			"sensor.b_power,70,2024-03-01T08:00:00Z\n",
			&(struct ww_import_options){.size = sizeof(struct ww_import_options),
						    .columns = ",W,time"});
	assert_int_equal(ww_trace_source_count(t), 2);
	assert_true(noted(t, "those named are not used"));
	ww_trace_close(t);
	assert_non_null(strstr(import_error("entity_id,state,last_changed\nlight.a,on,2024-03-01T"
					    "08:00:00Z\n",
					    NULL),
			       "no entity whose name"));
}

/* Registers count up and stay registers; a processor's clock is no mains frequency. */
static void energibridge(void **state)
{
	struct ww_trace *t =
		import("Delta,Time,CPU_FREQUENCY_0,CPU_USAGE_0,DRAM_ENERGY (J),PACKAGE_ENERGY (J)\n"
		       "0,1700000000000,2000,1.5,36,3600\n200,1700000000200,2100,1.5,72,7200\n"
		       "200,1700000000400,2100,1.5,108,10800\n");

	(void)state;
	check_rows(t, "package_energy", 3, ARRAY(0, 0.2, 0.4), ARRAY(1, 2, 3));
	check_rows(t, "dram_energy", 3, ARRAY(0, 0.2, 0.4), ARRAY(0.01, 0.02, 0.03));
	assert_int_equal(ww_trace_channel_count(t), 2);
	assert_int_equal(channel(t, "package_energy")->semantics, WW_COUNTER);
	assert_true(noted(t, "cpu_frequency_0"));
	ww_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracebase),	cmocka_unit_test(tc66),
		cmocka_unit_test(pmt),		cmocka_unit_test(rapl),
		cmocka_unit_test(plain_names),	cmocka_unit_test(olpc),
		cmocka_unit_test(wattsup),	cmocka_unit_test(turbostat),
		cmocka_unit_test(sigrok),	cmocka_unit_test(hass),
		cmocka_unit_test(energibridge), cmocka_unit_test(gmt_power),
		cmocka_unit_test(ptd),		cmocka_unit_test(own),
		cmocka_unit_test(stored)};

	return cmocka_run_group_tests_name("import logs", tests, make_folder, remove_folder);
}

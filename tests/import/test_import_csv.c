/* SPDX-License-Identifier: MIT */
/* Tables in the dialects that people have: the numbers that stand there come out. */
#include "imported.h"

#define ARRAY(...) ((const double[]){__VA_ARGS__})

static void plain(void **state)
{
	struct ww_trace *t = import("t_s,power_W\n0,119.1\n1,0.9\n2.5,-3\n");
	const struct ww_channel_info *c = channel(t, "power");

	(void)state;
	assert_string_equal(ww_import_name(t), "csv");
	assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
	assert_int_equal(ww_trace_fd(t), -1);
	assert_int_equal(ww_trace_anchor_count(t), 0);
	check_rows(t, "power", 3, ARRAY(0, 1, 2.5), ARRAY(119.1, 0.9, -3));
	assert_string_equal(c->quantity, "power");
	assert_string_equal(c->unit, "W");
	assert_int_equal(c->semantics, WW_INSTANT);
	assert_true(c->resolution == 0.1);
	check_notes(t, 0);
	ww_trace_close(t);
}

/* One table, written in many ways: 12.5 W at 0 s and 13.25 W at 1 s. */
static void dialects(void **state)
{
	static const char *const texts[] = {
		"t_s,power_W\n0,12.5\n1,13.25\n",
		"t_s,power_W\r\n0,12.5\r\n1,13.25\r\n",
		"t_s,power_W\r0,12.5\r1,13.25\r",
		"t_s,power_W\n0,12.5\n1,13.25",
		"\xef\xbb\xbft_s,power_W\n0,12.5\n1,13.25\n",
		"t_s;power_W\n0;12,5\n1;13,25\n",
		"t_s\tpower_W\n0\t12.5\n1\t13.25\n",
		"t_s power_W\n0 12.5\n1 13.25\n",
		"  t_s   power_W\n  0   12.5\n  1   13.25\n",
		"t_s|power_W\n0|12.5\n1|13.25\n",
		"\"t_s\",\"power_W\"\n\"0\",\"12.5\"\n\"1\",\"13.25\"\n",
		"\"Time (s)\";\"Power (W)\"\n0;\"12,5\"\n1;\"13,25\"\n",
		"# written by somebody\n\nt_s,power_W\n# between\n0,12.5\n\n1,13.25\n",
		"# t_s power_W\n0 12.5\n1 13.25\n",
		"Device,X-1\nSerial,42\nTime [ms],Power [mW]\n0,12500\n1000,13250\n",
		"time,power\ns,W\n0,12.5\n1,13.25\n",
		"time,power\n(ms),(kW)\n0,0.0125\n1000,0.01325\n",
		"t_us,p_mW\n0,12500\n1e6,1.325e4\n",
		"t_s,power_W,\n0,12.5,\n1,13.25,\n",
		"t_s,Watts\n0,12.5 W\n1,13250 mW\n",
		"t_s,temperature,Watts\n0,20.1,12.5\n1,20.2,13.25\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct ww_trace *t = import(texts[i]);

		check_rows(t, "power", 2, ARRAY(0, 1), ARRAY(12.5, 13.25));
		ww_trace_close(t);
	}
}

static void units(void **state)
{
	struct ww_trace *t = import("Timestamp(ms),Current(uA),Voltage [mV],VA,PF,Freq_Hz,E (kWh),"
				    "gpu_mW,\xc2\xb5W\n"
				    "0,1.5,5000,10,0.9,50,1.5,250,7\n"
				    "100,2.5,5001,11,0.8,50,1.6,260,8\n");

	(void)state;
	check_rows(t, "current", 2, ARRAY(0, 0.1), ARRAY(1.5e-6, 2.5e-6));
	check_rows(t, "voltage", 2, ARRAY(0, 0.1), ARRAY(5, 5.001));
	check_rows(t, "apparent_power", 2, ARRAY(0, 0.1), ARRAY(10, 11));
	check_rows(t, "power_factor", 2, ARRAY(0, 0.1), ARRAY(0.9, 0.8));
	check_rows(t, "frequency", 2, ARRAY(0, 0.1), ARRAY(50, 50));
	check_rows(t, "e", 2, ARRAY(0, 0.1), ARRAY(1500, 1600));
	check_rows(t, "gpu", 2, ARRAY(0, 0.1), ARRAY(0.25, 0.26));
	check_rows(t, "power", 2, ARRAY(0, 0.1), ARRAY(7e-6, 8e-6));
	assert_int_equal(channel(t, "e")->semantics, WW_COUNTER);
	assert_string_equal(channel(t, "apparent_power")->unit, "VA");
	assert_string_equal(channel(t, "power_factor")->unit, "1");
	ww_trace_close(t);
	t = import("t_s,W,THD (%),crest,voltage_crest,V\n0,1,1.5,2.25,1.41,230\n"
		   "1,1,1.6 %,2.5,1.42,230\n");
	check_rows(t, "thd", 2, ARRAY(0, 1), ARRAY(1.5, 1.6));
	check_rows(t, "crest", 2, ARRAY(0, 1), ARRAY(2.25, 2.5));
	check_rows(t, "voltage_crest", 2, ARRAY(0, 1), ARRAY(1.41, 1.42));
	assert_string_equal(channel(t, "thd")->unit, "%");
	assert_string_equal(channel(t, "crest")->quantity, "other");
	check_notes(t, 0);
	ww_trace_close(t);
	t = import("usec\tTime_Of_Day_Seconds\tPkgWatt\n100\t1700000000.5\t5.5\n"
		   "100\t1700000001.5\t5.75\n");
	check_rows(t, "pkg", 2, ARRAY(0, 1), ARRAY(5.5, 5.75));
	ww_trace_close(t);
	t = import("time_s,PACKAGE_ENERGY (J)\n0,3600\n1,7200\n2,7200\n");
	check_rows(t, "package_energy", 3, ARRAY(0, 1, 2), ARRAY(1, 2, 2));
	assert_string_equal(channel(t, "package_energy")->unit, "Wh");
	ww_trace_close(t);
	t = import("time,watts\n0,1\n1,2\n");
	assert_true(noted(t, "the time, tells no unit: taken as seconds"));
	ww_trace_close(t);
	t = import("time_s,power\n0,1\n1,2\n");
	assert_true(noted(t, "tells no unit: taken as W"));
	check_notes(t, 1);
	ww_trace_close(t);
}

/* Watts are never made of volt-amperes; of volts and amperes only where they are DC. */
static void direct_current(void **state)
{
	struct ww_trace *t = import("t_s,V,A\n0,5.010,1.25\n1,5.000,0\n");

	(void)state;
	check_rows(t, "power", 2, ARRAY(0, 1), ARRAY(6.2625, 0));
	assert_true(noted(t, "power is volts times amperes"));
	ww_trace_close(t);
	t = import("t_s,V,A\n0,230.1,0.25\n1,230.0,0.3\n");
	assert_int_equal(ww_trace_channel_count(t), 2);
	assert_true(noted(t, "no channel of power"));
	ww_trace_close(t);
	t = import("t_s,V,A,PF\n0,12,0.25,0.5\n1,12,0.3,0.5\n");
	assert_int_equal(ww_trace_channel_count(t), 3);
	ww_trace_close(t);
	t = import("t_s,mV,uA\n0,3300,10\n1,3300,\n2,3300,20\n");
	check_rows(t, "power", 3, ARRAY(0, 1, 2), ARRAY(33e-6, NAN, 66e-6));
	ww_trace_close(t);
}

/* A recorder of current alone, at volts that its user knows. */
static void known_volts(void **state)
{
	struct ww_import_options o = {.size = sizeof(o), .columns = "ms,uA@3.3V"};
	struct ww_trace *t =
		import_with("Timestamp(ms),Current(uA)\n0,1000\n1,2000.5\n2,\n3,0\n", &o);

	(void)state;
	check_rows(t, "current", 4, ARRAY(0, 0.001, 0.002, 0.003), ARRAY(1e-3, 2.0005e-3, NAN, 0));
	check_rows(t, "power", 4, ARRAY(0, 0.001, 0.002, 0.003), ARRAY(3.3e-3, 6.60165e-3, NAN, 0));
	assert_true(noted(t, "amperes times the volts that were given"));
	ww_trace_close(t);
	o.columns = "ms,uA@3.3V,"; /* passed over on purpose */
	t = import_with("0,1000,7\n1,2000,7\n", &o);
	check_notes(t, 1);
	ww_trace_close(t);
	o.columns = "ms,uA@3V"; /* further columns need no names */
	t = import_with("0,1000,0,0,1\n1,2000,0,1,1\n", &o);
	check_rows(t, "power", 2, ARRAY(0, 0.001), ARRAY(3e-3, 6e-3));
	ww_trace_close(t);
	o.columns = "ms,W@3V";
	t = import_with("0,1\n1,2\n", &o);
	assert_true(noted(t, "column 2 is no current"));
	ww_trace_close(t);
	o.columns = "ms,A@x";
	assert_string_equal(import_error("0,1\n1,2\n", &o),
			    "column 2: 'A@x': volts of direct current stand behind the @ of one "
			    "column, as uA@3.3V");
}

static void headless(void **state)
{
	struct ww_import_options o = {.size = sizeof(o), .rate_hz = 2000};
	struct ww_trace *t = import("0,1.5\n1,2.5\n2,2.5\n");

	(void)state;
	check_rows(t, "power", 3, ARRAY(0, 1, 2), ARRAY(1.5, 2.5, 2.5));
	assert_true(noted(t, "taken as W"));
	ww_trace_close(t);
	t = import_with("p_W\n-0.80\n-0.10\n4.55\n", &o);
	check_rows(t, "power", 3, ARRAY(0, 0.0005, 0.001), ARRAY(-0.8, -0.1, 4.55));
	ww_trace_close(t);
	assert_non_null(strstr(import_error("p_W\n-0.80\n-0.10\n", NULL), "--rate"));
	assert_non_null(strstr(import_error("1,2,3\n2,2,3\n", NULL), "--columns"));
	o = (struct ww_import_options){.size = sizeof(o), .columns = "ms,,A,V"};
	t = import_with("1000,7,2,12\n1100,7,3,12\n", &o);
	check_rows(t, "power", 2, ARRAY(1, 1.1), ARRAY(24, 36));
	ww_trace_close(t);
	assert_non_null(strstr(import_error("1,2,3\n2,2,3\n", &o), "names for 4"));
	o = (struct ww_import_options){.size = sizeof(o), .columns = "time_s,mW"};
	t = import_with("when,what\n0,1500\n1,2500\n", &o);
	check_rows(t, "power", 2, ARRAY(0, 1), ARRAY(1.5, 2.5));
	ww_trace_close(t);
}

/* Digits: as many as are written, and steps as coarse as they are. */
static void digits(void **state)
{
	struct ww_trace *t;
	char text[4096] = "t_s,power_W\n";
	size_t n = strlen(text);

	(void)state;
	for (int i = 0; i < 60; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d,%d.%d00\n", i, i % 13,
				      i % 2 * 5);
	t = import(text);
	assert_true(channel(t, "power")->resolution == 0.5);
	ww_trace_close(t);
	/* Three values say nothing: 5 W may be shown by a meter of 1 W. */
	t = import("t_s,power_W\n0,5\n1,10\n2,5\n");
	assert_true(channel(t, "power")->resolution == 1);
	ww_trace_close(t);
	t = import("t_s,power_W\n0,123456789.125\n1,0.000000000125\n2,1e300\n3,-1e20\n4,1e-30\n");
	check_rows(t, "power", 5, ARRAY(0, 1, 2, 3, 4), ARRAY(123456789.125, 0, NAN, NAN, 0));
	assert_true(noted(t, "2 readings are beyond any meter's range"));
	ww_trace_close(t);
	t = import("t_s,power_W\n0,0.12345678901234567\n1,7\n");
	assert_true(fabs(rows_of(t, "power").v[0] - 0.12345678901234567) < 1e-14);
	ww_trace_close(t);
	t = import_with("t_s,power_W\n0,1.5\n1,2\n",
			&(struct ww_import_options){.size = sizeof(struct ww_import_options),
						    .resolution = 0.5});
	assert_true(channel(t, "power")->resolution == 0.5);
	ww_trace_close(t);
}

static void holes(void **state)
{
	struct ww_trace *t = import("t_s,power_W,V\n0,1,\n1,nan,5\n2,,6\n3,inf,7\n4,x,8\n5,2,9\n");

	(void)state;
	check_rows(t, "power", 6, ARRAY(0, 1, 2, 3, 4, 5), ARRAY(1, NAN, NAN, NAN, NAN, 2));
	assert_true(noted(t, "power: 3 of 6 readings are missing"));
	assert_true(noted(t, "power: 1 reading is beyond"));
	assert_true(noted(t, "1 cell is no number: the first is 'x' in line 6, column 2"));
	assert_true(noted(t, "voltage: 1 of 6 readings are missing"));
	ww_trace_close(t);
	t = import("t_s,power_W\n0,1\nrubbish\n1,2\n,3\n1,2,3\n1e300,5\nnan,4\n2,3\nt_s,power_W\n"
		   "3,4\n4,5\n5,6\n6");
	check_rows(t, "power", 6, ARRAY(0, 1, 2, 3, 4, 5), ARRAY(1, 2, 3, 4, 5, 6));
	assert_true(noted(t, "5 lines left out; the first is line 3: 'rubbish' is no time"));
	assert_true(noted(t, "the last line is cut off"));
	assert_true(noted(t, "the header comes again 1 time"));
	assert_int_equal(ww_trace_gap_count(t), 2);
	assert_int_equal(ww_trace_gap(t, 1)->lost, 4);
	assert_int_equal(ww_trace_gap(t, 1)->t.lo_ns, 1000000000);
	assert_int_equal(ww_trace_gap(t, 1)->t.hi_ns, 2000000000);
	ww_trace_close(t);
}

static void labels(void **state)
{
	struct ww_trace *t = import("t_s,power_W,label\n0,1,\n1,2,idle\n2,2,idle\n3,9,\"busy, "
				    "\"\"hot\"\"\"\n4,1,\n5,1,a\xc2\x9b\x1b\xc3\xbc\n");

	(void)state;
	assert_int_equal(ww_trace_mark_count(t), 3);
	assert_string_equal(ww_trace_mark(t, 2)->text, "a  \xc3\xbc");
	assert_string_equal(ww_trace_mark(t, 0)->text, "idle");
	assert_string_equal(ww_trace_mark(t, 0)->kind, WW_MARK_LABEL);
	assert_int_equal(ww_trace_mark(t, 0)->t.lo_ns, 1000000000);
	assert_string_equal(ww_trace_mark(t, 1)->text, "busy, \"hot\"");
	ww_trace_close(t);
}

/* The header says what a column is; what stands there may begin at any row. */
static void late(void **state)
{
	static char text[40000];
	size_t n = (size_t)snprintf(text, sizeof(text), "t_s,power_W,label,V,note\n");
	struct ww_trace *t;

	(void)state;
	for (int i = 0; i < 600; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d,%d,%s,%s,\n", i,
				      i < 300 ? 10 : 15, i == 299 ? "+box" : "",
				      i < 400 ? "" : "230.5");
	t = import(text);
	assert_int_equal(ww_trace_mark_count(t), 1);
	assert_string_equal(ww_trace_mark(t, 0)->text, "+box");
	assert_int_equal(ww_trace_mark(t, 0)->t.lo_ns, INT64_C(299) * 1000000000);
	assert_string_equal(channel(t, "voltage")->unit, "V");
	ww_trace_close(t);
	/* Cells at the end of a row are often left out. */
	t = import("t_s,power_W,label\n0,10\n1,10\n2,12,+box\n3,12\n");
	check_rows(t, "power", 4, ARRAY(0, 1, 2, 3), ARRAY(10, 10, 12, 12));
	assert_int_equal(ww_trace_mark_count(t), 1);
	check_notes(t, 0);
	ww_trace_close(t);
	/* Two columns of text: each changes by itself. */
	t = import("t_s,power_W,label,note\n0,1,a,\n1,2,a,x\n2,2,a,x\n3,2,b,x\n");
	assert_int_equal(ww_trace_mark_count(t), 3);
	assert_string_equal(ww_trace_mark(t, 0)->text, "a");
	assert_string_equal(ww_trace_mark(t, 1)->text, "x");
	assert_string_equal(ww_trace_mark(t, 2)->text, "b");
	ww_trace_close(t);
	/* Mains, though the first reading was none. */
	t = import("t_s,V,A\n0,0,0\n1,230.0,0.3\n2,230.0,0.3\n");
	assert_int_equal(ww_trace_channel_count(t), 2);
	ww_trace_close(t);
}

/* What is no table of readings is refused with the place, and with what helps. */
static void refused(void **state)
{
	static char wide[4000];
	size_t n = 0;

	(void)state;
	assert_string_equal(import_error("time,power\n0,3,5\n1,4,5\n2,4,6\n", NULL),
			    ":2: column 3 has no name: 3 columns here, the header has 2; if these "
			    "are decimal commas, write points, or put semicolons between the "
			    "columns");
	assert_string_equal(import_error("t_s,power_W\n0,nan\n1,nan\n", NULL),
			    ":2: column 2 (power) holds readings, but no row has a value there");
	assert_string_equal(
		import_error("t_s,power_W\n0,1\n1,foo\n2,--5\n3,(6)\n", NULL),
		":3: column 2 (power): 'foo' is no number, and neither are 3 of 4 cells");
	assert_string_equal(
		import_error("time,W\n1:00,5\n25:00:00,6\n", NULL),
		":2: column 1 (time): '1:00' is no time: a number of seconds or an ISO "
		"8601 time would be, see wakewatt-formats(7); --rate 10 tells the rows a "
		"second instead");
	assert_string_equal(import_error("all unplugged, 1\n+box, 13\n+monitor, 40.5\n", NULL),
			    ": this is a table of readings that were typed, not a trace: 'pwrlog "
			    "attribute --table' reads it");
	for (int line = 0; line < 3; line++)
		for (int i = 0; i < 300; i++)
			n += (size_t)snprintf(wide + n, sizeof(wide) - n, "%s%s",
					      line == 0 && i == 0 ? "t_s"
					      : line == 0	  ? "W"
								  : "1",
					      i < 299 ? "," : "\n");
	assert_string_equal(import_error(wide, NULL), ":1: 300 columns; at most 256 are taken: "
						      "leave out those that are no readings");
}

static void no_counter(void **state)
{
	struct ww_trace *t = import("t_s,energy_J\n0,3\n1,2\n2,3\n3,2\n");

	(void)state;
	assert_int_equal(channel(t, "energy")->semantics, WW_INSTANT);
	assert_string_equal(channel(t, "energy")->quantity, "other");
	assert_true(noted(t, "no register that counts up"));
	ww_trace_close(t);
	/* A plug's export: its times are UTC, and what it holds is energy of each minute. */
	t = import("Date/Time UTC,Energy Wh,Returned Energy Wh,Min V,Max V\n"
		   "2024-03-01 08:00,1.5,0,229,231\n2024-03-01 08:01,1.4,0,229,231\n"
		   "2024-03-01 08:02,1.6,0,228,231\n2024-03-01 08:03,1.4,0,228,231\n");
	assert_int_equal(ww_trace_anchor(t, 0)->real_ns, INT64_C(1709280000) * 1000000000);
	assert_false(noted(t, "tell no zone"));
	assert_true(noted(t, "energy of each row over the time since the row before"));
	check_rows(t, "power", 4, ARRAY(0, 60, 120, 180), ARRAY(NAN, 84, 96, 84));
	assert_int_equal(channel(t, "power")->semantics, WW_AVERAGE);
	assert_true(fabs(channel(t, "power")->resolution - 6) < 1e-9);
	assert_int_equal(channel(t, "returned_energy")->semantics, WW_INSTANT);
	check_rows(t, "min", 4, ARRAY(0, 60, 120, 180), ARRAY(229, 229, 228, 228));
	ww_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),       cmocka_unit_test(dialects),
		cmocka_unit_test(units),       cmocka_unit_test(direct_current),
		cmocka_unit_test(headless),    cmocka_unit_test(digits),
		cmocka_unit_test(holes),       cmocka_unit_test(labels),
		cmocka_unit_test(known_volts), cmocka_unit_test(late),
		cmocka_unit_test(refused),     cmocka_unit_test(no_counter)};

	return cmocka_run_group_tests_name("import csv", tests, make_folder, remove_folder);
}

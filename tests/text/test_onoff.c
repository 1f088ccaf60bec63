/* SPDX-License-Identifier: MIT */
/* Typed tables: what people write, in both forms, and what is refused with its line. */
#include "text/onoff.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct ww_onoff o;
static struct ww_error e;

static int table(const char *text)
{
	ww_onoff_free(&o);
	e = (struct ww_error){0};
	return ww_onoff_table(&o, "t", text, strlen(text), &e);
}

#define OK(txt)                                                                                    \
	do {                                                                                       \
		if (table(txt) < 0)                                                                \
			fail_msg("%s", e.text);                                                    \
	} while (0)
#define REFUSED(txt, why)                                                                          \
	do {                                                                                       \
		assert_int_equal(table(txt), -EINVAL);                                             \
		assert_string_equal(e.text, why);                                                  \
	} while (0)
#define NEAR(a, b) assert_true(fabs((double)(a) - (double)(b)) <= 1e-12 * (1 + fabs((double)(b))))

/* "0120 13.5": states of the devices in their order, and the watts. */
static void row(size_t i, const char *states, double watts)
{
	assert_true(i < o.readings);
	for (size_t k = 0; states[k]; k++) {
		int on = k < o.reading[i].devices ? o.reading[i].on[k] : 0;

		if (on != states[k] - '0')
			fail_msg("reading %zu, device %zu: state %d", i, k, on);
	}
	NEAR(o.reading[i].watts, watts);
}

static void five(void)
{
	assert_int_equal(o.devices, 2);
	assert_string_equal(o.device[0].name, "box");
	assert_string_equal(o.device[1].name, "monitor");
	assert_int_equal(o.device[1].states, 2);
	assert_string_equal(o.device[1].state[1], "standby");
	assert_int_equal(o.readings, 5);
	row(0, "00", 1);
	row(1, "10", 13);
	row(2, "11", 40.5);
	row(3, "12", 14);
	row(4, "10", 13);
}

/* The same readings in the dialects that people have. */
static void test_dialects(void **state)
{
	(void)state;
	OK("all unplugged, 1\n+box, 13\n+monitor, 40.5\nmonitor=standby, 14\n-monitor, 13\n");
	five();
	OK("\xef\xbb\xbfwhat;reading\r\nall off;1\r\n+box;13\r\n+ Monitor;40,5\r\n"
	   "monitor = standby;14\r\n- monitor;13\r\n");
	assert_string_equal(o.device[1].name, "Monitor");
	OK("all unplugged;1 W\n+box;13 W # the small one\n+monitor;40,5 W\n\n# a comment\n"
	   "monitor=standby;14 W\n-monitor;13 W");
	five();
	OK("all unplugged\t1\n+box\t13\n+monitor\t40,5\nmonitor=standby\t14\n-monitor\t13\n");
	five();
	OK("all unplugged 1\n+box 13\n+monitor 40.5 W\nmonitor=standby 14\n-monitor 13\n");
	five();
	OK("all unplugged 1,0\n+box 13,0\n+monitor 40,5\nmonitor=standby 14,0\n-monitor 13,0\n");
	five();
	OK("nothing, 1\nbox on, 13\nmonitor plugged in, 40.5\nmonitor=standby, 14\nmonitor off, "
	   "13\n");
	five();
	OK("box,monitor,W\n0,0,1\n1,0,13\n1,1,40.5\n1,standby,14\n1,0,13\n");
	five();
	OK("box;monitor;watts\n;;1\nx;;13\nx;x;40,5\nx;standby;14\nx;;13\n");
	five();
	OK("\"what changed\",\"Power (mW)\"\nall unplugged,1000\n+box,13000\n+monitor,40500\n"
	   "monitor=standby,14000\n-monitor,13000\n");
	five();
	OK("all unplugged, 1\n+box, 13\n\xe2\x80\x93"
	   "box +box +monitor, 40.5\nmonitor=standby, 14\n"
	   "\xe2\x88\x92monitor, 13\n");
	five();
}

static void test_without_names(void **state)
{
	(void)state;
	OK("0,0,1\n1,0,26\n1,1,40\n");
	assert_int_equal(o.devices, 2);
	assert_string_equal(o.device[1].name, "device 2");
	row(2, "11", 40);
	OK("0 0 1\n1 0 26\n1 1 40\n");
	row(2, "11", 40);
	/* Watts that are 0 and 1 throughout are the last column all the same. */
	OK("0,0\n1,1\n");
	assert_int_equal(o.devices, 1);
	row(1, "1", 1);
}

static void test_figures(void **state)
{
	(void)state;
	OK("time,what changed,W,VA,PF,V,A\n14:05,all unplugged,1,3,0.3,120.1,0.02\n"
	   "23:59:30,+box,13,20,0.65,120,0.17\n00:00:30,+disk,20,,,,\n");
	NEAR(o.reading[0].t_s, 14 * 3600 + 300);
	NEAR(o.reading[2].t_s - o.reading[1].t_s, 60);
	NEAR(o.reading[1].va, 20);
	NEAR(o.reading[1].pf, 0.65);
	NEAR(o.reading[1].v, 120);
	NEAR(o.reading[1].a, 0.17);
	assert_true(isnan(o.reading[2].va));
	OK("+box, 13, 20 VA, 0.65\n");
	NEAR(o.reading[0].va, 20);
	NEAR(o.reading[0].pf, 0.65);
	OK("+box; 13 \xc2\xb1 0.5 W\n+disk; 20 +- 2%\n+fan; 21 W +/- 0,4 W\n");
	NEAR(o.reading[0].u, 0.25);
	NEAR(o.reading[1].u, 0.2);
	NEAR(o.reading[2].u, 0.2);
	OK("a,b,W,u\n0,1,5,0.3\n1,1,6,0.3\n");
	NEAR(o.reading[0].u, 0.3);
	assert_int_equal(o.devices, 2);
	OK("A,V,W,A\n0,1,5,0.1\n1,0,6,0.2\n");
	assert_string_equal(o.device[0].name, "A");
	NEAR(o.reading[1].a, 0.2);
	NEAR(o.reading[0].step, 1);
	OK("+a, 13.50\n+b, 0.9\n");
	NEAR(o.reading[0].step, 0.01);
}

/* Worked: a register of 10 Wh read twice in 24 h is uncertain by .170 W. */
static void test_register(void **state)
{
	(void)state;
	OK("+box; 0,60 kWh / 24 h\n+disk; 700 Wh/1 d\n+fan; 0.030 kWh / 30 min\n");
	NEAR(o.reading[0].watts, 25);
	NEAR(o.reading[0].u, 0.17010345435994292);
	NEAR(o.reading[1].watts, 700.0 / 24);
	NEAR(o.reading[2].watts, 60);
	NEAR(o.reading[2].u, 2 / sqrt(6));
	REFUSED("+box; 0.60 kWh / 24\n", "t:1: '0.60 kWh / 24' is not a reading in W");
	REFUSED("+box; 0.60 kWh\n", "t:1: '0.60 kWh' is not a reading in W");
}

static void test_names(void **state)
{
	(void)state;
	OK("\"+Dell, 24\"\"\", 30\n\"-dell,  24\"\"\", 1\n");
	assert_int_equal(o.devices, 1);
	assert_string_equal(o.device[0].name, "Dell, 24\"");
	row(1, "0", 1);
	OK("+disk #2; 5\n+\xd0\xbf\xd1\x80\xd0\xb8\xd0\xbd\xd1\x82\xd0\xb5\xd1\x80; 7\n");
	assert_string_equal(o.device[0].name, "disk #2");
	OK("+\"USB +5V\"; 5\n");
	assert_string_equal(o.device[0].name, "USB +5V");
	OK("box, 5\nmonitor, 9\n");
	assert_int_equal(o.notes.n, 2);
	row(1, "11", 9);
	OK("everything on, 25\n");
	assert_string_equal(o.device[0].name, "all");
	OK("+a, 1\n-a,\n+b, 7\nsame, 7\n");
	assert_int_equal(o.readings, 3);
	row(1, "01", 7);
	row(2, "01", 7);
}

static void test_many(void **state)
{
	char text[8000];
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "+device %d;%d\n", i, 3 * i);
	OK(text);
	assert_int_equal(o.devices, 100);
	assert_int_equal(o.readings, 100);
	row(99, "1111", 297);
	assert_int_equal(o.reading[99].on[99], 1);
	n = 0;
	for (int i = 0; i < 251; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "+d%d;%d\n", i, 3 * i);
	assert_int_equal(table(text), -EINVAL);
}

static void test_refused(void **state)
{
	(void)state;
	REFUSED("+box, 13\n+monitor, abc\n", "t:2: 'abc' is not a reading in W");
	REFUSED("+box, 13 VA\n", "t:1: '13 VA' is not a reading in W");
	REFUSED("+box, 13\n\n+box, 14\n",
		"t:3: 'box' is in already, since line 1: take it out first (-box), or name its "
		"state (box=standby)");
	REFUSED("all off, 1\n+box, 13\n-printer, 14\n",
		"t:3: 'printer' goes out but was never in; known: box");
	REFUSED("+box, 13\n-box, 1\n-box, 1\n", "t:3: 'box' is out already");
	REFUSED("all unplugged, 1\n+box, 13,5\n",
		"t:2: '13,5' may be one number or two columns; write a decimal point, or put ';' "
		"between the columns");
	REFUSED("", "t: no line with a reading; write one a line, such as 'all unplugged, 1' and "
		    "'+box, 13'");
	REFUSED("# only a comment\n", "t: no line with a reading; write one a line, such as 'all "
				      "unplugged, 1' and '+box, 13'");
	REFUSED("a,b,W\n0,0,\n1,0,\n",
		"t: no line with a reading: none is filled in; write one a line, such as 'all "
		"unplugged, 1' and '+box, 13'");
	REFUSED("+box\n+monitor\n", "t:1: '+box' has no reading in W at its end; write '+box, 13'");
	REFUSED("a,b,W\n0,2,5\n", "t:2: '2' is neither 0 nor 1; write on, off or the name of a "
				  "state");
	REFUSED("a,a,W\n0,0,5\n", "t:2: 'a' names two columns");
	REFUSED("+a, 5, 7 VA, 1.5\n", "t:1: '1.5' is not a power factor; it lies between 0 and 1");
	REFUSED("time,x,W\n25:99,0,5\n", "t:2: '25:99' is not a time; write seconds, 14:05 or "
					 "14:05:30");
	REFUSED("+, 5\n", "t:1: a change without the name of a device");
	/* Nothing of a wrong sentence is done. */
	assert_int_equal(table("+a, 1\n"), 0);
	assert_int_equal(ww_onoff_change(&o, "+b +a", 5, "x", 2, &e), -EINVAL);
	assert_int_equal(o.device[ww_onoff_find(&o, "b", 1)].now, 0);
}

/* Everything is on at first, or after "all on", and goes out one by one. */
static void test_unplugged(void **state)
{
	(void)state;
	OK("all on, 40.5\n-monitor, 13\n-box, 1\n");
	assert_int_equal(o.devices, 2);
	row(0, "11", 40.5);
	row(1, "01", 13);
	row(2, "00", 1);
	OK("same, 40.5\n-monitor, 13\n-box, 1\n+monitor, 28.5\n");
	assert_int_equal(o.devices, 2);
	row(0, "11", 40.5);
	row(3, "10", 28.5);
	assert_int_equal(o.notes.n, 2);
	/* Of all that went in at once, nobody named the rest. */
	OK("all off, 1\nall on, 41\n-a, 20\n");
	assert_int_equal(o.devices, 2);
	assert_string_equal(o.device[0].name, "a");
	assert_string_equal(o.device[1].name, "the rest");
	row(0, "00", 1);
	row(1, "11", 41);
	row(2, "01", 20);
	OK("all on, 41\nall off, 1\n");
	assert_string_equal(o.device[0].name, "all");
	row(0, "1", 41);
	row(1, "0", 1);
	/* Those that were named are all there are. */
	OK("all off, 1\n+a, 20\n-a, 1\n+b, 22\nall on, 41\n-b, 20\n");
	assert_int_equal(o.devices, 2);
	row(4, "11", 41);
	row(5, "10", 20);
	/* What was said to be out does not go out. */
	REFUSED("+a, 5\nall off, 1\n-b, 1\n", "t:3: 'b' goes out but was never in; known: a");
}

/* As lines are typed into a recording: the reading first. */
static void test_reading_first(void **state)
{
	(void)state;
	OK("1 all unplugged\n13 +box\n40.5 W +monitor\n13.0 W -monitor\n");
	assert_int_equal(o.devices, 2);
	row(2, "11", 40.5);
	row(3, "10", 13);
	OK("1; all unplugged\n13; +box\n40,5; +monitor\n");
	row(2, "11", 40.5);
	REFUSED("1 all unplugged\n+box\n", "t:2: '+box' has no reading in W at its end; write "
					   "'+box, 13'");
}

/* Columns in any order; what is no reading in W is told by the header's line. */
static void test_headers(void **state)
{
	(void)state;
	OK("W,box,monitor\n1,0,0\n13,1,0\n40.5,1,1\n");
	assert_int_equal(o.devices, 2);
	row(2, "11", 40.5);
	OK("W;change\n1;all off\n13;+box\n");
	row(1, "1", 13);
	OK("box,mon,VA,W\n0,0,3,1\n1,0,20,13\n");
	assert_int_equal(o.devices, 2);
	row(1, "10", 13);
	NEAR(o.reading[1].va, 20);
	OK("A,B,total\n0,0,1\n1,0,13\n");
	assert_string_equal(o.device[0].name, "A");
	OK("a,b,W\nyes,no,1\ntrue,x,3\n-,false,1\n");
	row(0, "10", 1);
	row(1, "11", 3);
	row(2, "00", 1);
	assert_int_equal(o.device[0].states, 1);
	/* Never on, but a device. */
	OK("d0,d1,W\n0,0,1\n0,1,48.5\n");
	assert_int_equal(o.devices, 2);
	assert_int_equal(o.device[0].states, 1);
	/* One comma forgotten. */
	OK("all unplugged, 1\n+box 13\n");
	assert_int_equal(o.devices, 1);
	row(0, "0", 1);
	row(1, "1", 13);
	REFUSED("box,monitor,VA\n0,0,1\n1,0,13\n",
		"t:1: 'VA' is not watts, and no column is; watts do not follow from it: name a "
		"column W");
	REFUSED("change,V\nall unplugged,230\n+box,231\n",
		"t:1: 'V' is not watts, and no column is; watts do not follow from it: name a "
		"column W");
	REFUSED("change,Current (mA),note\n+box,231,x\n",
		"t:1: 'Current (mA)' is not watts, and no column is; watts do not follow from it: "
		"name a column W");
	REFUSED("all unplugged, 1\n+box 13\n+lamp, 20\n",
		"t:2: '+box 13' may be a name, or end with a reading; put ',' before the reading, "
		"or behind the name");
	REFUSED("monitor=, 13\n",
		"t:1: 'monitor=' names no state: write monitor=off or monitor=standby");
	REFUSED("box,monitor,W\n0,0,1\n1,13\n", "t:3: 2 columns; the header has 3");
}

static void test_binary(void **state)
{
	static const char text[] = "+box, 13\n+a\0b, 14\n";

	(void)state;
	ww_onoff_free(&o);
	e = (struct ww_error){0};
	assert_int_equal(ww_onoff_table(&o, "t", text, sizeof(text) - 1, &e), -EINVAL);
	assert_string_equal(e.text, "t:2: this is no text");
}

static int end(void **state)
{
	(void)state;
	ww_onoff_free(&o);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dialects),      cmocka_unit_test(test_without_names),
		cmocka_unit_test(test_figures),	      cmocka_unit_test(test_names),
		cmocka_unit_test(test_register),      cmocka_unit_test(test_many),
		cmocka_unit_test(test_refused),	      cmocka_unit_test(test_binary),
		cmocka_unit_test(test_unplugged),     cmocka_unit_test(test_headers),
		cmocka_unit_test(test_reading_first),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}

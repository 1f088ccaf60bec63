/* SPDX-License-Identifier: MIT */
/* Each allocation fails once: an error with a sentence, no leak, no crash. */
#include "imported.h"

static long countdown = -1; /* allocations until one fails, < 0 never */

static bool fails(void)
{
	return countdown >= 0 && countdown-- == 0;
}

#include "../failalloc.h"

static const char *const texts[] = {
	"Date;Time;Watts;label\n14.11.2023;22:13:20;1,5;a\n14.11.2023;22:13:21;2,25;b\n"
	"14.11.2023;22:13:21;2,25;b\n14.11.2023;22:13:19;x;b\nrubbish\n",
	"t_s,V,A\n0,5,1\n1,5,2\n2,5,3\n3,5,4\n1,5,5\n2,5,6\n3,5,7\n4,5,8\n",
	"05/04/2021 00:00:03;60;58\n05/04/2021 00:00:08;61;59\n",
	"0.25;5.01230;0.500000\n0.50;5.01240;0.250000\n",
	"timestamp a_instant a_average\n1700000000.000 30.125 28.5\nM 0.060 \"begin\"\n",
	"1700000000000000 999 P0\n1700000000000100 888 P1\n1700000000100000 400000 P0\n",
	"Time,03-04-2022 10:00:00.000,NOTICE,Analyzer identity response: ACME,PM1,S1,F1\n"
	"Time,03-04-2022 10:00:01.000,Watts,50.5,Volts,230.1,Amps,0.25,PF,0.88,Mark,x\nx\n",
	"entity_id,state,last_changed\nsensor.plug_power,3,2024-03-01T08:00:00Z\n"
	"switch.a,on,2024-03-01T08:00:00Z\nsensor.plug_energy,3,2024-03-01T08:00:00Z\n",
	"Date/Time UTC,Energy Wh\n2024-03-01 08:00,2\n2024-03-01 08:01,1\n2024-03-01 08:02,2\n",
	"XOVER: 1\n<StartData>\n1267524000,97,6500000,-8,25,10,Discharging\n"
	"1267524010,97,6490000,-82,25,99,x\n",
	"#d,-,18,450,1200,375,1;\n#d,-,18,460;\n#d,-,18,460,1200,383,1;\n",
	"Core\tCPU\tBusy%\tPkgWatt\tTime_Of_Day_Seconds\n-\t-\t1\t5.5\t1700000000\n"
	"0\t0\t1\t5.5\t1700000000\n-\t-\t1\t6.5\t1700000005\n",
	"; Samplerate: 1 kHz\nV1,I1,label\n5,1,\n5,x\x1b,+a\n5,2,\n5,2,\n",
	"t_lo_ns,t_hi_ns,source,channel,value,unit\n5,7,meter,power,119.1,W\n"
	"5,7,meter,pf,0.9,1\n6,8,other,power,2,W\n",
	"{\"t_lo_ns\":5,\"t_hi_ns\":7,\"source\":\"m\",\"channel\":\"p\",\"value\":1,\"unit\":"
	"\"W\"}\n",
};

/* @return whether the allocation number i was reached, and so failed */
static bool one_round(const char *path, const char *out, long i)
{
	struct ww_import_options o = {.size = sizeof(o)};
	struct ww_error why = {0};
	struct ww_trace *t;
	int64_t rc;
	bool reached;

	unlink(out);
	countdown = i;
	rc = ww_import_open(path, &o, &t, &why);
	if (rc >= 0) {
		rc = ww_import_store(t, out, NULL, &why);
		ww_trace_close(t);
	}
	reached = countdown < 0;
	countdown = -1;
	if (!reached && rc < 0)
		fail_msg("%s", why.text);
	if (rc < 0) {
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(why.code, -ENOMEM);
	}
	return reached;
}

static void each(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
		const char *path = write_file("in", texts[k], strlen(texts[k]));
		const char *out = at("out.wwt");
		long i = 0;

		while (one_round(path, out, i))
			i++;
		assert_true(i > 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each)};

	return cmocka_run_group_tests_name("import allocations", tests, make_folder, remove_folder);
}

/* SPDX-License-Identifier: MIT */
/* wattsup's dialogue: how it begins, what it says of a meter that does not answer, and silence. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "wattsuplog.h"

static void dialogue(void **unused)
{
	struct meterlog l;

	(void)unused;
	open_with(&l, "wattsup:/dev/x", 0);
	ml_start(&l);
	assert_string_equal(ml_text(&l), "send \\x18#L,R,0;\n");
	ml_until(&l, 299 * MS);
	assert_int_equal(l.sent, 1);
	ml_until(&l, 300 * MS);
	HAS(&l, "send #V,R,0;\n");
	ml_until(&l, 350 * MS);
	ml_say(&l, VERSION);
	HAS(&l, "identity Watts up? PRO||hardware 5.2 firmware 3.14 200612211910\n");
	HAS(&l, "send #L,W,3,E,0,1;\n");
	ml_until(&l, 1360 * MS);
	ml_say(&l, REC("965"));
	assert_string_equal(ml_readings(&l), "reading 965 1204 792 1 100 500 965\n");
	assert_int_equal(l.events + l.losses + l.fails, 0);
	ml_close(&l);
}

static void left_streaming(void **unused)
{
	struct meterlog l;

	(void)unused;
	open_with(&l, "wattsup:/dev/x", 0);
	ml_start(&l);
	ml_until(&l, 100 * MS);
	ml_say(&l, "1,792,1,0;\r\n" REC("965") "#l,-,2,0,1;\r\n");
	/* Quiet is awaited from here, and nothing of before is a reading. */
	ml_until(&l, 399 * MS);
	HAS_NO(&l, "#V,R,0;");
	ml_until(&l, 400 * MS);
	HAS(&l, "send #V,R,0;\n");
	ml_say(&l, REC("965") VERSION);
	assert_int_equal(l.given, 0);
	assert_int_equal(l.fails, 0);
	HAS(&l, "send #L,W,3,E,0,1;\n");
	ml_until(&l, 1400 * MS);
	ml_say(&l, REC("970"));
	assert_int_equal(l.given, 1);
	ml_close(&l);
}

/* A meter that never falls quiet is asked all the same, after 2 s. */
static void never_quiet(void **unused)
{
	struct meterlog l;

	(void)unused;
	open_with(&l, "wattsup:/dev/x", 0);
	ml_start(&l);
	for (int i = 1; i <= 19; i++) {
		ml_until(&l, i * 100 * MS);
		ml_say(&l, REC("965"));
	}
	HAS_NO(&l, "#V,R,0;");
	ml_until(&l, 2000 * MS);
	HAS(&l, "send #V,R,0;\n");
	ml_close(&l);
}

/* What speaks the protocol is asked again: its stream swallowed the request. */
static void swallowed_request(void **unused)
{
	struct meterlog l;

	(void)unused;
	open_with(&l, "wattsup:/dev/x", 0);
	ml_start(&l);
	ml_until(&l, 1000 * MS);
	ml_say(&l, REC("965"));
	ml_clear(&l);
	ml_until(&l, 2300 * MS);
	assert_string_equal(ml_text(&l), "send \\x18#L,R,0;\n");
	ml_until(&l, 2600 * MS);
	ml_say(&l, VERSION);
	HAS(&l, "send #V,R,0;\nidentity ");
	ml_close(&l);
	open_with(&l, "wattsup:/dev/x", 0);
	ml_start(&l);
	ml_until(&l, 1000 * MS);
	ml_say(&l, REC("965"));
	ml_until(&l, 20 * SEC);
	HAS(&l, "1 packets among them");
	assert_int_equal(l.fails, 1);
	assert_int_equal(l.sent, 6);
	ml_close(&l);
}

static void no_reply(void **unused)
{
	struct meterlog l;

	(void)unused;
	open_with(&l, "wattsup:/dev/x", 0);
	ml_start(&l);
	ml_until(&l, 2299 * MS);
	assert_int_equal(l.fails, 0);
	ml_until(&l, 2300 * MS);
	assert_int_equal(l.fails, 1);
	HAS(&l, "no reply to the version request in 2 s (nothing at all was received at 115200");
	HAS(&l, "?baud=19200");
	HAS(&l, "?baud=9600");
	assert_true(l.m->deadline(l.state) == WW_TIME_MAX);
	ml_say(&l, VERSION);
	assert_int_equal(l.sent, 2);
	ml_close(&l);
	open_with(&l, "wattsup:/dev/x?baud=9600", 0);
	ml_start(&l);
	ml_until(&l, 400 * MS);
	ml_say(&l, "\x81\x02\xf0 noise of a wrong rate");
	ml_until(&l, 3 * SEC);
	HAS(&l, "25 bytes came, 0 packets among them at 9600 baud");
	ml_close(&l);
}

/* Firmware differs in the reserved argument: 0, -, _ and nothing are tried in turn. */
static void reserved_argument(void **unused)
{
	struct meterlog l;

	(void)unused;
	run_up(&l, "wattsup:/dev/x");
	/* An unknown command is answered with the version packet. */
	ml_say(&l, VERSION);
	HAS(&l, "send #L,W,3,E,-,1;\n");
	/* No answer at all: the interval and 2 s. */
	ml_until(&l, l.now_ns + 3 * SEC);
	HAS(&l, "send #L,W,3,E,_,1;\n");
	ml_until(&l, l.now_ns + 3 * SEC);
	HAS(&l, "send #L,W,3,E,,1;\n");
	ml_say(&l, VERSION);
	assert_int_equal(l.fails, 0);
	ml_until(&l, l.now_ns + SEC);
	ml_say(&l, REC("965"));
	assert_int_equal(l.given, 1);
	ml_close(&l);

	run_up(&l, "wattsup:/dev/x");
	ml_until(&l, 20 * SEC);
	assert_int_equal(l.fails, 1);
	HAS(&l, "sends no records");
	ml_close(&l);
}

static void hardware_minor(void **unused)
{
	struct meterlog l;

	(void)unused;
	open_with(&l, "wattsup:/dev/x", 0);
	ml_start(&l);
	ml_until(&l, 400 * MS);
	ml_say(&l, "#v,-,8,2,65206,5,1,3,14,200612211910,0;");
	HAS(&l, "event device hardware minor 1 is made for 19200 baud: use ?baud=19200\n");
	HAS(&l, "identity Watts up? ES|");
	ml_close(&l);
}

static void banner_restarts(void **unused)
{
	struct meterlog l;

	(void)unused;
	run_up(&l, "wattsup:/dev/x");
	ml_say(&l, REC("965"));
	ml_clear(&l);
	ml_until(&l, l.now_ns + 200 * MS);
	ml_say(&l, "EED05F01 $Revision: 4.41 $ 200612212301 60Hz 120V\r\n");
	HAS(&l, "event device banner: EED05F01 $Revision: 4.41 $ 200612212301 60Hz 120V\n");
	ml_until(&l, l.now_ns + 300 * MS);
	HAS(&l, "send #L,W,3,E,0,1;\n");
	ml_until(&l, l.now_ns + 1500 * MS);
	ml_say(&l, REC("966"));
	assert_int_equal(l.given, 1);
	HAS(&l, "loss 1400..2399 ms 1 missing\n");
	HAS_NO(&l, "silent");
	ml_close(&l);
}

static void silence(void **unused)
{
	struct meterlog l;

	(void)unused;
	run_up(&l, "wattsup:/dev/x");
	ml_say(&l, REC("965"));
	ml_clear(&l);
	ml_until(&l, 4399 * MS);
	assert_int_equal(l.losses, 0);
	ml_until(&l, 4400 * MS);
	HAS(&l, "loss 1400..4400 ms 3 silent\n");
	HAS(&l, "send #L,W,3,E,0,1;\n");
	ml_until(&l, 7400 * MS);
	HAS(&l, "loss 4400..7400 ms 3 silent\n");
	ml_until(&l, 9400 * MS);
	ml_say(&l, REC("966"));
	/* 2.4 to 8.4 s are lost, and 9.4 s is here: seven in all, told once each. */
	HAS(&l, "loss 7400..8399 ms 1 silent\n");
	assert_int_equal(l.given, 1);
	/* What comes after is counted anew. */
	ml_clear(&l);
	ml_until(&l, l.now_ns + 2 * SEC);
	ml_say(&l, REC("967"));
	HAS(&l, "loss 9400..10399 ms 1 missing\n");
	assert_int_equal(l.fails, 0);
	ml_close(&l);
}

static void whole_seconds(void **unused)
{
	struct meterlog l;

	(void)unused;
	open_with(&l, "wattsup:/dev/x", 2500 * MS);
	assert_int_equal(l.period_ns, 3 * SEC);
	ml_start(&l);
	ml_until(&l, 400 * MS);
	ml_say(&l, VERSION);
	HAS(&l, "send #L,W,3,E,0,3;\n");
	ml_clear(&l);
	{
		struct ww_meter_out out = ml_out(&l);

		l.m->stop(l.state, &out);
	}
	assert_string_equal(ml_text(&l), "send #L,R,0;\n");
	assert_true(l.m->deadline(l.state) == WW_TIME_MAX);
	ml_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dialogue),	  cmocka_unit_test(left_streaming),
		cmocka_unit_test(never_quiet),	  cmocka_unit_test(swallowed_request),
		cmocka_unit_test(no_reply),	  cmocka_unit_test(reserved_argument),
		cmocka_unit_test(hardware_minor), cmocka_unit_test(banner_restarts),
		cmocka_unit_test(silence),	  cmocka_unit_test(whole_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

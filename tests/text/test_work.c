/* SPDX-License-Identifier: MIT */
/* Work done, from what commands really print. */
#include "text/work.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* Feeds it whole, then byte by byte: the same. */
static struct ww_work_found found(const char *what, const char *text, char *why, size_t n)
{
	struct ww_error e = {0};
	struct ww_work_found f, g;
	struct ww_work *w;
	static char unit[WW_WORK_UNIT];

	if (ww_work_new(what, &w, &e) < 0)
		fail_msg("%s", e.text);
	ww_work_feed(w, text, strlen(text));
	ww_work_get(w, &f);
	ww_work_get(w, &g);
	assert_memory_equal(&f.value, &g.value, sizeof(f.value));
	ww_work_reset(w);
	for (const char *p = text; *p; p++)
		ww_work_feed(w, p, 1);
	ww_work_get(w, &g);
	assert_int_equal(f.kind, g.kind);
	assert_memory_equal(&f.value, &g.value, sizeof(f.value));
	snprintf(unit, sizeof(unit), "%s", g.unit);
	g.unit = unit;
	snprintf(why, n, "%s", g.why);
	g.why = why;
	ww_work_free(w);
	return g;
}

static void expect(const char *what, const char *text, int kind, double value, const char *unit)
{
	char why[200];
	struct ww_work_found f = found(what, text, why, sizeof(why));

	if (f.kind != kind)
		fail_msg("%s: kind %d, not %d: %s\n%s", what, f.kind, kind, why, text);
	if (!(fabs(f.value - value) <= 1e-9 * value))
		fail_msg("%s: %.15g, not %.15g\n%s", what, f.value, value, text);
	assert_string_equal(f.unit, unit);
	assert_string_equal(why, "");
}

static void nothing(const char *what, const char *text, const char *part)
{
	char why[200];
	struct ww_work_found f = found(what, text, why, sizeof(why));

	assert_int_equal(f.kind, WW_WORK_NONE);
	assert_true(isnan(f.value));
	if (!strstr(why, part))
		fail_msg("'%s', not '%s'", why, part);
}

/* OpenSSL 1.0 to 3.0, with and without -mr; the counts, not their rounded table. */
static void openssl(void **state)
{
	(void)state;
	expect("openssl",
	       "You have chosen to measure elapsed time instead of user CPU time.\n"
	       "Doing AES-128-CBC for 1s on 16384 size blocks: 73615 AES-128-CBC's in 1.00s\n"
	       "version: 3.0.19\n"
	       "The 'numbers' are in 1000s of bytes per second processed.\n"
	       "type          16384 bytes\n"
	       "AES-128-CBC    1206108.16k\n",
	       WW_WORK_AMOUNT, 16384.0 * 73615, "B");
	expect("openssl",
	       "Doing sha256 for 3s on 16 size blocks: 1729302 sha256's in 3.00s\n"
	       "Doing sha256 for 3s on 64 size blocks: 1628260 sha256's in 3.00s\n",
	       WW_WORK_AMOUNT, 16.0 * 1729302 + 64.0 * 1628260, "B");
	expect("openssl",
	       "Doing AES-128-CBC ops for 3s on 1024 size blocks: 4000 AES-128-CBC ops in 3.00s\n",
	       WW_WORK_AMOUNT, 1024.0 * 4000, "B");
	expect("openssl",
	       "+DT:AES-128-CBC:1:1024\n+R:1192290:AES-128-CBC:0.790000\n"
	       "+H:1024\n+F:25:AES-128-CBC:1545449316.46\n",
	       WW_WORK_AMOUNT, 1024.0 * 1192290, "B");
	expect("openssl",
	       "Doing 2048 bits private rsa's for 1s: 1089 2048 bits private RSA's in "
	       "0.23s\n"
	       "Doing 2048 bits private rsa's for 1s: 1091 2048 bits private RSA's in "
	       "0.23s\n",
	       WW_WORK_AMOUNT, 1089 + 1091, "op");
	/* To sign and to verify are two things, and so are two ciphers. */
	nothing("openssl",
		"Doing 2048 bits private rsa's for 1s: 1089 2048 bits private RSA's in 0.23s\n"
		"Doing 2048 bits public rsa's for 1s: 17840 2048 bits public RSA's in 0.22s\n",
		"both 2048 bits private rsa's and 2048 bits public rsa's were found");
	nothing("openssl",
		"+DT:AES-128-CBC:1:1024\n+R:1192290:AES-128-CBC:0.790000\n"
		"+DT:sha256:1:1024\n+R:1192290:sha256:0.790000\n",
		"both AES-128-CBC and sha256 were found");
	nothing("openssl",
		"Doing sha256 for 3s on 16 size blocks: 5 sha256's in 3.00s\n"
		"Doing 2048 bits private rsa's for 1s: 1089 2048 bits private RSA's in 0.23s\n",
		"both sha256 and 2048 bits private rsa's were found");
	nothing("openssl", "speed: Unknown cipher\n", "no line of the output");
}

/* Several processes: what they did is in the table alone. */
static void openssl_multi(void **state)
{
	(void)state;
	expect("openssl",
	       "Forked child 0\n"
	       "+DT:AES-128-CBC:1:16384\n+R:11305:AES-128-CBC:1.010000\n"
	       "Forked child 1\n"
	       "+DT:AES-128-CBC:1:16384\n+R:12383:AES-128-CBC:1.020000\n"
	       "Got: +H:16384 from 0\nGot: +F:25:AES-128-CBC:183387247.52 from 0\n"
	       "version: 3.0.19\n"
	       "The 'numbers' are in 1000s of bytes per second processed.\n"
	       "type          16384 bytes\n"
	       "AES-128-CBC     382292.22k\n",
	       WW_WORK_RATE, 382292.22e3, "B");
	/* 3.0.19: its table has no head. */
	expect("openssl",
	       "Forked child 0\n"
	       "+DT:AES-128-CBC:1:1024\n+DT:AES-128-CBC:1:1024\n"
	       "+R:360604:AES-128-CBC:1.000000\n+R:370983:AES-128-CBC:1.010000\n"
	       "Forked child 1\n"
	       "Got: +H:1024 from 0\nGot: +F:25:AES-128-CBC:369258496.00 from 0\n"
	       "Got: +H:1024 from 1\nGot: +F:25:AES-128-CBC:376125338.61 from 1\n"
	       "version: 3.0.19\n"
	       "built on: Fri Apr  3 12:29:32 2026 UTC\n"
	       "options: bn(64,64)\n"
	       "compiler: gcc -fPIC -pthread -m64 -Wa,--noexecstack -Wall -O2 -g\n"
	       "CPUINFO: OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab\n"
	       "AES-128-CBC     745383.83k\n",
	       WW_WORK_RATE, 745383.83e3, "B");
	/* The same with -mr, and two sizes. */
	expect("openssl",
	       "Forked child 0\nForked child 1\n"
	       "Got: +H:1024 from 0\nGot: +F:25:AES-128-CBC:489426944.00 from 0\n"
	       "+F:25:AES-128-CBC:984961024.00:15038976.00\n",
	       WW_WORK_RATE, (984961024. + 15038976.) / 2, "B");
	expect("openssl",
	       "The 'numbers' are in 1000s of bytes per second processed.\n"
	       "type             16 bytes     64 bytes\n"
	       "aes-128 cbc      100000.00k   200000.00k\n",
	       WW_WORK_RATE, 150e6, "B");
}

static void hdparm(void **state)
{
	(void)state;
	expect("hdparm",
	       "\n/dev/sda:\n Timing buffered disk reads: 142 MB in  3.01 seconds =  "
	       "47.24 MB/sec\n",
	       WW_WORK_AMOUNT, 142 * 1048576.0, "B");
	expect("hdparm", " Timing cached reads:   18706 MB in  1.98 seconds = 9423.90 MB/sec\n",
	       WW_WORK_AMOUNT, 18706 * 1048576.0, "B");
	expect("hdparm",
	       "/dev/hdc:\n Timing buffered disk reads:  64 MB in  2.22 seconds = 28.83 "
	       "MB/sec",
	       WW_WORK_AMOUNT, 64 * 1048576.0, "B");
	nothing("hdparm",
		" Timing buffer-cache reads:   128 MB in  0.56 seconds =228.57 MB/sec\n"
		" Timing buffered disk reads:  64 MB in  2.22 seconds = 28.83 MB/sec\n",
		"runs of their own");
	nothing("hdparm", " Timing buffered disk reads:  read() failed: Input/output error\n",
		"no line");
}

/* GNU in several languages, BSD, busybox, with a progress line. */
static void dd(void **state)
{
	static const char *const same[] = {
		"3000+0 Datens\xc3\xa4tze ein\n3000+0 Datens\xc3\xa4tze aus\n"
		"196608000 Bytes (197 MB, 188 MiB) kopiert, 0,0034508 s, 57,0 GB/s\n",
		"3000+0 enregistrements lus\n3000+0 enregistrements \xc3\xa9"
		"crits\n"
		"196608000 octets (197 MB, 188 MiB) copi\xc3\xa9s, 0,00501708 s, 39,2 GB/s\n",
		"\xe8\xbe\x93\xe5\x87\xba\xe4\xba\x86 3000+0 "
		"\xe5\x9d\x97\xe8\xae\xb0\xe5\xbd\x95\n196608000 \xe5\xad\x97\xe8\x8a\x82 "
		"(197 MB, 188 MiB) "
		"\xe5\xb7\xb2\xe5\xa4\x8d\xe5\x88\xb6\xef\xbc\x8c"
		"0.00480515 s\xef\xbc\x8c"
		"40.9 GB/s\n",
		"3000+0 records in\n3000+0 records out\n"
		"196608000 bytes (197 MB, 188 MiB) copied, 0,00475338 s, 41,4 GB/s\n",
		"3000+0 records in\n3000+0 records out\n"
		"196608000 bytes (187.5MB) copied, 0.018373 seconds, 10.0GB/s\n",
		"3000+0 records in\n3000+0 records out\n"
		"196608000 bytes transferred in 0.018373 secs (10700919828 bytes/sec)\n",
		"98304000 bytes (98 MB, 94 MiB) copied, 1 s, 98.3 MB/s\r"
		"131072000 bytes (131 MB, 125 MiB) copied, 2 s, 65.5 MB/s\n"
		"3000+0 records in\n3000+0 records out\n1 truncated record\n"
		"196608000 bytes (197 MB, 188 MiB) copied, 2.9 s, 67.8 MB/s"};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(same); i++)
		expect("dd", same[i], WW_WORK_AMOUNT, 196608000, "B");
	expect("dd",
	       "1+0 records in\n1+0 records out\n512 bytes copied, 0.1 s, 5.1 kB/s\n"
	       "2+0 records in\n2+0 records out\n1024 bytes copied, 0.1 s, 10 kB/s\n",
	       WW_WORK_AMOUNT, 1536, "B");
	nothing("dd", "dd: failed to open '/x': No such file or directory\n", "no line");
}

static void rsync(void **state)
{
	char why[200];
	struct ww_work_found f;

	(void)state;
	expect("rsync",
	       "sent 69,922,146 bytes  received 227,617 bytes  871,425.63 bytes/sec\n"
	       "total size is 5,837,767,005,136  speedup is 83,218.63\n",
	       WW_WORK_AMOUNT, 69922146 + 227617, "B");
	expect("rsync", "sent 22.928 bytes  received 35 bytes  45.926,00 bytes/sec\n",
	       WW_WORK_AMOUNT, 22928 + 35, "B");
	expect("rsync",
	       "Total bytes sent: 125\nTotal bytes received: 35\n\n"
	       "sent 125 bytes  received 35 bytes  106.67 bytes/sec\n",
	       WW_WORK_AMOUNT, 160, "B");
	expect("rsync", "wrote 1144 bytes  read 36 bytes  2360.00 bytes/sec\n", WW_WORK_AMOUNT,
	       1180, "B");
	expect("rsync", "sent 3,00M bytes  received 82 bytes  6,00M bytes/sec\n", WW_WORK_AMOUNT,
	       3000082, "B");
	f = found("rsync", "sent 17.83M bytes  received 10.71K bytes  35.68M bytes/sec\n", why,
		  sizeof(why));
	assert_true(fabs(f.value - 17840710) < 1);
	/* Half of a last digit, either way. */
	assert_true(fabs(f.u - 1e4 / sqrt(12)) < 10);
	nothing("rsync", "rsync error: some files could not be transferred (code 23)\n", "no line");
}

static void nbench(void **state)
{
	(void)state;
	expect("nbench",
	       "TEST                : Iterations/sec.  : Old Index   : New Index\n"
	       "                    :                  : Pentium 90* : AMD K6/233*\n"
	       "NUMERIC SORT        :          1165.6  :      29.89  :       9.82\n"
	       "BITFIELD            :      4.6794e+08  :      80.27  :      16.77\n"
	       "MEMORY INDEX        : 17.5\n",
	       WW_WORK_RATE, sqrt(1165.6 * 4.6794e8), "iteration");
	expect("nbench", "NUMERIC SORT        :  Iterations/sec.:        476.15  Index:  12.21\n",
	       WW_WORK_RATE, 476.15, "iteration");
	nothing("nbench", "BYTEmark* Native Mode Benchmark ver. 2 (10/95)\n", "no line");
}

static void expressions(void **state)
{
	(void)state;
	expect("([0-9]+) frames", "encoded 250 frames\nencoded 250 frames in 10 s\n",
	       WW_WORK_AMOUNT, 500, "frame");
	expect("last:frame= *([0-9]+)", "frame=  120 fps=25\rframe=  240 fps=24\r", WW_WORK_AMOUNT,
	       240, "");
	expect("fps= *([0-9.]+)", "frame=1 fps= 25\nframe=2 fps= 30\n", WW_WORK_AMOUNT, 55, "");
	expect("([0-9.]+) (MB/s)", "write: 12.5 MB/s\n", WW_WORK_RATE, 12.5e6, "B");
	/* Without a group for it, a unit that is known counts all the same. */
	expect("([0-9.]+) MB/s", "write: 12.5 MB/s\nread: 37.5 MB/s\n", WW_WORK_RATE, 25e6, "B");
	expect("rate ([0-9.]+)", "rate 24.5fps", WW_WORK_RATE, 24.5, "frame");
	expect("did ([0-9.]+)", "did 24.5 things", WW_WORK_AMOUNT, 24.5, "");
	expect("did ([0-9.]+) ([a-z]+)", "did 24 widgets", WW_WORK_AMOUNT, 24, "widgets");
	expect("([0-9]+)", "1 2 3\n4", WW_WORK_AMOUNT, 10, "");
	expect("size ([0-9.,]+)", "size 1.234.567,5", WW_WORK_AMOUNT, 1234567.5, "");
	nothing("size ([0-9.,]+)", "size 1,234", "two ways");
	nothing("size (.+)", "size big", "'big' is not a number");
	nothing("([0-9.]+) ([a-zA-Z/]+)", "5 MB and then 3 MB/s",
		"both an amount and a throughput");
	nothing("x([0-9]+)", "", "no line of the output matches");
	/* Matches of nothing end. */
	nothing("(x*)", "abc", "'' is not a number");
}

static void wrong_expressions(void **state)
{
	struct ww_error e = {0};
	struct ww_work *w;

	(void)state;
	assert_int_equal(ww_work_new("([0-9]", &w, &e), -EINVAL);
	assert_non_null(strstr(e.text, "neither a program whose output is known"));
	ww_error_clear(&e);
	assert_int_equal(ww_work_new("[0-9]+ MB", &w, &e), -EINVAL);
	assert_non_null(strstr(e.text, "has no group"));
	assert_null(w);
	ww_work_free(NULL);
}

static void units(void **state)
{
	static const struct {
		const char *text, *name;
		double factor;
		bool rate;
	} want[] = {{"MB/s", "B", 1e6, true},
		    {"MB/sec", "B", 1e6, true},
		    {"kB/s", "B", 1e3, true},
		    {"KB/s", "B", 1e3, true},
		    {"MiB/s", "B", 1048576, true},
		    {"GiB", "B", 1073741824, false},
		    {"bytes/s", "B", 1, true},
		    {"bytes/sec", "B", 1, true},
		    {"B", "B", 1, false},
		    {"Mbit/s", "bit", 1e6, true},
		    {"Mbps", "bit", 1e6, true},
		    {"MBps", "B", 1e6, true},
		    {"fps", "frame", 1, true},
		    {"frames/s", "frame", 1, true},
		    {"frames", "frame", 1, false},
		    {"k", "", 1e3, false},
		    {"ops/s", "op", 1, true},
		    {"it/s", "iteration", 1, true},
		    {"", "", 1, false},
		    {"Mfoo", "Mfoo", 1, false},
		    {"pages/second", "pages", 1, true},
		    {"frames per second", "frame", 1, true},
		    {"MB per second", "B", 1e6, true},
		    {"images/min", "images", 1 / 60., true},
		    {"requests per hour", "request", 1 / 3600., true}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(want); i++) {
		struct ww_work_unit u;

		assert_true(ww_work_unit(want[i].text, strlen(want[i].text), &u));
		if (strcmp(u.name, want[i].name) != 0 || u.factor < want[i].factor ||
		    u.factor > want[i].factor || u.rate != want[i].rate)
			fail_msg("%s: %g %s %d", want[i].text, u.factor, u.name, u.rate);
	}
}

/* What is per second is no amount, however it is written; what is per thing neither. */
static void rates(void **state)
{
	(void)state;
	expect("([0-9]+) (frames per second)", "80 frames per second\n", WW_WORK_RATE, 80, "frame");
	expect("([0-9]+) frames", "80 frames per second\n", WW_WORK_RATE, 80, "frame");
	expect("([0-9]+) (images/min)", "80 images/min\n", WW_WORK_RATE, 80 / 60., "images");
	expect("([0-9]+) (MB per second)", "80 MB per second\n", WW_WORK_RATE, 80e6, "B");
	expect("(([0-9]+)) frames", "80 frames\n", WW_WORK_AMOUNT, 80, "frame");
	nothing("([0-9]+) (ms/frame)", "80 ms/frame\n", "neither that of an amount nor");
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		enum ww_work_number form;
		int used;
		double value, digit;
	} want[] = {{"1206108.16k", WW_WORK_DECIMAL, 10, 1206108.16, 0.01},
		    {"1,234,567 x", WW_WORK_DECIMAL, 9, 1234567, 0},
		    {"1.234.567 x", WW_WORK_DECIMAL, 9, 1234567, 0},
		    {"1'234'567", WW_WORK_DECIMAL, 9, 1234567, 0},
		    {"1,234.5", WW_WORK_DECIMAL, 7, 1234.5, 0.1},
		    {"1.234,5", WW_WORK_DECIMAL, 7, 1234.5, 0.1},
		    {"0,234", WW_WORK_DECIMAL, 5, 0.234, 0.001},
		    {"1.234", WW_WORK_DECIMAL, 5, 1.234, 0.001},
		    {"1,234", WW_WORK_DECIMAL, -1, 0, 0},
		    {"12,3456", WW_WORK_DECIMAL, 7, 12.3456, 1e-4},
		    {"1,234", WW_WORK_WHOLE, 5, 1234, 0},
		    {"22.928 bytes", WW_WORK_WHOLE, 6, 22928, 0},
		    {"1,23,456", WW_WORK_DECIMAL, -1, 0, 0},
		    {"4.6794e+08 :", WW_WORK_DECIMAL, 10, 4.6794e8, 1e4},
		    {"5e", WW_WORK_DECIMAL, 1, 5, 0},
		    {"5.", WW_WORK_DECIMAL, 1, 5, 0},
		    {"x5", WW_WORK_DECIMAL, 0, 0, 0},
		    {"", WW_WORK_DECIMAL, 0, 0, 0},
		    {"1e999", WW_WORK_DECIMAL, 0, 0, 0}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(want); i++) {
		double v = 0, digit = 0;
		int n = ww_work_number(want[i].text, strlen(want[i].text), want[i].form, &v,
				       &digit);

		if (n != want[i].used ||
		    (n > 0 && (fabs(v - want[i].value) > 1e-12 * want[i].value ||
			       fabs(digit - want[i].digit) > 1e-9 * want[i].digit)))
			fail_msg("'%s': %d bytes, %.12g, %g", want[i].text, n, v, digit);
	}
}

/* Bytes that are no text, lines without an end, more of them than fit. */
static void hostile(void **state)
{
	struct ww_error e = {0};
	struct ww_work_found f;
	struct ww_work *w;
	char junk[10000];

	(void)state;
	assert_int_equal(ww_work_new("([0-9]+) ok", &w, &e), 0);
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (char)(i * 37 % 251 == '\n' ? 'x' : i * 37 % 251);
	memcpy(junk + 100, "7 ok", 4);
	memcpy(junk + 9000, "8 ok", 4);
	for (int i = 0; i < 20; i++)
		ww_work_feed(w, junk, sizeof(junk));
	ww_work_feed(w, "\n5 ok", 5);
	ww_work_feed(w, NULL, 0);
	ww_work_get(w, &f);
	assert_int_equal(f.kind, WW_WORK_AMOUNT);
	assert_true(f.value >= 12);
	ww_work_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(openssl),
		cmocka_unit_test(rates),
		cmocka_unit_test(openssl_multi),
		cmocka_unit_test(hdparm),
		cmocka_unit_test(dd),
		cmocka_unit_test(rsync),
		cmocka_unit_test(nbench),
		cmocka_unit_test(expressions),
		cmocka_unit_test(wrong_expressions),
		cmocka_unit_test(units),
		cmocka_unit_test(numbers),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

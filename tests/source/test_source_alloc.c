/* SPDX-License-Identifier: MIT */
/* Each allocation on the way of a source fails once: it is said, and nothing is left behind. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sinklog.h"

#include <fcntl.h>
#include <math.h>
#include <pty.h>
#include <unistd.h>

#define SEC WW_NS_PER_S

/* Allocations until the one that fails; none fails below 0. */
static int left = -1;
static int calls;

static bool fails(void)
{
	calls++;
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

/* Opens and starts a source with its n-th allocation failing, for each n there is. */
static void each_fails(const char *uri)
{
	struct ww_error err = {0};
	struct ww_source *src;
	struct sinklog s;
	int n;

	left = -1;
	assert_int_equal(sl_init(&s, 100 * SEC, &err), 0);
	calls = 0;
	if (sl_open(&s, uri, 0, 0, &src, &err) < 0)
		fail_msg("%s: %s", uri, err.text);
	n = calls;
	assert_true(n >= 3);
	src->ops->close(src);
	for (int i = 0; i < n; i++) {
		int rc;

		ww_error_clear(&err);
		left = i;
		rc = sl_open(&s, uri, 0, 0, &src, &err);
		if (rc == 0) {
			/* It could do without (a buffer of a text, a retry). */
			src->ops->close(src);
		} else {
			assert_null(src);
			assert_int_equal(rc, err.code);
			if (rc != -ENOMEM)
				fail_msg("%s, allocation %d: %d %s", uri, i, rc, err.text);
		}
	}
	left = -1;
	sl_free(&s);
}

static void manual(void **unused)
{
	(void)unused;
	each_fails("manual:?label=Kill%20A%20Watt&unit=VA");
}

static void sim(void **unused)
{
	(void)unused;
	each_fails("sim:?watts=25&noise=1&volts=230&pf=0.5&wh=1&step=1s:5");
	each_fails("sim:?watts=25&follow=/tmp/ww_no_such_state&on=25");
}

static void replay(void **unused)
{
	struct ww_source_info info = {.kind = WW_METER,
				      .name = "meter",
				      .uri = "x",
				      .driver = "x",
				      .model = "",
				      .serial = "",
				      .firmware = "",
				      .notes = "",
				      .transport = {.name = "sim", .settings = ""}};
	struct ww_channel_info power = {.source = 1,
					.name = "power",
					.quantity = "power",
					.unit = "W",
					.scale = 1,
					.acc_abs = (double)NAN,
					.acc_rel = (double)NAN};
	char folder[] = "/tmp/ww_alloc_XXXXXX", path[64], uri[80];
	struct ww_error err = {0};
	struct ww_writer *w;
	int64_t t = SEC, code = 7;

	(void)unused;
	left = -1;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.wwt", folder);
	snprintf(uri, sizeof(uri), "replay:%s", path);
	assert_int_equal(ww_writer_open(path, NULL, &w, &err), 0);
	assert_int_equal(ww_writer_source(w, &info, &err), 1);
	assert_int_equal(ww_writer_channel(w, &power, &err), 1);
	assert_int_equal(ww_writer_samples(w, 1, 1, &t, &t, &code, &err), 0);
	assert_int_equal(ww_writer_close(w, &err), 0);
	each_fails(uri);
	unlink(path);
	rmdir(folder);
}

static void say(int fd, const char *s)
{
	assert_int_equal(write(fd, s, strlen(s)), strlen(s));
}

/* A meter that tells its name, which must be kept: also this may fail. */
static void meet(const char *uri, int master, struct sinklog *s)
{
	struct ww_error err = {0};
	struct ww_source *src;

	if (sl_open(s, uri, 0, 0, &src, &err) < 0) {
		assert_int_equal(err.code, -ENOMEM);
		return;
	}
	if (src->ops->start(src, &err) < 0) {
		assert_int_equal(err.code, -ENOMEM);
	} else {
		sl_run(s, 400 * WW_NS_PER_MS);
		if (!s->lost) {
			say(master, "#v,-,8,1,65206,5,2,3,14,200612211910,0;\r\n");
			sl_run(s, 1200 * WW_NS_PER_MS);
		}
		if (!s->lost) {
			say(master, "#d,-,18,124,1191,97,0,_,_,_,124,_,_,_,_,_,100,_,_,_,_;\r\n");
			sl_run(s, 100 * WW_NS_PER_MS);
		}
	}
	src->ops->close(src);
}

static void meter(void **unused)
{
	char name[128], uri[160];
	struct ww_error err = {0};
	struct sinklog s;
	int master, slave, n;

	(void)unused;
	left = -1;
	assert_int_equal(openpty(&master, &slave, name, NULL, NULL), 0);
	fcntl(master, F_SETFL, O_NONBLOCK);
	snprintf(uri, sizeof(uri), "wattsup:%s", name);
	each_fails(uri);
	/* A line that others may join. */
	snprintf(uri, sizeof(uri), "pzem004t:%s", name);
	each_fails(uri);
	snprintf(uri, sizeof(uri), "wattsup:%s", name);
	assert_int_equal(sl_init(&s, 100 * SEC, &err), 0);
	calls = 0;
	meet(uri, master, &s);
	n = calls;
	assert_false(s.lost);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.model, "Watts up? PRO");
	for (int i = 0; i < n; i++) {
		char buf[512];

		while (read(master, buf, sizeof(buf)) > 0)
			;
		s.n = 0;
		left = i;
		meet(uri, master, &s);
		/* Either it was said, or it went on as if nothing had been. */
		left = -1;
		if (s.lost && !strstr(s.why, "memory"))
			fail_msg("allocation %d: %s", i, s.why);
		/* What a failed round did not read may not meet the next one. */
		tcflush(slave, TCIOFLUSH);
	}
	sl_free(&s);
	close(master);
	close(slave);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(manual),
		cmocka_unit_test(sim),
		cmocka_unit_test(replay),
		cmocka_unit_test(meter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Campaigns by actions against a pretended DUT: it writes a character every 5 ms as long
 * as a file "asleep" is absent. Its marks say when each action took effect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/base.h"
#include "fakelines.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#if defined(WW_WITH_GPIOD)
#include "../source/gpiochip.h"
#endif

static char dir[64], flag[96], path[96];

static pid_t dut(int master)
{
	const struct timespec t = {.tv_nsec = 5000000};
	struct stat st;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (;;) {
		if (stat(flag, &st) != 0 && write(master, "a", 1) != 1)
			_exit(1);
		nanosleep(&t, NULL);
	}
}

struct seen {
	char kinds[512]; /* "request,request-end,wake,..." */
	struct ww_interval t[32];
	char text[32][160];
	size_t n;
	int rc;
	char error[512];
};

static void read_marks(struct seen *o)
{
	struct ww_error err = {0};
	struct ww_trace *t;

	if (ww_trace_open(path, &t, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < ww_trace_mark_count(t) && o->n < 32; i++) {
		const struct ww_mark *m = ww_trace_mark(t, i);

		if (!strcmp(m->kind, "start") || !strcmp(m->kind, "stop"))
			continue;
		snprintf(o->kinds + strlen(o->kinds), sizeof(o->kinds) - strlen(o->kinds), "%s,",
			 m->kind);
		o->t[o->n] = m->t;
		snprintf(o->text[o->n++], sizeof(o->text[0]), "%.159s", m->text);
	}
	ww_trace_close(t);
	unlink(path);
}

/* The k-th mark of a kind. */
static size_t nth(const struct seen *o, const char *kind, int k)
{
	const char *p = o->kinds;

	for (size_t i = 0; i < o->n; i++) {
		size_t n = strcspn(p, ",");

		if (strlen(kind) == n && strncmp(p, kind, n) == 0 && k-- == 0)
			return i;
		p += n + 1;
	}
	fail_msg("no %s in %s", kind, o->kinds);
	return 0;
}

/* port: what the recorder opens; "%s" is the DUT's line. stop_ns: interrupted then. */
static struct seen campaign(const struct ww_campaign_options *with, int64_t stop_ns)
{
	struct ww_campaign_options opt = *with;
	struct ww_recorder_options ro = {.size = sizeof(ro), .path = path};
	struct seen o = {0};
	struct ww_error err = {0};
	struct ww_recorder *r;
	struct ww_campaign *c = NULL;
	int64_t begin = ww_clock_now_ns();
	int master, slave;
	char port[64];
	pid_t pid;

	opt.size = sizeof(opt);
	opt.asleep_ns = opt.settle_ns = opt.silence_ns = 200 * WW_NS_PER_MS;
	opt.suspend_timeout_ns = 1500 * WW_NS_PER_MS;
	opt.resume_timeout_ns = opt.resume_timeout_ns ? opt.resume_timeout_ns : 1000 * WW_NS_PER_MS;
	unlink(flag);
	unlink(path);
	assert_int_equal(openpty(&master, &slave, port, NULL, NULL), 0);
	pid = dut(master);
	if (ww_recorder_new(&ro, &r, &err) < 0 || ww_recorder_add(r, port, "port", &err) != 1 ||
	    ww_recorder_start(r, &err) < 0)
		fail_msg("%s", err.text);
	o.rc = ww_campaign_new(r, 1, &opt, &c, &err);
	while (o.rc >= 0 && c && (!stop_ns || ww_clock_now_ns() - begin < stop_ns)) {
		struct pollfd p[2] = {{.fd = ww_recorder_fd(r), .events = POLLIN},
				      {.fd = ww_campaign_fd(c), .events = POLLIN}};

		poll(p, 2, 100);
		assert_int_equal(ww_recorder_dispatch(r, &err), 1);
		o.rc = ww_campaign_dispatch(c, &err);
		if (o.rc == 0)
			break;
	}
	snprintf(o.error, sizeof(o.error), "%s", err.text);
	ww_campaign_free(c);
	ww_recorder_stop(r, NULL);
	ww_recorder_free(r);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(master);
	close(slave);
	read_marks(&o);
	return o;
}

static const char *say(const char *format)
{
	static char text[4][300];
	static unsigned i;

	i = (i + 1) % 4;
	snprintf(text[i], sizeof(text[i]), "%s %s", format, flag);
	return text[i];
}

/* Its own alarm: the text has the seconds, the interval is as coarse as the clock. */
static void test_alarm(void **state)
{
	char suspend[300];
	struct ww_campaign_options opt = {.suspend = suspend, .wake = "rtc:2s..2s", .cycles = 1};
	struct ww_interval request, wake;
	struct seen o;

	(void)state;
	snprintf(suspend, sizeof(suspend),
		 "test \"$WAKEWATT_RTC\" = {rtc} && touch %s && (sleep {rtc}; rm %s)", flag, flag);
	o = campaign(&opt, 0);
	assert_int_equal(o.rc, 0);
	/* The command ends after the return: the wake was marked before it. */
	assert_string_equal(o.kinds, "asleep,request,wake,wake-end,request-end,cycle-end,");
	assert_string_equal(o.text[0], "2 s");
	assert_non_null(strstr(o.text[1], "= 2 && touch"));
	assert_string_equal(o.text[nth(&o, "request-end", 0)], "exit 0");
	assert_string_equal(o.text[nth(&o, "cycle-end", 0)], "ok");
	request = o.t[1];
	wake = o.t[2];
	assert_string_equal(o.text[2], "rtc:2s");
	assert_string_equal(o.text[3], "alarm of 2 s");
	/* From a second before to a second after, and as long as the alarm may have been set. */
	assert_true(wake.lo_ns >= request.lo_ns + WW_NS_PER_S - 10 * WW_NS_PER_MS &&
		    wake.lo_ns <= request.hi_ns + WW_NS_PER_S + 100 * WW_NS_PER_MS);
	assert_true(wake.hi_ns - wake.lo_ns >= 2 * WW_NS_PER_S &&
		    wake.hi_ns - wake.lo_ns < 4 * WW_NS_PER_S);
	assert_int_equal(o.t[3].lo_ns, wake.hi_ns);
	opt.wake = "rtc:2s";
	/*
	 * The command ends before the silence: the alarm was set while it ran, and what
	 * remained of the beat says nothing more.
	 */
	snprintf(suspend, sizeof(suspend),
		 "(sleep 0.4; touch %s; sleep {rtc}; rm %s) > /dev/null 2>&1 &", flag, flag);
	o = campaign(&opt, 0);
	assert_string_equal(o.kinds, "request,request-end,wake,wake-end,cycle-end,");
	assert_string_equal(o.text[nth(&o, "cycle-end", 0)], "ok");
	request = o.t[0];
	wake = o.t[2];
	assert_true(o.t[1].hi_ns < request.lo_ns + 300 * WW_NS_PER_MS);
	assert_true(wake.lo_ns >= request.lo_ns + WW_NS_PER_S - 10 * WW_NS_PER_MS &&
		    wake.lo_ns <= request.hi_ns + WW_NS_PER_S + 100 * WW_NS_PER_MS);
	assert_true(wake.hi_ns >= o.t[1].lo_ns + 3 * WW_NS_PER_S - 10 * WW_NS_PER_MS &&
		    wake.hi_ns <= o.t[1].hi_ns + 3 * WW_NS_PER_S + WW_NS_PER_MS);
	/* Back long before the alarm: it was none. */
	opt.wake = "rtc:4s";
	snprintf(suspend, sizeof(suspend), "(touch %s; sleep 0.7; rm %s) > /dev/null 2>&1 &", flag,
		 flag);
	o = campaign(&opt, 0);
	assert_string_equal(o.kinds, "request,request-end,cycle-end,");
	assert_string_equal(o.text[2], "ok");
	/* Nothing but a wake can be an alarm. */
	opt = (struct ww_campaign_options){.suspend = "rtc:2s", .cycles = 1};
	o = campaign(&opt, 0);
	assert_int_equal(o.rc, -EINVAL);
	assert_non_null(strstr(o.error, "can only wake"));
}

/* Never back: recorded as such, reset, and the next cycle runs; switched off at the end. */
static void test_reset_and_off(void **state)
{
	char off[300];
	struct ww_campaign_options opt = {.suspend = say("touch"),
					  .wake = "true",
					  .reset = say("rm"),
					  .off = off,
					  .cycles = 2};
	struct stat st;
	struct seen o;

	(void)state;
	snprintf(off, sizeof(off), "touch %s.off", flag);
	o = campaign(&opt, 0);
	assert_int_equal(o.rc, 0);
	assert_string_equal(
		o.kinds, "request,request-end,wake,wake-end,cycle-end,warning,reset,reset-end,"
			 "request,request-end,wake,wake-end,cycle-end,warning,reset,reset-end,off,"
			 "off-end,");
	assert_string_equal(o.text[nth(&o, "cycle-end", 0)], "timeout");
	assert_string_equal(o.text[nth(&o, "cycle-end", 1)], "timeout");
	assert_string_equal(o.text[nth(&o, "off-end", 0)], "exit 0");
	snprintf(off, sizeof(off), "%s.off", flag);
	assert_int_equal(stat(off, &st), 0);
	unlink(off);
}

/* Interrupted in a cycle: switched off all the same. */
static void test_off_when_interrupted(void **state)
{
	char off[300];
	struct ww_campaign_options opt = {.suspend = say("touch"),
					  .wake = "sleep 9",
					  .off = off,
					  .cycles = 3};
	struct stat st;
	struct seen o;

	(void)state;
	snprintf(off, sizeof(off), "sleep 0.1; touch %s.off", flag);
	o = campaign(&opt, 900 * WW_NS_PER_MS);
	assert_string_equal(o.text[nth(&o, "cycle-end", 0)], "stopped");
	assert_string_equal(o.text[nth(&o, "off-end", 0)], "exit 0");
	assert_non_null(strstr(o.text[nth(&o, "campaign-end", 0)], "1 of 3"));
	snprintf(off, sizeof(off), "%s.off", flag);
	assert_int_equal(stat(off, &st), 0);
	unlink(off);
}

#if defined(WW_WITH_GPIOD)

/*
 * Suspended by a press and woken by the heartbeat's own DTR: the marks have the interval
 * in which the line moved, the text its measured length.
 */
static void test_lines(void **state)
{
	struct ww_campaign_options opt = {.suspend = "gpio:gpiochip0/3=low,20ms?delay=1ms..2ms",
					  .wake = "gpio:gpiochip0/WAKE=high,30ms",
					  .cycles = 1,
					  .resume_timeout_ns = 400 * WW_NS_PER_MS};
	pid_t pid;
	struct seen o;
	size_t i;

	(void)state;
	fake_reset();
	/* The pretended DUT hears the line: asleep from the first press, awake after the other. */
	pid = fork();
	if (pid == 0) {
		for (;; fake_sleep(1)) {
			unsigned n = fake->n;

			if (n >= 2 && n < 5 && fake->ev[1].what == 'O')
				close(open(flag, O_CREAT | O_WRONLY, 0600));
			else if (n >= 5)
				unlink(flag);
		}
	}
	o = campaign(&opt, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(o.rc, 0);
	assert_string_equal(o.kinds, "request,request-end,wake,wake-end,cycle-end,");
	assert_string_equal(o.text[4], "ok");
	assert_string_equal(fake_story(), "R3 O0 I0 R3 O1 I0");
	i = nth(&o, "request", 0);
	assert_true(o.t[i].lo_ns <= fake->ev[1].ns + WW_NS_PER_MS &&
		    o.t[i].hi_ns >= fake->ev[1].ns + WW_NS_PER_MS);
	i = nth(&o, "wake", 0);
	assert_true(o.t[i].lo_ns <= fake->ev[4].ns && o.t[i].hi_ns >= fake->ev[4].ns);
	assert_int_equal(o.t[i + 1].lo_ns, o.t[i].hi_ns);
	assert_memory_equal(o.text[i + 1], "pulse of ", 9);
	/* Held for ever it is no press. */
	opt.wake = "gpio:gpiochip0/WAKE=high,hold";
	o = campaign(&opt, 0);
	assert_int_equal(o.rc, -EINVAL);
	assert_non_null(strstr(o.error, "needs a time, as in high,200ms"));
	/* A press sets no alarm. */
	opt.wake = "rtc:2s";
	o = campaign(&opt, 0);
	assert_int_equal(o.rc, -EINVAL);
	assert_non_null(strstr(o.error, "=low,20ms?delay=1ms..2ms is no command"));
	/* What cannot be begun stands in the trace, and the cycle shows what comes of it. */
	fake_reset();
	opt.suspend = say("touch");
	opt.wake = "gpio:gpiochip0/WAKE=high,30ms";
	fake->take_code = EBUSY;
	o = campaign(&opt, 0);
	assert_string_equal(o.text[nth(&o, "cycle-end", 0)], "timeout");
	assert_memory_equal(o.text[nth(&o, "wake-end", 0)], "failed: gpio:gpiochip0/WAKE", 26);
}

#endif

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/ww-camp-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(flag, sizeof(flag), "%s/asleep", dir);
	snprintf(path, sizeof(path), "%s/t.wwt", dir);
	fake_init();
	return 0;
}

static int teardown(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alarm),
		cmocka_unit_test(test_reset_and_off),
		cmocka_unit_test(test_off_when_interrupted),
#if defined(WW_WITH_GPIOD)
		cmocka_unit_test(test_lines),
#endif
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

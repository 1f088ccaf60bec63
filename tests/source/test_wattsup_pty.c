/* SPDX-License-Identifier: MIT */
/*
 * wattsup on pseudo-terminals with an emulated meter at the other end, one for
 * each fault, all at the same time: a second of the meter's is a second of ours.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sinklog.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEC WW_NS_PER_S

enum { PLAIN, OLD, STREAMING, PICKY, STALE, QUIET, PLUG, STRAY, BANNER, CLEAR, DEAF, METERS };

static struct meter {
	const char *args[12];
	const char *options;
	pid_t pid;
	int in, out;
	char path[128], uri[192];
	struct ww_str told; /* the meter's side */
	struct sinklog s;
	struct ww_source *src;
	size_t before;
} meter[METERS] = {
	[PLAIN] = {.args = {"--nuls", "--chunk", "7", "--watts", "96.5"}, .options = ""},
	[OLD] = {.args = {"--fields", "16", "--no-crlf", "--model", "0"}, .options = "?baud=9600"},
	[STREAMING] = {.args = {"--streaming", "--unlogged", "--second", "0.13"}, .options = ""},
	[PICKY] = {.args = {"--reserved", "_"}, .options = ""},
	[STALE] = {.args = {"--stale-first", "--reserved", "-", "--reject-silently"},
		   .options = ""},
	[QUIET] = {.args = {NULL}, .options = ""},
	[PLUG] = {.args = {NULL}, .options = ""},
	[STRAY] = {.args = {NULL}, .options = ""},
	[BANNER] = {.args = {NULL}, .options = ""},
	[CLEAR] = {.args = {"--wh", "1234"}, .options = "?all=1"},
	[DEAF] = {.args = {"--deaf"}, .options = ""},
};
static struct ww_loop *loop;
static char folder[] = "/tmp/ww_wattsup_XXXXXX";

static void launch(struct meter *m, int number)
{
	int to[2], from[2];
	char self[PATH_MAX - 64], emu[PATH_MAX];
	const char *argv[20] = {"wattsup_emu", "--link", m->path};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	snprintf(emu, sizeof(emu), "%s/../emu/wattsup_emu", dirname(self));
	snprintf(m->path, sizeof(m->path), "%s/meter%d", folder, number);
	snprintf(m->uri, sizeof(m->uri), "wattsup:%s%s", m->path, m->options);
	for (size_t i = 0; m->args[i]; i++)
		argv[3 + i] = m->args[i];
	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	m->pid = fork();
	assert_true(m->pid >= 0);
	if (m->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execv(emu, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	m->in = to[1];
	m->out = from[0];
	fcntl(m->out, F_SETFL, O_NONBLOCK);
}

static void listen_to(struct meter *m)
{
	char buf[512];
	ssize_t n;

	while ((n = read(m->out, buf, sizeof(buf))) > 0)
		ww_str_addn(&m->told, buf, (size_t)n);
}

static const char *told(const struct meter *m)
{
	return m->told.p ? m->told.p : "";
}

static void order(struct meter *m, const char *text)
{
	assert_int_equal(write(m->in, text, strlen(text)), strlen(text));
}

typedef bool (*condition)(const struct meter *m);

/* Runs everything until it holds for this meter; false after a long time. */
static bool until(const struct meter *m, condition holds)
{
	int64_t give_up = ww_clock_now_ns() + 30 * SEC;

	while (!holds(m)) {
		struct pollfd f = {.fd = ww_loop_fd(loop), .events = POLLIN};

		if (ww_clock_now_ns() > give_up)
			return false;
		poll(&f, 1, 20);
		ww_loop_dispatch(loop, NULL);
		for (size_t i = 0; i < METERS; i++)
			listen_to(&meter[i]);
	}
	return true;
}

static bool is_ready(const struct meter *m)
{
	return strstr(told(m), "ready") != NULL;
}

static bool gives_two(const struct meter *m)
{
	return m->s.n >= m->before + 2 || m->s.lost;
}

static bool is_lost(const struct meter *m)
{
	return m->s.lost;
}

static bool is_silent(const struct meter *m)
{
	return strstr(sl_text(&m->s), " silent") != NULL;
}

static void begin(struct meter *m)
{
	struct ww_error err = {0};

	m->s.loop = loop;
	m->s.t0_ns = ww_clock_now_ns();
	if (sl_open(&m->s, m->uri, 0, 0, &m->src, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(m->src->ops->start(m->src, &err), 0);
}

/* Try again as the recorder does, until the terminal is there. */
static void begin_again(struct meter *m)
{
	int64_t give_up = ww_clock_now_ns() + 10 * SEC;
	struct ww_error err = {0};

	m->src->ops->close(m->src);
	m->src = NULL;
	m->s.lost = false;
	assert_true(sl_open(&m->s, m->uri, 0, 0, &m->src, &err) < 0);
	if (!strstr(err.text, m->path))
		fail_msg("%s", err.text);
	order(m, "replug\n");
	while (sl_open(&m->s, m->uri, 0, 0, &m->src, NULL) < 0) {
		assert_true(ww_clock_now_ns() < give_up);
		usleep(10000);
	}
	assert_int_equal(m->src->ops->start(m->src, &err), 0);
}

/* Each faulty meter on its way; what they gave is looked at by the tests. */
static int run_all(void **state)
{
	struct ww_error err = {0};

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(ww_loop_new(NULL, &loop, &err), 0);
	for (int i = 0; i < METERS; i++)
		launch(&meter[i], i);
	for (int i = 0; i < METERS; i++) {
		assert_true(until(&meter[i], is_ready));
		begin(&meter[i]);
	}
	for (int i = 0; i < METERS; i++)
		if (!until(&meter[i], gives_two))
			fail_msg("meter %d gives nothing:\n%s", i, sl_text(&meter[i].s));
	order(&meter[QUIET], "silence on\n");
	order(&meter[PLUG], "unplug\n");
	order(&meter[STRAY], "raw \\xff\\x80zz#d,-,18,9#d,-,3,1,2;\n");
	order(&meter[BANNER], "banner\n");
	order(&meter[CLEAR], "clear\n");
	for (int i = 0; i < METERS; i++)
		meter[i].before = meter[i].s.n;
	assert_true(until(&meter[PLUG], is_lost));
	begin_again(&meter[PLUG]);
	assert_true(until(&meter[QUIET], is_silent));
	order(&meter[QUIET], "silence off\n");
	for (int i = 0; i < METERS; i++)
		if (!until(&meter[i], gives_two))
			fail_msg("meter %d does not go on:\n%s", i, sl_text(&meter[i].s));
	return 0;
}

static int stop_all(void **state)
{
	(void)state;
	for (int i = 0; i < METERS; i++) {
		struct meter *m = &meter[i];

		if (m->src)
			m->src->ops->close(m->src);
		close(m->in);
		waitpid(m->pid, NULL, 0);
		close(m->out);
		m->s.loop = NULL;
		sl_free(&m->s);
		ww_str_free(&m->told);
	}
	ww_loop_free(loop);
	return rmdir(folder);
}

static void has(const struct meter *m, const char *what)
{
	if (!strstr(sl_text(&m->s), what))
		fail_msg("no '%s' in:\n%s", what, sl_text(&m->s));
}

static void within(const struct meter *m, size_t channel, double lo, double hi)
{
	assert_true(m->s.n >= 2);
	for (size_t i = 0; i < m->s.n; i++) {
		double v = sl_value(&m->s, i, channel);

		if (!(v >= lo - 1e-9 && v <= hi + 1e-9))
			fail_msg("row %zu channel %zu: %g", i, channel, v);
	}
}

static void plain(void **unused)
{
	const struct meter *m = &meter[PLAIN];

	(void)unused;
	assert_string_equal(m->s.names, "power[W] voltage[V] current[A] energy[Wh] power_factor[1] "
					"frequency[Hz] apparent_power[VA]");
	assert_string_equal(m->s.model, "Watts up? PRO");
	within(m, 0, 96.4, 96.6);
	within(m, 1, 230, 230);
	within(m, 2, 0.699, 0.699);
	within(m, 4, 0.6, 0.6);
	within(m, 5, 50, 50);
	within(m, 6, 160.8, 160.8);
	assert_string_equal(sl_text(&m->s), "");
	for (size_t i = 1; i < m->s.n; i++) {
		assert_true(m->s.lo[i] <= m->s.hi[i] && m->s.hi[i] >= m->s.hi[i - 1]);
		assert_true(m->s.hi[i] - m->s.lo[i - 1] > SEC / 2);
	}
}

static void old_model(void **unused)
{
	const struct meter *m = &meter[OLD];

	(void)unused;
	within(m, 0, 24.9, 25.1);
	assert_true(m->s.codes[5] == WW_MISSING && m->s.codes[6] == WW_MISSING);
	assert_string_equal(m->s.model, "Watts up? Standard");
}

static void left_streaming(void **unused)
{
	const struct meter *m = &meter[STREAMING];
	const char *stop = strstr(told(m), "got ^X\ngot #L,R,0;\n");

	(void)unused;
	assert_non_null(stop);
	assert_non_null(strstr(stop, "got #V,R,0;\ngot #L,W,3,E,0,1;\n"));
	within(m, 0, 24.9, 25.1);
	within(m, 1, 230, 230);
	for (size_t c = 5; c < 7; c++)
		assert_true(m->s.codes[c] == WW_MISSING);
}

static void reserved_argument(void **unused)
{
	(void)unused;
	assert_non_null(strstr(told(&meter[PICKY]),
			       "#L,W,3,E,0,1;\ngot #L,W,3,E,-,1;\ngot #L,W,3,E,_,1;\n"));
	within(&meter[PICKY], 0, 24.9, 25.1);
	assert_non_null(strstr(told(&meter[STALE]), "#L,W,3,E,0,1;\ngot #L,W,3,E,-,1;\n"));
}

static void stale_first(void **unused)
{
	(void)unused;
	has(&meter[STALE], "device stale: a first record");
	within(&meter[STALE], 0, 24.9, 25.1);
}

static void silence(void **unused)
{
	const struct meter *m = &meter[QUIET];
	const char *start;

	(void)unused;
	has(m, " 3 silent\n");
	start = strstr(told(m), "#L,W,3,E,0,1;");
	assert_non_null(start);
	assert_non_null(strstr(start + 1, "#L,W,3,E,0,1;"));
	within(m, 0, 24.9, 25.1);
}

static void replugged(void **unused)
{
	const struct meter *m = &meter[PLUG];

	(void)unused;
	assert_true(strncmp(m->s.why, "wattsup:", 8) == 0);
	assert_non_null(strstr(m->s.why, m->path));
	assert_true(m->s.n >= m->before + 2);
	within(m, 0, 24.9, 25.1);
}

static void stray_bytes(void **unused)
{
	(void)unused;
	has(&meter[STRAY], "device 4 bytes outside packets\n");
	has(&meter[STRAY], "device damaged packet left out: its end is missing\n");
	has(&meter[STRAY], "device damaged packet left out: not as many values as it announces\n");
	within(&meter[STRAY], 0, 24.9, 25.1);
}

static void banner(void **unused)
{
	(void)unused;
	has(&meter[BANNER], "device banner: EED05F01 $Revision: 4.41 $ 200612212301 60Hz 120V\n");
	within(&meter[BANNER], 0, 24.9, 25.1);
}

static void cleared(void **unused)
{
	(void)unused;
	has(&meter[CLEAR], "counter-reset energy register fell from 123.");
	assert_int_equal(meter[CLEAR].s.channels > 7, 1);
}

static void deaf(void **unused)
{
	const struct meter *m = &meter[DEAF];
	char want[256];

	(void)unused;
	snprintf(want, sizeof(want), "%s: no reply to the version request in 2 s", m->uri);
	if (strncmp(m->s.why, want, strlen(want)) != 0)
		fail_msg("%s", m->s.why);
	assert_int_equal(m->s.n, 0);
	/* Said at once, and not only written down. */
	has(m, "warn wattsup:");
}

static bool was_stopped(const struct meter *m)
{
	const char *last = told(m), *p;

	for (p = last; (p = strstr(p, "got #")); p++)
		last = p;
	return strncmp(last, "got #L,R,0;\n", 12) == 0;
}

/* Comes last: the meter that is left alone does not stream into the next program. */
static void leaves_it_quiet(void **unused)
{
	struct meter *m = &meter[PLAIN];

	(void)unused;
	assert_true(m->src->ops->stop(m->src) > 0);
	assert_true(until(m, was_stopped));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),	  cmocka_unit_test(old_model),
		cmocka_unit_test(left_streaming), cmocka_unit_test(reserved_argument),
		cmocka_unit_test(stale_first),	  cmocka_unit_test(silence),
		cmocka_unit_test(replugged),	  cmocka_unit_test(stray_bytes),
		cmocka_unit_test(banner),	  cmocka_unit_test(cleared),
		cmocka_unit_test(deaf),		  cmocka_unit_test(leaves_it_quiet),
	};

	return cmocka_run_group_tests(tests, run_all, stop_all);
}

/* SPDX-License-Identifier: MIT */
/*
 * Recordings of trace-cmd 3.1.6, made in the lab's machine in real suspends (with the names of
 * the functions that no record needs cut out), against what `trace-cmd report -t` printed of
 * them: line by line.
 */
#include "text/ftline.h"
#include "text/textin.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/ww-dat-XXXXXX", path[64];

struct content {
	char *p;
	size_t n;
	int rc;
	struct ww_error err;
};

static struct content content(const char *name)
{
	struct content c = {0};
	const uint8_t *p;
	const int64_t *lo, *hi;
	struct ww_text *t;
	size_t n;

	c.rc = ww_text_open(name, &t, &c.err);
	if (c.rc < 0)
		return c;
	while ((c.rc = t->next(t, &p, &n, &lo, &hi, &c.err)) == 1) {
		c.p = realloc(c.p, c.n + n + 1);
		assert_non_null(c.p);
		memcpy(c.p + c.n, p, n);
		c.n += n;
		c.p[c.n] = '\0';
	}
	ww_text_close(t);
	return c;
}

static bool line(char **p, struct ww_ftline *out)
{
	char *stop = strchr(*p, '\n');

	if (!stop)
		return false;
	ww_ftline_parse(*p, (size_t)(stop - *p), out);
	*p = stop + 1;
	return true;
}

static void same(struct ww_slice a, struct ww_slice b)
{
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.p, b.p, a.n);
}

/* Events whose arguments are told in the kernel's own words. */
static bool in_full(struct ww_slice event)
{
	static const char *const names[] = {"suspend_resume",
					    "device_pm_callback_start",
					    "device_pm_callback_end",
					    "wakeup_source_activate",
					    "print",
					    "cpuhp_enter",
					    "cpuhp_exit"};

	for (size_t i = 0; i < WW_COUNTOF(names); i++)
		if (ww_slice_is(event, names[i], strlen(names[i])))
			return true;
	return false;
}

static void compare(const char *dat, const char *report, int least)
{
	struct content a = content(dat), b = content(report);
	char *p = a.p, *q = b.p;
	struct ww_ftline x, y;
	int lines = 0;

	assert_int_equal(a.rc, 0);
	assert_int_equal(b.rc, 0);
	while (line(&p, &x)) {
		if (x.kind == WW_FT_HEADER)
			continue;
		do
			assert_true(line(&q, &y));
		while (y.kind == WW_FT_NONE); /* "cpus=2" */
		assert_int_equal(x.kind, y.kind);
		same(x.comm, y.comm);
		same(x.event, y.event);
		assert_int_equal(x.pid, y.pid);
		assert_int_equal(x.cpu, y.cpu);
		assert_int_equal(x.t_ns, y.t_ns);
		assert_false(x.bare);
		if (in_full(x.event))
			same(x.text, y.text);
		lines++;
	}
	while (line(&q, &y))
		assert_int_equal(y.kind, WW_FT_NONE);
	assert_true(lines >= least);
	free(a.p);
	free(b.p);
}

/* The clock "global", nothing packed, and names in version 6. */
static void test_version6(void **state)
{
	(void)state;
	if (!strstr(ww_features(), "lzma"))
		skip();
	compare("tests/data/suspend6.dat.xz", "tests/data/suspend6.txt.xz", 1060);
}

/* The clock "boot", whose times trace-cmd prints as ns; packed by zstd; other events too. */
static void test_version7(void **state)
{
	(void)state;
	if (!strstr(ww_features(), "lzma"))
		skip();
	compare("tests/data/suspend7.dat.xz", "tests/data/suspend7.txt.xz", 1800);
}

static void store(const void *p, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* The recording itself. */
static struct content unpacked(const char *name)
{
	struct content c = {0};
	char command[256];
	FILE *f;

	snprintf(command, sizeof(command), "xz -dc %s", name);
	f = popen(command, "r");
	assert_non_null(f);
	c.p = malloc(1 << 20);
	assert_non_null(c.p);
	c.n = fread(c.p, 1, 1 << 20, f);
	assert_int_equal(pclose(f), 0);
	assert_true(c.n > 10000 && c.n < 1 << 20);
	return c;
}

/* Cut off: what was stored of each CPU comes, then it is said. */
static void test_cut(void **state)
{
	struct content file = unpacked("tests/data/suspend6.dat.xz"), whole, c;

	(void)state;
	store(file.p, file.n);
	whole = content(path);
	assert_int_equal(whole.rc, 0);
	for (size_t n = 0; n < file.n; n += n < 200 ? 1 : 1499) {
		store(file.p, n);
		c = content(path);
		if (n > 0 && n < file.n - 4096)
			assert_true(c.rc < 0 || c.n < whole.n);
		assert_true(c.rc == 0 || c.err.text[0]);
		assert_true(c.n <= whole.n);
		free(c.p);
	}
	store(file.p, file.n - 5000);
	c = content(path);
	assert_int_equal(c.rc, -EBADMSG);
	assert_non_null(strstr(c.err.text, "ends within a page"));
	assert_true(c.n > whole.n / 2);
	free(c.p);
	free(whole.p);
	free(file.p);
	/* What version 7 needs first stands at its end. */
	file = unpacked("tests/data/suspend7.dat.xz");
	store(file.p, file.n / 2);
	c = content(path);
	assert_true(c.rc < 0);
	assert_non_null(strstr(c.err.text, "it was cut off"));
	free(c.p);
	free(file.p);
}

/* The suspend that was stored when the file was cut off is told, and why it has no end. */
static void test_cut_cycle(void **state)
{
	struct content file = unpacked("tests/data/suspend6.dat.xz");
	const struct ww_pm_cycle *c;
	struct ww_error err = {0};
	struct ww_kernlog *k;
	struct ww_text *t;
	bool told = false;

	(void)state;
	store(file.p, 50000); /* nothing of the second CPU, and half of the first */
	assert_int_equal(ww_text_open(path, &t, &err), 0);
	assert_int_equal(ww_kernlog_new(&t, 1, NULL, &k, &err), 0);
	assert_int_equal(ww_kernlog_next(k, &c, &err), 1);
	assert_int_equal(c->result, WW_PM_TRUNCATED);
	assert_int_equal(c->mode, WW_PM_MODE_MEM);
	assert_int_equal(ww_kernlog_next(k, &c, &err), 0);
	for (size_t i = 0; ww_kernlog_note(k, i); i++)
		told |= strstr(ww_kernlog_note(k, i), "ends within a page") != NULL;
	assert_true(told);
	ww_kernlog_free(k);
	ww_text_close(t);
	free(file.p);
}

/* Each byte of the head changed: nothing worse than an error. */
static void test_broken(void **state)
{
	struct content file = unpacked("tests/data/suspend6.dat.xz"), c;
	static const uint8_t to[] = {0, 0x7f, 0xff};

	(void)state;
	for (size_t i = 10; i < file.n; i += i < 64 ? 1 : 331) {
		char old = file.p[i];

		file.p[i] = (char)to[i % 3];
		store(file.p, file.n);
		c = content(path);
		assert_true(c.rc == 0 || c.err.text[0]);
		free(c.p);
		file.p[i] = old;
	}
	free(file.p);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/dat", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version6), cmocka_unit_test(test_version7),
		cmocka_unit_test(test_cut),	 cmocka_unit_test(test_cut_cycle),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

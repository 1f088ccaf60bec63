/* SPDX-License-Identifier: MIT */
/*
 * The page of cycles from cycles made by hand: places on a folded axis, lanes, hostile names,
 * the data of its script. `test_page --write FILE N` writes a page of N cycles to look at.
 */
#include "analysis/resume.h"
#include "report/page.h"
#include "pagemade.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static void axis_there_and_back(void **state)
{
	struct ww_page_axis a = {.lo = 0, .hi = 1000 * MS, .f0 = 300 * MS, .f1 = 800 * MS};
	double before = -1;

	(void)state;
	for (int folded = 0; folded < 2; folded++) {
		a.folded = folded;
		before = -1;
		for (int i = 0; i <= 1000; i++) {
			int64_t t = i * MS;
			double u = ww_page_u(&a, t);

			assert_true(u > before && u >= 0 && u <= 1 + 1e-12);
			assert_true(llabs(ww_page_t(&a, u) - t) <= 2);
			before = u;
		}
	}
	assert_true(fabs(ww_page_u(&a, a.f1) - ww_page_u(&a, a.f0) - WW_PAGE_FOLD) < 1e-9);
	/* Twice as long a sleep moves nothing. */
	before = ww_page_u(&a, a.f0);
	a.f1 += 500 * MS;
	a.hi += 500 * MS;
	assert_true(fabs(ww_page_u(&a, a.f0) - before) < 1e-9);
}

static void a_clock_that_stood_still(void **state)
{
	struct ww_page p;
	const struct ww_page_axis *a;

	(void)state;
	make_page(&p, 1);
	a = &p.cycle[0].axis;
	assert_true(a->folded && a->f0 == a->f1 && a->zero == a->f1);
	assert_true(ww_page_u(a, a->f0 + 1) - ww_page_u(a, a->f0) > WW_PAGE_FOLD - 1e-6);
	ww_page_free(&p);
}

/* Tasks stood still for long, but what happened meanwhile is no sleep to be folded away. */
static void a_refused_one_did_not_sleep(void **state)
{
	struct ww_resume r = {0};
	struct ww_page p = {.r = &r};
	struct ww_cycle_out out = ww_cycle_blank(1);
	struct ww_page_cycle c = {.out = &out};

	(void)state;
	out.c.event[WW_EV_REQUEST] = exactly(0);
	out.c.event[WW_EV_LAST_BEAT] = exactly(20 * MS);
	out.c.event[WW_EV_FIRST_BEAT] = exactly(700 * MS);
	out.c.event[WW_EV_STEADY] = exactly(720 * MS);
	out.c.result = WW_RES_OK;
	ww_page_axis_make(&p, 0, &c);
	assert_true(c.axis.folded);
	out.c.result = WW_RES_REFUSED;
	ww_page_axis_make(&p, 0, &c);
	assert_false(c.axis.folded);
	ww_cycle_out_free(&out);
}

static void no_two_in_a_lane(void **state)
{
	struct ww_page p;
	const struct ww_page_cycle *c;
	size_t seen = 0;

	(void)state;
	make_page(&p, 1);
	c = &p.cycle[0];
	assert_true(c->lanes > 3 && c->lanes < 40);
	for (size_t i = 0; i < c->pm->devices; i++)
		for (size_t k = 0; k < i; k++) {
			if (c->lane[i] != c->lane[k])
				continue;
			seen++;
			assert_true(c->start[i] >= c->end[k] || c->start[k] >= c->end[i]);
		}
	assert_true(seen > 0);
	ww_page_free(&p);
}

static void failures_and_the_typical(void **state)
{
	struct ww_page p;

	(void)state;
	make_page(&p, 40);
	assert_int_equal(p.bad, 3); /* cycles 3, 20, 37 */
	assert_int_equal(p.good, 37);
	assert_true(p.main == WW_PAGE_RESUME);
	assert_true(p.has_typical && p.chosens == 4);
	assert_false(p.cycle[p.chosen[0]].bad);
	for (size_t k = 1; k < 4; k++)
		assert_true(p.cycle[p.chosen[k]].bad);
	assert_string_equal(p.sum.device[0].name, "latethaw.0");
	assert_int_equal(p.sum.device[0].ms.n, 40);
	ww_page_free(&p);
}

/* The text of a page. */
static char *written(struct ww_page *p)
{
	FILE *f = tmpfile();
	struct ww_error err = {0};
	char *text;
	long n;

	if (!f || ww_page_write(p, fileno(f), &err) < 0)
		fail_msg("%s", err.text);
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	text = malloc((size_t)n + 1);
	assert_int_equal(fread(text, 1, (size_t)n, f), n);
	text[n] = '\0';
	fclose(f);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
		n++;
	return n;
}

static void hostile_names(void **state)
{
	struct ww_page p;
	char *text;

	(void)state;
	make_page(&p, 5);
	text = written(&p);
	assert_int_equal(count(text, "<script"), 2); /* data, script */
	assert_int_equal(count(text, "</script"), 2);
	assert_int_equal(count(text, "<!--"), 0);
	assert_int_equal(count(text, "alert(1)"), count(text, "&lt;script&gt;alert(1)") +
							  count(text, "\\u003cscript>alert(1)"));
	assert_int_equal(count(text, "<b>x"), 0);
	assert_int_equal(count(text, "\x01"), 0);
	assert_int_equal(count(text, "\xff"), 0);
	assert_int_equal(count(text, "\xe2\x80\xae"), 0); /* turns what follows around */
	assert_int_equal(count(text, "://"), 0);
	assert_true(count(text, "Content-Security-Policy") == 1);
	free(text);
	ww_page_free(&p);
}

static void no_cycle_at_all(void **state)
{
	struct ww_page p;
	char *text;

	(void)state;
	make_page(&p, 0);
	text = written(&p);
	assert_true(count(text, "0 suspend/resume cycles") > 0);
	assert_int_equal(count(text, "nan"), 0);
	free(text);
	ww_page_free(&p);
}

static int write_to(const char *path, int cycles)
{
	struct ww_error err = {0};
	struct ww_page p;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644), rc;

	if (fd < 0)
		return 1;
	make_page(&p, (uint32_t)cycles);
	rc = ww_page_write(&p, fd, &err);
	close(fd);
	ww_page_free(&p);
	return rc < 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axis_there_and_back),
		cmocka_unit_test(a_clock_that_stood_still),
		cmocka_unit_test(a_refused_one_did_not_sleep),
		cmocka_unit_test(no_two_in_a_lane),
		cmocka_unit_test(failures_and_the_typical),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(no_cycle_at_all),
	};

	if (argc == 4 && strcmp(argv[1], "--write") == 0)
		return write_to(argv[2], (int)strtol(argv[3], NULL, 10));
	return cmocka_run_group_tests(tests, NULL, NULL);
}

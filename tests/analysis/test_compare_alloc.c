/* SPDX-License-Identifier: MIT */
/* Each allocation of a comparison, of its parsers and its report fails once. */
#include "fakeruns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static const char LIST[] = "variant;energy (J)\nA;100.2\nB;98.9\nA;101\nB;99.6\nA;99.8\nB;98.8\n"
			   "A;100.5\nB;failed\nC;99\nC;99.1\nC;98.7\nC;120\nC;99.2\nC;98.9\n";
static const char JSON[] = "{\"results\": [{\"command\": \"a\", \"times\": [1, 2, 1.5, 3],"
			   "\"exit_codes\": [0, 1, 0, 0]}, {\"command\": \"b\", \"times\":"
			   "[2, 2.5, 1, 0.5], \"mean\": {}}]}";

static int whole(const char *text, size_t n, int32_t pairing, int form, char **out,
		 struct ww_error *err)
{
	struct ww_numbers_options o = {.size = sizeof(o), .name = "list"};
	struct ww_compare_options co = {.size = sizeof(co), .pairing = pairing, .offset_u = 0.1};
	struct ww_compare_set set[3] = {{NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0}};
	const struct ww_numbers_group *g;
	struct ww_numbers *x = NULL;
	struct ww_compare *c = NULL;
	size_t sets = 0;
	int rc = ww_numbers_parse(text, n, &o, &x, err);

	for (; rc == 0 && (g = ww_numbers_at(x, sets)); sets++) {
		set[sets].variant = g->label;
		set[sets].measure = "energy";
		set[sets].unit = g->unit;
		set[sets].value = g->value;
		set[sets].when = g->when;
		set[sets].n = pairing == WW_PAIR_YES ? 4 : g->n;
	}
	if (rc == 0)
		rc = ww_compare_new(set, sets, &co, &c, err);
	if (rc == 0)
		rc = ww_compare_report(c, form, out, err);
	ww_compare_free(c);
	ww_numbers_free(x);
	return rc;
}

/* Without a text: the runs of a trace. */
static int any(const char *text, size_t n, int32_t pairing, int form, char **out,
	       struct ww_error *err)
{
	const struct ww_runs *runs[1];
	struct ww_compare *c = NULL;
	struct fake f;
	int rc;

	if (text)
		return whole(text, n, pairing, form, out, err);
	fake_init(&f);
	runs[0] = &f.runs;
	rc = ww_compare_runs(runs, NULL, 1, NULL, &c, err);
	if (rc == 0)
		rc = ww_compare_report(c, form, out, err);
	ww_compare_free(c);
	return rc;
}

static void each(const char *text, size_t len, int32_t pairing)
{
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++) {
		struct ww_error err = {0};
		char *want = NULL, *out = NULL;
		int n = 0, rc = -ENOMEM;

		if (any(text, len, pairing, form, &want, &err) < 0)
			fail_msg("%s", err.text);
		for (; rc < 0; n++) {
			struct ww_error e = {0};

			assert_true(n < 10000);
			out = NULL;
			left = n;
			rc = any(text, len, pairing, form, &out, &e);
			left = -1;
			assert_true(rc == 0 || rc == -ENOMEM);
			assert_int_equal(e.code, rc);
			assert_true(rc == 0 || (out == NULL && e.text[0]));
		}
		assert_true(n > 100);
		assert_string_equal(out, want);
		ww_free(out);
		ww_free(want);
	}
}

static void test_list(void **state)
{
	(void)state;
	each(LIST, sizeof(LIST) - 1, WW_PAIR_AUTO);
}

static void test_json(void **state)
{
	(void)state;
	each(JSON, sizeof(JSON) - 1, WW_PAIR_YES);
}

static void test_runs(void **state)
{
	(void)state;
	each(NULL, 0, WW_PAIR_AUTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_list), cmocka_unit_test(test_json),
					   cmocka_unit_test(test_runs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

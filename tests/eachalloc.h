/* SPDX-License-Identifier: MIT */
/*
 * Each allocation of an analysis and of its report fails once: it is said, and the same
 * text comes once none fails. To be included after `left` and failalloc.h.
 */
#ifndef TESTS_EACHALLOC_H
#define TESTS_EACHALLOC_H

/* Analysis and report of a trace in one. */
typedef int whole_fn(struct ww_trace *t, int form, char **out, struct ww_error *err);

/* @param least  so many allocations there are at least */
static void fail_each(struct ww_trace *t, whole_fn *call, int form, int least)
{
	char *want = NULL, *out = NULL;
	int n = 0, rc = -ENOMEM;

	OK(call(t, form, &want, err));
	for (; rc < 0; n++) {
		struct ww_error e = {0};

		assert_true(n < 20000);
		out = NULL;
		left = n;
		rc = call(t, form, &out, &e);
		left = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_int_equal(e.code, rc);
		assert_true(rc == 0 || (out == NULL && e.text[0]));
	}
	assert_true(n > least);
	assert_string_equal(out, want);
	ww_free(out);
	ww_free(want);
}

#endif

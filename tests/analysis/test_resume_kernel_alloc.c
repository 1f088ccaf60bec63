/* SPDX-License-Identifier: MIT */
/* Each allocation of a recording with a console and a text beside it fails once. */
#include "ksim.h"
#include "base/base.h"

static int left = -1;
static int calls;

static bool fails(void)
{
	calls++;
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static struct ksim k;

static void make(struct sim_trace *tr, char *path, size_t size)
{
	struct sim s;
	FILE *out;

	ksim_init(&k, &s);
	s.period = 50 * MS;
	ksim_idle(&k, k.t + 3 * S);
	ksim_suspend(&k, k.t, 1500, 0);
	ksim_idle(&k, k.t + 3 * S);
	s.end = k.t;
	ksim_open(&k, tr, 1, 1);
	sim_close(tr);
	snprintf(path, size, "%s/wwtext.txt", scratch());
	out = fopen(path, "w");
	assert_non_null(out);
	for (size_t i = 0; i < k.n; i++)
		fprintf(out, "[%5lld.%06lld] %s\n", (long long)(k.line[i].stamp / S),
			(long long)(k.line[i].stamp % S / 1000), k.line[i].text);
	fclose(out);
}

static int whole(struct ww_trace *t, const char *path, struct ww_error *err)
{
	struct ww_resume *r = NULL;
	struct ww_text *text = NULL;
	int rc = ww_resume_new(t, NULL, &r, err);

	if (rc >= 0)
		rc = ww_text_open(path, &text, err);
	if (rc >= 0) {
		rc = ww_resume_add_text(r, &text, 1, NULL, err);
		if (rc >= 0)
			assert_int_equal(rc, 1);
	}
	if (rc >= 0)
		assert_non_null(ww_resume_kernel(r, 0));
	ww_text_close(text);
	ww_resume_free(r);
	return rc;
}

static void each_fails_once(void **state)
{
	struct ww_error err = {0};
	struct sim_trace tr;
	struct ww_trace *t;
	char path[128];
	int all, step;

	(void)state;
	make(&tr, path, sizeof(path));
	assert_int_equal(ww_trace_open(tr.path, &t, &err), 0);
	assert_int_equal(whole(t, path, &err), 1);
	calls = 0;
	assert_int_equal(whole(t, path, &err), 1);
	all = calls;
	step = 1;
	for (int i = 0; i < all; i += step) {
		int rc;

		ww_error_clear(&err);
		left = i;
		rc = whole(t, path, &err);
		left = -1;
		/* A remembered string that finds no room is only not remembered. */
		if (rc != -ENOMEM && rc != 1)
			fail_msg("allocation %d of %d: %d %s", i, all, rc, err.text);
		assert_true(rc == 1 || err.text[0] != 0);
	}
	ww_trace_close(t);
	unlink(tr.path);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Each allocation of a page fails once: it is said, nothing leaks, and the page comes after all. */
#include "base/base.h"

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "pagemade.h"
#include "../failalloc.h"

#include <fcntl.h>
#include <unistd.h>

static int whole(int fd, struct made *m, struct ww_error *err)
{
	struct ww_page p;
	int rc = make_page_or(&p, 2, m, err);

	if (rc >= 0)
		rc = ww_page_write(&p, fd, err);
	ww_page_free(&p);
	return rc;
}

static void each_allocation(void **state)
{
	struct made *m = malloc(sizeof(*m));
	int fd = open("/dev/null", O_WRONLY), n = 0, rc = -ENOMEM;

	(void)state;
	assert_true(m && fd >= 0);
	for (; rc < 0; n++) {
		struct ww_error e = {0};

		assert_true(n < 5000);
		left = n;
		rc = whole(fd, m, &e);
		left = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_int_equal(e.code, rc);
	}
	assert_true(n > 100);
	free(m);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

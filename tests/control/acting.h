/* SPDX-License-Identifier: MIT */
/* What the tests of actions share: made, run to the end, refused. */
#ifndef TESTS_CONTROL_ACTING_H
#define TESTS_CONTROL_ACTING_H

#include "control/action.h"
#include "bus/usbfind.h"
#include "fakelines.h"

#include <poll.h>

static char root[24] = "/tmp/ww-act-XXXXXX";

const char *ww_usb_root(void)
{
	return root;
}

/* Until it is over. @return of the last dispatch */
static inline int through(struct ww_action *a, struct ww_error *err)
{
	int64_t end = ww_clock_now_ns() + 20 * WW_NS_PER_S;
	struct pollfd p = {.fd = ww_action_fd(a), .events = POLLIN};
	int rc = ww_action_start(a, err);

	while (rc >= 0 && (rc = ww_action_dispatch(a, err)) > 0) {
		assert_true(ww_clock_now_ns() < end);
		poll(&p, 1, 1000);
	}
	return rc;
}

static inline struct ww_action *make(const char *text)
{
	struct ww_error err = {0};
	struct ww_action *a;

	if (ww_action_new(text, &a, &err) < 0)
		fail_msg("%s", err.text);
	return a;
}

static inline void refused(const char *text, int code, const char *words)
{
	struct ww_error err = {0};
	struct ww_action *a;

	assert_int_equal(ww_action_new(text, &a, &err), code);
	assert_null(a);
	if (!strstr(err.text, words))
		fail_msg("%s: '%s' does not have '%s'", text, err.text, words);
}

static inline bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static inline int setup(void **state)
{
	(void)state;
	fake_init();
	return mkdtemp(root) ? 0 : -1;
}

static inline int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

#endif

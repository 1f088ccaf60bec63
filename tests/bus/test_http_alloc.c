/* SPDX-License-Identifier: MIT */
/* Each allocation on the way to a web server's answer fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "bus/port.h"

static int left = -1;
static int calls;

static bool fails(void)
{
	calls++;
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"
#include "httpserver.h"

static struct httpserver server;
static char text[128];
static int answers;

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	(void)ctx;
	(void)t;
	answers++;
	snprintf(text, sizeof(text), "%.*s", (int)n, (const char *)data);
}

static void on_lost(void *ctx, const struct ww_error *err)
{
	(void)ctx;
	fail_msg("lost: %s", err->text);
}

/* Open, ask twice, close. The first error, or 0. */
static int whole(struct ww_loop *l, struct ww_uri *u, struct ww_error *err)
{
	static const char *const request[] = {"GET /chunked", "POST /echo\n{\"a\":1}"};
	const struct ww_port_setup s = {.loop = l,
					.place = u->place,
					.options = u,
					.ev = {.bytes = on_bytes, .lost = on_lost}};
	struct ww_port *p = NULL;
	int rc = ww_port_open_setup(&s, &p, err);

	for (int i = 0; rc == 0 && i < 2; i++) {
		int64_t end = ww_clock_now_ns() + 10 * WW_NS_PER_S;

		answers = 0;
		rc = ww_port_write(p, request[i], strlen(request[i]), err);
		while (rc == 0 && !answers && ww_clock_now_ns() < end) {
			struct pollfd f = {.fd = ww_loop_fd(l), .events = POLLIN};

			poll(&f, 1, 100);
			assert_int_equal(ww_loop_dispatch(l, NULL), 0);
		}
		if (rc == 0) {
			assert_int_equal(answers, 1);
			assert_true(strncmp(text, "200\n", 4) == 0 || strncmp(text, "0\n", 2) == 0);
		}
	}
	ww_port_close(p);
	return rc;
}

static void test_each(void **state)
{
	struct ww_error err = {0};
	struct ww_loop *l;
	struct ww_uri u;
	char place[64];
	int n;

	(void)state;
	snprintf(place, sizeof(place), "x:http://127.0.0.1:%d?password=secret", server.port);
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	assert_int_equal(ww_uri_parse(place, &u, NULL), 0);
	calls = 0;
	assert_int_equal(whole(l, &u, &err), 0);
	assert_string_equal(text, "200\n{\"a\":1}");
	n = calls;
	assert_true(n > 6);
	for (int i = 0; i < n; i++) {
		struct ww_error e = {0};
		int rc;

		left = i;
		rc = whole(l, &u, &e);
		left = -1;
		if (rc != 0)
			assert_true(rc == -ENOMEM && e.text[0]);
	}
	ww_uri_free(&u);
	ww_loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each)};
	int rc;

#ifndef WW_WITH_CURL
	puts("1..0 # SKIP built without libcurl");
	return 0;
#endif
	hs_start(&server, 0, true);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	hs_stop(&server);
	return rc;
}

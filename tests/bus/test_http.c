/* SPDX-License-Identifier: MIT */
/* Web servers of all kinds: right, wrong, slow, endless, gone and back. */
#include "bus/port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "httpserver.h"

static struct httpserver server;

struct web {
	struct ww_loop *loop;
	struct ww_port *port;
	struct ww_interval t;
	char text[128]; /* beginning of the last answer */
	size_t n;	/* its length */
	unsigned answers, lost;
	bool ask_again, close;
};

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct web *w = ctx;

	assert_true(t.lo_ns <= t.hi_ns);
	w->t = t;
	w->n = n;
	snprintf(w->text, sizeof(w->text), "%.*s", (int)n, (const char *)data);
	w->answers++;
	if (w->ask_again && w->answers == 1)
		assert_int_equal(ww_port_write(w->port, "GET /ok", 7, NULL), 0);
	if (w->close) {
		ww_port_close(w->port);
		w->port = NULL;
	}
}

static void on_lost(void *ctx, const struct ww_error *err)
{
	(void)err;
	((struct web *)ctx)->lost++;
}

static int web_open(struct web *w, const char *host, const char *options, struct ww_error *err)
{
	struct ww_port_setup s = {.ev = {.ctx = w, .bytes = on_bytes, .lost = on_lost}};
	char text[256];
	struct ww_uri u;
	int rc;

	*w = (struct web){0};
	if (host)
		snprintf(text, sizeof(text), "x:%s%s", host, options);
	else
		snprintf(text, sizeof(text), "x:http://127.0.0.1:%d%s", server.port, options);
	assert_int_equal(ww_loop_new(NULL, &w->loop, NULL), 0);
	assert_int_equal(ww_uri_parse(text, &u, NULL), 0);
	s.loop = w->loop;
	s.place = u.place;
	s.options = &u;
	rc = ww_port_open_setup(&s, &w->port, err);
	ww_uri_free(&u);
	return rc;
}

static void web_close(struct web *w)
{
	ww_port_close(w->port);
	ww_loop_free(w->loop);
}

static void run_until(struct web *w, unsigned answers)
{
	int64_t end = ww_clock_now_ns() + 10 * WW_NS_PER_S;

	while (w->answers < answers && ww_clock_now_ns() < end) {
		struct pollfd p = {.fd = ww_loop_fd(w->loop), .events = POLLIN};

		poll(&p, 1, 100);
		assert_int_equal(ww_loop_dispatch(w->loop, NULL), 0);
	}
	assert_int_equal(w->answers, answers);
}

static const char *ask(struct web *w, const char *request)
{
	assert_int_equal(ww_port_write(w->port, request, strlen(request), NULL), 0);
	run_until(w, w->answers + 1);
	return w->text;
}

static void test_right(void **state)
{
	struct web w;
	int64_t before;

	(void)state;
	assert_int_equal(web_open(&w, NULL, "", NULL), 0);
	assert_string_equal(ask(&w, "GET /ok"), "200\n\"question 1\"");
	/* The same connection, and the time is that of the question, not of the connection. */
	before = ww_clock_now_ns();
	assert_string_equal(ask(&w, "GET /ok"), "200\n\"question 2\"");
	assert_true(w.t.lo_ns >= before && w.t.hi_ns <= ww_clock_now_ns());
	before = ww_clock_now_ns();
	assert_string_equal(ask(&w, "GET /slow"), "200\nslow");
	assert_true(w.t.hi_ns - w.t.lo_ns >= 200 * WW_NS_PER_MS && w.t.lo_ns >= before);
	assert_string_equal(ask(&w, "GET /chunked"), "200\nhello!");
	assert_string_equal(ask(&w, "POST /echo\n{\"a\":1}"), "200\n{\"a\":1}");
	assert_string_equal(ask(&w, "GET /500"), "500\nbroken");
	assert_string_equal(ask(&w, "GET /none"), "404\n");
	assert_int_equal(w.lost, 0);
	web_close(&w);
}

static void test_from_inside(void **state)
{
	struct web w;

	(void)state;
	assert_int_equal(web_open(&w, NULL, "", NULL), 0);
	w.ask_again = true;
	assert_int_equal(ww_port_write(w.port, "GET /ok", 7, NULL), 0);
	run_until(&w, 2);
	assert_string_equal(w.text, "200\n\"question 2\"");
	w.close = true;
	assert_int_equal(ww_port_write(w.port, "GET /ok", 7, NULL), 0);
	run_until(&w, 3);
	assert_null(w.port);
	web_close(&w);
}

static void test_refusals(void **state)
{
	static const char *const bad[] = {"PUT /x", "GET", "", "POST /x", "GET /a\0b"};
	struct ww_error err = {0};
	struct web w;

	(void)state;
	assert_int_equal(web_open(&w, NULL, "", NULL), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(ww_port_write(w.port, bad[i], strlen(bad[i]), NULL), -EINVAL);
	assert_int_equal(ww_port_write(w.port, bad[4], 8, NULL), -EINVAL);
	assert_int_equal(ww_port_write(w.port, "GET /slow", 9, NULL), 0);
	assert_int_equal(ww_port_write(w.port, "GET /slow", 9, &err), -EBUSY);
	/* Closed while it waits for an answer. */
	web_close(&w);
	for (size_t i = 0; i < 4; i++) {
		static const char *const url[] = {"http://", "ftp://x", "http://a b",
						  "http://admin:geheim@127.0.0.1"};

		memset(&err, 0, sizeof(err));
		if (i == 1)
			continue;
		assert_int_equal(web_open(&w, url[i], "", &err), -EINVAL);
		assert_null(strstr(err.text, "geheim"));
		web_close(&w);
	}
	assert_int_equal(web_open(&w, NULL, "?timeout=1h", &err), -EINVAL);
	web_close(&w);
}

/* Whatever comes, it ends in time with a sentence, and the next question is answered. */
static void test_wrong(void **state)
{
	static const struct {
		const char *request, *starts;
	} row[] = {
		{"GET /never", "0\nOperation timed out"},
		{"GET /drip", "0\nOperation timed out"},
		{"GET /huge", "0\nits answer is longer than 65536 bytes"},
		{"GET /headers", "0\nits answer is longer than"},
		{"GET /badchunk", "0\n"},
		{"GET /garbage", "0\nwhat answers there is no web server"},
		{"GET /early", "0\n"},
		{"GET /loop", "0\nit sends us on (302) to http://127.0.0.1:"},
		{"GET /digest", "401\n"},
	};
	struct web w;

	(void)state;
	assert_int_equal(web_open(&w, NULL, "?timeout=400ms", NULL), 0);
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		int64_t begun = ww_clock_now_ns();
		const char *got = ask(&w, row[i].request);

		if (strncmp(got, row[i].starts, strlen(row[i].starts)) != 0 || w.n < 4)
			fail_msg("%s: %s", row[i].request, got);
		assert_true(ww_clock_now_ns() - begun < 5 * WW_NS_PER_S);
		assert_string_equal(ask(&w, "GET /none"), "404\n");
	}
	assert_int_equal(w.lost, 0);
	web_close(&w);
}

static void test_login(void **state)
{
	struct web w;

	(void)state;
	assert_int_equal(web_open(&w, NULL, "?password=secret", NULL), 0);
	/* The first question is asked twice, the next ones once, signed at once. */
	assert_string_equal(ask(&w, "GET /digest"), "200\n\"question 2\"");
	assert_string_equal(ask(&w, "GET /digest"), "200\n\"question 3\"");
	assert_string_equal(ask(&w, "GET /basic"), "200\n");
	web_close(&w);
	assert_int_equal(web_open(&w, NULL, "?user=admin&password=wrong", NULL), 0);
	assert_string_equal(ask(&w, "GET /digest"), "401\n");
	assert_string_equal(ask(&w, "GET /basic"), "401\n");
	assert_null(strstr(ww_port_transport(w.port)->settings, "wrong"));
	web_close(&w);
}

static void test_gone_and_back(void **state)
{
	struct httpserver other;
	struct web w;
	char host[64];

	(void)state;
	hs_start(&other, 0, true);
	snprintf(host, sizeof(host), "http://127.0.0.1:%d/", other.port);
	assert_int_equal(web_open(&w, host, "?timeout=300ms", NULL), 0);
	assert_string_equal(ask(&w, "GET /ok"), "200\n\"question 1\"");
	hs_stop(&other);
	assert_memory_equal(ask(&w, "GET /ok"), "0\n", 2);
	assert_memory_equal(ask(&w, "GET /ok"), "0\nFailed to connect", 19);
	assert_non_null(strstr(w.text, ": Connection refused"));
	assert_null(strstr(w.text, " ms"));
	hs_start(&other, other.port, true);
	assert_string_equal(ask(&w, "GET /ok"), "200\n\"question 1\"");
	hs_stop(&other);
	/* One that takes the connection and says nothing. */
	hs_start(&other, other.port, false);
	assert_memory_equal(ask(&w, "GET /ok"), "0\nOperation timed out", 20);
	hs_stop(&other);
	assert_int_equal(w.lost, 0);
	web_close(&w);
	/* A name that there is not. */
	assert_int_equal(web_open(&w, "http://no-such-host.invalid", "", NULL), 0);
	assert_memory_equal(ask(&w, "GET /"), "0\nCould not resolve host", 23);
	web_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),	 cmocka_unit_test(test_from_inside),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_login),	 cmocka_unit_test(test_gone_and_back),
	};
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

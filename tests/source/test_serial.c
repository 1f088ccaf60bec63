/* SPDX-License-Identifier: MIT */
/* Serial lines and GPIO lines as sources: what they say of themselves, and their bytes. */
#include "source/source.h"

#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

struct sink {
	int described, lost;
	char driver[16], role[16], transport[16], uri[128];
	int32_t kind;
	size_t channels, n;
	uint8_t data[64];
	struct ww_interval t;
};

static int on_describe(void *ctx, const struct ww_source_info *i, const struct ww_channel_info *ch,
		       size_t n, struct ww_error *err)
{
	struct sink *s = ctx;
	const char *const all[] = {i->name,	      i->uri,
				   i->driver,	      i->model,
				   i->serial,	      i->firmware,
				   i->role,	      i->notes,
				   i->transport.name, i->transport.settings};

	(void)ch;
	(void)err;
	for (size_t k = 0; k < WW_COUNTOF(all); k++)
		assert_non_null(all[k]);
	s->described++;
	s->kind = i->kind;
	s->channels = n;
	snprintf(s->driver, sizeof(s->driver), "%s", i->driver);
	snprintf(s->role, sizeof(s->role), "%s", i->role);
	snprintf(s->uri, sizeof(s->uri), "%s", i->uri);
	snprintf(s->transport, sizeof(s->transport), "%s", i->transport.name);
	return 0;
}

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct sink *s = ctx;

	assert_true(s->n + n <= sizeof(s->data));
	memcpy(s->data + s->n, data, n);
	s->n += n;
	s->t = t;
}

static void on_lost(void *ctx, const struct ww_error *why)
{
	struct sink *s = ctx;

	assert_true(why->text[0]);
	s->lost++;
}

static int open_uri(const struct ww_driver *d, struct ww_loop *l, const char *text, struct sink *s,
		    struct ww_source **out, struct ww_error *err)
{
	struct ww_source_setup setup = {.loop = l, .uri = text};
	struct ww_uri uri;
	int rc;

	memset(s, 0, sizeof(*s));
	ww_error_clear(err);
	setup.sink.ctx = s;
	setup.sink.describe = on_describe;
	setup.sink.bytes = on_bytes;
	setup.sink.lost = on_lost;
	assert_int_equal(ww_uri_parse(text, &uri, NULL), 0);
	rc = d->open(&setup, &uri, out, err);
	ww_uri_free(&uri);
	return rc;
}

static void turn(struct ww_loop *l, const struct sink *s, size_t n)
{
	int64_t end = ww_clock_now_ns() + 10 * WW_NS_PER_S;
	struct pollfd p = {.fd = ww_loop_fd(l), .events = POLLIN};

	while (s->n < n && !s->lost) {
		assert_true(ww_clock_now_ns() < end);
		poll(&p, 1, 100);
		assert_int_equal(ww_loop_dispatch(l, NULL), 0);
	}
}

/* A bare path, an explicit driver: the same source. Unplugged at the end. */
static void test_tty(void **state)
{
	static const char *const form[] = {"%s", "tty:%s?baud=9600&role=heartbeat"};
	struct ww_error err = {0};
	struct ww_loop *l;
	struct sink s;

	(void)state;
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	for (int i = 0; i < 2; i++) {
		struct ww_source *src = NULL;
		int64_t max, p99, before;
		char name[64], uri[128];
		int master, slave;

		assert_int_equal(openpty(&master, &slave, name, NULL, NULL), 0);
		snprintf(uri, sizeof(uri), i ? form[1] : form[0], name);
		assert_int_equal(open_uri(&ww_source_serial_tty, l, uri, &s, &src, &err), 0);
		assert_int_equal(s.described, 1);
		assert_int_equal(s.kind, WW_SERIAL);
		assert_int_equal(s.channels, 0);
		assert_string_equal(s.driver, "tty");
		assert_string_equal(s.transport, "pty");
		assert_string_equal(s.uri, uri);
		assert_string_equal(s.role, i ? "heartbeat" : "");
		assert_int_equal(src->ops->start(src, &err), 0);
		before = ww_clock_now_ns();
		assert_int_equal(write(master, "beat\n", 5), 5);
		turn(l, &s, 5);
		assert_memory_equal(s.data, "beat\n", 5);
		assert_true(s.t.lo_ns <= ww_clock_now_ns() && s.t.hi_ns >= before);
		src->ops->lateness(src, &max, &p99);
		assert_true(p99 <= max);
		close(master);
		turn(l, &s, 64);
		assert_int_equal(s.lost, 1);
		src->ops->close(src);
		close(slave);
	}
	ww_loop_free(l);
}

static void test_errors(void **state)
{
	static const struct {
		const struct ww_driver *d;
		const char *uri, *says;
	} rows[] = {{&ww_source_serial_tty, "/dev/ptmx?colour=blue", "colour"},
		    {&ww_source_serial_tty, "tty:/dev/no-such", "/dev/no-such"},
		    {&ww_source_serial_unix, "unix:/no/such", "/no/such"},
		    {&ww_source_serial_tcp, "tcp://x", "host:port"},
		    {&ww_source_gpio, "gpio:17", "gpiochip0/17"},
		    {&ww_source_gpio, "gpio:gpiochip0/17?bias=up", "pull-up"},
		    {&ww_source_gpio, "gpio:gpiochip0/17?edge=both", "edge"},
		    {&ww_source_gpio, "gpio:gpiochip99/0", "gpiochip99"}};
	struct ww_error err = {0};
	struct ww_loop *l;
	struct sink s;

	(void)state;
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct ww_source *src = NULL;
		int rc = open_uri(rows[i].d, l, rows[i].uri, &s, &src, &err);

		assert_true(rc < 0);
		assert_int_equal(err.code, rc);
		assert_null(src);
		assert_int_equal(s.described, 0);
		if (!strstr(err.text, rows[i].says))
			print_message("# %s\n", err.text);
		assert_non_null(strstr(err.text, rows[i].says));
	}
	ww_loop_free(l);
}

static void test_list(void **state)
{
	struct ww_list *l = NULL;

	(void)state;
	assert_int_equal(ww_list_new(&l, NULL), 0);
	for (size_t i = 0; ww_list_at(l, i); i++) {
		const struct ww_found *f = ww_list_at(l, i);

		assert_true(f->uri && f->detail && f->hint && *f->what);
		/* Virtual consoles are not serial ports. */
		assert_int_not_equal(strncmp(f->uri, "/dev/tty0", 9), 0);
	}
	ww_list_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tty),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Any driver on any port: a driver that does what the bytes say, on a port that the test is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "bus/port.h"
#include "sinklog.h"
#include "fakemeter.h"

#define T0 (1000 * WW_NS_PER_S)

static struct {
	struct ww_port_events ev;
	struct ww_transport transport;
	struct ww_str sent; /* messages, a line each */
	const char *listing;
	char place[64];
	int open, flushed;
	bool connecting, full;
} port;

#define THE_PORT ((struct ww_port *)(void *)&port)

int __wrap_ww_port_open_setup(const struct ww_port_setup *s, struct ww_port **out,
			      struct ww_error *err);
int __wrap_ww_port_write(struct ww_port *p, const void *data, size_t n, struct ww_error *err);
const char *__wrap_ww_port_listing(const struct ww_port *p, size_t *n);
bool __wrap_ww_port_ready(const struct ww_port *p);
void __wrap_ww_port_flush(struct ww_port *p);
void __wrap_ww_port_close(struct ww_port *p);
const struct ww_transport *__wrap_ww_port_transport(const struct ww_port *p);

int __wrap_ww_port_open_setup(const struct ww_port_setup *s, struct ww_port **out,
			      struct ww_error *err)
{
	(void)err;
	port.ev = s->ev;
	port.open++;
	snprintf(port.place, sizeof(port.place), "%s", s->place);
	*out = THE_PORT;
	return 0;
}

int __wrap_ww_port_write(struct ww_port *p, const void *data, size_t n, struct ww_error *err)
{
	assert_ptr_equal(p, THE_PORT);
	if (port.full)
		return ww_fail(err, -ENOBUFS, "/dev/fake: takes no bytes");
	ww_str_addn(&port.sent, data, n);
	ww_str_add(&port.sent, "\n");
	return 0;
}

const char *__wrap_ww_port_listing(const struct ww_port *p, size_t *n)
{
	assert_ptr_equal(p, THE_PORT);
	*n = port.listing ? strlen(port.listing) : 0;
	return port.listing;
}

bool __wrap_ww_port_ready(const struct ww_port *p)
{
	assert_ptr_equal(p, THE_PORT);
	return !port.connecting;
}

void __wrap_ww_port_flush(struct ww_port *p)
{
	assert_ptr_equal(p, THE_PORT);
	port.flushed++;
}

void __wrap_ww_port_close(struct ww_port *p)
{
	if (p)
		port.open--;
}

const struct ww_transport *__wrap_ww_port_transport(const struct ww_port *p)
{
	assert_ptr_equal(p, THE_PORT);
	return &port.transport;
}

/* ---------------------------------------------------------------- the bench */

static struct sinklog got;
static struct ww_str turns; /* letters with their time in ms and their n */
static struct ww_source *src;

static void on_turn(void *ctx, struct ww_interval t, int turn, const void *data, size_t n)
{
	struct sinklog *s = ctx;

	ww_str_addf(&turns, "%c%lld", turn, (long long)((t.hi_ns - s->t0_ns) / 1000000));
	if (n)
		ww_str_addf(&turns, ":%zu", n);
	if (data)
		ww_str_addf(&turns, "(%.*s)", (int)n, (const char *)data);
	ww_str_add(&turns, " ");
}

static void on_raw(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	(void)ctx;
	(void)t;
	ww_str_addf(&turns, "=%.*s ", (int)n, (const char *)data);
}

static int open_with(const char *uri, const char *listing, struct ww_error *err)
{
	struct ww_source_setup setup = {.uri = uri};
	struct ww_uri u;
	int rc;

	memset(&port, 0, sizeof(port));
	port.transport = (struct ww_transport){.name = "fake", .settings = ""};
	port.listing = listing;
	assert_int_equal(sl_init(&got, T0, NULL), 0);
	setup.loop = got.loop;
	setup.sink = sl_sink(&got);
	setup.sink.turn = on_turn;
	setup.sink.raw = on_raw;
	assert_int_equal(ww_uri_parse(uri, &u, NULL), 0);
	src = NULL;
	rc = ww_source_meter_open(&setup, &u, &src, err);
	ww_uri_free(&u);
	return rc;
}

static int open_meter(const char *uri, struct ww_error *err)
{
	return open_with(uri, NULL, err);
}

static void start(const char *uri)
{
	struct ww_error err = {0};

	if (open_meter(uri, &err) < 0 || src->ops->start(src, &err) < 0)
		fail_msg("%s: %s", uri, err.text);
}

static void done(void)
{
	if (src)
		src->ops->close(src);
	src = NULL;
	assert_int_equal(port.open, 0);
	ww_str_free(&port.sent);
	ww_str_free(&turns);
	sl_free(&got);
}

/* A message at this many milliseconds. */
static void say(int64_t ms, const char *text)
{
	const int64_t at = T0 + ms * WW_NS_PER_MS;

	port.ev.bytes(port.ev.ctx, (struct ww_interval){at - 1000, at}, (const uint8_t *)text,
		      strlen(text));
}

static void run_to(int64_t ms)
{
	sl_run(&got, T0 + ms * WW_NS_PER_MS - got.now_ns);
}

static int64_t code(size_t row)
{
	assert_true(row < got.n);
	return got.codes[row * SINK_CHANNELS];
}

/* -------------------------------------------------------------------- tests */

/* One send is one message, one message is one feed, and each turn is told before its raw. */
static void test_messages(void **state)
{
	(void)state;
	start("fakeweb:http://here");
	assert_string_equal(port.place, "http://here");
	say(100, "ab");
	run_to(1500);
	assert_string_equal(port.sent.p, "hello\npoll\n");
	assert_int_equal(got.n, 3);
	assert_int_equal(code(0), 'a');
	assert_int_equal(code(2), 1000);
	port.ev.trouble(port.ev.ctx, (struct ww_interval){T0, T0 + 1600 * WW_NS_PER_MS}, 3,
			"3 lost");
	assert_true(src->ops->stop(src) > 0);
	assert_int_equal(port.flushed, 1);
	assert_string_equal(port.sent.p, "hello\npoll\nbye\n");
	assert_string_equal(turns.p, "S0 F100:2 =ab T1000 P1600:6(3 lost) E1500 ");
	assert_string_equal(got.text.p, "mark 1600 device 3 lost\n");
	run_to(9000);
	assert_int_equal(got.n, 3);
	done();
}

/* Thousands in one turn come through in order, and before what is said after them. */
static void test_batches(void **state)
{
	(void)state;
	start("fake:/dev/fake");
	say(10, "?*!a?b");
	assert_int_equal(got.n, 3002);
	for (size_t i = 0; i < 3000; i++)
		assert_int_equal(code(i), i);
	assert_int_equal(code(3000), 'a');
	assert_int_equal(got.said, 3);
	assert_int_equal(got.after[0], 0);
	assert_int_equal(got.after[1], 3000);
	assert_int_equal(got.after[2], 3001);
	done();
}

/* A driver's time that falls does not end a recording: it is known less well. */
static void test_order(void **state)
{
	(void)state;
	start("fake:/dev/fake");
	say(10, "a<b");
	assert_int_equal(got.n, 3);
	assert_int_equal(got.hi[1], got.hi[0]);
	assert_true(got.lo[1] <= got.hi[1]);
	done();
}

static void test_identity(void **state)
{
	(void)state;
	start("fake:/dev/fake");
	assert_int_equal(got.describes, 1);
	say(10, "#");
	assert_int_equal(got.describes, 2);
	assert_string_equal(got.model, "model");
	done();
}

/* Told once, with the URI; nothing is given or asked after it. */
static void test_failure(void **state)
{
	(void)state;
	start("fake:/dev/fake");
	say(10, "a~b~");
	assert_true(got.lost);
	assert_string_equal(got.why, "fake:/dev/fake: nonsense came");
	assert_string_equal(got.text.p, "warn fake:/dev/fake: nonsense came\n"
					"warn fake:/dev/fake: nonsense came\n");
	got.lost = false;
	say(20, "c");
	run_to(5000);
	assert_int_equal(got.n, 2);
	assert_false(got.lost);
	assert_int_equal(src->ops->stop(src), 0);
	done();
}

static void test_port_lost(void **state)
{
	struct ww_error why = {0};

	(void)state;
	start("fake:/dev/fake");
	ww_fail(&why, -EIO, "/dev/fake: gone");
	port.ev.lost(port.ev.ctx, &why);
	assert_true(got.lost);
	assert_string_equal(got.why, "fake:/dev/fake: gone");
	got.lost = false;
	port.ev.lost(port.ev.ctx, &why);
	assert_false(got.lost);
	done();
	/* A port that takes nothing is as good as lost. */
	start("fake:/dev/fake");
	port.full = true;
	run_to(1500);
	assert_true(got.lost);
	assert_string_equal(got.why, "fake:/dev/fake: takes no bytes");
	done();
}

/* The driver's time begins when the connection stands. */
static void test_connecting(void **state)
{
	struct ww_error err = {0};

	(void)state;
	assert_int_equal(open_meter("fake:tcp://slow:502", &err), 0);
	port.connecting = true;
	assert_int_equal(src->ops->start(src, &err), 0);
	run_to(3000);
	assert_null(turns.p);
	assert_null(port.sent.p);
	port.connecting = false;
	run_to(3500);
	assert_string_equal(port.sent.p, "hello\n");
	assert_true(strncmp(turns.p, "S300", 4) == 0);
	done();
}

static void test_folder(void **state)
{
	struct ww_error err = {0};

	(void)state;
	assert_int_equal(open_meter("fakefiles:hwmon3", &err), 0);
	assert_string_equal(port.place, "files:fakefiles:hwmon3");
	assert_int_equal(got.channels, 2); /* no listing, no look */
	done();
}

/* What a folder holds decides about the channels, or refuses. */
static void test_listing(void **state)
{
	struct ww_error err = {0};

	(void)state;
	assert_int_equal(open_with("fakefiles:hwmon3", "channels=1\n", &err), 0);
	assert_int_equal(got.channels, 1);
	assert_string_equal(got.names, "power[W]");
	assert_int_equal(src->ops->start(src, NULL), 0);
	assert_string_equal(turns.p, "L0:11(channels=1\n) S0 ");
	done();
	assert_int_equal(open_with("fakefiles:hwmon3", "nothing here", &err), -ENODEV);
	assert_string_equal(err.text, "fakefiles:hwmon3: this folder has no channels");
	done();
	/* More channels than there can be. */
	ww_error_clear(&err);
	assert_true(open_with("fakefiles:hwmon3", "channels=\x7f", &err) < 0);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),   cmocka_unit_test(test_batches),
		cmocka_unit_test(test_order),	   cmocka_unit_test(test_identity),
		cmocka_unit_test(test_failure),	   cmocka_unit_test(test_port_lost),
		cmocka_unit_test(test_connecting), cmocka_unit_test(test_folder),
		cmocka_unit_test(test_listing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Names that are resolved while the loop goes on. The C library's resolver is replaced by
 * one that answers when the test wants it to, from a thread of its own, or never.
 */
#include "porttest.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include "bus/lookup.h"

static struct {
	struct gaicb *cb;
	struct sigevent done;
	int result, asked, cancelled;
	int port; /* of 127.0.0.1, what it resolves to */
	int64_t now_ns;
} fake;

int __wrap_getaddrinfo_a(int mode, struct gaicb *list[], int n, struct sigevent *done);
int __wrap_gai_error(struct gaicb *cb);
int __wrap_gai_cancel(struct gaicb *cb);
int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **out);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **out);

/* Whoever asks for a name in the loop itself would stand still. */
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **out)
{
	assert_true(hints->ai_flags & AI_NUMERICHOST);
	return __real_getaddrinfo(node, service, hints, out);
}

int __wrap_getaddrinfo_a(int mode, struct gaicb *list[], int n, struct sigevent *done)
{
	assert_int_equal(mode, GAI_NOWAIT);
	assert_int_equal(n, 1);
	fake.cb = list[0];
	fake.done = *done;
	fake.result = EAI_INPROGRESS;
	fake.asked++;
	return 0;
}

int __wrap_gai_error(struct gaicb *cb)
{
	assert_ptr_equal(cb, fake.cb);
	return fake.result;
}

int __wrap_gai_cancel(struct gaicb *cb)
{
	assert_ptr_equal(cb, fake.cb);
	fake.cancelled++;
	return EAI_NOTCANCELED;
}

static void *notify(void *unused)
{
	(void)unused;
	fake.done.sigev_notify_function(fake.done.sigev_value);
	return NULL;
}

/* The resolver is through: as the C library does it, on a thread. */
static void answer(int result)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
	char port[16];
	pthread_t t;

	snprintf(port, sizeof(port), "%d", fake.port);
	if (result == 0)
		assert_int_equal(__real_getaddrinfo("127.0.0.1", port, &hints, &fake.cb->ar_result),
				 0);
	fake.result = result;
	assert_int_equal(pthread_create(&t, NULL, notify, NULL), 0);
	pthread_join(t, NULL);
}

static void test_resolved(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_INET, SOCK_STREAM, 0), c;
	socklen_t len = sizeof(a);
	struct got g = {0};
	char b[8];

	(void)state;
	assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s, 1), 0);
	assert_int_equal(getsockname(s, (struct sockaddr *)&a, &len), 0);
	fake.port = ntohs(a.sin_port);
	assert_int_equal(got_open(&g, "tcp://meter.example:502", 16), 0);
	assert_string_equal(fake.cb->ar_name, "meter.example");
	assert_string_equal(fake.cb->ar_service, "502");
	assert_false(ww_port_ready(g.port));
	assert_int_equal(ww_port_write(g.port, "hello", 5, NULL), 0);
	for (int i = 0; i < 10; i++)
		turn(&g, 2);
	assert_int_equal(g.lost, 0);
	answer(0);
	for (int i = 0; i < 10; i++)
		turn(&g, 2);
	assert_true(ww_port_ready(g.port));
	c = accept(s, NULL, NULL);
	assert_int_equal(recv(c, b, sizeof(b), 0), 5);
	assert_int_equal(send(c, "world", 5, 0), 5);
	turn_until(&g, 5);
	assert_memory_equal(g.data, "world", 5);
	got_close(&g);
	close(c);
	close(s);
}

static void test_unknown(void **state)
{
	struct got g = {0};

	(void)state;
	assert_int_equal(got_open(&g, "tcp://nobody.example:502", 16), 0);
	turn(&g, 2);
	answer(EAI_NONAME);
	turn_until(&g, 1);
	assert_int_equal(g.lost, 1);
	assert_int_equal(g.why.code, -EHOSTUNREACH);
	assert_non_null(strstr(g.why.text, "tcp://nobody.example:502: "));
	got_close(&g);
}

/* Closed while it runs: nothing is freed under the resolver, and nothing is left. */
static void test_closed(void **state)
{
	struct got g = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		int before = fake.cancelled;

		assert_int_equal(got_open(&g, "tcp://slow.example:502", 16), 0);
		turn(&g, 2);
		got_close(&g);
		assert_int_equal(fake.cancelled, before + 1);
		assert_string_equal(fake.cb->ar_name, "slow.example");
		answer(i ? EAI_AGAIN : 0);
	}
}

static int64_t now(void *ctx)
{
	(void)ctx;
	return fake.now_ns;
}

static int anchor(void *ctx, struct ww_anchor *out)
{
	(void)ctx;
	*out = (struct ww_anchor){.boot_ns = fake.now_ns};
	return 0;
}

static void advance(void *ctx, int64_t to)
{
	(void)ctx;
	fake.now_ns = to;
}

/* A black hole ends with a sentence that names it; the loop never stood still. */
static void test_never(void **state)
{
	const struct ww_clock clock = {.now = now, .anchor = anchor, .advance = advance};
	struct got g = {.max = 16};
	struct ww_port_setup setup = {.place = "tcp://hole.example:502"};
	unsigned turns = 0;

	(void)state;
	fake.now_ns = 1000 * WW_NS_PER_S;
	assert_int_equal(ww_loop_new(&clock, &g.loop, NULL), 0);
	setup.loop = g.loop;
	setup.ev = (struct ww_port_events){.ctx = &g, .bytes = got_bytes, .lost = got_lost};
	assert_int_equal(ww_port_open_setup(&setup, &g.port, NULL), 0);
	for (; !g.lost && turns < 100000; turns++)
		assert_int_equal(ww_loop_dispatch(g.loop, NULL), 0);
	assert_int_equal(g.lost, 1);
	assert_int_equal(g.why.code, -ETIMEDOUT);
	assert_non_null(strstr(g.why.text, "hole.example:502: the name was not resolved in 10 s"));
	assert_in_range(fake.now_ns, 1010 * WW_NS_PER_S, 1011 * WW_NS_PER_S);
	ww_port_close(g.port);
	ww_loop_free(g.loop);
	answer(EAI_CANCELED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolved),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

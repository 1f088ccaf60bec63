/* SPDX-License-Identifier: MIT */
/*
 * Our Modbus against an independent peer: slaves of libmodbus, on a pseudo-terminal and
 * on a socket, are read through the real port by the drivers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sinklog.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <modbus/modbus.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <stdatomic.h>
#include <termios.h>
#include <unistd.h>

#define SEC WW_NS_PER_S

struct slave {
	modbus_t *ctx;
	modbus_mapping_t *map;
	int listen, quiet_pty;
	pthread_t thread;
	atomic_bool stop;
	atomic_int dropped; /* questions that are not answered */
	atomic_int asked;
};

static void *serve(void *arg)
{
	struct slave *s = arg;
	uint8_t q[MODBUS_TCP_MAX_ADU_LENGTH];

	while (!s->stop) {
		struct pollfd f = {.fd = s->listen, .events = POLLIN};
		int n;

		if (s->listen >= 0 && modbus_get_socket(s->ctx) < 0 && poll(&f, 1, 50) > 0)
			modbus_tcp_accept(s->ctx, &s->listen);
		if (modbus_get_socket(s->ctx) < 0)
			continue;
		n = modbus_receive(s->ctx, q);
		if (n > 0) {
			s->asked++;
			if (s->dropped > 0)
				s->dropped--;
			else
				modbus_reply(s->ctx, q, n, s->map);
		} else if (n < 0 && errno == ECONNRESET && s->listen >= 0) {
			modbus_close(s->ctx);
		}
	}
	return NULL;
}

static void begin(struct slave *s, int unit, int registers)
{
	assert_non_null(s->ctx);
	modbus_set_slave(s->ctx, unit);
	modbus_set_indication_timeout(s->ctx, 0, 100000);
	modbus_set_response_timeout(s->ctx, 0, 100000);
	s->map = modbus_mapping_new(0, 0, 0, registers);
	assert_non_null(s->map);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void end(struct slave *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
	modbus_close(s->ctx);
	modbus_free(s->ctx);
	modbus_mapping_free(s->map);
	if (s->listen >= 0)
		close(s->listen);
	if (s->quiet_pty >= 0)
		close(s->quiet_pty);
}

/* Two pseudo-terminals that are one line: what is written to one is read from the other. */
struct line {
	int a, b;
	char host[64], meter[64];
	pthread_t thread;
	atomic_bool stop;
};

static void copy(int from, int to)
{
	uint8_t buf[512];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n > 0)
		assert_int_equal(write(to, buf, (size_t)n), n);
}

static void *carry(void *arg)
{
	struct line *l = arg;

	while (!l->stop) {
		struct pollfd f[2] = {{.fd = l->a, .events = POLLIN},
				      {.fd = l->b, .events = POLLIN}};

		poll(f, 2, 50);
		if (f[0].revents & POLLIN)
			copy(l->a, l->b);
		if (f[1].revents & POLLIN)
			copy(l->b, l->a);
	}
	return NULL;
}

static int one_end(char *name, int *slave)
{
	struct termios t;
	int master;

	assert_int_equal(openpty(&master, slave, name, NULL, NULL), 0);
	tcgetattr(*slave, &t);
	cfmakeraw(&t);
	tcsetattr(*slave, TCSANOW, &t);
	return master;
}

/* Runs the loop until there are so many readings. */
static void run_for(struct ww_loop *loop, const struct sinklog *s, size_t rows)
{
	int64_t give_up = ww_clock_now_ns() + 30 * SEC;

	while (s->n < rows && !s->lost) {
		struct pollfd f = {.fd = ww_loop_fd(loop), .events = POLLIN};

		if (ww_clock_now_ns() > give_up)
			fail_msg("%zu readings in 30 s\n%s", s->n, sl_text(s));
		poll(&f, 1, 20);
		assert_true(ww_loop_dispatch(loop, NULL) >= 0);
	}
	if (s->lost)
		fail_msg("%s", s->why);
}

static struct ww_source *open_source(struct sinklog *s, struct ww_loop *loop, const char *uri)
{
	const struct ww_source_setup setup = {.loop = loop,
					      .sink = sl_sink(s),
					      .uri = uri,
					      .every_ns = 200 * WW_NS_PER_MS};
	struct ww_error err = {0};
	struct ww_source *src;

	if (ww_source_open(&setup, &src, &err) < 0 || src->ops->start(src, &err) < 0)
		fail_msg("%s", err.text);
	return src;
}

static void finish(struct sinklog *s, struct ww_source *src, struct ww_loop *loop)
{
	src->ops->stop(src);
	src->ops->close(src);
	s->loop = loop;
	sl_free(s);
}

/* 231.2 V 71.234 A 16391.1 W 1234567 Wh, as the manual's words are laid out. */
static void set_pzem(struct slave *s)
{
	static const uint16_t v[10] = {2312,
				       71234 & 0xffff,
				       71234 >> 16,
				       163911 & 0xffff,
				       163911 >> 16,
				       1234567 & 0xffff,
				       1234567 >> 16,
				       499,
				       99,
				       0};

	memcpy(s->map->tab_input_registers, v, sizeof(v));
}

static void rtu(void **unused)
{
	struct slave s = {.listen = -1, .quiet_pty = -1};
	struct line l = {0};
	struct ww_loop *loop;
	struct ww_source *src;
	struct sinklog log = {0};
	char uri[128];
	int keep[2];

	(void)unused;
	l.a = one_end(l.host, &keep[0]);
	l.b = one_end(l.meter, &keep[1]);
	assert_int_equal(pthread_create(&l.thread, NULL, carry, &l), 0);
	s.ctx = modbus_new_rtu(l.meter, 9600, 'N', 8, 1);
	assert_int_equal(modbus_connect(s.ctx), 0);
	begin(&s, 7, 10);
	set_pzem(&s);
	assert_int_equal(ww_loop_new(NULL, &loop, NULL), 0);
	snprintf(uri, sizeof(uri), "pzem004t:%s?addr=7", l.host);
	src = open_source(&log, loop, uri);
	run_for(loop, &log, 1);
	/* One question that nobody answers is no end. */
	s.dropped = 1;
	run_for(loop, &log, 2);
	assert_true(fabs(sl_value(&log, 1, 0) - 16391.1) < 1e-6);
	assert_true(fabs(sl_value(&log, 1, 1) - 231.2) < 1e-6);
	assert_true(fabs(sl_value(&log, 1, 2) - 71.234) < 1e-6);
	assert_true(fabs(sl_value(&log, 1, 3) - 1234567) < 1e-6);
	assert_string_equal(log.model, "PZEM-004T v3 or v4");
	finish(&log, src, loop);
	end(&s);
	l.stop = true;
	pthread_join(l.thread, NULL);
	close(l.a);
	close(l.b);
	close(keep[0]);
	close(keep[1]);
}

/* A port that is free now. */
static int free_port(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	close(fd);
	return ntohs(a.sin_port);
}

/* High word first; libmodbus' own function for it changed between its versions. */
static void set_float(struct slave *s, unsigned reg, float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof(u));
	s->map->tab_input_registers[reg] = (uint16_t)(u >> 16);
	s->map->tab_input_registers[reg + 1] = (uint16_t)u;
}

static void tcp(void **unused)
{
	struct slave s = {.quiet_pty = -1};
	struct ww_loop *loop;
	struct ww_source *src;
	struct sinklog log = {0};
	int port = free_port();
	char uri[128];

	(void)unused;
	s.ctx = modbus_new_tcp("127.0.0.1", port);
	s.listen = modbus_tcp_listen(s.ctx, 1);
	assert_true(s.listen >= 0);
	begin(&s, 3, 80);
	set_float(&s, 0x00, 230.5f);
	set_float(&s, 0x06, 1.25f);
	set_float(&s, 0x0c, 250.125f);
	set_float(&s, 0x46, 50.0f);
	set_float(&s, 0x48, 1.5f);
	assert_int_equal(ww_loop_new(NULL, &loop, NULL), 0);
	snprintf(uri, sizeof(uri), "sdm230:tcp://127.0.0.1:%d?addr=3&framing=tcp&timeout=300ms",
		 port);
	src = open_source(&log, loop, uri);
	run_for(loop, &log, 1);
	/* A question without an answer: the next one has another number. */
	s.dropped = 1;
	run_for(loop, &log, 2);
	assert_true(fabs(sl_value(&log, 1, 0) - 250.125) < 1e-6);
	assert_true(fabs(sl_value(&log, 1, 1) - 230.5) < 1e-6);
	assert_true(fabs(sl_value(&log, 1, 2) - 1.25) < 1e-6);
	assert_true(fabs(sl_value(&log, 1, 3) - 1500) < 1e-6);
	finish(&log, src, loop);
	end(&s);
}

/* Registers that the peer does not have: it refuses, and that is told. */
static void refused(void **unused)
{
	struct slave s = {.quiet_pty = -1};
	struct ww_loop *loop;
	struct ww_source *src;
	struct sinklog log = {0};
	int port = free_port();
	int64_t give_up = ww_clock_now_ns() + 30 * SEC;
	char uri[128];

	(void)unused;
	s.ctx = modbus_new_tcp("127.0.0.1", port);
	s.listen = modbus_tcp_listen(s.ctx, 1);
	begin(&s, 1, 4);
	assert_int_equal(ww_loop_new(NULL, &loop, NULL), 0);
	snprintf(uri, sizeof(uri), "pzem004t:tcp://127.0.0.1:%d?framing=tcp", port);
	src = open_source(&log, loop, uri);
	while (!log.lost && ww_clock_now_ns() < give_up) {
		struct pollfd f = {.fd = ww_loop_fd(loop), .events = POLLIN};

		poll(&f, 1, 20);
		ww_loop_dispatch(loop, NULL);
	}
	assert_true(log.lost);
	assert_int_equal(log.n, 0);
	assert_non_null(strstr(log.why, "unit 1 refuses to give 10 registers (exception 2"));
	finish(&log, src, loop);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rtu),
		cmocka_unit_test(tcp),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

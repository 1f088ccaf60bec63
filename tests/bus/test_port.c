/* SPDX-License-Identifier: MIT */
#include "porttest.h"
#include "bus/sysfs.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pty.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>

struct pair {
	int master, slave;
	char name[64];
};

static struct pair open_pair(void)
{
	struct pair p;

	assert_int_equal(openpty(&p.master, &p.slave, p.name, NULL, NULL), 0);
	return p;
}

static void close_pair(struct pair *p)
{
	if (p->master >= 0)
		close(p->master);
	close(p->slave);
}

/* Raw: all 256 values pass both ways, none echoed, translated or taken as a signal. */
static void test_raw_both_ways(void **state)
{
	struct pair p = open_pair();
	struct got g = {0};
	uint8_t all[256], back[256];
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	assert_int_equal(got_open(&g, p.name, 4096), 0);
	assert_string_equal(ww_port_transport(g.port)->name, "pty");
	assert_int_equal(ww_port_transport(g.port)->char_ns, 0);
	assert_non_null(strstr(ww_port_transport(g.port)->settings, "baud=115200"));
	assert_int_equal(write(p.master, all, 256), 256);
	turn_until(&g, 256);
	assert_int_equal(g.n, 256);
	assert_memory_equal(g.data, all, 256);
	assert_int_equal(ww_port_write(g.port, all, 256, NULL), 0);
	while (n < 256) {
		ssize_t k = read(p.master, back + n, sizeof(back) - n);

		assert_true(k > 0);
		n += (size_t)k;
		turn(&g, 0);
	}
	assert_memory_equal(back, all, 256);
	got_close(&g);
	close_pair(&p);
}

static void test_termios_restored(void **state)
{
	struct pair p = open_pair();
	struct got g = {0};
	/* Zeroed, for its padding is compared too. */
	struct termios before, during, after;

	(void)state;
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	assert_int_equal(tcgetattr(p.slave, &before), 0);
	before.c_lflag |= ECHO | ICANON;
	cfsetspeed(&before, B9600);
	assert_int_equal(tcsetattr(p.slave, TCSANOW, &before), 0);
	assert_int_equal(tcgetattr(p.slave, &before), 0);
	{
		char uri[96];

		snprintf(uri, sizeof(uri), "tty:%s?baud=230400", p.name);
		assert_int_equal(got_open(&g, uri, 16), 0);
	}
	assert_int_equal(tcgetattr(p.slave, &during), 0);
	assert_int_equal(during.c_lflag & (tcflag_t)(ECHO | ICANON | ISIG), 0);
	assert_int_equal(during.c_cflag & (tcflag_t)HUPCL, 0);
	assert_true(during.c_cflag & CLOCAL);
	assert_int_equal(cfgetospeed(&during), B230400);
	got_close(&g);
	assert_int_equal(tcgetattr(p.slave, &after), 0);
	assert_memory_equal(&after, &before, sizeof(after));
	close_pair(&p);
}

/* A rate outside the table needs BOTHER; a pseudo-terminal keeps what it is given. */
static void test_odd_baud(void **state)
{
	struct pair p = open_pair();
	struct got g = {0};
	char uri[96];

	(void)state;
	snprintf(uri, sizeof(uri), "tty:%s?baud=250000", p.name);
	assert_int_equal(got_open(&g, uri, 16), 0);
	assert_non_null(strstr(ww_port_transport(g.port)->settings, "baud=250000"));
	got_close(&g);
	close_pair(&p);
}

/* The second one is told who holds the port; when that one is gone it may have it. */
static void test_lock(void **state)
{
	struct pair p = open_pair();
	struct got g = {0};
	int ready[2], go[2], status;
	char b, who[32];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		int fd = open(p.name, O_RDWR | O_NOCTTY);

		close(p.slave);
		close(go[1]); /* so that it ends with a test that failed */
		if (fd < 0 || flock(fd, LOCK_EX) < 0 || write(ready[1], "x", 1) != 1 ||
		    read(go[0], &b, 1) != 1)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &b, 1), 1);
	assert_int_equal(got_open(&g, p.name, 16), -EBUSY);
	assert_non_null(strstr(g.err.text, p.name));
	snprintf(who, sizeof(who), "process %d (", (int)pid);
	assert_non_null(strstr(g.err.text, who));
	got_close(&g);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(got_open(&g, p.name, 16), 0);
	/* Ours is exclusive in turn. */
	assert_int_equal(flock(p.slave, LOCK_EX | LOCK_NB), -1);
	got_close(&g);
	assert_int_equal(flock(p.slave, LOCK_EX | LOCK_NB), 0);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
	close_pair(&p);
}

/* A child that has the far end open, and the near one too if told so; ends when *go closes. */
static pid_t bystander(const struct pair *p, bool near, bool holds, int ready, const int go[2])
{
	pid_t pid = fork();
	char b;
	int fd;

	if (pid)
		return pid;
	close(go[1]);
	close(p->slave);
	fd = open(p->name, O_RDWR | O_NOCTTY);
	if (!near)
		close(p->master);
	if (fd < 0 || (holds && ioctl(fd, TIOCEXCL) < 0) || write(ready, "x", 1) != 1)
		_exit(1);
	_exit(read(go[0], &b, 1) != 0);
}

/*
 * Others have the far end open too: the one that made the pair and keeps the near end,
 * and one that only looks on. Who locked it is named; without a lock, not the maker.
 */
static void test_who_is_in_the_way(void **state)
{
	struct pair p = open_pair();
	int ready[2], go[2];
	pid_t maker, holder;
	char b, who[64], want[48];

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	maker = bystander(&p, true, false, ready[1], go);
	assert_int_equal(read(ready[0], &b, 1), 1);
	holder = bystander(&p, false, true, ready[1], go);
	assert_int_equal(read(ready[0], &b, 1), 1);
	assert_true(ww_holder(p.name, who, sizeof(who)));
	snprintf(want, sizeof(want), "process %d (", (int)holder);
	assert_memory_equal(who, want, strlen(want));
	/* With a lock, it alone counts: here ours. */
	assert_int_equal(flock(p.slave, LOCK_EX | LOCK_NB), 0);
	assert_true(ww_holder(p.name, who, sizeof(who)));
	assert_non_null(strstr(who, "this command itself"));
	close(go[1]);
	assert_int_equal(waitpid(maker, NULL, 0), maker);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	close(go[0]);
	close(ready[0]);
	close(ready[1]);
	close_pair(&p);
}

static void test_named_twice(void **state)
{
	struct pair p = open_pair();
	struct got a = {0}, b = {0};

	(void)state;
	assert_int_equal(got_open(&a, p.name, 16), 0);
	assert_int_equal(got_open(&b, p.name, 16), -EBUSY);
	assert_non_null(strstr(b.err.text, "in use by this command itself: it is named twice"));
	got_close(&b);
	got_close(&a);
	close_pair(&p);
}

/* lost() comes once, and the port may be closed in it. */
static void test_hang_up(void **state)
{
	struct pair p = open_pair();
	struct got g = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		g.close_when_lost = i == 1;
		assert_int_equal(got_open(&g, p.name, 16), 0);
		assert_int_equal(write(p.master, "end", 3), 3);
		turn_until(&g, 3);
		close(p.master);
		turn_until(&g, 16);
		assert_int_equal(g.n, 3);
		assert_int_equal(g.lost, 1);
		assert_non_null(strstr(g.why.text, p.name));
		turn(&g, 5);
		assert_int_equal(g.lost, 1);
		if (g.port)
			assert_int_equal(ww_port_write(g.port, "x", 1, NULL), -ENODEV);
		got_close(&g);
		close(p.slave);
		p = open_pair();
	}
	close_pair(&p);
}

/* Bytes of before the opening have no time, and are not given. */
static void test_old_bytes_dropped(void **state)
{
	struct pair p = open_pair();
	struct got g = {0};
	struct termios t;

	(void)state;
	assert_int_equal(tcgetattr(p.slave, &t), 0);
	cfmakeraw(&t);
	assert_int_equal(tcsetattr(p.slave, TCSANOW, &t), 0);
	assert_int_equal(write(p.master, "old", 3), 3);
	assert_int_equal(got_open(&g, p.name, 16), 0);
	assert_int_equal(write(p.master, "new", 3), 3);
	turn_until(&g, 3);
	assert_memory_equal(g.data, "new", 3);
	got_close(&g);
	close_pair(&p);
}

static void test_open_errors(void **state)
{
	static const struct {
		const char *uri;
		int code;
		const char *says;
	} rows[] = {{"/dev/no-such-tty", -ENOENT, "pwrlog list"},
		    {"/dev/null", -ENOTTY, "not a serial port"},
		    {"unix:/no/such/socket", -ENOENT, "no such socket"},
		    {"tcp://localhost", -EINVAL, "host:port"},
		    {"tty:/dev/null?baud=0", -EINVAL, "baud"}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct got g = {0};

		assert_int_equal(got_open(&g, rows[i].uri, 16), rows[i].code);
		assert_null(g.port);
		assert_non_null(strstr(g.err.text, rows[i].says));
		got_close(&g);
	}
}

/* The other side reads nothing: 64 KiB wait, then the caller is told. */
static void test_full_queue(void **state)
{
	static const uint8_t block[16384];
	struct pair p = open_pair();
	struct got g = {0};
	int rc = 0, n;

	(void)state;
	assert_int_equal(got_open(&g, p.name, 16), 0);
	for (n = 0; n < 64 && rc == 0; n++)
		rc = ww_port_write(g.port, block, sizeof(block), &g.err);
	assert_int_equal(rc, -ENOBUFS);
	assert_in_range(n, 5, 32);
	got_close(&g);
	close_pair(&p);
}

static int listen_tcp(struct sockaddr_in *a)
{
	socklen_t len = sizeof(*a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)a, sizeof(*a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)a, &len), 0);
	return fd;
}

/* Bytes queued before the connection stands are sent when it does. */
static void test_tcp(void **state)
{
	struct sockaddr_in a;
	struct got g = {0};
	int s = listen_tcp(&a), c;
	char uri[64], b[8];

	(void)state;
	assert_int_equal(listen(s, 1), 0);
	snprintf(uri, sizeof(uri), "tcp://127.0.0.1:%u", ntohs(a.sin_port));
	assert_int_equal(got_open(&g, uri, 16), 0);
	assert_string_equal(ww_port_transport(g.port)->name, "tcp");
	assert_int_equal(ww_port_write(g.port, "hello", 5, NULL), 0);
	c = accept(s, NULL, NULL);
	assert_true(c >= 0);
	for (int i = 0; i < 20; i++)
		turn(&g, 2);
	assert_int_equal(recv(c, b, sizeof(b), 0), 5);
	assert_memory_equal(b, "hello", 5);
	assert_int_equal(send(c, "world", 5, 0), 5);
	turn_until(&g, 5);
	assert_memory_equal(g.data, "world", 5);
	close(c);
	turn_until(&g, 16);
	assert_int_equal(g.lost, 1);
	got_close(&g);
	close(s);
}

/* Nobody listens there: either the opening says so or lost() does. */
static void test_tcp_refused(void **state)
{
	struct sockaddr_in a;
	struct got g = {0};
	int s = listen_tcp(&a);
	char uri[64];
	int rc;

	(void)state;
	snprintf(uri, sizeof(uri), "tcp://127.0.0.1:%u", ntohs(a.sin_port));
	rc = got_open(&g, uri, 16);
	if (rc == 0) {
		turn_until(&g, 1);
		assert_int_equal(g.lost, 1);
		assert_non_null(strstr(g.why.text, "no connection"));
	} else {
		assert_int_equal(rc, -ECONNREFUSED);
	}
	got_close(&g);
	close(s);
}

static void test_unix(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct got g = {0};
	int s = socket(AF_UNIX, SOCK_STREAM, 0), c;
	char uri[128];

	(void)state;
	snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/ww-port-%d", (int)getpid());
	snprintf(uri, sizeof(uri), "unix:%s", a.sun_path);
	assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(got_open(&g, uri, 16), -ECONNREFUSED);
	assert_non_null(strstr(g.err.text, "nobody listens"));
	got_close(&g);
	assert_int_equal(listen(s, 1), 0);
	assert_int_equal(got_open(&g, uri, 16), 0);
	c = accept(s, NULL, NULL);
	assert_int_equal(write(c, "tick", 4), 4);
	turn_until(&g, 4);
	assert_memory_equal(g.data, "tick", 4);
	/* Writing to a closed peer must not kill the program by SIGPIPE. */
	close(c);
	ww_port_write(g.port, "x", 1, NULL);
	turn_until(&g, 16);
	assert_int_equal(g.lost, 1);
	got_close(&g);
	close(s);
	unlink(a.sun_path);
}

static void test_ftdi_absent(void **state)
{
	struct got g = {0};
	int rc;

	(void)state;
	rc = got_open(&g, "ftdi:?serial=NOSUCHCHIP", 16);
#ifdef WW_WITH_FTDI
	assert_true(rc == -ENODEV || rc == -EACCES || rc == -EIO);
#else
	assert_int_equal(rc, -ENOTSUP);
#endif
	assert_non_null(strstr(g.err.text, "ftdi:"));
	print_message("# %s\n", g.err.text);
	got_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw_both_ways),
		cmocka_unit_test(test_termios_restored),
		cmocka_unit_test(test_odd_baud),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_who_is_in_the_way),
		cmocka_unit_test(test_named_twice),
		cmocka_unit_test(test_hang_up),
		cmocka_unit_test(test_old_bytes_dropped),
		cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_tcp_refused),
		cmocka_unit_test(test_unix),
		cmocka_unit_test(test_ftdi_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

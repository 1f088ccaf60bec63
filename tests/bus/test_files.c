/* SPDX-License-Identifier: MIT */
/* Folders of the kernel as ports: found, read, written, slow, gone, and found again. */
#include "bus/filework.h"
#include "bus/folder.h"
#include "porttest.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../scratch.h"

static char root[64];

static const char *at(const char *path)
{
	static char buf[4][400];
	static unsigned k;

	snprintf(buf[++k % 4], sizeof(buf[0]), "%s/%s", root, path);
	return buf[k % 4];
}

static void run(const char *fmt, const char *a, const char *b)
{
	char cmd[1000];

	snprintf(cmd, sizeof(cmd), fmt, a, b);
	assert_int_equal(system(cmd), 0);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(at(path), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A device of the kernel's: its folder by the bus, with the class's link to it. */
static void chip(const char *bus, const char *device, const char *number, const char *name)
{
	char path[200], cmd[900];

	snprintf(cmd, sizeof(cmd),
		 "mkdir -p %s/devices/%s/%s/hwmon/%s %s/class/hwmon && ln -s ../../../%s "
		 "%s/devices/%s/%s/hwmon/%s/device && ln -s ../../devices/%s/%s/hwmon/%s "
		 "%s/class/hwmon/%s",
		 root, bus, device, number, root, device, root, bus, device, number, bus, device,
		 number, root, number);
	assert_int_equal(system(cmd), 0);
	snprintf(path, sizeof(path), "class/hwmon/%s/name", number);
	put(path, name);
	snprintf(path, sizeof(path), "class/hwmon/%s/power1_input", number);
	put(path, "12000\n");
}

static int setup(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "%s/ww_files_XXXXXX", scratch());
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	run("rm -rf %s%s", root, "");
	return 0;
}

static int find(const char *place, const char *memory, char *out, struct ww_error *err)
{
	ww_error_clear(err);
	return ww_folder_find(root, place, memory, out, err);
}

static void by_names(void **state)
{
	struct ww_error err = {0};
	char out[WW_SYSFS_PATH];

	(void)state;
	chip("i2c-1", "1-0040", "hwmon3", "ina226\n");
	chip("i2c-1", "1-0041", "hwmon4", "ina226\n");
	chip("pci0", "0000:01", "hwmon0", "k10temp\n");
	unlink(at("class/hwmon/hwmon0/power1_input"));
	assert_int_equal(find("hwmon3", "", out, &err), 0);
	assert_string_equal(out, at("class/hwmon/hwmon3"));
	assert_int_equal(find("k10temp", "", out, &err), 0);
	assert_string_equal(out, at("class/hwmon/hwmon0"));
	assert_int_equal(find("hwmon:ina226@1-0041", "", out, &err), 0);
	assert_string_equal(out, at("class/hwmon/hwmon4"));
	/* Two of them: the sentence names both, and how to say which. */
	assert_int_equal(find("ina226", "", out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "hwmon3 (ina226@1-0040), hwmon4 (ina226@1-0041)"));
	assert_int_equal(find("hwmon:", "", out, &err), -EINVAL);
	assert_null(strstr(err.text, "k10temp"));
	assert_int_equal(find("hwmon7", "", out, &err), -ENODEV);
	assert_int_equal(find("no/../where", "", out, &err), -EINVAL);
	assert_int_equal(find(at("class/hwmon/hwmon4"), "", out, &err), 0);
	assert_int_equal(find(at("class/hwmon/hwmon9"), "", out, &err), -ENODEV);

	run("mkdir -p %s/class/power_supply/AC %s/class/power_supply/BAT1", root, root);
	put("class/power_supply/AC/type", "Mains\n");
	put("class/power_supply/BAT1/type", "Battery\n");
	assert_int_equal(find("battery:", "", out, &err), 0);
	assert_string_equal(out, at("class/power_supply/BAT1"));
	assert_int_equal(find("AC", "", out, &err), 0);
	run("mkdir -p %s/class/powercap/intel-rapl:0 %s/class/powercap/intel-rapl:1", root, root);
	assert_int_equal(find("rapl:", "", out, &err), 0);
	assert_string_equal(out, at("class/powercap/intel-rapl:0"));
}

/* Numbers move at each boot; the device stays what it is. */
static void remembered(void **state)
{
	char memory[WW_PORT_MEMORY], out[WW_SYSFS_PATH];
	struct ww_error err = {0};

	(void)state;
	chip("i2c-1", "1-0040", "hwmon3", "ina226\n");
	chip("i2c-1", "1-0041", "hwmon4", "ina226\n");
	ww_folder_identity(at("class/hwmon/hwmon3"), memory, sizeof(memory));
	assert_non_null(strstr(memory, "ina226|"));
	assert_int_equal(find("hwmon3", memory, out, &err), 0);
	assert_string_equal(out, at("class/hwmon/hwmon3"));
	run("rm -r %s/class/hwmon/hwmon3 %s/devices/i2c-1/1-0040", root, root);
	assert_int_equal(find("hwmon3", memory, out, &err), -ENODEV);
	assert_non_null(strstr(err.text, "1-0040"));
	chip("i2c-1", "1-0042", "hwmon3", "ina226\n");
	/* Another one has its number now. */
	assert_int_equal(find("hwmon3", memory, out, &err), -ENODEV);
	chip("i2c-1", "1-0040", "hwmon9", "ina226\n");
	assert_int_equal(find("hwmon3", memory, out, &err), 0);
	assert_string_equal(out, at("class/hwmon/hwmon9"));
	assert_int_equal(find(at("class/hwmon/hwmon3"), memory, out, &err), 0);
	assert_string_equal(out, at("class/hwmon/hwmon9"));
}

/* One behind USB comes back on another port: by its serial number, else as the only one. */
static void remembered_usb(void **state)
{
	char memory[WW_PORT_MEMORY], out[WW_SYSFS_PATH];
	struct ww_error err = {0};

	(void)state;
	chip("usb1/1-1", "1-1:1.0", "hwmon3", "powerz\n");
	put("devices/usb1/1-1/idVendor", "5fc9\n");
	put("devices/usb1/1-1/serial", "0042\n");
	ww_folder_identity(at("class/hwmon/hwmon3"), memory, sizeof(memory));
	assert_non_null(strstr(memory, "|0042"));
	run("rm -r %s/class/hwmon/hwmon3 %s/devices/usb1/1-1", root, root);
	chip("usb1/1-2", "1-2:1.0", "hwmon3", "powerz\n");
	put("devices/usb1/1-2/idVendor", "5fc9\n");
	put("devices/usb1/1-2/serial", "0043\n");
	assert_int_equal(find("hwmon3", memory, out, &err), -ENODEV);
	chip("usb1/1-3", "1-3:1.0", "hwmon5", "powerz\n");
	put("devices/usb1/1-3/idVendor", "5fc9\n");
	put("devices/usb1/1-3/serial", "0042\n");
	assert_int_equal(find("hwmon3", memory, out, &err), 0);
	assert_string_equal(out, at("class/hwmon/hwmon5"));
}

/* --------------------------------------------------------------------- ports */

static int64_t now(void)
{
	return ww_clock_now_ns();
}

static char told[400];

static void note_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	(void)ctx;
	(void)lost;
	assert_true(t.lo_ns < t.hi_ns);
	snprintf(told, sizeof(told), "%s", text);
}

static void open_port(struct got *g, const char *prefix, const char *folder, char *memory)
{
	char place[WW_SYSFS_PATH];
	struct ww_port_setup s = {
		.place = place,
		.memory = memory,
		.ev = {.ctx = g, .bytes = got_bytes, .lost = got_lost, .trouble = note_trouble}};

	memset(g, 0, sizeof(*g));
	told[0] = '\0';
	g->max = 65536;
	g->data = calloc(g->max, 1);
	g->t = calloc(g->max, sizeof(*g->t));
	assert_int_equal(ww_loop_new(NULL, &g->loop, NULL), 0);
	s.loop = g->loop;
	snprintf(place, sizeof(place), "%s%s", prefix, folder);
	if (ww_port_open_setup(&s, &g->port, &g->err) < 0)
		fail_msg("%s", g->err.text);
}

static void wait_for(struct got *g, size_t n, int for_ms)
{
	int64_t until = now() + for_ms * WW_NS_PER_MS;

	while (g->n < n && !g->lost && now() < until) {
		struct pollfd p = {.fd = ww_loop_fd(g->loop), .events = POLLIN};

		poll(&p, 1, 20);
		ww_loop_dispatch(g->loop, NULL);
	}
}

static void ask(struct got *g, const char *text)
{
	struct ww_error err = {0};

	g->n = 0;
	if (ww_port_write(g->port, text, strlen(text), &err) < 0)
		fail_msg("%s", err.text);
}

static const char *said(struct got *g)
{
	wait_for(g, 1, 10000);
	g->data[g->n] = '\0';
	return (const char *)g->data;
}

static void done(struct got *g)
{
	ww_port_close(g->port);
	ww_loop_free(g->loop);
	free(g->data);
	free(g->t);
}

static void reads_and_writes(void **state)
{
	struct got g;
	const char *list;
	int64_t before;
	size_t n;

	(void)state;
	chip("i2c-1", "1-0040", "hwmon3", "ina226\n");
	put("class/hwmon/hwmon3/uevent", "A=1\nB=2\n");
	put("class/hwmon/hwmon3/update_interval", "2\n");
	run("mkdir %s/class/hwmon/hwmon3/%s", root, "sub");
	put("class/hwmon/hwmon3/sub/name", "core\n");
	open_port(&g, "files:", at("class/hwmon/hwmon3"), NULL);
	list = ww_port_listing(g.port, &n);
	assert_int_equal(strlen(list), n);
	/* What measures is not read: it may be slow. */
	assert_string_equal(list, "power1_input=\nsub/\nuevent=\nname=ina226\nsub/name=core\n"
				  "update_interval=2\n");
	before = now();
	ask(&g, "power1_input\nuevent\nnothing\nsub/name\n../../secret\n/etc/passwd");
	assert_string_equal(said(&g), "power1_input=12000\nuevent=A=1\x1f"
				      "B=2\nnothing!ENOENT\nsub/name=core\n../../secret!EINVAL\n"
				      "/etc/passwd!EINVAL\n");
	assert_true(g.t[0].lo_ns >= before && g.t[0].hi_ns <= now());
	assert_true(g.t[0].lo_ns <= g.t[0].hi_ns);
	ask(&g, "update_interval:=35\nupdate_interval");
	assert_string_equal(said(&g), "update_interval:=35\nupdate_interval=35\n");
	assert_int_equal(g.lost, 0);
	done(&g);
	/* As it was found. */
	open_port(&g, "files:", at("class/hwmon/hwmon3"), NULL);
	ask(&g, "update_interval");
	assert_string_equal(said(&g), "update_interval=2\n");
	done(&g);
}

static void gone_and_back(void **state)
{
	char memory[WW_PORT_MEMORY] = "";
	struct got g;

	(void)state;
	chip("i2c-1", "1-0040", "hwmon3", "ina226\n");
	open_port(&g, "files:", at("class/hwmon/hwmon3"), memory);
	assert_non_null(strstr(memory, "1-0040"));
	ask(&g, "power1_input");
	assert_string_equal(said(&g), "power1_input=12000\n");
	run("rm -r %s/class/hwmon/hwmon3 %s/devices/i2c-1/1-0040", root, root);
	ask(&g, "power1_input");
	wait_for(&g, 1, 10000);
	assert_int_equal(g.lost, 1);
	assert_non_null(strstr(g.why.text, "unbound"));
	done(&g);
	chip("i2c-1", "1-0040", "hwmon7", "ina226\n");
	open_port(&g, "files:", at("class/hwmon/hwmon3"), memory);
	ask(&g, "power1_input");
	assert_string_equal(said(&g), "power1_input=12000\n");
	done(&g);
}

/* A file that does not return (a pipe without a writer) is told; the loop goes on. */
static void hangs(void **state)
{
	int64_t begun, longest = 0, last;
	struct got g;
	int fd;

	(void)state;
	chip("i2c-1", "1-0040", "hwmon3", "ina226\n");
	assert_int_equal(mkfifo(at("class/hwmon/hwmon3/power2_input"), 0600), 0);
	open_port(&g, "files:", at("class/hwmon/hwmon3"), NULL);
	ask(&g, "power2_input");
	begun = last = now();
	while (!told[0] && now() - begun < 10 * WW_NS_PER_S) {
		struct pollfd p = {.fd = ww_loop_fd(g.loop), .events = POLLIN};
		int64_t t;

		poll(&p, 1, 20);
		t = now();
		ww_loop_dispatch(g.loop, NULL);
		if (now() - t > longest)
			longest = now() - t;
		/* Asked again and again, it is asked once. */
		assert_int_equal(ww_port_write(g.port, "power2_input", 12, NULL), 0);
	}
	assert_non_null(strstr(told, "power2_input has not returned"));
	assert_true(now() - begun >= 2 * WW_NS_PER_S - 50 * WW_NS_PER_MS);
	assert_true(longest < WW_NS_PER_S);
	assert_int_equal(g.lost, 0);
	assert_int_equal(g.n, 0);
	/* It comes back: late, with an honest interval, and others after it. */
	fd = open(at("class/hwmon/hwmon3/power2_input"), O_WRONLY);
	assert_int_equal(write(fd, "7\n", 2), 2);
	close(fd);
	assert_string_equal(said(&g), "power2_input=7\n");
	assert_true(g.t[0].hi_ns - g.t[0].lo_ns > WW_NS_PER_S);
	ask(&g, "power1_input");
	assert_string_equal(said(&g), "power1_input=12000\n");
	/* Closed while one hangs: at once. */
	ask(&g, "power2_input");
	wait_for(&g, 1, 50);
	begun = now();
	done(&g);
	assert_true(now() - begun < WW_NS_PER_S);
}

/* It runs, or hangs, and is no zombie. */
static bool alive(pid_t pid)
{
	char path[40], text[200] = "", *paren;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	paren = strrchr(text, ')');
	return paren && paren[1] && paren[2] != 'Z' && paren[2] != 'X';
}

/* Killed while a file holds the worker: that does not stay behind. */
static void killed_while_it_hangs(void **state)
{
	struct ww_files f = {.asks = 0};
	int64_t begun = now(), lo;
	int ends[2];
	pid_t pid, worker = 0;

	(void)state;
	chip("i2c-1", "1-0040", "hwmon3", "ina226\n");
	assert_int_equal(mkfifo(at("class/hwmon/hwmon3/power2_input"), 0600), 0);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		if (ww_files_start(&f, at("class/hwmon/hwmon3"), NULL) < 0 ||
		    ww_files_ask(&f, "power2_input", 12, now(), NULL) < 0)
			_exit(1);
		usleep(100000);
		if (write(ends[1], &f.worker.pid, sizeof(worker)) < 0)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ends[0], &worker, sizeof(worker)), sizeof(worker));
	assert_int_equal(kill(worker, 0), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	lo = now();
	/* Whoever adopts it may collect it late. */
	while (alive(worker) && now() - lo < 10 * WW_NS_PER_S)
		usleep(10000);
	assert_false(alive(worker));
	assert_true(now() - begun < 10 * WW_NS_PER_S);
	close(ends[0]);
	close(ends[1]);
}

static void iio_buffer(void **state)
{
	static const char scan[24] = "0123456789abcdefghijklm";
	struct got g;
	int fd;

	(void)state;
	run("mkdir -p %s/iio:device0/buffer %s/iio:device0/scan_elements", root, root);
	put("iio:device0/name", "ina226\n");
	put("iio:device0/buffer/enable", "0\n");
	put("iio:device0/buffer/length", "2\n");
	put("iio:device0/scan_elements/in_voltage0_en", "0\n");
	put("iio:device0/scan_elements/in_voltage0_type", "le:u16/16>>0\n");
	put("iio:device0/in_voltage0_raw", "17\n");
	assert_int_equal(mkfifo(at("iio:device0/scans"), 0600), 0);
	open_port(&g, "iio:", at("iio:device0"), NULL);
	ask(&g, "in_voltage0_raw");
	assert_string_equal(said(&g), "Tin_voltage0_raw=17\n");
	ask(&g, "scan_elements/in_voltage0_en:=1");
	assert_string_equal(said(&g), "Tscan_elements/in_voltage0_en:=1\n");
	ask(&g, "buffer=64");
	assert_string_equal(said(&g), "Tbuffer=64\n");
	ask(&g, "buffer/length\nbuffer/enable");
	assert_string_equal(said(&g), "Tbuffer/length=64\nbuffer/enable=1\n");
	fd = open(at("iio:device0/scans"), O_WRONLY);
	g.n = 0;
	assert_int_equal(write(fd, scan, sizeof(scan)), sizeof(scan));
	wait_for(&g, sizeof(scan) + 1, 5000);
	assert_int_equal(g.n, sizeof(scan) + 1);
	assert_int_equal(g.data[0], 'B');
	assert_memory_equal(g.data + 1, scan, sizeof(scan));
	ask(&g, "buffer=0");
	assert_string_equal(said(&g), "Tbuffer=0\n");
	close(fd);
	done(&g);
	open_port(&g, "iio:", at("iio:device0"), NULL);
	ask(&g, "buffer/length\nbuffer/enable\nscan_elements/in_voltage0_en");
	assert_string_equal(said(&g),
			    "Tbuffer/length=2\nbuffer/enable=0\nscan_elements/in_voltage0_en=0\n");
	done(&g);
}

static void iio_refused(void **state)
{
	struct got g;

	(void)state;
	run("mkdir -p %s/iio:device0/buffer %s/iio:device0/x", root, root);
	open_port(&g, "iio:", at("iio:device0"), NULL);
	/* No buffer at all. */
	ask(&g, "buffer=64");
	assert_string_equal(said(&g), "Tbuffer!ENOENT\n");
	done(&g);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(by_names),	  T(remembered), T(remembered_usb),	   T(reads_and_writes),
		T(gone_and_back), T(hangs),	 T(killed_while_it_hangs), T(iio_buffer),
		T(iio_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

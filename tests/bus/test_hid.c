/* SPDX-License-Identifier: MIT */
/*
 * HID devices by hidraw, over a pipe: what is written to it comes back as what it says. Which
 * one it is stands in a folder in place of /sys.
 */
#include "porttest.h"
#include "faketree.h"
#include "bus/hidfind.h"

#include <fcntl.h>
#include <sys/file.h>

static const struct ww_usb_id ids[] = {
	{.vid = 0x2e3c, .pid = 0x5558, .name = "meter", .bus = WW_BUS_HID, .interface = -1}, {0}};

static const uint8_t plain[] = {0x06, 0,    0xff, 9,	1, 0xa1, 1, 0x75,
				8,    0x95, 64,	  0x81, 2, 0x91, 2, 0xc0};
static const uint8_t numbered[] = {0x06, 0, 0xff, 9, 1,	   0xa1, 1,    0x85, 7,
				   0x75, 8, 0x95, 9, 0x81, 2,	 0x91, 2,    0xc0};

/* Interface of a device that is there already, with its hidraw. */
static void put_hid(const char *usb, int interface, int number, const char *serial,
		    const uint8_t *desc, size_t n)
{
	char dir[128], path[160], target[256], link[256], text[256];

	snprintf(dir, sizeof(dir), "/sys/bus/usb/devices/%s/%s:1.%d", usb, usb, interface);
	snprintf(text, sizeof(text), "%02x", (unsigned)interface);
	tree_text(dir, "bInterfaceNumber", text);
	snprintf(path, sizeof(path), "%s/hid/report_descriptor", dir);
	tree_put(path, desc, n);
	snprintf(text, sizeof(text),
		 "DRIVER=hid-generic\nHID_ID=0003:00002E3C:00005558\nHID_NAME=x\nHID_UNIQ=%s\n",
		 serial);
	snprintf(path, sizeof(path), "%s/hid/uevent", dir);
	tree_put(path, text, strlen(text));
	snprintf(text, sizeof(text), "/sys/class/hidraw/hidraw%d/dev", number);
	tree_put(text, "", 0);
	snprintf(target, sizeof(target), "%.60s%s/hid", tree_root, dir);
	snprintf(link, sizeof(link), "%.60s/sys/class/hidraw/hidraw%d/device", tree_root, number);
	assert_int_equal(symlink(target, link), 0);
	tree_put("/dev/null", "", 0);
	snprintf(path, sizeof(path), "%.60s/dev/hidraw%d", tree_root, number);
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void drop_hid(const char *usb, int number)
{
	char path[256];

	tree_gone(usb);
	snprintf(path, sizeof(path), "%.60s/sys/class/hidraw/hidraw%d", tree_root, number);
	nftw(path, tree_rm, 8, FTW_DEPTH | FTW_PHYS);
	snprintf(path, sizeof(path), "%.60s/dev/hidraw%d", tree_root, number);
	unlink(path);
}

static int open_place(struct got *g, const char *place, char *memory)
{
	struct ww_port_setup s = {
		.place = place,
		.usb = ids,
		.memory = memory,
		.ev = {.ctx = g, .bytes = got_bytes, .lost = got_lost, .trouble = got_trouble}};

	if (!g->loop) {
		assert_int_equal(ww_loop_new(NULL, &g->loop, NULL), 0);
		g->max = 4096;
		g->data = calloc(g->max, 1);
		g->t = calloc(g->max, sizeof(*g->t));
	}
	s.loop = g->loop;
	memset(&g->err, 0, sizeof(g->err));
	return ww_port_open_setup(&s, &g->port, &g->err);
}

static void shut(struct got *g)
{
	ww_port_close(g->port);
	g->port = NULL;
}

static int setup(void **state)
{
	(void)state;
	tree_new();
	tree_usb("1-2", 0x2e3c, 0x5558, 3, "S1", NULL, 0);
	put_hid("1-2", 3, 4, "S1", plain, sizeof(plain));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_free();
	return 0;
}

/* Reports without numbers are written with a leading 0, which the kernel takes off. */
static void test_reports(void **state)
{
	char memory[WW_PORT_MEMORY] = "";
	struct got g = {0};
	int64_t before;

	(void)state;
	assert_int_equal(open_place(&g, "hid:", memory), 0);
	assert_string_equal(memory, "2e3c:5558 1-2/3 S1");
	assert_string_equal(ww_port_transport(g.port)->name, "hidraw");
	assert_non_null(strstr(ww_port_transport(g.port)->settings,
			       "hidraw=hidraw4 usb=1-2 interface=3 power=on"));
	before = ww_clock_now_ns();
	assert_int_equal(ww_port_write(g.port, "abc", 3, NULL), 0);
	turn_until(&g, 4);
	assert_memory_equal(g.data, "\0abc", 4);
	assert_true(g.t[0].hi_ns >= before);
	got_close(&g);
}

static void test_numbered(void **state)
{
	struct got g = {0};

	(void)state;
	tree_usb("1-3", 0x2e3c, 0x5558, 5, "S2", NULL, 0);
	put_hid("1-3", 0, 1, "S2", numbered, sizeof(numbered));
	assert_int_equal(open_place(&g, "hid:", NULL), -ENOTUNIQ);
	assert_int_equal(open_place(&g, "hid:1-3", NULL), 0);
	assert_int_equal(ww_port_write(g.port, "abc", 3, NULL), 0);
	turn_until(&g, 3);
	assert_memory_equal(g.data, "abc", 3);
	got_close(&g);
}

/* It comes back elsewhere behind another number, and is opened in the loop. */
static void test_comes_back(void **state)
{
	char memory[WW_PORT_MEMORY] = "";
	struct got g = {0};

	(void)state;
	assert_int_equal(open_place(&g, "/dev/hidraw4", memory), 0);
	shut(&g);
	drop_hid("1-2", 4);
	assert_int_equal(open_place(&g, "/dev/hidraw4", memory), -ENODEV);
	tree_usb("1-6", 0x2e3c, 0x5558, 5, "OTHER", NULL, 0);
	put_hid("1-6", 3, 4, "OTHER", plain, sizeof(plain));
	assert_int_equal(open_place(&g, "/dev/hidraw4", memory), -ENODEV);
	tree_usb("1-7", 0x2e3c, 0x5558, 6, "S1", NULL, 0);
	put_hid("1-7", 3, 9, "S1", plain, sizeof(plain));
	assert_int_equal(open_place(&g, "/dev/hidraw4", memory), 0);
	assert_string_equal(memory, "2e3c:5558 1-7/3 S1");
	assert_int_equal(ww_port_write(g.port, "x", 1, NULL), 0);
	turn_until(&g, 2);
	got_close(&g);
}

static void test_refusals(void **state)
{
	struct got g = {0};
	char path[256];
	int fd;

	(void)state;
	assert_int_equal(open_place(&g, "hid:hidraw7", NULL), -ENODEV);
	assert_non_null(strstr(g.err.text, "no such HID device"));
	assert_int_equal(open_place(&g, "hid:1-1", NULL), -ENODEV);
	assert_non_null(strstr(g.err.text, "no meter is plugged in at 1-1"));
	snprintf(path, sizeof(path), "%.60s/dev/hidraw4", tree_root);
	fd = open(path, O_RDWR | O_NONBLOCK);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(open_place(&g, "hid:", NULL), -EBUSY);
	assert_non_null(strstr(g.err.text, "in use by another program"));
	close(fd);
	got_close(&g);
}

/* A node that vanishes between looking and opening is told from the loop. */
static void test_opens_no_more(void **state)
{
	char memory[WW_PORT_MEMORY] = "2e3c:5558 1-2/3 S1", path[256];
	struct got g = {.close_when_lost = true};

	(void)state;
	snprintf(path, sizeof(path), "%.60s/dev/hidraw4", tree_root);
	unlink(path);
	assert_int_equal(open_place(&g, "hid:", memory), 0);
	turn_until(&g, 1);
	assert_int_equal(g.lost, 1);
	assert_non_null(strstr(g.why.text, "cannot be opened"));
	got_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reports, setup, teardown),
		cmocka_unit_test_setup_teardown(test_numbered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_comes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_opens_no_more, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * The ports of USB over a device that lives here: what libusb does for them is defined in
 * this program and so comes before the library's. /sys and /dev are a folder.
 */
#include "porttest.h"

#ifdef WW_WITH_USB

#include "bus/tmc.h"

#include "fakeusb.h"

static void turns(struct got *g, int n)
{
	while (n--)
		turn(g, 5);
}

static void test_packets(void **state)
{
	char memory[WW_PORT_MEMORY] = "";
	struct got g = {0};
	int64_t before;

	(void)state;
	assert_int_equal(open_place(&g, "usb:", memory), 0);
	assert_int_equal(dev.claimed, 2);
	assert_int_equal(dev.n_flying, 16);
	assert_string_equal(memory, "1234:0001 1-1 S1");
	assert_non_null(strstr(ww_port_transport(g.port)->settings, "power=on"));
	turns(&g, 3);
	before = ww_clock_now_ns();
	say("abc", 3);
	say("", 0);
	say("defg", 4);
	turn_until(&g, 7);
	assert_memory_equal(g.data, "abcdefg", 7);
	assert_true(g.t[0].lo_ns <= before && g.t[0].hi_ns >= before);
	/* Messages go out one by one, in order. */
	assert_int_equal(ww_port_write(g.port, "one", 3, NULL), 0);
	assert_int_equal(ww_port_write(g.port, "two", 3, NULL), 0);
	turns(&g, 4);
	assert_int_equal(dev.n_out, 6);
	assert_memory_equal(dev.out, "onetwo", 6);
	got_close(&g);
}

static void test_stall(void **state)
{
	struct got g = {0};

	(void)state;
	assert_int_equal(open_place(&g, "usb:1-1", NULL), 0);
	dev.stall = true;
	turns(&g, 6);
	assert_int_equal(dev.cleared, 1);
	assert_int_equal(dev.n_flying, 16);
	say("x", 1);
	turn_until(&g, 1);
	assert_int_equal(g.lost, 0);
	got_close(&g);
}

/* A device that takes nothing fills the queue, which says so; none of it blocks. */
static void test_deaf(void **state)
{
	uint8_t big[4096] = {0};
	struct got g = {0};
	int rc = 0, n = 0;

	(void)state;
	dev.deaf = true;
	assert_int_equal(open_place(&g, "usb:", NULL), 0);
	while (rc == 0 && n++ < 100)
		rc = ww_port_write(g.port, big, sizeof(big), &g.err);
	assert_int_equal(rc, -ENOBUFS);
	assert_non_null(strstr(g.err.text, "takes nothing"));
	got_close(&g);
}

static void test_unplug(void **state)
{
	char memory[WW_PORT_MEMORY] = "";
	struct got g = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		dev.unplugged = false;
		g.lost = 0;
		g.close_when_lost = i == 1;
		assert_int_equal(open_place(&g, i ? "usbtmc:" : "usb:", i ? NULL : memory), 0);
		turns(&g, 2);
		dev.unplugged = true;
		turn_until(&g, 1);
		assert_int_equal(g.lost, 1);
		assert_non_null(strstr(g.why.text, "unplugged"));
		ww_port_close(g.port);
		g.port = NULL;
	}
	/* It comes back elsewhere; another one of its kind takes its place. */
	dev.unplugged = false;
	tree_gone("1-1");
	assert_int_equal(open_place(&g, "usb:", memory), -ENODEV);
	tree_usb("1-1", 0x1234, 1, 9, "OTHER", vendor_desc, sizeof(vendor_desc));
	assert_int_equal(open_place(&g, "usb:", memory), -ENODEV);
	tree_usb("1-4.2", 0x1234, 1, 10, "S1", vendor_desc, sizeof(vendor_desc));
	tree_text("/sys/bus/usb/devices/1-4.2/1-4.2:1.1", "bInterfaceNumber", "01");
	assert_int_equal(open_place(&g, "usb:", memory), 0);
	assert_string_equal(memory, "1234:0001 1-4.2 S1");
	got_close(&g);
}

static void another(const char *name, unsigned address)
{
	char dir[64];

	tree_usb(name, 0x1234, 1, address, NULL, vendor_desc, sizeof(vendor_desc));
	snprintf(dir, sizeof(dir), "/sys/bus/usb/devices/%s/%s:1.1", name, name);
	tree_text(dir, "bInterfaceNumber", "01");
}

/* Without a serial number: where it was, else the only one of its id. */
static void test_no_serial(void **state)
{
	char memory[WW_PORT_MEMORY] = "1234:0001 1-1 ";
	struct got g = {0};

	(void)state;
	tree_gone("1-1");
	another("1-5", 5);
	assert_int_equal(open_place(&g, "usb:", memory), 0);
	assert_string_equal(memory, "1234:0001 1-5 ");
	ww_port_close(g.port);
	g.port = NULL;
	another("1-6", 6);
	assert_int_equal(open_place(&g, "usb:", memory), 0);
	assert_string_equal(memory, "1234:0001 1-5 ");
	ww_port_close(g.port);
	g.port = NULL;
	tree_gone("1-5");
	another("1-7", 7);
	assert_int_equal(open_place(&g, "usb:", memory), -ENOTUNIQ);
	assert_non_null(strstr(g.err.text, "1-6"));
	assert_non_null(strstr(g.err.text, "1-7"));
	got_close(&g);
}

static void test_refusals(void **state)
{
	struct got g = {0};

	(void)state;
	assert_int_equal(open_place(&g, "usb:1-9", NULL), -ENODEV);
	assert_non_null(strstr(g.err.text, "no meter is plugged in at 1-9"));
	assert_int_equal(open_place(&g, "usbtmc:1-1", NULL), -ENODEV);
	assert_int_equal(open_place(&g, "usbtmc7", NULL), -ENODEV);
	dev.busy = 1;
	assert_int_equal(open_place(&g, "usb:", NULL), -EBUSY);
	assert_non_null(strstr(g.err.text, "in use by another program"));
	dev.claimed = 0;
	got_close(&g);
}

static void ask(struct got *g, const char *text)
{
	dev.n_out = 0;
	assert_int_equal(ww_port_write(g->port, text, strlen(text), NULL), 0);
	turns(g, 4);
}

static void test_instrument(void **state)
{
	struct got g = {0};

	(void)state;
	assert_int_equal(open_place(&g, "usbtmc:", NULL), 0);
	ask(&g, "*IDN?\n");
	assert_int_equal(dev.cleared, 4); /* clear, its status, both endpoints */
	assert_int_equal(dev.n_out, WW_TMC_FRAME(6) + WW_TMC_HEADER);
	assert_memory_equal(dev.out + 12, "*IDN?\n\0\0", 8);
	/* In two parts, the second of them asked for again. */
	answer(dev.tag, "YOKO", false);
	turns(&g, 4);
	assert_int_equal(g.n, 0);
	answer(dev.tag, "GAWA\n", true);
	turn_until(&g, 9);
	assert_memory_equal(g.data, "YOKOGAWA\n", 9);
	/* No query: nothing is read. */
	ask(&g, ":COMM:REM ON");
	assert_int_equal(dev.n_out, WW_TMC_FRAME(12));
	/* Another tag's answer: cleared, and the next query works. */
	ask(&g, "A?");
	answer((uint8_t)(dev.tag + 1), "no", true);
	turns(&g, 8);
	assert_int_equal(g.lost, 0);
	assert_int_equal(dev.cleared, 8);
	ask(&g, "B?");
	answer(dev.tag, "2", true);
	turn_until(&g, 10);
	assert_memory_equal(g.data + 9, "2", 1);
	got_close(&g);
}

/* Nonsense for ever ends; so does an instrument that never answers. */
static void test_instrument_hopeless(void **state)
{
	struct got g = {0};

	(void)state;
	dev.clear_stalls = true; /* at the opening it may not know it */
	assert_int_equal(open_place(&g, "usbtmc:1-2", NULL), 0);
	turns(&g, 2);
	dev.clear_stalls = false;
	for (int i = 0; i < 10 && !g.lost; i++) {
		ask(&g, "A?");
		say("garbage", 7);
		turns(&g, 10);
	}
	assert_int_equal(g.lost, 1);
	assert_non_null(strstr(g.why.text, "not the instrument"));
	got_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_packets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stall, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deaf, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unplug, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_serial, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_instrument, setup, teardown),
		cmocka_unit_test_setup_teardown(test_instrument_hopeless, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("1..0 # SKIP built without libusb");
	return 0;
}

#endif

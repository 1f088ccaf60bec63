/* SPDX-License-Identifier: MIT */
/*
 * The FTDI port over a chip that lives here: libusb's and libftdi's functions
 * are defined in this program and so come before the libraries'. The chip
 * answers one packet a transfer, with two status bytes before the data.
 */
#include "porttest.h"
#include "faketree.h"

#ifdef WW_WITH_FTDI

#include <ftdi.h>
#include <libusb.h>

#define SLOTS 16

static struct {
	struct ftdi_context ctx;
	struct libusb_transfer *flying[SLOTS]; /* in the order of submission */
	size_t n_flying, n_alive;
	uint8_t packet[16][64];
	int len[16];
	size_t n_packets;
	uint8_t sent[128];
	size_t n_sent;
	bool unplugged, open;
	int latency, baud, denied;
} chip;

struct ftdi_context *ftdi_new(void)
{
	memset(&chip.ctx, 0, sizeof(chip.ctx));
	chip.ctx.in_ep = 0x02;
	chip.ctx.out_ep = 0x81;
	chip.ctx.max_packet_size = 64;
	return &chip.ctx;
}

void ftdi_free(struct ftdi_context *c)
{
	(void)c;
}

int ftdi_usb_open_dev(struct ftdi_context *c, struct libusb_device *d)
{
	(void)c;
	(void)d;
	chip.open = !chip.denied;
	return chip.denied;
}

int ftdi_usb_close(struct ftdi_context *c)
{
	(void)c;
	chip.open = false;
	return 0;
}

int ftdi_set_baudrate(struct ftdi_context *c, int baud)
{
	struct timeval zero = {0, 0};

	/* A request that is waited for ends other transfers, too. */
	libusb_handle_events_timeout_completed(c->usb_ctx, &zero, NULL);
	chip.baud = baud;
	return baud > 3000000 ? -1 : 0;
}

int ftdi_set_line_property(struct ftdi_context *c, enum ftdi_bits_type b, enum ftdi_stopbits_type s,
			   enum ftdi_parity_type p)
{
	(void)c;
	(void)b;
	(void)s;
	(void)p;
	return 0;
}

int ftdi_setflowctrl(struct ftdi_context *c, int f)
{
	(void)c;
	(void)f;
	return 0;
}

int ftdi_set_latency_timer(struct ftdi_context *c, unsigned char ms)
{
	(void)c;
	chip.latency = ms;
	return 0;
}

int ftdi_get_latency_timer(struct ftdi_context *c, unsigned char *ms)
{
	(void)c;
	*ms = (unsigned char)chip.latency;
	return 0;
}

int ftdi_tciflush(struct ftdi_context *c)
{
	(void)c;
	return 0;
}

const char *ftdi_get_error_string(struct ftdi_context *c)
{
	(void)c;
	return "the chip refuses";
}

ssize_t libusb_get_device_list(libusb_context *c, libusb_device ***list)
{
	static libusb_device *one[2];

	(void)c;
	one[0] = (libusb_device *)&chip;
	*list = one;
	return 1;
}

void libusb_free_device_list(libusb_device **list, int unref)
{
	(void)list;
	(void)unref;
}

uint8_t libusb_get_bus_number(libusb_device *d)
{
	(void)d;
	return 1;
}

uint8_t libusb_get_device_address(libusb_device *d)
{
	(void)d;
	return 7;
}

struct libusb_transfer *libusb_alloc_transfer(int iso)
{
	(void)iso;
	chip.n_alive++;
	return calloc(1, sizeof(struct libusb_transfer));
}

void libusb_free_transfer(struct libusb_transfer *t)
{
	chip.n_alive--;
	free(t);
}

int libusb_submit_transfer(struct libusb_transfer *t)
{
	if (chip.unplugged)
		return LIBUSB_ERROR_NO_DEVICE;
	assert_true(chip.n_flying < SLOTS);
	t->status = LIBUSB_TRANSFER_COMPLETED;
	chip.flying[chip.n_flying++] = t;
	return 0;
}

int libusb_cancel_transfer(struct libusb_transfer *t)
{
	t->status = LIBUSB_TRANSFER_CANCELLED;
	return 0;
}

/* true: this one has ended. */
static bool finish(struct libusb_transfer *t)
{
	if (t->status == LIBUSB_TRANSFER_CANCELLED)
		return true;
	if (chip.unplugged) {
		t->status = LIBUSB_TRANSFER_NO_DEVICE;
		return true;
	}
	if (t->endpoint == 0x02) {
		memcpy(chip.sent + chip.n_sent, t->buffer, (size_t)t->length);
		chip.n_sent += (size_t)t->length;
		t->actual_length = t->length;
		return true;
	}
	if (!chip.n_packets)
		return false;
	assert_int_equal(t->length, 64);
	memcpy(t->buffer, chip.packet[0], (size_t)chip.len[0]);
	t->actual_length = chip.len[0];
	memmove(chip.packet, chip.packet + 1, sizeof(chip.packet) - 64);
	memmove(chip.len, chip.len + 1, sizeof(chip.len) - sizeof(chip.len[0]));
	chip.n_packets--;
	return true;
}

int libusb_handle_events_timeout_completed(libusb_context *c, struct timeval *tv, int *done)
{
	struct libusb_transfer *now[SLOTS];
	size_t n = 0, keep = 0;

	(void)c;
	(void)tv;
	(void)done;
	for (size_t i = 0; i < chip.n_flying; i++) {
		struct libusb_transfer *t = chip.flying[i];

		if (finish(t))
			now[n++] = t;
		else
			chip.flying[keep++] = t;
	}
	chip.n_flying = keep;
	for (size_t i = 0; i < n; i++)
		now[i]->callback(now[i]);
	return 0;
}

void libusb_set_pollfd_notifiers(libusb_context *c, libusb_pollfd_added_cb a,
				 libusb_pollfd_removed_cb r, void *ctx)
{
	(void)c;
	(void)a;
	(void)r;
	(void)ctx;
}

const struct libusb_pollfd **libusb_get_pollfds(libusb_context *c)
{
	(void)c;
	return NULL;
}

void libusb_free_pollfds(const struct libusb_pollfd **list)
{
	(void)list;
}

int ftdi_poll_modem_status(struct ftdi_context *c, unsigned short *status)
{
	(void)c;
	*status = 0x6001;
	return 0;
}

static void give(const void *data, size_t n)
{
	chip.packet[chip.n_packets][0] = 0x01;
	chip.packet[chip.n_packets][1] = 0x60;
	memcpy(chip.packet[chip.n_packets] + 2, data, n);
	chip.len[chip.n_packets++] = (int)n + 2;
}

/* Data of full, short and empty packets, in order; what is written goes out. */
static void test_bytes(void **state)
{
	uint8_t full[62];
	struct got g = {0};
	int64_t before;

	(void)state;
	memset(&chip, 0, sizeof(chip));
	for (int i = 0; i < 62; i++)
		full[i] = (uint8_t)i;
	assert_int_equal(got_open(&g, "ftdi:?serial=A7005IDU&baud=9600", 256), 0);
	assert_int_equal(chip.baud, 9600);
	assert_int_equal(chip.latency, 1);
	assert_string_equal(ww_port_transport(g.port)->name, "ftdi");
	assert_non_null(strstr(ww_port_transport(g.port)->settings, "latency_timer=1(in force)"));
	/* The timer of 1 ms, a USB frame, and the host. */
	assert_int_equal(ww_port_transport(g.port)->delay_max_ns, 3 * WW_NS_PER_MS);
	turn(&g, 5);
	before = ww_clock_now_ns();
	give("", 0);
	give(full, 62);
	give("end", 3);
	turn_until(&g, 65);
	assert_int_equal(g.n, 65);
	assert_memory_equal(g.data, full, 62);
	assert_memory_equal(g.data + 62, "end", 3);
	assert_true(g.t[0].lo_ns <= before && g.t[0].hi_ns >= before);
	assert_int_equal(ww_port_write(g.port, "#L,R", 4, NULL), 0);
	for (int i = 0; i < 5; i++)
		turn(&g, 5);
	assert_int_equal(chip.n_sent, 4);
	assert_memory_equal(chip.sent, "#L,R", 4);
	got_close(&g);
	assert_false(chip.open);
	assert_int_equal(chip.n_alive, 0);
}

/* What ends while libftdi waits for something else is taken all the same. */
static void test_request(void **state)
{
	struct got g = {0};

	(void)state;
	memset(&chip, 0, sizeof(chip));
	assert_int_equal(got_open(&g, "ftdi:", 64), 0);
	for (int i = 0; i < 20; i++) {
		give("a", 1);
		assert_int_equal(ww_port_baud(g.port, 115200, NULL), 0);
		give("b", 1);
		assert_int_equal(ww_port_baud(g.port, 9600, NULL), 0);
		turn_until(&g, (size_t)(2 * i + 2));
		assert_int_equal(g.n, 2 * i + 2);
	}
	assert_memory_equal(g.data, "abababab", 8);
	got_close(&g);
	assert_int_equal(chip.n_alive, 0);
}

/* Where the chip's idle packets stop coming, silence does not prove that nothing waits. */
static void test_held_up(void **state)
{
	struct got g = {0};
	int64_t before;

	(void)state;
	memset(&chip, 0, sizeof(chip));
	assert_int_equal(got_open(&g, "ftdi:", 16), 0);
	give("a", 1);
	turn_until(&g, 1);
	before = ww_clock_now_ns();
	while (ww_clock_now_ns() < before + 50 * WW_NS_PER_MS)
		turn(&g, 1);
	give("b", 1);
	turn_until(&g, 2);
	assert_int_equal(g.n, 2);
	assert_true(g.t[1].lo_ns <= before);
	assert_true(g.t[1].hi_ns >= before + 50 * WW_NS_PER_MS);
	got_close(&g);
}

struct edge {
	int n;
	struct ww_interval t;
};

static void on_edge(void *ctx, struct ww_interval t, int lines, int changed)
{
	struct edge *e = ctx;

	(void)lines;
	(void)changed;
	e->n++;
	e->t = t;
}

/* Of two packets that waited, the later one tells of a change as old as the first. */
static void test_lines_held_up(void **state)
{
	struct edge e = {0};
	struct got g = {0};
	const struct ww_port_events ev = {.ctx = &e, .modem = on_edge, .trouble = got_trouble};
	int64_t before;

	(void)state;
	memset(&chip, 0, sizeof(chip));
	assert_int_equal(ww_loop_new(NULL, &g.loop, NULL), 0);
	assert_int_equal(ww_port_open(g.loop, "ftdi:", NULL, 0, &ev, &g.port, &g.err), 0);
	give("", 0);
	turn(&g, 5);
	before = ww_clock_now_ns();
	while (ww_clock_now_ns() < before + 30 * WW_NS_PER_MS)
		usleep(1000);
	give("", 0);
	give("", 0);
	chip.packet[chip.n_packets - 1][0] |= 0x10;
	for (int i = 0; i < 1000 && !e.n; i++)
		turn(&g, 5);
	assert_int_equal(e.n, 1);
	assert_true(e.t.lo_ns <= before && e.t.hi_ns >= before + 30 * WW_NS_PER_MS);
	got_close(&g);
}

static void test_unplug(void **state)
{
	struct got g = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		memset(&chip, 0, sizeof(chip));
		g.close_when_lost = i == 1;
		assert_int_equal(got_open(&g, "ftdi:", 16), 0);
		give("x", 1);
		turn_until(&g, 1);
		chip.unplugged = true;
		turn_until(&g, 16);
		assert_int_equal(g.lost, 1);
		assert_non_null(strstr(g.why.text, "unplugged"));
		got_close(&g);
		assert_int_equal(chip.n_alive, 0);
	}
}

static void test_refusals(void **state)
{
	static const struct {
		const char *uri;
		int denied, code;
		const char *says;
	} rows[] = {{"ftdi:?serial=OTHER", 0, -ENODEV, "OTHER"},
		    {"ftdi:", -4, -EIO, "cannot be opened"},
		    {"ftdi:", -5, -EBUSY, "in use by another"},
		    {"ftdi:1-2", 0, -ENODEV, "no FTDI chip is plugged in at 1-2"},
		    {"ftdi:1-4?serial=OTHER", 0, -ENODEV,
		     "there is 0403:6001, and not the FTDI chip with serial OTHER"},
		    {"ftdi:?baud=4000000", 0, -EIO, "baud rate: the chip refuses"},
		    {"ftdi:?bits=6", 0, -EINVAL, "7 or 8"},
		    {"ftdi:?pid=0x6015", 0, -ENODEV, "no FTDI chip"}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct got g = {0};

		memset(&chip, 0, sizeof(chip));
		chip.denied = rows[i].denied;
		assert_int_equal(got_open(&g, rows[i].uri, 16), rows[i].code);
		assert_non_null(strstr(g.err.text, rows[i].says));
		got_close(&g);
		assert_false(chip.open);
		assert_int_equal(chip.n_alive, 0);
	}
}

/* Which chip it is outlives the port, whatever port of the machine it comes back on. */
static void test_memory(void **state)
{
	char memory[WW_PORT_MEMORY] = "";
	struct got g = {0};
	struct ww_port_setup s = {.place = "ftdi:1-4", .memory = memory};

	(void)state;
	memset(&chip, 0, sizeof(chip));
	assert_int_equal(got_open(&g, "ftdi:", 16), 0);
	s.loop = g.loop;
	s.ev.ctx = &g;
	s.ev.bytes = got_bytes;
	s.ev.lost = got_lost;
	for (int i = 0; i < 3; i++) {
		ww_port_close(g.port);
		g.port = NULL;
		assert_int_equal(ww_port_open_setup(&s, &g.port, &g.err), 0);
		assert_string_equal(memory,
				    i < 2 ? "0403:6001 1-4 A7005IDU" : "0403:6001 1-1.2 A7005IDU");
		if (i == 1) {
			tree_gone("1-4");
			tree_usb("1-1.2", 0x0403, 0x6001, 7, "A7005IDU", NULL, 0);
			tree_usb("1-4", 0x0403, 0x6001, 8, "OTHER", NULL, 0);
		}
	}
	ww_port_close(g.port);
	g.port = NULL;
	tree_gone("1-1.2");
	assert_int_equal(ww_port_open_setup(&s, &g.port, &g.err), -ENODEV);
	assert_non_null(strstr(g.err.text, "A7005IDU"));
	got_close(&g);
}

static int setup(void **state)
{
	(void)state;
	tree_new();
	tree_usb("1-4", 0x0403, 0x6001, 7, "A7005IDU", NULL, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_free();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_request, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines_held_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unplug, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("1..0 # SKIP built without libftdi");
	return 0;
}

#endif

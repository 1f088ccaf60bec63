/* SPDX-License-Identifier: MIT */
/*
 * Any model of a meter (tests/emu) that has a USB side, plugged into vhci-hcd: packets of a
 * vendor's bulk endpoints, reports of a HID, messages of an instrument.
 *
 *	usbip_meter --model NAME --control FIFO [--port N] [--serial TEXT] [--fault TEXT]
 *		[--amps A] [--volts V]
 *
 * Orders, read from FIFO, a line each:
 *	plug [PORT], unplug	at a port of the controller, from 0
 *	nak			answers nothing any more, and takes nothing
 *	deaf			takes nothing that is sent to it
 *	stall N			the next N transfers are refused, each until it is cleared
 *	nonsense		sends what no meter sends, as fast as it is read
 *	go			is a meter again
 *	tell FILE		what it has seen
 *	quit
 * Facts: USB 2.0 chapter 9, HID 1.11, USBTMC 1.00 (tables 1 to 9, 15 to 19).
 */
#include "usbip.h"
#include "../emu/emu.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUEUE	4096
#define MESSAGE 65536

struct queued {
	int64_t at;
	size_t n, done;
	uint8_t *p;
};

static const struct emu_model *model;
static struct emu_setup setup = {.volts = 5, .amps = 1, .pf = 1, .hz = 50};
static void *state;
static struct usbip usb = {.name = "usbip_meter", .sock = -1, .calm = true};
static unsigned port;
static struct queued queue[QUEUE];
static size_t queued;
static bool nak, deaf, nonsense, halted;
static unsigned stalls;
static uint32_t seed = 1;
static unsigned long packets_in, packets_out, cleared, refused;
/* An instrument's message on its way here, and what it was asked for. */
static uint8_t message[MESSAGE];
static size_t message_n;
static uint8_t asked_tag;
static size_t asked; /* most bytes; 0: not asked */

/* --------------------------------------------------------------- descriptors */

static uint8_t device_desc[18], config_desc[512];
static size_t config_n;
/* One report of a vendor's page each way, without a number. */
static uint8_t report_desc[] = {0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0x15, 0x00,
				0x26, 0xff, 0x00, 0x75, 0x08, 0x95, 0x40, 0x09, 0x02,
				0x81, 0x02, 0x95, 0x40, 0x09, 0x03, 0x91, 0x02, 0xc0};

static void put(const uint8_t *p, size_t n)
{
	memcpy(config_desc + config_n, p, n);
	config_n += n;
}

static void put_endpoint(uint8_t ep, bool bulk, unsigned packet)
{
	put((uint8_t[]){7, 5, ep, bulk ? 2 : 3, (uint8_t)packet, (uint8_t)(packet >> 8),
			bulk ? 0 : 1},
	    7);
}

/* Those below its own: there, and of no use (a disk without a driver in the guest). */
static void put_useless(uint8_t number)
{
	put((uint8_t[]){9, 4, number, 0, 2, 8, 6, 0x50, 0}, 9);
	put_endpoint((uint8_t)(0x88 + number), true, 64);
	put_endpoint((uint8_t)(0x08 + number), true, 64);
}

static void describe(void)
{
	const struct emu_usb *u = &model->usb;
	bool hid = u->class_ == 3, tmc = u->class_ == 0xfe;
	uint8_t interfaces = (uint8_t)(u->interface + 1);

	memcpy(device_desc,
	       (uint8_t[]){18, 1, 0x00, 0x02, 0, 0, 0, 64, (uint8_t)u->vid, (uint8_t)(u->vid >> 8),
			   (uint8_t)u->pid, (uint8_t)(u->pid >> 8), 0, 1, 1, 2, 3, 1},
	       sizeof(device_desc));
	put((uint8_t[]){9, 2, 0, 0, interfaces, 1, 0, 0x80, 50}, 9);
	for (uint8_t i = 0; i < u->interface; i++)
		put_useless(i);
	put((uint8_t[]){9, 4, u->interface, 0, (uint8_t)(tmc ? 3 : 2), u->class_, tmc ? 3 : 0,
			tmc ? 1 : 0, 0},
	    9);
	if (hid)
		put((uint8_t[]){9, 0x21, 0x11, 0x01, 0, 1, 0x22, sizeof(report_desc), 0}, 9);
	put_endpoint(u->ep_in, u->bulk, u->packet);
	put_endpoint(u->ep_out, u->bulk, u->packet);
	if (tmc)
		put_endpoint(0x87, false, 2);
	config_desc[2] = (uint8_t)config_n;
	config_desc[3] = (uint8_t)(config_n >> 8);
	usb.device = device_desc;
	usb.config = config_desc;
	usb.config_n = config_n;
	usb.string[1] = u->maker;
	usb.string[2] = u->product;
	usb.string[3] = setup.serial ? *setup.serial ? setup.serial : NULL : u->serial;
	if (!usb.string[3])
		device_desc[16] = 0;
}

/* ------------------------------------------------------------- what the meter says */

static void said(void *ctx, int64_t at, const void *p, size_t n)
{
	struct queued *q = &queue[queued];

	(void)ctx;
	if (queued == QUEUE)
		return;
	*q = (struct queued){.at = at, .n = n, .p = malloc(n ? n : 1)};
	memcpy(q->p, p, n);
	queued++;
}

static const struct emu_out out = {.send = said};

static void forget(void)
{
	while (queued)
		free(queue[--queued].p);
	message_n = asked = 0;
}

static void said_first_gone(void)
{
	free(queue[0].p);
	memmove(queue, queue + 1, --queued * sizeof(queue[0]));
}

/* The next packet of what it said, in u; false: nothing is due. */
static bool next_packet(struct urb *u)
{
	struct queued *q = queue;
	size_t n;

	if (!queued || q->at > now_ns())
		return false;
	n = q->n - q->done;
	/* A transfer holds whole packets, and the one that ends it is shorter. */
	n = n < u->want ? n : u->want;
	memcpy(u->data, q->p + q->done, n);
	u->have = n;
	q->done += n;
	if (q->done == q->n && (n % model->usb.packet || !n || model->wire == EMU_HID))
		said_first_gone();
	else if (q->done == q->n && n == u->want)
		said_first_gone(); /* full packets only: the vendors send no empty one after */
	return true;
}

/* An answer, or as much of it as was asked for. */
static bool next_answer(struct urb *u)
{
	struct queued *q = queue;
	size_t n, left;

	if (!asked || !queued || q->at > now_ns())
		return false;
	left = q->n - q->done;
	n = left < asked ? left : asked;
	n = n + 12 + 3 < u->want ? n : u->want - 15;
	memset(u->data, 0, 12);
	u->data[0] = 2;
	u->data[1] = asked_tag;
	u->data[2] = (uint8_t)~asked_tag;
	u->data[4] = (uint8_t)n;
	u->data[5] = (uint8_t)(n >> 8);
	u->data[8] = n == left;
	memcpy(u->data + 12, q->p + q->done, n);
	u->have = 12 + n;
	while (u->have % 4)
		u->data[u->have++] = 0;
	q->done += n;
	asked = 0;
	if (q->done == q->n)
		said_first_gone();
	return true;
}

static bool next_nonsense(struct urb *u)
{
	u->have = u->want < 64 ? u->want : 64;
	for (size_t i = 0; i < u->have; i++)
		u->data[i] = (uint8_t)(emu_random(&seed) >> 24);
	return true;
}

/* What the host waits for, as far as there is something. */
static void give(void)
{
	struct urb *u;

	while (!nak && !halted && (u = usbip_first(&usb, model->usb.ep_in))) {
		if (stalls) {
			stalls--;
			refused++;
			halted = true;
			usbip_finish(&usb, u, -EPIPE);
			continue;
		}
		if (!(nonsense		       ? next_nonsense(u)
		      : model->wire == EMU_TMC ? next_answer(u)
					       : next_packet(u)))
			return;
		packets_in++;
		usbip_finish(&usb, u, 0);
		if (nonsense)
			return; /* one a turn: the line's pace */
	}
}

/* ------------------------------------------------------------ what the host says */

static void tell_model(const uint8_t *p, size_t n)
{
	model->host(state, now_ns(), p, n, &out);
}

static void from_tmc(const uint8_t *p, size_t n)
{
	size_t size;

	if (n < 12 || (p[1] ^ p[2]) != 0xff)
		return;
	size = p[4] | (size_t)p[5] << 8 | (size_t)p[6] << 16;
	if (p[0] == 2) {
		asked_tag = p[1];
		asked = size;
	} else if (p[0] == 1 && size <= n - 12 && size <= MESSAGE - message_n) {
		memcpy(message + message_n, p + 12, size);
		message_n += size;
		if (p[8] & 1) {
			tell_model(message, message_n);
			message_n = 0;
		}
	}
}

static int from_host(void *ctx, struct urb *u)
{
	(void)ctx;
	if (nak || deaf)
		return 0;
	packets_out++;
	if (model->wire == EMU_TMC)
		from_tmc(u->data, u->want);
	else
		tell_model(u->data, u->want);
	return 1;
}

static int control(void *ctx, const uint8_t *s, const uint8_t *data, uint8_t *to)
{
	(void)ctx;
	if (s[0] == 0x81 && s[1] == 6 && s[3] == 0x22 && model->wire == EMU_HID) {
		memcpy(to, report_desc, sizeof(report_desc));
		return sizeof(report_desc);
	}
	if (s[0] == 0x02 && s[1] == 1 && s[4] == model->usb.ep_in) {
		halted = false;
		cleared++;
		return 0;
	}
	if (model->wire == EMU_HID && s[0] == 0x21) {
		if (s[1] == 9) /* SET_REPORT */
			tell_model(data, s[6] | (size_t)s[7] << 8);
		return s[1] == 9 || s[1] == 10 ? 0 : -EPIPE;
	}
	if (model->wire != EMU_TMC || s[0] != 0xa1)
		return USBIP_OTHER;
	to[0] = 1; /* STATUS_SUCCESS */
	switch (s[1]) {
	case 5: /* INITIATE_CLEAR */
		forget();
		halted = false;
		cleared++;
		return 1;
	case 6: /* CHECK_CLEAR_STATUS */
		return 2;
	case 7: /* GET_CAPABILITIES */
		to[2] = 0;
		to[3] = 1;
		return 24;
	default:
		return -EPIPE;
	}
}

/* ------------------------------------------------------------------- the orders */

static void plug(void)
{
	forget();
	halted = false;
	free(state);
	state = calloc(1, model->state_size);
	if (!state || model->init(state, &setup) < 0) {
		fprintf(stderr, "usbip_meter: %s has no fault '%s'\n", model->name, setup.fault);
		exit(2);
	}
	usbip_plug(&usb, port, 2);
}

static void tell(const char *path)
{
	char part[1100];
	FILE *f;

	snprintf(part, sizeof(part), "%s.part", path);
	f = fopen(part, "w");
	if (!f)
		usbip_die(&usb, part);
	fprintf(f,
		"plugged=%d\nin=%lu\nout=%lu\ncleared=%lu\nrefused=%lu\nqueued=%zu\n"
		"most_urbs=%zu\nunlinked=%lu\nwaiting=%zu\n",
		usb.sock >= 0, packets_in, packets_out, cleared, refused, usb.urbs, usb.most_urbs,
		usb.unlinked, queued);
	fclose(f);
	rename(part, path);
}

/* What was kept waiting is taken now. */
static void go(void)
{
	struct urb *u;

	nak = deaf = nonsense = false;
	stalls = 0;
	while ((u = usbip_first(&usb, model->usb.ep_out))) {
		from_host(NULL, u);
		usbip_finish(&usb, u, 0);
	}
}

static int order(char *s)
{
	if (!strncmp(s, "plug", 4)) {
		if (s[4])
			port = (unsigned)atoi(s + 4);
		plug();
	} else if (!strcmp(s, "unplug")) {
		usbip_unplug(&usb);
	} else if (!strcmp(s, "nak")) {
		nak = true;
	} else if (!strcmp(s, "deaf")) {
		deaf = true;
	} else if (!strcmp(s, "nonsense")) {
		nonsense = true;
	} else if (!strcmp(s, "go")) {
		go();
	} else if (!strncmp(s, "stall ", 6)) {
		stalls = (unsigned)atoi(s + 6);
	} else if (!strncmp(s, "tell ", 5)) {
		tell(s + 5);
	} else if (!strcmp(s, "quit")) {
		return 0;
	}
	return 1;
}

/* --------------------------------------------------------------------- the loop */

static int64_t due(void)
{
	int64_t at = model->due ? model->due(state) : EMU_NEVER;

	if (queued && queue[0].at > now_ns() && queue[0].at < at)
		at = queue[0].at;
	if (nonsense && usbip_first(&usb, model->usb.ep_in))
		return now_ns() + EMU_MS / 10;
	return at;
}

static void loop(int orders)
{
	for (;;) {
		int64_t at = due(), wait = at == EMU_NEVER ? EMU_S : at - now_ns();
		struct pollfd p[2] = {{.fd = orders, .events = POLLIN},
				      {.fd = usb.sock, .events = POLLIN}};
		struct timespec ts;

		wait = wait < 0 ? 0 : wait < EMU_S ? wait : EMU_S;
		ts = (struct timespec){wait / EMU_S, wait % EMU_S};
		if (ppoll(p, 2, &ts, NULL) < 0 && errno != EINTR)
			usbip_die(&usb, "poll");
		if (model->due && model->due(state) <= now_ns())
			model->tick(state, now_ns(), &out);
		if (p[1].revents && usbip_serve(&usb) < 0)
			usbip_unplug(&usb);
		if (usb.sock >= 0)
			give();
		if (p[0].revents && !usbip_orders(orders, order))
			return;
	}
}

int main(int argc, char **argv)
{
	const char *fifo = NULL;
	int fd;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--model"))
			model = emu_find(argv[i + 1]);
		else if (!strcmp(argv[i], "--control"))
			fifo = argv[i + 1];
		else if (!strcmp(argv[i], "--port"))
			port = (unsigned)atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--serial"))
			setup.serial = argv[i + 1];
		else if (!strcmp(argv[i], "--fault"))
			setup.fault = argv[i + 1];
		else if (!strcmp(argv[i], "--amps"))
			setup.amps = atof(argv[i + 1]);
		else if (!strcmp(argv[i], "--volts"))
			setup.volts = atof(argv[i + 1]);
	}
	if (!model || !model->usb.vid) {
		fprintf(stderr, "usbip_meter: --model NAME, one with a USB side\n");
		return 2;
	}
	usb.control = control;
	usb.out = from_host;
	describe();
	fd = usbip_control_open(&usb, fifo);
	plug();
	loop(fd);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Yokogawa WT310: by USB test and measurement, and the same tree on a serial line. */
#include "scpi.h"

static const struct scpi_kind usb = {.maker = "YOKOGAWA",
				     .model = "WT310",
				     .serial = "C2PH13047V",
				     .firmware = "F1.03",
				     .end = "\n",
				     .message = true,
				     .elements = true,
				     .period_ns = 250 * EMU_MS,
				     .answer_ns = 3 * EMU_MS};
static const struct scpi_kind serial = {.maker = "YOKOGAWA",
					.model = "WT310",
					.serial = "C2PH13047V",
					.firmware = "F1.03",
					.end = "\r\n",
					.elements = true,
					.period_ns = 250 * EMU_MS,
					.answer_ns = 5 * EMU_MS};

static int usb_init(void *state, const struct emu_setup *s)
{
	return scpi_init(state, s, &usb);
}

static int serial_init(void *state, const struct emu_setup *s)
{
	return scpi_init(state, s, &serial);
}

static void host(void *state, int64_t now, const uint8_t *p, size_t n, const struct emu_out *out)
{
	scpi_host(state, now, p, n, out);
}

static int64_t due(const void *state)
{
	return scpi_due(state);
}

static void tick(void *state, int64_t now, const struct emu_out *out)
{
	scpi_tick(state, now, out);
}

static void truth(const void *state, int64_t now, double out[4])
{
	scpi_truth(state, now, out);
}

const struct emu_model emu_wt310 = {
	.name = "wt310",
	.faults = SCPI_FAULTS,
	.wire = EMU_TMC,
	.usb = {.vid = 0x0b21,
		.pid = 0x0025,
		.maker = "Yokogawa",
		.product = "WT310",
		.serial = "C2PH13047V",
		.class_ = 0xfe,
		.ep_in = 0x81,
		.ep_out = 0x02,
		.bulk = 1,
		.packet = 64},
	.state_size = sizeof(struct scpi),
	.init = usb_init,
	.host = host,
	.due = due,
	.tick = tick,
	.truth = truth,
};

const struct emu_model emu_wt310_serial = {
	.name = "wt310-serial",
	.faults = SCPI_FAULTS,
	.wire = EMU_STREAM,
	.baud = 9600,
	.state_size = sizeof(struct scpi),
	.init = serial_init,
	.host = host,
	.due = due,
	.tick = tick,
	.truth = truth,
};

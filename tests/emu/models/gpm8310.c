/* SPDX-License-Identifier: MIT */
/* GW Instek GPM-8310: SCPI lines on its CDC port or its socket; headers are on at first. */
#include "scpi.h"

static const struct scpi_kind kind = {.maker = "GWInstek",
				      .model = "GPM-8310",
				      .serial = "GES913349",
				      .firmware = "V1.05",
				      .end = "\r\n",
				      .engineering = true,
				      .period_ns = 1000 * EMU_MS,
				      .answer_ns = 20 * EMU_MS};

static int init(void *state, const struct emu_setup *s)
{
	return scpi_init(state, s, &kind);
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

const struct emu_model emu_gpm8310 = {
	.name = "gpm8310",
	.faults = SCPI_FAULTS,
	.wire = EMU_STREAM,
	.state_size = sizeof(struct scpi),
	.init = init,
	.host = host,
	.due = due,
	.tick = tick,
	.truth = truth,
};

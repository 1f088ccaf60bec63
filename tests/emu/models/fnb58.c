/* SPDX-License-Identifier: MIT */
/*
 * FNIRSI FNB58 and FNB48: after the beginning's commands, 25 reports a second with four
 * samples each, as long as the host keeps asking. Source: what public tools agree upon.
 */
#include "faults.h"

#define REPORT 64
#define PERIOD (40 * EMU_MS)
#define SAMPLE (10 * EMU_MS)

struct fnb {
	struct emu_setup s;
	bool old; /* FNB48, C1: begins and is kept alive in another way */
	int64_t born, next, alive, began;
	unsigned step; /* of the beginning */
	unsigned reports;
	uint32_t seed;
	bool seen, streaming, stopped;
};

static const char faults[] =
	"crc types junk stops dies silent garbage short lost slow freeze mute81 fnb48";

static int init(struct fnb *f, const struct emu_setup *s, bool old)
{
	f->s = *s;
	f->old = old || emu_fault(s, "fnb48");
	f->next = EMU_NEVER;
	f->seed = s->seed;
	return emu_faults_known(s, faults);
}

static int init58(void *state, const struct emu_setup *s)
{
	return init(state, s, false);
}

static int init48(void *state, const struct emu_setup *s)
{
	return init(state, s, true);
}

/* CRC-8, polynomial 0x39, from 0x42, over bytes 1..62. */
static uint8_t crc(const uint8_t *p)
{
	uint8_t c = 0x42;

	for (size_t i = 1; i < REPORT - 1; i++) {
		c ^= p[i];
		for (int b = 0; b < 8; b++)
			c = (uint8_t)(c & 0x80 ? (c << 1) ^ 0x39 : c << 1);
	}
	return c;
}

static void other(struct fnb *f, int64_t at, uint8_t type, const struct emu_out *out)
{
	uint8_t p[REPORT] = {0xaa, type};

	for (size_t i = 2; i < REPORT - 1; i++)
		p[i] = (uint8_t)(emu_random(&f->seed) >> 24);
	p[REPORT - 1] = crc(p);
	out->send(out->ctx, at, p, sizeof(p));
}

static void begin(struct fnb *f, int64_t now)
{
	f->streaming = true;
	f->stopped = false;
	f->began = f->alive = now;
	f->reports = 0;
	f->next = now + PERIOD;
}

/* AA 81, AA 82, then AA 82 again (FNB58) or AA 83 (FNB48). */
static void command(struct fnb *f, int64_t now, uint8_t c, const struct emu_out *out)
{
	if (c == 0x81) {
		f->step = 1;
		if (!emu_fault(&f->s, "mute81"))
			other(f, now + EMU_MS, 0x03, out);
	} else if (c == 0x82 && f->step == 1) {
		f->step = 2;
	} else if (f->step == 2 && c == (f->old ? 0x83 : 0x82)) {
		f->step = 3;
		begin(f, now);
	} else if (f->streaming && c == 0x83) {
		f->alive = now;
	}
}

static void host(void *state, int64_t now, const uint8_t *p, size_t n, const struct emu_out *out)
{
	struct fnb *f = state;

	if (!f->seen)
		f->born = now;
	f->seen = true;
	if (n != REPORT || p[0] != 0xaa || p[REPORT - 1] != crc(p) || emu_fault(&f->s, "silent"))
		return;
	if (emu_fault(&f->s, "dies") && now - f->born > 5 * EMU_S)
		return;
	command(f, now, p[1], out);
}

static void fill(struct fnb *f, int64_t now, uint8_t *p)
{
	memset(p, 0, REPORT);
	p[0] = 0xaa;
	p[1] = 0x04;
	for (int k = 0; k < 4; k++) {
		int64_t t = emu_fault(&f->s, "freeze") ? f->began : now - (3 - k) * SAMPLE;
		uint8_t *q = p + 2 + 15 * k;

		emu_le(q, emu_code(f->s.volts, 1e-5, UINT32_MAX), 4);
		emu_le(q + 4, emu_code(emu_amps(&f->s, t), 1e-5, UINT32_MAX), 4);
		emu_le(q + 8, 600, 2);
		emu_le(q + 10, 601, 2);
		q[12] = 1;
		emu_le(q + 13, 305, 2);
		if (emu_fault(&f->s, "junk") && f->reports == 1 && k == 0) {
			emu_le(q, 18874000, 4);
			emu_le(q + 4, 17039000, 4);
		}
	}
	p[REPORT - 1] = crc(p);
}

static void report(struct fnb *f, int64_t now, const struct emu_out *out)
{
	int64_t at = now + (emu_fault(&f->s, "slow") ? 500 * EMU_MS : 0);
	uint8_t p[REPORT];

	f->reports++;
	if (emu_fault(&f->s, "types") && f->reports % 5 == 0)
		other(f, at, f->reports % 2 ? 0x03 : 0x05, out);
	if (emu_fault(&f->s, "lost") && f->reports % 10 == 0)
		return;
	fill(f, now, p);
	if (emu_fault(&f->s, "crc") && f->reports % 7 == 0)
		p[10] ^= 0x40;
	for (size_t i = 0; emu_fault(&f->s, "garbage") && i < REPORT; i++)
		p[i] = (uint8_t)(emu_random(&f->seed) >> 24);
	out->send(out->ctx, at, p, emu_fault(&f->s, "short") && f->reports % 6 == 0 ? 31 : REPORT);
}

static int64_t due(const void *state)
{
	return ((const struct fnb *)state)->next;
}

/* Kept alive each second, or each 3 ms on the old ones; a little patience each. */
static void tick(void *state, int64_t now, const struct emu_out *out)
{
	struct fnb *f = state;
	bool stops = emu_fault(&f->s, "stops") && !f->stopped && now - f->began > 3 * EMU_S;
	bool dead = emu_fault(&f->s, "dies") && now - f->born > 5 * EMU_S;

	if (now - f->alive > (f->old ? PERIOD : 2 * EMU_S) || stops || dead) {
		f->streaming = false;
		f->stopped = true;
		f->step = 0;
		f->next = EMU_NEVER;
		return;
	}
	report(f, now, out);
	f->next += PERIOD;
}

/* It has no register of energy to tell. */
static void truth(const void *state, int64_t now, double out[4])
{
	const struct fnb *f = state;
	int64_t t = emu_fault(&f->s, "freeze") ? f->began : now;

	out[0] = f->s.volts;
	out[1] = emu_amps(&f->s, t);
	out[2] = emu_watts(&f->s, t);
	out[3] = f->s.wh;
}

extern const struct emu_model emu_fnb58, emu_fnb48;
const struct emu_model emu_fnb58 = {.name = "fnb58",
				    .faults = faults,
				    .wire = EMU_HID,
				    .usb = {.vid = 0x2e3c,
					    .pid = 0x5558,
					    .maker = "FNIRSI",
					    .product = "FNB-58",
					    .serial = "FNB58-1",
					    .interface = 3,
					    .class_ = 3,
					    .ep_in = 0x83,
					    .ep_out = 0x03,
					    .packet = REPORT},
				    .state_size = sizeof(struct fnb),
				    .init = init58,
				    .host = host,
				    .due = due,
				    .tick = tick,
				    .truth = truth};
const struct emu_model emu_fnb48 = {.name = "fnb48",
				    .faults = faults,
				    .wire = EMU_HID,
				    .usb = {.vid = 0x0483,
					    .pid = 0x003a,
					    .maker = "FNIRSI",
					    .product = "USB Tester",
					    .serial = "FNB48-1",
					    .interface = 0,
					    .class_ = 3,
					    .ep_in = 0x81,
					    .ep_out = 0x01,
					    .packet = REPORT},
				    .state_size = sizeof(struct fnb),
				    .init = init48,
				    .host = host,
				    .due = due,
				    .tick = tick,
				    .truth = truth};

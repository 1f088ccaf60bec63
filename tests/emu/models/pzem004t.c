/* SPDX-License-Identifier: MIT */
/*
 * Peacefair PZEM-004T v3, from the maker's manual: registers of 16 bits, 32-bit values
 * low word first, new ones each second, loads below 0.4 W read 0. And what may be found
 * in its place, or become of it:
 *
 * mainsoff  silent from 5 s to 12 s after the first request: it lives on the mains
 * wrap      the energy register is about to start again (9999.99 kWh), 1 Wh each second
 * addrlost  after 5 s its own address is gone: 1, or none but the general one if it was 1
 * ownaddr   asked at the general address it answers with its own
 * low       a load of 0.3 W, whatever the setup says: reads 0
 * repeat    registers are renewed only every third second
 * stuck     registers are never renewed after the first 5 s
 * cleared   after 5 s somebody clears the energy register
 * v1        the older meter of the same name: frames of 7 bytes, no Modbus
 * dc        a PZEM-017 in its place: eight registers in another order
 */
#include "mbslave.h"

#include <math.h>
#include <string.h>

#define BAUD	  9600
#define WRAP_WH	  9999990.0
#define EVENT_NS  (5 * EMU_S)
#define BACK_NS	  (12 * EMU_S)
#define START_W	  0.4
#define GENERAL	  0xf8
#define PHASE_NS  (370 * EMU_MS)
#define REGISTERS 10

struct pzem {
	struct mb_slave m; /* first */
	double wh;	   /* at energy_ns */
	int64_t energy_ns;
	bool counting, cleared;
	uint16_t alarm_w;
	int64_t fresh_ns; /* when the registers were renewed */
	uint16_t reg[REGISTERS];
};

static bool fault(const struct pzem *z, const char *name)
{
	return mb_slave_fault(&z->m, name);
}

static int pz_init(void *state, const struct emu_setup *s)
{
	static const char own[] = "mainsoff wrap addrlost ownaddr low repeat stuck cleared v1 dc";
	struct pzem *z = state;

	if (s->fault && *s->fault && !emu_has(MB_FAULTS, s->fault) && !emu_has(own, s->fault))
		return -1;
	mb_slave_init(&z->m, s, BAUD, 12 * EMU_MS, 0);
	z->m.general = GENERAL;
	z->wh = fault(z, "wrap") ? WRAP_WH - 4 : s->wh;
	z->alarm_w = 23000;
	return 0;
}

static double amps(const struct pzem *z, int64_t now)
{
	if (fault(z, "low"))
		return z->m.s.volts > 0 ? 0.3 / z->m.s.volts / z->m.s.pf : 0;
	return emu_amps(&z->m.s, now);
}

static double watts(const struct pzem *z, int64_t now)
{
	return z->m.s.volts * amps(z, now) * z->m.s.pf;
}

static double energy(const struct pzem *z, int64_t now)
{
	double h = z->counting ? (double)(now - z->energy_ns) / 3.6e12 : 0;
	double w = (watts(z, now) + watts(z, z->counting ? z->energy_ns : now)) / 2;
	double wh = z->wh + (fault(z, "wrap") ? h * 3600 : w >= START_W ? w * h : 0);

	return fmod(wh, WRAP_WH);
}

static void put32(uint16_t *reg, double v)
{
	uint32_t u = (uint32_t)llround(v);

	reg[0] = (uint16_t)(u & 0xffff);
	reg[1] = (uint16_t)(u >> 16);
}

/* What the registers hold is what was measured at the last full second. */
static void renew(struct pzem *z, int64_t now)
{
	int64_t step = fault(z, "repeat") ? 3 * EMU_S : EMU_S;
	int64_t t = (now - PHASE_NS) / step * step + PHASE_NS;
	double a, w;

	if (fault(z, "stuck") && now - z->m.born_ns > EVENT_NS)
		t = z->fresh_ns;
	if (t == z->fresh_ns)
		return;
	z->fresh_ns = t;
	a = amps(z, t);
	w = watts(z, t);
	memset(z->reg, 0, sizeof(z->reg));
	z->reg[0] = (uint16_t)lround(z->m.s.volts * 10);
	if (w >= START_W) {
		put32(z->reg + 1, a * 1000);
		put32(z->reg + 3, w * 10);
		z->reg[8] = (uint16_t)lround(z->m.s.pf * 100);
	}
	put32(z->reg + 5, floor(energy(z, t > z->energy_ns ? t : z->energy_ns)));
	z->reg[7] = (uint16_t)lround(z->m.s.hz * 10);
	z->reg[9] = w >= z->alarm_w ? 0xffff : 0;
}

/* The PZEM-017's registers: 0.01 V, 0.01 A, no frequency. */
static void renew_dc(const struct pzem *z, int64_t now, uint16_t *reg)
{
	memset(reg, 0, REGISTERS * sizeof(*reg));
	reg[0] = (uint16_t)lround(z->m.s.volts * 100);
	reg[1] = (uint16_t)lround(amps(z, now) * 100);
	put32(reg + 2, watts(z, now) * 10);
	put32(reg + 4, floor(energy(z, now)));
}

static size_t give(uint8_t *rep, uint8_t fn, const uint16_t *reg, unsigned first, unsigned count,
		   unsigned have)
{
	if (count == 0 || first + count > have)
		return mb_exception(rep, fn, 2);
	rep[0] = fn;
	rep[1] = (uint8_t)(2 * count);
	for (unsigned i = 0; i < count; i++) {
		rep[2 + 2 * i] = (uint8_t)(reg[first + i] >> 8);
		rep[3 + 2 * i] = (uint8_t)(reg[first + i] & 0xff);
	}
	return 2 + 2 * count;
}

static size_t write_one(struct pzem *z, const uint8_t *req, uint8_t *rep)
{
	unsigned at = req[1] * 256u + req[2], v = req[3] * 256u + req[4];

	if (at != 1 && at != 2)
		return mb_exception(rep, 6, 2);
	if (at == 2 && (v < 1 || v > 0xf7))
		return mb_exception(rep, 6, 3);
	if (at == 1)
		z->alarm_w = (uint16_t)v;
	else
		z->m.address = (uint8_t)v;
	memcpy(rep, req, 5);
	return 5;
}

static size_t answer(void *ctx, int64_t now, const uint8_t *req, size_t n, uint8_t *rep)
{
	struct pzem *z = ctx;
	unsigned first = n == 5 ? req[1] * 256u + req[2] : 0, count = n == 5 ? req[4] : 0;
	uint16_t holding[3] = {0, z->alarm_w, z->m.address}, dc[REGISTERS];

	if (fault(z, "ownaddr") && z->m.in[0] == GENERAL)
		z->m.rep[0] = z->m.address;
	if (req[0] == 0x42 && n == 1) {
		z->wh = 0;
		z->energy_ns = now;
		z->fresh_ns = 0;
		rep[0] = 0x42;
		return 1;
	}
	if (n != 5 || req[3])
		return mb_exception(rep, req[0], 1);
	switch (req[0]) {
	case 3:
		return give(rep, 3, holding, first, count, 3);
	case 4:
		if (fault(z, "dc")) {
			renew_dc(z, now, dc);
			return give(rep, 4, dc, first, count, 8);
		}
		renew(z, now);
		return give(rep, 4, z->reg, first, count, REGISTERS);
	case 6:
		return write_one(z, req, rep);
	default:
		return mb_exception(rep, req[0], 1);
	}
}

/* The older meter: command, address of 4 bytes, a byte, the sum of all. */
static void old_one(struct pzem *z, int64_t now, const struct emu_out *out)
{
	uint8_t r[7] = {0}, sum = 0;
	double v = 0;

	for (int i = 0; i < 6; i++)
		sum = (uint8_t)(sum + z->m.in[i]);
	if (z->m.n != 7 || z->m.spoilt || z->m.in[6] != sum || z->m.in[0] < 0xb0 ||
	    z->m.in[0] > 0xb5)
		return;
	r[0] = z->m.in[0] & 0xaf;
	if (r[0] == 0xa0)
		v = z->m.s.volts;
	if (r[0] == 0xa1)
		v = amps(z, now);
	if (r[0] == 0xa2 || r[0] == 0xa3)
		v = floor(r[0] == 0xa2 ? watts(z, now) : energy(z, now));
	if (r[0] == 0xa0) {
		r[1] = (uint8_t)((int)v >> 8);
		r[2] = (uint8_t)(int)v;
		r[3] = (uint8_t)(int)(fmod(v, 1) * 10 + 0.5);
	} else if (r[0] == 0xa1) {
		r[2] = (uint8_t)(int)v;
		r[3] = (uint8_t)(int)(fmod(v, 1) * 100 + 0.5);
	} else if (r[0] == 0xa2) {
		r[1] = (uint8_t)((int)v >> 8);
		r[2] = (uint8_t)(int)v;
	} else if (r[0] == 0xa3) {
		r[1] = (uint8_t)((int)v >> 16);
		r[2] = (uint8_t)((int)v >> 8);
		r[3] = (uint8_t)(int)v;
	}
	for (int i = 0; i < 6; i++)
		r[6] = (uint8_t)(r[6] + r[i]);
	out->send(out->ctx, now + 30 * EMU_MS, r, 7);
}

static void pz_host(void *state, int64_t now, const uint8_t *p, size_t n, const struct emu_out *out)
{
	struct pzem *z = state;

	/* Counted up to now: the load may be another from here on. */
	if (z->counting)
		z->wh = energy(z, now);
	z->counting = true;
	z->energy_ns = now;
	mb_slave_host(&z->m, now, p, n, out);
}

static int64_t pz_due(const void *state)
{
	return mb_slave_due(&((const struct pzem *)state)->m);
}

static void pz_tick(void *state, int64_t now, const struct emu_out *out)
{
	struct pzem *z = state;
	int64_t age = now - z->m.born_ns;

	if (fault(z, "addrlost") && age > EVENT_NS && z->m.address != 0)
		z->m.address = z->m.s.address > 1 ? 1 : 0xff;
	if (fault(z, "cleared") && age > EVENT_NS && !z->cleared) {
		z->cleared = true;
		z->wh = 0;
		z->energy_ns = now;
	}
	if (fault(z, "v1") || (fault(z, "mainsoff") && age > EVENT_NS && age < BACK_NS)) {
		if (fault(z, "v1") && z->m.n)
			old_one(z, now, out);
		z->m.n = z->m.rep_n = 0;
		z->m.spoilt = false;
		return;
	}
	mb_slave_tick(&z->m, now, out, answer, z);
}

static void pz_truth(const void *state, int64_t now, double out[4])
{
	const struct pzem *z = state;

	out[0] = z->m.s.volts;
	out[1] = amps(z, now);
	out[2] = watts(z, now);
	out[3] = energy(z, now);
}

const struct emu_model emu_pzem004t = {
	.name = "pzem004t",
	.faults = MB_FAULTS " mainsoff wrap addrlost ownaddr low repeat stuck cleared v1 dc",
	.wire = EMU_STREAM,
	.baud = BAUD,
	.state_size = sizeof(struct pzem),
	.init = pz_init,
	.host = pz_host,
	.due = pz_due,
	.tick = pz_tick,
	.truth = pz_truth,
};

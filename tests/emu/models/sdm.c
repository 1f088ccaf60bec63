/* SPDX-License-Identifier: MIT */
/*
 * Eastron SDM120 (2400 baud) and SDM230 (9600): each value an IEEE float in two input
 * registers, high word first; at most 80 registers a read; new values each half second;
 * 30 to 60 ms to answer. A request that comes less than 30 ms after the last answer
 * gets NaN, each second time. And:
 *
 * touchy    NaN if less than 100 ms were idle
 * refuse    registers that are not in its list give exception 2 (else they read 0.0)
 * noblock   more than two registers a read give exception 2
 * ddm18sd   the map of a meter that looks alike: current at 8, power at 18
 * cleared   after 5 s the energy registers start again at 0
 * reboot    from 5 s to 8 s it is away, then its values are 0.0 for a second
 * nan       each third answer holds NaN in place of the power
 * infinite  each third answer holds an infinity in place of the current
 */
#include "mbslave.h"

#include <math.h>
#include <string.h>

#define IDLE_NS	   (30 * EMU_MS)
#define TOUCHY_NS  (100 * EMU_MS)
#define EVENT_NS   (5 * EMU_S)
#define BACK_NS	   (8 * EMU_S)
#define RENEW_NS   (500 * EMU_MS)
#define PHASE_NS   (170 * EMU_MS)
#define MOST	   80
#define PI_DEGREES 57.29577951308232

struct sdm {
	struct mb_slave m; /* first */
	bool big;	   /* SDM230 */
	bool counting, cleared;
	double wh;
	int64_t energy_ns;
	unsigned hasty, answers;
};

static bool fault(const struct sdm *d, const char *name)
{
	return mb_slave_fault(&d->m, name);
}

static int sdm_init(struct sdm *d, const struct emu_setup *s, long baud, bool big)
{
	static const char own[] = "touchy refuse noblock ddm18sd cleared reboot nan infinite";

	if (s->fault && *s->fault && !emu_has(MB_FAULTS, s->fault) && !emu_has(own, s->fault))
		return -1;
	mb_slave_init(&d->m, s, baud, 30 * EMU_MS, 30 * EMU_MS);
	d->big = big;
	d->wh = s->wh;
	return 0;
}

static int sdm120_init(void *state, const struct emu_setup *s)
{
	return sdm_init(state, s, 2400, false);
}

static int sdm230_init(void *state, const struct emu_setup *s)
{
	return sdm_init(state, s, 9600, true);
}

static double energy(const struct sdm *d, int64_t now)
{
	double h = d->counting ? (double)(now - d->energy_ns) / 3.6e12 : 0;
	double w = emu_watts(&d->m.s, now) + emu_watts(&d->m.s, d->counting ? d->energy_ns : now);

	return d->wh + w / 2 * h;
}

/* The value at a register that it has; false: it has none there. */
static bool value(const struct sdm *d, unsigned reg, int64_t t, double *v)
{
	const struct emu_setup *s = &d->m.s;
	double a = emu_amps(s, t), w = emu_watts(s, t), va = s->volts * fabs(a);
	double var = sqrt(fmax(va * va - w * w, 0)),
	       wh = energy(d, t > d->energy_ns ? t : d->energy_ns);
	bool like = fault(d, "ddm18sd");
	const struct {
		unsigned reg;
		double v;
		bool small; /* the SDM120 has it too */
	} map[] = {{0x0000, s->volts, true},
		   {like ? 0x0008 : 0x0006, a, true},
		   {like ? 0x0012 : 0x000c, w, true},
		   {like ? 0x0016 : 0x0012, va, true},
		   {like ? 0x001a : 0x0018, var, true},
		   {0x001e, s->pf, true},
		   {0x0024, acos(fmin(s->pf, 1)) * PI_DEGREES, false},
		   {0x0046, s->hz, true},
		   {0x0048, wh / 1000, true},
		   {0x004a, 0, true},
		   {0x004c, 0, true},
		   {0x004e, 0, true},
		   {0x0054, w, false},
		   {0x0056, w, false},
		   {0x0156, wh / 1000, true},
		   {0x0158, 0, true},
		   {0x0180, wh / 1000, false}};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		if (map[i].reg != reg || (!map[i].small && !d->big))
			continue;
		*v = map[i].v;
		return true;
	}
	*v = 0;
	return false;
}

static void put_float(uint8_t p[4], double v)
{
	float f = (float)v;
	uint32_t u;

	memcpy(&u, &f, 4);
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(u >> (24 - 8 * i));
}

/* Is it asked too soon for its own good? */
static bool hasty(struct sdm *d)
{
	int64_t least = fault(d, "touchy") ? TOUCHY_NS : IDLE_NS;

	return d->m.idle_ns < least && d->hasty++ % 2 == 0;
}

static double shown(const struct sdm *d, unsigned reg, double v, bool nan_now)
{
	bool third = d->answers % 3 == 0;

	if (nan_now || (third && fault(d, "nan") && reg == 0x000c))
		return (double)NAN;
	if (third && fault(d, "infinite") && reg == 0x0006)
		return (double)INFINITY;
	return v;
}

static size_t read_input(struct sdm *d, int64_t now, unsigned first, unsigned count, uint8_t *rep)
{
	int64_t t = (now - PHASE_NS) / RENEW_NS * RENEW_NS + PHASE_NS;
	bool nan_now = hasty(d), any = false;
	int64_t age = now - d->m.born_ns;
	double v;

	d->answers++;
	if (count == 0 || count > MOST)
		return mb_exception(rep, 4, 3);
	if (first % 2 || count % 2 || (fault(d, "noblock") && count > 2))
		return mb_exception(rep, 4, 2);
	rep[0] = 4;
	rep[1] = (uint8_t)(2 * count);
	for (unsigned i = 0; i < count; i += 2) {
		bool has = value(d, first + i, t, &v);

		any |= has;
		/* In a block the holes between are given as 0. */
		if (!has && fault(d, "refuse") && count == 2)
			return mb_exception(rep, 4, 2);
		if (fault(d, "reboot") && age > BACK_NS && age < BACK_NS + EMU_S)
			v = 0;
		put_float(rep + 2 + 2 * i, shown(d, first + i, v, nan_now));
	}
	return any || !fault(d, "refuse") ? 2 + 2 * count : mb_exception(rep, 4, 2);
}

static size_t answer(void *ctx, int64_t now, const uint8_t *req, size_t n, uint8_t *rep)
{
	struct sdm *d = ctx;
	unsigned first = n == 5 ? req[1] * 256u + req[2] : 0;
	unsigned count = n == 5 ? req[3] * 256u + req[4] : 0;

	if (n != 5 || (req[0] != 3 && req[0] != 4))
		return mb_exception(rep, req[0], 1);
	if (req[0] == 4)
		return read_input(d, now, first, count, rep);
	/* Of what is set in it: its address. */
	if (first != 0x0014 || count != 2)
		return mb_exception(rep, 3, 2);
	rep[0] = 3;
	rep[1] = 4;
	put_float(rep + 2, d->m.address);
	return 6;
}

static void sdm_host(void *state, int64_t now, const uint8_t *p, size_t n,
		     const struct emu_out *out)
{
	struct sdm *d = state;

	/* Counted up to now: the load may be another from here on. */
	if (d->counting)
		d->wh = energy(d, now);
	d->counting = true;
	d->energy_ns = now;
	mb_slave_host(&d->m, now, p, n, out);
}

static int64_t sdm_due(const void *state)
{
	return mb_slave_due(&((const struct sdm *)state)->m);
}

static void sdm_tick(void *state, int64_t now, const struct emu_out *out)
{
	struct sdm *d = state;
	int64_t age = now - d->m.born_ns;

	if (fault(d, "cleared") && age > EVENT_NS && !d->cleared) {
		d->cleared = true;
		d->wh = 0;
		d->energy_ns = now;
	}
	if (fault(d, "reboot") && age > EVENT_NS && age < BACK_NS) {
		d->m.n = d->m.rep_n = 0;
		d->m.spoilt = false;
		return;
	}
	mb_slave_tick(&d->m, now, out, answer, d);
}

static void sdm_truth(const void *state, int64_t now, double out[4])
{
	const struct sdm *d = state;

	out[0] = d->m.s.volts;
	out[1] = emu_amps(&d->m.s, now);
	out[2] = emu_watts(&d->m.s, now);
	out[3] = energy(d, now);
}

#define SDM(n, speed)                                                                              \
	{                                                                                          \
		.name = #n,                                                                        \
		.faults = MB_FAULTS " touchy refuse noblock ddm18sd cleared reboot nan infinite",  \
		.wire = EMU_STREAM, .baud = (speed), .state_size = sizeof(struct sdm),             \
		.init = n##_init, .host = sdm_host, .due = sdm_due, .tick = sdm_tick,              \
		.truth = sdm_truth                                                                 \
	}

const struct emu_model emu_sdm120 = SDM(sdm120, 2400);
const struct emu_model emu_sdm230 = SDM(sdm230, 9600);

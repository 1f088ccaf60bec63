/* SPDX-License-Identifier: MIT */
/*
 * RuiDeng UM24C, UM25C and UM34C: the byte 0xF0 is answered by 130 bytes. The display,
 * and what is told, changes twice a second. Source: what public tools agree upon.
 */
#include "faults.h"

#define REFRESH (500 * EMU_MS)
#define ANSWER	130

enum kind { UM24C, UM25C, UM34C };

struct um {
	struct emu_setup s;
	enum kind kind;
	int64_t born, latched, due;
	unsigned asked;
	uint8_t group, threshold, backlight;
	uint16_t screen;
	uint32_t seed;
	bool seen;
};

/* What each fault does: see answer() and tick(). */
static const char faults[] =
	"lost check other silent dies pause garbage slow pieces junk babble freeze echo group "
	"um24c um34c";

static int init(struct um *u, const struct emu_setup *s, enum kind kind)
{
	u->s = *s;
	u->kind = emu_fault(s, "um24c") ? UM24C : emu_fault(s, "um34c") ? UM34C : kind;
	u->due = EMU_NEVER;
	u->seed = s->seed;
	u->group = emu_fault(s, "group") ? 3 : 0;
	u->backlight = 5;
	return emu_faults_known(s, faults);
}

static int init24(void *state, const struct emu_setup *s)
{
	return init(state, s, UM24C);
}

static int init25(void *state, const struct emu_setup *s)
{
	return init(state, s, UM25C);
}

static int init34(void *state, const struct emu_setup *s)
{
	return init(state, s, UM34C);
}

static void see(struct um *u, int64_t now)
{
	if (!u->seen) {
		u->born = u->latched = now;
		u->due = emu_fault(&u->s, "babble") ? now + 10 * EMU_MS : EMU_NEVER;
	}
	u->seen = true;
	if (!emu_fault(&u->s, "freeze")) {
		int64_t then = u->latched;

		u->latched += (now - then) / REFRESH * REFRESH;
		u->s.wh = emu_energy(&u->s, then, u->latched);
	}
}

/* No checksum at all but on the UM34C, and that over 32 odd bytes only. */
static void check(const struct um *u, uint8_t *p)
{
	static const uint8_t at[] = {1,	 3,  7,	 9,  15,  17,  19,  23,	 31,  39, 41,
				     45, 49, 53, 55, 57,  59,  63,  67,	 69,  73, 79,
				     83, 89, 97, 99, 109, 111, 113, 119, 121, 127};

	p[128] = 0xff;
	p[129] = 0xf1;
	if (u->kind == UM34C) {
		p[128] = p[129] = 0;
		for (size_t i = 0; i < sizeof(at); i++)
			p[129] ^= p[at[i]];
	}
	if (emu_fault(&u->s, "check"))
		p[129] ^= 0x55;
}

static void fill(const struct um *u, uint8_t *p)
{
	static const uint16_t model[] = {0x0963, 0x09c9, 0x0d4c};
	double a = emu_amps(&u->s, u->latched), w = emu_watts(&u->s, u->latched);
	double wh = u->s.wh;
	uint64_t mwh = emu_code(wh, 1e-3, UINT32_MAX);
	uint64_t mah = emu_code(u->s.volts > 0 ? wh / u->s.volts : 0, 1e-3, UINT32_MAX);
	bool fine = u->kind == UM25C;

	memset(p, 0, ANSWER);
	emu_be(p, emu_fault(&u->s, "other") ? 0x0b1d : model[u->kind], 2);
	emu_be(p + 2, emu_code(u->s.volts, fine ? 1e-3 : 1e-2, 0xffff), 2);
	emu_be(p + 4, emu_code(a, fine ? 1e-4 : 1e-3, 0xffff), 2);
	emu_be(p + 6, emu_code(w, 1e-3, UINT32_MAX), 4);
	emu_be(p + 10, 28, 2);
	emu_be(p + 12, 82, 2);
	emu_be(p + 14, u->group, 2);
	emu_be(p + 16 + 8 * u->group, mah, 4);
	emu_be(p + 20 + 8 * u->group, mwh, 4);
	emu_be(p + 96, 60, 2);
	emu_be(p + 98, 61, 2);
	emu_be(p + 100, 8, 2);
	emu_be(p + 102, mah, 4);
	emu_be(p + 106, mwh, 4);
	emu_be(p + 110, u->threshold, 2);
	emu_be(p + 112, (uint64_t)((u->latched - u->born) / EMU_S), 4);
	emu_be(p + 116, a * 100 > u->threshold, 2);
	emu_be(p + 120, u->backlight, 2);
	emu_be(p + 122, a > 0 ? emu_code(u->s.volts / a, 0.1, UINT32_MAX) : 9999999, 4);
	emu_be(p + 126, u->screen, 2);
	check(u, p);
}

static void noise(struct um *u, uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(emu_random(&u->seed) >> 24);
}

static void answer(struct um *u, int64_t now, const struct emu_out *out)
{
	int64_t at = now + (emu_fault(&u->s, "slow") ? 1500 : 40) * EMU_MS;
	int64_t up = now - u->born;
	uint8_t p[ANSWER], some[20];
	size_t n = ANSWER;

	u->asked++;
	if (emu_fault(&u->s, "silent") || (emu_fault(&u->s, "dies") && up > 5 * EMU_S) ||
	    (emu_fault(&u->s, "pause") && up > 5 * EMU_S && up < 12 * EMU_S))
		return;
	fill(u, p);
	if (emu_fault(&u->s, "garbage"))
		noise(u, p, ANSWER);
	if (emu_fault(&u->s, "lost") && u->asked % 3 == 0) {
		size_t hole = emu_random(&u->seed) % (ANSWER - 4);

		memmove(p + hole, p + hole + 3, ANSWER - hole - 3);
		n -= 3;
	}
	if (emu_fault(&u->s, "echo"))
		out->send(out->ctx, now, "\xf0", 1);
	if (emu_fault(&u->s, "junk")) {
		noise(u, some, sizeof(some));
		out->send(out->ctx, at, some, 1 + u->asked % sizeof(some));
	}
	for (size_t i = 0, k = n; i < n; i += k, at += 5 * EMU_MS) {
		if (emu_fault(&u->s, "pieces"))
			k = n - i < 17 ? n - i : 17;
		out->send(out->ctx, at, p + i, k);
	}
}

static void host(void *state, int64_t now, const uint8_t *p, size_t n, const struct emu_out *out)
{
	struct um *u = state;

	see(u, now);
	for (size_t i = 0; i < n; i++) {
		if (p[i] == 0xf0)
			answer(u, now, out);
		else if (p[i] == 0xf1)
			u->screen = (uint16_t)((u->screen + 1) % 6);
		else if (p[i] == 0xf2)
			u->group = (uint8_t)((u->group + 1) % 10);
		else if (p[i] >= 0xa0 && p[i] <= 0xa9)
			u->group = p[i] & 0x0f;
		else if (p[i] >= 0xb0 && p[i] <= 0xce)
			u->threshold = (uint8_t)(p[i] - 0xb0);
		else if (p[i] >= 0xd0 && p[i] <= 0xd5)
			u->backlight = p[i] & 0x0f;
	}
}

static int64_t due(const void *state)
{
	return ((const struct um *)state)->due;
}

/* "babble": it never stops to talk. */
static void tick(void *state, int64_t now, const struct emu_out *out)
{
	struct um *u = state;
	uint8_t some[32];

	noise(u, some, sizeof(some));
	out->send(out->ctx, now, some, sizeof(some));
	u->due = now + 10 * EMU_MS;
}

static void truth(const void *state, int64_t now, double out[4])
{
	const struct um *u = state;
	int64_t t = u->latched;

	if (u->seen && !emu_fault(&u->s, "freeze"))
		t += (now - t) / REFRESH * REFRESH;
	out[0] = u->s.volts;
	out[1] = emu_amps(&u->s, t);
	out[2] = emu_watts(&u->s, t);
	out[3] = emu_energy(&u->s, u->latched, t);
}

#define UM(variable, text, begin)                                                                  \
	const struct emu_model variable = {.name = text,                                           \
					   .faults = faults,                                       \
					   .wire = EMU_STREAM,                                     \
					   .state_size = sizeof(struct um),                        \
					   .init = begin,                                          \
					   .host = host,                                           \
					   .due = due,                                             \
					   .tick = tick,                                           \
					   .truth = truth}

/* Over Bluetooth nothing is paced by a baud rate. */
extern const struct emu_model emu_um24c, emu_um25c, emu_um34c;
UM(emu_um24c, "um24c", init24);
UM(emu_um25c, "um25c", init25);
UM(emu_um34c, "um34c", init34);

/* SPDX-License-Identifier: MIT */
/*
 * RuiDeng TC66 and TC66C: "getva" is answered by 192 bytes, enciphered with the one key
 * that all of them have; about five values a second at uneven times. Source: what public
 * tools agree upon.
 */
#if WW_WITH_NETTLE
#include "faults.h"

#include <nettle/aes.h>

#define ANSWER 192

struct tc66 {
	struct emu_setup s;
	int64_t born, latched, next, due;
	unsigned asked;
	uint32_t seed, serial;
	char said[6];
	bool seen;
};

static const char faults[] = "lost check other key boot silent dies pause garbage slow pieces "
			     "junk babble freeze cold sluggish drop";

static const uint8_t key[32] = {0x58, 0x21, 0xfa, 0x56, 0x01, 0xb2, 0xf0, 0x26, 0x87, 0xff, 0x12,
				0x04, 0x62, 0x2a, 0x4f, 0xb0, 0x86, 0xf4, 0x02, 0x60, 0x81, 0x6f,
				0x9a, 0x0b, 0xa7, 0xf1, 0x06, 0x61, 0x9a, 0xb8, 0x72, 0x88};

static int init(void *state, const struct emu_setup *s)
{
	struct tc66 *t = state;

	t->s = *s;
	t->due = EMU_NEVER;
	t->seed = s->seed;
	t->serial = 12345;
	for (const char *p = s->serial; p && *p >= '0' && *p <= '9'; p++)
		t->serial = (p == s->serial ? 0 : t->serial * 10) + (uint32_t)(*p - '0');
	return emu_faults_known(s, faults);
}

/* A new value each 150 to 250 ms. */
static int64_t pace(struct tc66 *t)
{
	return (150 + emu_random(&t->seed) % 101) * EMU_MS;
}

static void see(struct tc66 *t, int64_t now)
{
	if (!t->seen) {
		t->born = t->latched = now;
		t->next = now + pace(t);
		t->due = emu_fault(&t->s, "babble") ? now + 10 * EMU_MS : EMU_NEVER;
	}
	t->seen = true;
	while (t->next <= now) {
		if (!emu_fault(&t->s, "freeze")) {
			t->s.wh = emu_energy(&t->s, t->latched, t->next);
			t->latched = t->next;
		}
		t->next += pace(t);
	}
}

static uint16_t crc(const uint8_t *p, size_t n)
{
	uint16_t c = 0xffff;

	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int b = 0; b < 8; b++)
			c = (uint16_t)(c & 1 ? (c >> 1) ^ 0xa001 : c >> 1);
	}
	return c;
}

static void fill(const struct tc66 *t, uint8_t *p)
{
	double a = emu_amps(&t->s, t->latched), w = emu_watts(&t->s, t->latched);
	double wh = t->s.wh;

	memset(p, 0, ANSWER);
	memcpy(p, "pac1", 4);
	memcpy(p + 4, emu_fault(&t->s, "other") ? "TC99" : "TC66", 4);
	memcpy(p + 8, "1.14", 4);
	emu_le(p + 12, t->serial, 4);
	emu_le(p + 44, 7, 4);
	emu_le(p + 48, emu_code(t->s.volts, 1e-4, UINT32_MAX), 4);
	emu_le(p + 52, emu_code(a, 1e-5, UINT32_MAX), 4);
	emu_le(p + 56, emu_code(w, 1e-4, UINT32_MAX), 4);
	memcpy(p + 64, "pac2", 4);
	emu_le(p + 68, a > 0 ? emu_code(t->s.volts / a, 0.1, 99999) : 99999, 4);
	emu_le(p + 72, emu_code(t->s.volts > 0 ? wh / t->s.volts : 0, 1e-3, UINT32_MAX), 4);
	emu_le(p + 76, emu_code(wh, 1e-3, UINT32_MAX), 4);
	emu_le(p + 80, 11, 4);
	emu_le(p + 84, 22, 4);
	emu_le(p + 88, emu_fault(&t->s, "cold"), 4);
	emu_le(p + 92, emu_fault(&t->s, "cold") ? 5 : 28, 4);
	emu_le(p + 96, 60, 4);
	emu_le(p + 100, 61, 4);
	memcpy(p + 128, "pac3", 4);
	for (size_t i = 0; i < ANSWER; i += 64)
		emu_le(p + i + 60, crc(p + i, 60), 4);
	if (emu_fault(&t->s, "check"))
		p[60] ^= 0x55;
}

static void noise(struct tc66 *t, uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(emu_random(&t->seed) >> 24);
}

static void send(const struct tc66 *t, int64_t at, const uint8_t *p, size_t n,
		 const struct emu_out *out)
{
	for (size_t i = 0, k = n; i < n; i += k, at += 3 * EMU_MS) {
		if (emu_fault(&t->s, "pieces"))
			k = n - i < 20 ? n - i : 20;
		out->send(out->ctx, at, p + i, k);
	}
}

static bool mute(const struct tc66 *t, int64_t now)
{
	int64_t up = now - t->born;

	return emu_fault(&t->s, "silent") || (emu_fault(&t->s, "dies") && up > 5 * EMU_S) ||
	       (emu_fault(&t->s, "pause") && up > 5 * EMU_S && up < 12 * EMU_S);
}

static void values(struct tc66 *t, int64_t now, const struct emu_out *out)
{
	int64_t at = now + (emu_fault(&t->s, "slow")	   ? 1500
			    : emu_fault(&t->s, "sluggish") ? 350
							   : 4) *
				   EMU_MS;
	uint8_t clear[ANSWER], p[ANSWER], some[16];
	struct aes256_ctx aes;
	uint8_t k[32];
	size_t n = ANSWER;

	if (++t->asked % 4 == 0 && emu_fault(&t->s, "drop"))
		return;
	memcpy(k, key, sizeof(k));
	k[0] ^= emu_fault(&t->s, "key") ? 1 : 0;
	fill(t, clear);
	aes256_set_encrypt_key(&aes, k);
	aes256_encrypt(&aes, ANSWER, p, clear);
	if (emu_fault(&t->s, "garbage"))
		noise(t, p, ANSWER);
	if (emu_fault(&t->s, "lost") && t->asked % 4 == 0) {
		size_t hole = emu_random(&t->seed) % (ANSWER - 1);

		memmove(p + hole, p + hole + 1, ANSWER - hole - 1);
		n--;
	}
	if (emu_fault(&t->s, "junk")) {
		noise(t, some, sizeof(some));
		out->send(out->ctx, at, some, 1 + t->asked % sizeof(some));
	}
	send(t, at, p, n, out);
}

/* Its log: pairs of volts and amperes, oldest first. */
static void records(struct tc66 *t, int64_t now, const struct emu_out *out)
{
	uint8_t p[8];

	for (int i = 0; i < 10; i++) {
		emu_le(p, emu_code(t->s.volts, 1e-4, UINT32_MAX), 4);
		emu_le(p + 4, emu_code(emu_amps(&t->s, now), 1e-5, UINT32_MAX), 4);
		out->send(out->ctx, now + (i + 1) * EMU_MS, p, 8);
	}
}

static void command(struct tc66 *t, int64_t now, const struct emu_out *out)
{
	bool boot = emu_fault(&t->s, "boot");

	if (mute(t, now))
		return;
	if (memcmp(t->said + 1, "query", 5) == 0)
		send(t, now + 2 * EMU_MS, (const uint8_t *)(boot ? "boot" : "firm"), 4, out);
	else if (memcmp(t->said, "update", 6) == 0)
		send(t, now + 2 * EMU_MS, (const uint8_t *)"uprdy", 5, out);
	else if (memcmp(t->said + 1, "getva", 5) == 0 && !boot)
		values(t, now, out);
	else if (memcmp(t->said + 1, "gtrec", 5) == 0 && !boot)
		records(t, now, out);
}

/* No end of line is needed: the last letter is the end. */
static void host(void *state, int64_t now, const uint8_t *p, size_t n, const struct emu_out *out)
{
	struct tc66 *t = state;

	see(t, now);
	for (size_t i = 0; i < n; i++) {
		memmove(t->said, t->said + 1, sizeof(t->said) - 1);
		t->said[sizeof(t->said) - 1] = (char)p[i];
		command(t, now, out);
	}
}

static int64_t due(const void *state)
{
	return ((const struct tc66 *)state)->due;
}

static void tick(void *state, int64_t now, const struct emu_out *out)
{
	struct tc66 *t = state;
	uint8_t some[48];

	noise(t, some, sizeof(some));
	out->send(out->ctx, now, some, sizeof(some));
	t->due = now + 10 * EMU_MS;
}

static void truth(const void *state, int64_t now, double out[4])
{
	const struct tc66 *t = state;
	struct tc66 then = *t;

	if (t->seen)
		see(&then, now);
	out[0] = t->s.volts;
	out[1] = emu_amps(&t->s, then.latched);
	out[2] = emu_watts(&t->s, then.latched);
	out[3] = then.s.wh;
}

extern const struct emu_model emu_tc66c;
const struct emu_model emu_tc66c = {.name = "tc66c",
				    .faults = faults,
				    .wire = EMU_STREAM,
				    .state_size = sizeof(struct tc66),
				    .init = init,
				    .host = host,
				    .due = due,
				    .tick = tick,
				    .truth = truth};
#else
typedef int emu_no_tc66c; /* a file of nothing is no C */
#endif

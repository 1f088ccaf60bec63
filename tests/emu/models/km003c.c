/* SPDX-License-Identifier: MIT */
/*
 * POWER-Z KM003C on its vendor interface: what the maker's API description and public
 * captures of firmware 1.9.9 show. Samples have the device's own millisecond count.
 */
#include "faults.h"

#include <string.h>
#ifdef WW_WITH_NETTLE
#include <nettle/aes.h>
#endif

#define LATENCY	  (80 * EMU_MS / 1000)
#define CAPACITY  1000 /* samples that wait for the host */
#define A_REPLY	  48   /* samples that one reply holds */
#define HW_ID_AT  0x40010450u
#define SERIAL_AT 0x03000C00u
#define FW_AT	  0x00004420u

static const unsigned step_ms[] = {500, 100, 20, 1};

struct km003c {
	struct emu_setup s;
	bool connected, authed, graph;
	unsigned rate;
	uint32_t seed;
	int64_t on_ns;		       /* switched on: the first packet from the host */
	int64_t graph_ns, next, given; /* samples of this graph */
	unsigned polls, packets;
	uint8_t hw_id[12];
};

#define FAULTS                                                                                     \
	"mute silent slow refused empty reject lost overflow zlp wrongid stale truncated badsize " \
	"garbage wrap other"

static bool has(const struct km003c *k, const char *fault)
{
	return emu_fault(&k->s, fault);
}

static int km_init(void *state, const struct emu_setup *s)
{
	static const uint8_t id[12] = {'0',  '7',  '1',	 'K',  'B',  'P',
				       0x0d, 0xff, 0x11, 0x0a, 0xff, 0xff};
	struct km003c *k = state;

	if (emu_faults_known(s, FAULTS) < 0)
		return -1;
	*k = (struct km003c){.s = *s, .seed = s->seed, .on_ns = EMU_NEVER};
	memcpy(k->hw_id, id, sizeof(id));
	return 0;
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v & 0xffff);
	put16(p + 2, v >> 16);
}

static int32_t micro(double v)
{
	return (int32_t)(v * 1e6 + (v < 0 ? -0.5 : 0.5));
}

static int64_t answers_at(const struct km003c *k, int64_t now)
{
	return now + (has(k, "slow") ? 700 * EMU_MS : LATENCY);
}

static void say(struct km003c *k, int64_t now, uint8_t *p, size_t n, const struct emu_out *out)
{
	if (has(k, "wrongid") && k->packets % 5 == 4)
		p[1] = (uint8_t)(p[1] + 7);
	out->send(out->ctx, answers_at(k, now), p, n);
	if (has(k, "zlp"))
		out->send(out->ctx, answers_at(k, now), p, 0);
}

static void control(struct km003c *k, int64_t now, uint8_t type, uint8_t id, unsigned word,
		    const struct emu_out *out)
{
	uint8_t p[4] = {type, id};

	put16(p + 2, word);
	say(k, now, p, sizeof(p), out);
}

/* Header, extended header; payload of n bytes follows. */
static void headers(uint8_t *p, uint8_t id, unsigned att, unsigned chunk, unsigned size, size_t n)
{
	p[0] = 0x41;
	p[1] = id;
	put16(p + 2, (unsigned)((8 + n) / 4 - 3) << 6);
	put32(p + 4, att | chunk << 16 | size << 22);
}

static void adc(struct km003c *k, int64_t now, uint8_t id, const struct emu_out *out)
{
	uint8_t p[52] = {0};
	uint32_t u = (uint32_t)micro(k->s.volts);
	uint32_t i = (uint32_t)micro(emu_amps(&k->s, now));
	size_t n = sizeof(p);

	headers(p, id, 1, 0, has(k, "badsize") ? 1000 : 44, 44);
	put32(p + 8, u);
	put32(p + 12, i);
	put32(p + 16, u);
	put32(p + 20, i);
	put32(p + 24, u);
	put32(p + 28, i);
	put16(p + 32, 0x0d7e); /* 26.98 degrees */
	put16(p + 34, 32379);
	put16(p + 36, 1236);
	put16(p + 38, 369);
	put16(p + 40, 322);
	put16(p + 42, 32387);
	p[44] = (uint8_t)k->rate;
	if (has(k, "truncated") && k->polls % 4 == 3)
		n = 21;
	say(k, now, p, n, out);
}

/* Samples that were taken until now. */
static int64_t taken(const struct km003c *k, int64_t now)
{
	return (now - k->graph_ns) / (step_ms[k->rate] * EMU_MS);
}

static void sample(const struct km003c *k, int64_t i, uint8_t *p)
{
	int64_t t = k->graph_ns + i * step_ms[k->rate] * EMU_MS;
	int64_t tick = (t - k->on_ns) / EMU_MS + (has(k, "wrap") ? 64000 : 1000);
	unsigned lsb = k->rate ? 10 : 1;

	put16(p, (unsigned)(tick & 0xffff));
	put16(p + 2, i % 3 ? 0x3c : 0x08);
	put32(p + 4, (uint32_t)micro(k->s.volts));
	put32(p + 8, (uint32_t)micro(emu_amps(&k->s, t)));
	put16(p + 12, 32379 / lsb);
	put16(p + 14, 1236 / lsb);
	put16(p + 16, 369 / lsb);
	put16(p + 18, 322 / lsb);
}

static void queue(struct km003c *k, int64_t now, uint8_t id, const struct emu_out *out)
{
	uint8_t p[8 + 20 * A_REPLY] = {0x41, id, 0, 0};
	int64_t have = k->graph && k->authed && !has(k, "empty") ? taken(k, now) : 0;
	int64_t cap = has(k, "overflow") ? 30 : CAPACITY;
	unsigned n = 0;

	if (have - k->next > cap)
		k->next = have - cap;
	if (has(k, "lost") && k->polls % 5 == 4 && have - k->next > 8)
		k->next += 7;
	for (; n < A_REPLY && k->next < have; n++)
		sample(k, k->next++, p + 8 + 20 * n);
	k->given += n;
	if (!n) {
		say(k, now, p, 4, out);
		return;
	}
	headers(p, id, 2, n, has(k, "badsize") ? 24 : 20, 20 * n);
	say(k, now, p, 8 + 20 * n - (has(k, "truncated") && k->polls % 4 == 3 ? 13 : 0), out);
}

static void get(struct km003c *k, int64_t now, uint8_t id, unsigned mask, const struct emu_out *out)
{
	k->polls++;
	if (mask & 1)
		adc(k, now, id, out);
	else if ((mask & 2) && has(k, "reject"))
		control(k, now, 0x06, id, 0, out);
	else
		queue(k, now, id, out);
}

static void start(struct km003c *k, int64_t now, uint8_t id, unsigned rate,
		  const struct emu_out *out)
{
	if (rate > 3) {
		control(k, now, 0x06, id, 0, out);
		return;
	}
	k->graph = true;
	k->rate = rate;
	k->graph_ns = now;
	k->next = 0;
	control(k, now, 0x05, id, 0, out);
}

#ifdef WW_WITH_NETTLE
static uint32_t crc32(const uint8_t *p, size_t n)
{
	uint32_t c = ~0u;

	while (n--) {
		c ^= *p++;
		for (int i = 0; i < 8; i++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
	}
	return ~c;
}

static void cipher(bool encrypt, const char *key, size_t n, uint8_t *to, const uint8_t *from)
{
	struct aes128_ctx c;

	if (encrypt) {
		aes128_set_encrypt_key(&c, (const uint8_t *)key);
		aes128_encrypt(&c, n, to, from);
	} else {
		aes128_set_decrypt_key(&c, (const uint8_t *)key);
		aes128_decrypt(&c, n, to, from);
	}
}

static void auth(struct km003c *k, int64_t now, const uint8_t *q, const struct emu_out *out)
{
	uint8_t plain[32], p[36] = {0x4c, 0};

	cipher(false, "Fa0b4tA25f4R038a", 32, plain, q + 4);
	k->authed = memcmp(plain + 8, k->hw_id, 12) == 0 && !has(k, "refused");
	put16(p + 2, k->authed ? 0x0203 : 0x0201);
	cipher(true, "FX0b4tA25f4R038a", 32, p + 4, plain);
	say(k, now, p, sizeof(p), out);
}

static size_t memory_at(const struct km003c *k, uint32_t at, uint32_t size, uint8_t *to)
{
	const char *serial = k->s.serial ? k->s.serial : "007965 ";
	size_t n = strlen(serial);

	memset(to, 0xff, 64);
	if (at == HW_ID_AT && size <= 12) {
		memcpy(to, k->hw_id, 12);
	} else if (at == SERIAL_AT && size <= 64) {
		memcpy(to, serial, n < 64 ? n : 64);
	} else if (at == FW_AT && size <= 64) {
		memset(to, 0, 64);
		memcpy(to + 0x10, "KM003C", 6);
		memcpy(to + 0x1c, "1.9.9", 5);
		memcpy(to + 0x28, "2025.9.22", 9);
	} else {
		return 0;
	}
	return (size + 15) / 16 * 16;
}

static void memory(struct km003c *k, int64_t now, const uint8_t *q, const struct emu_out *out)
{
	static const char key[] = "Lh2yfB7n6X7d9a5Z";
	uint8_t plain[32], data[64], c[64], p[20] = {0xc4, q[1], q[2], q[3]};
	uint32_t at, size;
	size_t n;

	cipher(false, key, 32, plain, q + 4);
	at = plain[0] | (uint32_t)plain[1] << 8 | (uint32_t)plain[2] << 16 |
	     (uint32_t)plain[3] << 24;
	size = plain[4] | (uint32_t)plain[5] << 8 | (uint32_t)plain[6] << 16 |
	       (uint32_t)plain[7] << 24;
	put32(c, crc32(plain, 12));
	n = memcmp(c, plain + 12, 4) == 0 ? memory_at(k, at, size, data) : 0;
	if (!n || !size) {
		control(k, now, 0x06, q[1], 0, out);
		return;
	}
	memcpy(p + 4, plain, 8);
	say(k, now, p, sizeof(p), out);
	cipher(true, key, n, c, data);
	out->send(out->ctx, answers_at(k, now) + LATENCY, c, n);
}
#else
/* Without AES the model cannot see who asks. */
static void auth(struct km003c *k, int64_t now, const uint8_t *q, const struct emu_out *out)
{
	uint8_t p[36] = {0x4c, 0, 0x01, 0x02};

	memcpy(p + 4, q + 4, 32);
	say(k, now, p, sizeof(p), out);
}

static void memory(struct km003c *k, int64_t now, const uint8_t *q, const struct emu_out *out)
{
	control(k, now, 0x06, q[1], 0, out);
}
#endif

static void noise(struct km003c *k, int64_t now, const struct emu_out *out)
{
	uint8_t p[64];

	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = (uint8_t)(emu_random(&k->seed) >> 13);
	out->send(out->ctx, now + LATENCY, p, 1 + p[0] % sizeof(p));
}

static void km_host(void *state, int64_t now, const uint8_t *p, size_t n, const struct emu_out *out)
{
	struct km003c *k = state;
	uint8_t old[12] = {0x41, 0xee, 0, 0};

	if (n < 4)
		return;
	if (k->on_ns == EMU_NEVER)
		k->on_ns = now;
	k->packets++;
	if (has(k, "mute") || (has(k, "silent") && now - k->on_ns > 3 * EMU_S))
		return;
	/* What a program that was killed had asked for comes first. */
	if (has(k, "stale") && k->packets == 1)
		out->send(out->ctx, now + LATENCY / 2, old, 4);
	if (has(k, "garbage")) {
		noise(k, now, out);
		return;
	}
	if (has(k, "other")) { /* some other vendor's interface */
		out->send(out->ctx, now + LATENCY, "\x55\xaa unknown command\r\n", 20);
		return;
	}
	switch (p[0] & 0x7f) {
	case 0x02:
		k->connected = true;
		control(k, now, 0x05, p[1], 0, out);
		break;
	case 0x03:
		k->connected = k->graph = k->authed = false;
		control(k, now, 0x05, p[1], 0, out);
		break;
	case 0x0c:
		get(k, now, p[1], (unsigned)(p[2] | p[3] << 8) >> 1, out);
		break;
	case 0x0e:
		start(k, now, p[1], (unsigned)(p[2] | p[3] << 8) >> 1, out);
		break;
	case 0x0f:
		k->graph = false;
		control(k, now, 0x05, p[1], 0, out);
		break;
	case 0x44:
		if (n == 36)
			memory(k, now, p, out);
		break;
	case 0x4c:
		if (n == 36)
			auth(k, now, p, out);
		break;
	default:
		control(k, now, 0x06, p[1], 0, out);
	}
}

static void km_truth(const void *state, int64_t now, double out[4])
{
	const struct km003c *k = state;

	out[0] = k->s.volts;
	out[1] = emu_amps(&k->s, now);
	out[2] = out[0] * out[1];
	out[3] = k->s.wh;
}

const struct emu_model emu_km003c = {
	.name = "km003c",
	.faults = FAULTS,
	.wire = EMU_PACKETS,
	.usb = {.vid = 0x5fc9,
		.pid = 0x0063,
		.maker = "ChargerLAB",
		.product = "POWER-Z KM003C",
		.serial = "007965",
		.interface = 0,
		.class_ = 0xff,
		.ep_in = 0x81,
		.ep_out = 0x01,
		.bulk = 1,
		.packet = 64},
	.state_size = sizeof(struct km003c),
	.init = km_init,
	.host = km_host,
	.truth = km_truth,
};

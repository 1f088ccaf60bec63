/* SPDX-License-Identifier: MIT */
#include "mbslave.h"

#include <string.h>

#define MUTE_NS	   (5 * EMU_S)
#define SLOW_NS	   (900 * EMU_MS)
#define LATE_NS	   (2500 * EMU_MS)
#define LAZY_NS	   (800 * EMU_MS)
#define EACH_THIRD 3

uint16_t mb_crc(const uint8_t *p, size_t n)
{
	uint16_t crc = 0xffff;

	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = (uint16_t)(crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1);
	}
	return crc;
}

size_t mb_exception(uint8_t *rep, uint8_t function, uint8_t code)
{
	rep[0] = function | 0x80;
	rep[1] = code;
	return 2;
}

bool mb_slave_fault(const struct mb_slave *m, const char *name)
{
	return m->s.fault && strcmp(m->s.fault, name) == 0;
}

void mb_slave_init(struct mb_slave *m, const struct emu_setup *s, long baud, int64_t turn_ns,
		   int64_t turn_more_ns)
{
	m->s = *s;
	m->address = s->address ? (uint8_t)s->address : 1;
	m->char_ns = 10 * EMU_S / baud;
	m->turn_ns = turn_ns;
	m->turn_more_ns = turn_more_ns;
}

static int64_t silence(const struct mb_slave *m)
{
	return m->char_ns * 7 / 2;
}

/* The line was quiet for 3.5 characters: what comes now is a new frame. */
static void begin(struct mb_slave *m, int64_t at)
{
	m->n = 0;
	m->spoilt = at < m->free_ns + silence(m) && m->free_ns > 0;
	m->idle_ns = m->free_ns ? at - m->free_ns : EMU_NEVER;
}

void mb_slave_host(struct mb_slave *m, int64_t now_ns, const uint8_t *p, size_t n,
		   const struct emu_out *out)
{
	int64_t at = now_ns > m->heard_ns ? now_ns : m->heard_ns;

	if (!m->born) {
		m->born = true;
		m->born_ns = now_ns;
		m->babble_ns = now_ns;
	}
	if (!m->n && !m->spoilt)
		begin(m, at);
	else if (at > m->heard_ns + silence(m))
		begin(m, at);
	for (size_t i = 0; i < n; i++) {
		if (m->n == sizeof(m->in))
			m->spoilt = true;
		else
			m->in[m->n++] = p[i];
	}
	m->heard_ns = at + (int64_t)n * m->char_ns;
	/* An adapter whose receiver hears its own sender. */
	if (mb_slave_fault(m, "halfduplex"))
		out->send(out->ctx, now_ns, p, n);
}

int64_t mb_slave_due(const struct mb_slave *m)
{
	int64_t d = m->n || m->spoilt ? m->heard_ns + silence(m) : EMU_NEVER;

	if (m->rep_n && m->rep_ns < d)
		d = m->rep_ns;
	if (m->born && mb_slave_fault(m, "babble") && m->babble_ns < d)
		d = m->babble_ns;
	return d;
}

static void seal(struct mb_slave *m)
{
	uint16_t crc = mb_crc(m->rep, m->rep_n);

	m->rep[m->rep_n++] = (uint8_t)(crc & 0xff);
	m->rep[m->rep_n++] = (uint8_t)(crc >> 8);
}

/* Faults that are in what is said; each third answer, so that the others are good. */
static void spoil(struct mb_slave *m)
{
	bool third = m->requests % EACH_THIRD == 0;

	if (mb_slave_fault(m, "another")) {
		m->rep[0]++;
		m->rep_n -= 2;
		seal(m);
	} else if (mb_slave_fault(m, "wrongfn")) {
		/* As a meter of another make that knows another function only. */
		m->rep[1] ^= 7;
		m->rep_n -= 2;
		seal(m);
	} else if (third && mb_slave_fault(m, "crc")) {
		m->rep[m->rep_n / 2] ^= 0x10;
	} else if (third && mb_slave_fault(m, "noise")) {
		memmove(m->rep + 1, m->rep, m->rep_n);
		m->rep[0] = 0xff;
		m->rep_n++;
	} else if (third && mb_slave_fault(m, "short")) {
		memmove(m->rep + 4, m->rep + 5, m->rep_n - 5);
		m->rep_n--;
	}
}

static bool dumb(const struct mb_slave *m, int64_t now)
{
	return mb_slave_fault(m, "silent") ||
	       (mb_slave_fault(m, "mute") && now - m->born_ns > MUTE_NS);
}

static void request(struct mb_slave *m, int64_t now, mb_answer *answer, void *ctx)
{
	bool ours = m->in[0] == m->address || (m->general && m->in[0] == m->general);
	bool third;

	if (m->n < 4 || m->rep_n || mb_crc(m->in, m->n) != 0 || (!ours && m->in[0] != 0))
		return;
	third = ++m->requests % EACH_THIRD == 0;
	m->rep[0] = m->in[0];
	if (mb_slave_fault(m, "echo")) {
		/* A plug of a loop, or an adapter alone. */
		m->rep_n = m->n;
		memcpy(m->rep, m->in, m->n);
	} else if (third && mb_slave_fault(m, "exception")) {
		m->rep_n = 1 + mb_exception(m->rep + 1, m->in[1], 4);
		seal(m);
	} else {
		m->rep_n = answer(ctx, now, m->in + 1, m->n - 3, m->rep + 1);
		m->rep_n = m->rep_n ? m->rep_n + 1 : 0;
		if (m->rep_n)
			seal(m);
		if (m->rep_n)
			spoil(m);
	}
	if (m->in[0] == 0 || dumb(m, now) || (third && mb_slave_fault(m, "drop")))
		m->rep_n = 0;
	m->rep_ns = now + m->turn_ns;
	if (m->turn_more_ns)
		m->rep_ns += emu_random(&m->s.seed) % m->turn_more_ns;
	if (mb_slave_fault(m, "slow"))
		m->rep_ns += SLOW_NS;
	if (third && mb_slave_fault(m, "late"))
		m->rep_ns += LATE_NS;
	if (third && mb_slave_fault(m, "sluggish"))
		m->rep_ns += LAZY_NS;
}

/* Something on the bus that never stops talking. */
static void babble(struct mb_slave *m, const struct emu_out *out)
{
	uint8_t junk[16];

	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)emu_random(&m->s.seed);
	out->send(out->ctx, m->babble_ns, junk, sizeof(junk));
	m->babble_ns += (int64_t)sizeof(junk) * m->char_ns;
}

void mb_slave_tick(struct mb_slave *m, int64_t now_ns, const struct emu_out *out, mb_answer *answer,
		   void *ctx)
{
	if ((m->n || m->spoilt) && now_ns >= m->heard_ns + silence(m)) {
		if (!m->spoilt)
			request(m, now_ns, answer, ctx);
		m->n = 0;
		m->spoilt = false;
	}
	if (m->rep_n && now_ns >= m->rep_ns) {
		out->send(out->ctx, now_ns, m->rep, m->rep_n);
		m->free_ns = now_ns + (int64_t)m->rep_n * m->char_ns;
		m->rep_n = 0;
		m->spoilt = m->n > 0;
	}
	if (m->born && mb_slave_fault(m, "babble") && now_ns >= m->babble_ns)
		babble(m, out);
}

/* SPDX-License-Identifier: MIT */
#include "meter/modbus.h"

#include <stdio.h>

/* Time for the meter to begin its answer. */
#define RTU_NS	(500 * WW_NS_PER_MS)
#define TCP_NS	(1500 * WW_NS_PER_MS)
#define MOST_NS (4 * WW_NS_PER_S)
/* Meters take 10 to 60 ms. */
#define USUAL_NS (100 * WW_NS_PER_MS)
/* A line that never falls quiet is spoken to all the same. */
#define BABBLE_NS (500 * WW_NS_PER_MS)

uint16_t ww_mb_crc(const uint8_t *p, size_t n)
{
	unsigned c = 0xffff;

	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int b = 0; b < 8; b++)
			c = c & 1 ? (c >> 1) ^ 0xa001 : c >> 1;
	}
	return (uint16_t)c;
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static void put_read(uint8_t p[6], uint8_t unit, uint8_t function, uint16_t reg, uint16_t count)
{
	p[0] = unit;
	p[1] = function;
	put16(p + 2, reg);
	put16(p + 4, count);
}

size_t ww_mb_rtu_read(uint8_t frame[8], uint8_t unit, uint8_t function, uint16_t reg,
		      uint16_t count)
{
	uint16_t crc;

	put_read(frame, unit, function, reg, count);
	crc = ww_mb_crc(frame, 6);
	/* The one thing that goes low byte first. */
	frame[6] = (uint8_t)crc;
	frame[7] = (uint8_t)(crc >> 8);
	return 8;
}

size_t ww_mb_tcp_read(uint8_t frame[12], uint16_t id, uint8_t unit, uint8_t function, uint16_t reg,
		      uint16_t count)
{
	put16(frame, id);
	put16(frame + 2, 0);
	put16(frame + 4, 6);
	put_read(frame + 6, unit, function, reg, count);
	return 12;
}

static bool sealed(const uint8_t *p, size_t n)
{
	uint16_t crc = ww_mb_crc(p, n - 2);

	return p[n - 2] == (uint8_t)crc && p[n - 1] == (uint8_t)(crc >> 8);
}

int ww_mb_rtu_frame(const uint8_t *p, size_t n, struct ww_mb_answer *a)
{
	size_t len = 5;

	*a = (struct ww_mb_answer){0};
	if (n < 2)
		return 0;
	a->unit = p[0];
	a->function = p[1] & 0x7f;
	if (!(p[1] & 0x80)) {
		if (p[1] != WW_MB_HOLDING && p[1] != WW_MB_INPUT)
			return -1;
		if (n < 3)
			return 0;
		if (!p[2] || p[2] % 2 || p[2] > 2 * WW_MB_REGS_MAX)
			return -1;
		len = 5 + (size_t)p[2];
	}
	if (n < len)
		return 0;
	if (!sealed(p, len))
		return -1;
	if (p[1] & 0x80) {
		a->exception = p[2];
		return a->exception ? (int)len : -1;
	}
	a->data = p + 3;
	a->bytes = p[2];
	return (int)len;
}

int ww_mb_tcp_frame(const uint8_t *p, size_t n, struct ww_mb_answer *a)
{
	size_t len;

	*a = (struct ww_mb_answer){0};
	if ((n > 2 && p[2]) || (n > 3 && p[3]))
		return -1;
	if (n < 6)
		return 0;
	len = get16(p + 4);
	/* Unit, function and one byte at least. */
	if (len < 3 || len > WW_MB_TCP_MAX - 6)
		return -1;
	if (n < 6 + len)
		return 0;
	a->id = (uint16_t)get16(p);
	a->unit = p[6];
	a->function = p[7] & 0x7f;
	if (p[7] & 0x80) {
		a->exception = p[8] ? p[8] : 4;
	} else if (p[8] == len - 3) {
		a->data = p + 9;
		a->bytes = p[8];
	}
	return (int)(6 + len);
}

const char *ww_mb_exception(uint8_t code)
{
	static const char *const names[] = {"",
					    "illegal function",
					    "illegal data address",
					    "illegal data value",
					    "device failure",
					    "acknowledged, not yet done",
					    "device busy",
					    "",
					    "parity error of its memory",
					    "",
					    "gateway path unavailable",
					    "the gateway got no answer from the meter"};

	return code < WW_COUNTOF(names) && *names[code] ? names[code] : "unknown exception";
}

/* ---------------------------------------------------------------- the machine */

/* "tcp://host:502", "tcp:host:502" */
static bool port_502(const char *place)
{
	const char *colon = strrchr(place, ':');

	return strncmp(place, "tcp:", 4) == 0 && colon && strcmp(colon, ":502") == 0;
}

int ww_modbus_init(struct ww_modbus *m, struct ww_uri *options, int64_t baud, int64_t gap_ns,
		   struct ww_error *err)
{
	const char *place = options->place ? options->place : "";
	const char *framing = ww_uri_get(options, "framing", port_502(place) ? "tcp" : "rtu");
	int64_t patience = 0;

	*m = (struct ww_modbus){.tcp = strcmp(framing, "tcp") == 0,
				.quiet_ns = WW_TIME_MIN,
				.lapsed_ns = WW_TIME_MIN,
				.gave_up_ns = WW_TIME_MIN,
				.other_unit = -1,
				.other_function = -1};
	if (!m->tcp && strcmp(framing, "rtu") != 0)
		return ww_fail(err, -EINVAL, "%s: option framing=%s: expected rtu or tcp",
			       options->driver, framing);
	if (ww_uri_dur(options, "timeout", &patience, err) < 0)
		return -EINVAL;
	if (patience < 0 || patience > 60 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "%s: option timeout: at most a minute",
			       options->driver);
	m->patience_ns = patience ? patience : m->tcp ? TCP_NS : RTU_NS;
	m->gap_ns = m->tcp ? 0 : gap_ns;
	/* What a socket carries is not paced by us. */
	if (strncmp(place, "tcp:", 4) != 0 && strncmp(place, "unix:", 5) != 0)
		ww_modbus_baud(m, baud);
	return 0;
}

void ww_modbus_baud(struct ww_modbus *m, int64_t baud)
{
	/* Eleven bits a character at most. */
	m->char_ns = m->tcp || baud <= 0 ? 0 : 11 * WW_NS_PER_S / baud;
	/* What was asked at another speed is answered by noise at most. */
	m->quiet_ns = m->lapsed_ns = WW_TIME_MIN;
}

static int64_t silence_ns(const struct ww_modbus *m)
{
	int64_t chars = m->char_ns * 7 / 2;

	return m->gap_ns > chars ? m->gap_ns : chars;
}

static int64_t may_send(const struct ww_modbus *m)
{
	int64_t must = ww_add_sat(m->asked_ns, BABBLE_NS);
	int64_t at = m->quiet_ns < must ? m->quiet_ns : must;

	return at > m->lapsed_ns ? at : m->lapsed_ns;
}

static void send_now(struct ww_modbus *m, int64_t now, const struct ww_meter_out *out)
{
	size_t answer = 5 + 2 * (size_t)m->count;

	m->wanted = false;
	m->waiting = true;
	m->sent_ns = now;
	m->n = 0;
	m->heard = 0;
	m->late = m->damaged = 0;
	m->echo = false;
	m->other_unit = m->other_function = -1;
	if (m->tcp)
		m->sent_n =
			ww_mb_tcp_read(m->sent, ++m->id, m->unit, m->function, m->reg, m->count);
	else
		m->sent_n = ww_mb_rtu_read(m->sent, m->unit, m->function, m->reg, m->count);
	m->limit_ns = ww_add_sat(now, m->patience_ns + (int64_t)m->sent_n * m->char_ns);
	m->end_ns = ww_add_sat(m->limit_ns, (int64_t)answer * m->char_ns);
	out->send(out->ctx, m->sent, m->sent_n);
}

void ww_modbus_read(struct ww_modbus *m, uint8_t unit, uint8_t function, uint16_t reg,
		    uint16_t count, int64_t now_ns, const struct ww_meter_out *out)
{
	m->unit = unit;
	m->function = function;
	m->reg = reg;
	m->count = count > WW_MB_REGS_MAX ? WW_MB_REGS_MAX : count;
	m->waiting = false;
	m->wanted = true;
	m->asked_ns = now_ns;
	if (now_ns >= may_send(m))
		send_now(m, now_ns, out);
}

int64_t ww_modbus_deadline(const struct ww_modbus *m)
{
	if (m->wanted)
		return may_send(m);
	return m->waiting ? m->limit_ns : WW_TIME_MAX;
}

enum ww_mb_event ww_modbus_tick(struct ww_modbus *m, int64_t now_ns, const struct ww_meter_out *out)
{
	if (m->wanted && now_ns >= may_send(m)) {
		send_now(m, now_ns, out);
		return WW_MB_NONE;
	}
	if (!m->waiting || now_ns < m->limit_ns)
		return WW_MB_NONE;
	m->waiting = false;
	/*
	 * An RTU frame does not tell which question it answers: a late one is waited for,
	 * unless what came was it, damaged.
	 */
	if (!m->tcp && m->heard <= (m->echo ? m->sent_n : 0)) {
		m->gave_up_ns = m->sent_ns;
		/* Of a meter that is quick, one that takes long is known by that. */
		m->lapsed_ns = ww_add_sat(now_ns, (m->sure ? 1 : 2) * m->patience_ns);
	}
	return WW_MB_SILENT;
}

static void too_late(struct ww_modbus *m)
{
	m->late++;
	m->lapsed_ns = m->gave_up_ns = WW_TIME_MIN;
	m->sure = false;
	if (m->patience_ns < MOST_NS)
		m->patience_ns *= 2;
}

static void take(struct ww_modbus *m, struct ww_interval t, const uint8_t *p, size_t n)
{
	size_t over = m->n + n > WW_MB_BUF ? m->n + n - WW_MB_BUF : 0;

	/* No frame is as long as half of the buffer: what is older is no beginning of one. */
	if (over) {
		memmove(m->buf, m->buf + over, m->n - over);
		memmove(m->at, m->at + over, (m->n - over) * sizeof(m->at[0]));
		m->n -= over;
	}
	memcpy(m->buf + m->n, p, n);
	for (size_t i = 0; i < n; i++)
		m->at[m->n + i] = t;
	m->n += n;
}

static void drop(struct ww_modbus *m, size_t n)
{
	memmove(m->buf, m->buf + n, m->n - n);
	memmove(m->at, m->at + n, (m->n - n) * sizeof(m->at[0]));
	m->n -= n;
}

/* The general address 0xF8 of some meters is answered with their own. */
static bool asked(const struct ww_modbus *m, const struct ww_mb_answer *a)
{
	return (a->unit == m->unit || (m->unit == 0xf8 && a->unit && a->unit < 0xf8)) &&
	       a->function == m->function && (a->exception || a->bytes == 2 * (size_t)m->count);
}

static void other(struct ww_modbus *m, const struct ww_mb_answer *a)
{
	m->other_unit = a->unit;
	m->other_function = a->function;
	m->other_bytes = a->bytes;
}

static enum ww_mb_event answered(struct ww_modbus *m, const struct ww_mb_answer *a,
				 struct ww_interval t)
{
	int64_t usual = ww_add_sat(m->sent_ns, (int64_t)m->sent_n * m->char_ns + USUAL_NS);

	/* Held up on its way, nobody knows where: what it says may be so much older. */
	if (t.hi_ns > usual && t.hi_ns - usual > m->held_ns) {
		m->held_ns = ((t.hi_ns - usual) / USUAL_NS + 1) * USUAL_NS;
		m->slower = true;
	}
	if (t.lo_ns > usual)
		t.lo_ns = usual;
	if (t.hi_ns - m->sent_ns > m->usual_ns)
		m->usual_ns = t.hi_ns - m->sent_ns;
	m->sure = true;
	m->gave_up_ns = WW_TIME_MIN;
	m->waiting = false;
	m->t = t;
	m->exception = a->exception;
	for (size_t i = 0; i < a->bytes / 2; i++)
		m->value[i] = (uint16_t)get16(a->data + 2 * i);
	m->n = 0;
	return a->exception ? WW_MB_REFUSED : WW_MB_ANSWER;
}

/*
 * To the question that was given up, and not to this one? Frames do not tell; a meter
 * that used to be quicker most likely still is.
 */
static bool doubtful(const struct ww_modbus *m, struct ww_interval t)
{
	return m->gave_up_ns > WW_TIME_MIN && m->sure &&
	       t.hi_ns - m->sent_ns > m->usual_ns + USUAL_NS && t.hi_ns - m->gave_up_ns < MOST_NS;
}

static enum ww_mb_event feed_rtu(struct ww_modbus *m)
{
	struct ww_mb_answer a;

	for (size_t i = 0; i < m->n; i++) {
		size_t left = m->n - i;
		int len;

		if (left >= m->sent_n && memcmp(m->buf + i, m->sent, m->sent_n) == 0) {
			m->echo = true;
			i += m->sent_n - 1;
			continue;
		}
		len = ww_mb_rtu_frame(m->buf + i, left, &a);
		if (len <= 0 || !asked(m, &a))
			continue;
		if (!doubtful(m, m->at[i]))
			return answered(m, &a, m->at[i]);
		too_late(m);
		drop(m, i + (size_t)len);
		i = (size_t)-1;
	}
	return WW_MB_NONE;
}

static enum ww_mb_event feed_tcp(struct ww_modbus *m)
{
	struct ww_mb_answer a;
	int len;

	while (m->n && (len = ww_mb_tcp_frame(m->buf, m->n, &a)) != 0) {
		struct ww_interval t = m->at[0];

		if (len < 0) {
			drop(m, 1);
			continue;
		}
		if (a.id != m->id) {
			too_late(m);
		} else if (asked(m, &a)) {
			/* Gateways speak for units that are dead: exceptions 10 and 11. */
			return answered(m, &a, t);
		} else {
			other(m, &a);
		}
		drop(m, (size_t)len);
	}
	return WW_MB_NONE;
}

enum ww_mb_event ww_modbus_feed(struct ww_modbus *m, struct ww_interval t, const uint8_t *p,
				size_t n)
{
	/* Whatever comes unasked has to end before the next question. */
	if (n && !m->tcp)
		m->quiet_ns = ww_add_sat(t.hi_ns, silence_ns(m));
	if (n && !m->waiting && t.hi_ns < m->lapsed_ns)
		too_late(m);
	if (n && m->waiting)
		m->limit_ns = m->end_ns;
	while (m->waiting && n) {
		size_t k = n < WW_MB_BUF / 2 ? n : WW_MB_BUF / 2;
		enum ww_mb_event ev;

		take(m, t, p, k);
		m->heard += k;
		p += k;
		n -= k;
		ev = m->tcp ? feed_tcp(m) : feed_rtu(m);
		if (ev != WW_MB_NONE)
			return ev;
	}
	return WW_MB_NONE;
}

/* Frames that were not asked for, and answers that are damaged. */
static void survey(const struct ww_modbus *m, struct ww_modbus *found)
{
	struct ww_mb_answer a;

	for (size_t i = 0; !m->tcp && i < m->n; i++) {
		const uint8_t *p = m->buf + i;
		size_t left = m->n - i;
		int len = ww_mb_rtu_frame(p, left, &a);

		if (len > 0 && !asked(m, &a)) {
			other(found, &a);
			i += (size_t)len - 1;
		} else if (left >= 3 && p[0] == m->unit && p[1] == m->function &&
			   p[2] == 2 * m->count) {
			found->damaged++;
		}
	}
}

void ww_modbus_why(const struct ww_modbus *m, char *text, size_t n)
{
	struct ww_modbus f = {.other_unit = m->other_unit,
			      .other_function = m->other_function,
			      .other_bytes = m->other_bytes};

	survey(m, &f);
	if (!m->heard)
		snprintf(text, n, "nothing came");
	else if (f.other_unit >= 0 && f.other_unit != m->unit)
		snprintf(text, n, "unit %d answered, and not unit %u", f.other_unit, m->unit);
	else if (f.other_unit >= 0)
		snprintf(text, n,
			 "the unit answered function %d with %zu bytes of registers, where %u "
			 "bytes by function %u were asked for",
			 f.other_function, f.other_bytes, 2u * m->count, m->function);
	else if (f.damaged)
		snprintf(text, n, "the answer was damaged (bytes lost, or its checksum wrong)");
	else if (m->late)
		snprintf(text, n, "only late answers to earlier questions came");
	else if (m->echo && m->heard <= m->sent_n)
		snprintf(text, n, "only the echo of the question came back");
	else
		snprintf(text, n, "%llu bytes came which are no answer of Modbus %s",
			 (unsigned long long)m->heard, m->tcp ? "TCP" : "RTU");
}

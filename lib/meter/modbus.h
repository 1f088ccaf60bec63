/* SPDX-License-Identifier: MIT */
/*
 * Modbus as a codec and a small machine of question and answer, for any driver: RTU on
 * serial lines and through transparent gateways, TCP with its header. One question is in
 * flight; whatever else comes is looked through for the answer, so that noise, lost
 * bytes, the echo of a half-duplex adapter and answers of other units cost no more than
 * the question they disturb. Source: MODBUS application protocol 1.1b3, serial line 1.02.
 */
#ifndef WW_METER_MODBUS_H
#define WW_METER_MODBUS_H

#include "meter/meter.h"

#define WW_MB_RTU_MAX  256
#define WW_MB_TCP_MAX  260
#define WW_MB_REGS_MAX 125
#define WW_MB_BUF      (2 * WW_MB_TCP_MAX)

enum { WW_MB_HOLDING = 3, WW_MB_INPUT = 4 };

/* ------------------------------------------------------------ pure functions */

uint16_t ww_mb_crc(const uint8_t *p, size_t n);
/* A question for `count` registers from `reg`; the frame's length (8; 12). */
size_t ww_mb_rtu_read(uint8_t frame[8], uint8_t unit, uint8_t function, uint16_t reg,
		      uint16_t count);
size_t ww_mb_tcp_read(uint8_t frame[12], uint16_t id, uint8_t unit, uint8_t function, uint16_t reg,
		      uint16_t count);

/* What one frame of an answer says. */
struct ww_mb_answer {
	uint16_t id; /* TCP */
	uint8_t unit, function;
	uint8_t exception;   /* 0: none */
	const uint8_t *data; /* of registers; lent */
	size_t bytes;
};
/*
 * The answer frame that begins at p: its length, 0 if there may be one once more bytes
 * have come, -1 if there is none. RTU frames are taken by their CRC.
 */
int ww_mb_rtu_frame(const uint8_t *p, size_t n, struct ww_mb_answer *a);
int ww_mb_tcp_frame(const uint8_t *p, size_t n, struct ww_mb_answer *a);
/* "illegal data address" */
const char *ww_mb_exception(uint8_t code);

/* ---------------------------------------------------------------- the machine */

enum ww_mb_event {
	WW_MB_NONE,
	WW_MB_ANSWER,  /* value[] */
	WW_MB_REFUSED, /* exception */
	WW_MB_SILENT   /* no answer in time: ww_modbus_why() tells what came instead */
};

struct ww_modbus {
	bool tcp;
	int64_t char_ns;     /* of the line; 0: not paced by us */
	int64_t gap_ns;	     /* least silence before a question */
	int64_t patience_ns; /* for the answer to begin; grows where answers come late */

	uint8_t unit, function;
	uint16_t reg, count, id;
	bool wanted, waiting;	   /* to be sent once the line is quiet; sent */
	int64_t quiet_ns;	   /* the line is quiet from here */
	int64_t asked_ns;	   /* when the question was wanted: quiet or not, it is sent soon */
	int64_t lapsed_ns;	   /* until when an answer that was given up may still come */
	int64_t sent_ns, limit_ns; /* for the answer to begin, then to end */
	int64_t end_ns;
	int64_t gave_up_ns; /* when the question before was sent, if it was given up */
	int64_t usual_ns;   /* longest that an answer took, which was surely to its question */
	bool sure;	    /* that is known */
	int64_t held_ns;    /* longest that an answer was held up: part of the delay */
	bool slower;	    /* it has grown: to be told */
	uint8_t sent[12];
	size_t sent_n;

	uint8_t buf[WW_MB_BUF];
	struct ww_interval at[WW_MB_BUF]; /* when each byte came */
	size_t n;

	/* the answer */
	struct ww_interval t; /* of its first byte */
	uint8_t exception;
	uint16_t value[WW_MB_REGS_MAX];

	/* since the question, for the sentence */
	uint64_t heard;
	bool echo;
	unsigned late, damaged;
	int other_unit, other_function; /* -1 none */
	size_t other_bytes;
};

/*
 * Options framing=rtu|tcp and timeout=; without the first TCP is taken for port 502 of a
 * socket. gap_ns is the meter's own wish, beside the 3.5 characters of the line.
 */
int ww_modbus_init(struct ww_modbus *m, struct ww_uri *options, int64_t baud, int64_t gap_ns,
		   struct ww_error *err);
void ww_modbus_baud(struct ww_modbus *m, int64_t baud);
/* Ask; at once, or when the line has been quiet for long enough. */
void ww_modbus_read(struct ww_modbus *m, uint8_t unit, uint8_t function, uint16_t reg,
		    uint16_t count, int64_t now_ns, const struct ww_meter_out *out);
enum ww_mb_event ww_modbus_feed(struct ww_modbus *m, struct ww_interval t, const uint8_t *p,
				size_t n);
int64_t ww_modbus_deadline(const struct ww_modbus *m);
enum ww_mb_event ww_modbus_tick(struct ww_modbus *m, int64_t now_ns,
				const struct ww_meter_out *out);
/* Waits for an answer, or for the silence before its question. */
static inline bool ww_modbus_busy(const struct ww_modbus *m)
{
	return m->wanted || m->waiting;
}
/* What came instead of the answer, as half a sentence. */
void ww_modbus_why(const struct ww_modbus *m, char *text, size_t n);
/* Registers of 32 bits: whole ones low word first, floats high word first. */
static inline uint32_t ww_mb_low_first(const uint16_t *v)
{
	return v[0] | (uint32_t)v[1] << 16;
}
static inline float ww_mb_float(const uint16_t *v)
{
	uint32_t bits = (uint32_t)v[0] << 16 | v[1];
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Streaming of the POWER-Z: the right to it is asked for with a number read from the
 * meter's memory, then samples wait in its queue, each with the meter's millisecond.
 */
#ifndef WW_METER_KM003C_STREAM_H
#define WW_METER_KM003C_STREAM_H

#include "meter/devclock.h"
#include "meter/km003c_frame.h"
#include "meter/meter.h"

enum ww_km_step {
	WW_KM_OFF,
	WW_KM_CEASE, /* what an earlier program left running */
	WW_KM_OPEN,
	WW_KM_WHO,  /* firmware: may fail */
	WW_KM_NAME, /* serial number: may fail */
	WW_KM_HARD, /* the number that opens the queue */
	WW_KM_MAY,
	WW_KM_BEGIN,
	WW_KM_RUN,
	WW_KM_PAUSE, /* after failure, before it is tried again */
	WW_KM_DEAD
};

struct ww_km_stream {
	unsigned rate; /* index: 2, 10, 50, 1000 a second */
	enum ww_km_step step;
	uint8_t id;
	bool waiting;
	unsigned tries;
	size_t raw; /* bytes of memory that come next, without a header */
	int64_t deadline_ns, asked_ns, sample_ns, begun_ns;
	uint8_t hardware[12];
	char heard[32]; /* first bytes that were no message, in hexadecimal */
	char model[13], serial[8], firmware[13];

	struct ww_devclock clock;
	bool fresh, has_last, damaged, told_twice;
	uint16_t tick;	      /* of the last sample */
	int64_t dev_ns;	      /* the same, unwrapped */
	struct ww_interval t; /* of the last sample */
	int64_t seen_ns;      /* when samples came last, or streaming began */
	int64_t told_ns, told;
	uint64_t samples;
};

int64_t ww_km_step_ns(unsigned rate);
void ww_km_stream_start(struct ww_km_stream *s, int64_t now_ns, const struct ww_meter_out *out);
void ww_km_stream_message(struct ww_km_stream *s, struct ww_interval t, const struct ww_km_msg *m,
			  const struct ww_meter_out *out);
/* s->raw bytes of memory, deciphered. */
void ww_km_stream_memory(struct ww_km_stream *s, struct ww_interval t, const uint8_t *p,
			 const struct ww_meter_out *out);
/* Something came that is no message. */
void ww_km_stream_bad(struct ww_km_stream *s, struct ww_interval t, const struct ww_meter_out *out);
void ww_km_stream_tick(struct ww_km_stream *s, int64_t now_ns, const struct ww_meter_out *out);
void ww_km_stream_stop(struct ww_km_stream *s, const struct ww_meter_out *out);

#endif

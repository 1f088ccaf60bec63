/* SPDX-License-Identifier: MIT */
/*
 * Framing of USB test and measurement (USBTMC 1.00, tables 1 to 9): a header of twelve
 * bytes before each part of a message. Pure; what the instrument sends is hostile.
 */
#ifndef WW_BUS_TMC_H
#define WW_BUS_TMC_H

#include "base/base.h"

#define WW_TMC_HEADER 12
/* Length of a message of n bytes in its frame, padded to a multiple of four. */
#define WW_TMC_FRAME(n) (WW_TMC_HEADER + (((size_t)(n) + 3) & ~(size_t)3))

/* Tags go from 1 to 255. */
uint8_t ww_tmc_tag(uint8_t before);
/* A whole message to the instrument, out: WW_TMC_FRAME(n) bytes. */
void ww_tmc_frame(uint8_t *out, uint8_t tag, const void *data, size_t n);
/* Asks for an answer of at most `max` bytes. */
void ww_tmc_request(uint8_t *out, uint8_t tag, uint32_t max);

struct ww_tmc_part {
	uint32_t n; /* bytes of the message that follow the header */
	bool end;   /* and they are its last */
};
/* The beginning of what came upon a request. false: that is no answer to it. */
bool ww_tmc_answer(const uint8_t *p, size_t n, uint8_t tag, uint32_t max, struct ww_tmc_part *out);

#endif

/* SPDX-License-Identifier: MIT */
#include "bus/tmc.h"

enum { OUT = 1, IN = 2, END = 1 };

static void header(uint8_t *p, uint8_t id, uint8_t tag, uint32_t n, uint8_t attributes)
{
	memset(p, 0, WW_TMC_HEADER);
	p[0] = id;
	p[1] = tag;
	p[2] = (uint8_t)~tag;
	for (int i = 0; i < 4; i++)
		p[4 + i] = (uint8_t)(n >> 8 * i);
	p[8] = attributes;
}

uint8_t ww_tmc_tag(uint8_t before)
{
	return before == 255 ? 1 : (uint8_t)(before + 1);
}

void ww_tmc_frame(uint8_t *out, uint8_t tag, const void *data, size_t n)
{
	header(out, OUT, tag, (uint32_t)n, END);
	if (n)
		memcpy(out + WW_TMC_HEADER, data, n);
	memset(out + WW_TMC_HEADER + n, 0, WW_TMC_FRAME(n) - WW_TMC_HEADER - n);
}

void ww_tmc_request(uint8_t *out, uint8_t tag, uint32_t max)
{
	header(out, IN, tag, max, 0);
}

bool ww_tmc_answer(const uint8_t *p, size_t n, uint8_t tag, uint32_t max, struct ww_tmc_part *out)
{
	if (n < WW_TMC_HEADER || p[0] != IN || p[1] != tag || (p[1] ^ p[2]) != 0xff)
		return false;
	out->n = (uint32_t)p[4] | (uint32_t)p[5] << 8 | (uint32_t)p[6] << 16 | (uint32_t)p[7] << 24;
	out->end = p[8] & END;
	return out->n <= max;
}

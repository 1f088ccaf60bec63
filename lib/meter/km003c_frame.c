/* SPDX-License-Identifier: MIT */
#include "meter/km003c_frame.h"
#include "base/bytes.h"
#include "meter/cipher.h"

static const char memory_key[] = "Lh2yfB7n6X7d9a5Z";
static const char auth_key[] = "Fa0b4tA25f4R038a";

static uint16_t le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

/* Parts: attribute, more of them?, chunk, size; of the queue `chunk` is how many. */
static int parts(const uint8_t *p, size_t n, struct ww_km_msg *m)
{
	size_t at = 4;
	bool more = true;

	while (more) {
		unsigned attribute, chunk, size;
		size_t bytes;

		if (n < at + 4)
			return 0;
		attribute = le16(p + at) & 0x7fff;
		more = le16(p + at) & 0x8000;
		chunk = le16(p + at + 2) & 0x3f;
		size = le16(p + at + 2) >> 6;
		at += 4;
		if ((attribute == WW_KM_ADC && size != WW_KM_ADC_SIZE) ||
		    (attribute == WW_KM_QUEUE && size != WW_KM_SAMPLE_SIZE))
			return -1;
		bytes = attribute == WW_KM_QUEUE ? (size_t)chunk * size : size;
		if (at + bytes > WW_KM_MAX)
			return -1;
		if (n < at + bytes)
			return 0;
		if (attribute == WW_KM_ADC)
			m->adc = p + at;
		if (attribute == WW_KM_QUEUE) {
			m->queue = p + at;
			m->samples = chunk;
		}
		at += bytes;
	}
	return (int)at;
}

int ww_km_parse(const uint8_t *p, size_t n, struct ww_km_msg *m)
{
	*m = (struct ww_km_msg){.type = 0};
	if (n < 4)
		return 0;
	m->type = p[0] & 0x7f;
	m->id = p[1];
	m->word = le16(p + 2);
	switch (m->type) {
	case WW_KM_ACCEPT:
	case WW_KM_REJECT:
		return 4;
	case WW_KM_DATA:
		/* Without a count there is nothing in it. */
		return m->word >> 6 ? parts(p, n, m) : 4;
	case WW_KM_MEMORY:
		return n < 20 ? 0 : 20;
	case WW_KM_AUTH:
		return n < 36 ? 0 : 36;
	default:
		return -1;
	}
}

void ww_km_adc(const uint8_t *p, struct ww_km_adc *a)
{
	a->uv = (int32_t)le32(p);
	a->ua = (int32_t)le32(p + 4);
	a->uv_mean = (int32_t)le32(p + 8);
	a->ua_mean = (int32_t)le32(p + 12);
	a->temperature = (int16_t)le16(p + 24);
	a->cc1 = le16(p + 26);
	a->cc2 = le16(p + 28);
	a->dp = le16(p + 30);
	a->dm = le16(p + 32);
	a->vdd = le16(p + 34);
}

void ww_km_sample(const uint8_t *p, struct ww_km_sample *s)
{
	s->tick = le16(p);
	s->uv = (int32_t)le32(p + 4);
	s->ua = (int32_t)le32(p + 8);
	s->cc1 = le16(p + 12);
	s->cc2 = le16(p + 14);
	s->dp = le16(p + 16);
	s->dm = le16(p + 18);
}

size_t ww_km_control(uint8_t *p, uint8_t type, uint8_t id, unsigned attribute)
{
	p[0] = type;
	p[1] = id;
	ww_put_le(p + 2, attribute << 1, 2);
	return 4;
}

size_t ww_km_read(uint8_t *p, uint8_t id, uint32_t address, uint32_t size)
{
	uint8_t plain[32];

	memset(plain, 0xff, sizeof(plain));
	ww_put_le(plain, address, 4);
	ww_put_le(plain + 4, size, 4);
	ww_put_le(plain + 12, ww_crc32(0, plain, 12), 4);
	p[0] = WW_KM_MEMORY;
	p[1] = id;
	p[2] = p[3] = 1;
	ww_aes_encrypt((const uint8_t *)memory_key, 16, p + 4, plain, sizeof(plain));
	return WW_KM_ORDER;
}

size_t ww_km_auth(uint8_t *p, uint8_t id, const uint8_t hardware[12])
{
	/* Time and padding may be anything: nothing, so that a replay says the same. */
	uint8_t plain[32] = {0};

	memcpy(plain + 8, hardware, 12);
	p[0] = WW_KM_AUTH;
	p[1] = id;
	p[2] = 0;
	p[3] = 2;
	ww_aes_encrypt((const uint8_t *)auth_key, 16, p + 4, plain, sizeof(plain));
	return WW_KM_ORDER;
}

void ww_km_memory(uint8_t *to, const uint8_t *from, size_t n)
{
	ww_aes_decrypt((const uint8_t *)memory_key, 16, to, from, n);
}

/* SPDX-License-Identifier: MIT */
/* What the tests of instruments that speak SCPI have in common. */
#ifndef SCPIBENCH_H
#define SCPIBENCH_H

#include "meterbench.h"
#include "goldenframes.h"

#define SEC WW_NS_PER_S
#define MS  WW_NS_PER_MS
#define HAS(b, s)                                                                                  \
	do {                                                                                       \
		if (!strstr(ml_text(&(b)->log), s))                                                \
			fail_msg("no '%s' in:\n%.6000s", s, ml_text(&(b)->log));                   \
	} while (0)
#define HAS_NO(b, s)                                                                               \
	do {                                                                                       \
		if (strstr(ml_text(&(b)->log), s))                                                 \
			fail_msg("'%s' in:\n%.6000s", s, ml_text(&(b)->log));                      \
	} while (0)

/* 230.4 V 0.5 A, 57.6 W at pf 0.5. */
static const struct emu_setup lamp = {.volts = 230.4, .amps = 0.5, .pf = 0.5, .hz = 50.0};

static struct meterbench b;

/* Another model than that of the driver's name in its place, before it has heard anything. */
static inline void put_model(const char *name, const struct emu_setup *s)
{
	free(b.meter);
	b.model = emu_find(name);
	b.meter = calloc(1, b.model->state_size);
	assert_int_equal(b.model->init(b.meter, s), 0);
	b.char_ns =
		b.model->wire == EMU_STREAM && b.model->baud ? 10 * WW_NS_PER_S / b.model->baud : 0;
}

static inline void with(const char *driver, const char *uri, const char *model, const char *fault,
			int64_t every_ns)
{
	struct emu_setup s = lamp;

	mb_open(&b, driver, uri, every_ns, &s);
	s.fault = fault;
	put_model(model, &s);
}

static inline void right(size_t k)
{
	assert_true(fabs(mb_value(&b, k, "power") - 57.6) < 1e-5);
	assert_true(fabs(mb_value(&b, k, "voltage") - 230.4) < 1e-4);
	assert_true(fabs(mb_value(&b, k, "current") - 0.5) < 1e-6);
}

static inline size_t missing(const char *channel)
{
	size_t n = 0;

	for (size_t k = 0; k < b.rows; k++)
		n += isnan(mb_value(&b, k, channel)) ? 1 : 0;
	return n;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Nordic PPK2: one-letter orders, metadata as text, then 100 000 words a second.
 * Source: the maker's application.
 */
#include "../emu.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define RATE	100000
#define TURN	100 /* samples that leave together: 1 ms */
#define TURN_NS EMU_MS

enum { R, GS, GI, O, S, I, UG, TERMS };

struct ppk2 {
	struct emu_setup setup;
	double term[TERMS][5]; /* what its parts really are */
	bool nan_at[TERMS][5];
	int mv;
	bool on, source, streaming;
	int64_t began_ns, next_ns;
	uint64_t sample; /* of this stream */
	double as;	 /* ampere seconds that went through */
	unsigned counter;
	uint8_t order[8];
	size_t n;
	bool slipped;
};

/*
 * nan         -nan in the metadata: the defaults are the truth there
 * rzero       R = 0 likewise
 * old         metadata without S, I and UG
 * noend       metadata without END
 * slow        metadata a few bytes each 20 ms
 * streaming   it streams already when it is opened
 * loss        4 times a second 5 samples are lost
 * bigloss     once a second 40 samples
 * loss64      once a second exactly 64: its counter does not show that
 * odd         three words in a second have a wrong counter, and nothing is lost
 * slip        a byte is lost after half a second, for ever
 * backlog     100 ms come at once
 * ranges      1 µA and the load in turn, 5 ms each
 * silent      no answer
 * mute        nothing more after a second of stream
 * garbage     bytes at random, at its rate
 * wrong       text of another meter
 * logic       the logic inputs count milliseconds
 */
static const char faults[] = "nan rzero old noend slow streaming loss bigloss loss64 odd slip "
			     "backlog ranges silent mute garbage wrong logic";

static const double defaults[TERMS][5] = {
	[R] = {1031.64, 101.65, 10.15, 0.94, 0.043},
	[GS] = {1, 1, 1, 1, 1},
	[GI] = {1, 1, 1, 1, 1},
	[UG] = {1, 1, 1, 1, 1},
};
/* A unit that has been calibrated. */
static const double calibrated[TERMS][5] = {
	[R] = {1003.3506, 101.5865, 10.3027, 0.9636, 0.0564},
	[GS] = {0.0000, 112.7890, 18.0115, 2.4217, 0.0729},
	[GI] = {1.0000, 0.9695, 0.9609, 0.9519, 0.9582},
	[O] = {112.9420, 75.4627, 64.6020, 50.4983, 88.2486},
	[S] = {0.000000048, 0.000000596, 0.000005281, 0.000062577, 0.002940743},
	[I] = {-0.000000104, -0.000001443, 0.000036439, -0.000374119, -0.009388455},
	[UG] = {1.00, 1.00, 1.00, 1.00, 1.00},
};
static const char *const names[TERMS] = {"R", "GS", "GI", "O", "S", "I", "UG"};

static bool has(const struct ppk2 *p, const char *fault)
{
	return p->setup.fault && strcmp(p->setup.fault, fault) == 0;
}

static int ppk2_init(void *state, const struct emu_setup *s)
{
	struct ppk2 *p = state;

	p->setup = *s;
	memcpy(p->term, calibrated, sizeof(p->term));
	if (has(p, "nan")) {
		p->nan_at[R][2] = p->nan_at[GS][1] = p->nan_at[GI][3] = p->nan_at[O][2] = true;
		p->nan_at[UG][2] = p->nan_at[S][2] = true;
	}
	for (int t = 0; t < TERMS; t++)
		for (int i = 0; i < 5; i++)
			if (p->nan_at[t][i] || (t == R && has(p, "rzero")) ||
			    (t >= S && has(p, "old")))
				p->term[t][i] = defaults[t][i];
	p->mv = 3000;
	p->streaming = has(p, "streaming");
	p->began_ns = p->next_ns = INT64_MIN;
	return !s->fault || !*s->fault || emu_has(faults, s->fault) ? 0 : -1;
}

/* ---------------------------------------------------------------- its samples */

static double amps_at(const struct ppk2 *p, int64_t now)
{
	if (!p->on && p->source)
		return 0;
	if (has(p, "ranges") && now / (5 * EMU_MS) % 2)
		return 1e-6;
	return emu_amps(&p->setup, now);
}

static int range_of(double amps)
{
	static const double top[] = {50e-6, 500e-6, 5e-3, 60e-3};
	int k = 0;

	while (k < 4 && amps > top[k])
		k++;
	return k;
}

/* The converter's number for a current: its law, solved for r. */
static unsigned convert(const struct ppk2 *p, double amps)
{
	int k = range_of(amps);
	double v = p->mv, gs = p->term[GS][k], gi = p->term[GI][k], r, raw;
	double c = p->term[S][k] * v / 1000 + p->term[I][k] - amps / p->term[UG][k];

	r = gs > 0 ? (-gi + sqrt(fmax(gi * gi - 4 * gs * c, 0))) / (2 * gs) : -c / gi;
	raw = (r * p->term[R][k] * 163840 / 1.8 + p->term[O][k]) / 4;
	raw = fmin(fmax(raw, 0), 16383);
	return (unsigned)(raw + 0.5) | (unsigned)k << 14;
}

static void put_word(uint8_t *to, unsigned word, unsigned counter, unsigned logic)
{
	word |= (counter & 63) << 18 | (logic & 255) << 24;
	to[0] = (uint8_t)word;
	to[1] = (uint8_t)(word >> 8);
	to[2] = (uint8_t)(word >> 16);
	to[3] = (uint8_t)(word >> 24);
}

/* Is this sample lost on the way? They are in `sample` all the same. */
static bool is_lost(const struct ppk2 *p)
{
	uint64_t s = p->sample % RATE;

	if (p->sample < RATE / 4)
		return false;
	if (has(p, "loss"))
		return s % (RATE / 4) < 5;
	return (has(p, "bigloss") && s < 40) || (has(p, "loss64") && s < 64);
}

static size_t make(struct ppk2 *p, int64_t at, uint8_t *to, unsigned samples)
{
	unsigned word = convert(p, amps_at(p, at)), logic = has(p, "logic") ? 1 : 0;
	size_t n = 0;

	for (unsigned i = 0; i < samples; i++, p->sample++, p->counter++) {
		unsigned wrong = has(p, "odd") && p->sample % RATE / 3 == RATE / 9 ? 7 : 0;

		if (is_lost(p))
			continue;
		put_word(to + n, word, p->counter + wrong, logic ? (unsigned)(p->sample / 100) : 0);
		n += 4;
	}
	return n;
}

static void stream(struct ppk2 *p, int64_t now, const struct emu_out *out)
{
	uint8_t chunk[TURN * 4];
	size_t n, skip = 0;

	p->as += amps_at(p, now - TURN_NS / 2) * (double)TURN_NS / 1e9;
	n = make(p, now - TURN_NS / 2, chunk, TURN);
	if (has(p, "mute") && p->sample > RATE)
		return;
	if (has(p, "garbage"))
		for (size_t i = 0; i < n; i++)
			chunk[i] = (uint8_t)emu_random(&p->setup.seed);
	if (has(p, "slip") && p->sample > RATE / 2 && !p->slipped) {
		p->slipped = true;
		skip = 1;
	}
	/* What a slow host or hub does: it waits, then comes in one go. */
	if (has(p, "backlog"))
		now += 100 * EMU_MS - (int64_t)((p->sample - 1) / TURN % 100) * EMU_MS;
	if (n > skip)
		out->send(out->ctx, now, chunk + skip, n - skip);
}

static int64_t ppk2_due(const void *state)
{
	const struct ppk2 *p = state;

	return p->streaming && p->next_ns != INT64_MIN ? p->next_ns : EMU_NEVER;
}

static void ppk2_tick(void *state, int64_t now, const struct emu_out *out)
{
	struct ppk2 *p = state;

	while (p->streaming && p->next_ns <= now) {
		stream(p, p->next_ns, out);
		p->next_ns += TURN_NS;
	}
}

/* --------------------------------------------------------------- its dialogue */

struct text {
	char p[2048];
	size_t n;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->p + t->n, sizeof(t->p) - t->n, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(t->p) - t->n)
		t->n += (size_t)n;
}

static void add_term(struct text *t, const struct ppk2 *p, int term)
{
	for (int i = 0; i < 5; i++) {
		add(t, "%s%d: ", names[term], i);
		if (p->nan_at[term][i])
			add(t, "-nan\n");
		else if (term == R && has(p, "rzero"))
			add(t, "0.0000\n");
		else
			add(t, term == S || term == I ? "%.9f\n" : "%.4f\n", p->term[term][i]);
	}
}

static void metadata(struct ppk2 *p, int64_t now, const struct emu_out *out)
{
	static const int order[] = {R, GS, GI, O};
	struct text t = {.n = 0};
	size_t step;

	if (has(p, "silent") || has(p, "garbage"))
		return;
	if (has(p, "wrong")) {
		add(&t, "#d,-,18,1235,2301,537,12,0,0,0,0,0,0,0,0,0,100,0,0,500,1235;\r\n");
		out->send(out->ctx, now + EMU_MS, t.p, t.n);
		return;
	}
	add(&t, "Calibrated: 0\n");
	for (size_t i = 0; i < 4; i++)
		add_term(&t, p, order[i]);
	add(&t, "VDD: %d\nHW: 9173\nmode: 2\n", p->mv);
	if (!has(p, "old")) {
		add_term(&t, p, S);
		add_term(&t, p, I);
		add_term(&t, p, UG);
	}
	add(&t, "IA: 56\n%s", has(p, "noend") ? "" : "END\n");
	step = has(p, "slow") ? 16 : 64;
	for (size_t i = 0; i < t.n; i += step) {
		now += has(p, "slow") ? 20 * EMU_MS : EMU_MS / 4;
		out->send(out->ctx, now, t.p + i, t.n - i < step ? t.n - i : step);
	}
}

static size_t order_size(uint8_t first)
{
	switch (first) {
	case 0x0c:
	case 0x11:
		return 2;
	case 0x0d:
		return 3;
	case 0x25:
		return 6;
	default:
		return 1;
	}
}

static void begin(struct ppk2 *p, int64_t now)
{
	p->streaming = true;
	p->next_ns = now + TURN_NS;
	p->sample = 0;
	p->counter = emu_random(&p->setup.seed) & 63;
}

static void obey(struct ppk2 *p, int64_t now, const struct emu_out *out)
{
	switch (p->order[0]) {
	case 0x06:
		if (!p->streaming && !has(p, "silent") && !has(p, "wrong"))
			begin(p, now);
		break;
	case 0x07:
		p->streaming = false;
		break;
	case 0x0c:
		p->on = p->order[1] != 0;
		break;
	case 0x0d:
		p->mv = (p->order[1] - 3) * 256 + p->order[2] + 800 - 32;
		break;
	case 0x11:
		p->source = p->order[1] == 2;
		break;
	case 0x19:
		metadata(p, now, out);
		break;
	case 0x20:
		p->on = p->source = p->streaming = false;
		break;
	default:
		break;
	}
}

static void ppk2_host(void *state, int64_t now, const uint8_t *data, size_t n,
		      const struct emu_out *out)
{
	struct ppk2 *p = state;

	if (p->began_ns == INT64_MIN) {
		p->began_ns = now;
		if (p->streaming) {
			begin(p, now);
			for (int i = 0; i < 5; i++)
				stream(p, now, out);
		}
	}
	for (; n; data++, n--) {
		p->order[p->n++] = *data;
		if (p->n < order_size(p->order[0]))
			continue;
		p->n = 0;
		obey(p, now, out);
	}
}

static void ppk2_truth(const void *state, int64_t now, double out[4])
{
	const struct ppk2 *p = state;

	out[0] = p->source ? p->mv / 1e3 : p->setup.volts;
	out[1] = amps_at(p, now);
	out[2] = out[0] * out[1];
	out[3] = out[0] * p->as / 3600;
}

const struct emu_model emu_ppk2 = {
	.name = "ppk2",
	.faults = faults,
	.wire = EMU_STREAM,
	.usb = {.vid = 0x1915,
		.pid = 0xc00a,
		.maker = "Nordic Semiconductor",
		.product = "PPK2",
		.serial = "C0FFEE112233"},
	.state_size = sizeof(struct ppk2),
	.init = ppk2_init,
	.host = ppk2_host,
	.due = ppk2_due,
	.tick = ppk2_tick,
	.truth = ppk2_truth,
};

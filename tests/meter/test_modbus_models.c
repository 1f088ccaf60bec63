/* SPDX-License-Identifier: MIT */
/* The models of Modbus meters say what the makers' frames say. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "../emu/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wire {
	char hex[1024];
	int64_t at;
	unsigned sent;
};

static void on_send(void *ctx, int64_t at, const void *p, size_t n)
{
	struct wire *w = ctx;

	w->hex[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(w->hex + 2 * i, 3, "%02x", ((const uint8_t *)p)[i]);
	w->at = at;
	w->sent++;
}

static size_t bytes(const char *hex, uint8_t *out)
{
	size_t n = 0;

	for (; hex[0] && hex[1]; hex += 2) {
		char two[3] = {hex[0], hex[1], 0};

		out[n++] = (uint8_t)strtol(two, NULL, 16);
	}
	return n;
}

struct bench {
	const struct emu_model *m;
	void *state;
	int64_t now;
	struct wire w;
};

static void open_model(struct bench *b, const char *name, const struct emu_setup *s)
{
	*b = (struct bench){.m = emu_find(name), .now = 1000 * EMU_S};
	assert_non_null(b->m);
	b->state = calloc(1, b->m->state_size);
	assert_int_equal(b->m->init(b->state, s), 0);
}

static void let_go(struct bench *b, int64_t ns)
{
	const struct emu_out out = {.ctx = &b->w, .send = on_send};
	int64_t end = b->now + ns, d;

	while ((d = b->m->due(b->state)) <= end) {
		b->now = d > b->now ? d : b->now;
		b->m->tick(b->state, b->now, &out);
	}
	b->now = end;
}

static void say(struct bench *b, const char *hex)
{
	const struct emu_out out = {.ctx = &b->w, .send = on_send};
	uint8_t p[256];

	b->m->host(b->state, b->now, p, bytes(hex, p), &out);
}

/* What it answers within a second, "" nothing. */
static const char *ask(struct bench *b, const char *hex)
{
	b->w.hex[0] = '\0';
	say(b, hex);
	let_go(b, EMU_S);
	return b->w.hex;
}

static void close_model(struct bench *b)
{
	free(b->state);
}

static void pzem_frames(void **unused)
{
	struct emu_setup s = {.volts = 220, .amps = 1, .pf = 1, .hz = 50};
	struct bench b;

	(void)unused;
	open_model(&b, "pzem004t", &s);
	assert_string_equal(ask(&b, "01040000000a700d"),
			    "010414089803e80000089800000000000001f40064000063ce");
	assert_string_equal(ask(&b, "01428011"), "01428011");
	assert_string_equal(ask(&b, "010600020005e809"), "010600020005e809");
	assert_string_equal(ask(&b, "01040000000a700d"), "");
	close_model(&b);

	s = (struct emu_setup){.volts = 231.2, .amps = 71.234, .hz = 49.9, .wh = 1234563};
	s.pf = 16391.1 / (s.volts * s.amps);
	open_model(&b, "pzem004t", &s);
	/* The alarm is set to 1 W; all but the power factor, which is rounded here. */
	ask(&b, "01060001000119ca");
	assert_memory_equal(ask(&b, "01040000000a700d"), "01041409081642000180470002d687001201f300",
			    40);
	close_model(&b);
}

static void sdm_frames(void **unused)
{
	struct emu_setup s = {.volts = 230.2, .pf = 1, .hz = 50};
	struct bench b;

	(void)unused;
	s.amps = 1234.5 / 230.2;
	open_model(&b, "sdm120", &s);
	assert_string_equal(ask(&b, "01040000000271cb"), "010404436633335afa");
	assert_string_equal(ask(&b, "0104000c0002b1c8"), "010404449a5000f35b");
	assert_int_equal(strlen(ask(&b, "010400000050f036")), 2 * (3 + 160 + 2));
	assert_memory_equal(b.w.hex, "0104a043663333", 14);
	close_model(&b);
}

/* Frames end by silence; nothing that is broken, cut or too early is answered. */
static void strictness(void **unused)
{
	struct emu_setup s = {.volts = 220, .amps = 1, .pf = 1, .hz = 50};
	struct bench b;

	(void)unused;
	open_model(&b, "pzem004t", &s);
	assert_string_equal(ask(&b, "01040000000a700e"), "");
	assert_string_equal(ask(&b, "02040000000a703e"), "");
	say(&b, "01040000");
	let_go(&b, 10 * EMU_MS);
	assert_string_equal(ask(&b, "000a700d"), "");
	say(&b, "01040000");
	let_go(&b, 5 * EMU_MS);
	assert_int_equal(strlen(ask(&b, "000a700d")), 50);
	/* While it answers it hears nothing. */
	b.w.sent = 0;
	say(&b, "01040000000a700d");
	let_go(&b, 15 * EMU_MS);
	ask(&b, "01040000000a700d");
	assert_int_equal(b.w.sent, 1);
	close_model(&b);
}

static void haste_gives_nan(void **unused)
{
	struct emu_setup s = {.volts = 230.2, .amps = 1, .pf = 1, .hz = 50};
	struct bench b;
	unsigned nans = 0;

	(void)unused;
	open_model(&b, "sdm230", &s);
	for (int i = 0; i < 8; i++) {
		b.w.sent = 0;
		say(&b, "01040000000271cb");
		while (!b.w.sent)
			let_go(&b, EMU_MS);
		nans += strstr(b.w.hex, "0104047fc00000") != NULL;
		b.now = b.w.at + 9 * EMU_S / 960 + 10 * EMU_MS;
	}
	assert_int_equal(nans, 4);
	close_model(&b);
}

/* Every fault of every model is taken, and an unknown one is not. */
static void faults(void **unused)
{
	(void)unused;
	for (size_t i = 0; emu_models[i]; i++) {
		const struct emu_model *m = emu_models[i];
		struct emu_setup s = {.volts = 5, .amps = 1, .pf = 1, .hz = 50};
		char list[1024], *save = NULL;
		void *state = calloc(1, m->state_size);

		s.fault = "nosuchfault";
		assert_int_equal(m->init(state, &s), -1);
		snprintf(list, sizeof(list), "%s", m->faults);
		for (s.fault = strtok_r(list, " ", &save); s.fault;
		     s.fault = strtok_r(NULL, " ", &save)) {
			memset(state, 0, m->state_size);
			if (m->init(state, &s) != 0)
				fail_msg("%s: fault %s", m->name, s.fault);
		}
		free(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pzem_frames), cmocka_unit_test(sdm_frames),
		cmocka_unit_test(strictness),  cmocka_unit_test(haste_gives_nan),
		cmocka_unit_test(faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

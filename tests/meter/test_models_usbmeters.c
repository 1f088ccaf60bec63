/* SPDX-License-Identifier: MIT */
/* The models of the UM25C, TC66C and FNB58 families say what the worked frames say. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "../emu/emu.h"
#include "goldenframes.h"

struct said {
	uint8_t p[4096];
	size_t n, messages;
	int64_t at;
};

static void on_send(void *ctx, int64_t at_ns, const void *p, size_t n)
{
	struct said *s = ctx;

	assert_true(s->n + n <= sizeof(s->p));
	assert_true(at_ns >= s->at);
	memcpy(s->p + s->n, p, n);
	s->n += n;
	s->messages++;
	s->at = at_ns;
}

static void *ask(const char *model, const struct emu_setup *s, const char *cmd, struct said *said)
{
	const struct emu_model *m = emu_find(model);
	const struct emu_out out = {.ctx = said, .send = on_send};
	void *state;

	assert_non_null(m);
	state = calloc(1, m->state_size);
	assert_int_equal(m->init(state, s), 0);
	m->host(state, 1000 * EMU_S, (const uint8_t *)cmd, strlen(cmd), &out);
	return state;
}

static void um(void **unused)
{
	static const struct {
		const char *model, *frame, *fault;
		double volts;
	} rows[] = {{"um24c", "um24c.rsp", NULL, 5.12},
		    {"um25c", "um25c.rsp", NULL, 5.123},
		    {"um34c", "um34c.rsp", NULL, 5.12},
		    {"um25c", "um34c.rsp", "um34c", 5.12}};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct emu_setup s = {.volts = rows[i].volts,
				      .amps = rows[i].volts < 5.1205 ? 1.0 : 1.0003,
				      .pf = 1,
				      .fault = rows[i].fault};
		struct golden g = golden_find(rows[i].frame);
		struct said said = {0};
		void *state = ask(rows[i].model, &s, "\xf0", &said);

		assert_int_equal(said.n, 130);
		/* Registers, time and screen are another story's; what is measured is the same. */
		assert_memory_equal(said.p, g.p, 14);
		assert_memory_equal(said.p + 96, g.p + 96, 6);
		if (strcmp(rows[i].frame, "um34c.rsp") != 0)
			assert_memory_equal(said.p + 128, g.p + 128, 2);
		free(state);
	}
}

static void tc66(void **unused)
{
#if WW_WITH_NETTLE
	struct emu_setup s = {.volts = 5.1234, .amps = 1.00021, .pf = 1};
	struct golden wire = golden_find("tc66.wire");
	struct said said = {0};
	void *state = ask("tc66c", &s, "getva", &said);

	(void)unused;
	assert_int_equal(said.n, 192);
	/* The first block of ciphers: "pac1TC661.14" and the serial number. */
	assert_memory_equal(said.p, wire.p, 48);
	/* The last: nothing but its check. */
	assert_memory_equal(said.p + 128, wire.p + 128, 64);
	free(state);
	s.fault = "boot";
	memset(&said, 0, sizeof(said));
	state = ask("tc66c", &s, "query", &said);
	assert_int_equal(said.n, 4);
	assert_memory_equal(said.p, "boot", 4);
	free(state);
#else
	(void)unused;
	skip();
#endif
}

static void fnb(void **unused)
{
	static const char *const begin[] = {"fnb48.cmd81", "fnb48.cmd82", "fnb48.cmd82"};
	struct emu_setup s = {.volts = 5.12345, .amps = 1.00021, .pf = 1};
	const struct emu_model *m = emu_find("fnb58");
	struct said said = {0};
	const struct emu_out out = {.ctx = &said, .send = on_send};
	void *state = calloc(1, m->state_size);
	struct golden data = golden_find("fnb48.data");

	(void)unused;
	assert_int_equal(m->init(state, &s), 0);
	for (size_t i = 0; i < WW_COUNTOF(begin); i++) {
		struct golden g = golden_find(begin[i]);

		m->host(state, 1000 * EMU_S, g.p, g.n, &out);
	}
	said.n = 0;
	for (int64_t d; (d = m->due(state)) < 1010 * EMU_S;)
		m->tick(state, d, &out);
	/* Without being asked it stops after 2 s. */
	assert_int_equal(said.n, 50 * 64);
	assert_memory_equal(said.p, data.p, 17);
	free(state);
}

/* A model knows its own faults, and no others. */
static void names(void **unused)
{
	(void)unused;
	for (size_t i = 0; emu_models[i]; i++) {
		struct emu_setup s = {.volts = 5, .amps = 1, .pf = 1, .fault = "no-such-fault"};
		void *state = calloc(1, emu_models[i]->state_size);

		assert_int_equal(emu_models[i]->init(state, &s), -1);
		assert_true(emu_find(emu_models[i]->name) == emu_models[i]);
		free(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(um),
		cmocka_unit_test(tc66),
		cmocka_unit_test(fnb),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

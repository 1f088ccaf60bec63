/* SPDX-License-Identifier: MIT */
/* Runs of two variants without a trace: A draws 20 W for 10 s, B 30 W for 5 s, in rounds. */
#ifndef TESTS_FAKERUNS_H
#define TESTS_FAKERUNS_H

#include "analysis/runs.h"

#include <math.h>

#define ROUNDS 4

struct fake {
	struct ww_runs runs;
	struct ww_run run[2 * ROUNDS];
	struct ww_run_variant variant[2];
};

static void fake_run(struct ww_run *r, size_t i)
{
	bool b = (i + 1) / 2 & 1;
	double wobble = 1 + 0.002 * ((int)(i * 7 % 5) - 2), t = (b ? 5 : 10) * wobble;

	*r = (struct ww_run){
		.n = (uint32_t)i + 1,
		.round = (uint32_t)i / 2 + 1,
		.variant = b,
		.repeat = 2,
		.label = b ? "B" : "A",
		.command = "x",
		.used = 1,
		.duration_s = {t, 0.001},
		.gross_J = {t * (b ? 30 : 20), 0.1},
		.marginal_J = {t * (b ? 20 : 10), 0.1},
		.mean_W = {b ? 30 : 20, 0.1},
		.work = {100, 0},
		.work_unit = "frame",
		.gross_per = {t * (b ? 30 : 20) / 100, 0},
		.marginal_per = {t * (b ? 20 : 10) / 100, 0},
		.time_per = {t / 100, 0},
		.why = "",
		.work_why = "",
	};
}

static void fake_init(struct fake *f)
{
	*f = (struct fake){.runs = {.run = f->run,
				    .runs = 2 * ROUNDS,
				    .variant = f->variant,
				    .variants = 2,
				    .meter = {.gain_u = 0.02, .offset_u = 0.3}}};
	for (size_t i = 0; i < 2 * ROUNDS; i++)
		fake_run(&f->run[i], i);
	for (size_t v = 0; v < 2; v++)
		f->variant[v] = (struct ww_run_variant){.label = v ? "B" : "A",
							.command = "x",
							.work_unit = "frame"};
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What step detection promises, on traces made for it: nothing above the limits is
 * missed, nothing is found where nothing was switched, and the sizes are as sure as
 * they are said to be. `test_steps_accept --list [SEEDS [FIRST]]` prints each miss and a table,
 * `--dump N SEED` a trace of family N.
 */
#include "stepfamilies.h"
#include "stepscore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#define SEEDS 6
#else
#define SEEDS 60
#endif

/* Seeds that nothing was tuned on. */
#define FIRST_SEED 1000

static struct gen trace; /* large */

static int run(const struct gen_family *f, unsigned seeds, unsigned first, struct score *s)
{
	for (unsigned k = 0; k < seeds * f->times; k++) {
		gen_begin(&trace, first + k, f->name);
		f->make(&trace);
		gen_run(&trace);
		if (score_trace(s, &trace) < 0)
			return -1;
	}
	return 0;
}

static void judge(const struct gen_family *f, const struct score *s)
{
	double covered = s->judged ? (double)s->covered / s->judged : 1;

	if (s->wanted && (double)s->found < f->least_found * s->wanted)
		fail_msg("%s: %u of %u found", f->name, s->found, s->wanted);
	/* Without a change every event is one too many. */
	if ((double)s->extra > (s->wanted ? 0.03 * s->traces : 0))
		fail_msg("%s: %u false in %u traces", f->name, s->extra, s->traces);
	if (s->claimed || s->missed_bounds)
		fail_msg("%s: %u claimed, %u outside their bounds", f->name, s->claimed,
			 s->missed_bounds);
	if (SEEDS < 60 || !s->judged)
		return; /* too few to tell 90 % from 99 % */
	if (covered < 0.9 || covered > f->most_covered)
		fail_msg("%s: %.1f %% within 2 u", f->name, 100 * covered);
	if ((double)s->timely < 0.99 * s->judged)
		fail_msg("%s: %u of %u inside their times", f->name, s->timely, s->judged);
}

static void test_family(void **state)
{
	const struct gen_family *f = *state;
	struct score s = {.family = f->name};

	if (run(f, SEEDS, FIRST_SEED, &s) < 0)
		fail_msg("%s: refused", f->name);
	judge(f, &s);
}

static int list(unsigned seeds, unsigned first)
{
	struct score s[sizeof(gen_families) / sizeof(gen_families[0])];
	size_t n = sizeof(s) / sizeof(s[0]);

	for (size_t i = 0; i < n; i++) {
		s[i] = (struct score){.family = gen_families[i].name, .tell = stdout};
		if (run(&gen_families[i], seeds, first, &s[i]) < 0)
			return 1;
	}
	score_head(stdout);
	for (size_t i = 0; i < n; i++)
		score_print(stdout, &s[i]);
	return 0;
}

static int dump(const char *family, const char *seed)
{
	size_t k = strtoul(family, NULL, 10);

	if (k >= sizeof(gen_families) / sizeof(gen_families[0]))
		return 2;
	gen_begin(&trace, strtoul(seed, NULL, 10), gen_families[k].name);
	gen_families[k].make(&trace);
	gen_run(&trace);
	gen_dump(stdout, &trace);
	return 0;
}

int main(int argc, char **argv)
{
	struct CMUnitTest test[sizeof(gen_families) / sizeof(gen_families[0])];
	size_t n = sizeof(test) / sizeof(test[0]);

	if (argc > 1 && strcmp(argv[1], "--list") == 0)
		return list(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : SEEDS,
			    argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : FIRST_SEED);
	if (argc > 3 && strcmp(argv[1], "--dump") == 0)
		return dump(argv[2], argv[3]);
	for (size_t i = 0; i < n; i++)
		test[i] = (struct CMUnitTest){.name = gen_families[i].name,
					      .test_func = test_family,
					      .initial_state = (void *)(uintptr_t)&gen_families[i]};
	return _cmocka_run_group_tests("steps", test, n, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Step detection on meters and loads it was not made for. The table that
 * pwrlog-steps(1) publishes is printed by `make step-table` (`--table`); `--list`
 * prints each miss too, `--dump N SEED` a trace. The test holds the worst of it.
 */
#include "steprough.h"
#include "stepscore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define FAMILIES (sizeof(rough_families) / sizeof(rough_families[0]))
#if defined(__SANITIZE_ADDRESS__)
#define SEEDS 3
#else
#define SEEDS 60
#endif

static struct gen trace; /* large */

static int run(size_t family, unsigned seeds, struct score *s)
{
	const struct gen_family *f = &rough_families[family];

	for (unsigned k = 0; k < seeds * f->times; k++) {
		gen_begin(&trace, k, f->name);
		f->make(&trace);
		gen_run(&trace);
		if (score_trace(s, &trace) < 0)
			return -1;
	}
	return 0;
}

static int table(unsigned seeds, FILE *tell)
{
	struct score s[FAMILIES];

	for (size_t i = 0; i < FAMILIES; i++) {
		s[i] = (struct score){.family = rough_families[i].name, .tell = tell};
		if (run(i, seeds, &s[i]) < 0)
			return 1;
	}
	score_head(stdout);
	for (size_t i = 0; i < FAMILIES; i++)
		score_print(stdout, &s[i]);
	return 0;
}

static int dump(const char *family, const char *seed)
{
	size_t k = strtoul(family, NULL, 10);

	if (k >= FAMILIES)
		return 2;
	gen_begin(&trace, strtoul(seed, NULL, 10), rough_families[k].name);
	rough_families[k].make(&trace);
	gen_run(&trace);
	gen_dump(stdout, &trace);
	return 0;
}

/*
 * What is published may get better and not much worse: nine changes of ten are found,
 * but for those of the limits themselves, and a report is not swamped by false ones.
 */
static void test_worst(void **state)
{
	(void)state;
	for (size_t i = 0; i < FAMILIES; i++) {
		struct score s = {.family = rough_families[i].name};

		if (run(i, SEEDS / 3, &s) < 0)
			fail_msg("%s: refused", s.family);
		if ((double)s.found < rough_families[i].least_found * s.wanted)
			fail_msg("%s: %u of %u found", s.family, s.found, s.wanted);
		if (s.extra > 4 * s.traces)
			fail_msg("%s: %u false in %u traces", s.family, s.extra, s.traces);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest test[] = {cmocka_unit_test(test_worst)};

	if (argc > 1 && strcmp(argv[1], "--table") == 0)
		return table(60, NULL);
	if (argc > 1 && strcmp(argv[1], "--list") == 0)
		return table(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 60, stdout);
	if (argc > 3 && strcmp(argv[1], "--dump") == 0)
		return dump(argv[2], argv[3]);
	return cmocka_run_group_tests_name("rough", test, NULL, NULL);
}

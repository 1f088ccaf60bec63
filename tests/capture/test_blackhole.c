/* SPDX-License-Identifier: MIT */
/* What never answers changes nothing for the heartbeat beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../scratch.h"
#include "blackhole.h"

#define PAIRS	4
#define STRETCH (900 * WW_NS_PER_MS)

static void test_holes(void **state)
{
	int64_t late[2][PAIRS], width[2][PAIRS], l[2], w[2];
	struct blackhole b;
	struct bh_stretch s;

	(void)state;
	bh_open(&b, scratch());
	for (int i = 0; i < 2 * PAIRS; i++) {
		int holes = i & 1;

		bh_record(&b, holes, STRETCH, &s);
		late[holes][i / 2] = s.late_p99;
		width[holes][i / 2] = s.width_p99;
		assert_true(s.n > 50);
		/* Nobody waits at the end for an answer that is due: 500 ms are for the devices. */
		assert_true(s.stop_ns < 2 * WW_NS_PER_S);
	}
	for (int h = 0; h < 2; h++) {
		l[h] = bh_quantile(late[h], PAIRS, 0.5);
		w[h] = bh_quantile(width[h], PAIRS, 0.5);
		print_message("# %s: p99 of a beat's stamp %.3f ms after it, width %.3f ms\n",
			      h ? "with black holes" : "alone", (double)l[h] / 1e6,
			      (double)w[h] / 1e6);
	}
	/* Where one of them waited in the loop, all these recordings had 300 ms and more. */
	assert_true(l[1] < 3 * l[0] + 100 * WW_NS_PER_MS);
	assert_true(w[1] < 3 * w[0] + 100 * WW_NS_PER_MS);
	bh_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_holes)};

#if !defined(WW_WITH_CURL) || !defined(WW_WITH_JANSSON)
	puts("1..0 # SKIP built without libcurl or jansson");
	return 0;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}

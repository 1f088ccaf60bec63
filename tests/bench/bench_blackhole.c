/* SPDX-License-Identifier: MIT */
/*
 * A heartbeat beside devices that never answer: a Modbus slave, a web server, a swallowed
 * SYN, a plug's port, a name server. Its peer is the same heartbeat alone, recorded in
 * turns with it.
 */
#include "../scratch.h"
#include "../capture/blackhole.h"

#define PAIRS	10
#define STRETCH (5 * WW_NS_PER_S)

enum { P50, P99, MAX, WIDTH, FIGURES };

int main(void)
{
	static const char *const names[FIGURES] = {"stamp, median", "stamp, p99", "stamp, worst",
						   "interval's width, p99"};
	int64_t v[2][FIGURES][PAIRS];
	struct blackhole b;
	struct bh_stretch s;
	size_t beats = 0;

	bh_open(&b, scratch());
	for (int i = 0; i < 2 * PAIRS; i++) {
		int h = i & 1;

		bh_record(&b, h, STRETCH, &s);
		v[h][P50][i / 2] = s.late_p50;
		v[h][P99][i / 2] = s.late_p99;
		v[h][MAX][i / 2] = s.late_max;
		v[h][WIDTH][i / 2] = s.width_p99;
		beats += s.n;
	}
	bh_close(&b);
	printf("%zu beats, every %d ms; medians of %d recordings of %d s each, in turns, and their "
	       "range\n",
	       beats, BH_BEAT_MS, PAIRS, (int)(STRETCH / WW_NS_PER_S));
	printf("%-24s %28s %28s\n", "", "alone, ms", "with 5 black holes, ms");
	for (int f = 0; f < FIGURES; f++) {
		printf("%-24s", names[f]);
		for (int h = 0; h < 2; h++) {
			double mid = (double)bh_quantile(v[h][f], PAIRS, 0.5) / 1e6;

			printf(" %10.3f (%6.3f to %6.3f)", mid, (double)v[h][f][0] / 1e6,
			       (double)v[h][f][PAIRS - 1] / 1e6);
		}
		printf("\n");
	}
	return 0;
}

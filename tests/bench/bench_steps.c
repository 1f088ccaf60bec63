/* SPDX-License-Identifier: MIT */
/*
 * Step detection alone, from arrays: a still day, noise without a step, levels of 300 s, a
 * coarse display, correlated noise, loads that settle, a ramp. Time of one processor, so that what
 * else runs does not count.
 */
#include "../analysis/stat_trace.h"
#include "analysis/steps.h"

#include <sys/resource.h>
#include <time.h>

#define DAY	86400
#define MILLION 1000000

static double t[MILLION], v[MILLION];

/* level_s 0: one level. AR(1) noise of standard deviation sigma. */
static void make(size_t n, double sigma, double phi, double q, size_t level_s)
{
	double level = 20, noise = 0;

	seed = 1;
	for (size_t i = 0; i < n; i++) {
		if (level_s && i % level_s == 0)
			level = 20 + 60 * uniform();
		noise = phi * noise + sigma * sqrt(1 - phi * phi) * (sigma > 0 ? normal() : 0);
		t[i] = (double)i;
		v[i] = q * round((level + noise) / q);
	}
}

/* Every `each` readings a level that is reached exponentially, from `extra` away. */
static void settling(size_t n, double q, size_t each, double tau_s, double extra)
{
	double level = 20;

	seed = 1;
	for (size_t i = 0; i < n; i++) {
		double x = (double)(i % each);

		/* A compressor: on for the first half, its start settles. */
		if (extra > 0)
			level = i % each < each / 2 ? 80 + extra * exp(-x / tau_s) : 1.3;
		else if (i % each == 0)
			level = 20 + 60 * uniform();
		t[i] = (double)i;
		v[i] = level + 0.3 * normal();
		if (!(extra > 0))
			v[i] += 0.5 * level * exp(-x / tau_s);
		v[i] = q * round(v[i] / q);
	}
}

static void ramp(size_t n, double slope, double q)
{
	for (size_t i = 0; i < n; i++) {
		t[i] = (double)i;
		v[i] = q * round(slope * (double)i / q);
	}
}

/* Noise of ever slower parts, of equal size in each octave. */
static void pink(size_t n, double sigma, double q)
{
	double part[16] = {0};

	seed = 1;
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (int k = 0; k < 16; k++) {
			double phi = exp(-1 / ldexp(1, k));

			part[k] = phi * part[k] + sqrt(1 - phi * phi) * normal();
			sum += part[k];
		}
		t[i] = (double)i;
		v[i] = q * round((20 + sigma / 4 * sum + sigma * normal()) / q);
	}
}

static bool run(const char *what, size_t n, double q, double limit)
{
	struct ww_step_input in = {.n = n, .t = t, .v = v, .resolution = q, .period = 1};
	struct ww_step_result r;
	int64_t begin = ww_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	double took;

	OK(ww_steps_find(&in, &r, err));
	took = (double)(ww_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e9;
	printf("%-38s %8zu readings %5zu steps %7.3f s", what, n, r.events, took);
	if (limit > 0)
		printf(" (bound %g)", limit);
	printf("\n");
	ww_steps_clear(&r);
	return limit <= 0 || took < limit;
}

int main(void)
{
	struct rusage use;
	bool ok = true;

	make(DAY, 0, 0, 1, 0);
	ok &= run("unchanging, 1 W display", DAY, 1, 0.1);
	make(DAY, 0.3, 0, 0.1, 0);
	ok &= run("white noise, no step", DAY, 0.1, 0);
	make(DAY, 0.3, 0, 0.1, 300);
	ok &= run("300 s a level, white noise", DAY, 0.1, 0);
	make(MILLION, 0.3, 0, 0.1, 0);
	ok &= run("white noise, no step", MILLION, 0.1, 1);
	make(MILLION, 0.3, 0, 0.1, 300);
	ok &= run("300 s a level, white noise", MILLION, 0.1, 1);
	make(MILLION, 0.3, 0, 1, 300);
	ok &= run("display of 1 W, 300 s a level", MILLION, 1, 1);
	make(MILLION, 0.3, 0.8, 0.1, 300);
	ok &= run("correlated noise (0.8), 300 s a level", MILLION, 0.1, 1);
	settling(MILLION, 1, 2000, 150, 35);
	ok &= run("compressor, settles 150 s", MILLION, 1, 1);
	settling(MILLION, 0.1, 400, 40, 0);
	ok &= run("400 s a level, all settle 40 s", MILLION, 0.1, 1);
	settling(MILLION, 0.1, 2000, 400, 0);
	ok &= run("2000 s a level, all settle 400 s", MILLION, 0.1, 1);
	ramp(MILLION, 0.01, 0.1);
	ok &= run("ramp", MILLION, 0.1, 1);
	pink(MILLION, 0.3, 0.1);
	ok &= run("1/f noise", MILLION, 0.1, 1);
	getrusage(RUSAGE_SELF, &use);
	printf("largest memory %ld kB, the readings included\n", use.ru_maxrss);
	return ok ? 0 : 1;
}

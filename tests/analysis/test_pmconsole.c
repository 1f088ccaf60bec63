/* SPDX-License-Identifier: MIT */
/* What the console cost: on suspends whose callbacks' true times are known. */
#include "pmhand.h"

#include <math.h>

/* Callbacks of one task, one after the other; each line holds the kernel up. */
static void alone(double baud, uint32_t told, uint32_t found)
{
	struct hand h = hand_new(100000 * MS, baud);
	int64_t truth[8];
	int64_t begin = h.t;

	for (size_t i = 0; i < 8; i++) {
		size_t d = hand_call(&h, WW_PM_SUSPEND, "a", "", 7, 90 + 3 * (uint32_t)i);
		int64_t t0 = h.t;

		truth[i] = (int64_t)(i + 1) * 3 * MS + 11 * US;
		h.t += truth[i];
		hand_return(&h, d, 83, (h.t - t0) / US);
	}
	hand_span(&h, WW_PM_SUSPEND, begin, h.t);
	ww_pm_console(h.w, told, false);
	assert_int_equal(h.w->c.baud, found);
	for (size_t i = 0; i < 8; i++)
		hand_holds("device", h.w->device[i].corrected, truth[i], 12 * US);
	/* 36 callbacks of 3 ms in all. */
	hand_holds("phase", h.w->span[0].corrected, 36 * 3 * MS + 8 * 11 * US, 400 * US);
	ww_pm_work_free(h.w);
}

static void rate_is_told_or_found(void **state)
{
	(void)state;
	alone(115200, 115200, 115200);
	alone(115200, 0, 115200);
	alone(921600, 0, 921600);
	alone(9600, 0, 9600);
	alone(1500000, 0, 1500000);
}

/* A driver that prints one line is charged with the line by the kernel itself. */
static void nested_line(void **state)
{
	struct hand h = hand_new(5000 * MS, 115200);
	size_t d;
	int64_t t0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		d = hand_call(&h, WW_PM_SUSPEND, "before", "", 9, 100);
		h.t += 2 * US;
		hand_return(&h, d, 93, 2);
	}
	d = hand_call(&h, WW_PM_SUSPEND, "uart", "", 9, 105);
	t0 = h.t;
	h.t += 6 * US;
	hand_line(&h, 103, -1); /* whose task no text tells */
	h.t += 5 * US;
	hand_return(&h, d, 101, (h.t - t0) / US);
	assert_true(h.w->device[d].printed.lo_ns > 8900 * US);
	ww_pm_console(h.w, 0, false);
	assert_int_equal(h.w->c.baud, 115200);
	hand_holds("uart", h.w->device[d].corrected, 11 * US, 20 * US);
	assert_true(h.w->c.console_bound > .8);
	ww_pm_work_free(h.w);
}

/* Stamps alone: the kernel prints no time. */
static void no_printed_time(void **state)
{
	struct hand h = hand_new(5000 * MS, 115200);
	size_t d = 0;

	(void)state;
	for (int i = 0; i < 6; i++) {
		d = hand_call(&h, WW_PM_RESUME, "x", "", 9, 80 + (uint32_t)i);
		h.t += 4 * US;
		hand_return(&h, d, 77, -1);
	}
	d = hand_call(&h, WW_PM_RESUME, "slow", "", 9, 88);
	h.t += 150 * MS;
	hand_return(&h, d, 85, -1);
	ww_pm_console(h.w, 0, false);
	hand_holds("slow", h.w->device[d].corrected, 150 * MS, 20 * US);
	ww_pm_work_free(h.w);
}

/* A task that works while another prints loses nothing; the phase keeps its length. */
static void disk_beside(bool cpus, struct hand *out)
{
	struct hand h = hand_new(5000 * MS, 115200);
	int64_t begin = h.t, work;
	size_t disk, d;

	disk = hand_call(&h, WW_PM_SUSPEND, "disk", "", 20, 90);
	work = h.t;
	for (int i = 0; i < 20; i++) {
		d = hand_call(&h, WW_PM_SUSPEND, "small", "", 9, 95);
		h.t += 5 * US;
		hand_return(&h, d, 88, 5);
	}
	/* 20 pairs of lines take 318 ms. */
	h.t = work + 400 * MS;
	hand_return(&h, disk, 86, 400000);
	hand_span(&h, WW_PM_SUSPEND, begin, h.w->device[disk].end_ns);
	if (cpus)
		hand_span(&h, WW_PM_CPU_OFF, h.t, h.t + MS);
	ww_pm_console(h.w, 115200, false);
	*out = h;
}

static void hidden_behind_another(void **state)
{
	struct hand h;

	(void)state;
	disk_beside(true, &h);
	hand_holds("disk", h.w->device[0].corrected, 400 * MS, 20 * US);
	hand_holds("small", h.w->device[5].corrected, 5 * US, 20 * US);
	assert_true(h.w->span[0].corrected.lo_ns >= 400 * MS - 2 * US);
	assert_true(h.w->span[0].corrected.hi_ns <= 410 * MS);
	ww_pm_work_free(h.w);
	/* One CPU may have been kept from its work by all that was printed: 318 ms. */
	disk_beside(false, &h);
	hand_holds("disk", h.w->device[0].corrected, 400 * MS, 320 * MS);
	hand_holds("disk", h.w->device[0].corrected, 82 * MS, 320 * MS);
	hand_holds("small", h.w->device[5].corrected, 5 * US, 20 * US);
	ww_pm_work_free(h.w);
}

/* Lines of a suspended console cost nothing where they are written, and all at its resume. */
static void suspended_console(void **state)
{
	struct hand h = hand_new(5000 * MS, 115200);
	int64_t off, resume, sum = 0;
	struct ww_pm_span *s;
	size_t d;

	(void)state;
	for (int i = 0; i < 4; i++)
		hand_line(&h, 60 + 5 * (uint32_t)i, -1);
	off = h.t;
	hand_line(&h, 82, -1);
	h.char_ns = 0;
	resume = h.t;
	for (int i = 0; i < 40; i++) {
		d = hand_call(&h, WW_PM_RESUME, "x", "", 9, 90);
		h.t += 500 * US;
		hand_return(&h, d, 80, 500);
		sum += 170;
	}
	s = hand_span(&h, WW_PM_RESUME, resume, h.t);
	assert_non_null(s);
	h.w->console_off_ns = off / US * US;
	hand_line(&h, 70, -1);
	sum += 70;
	h.char_ns = 1e10 / 115200;
	h.t += (int64_t)((double)sum * h.char_ns) + 50 * US;
	hand_span(&h, WW_PM_THAW, h.t, h.t + 30 * MS);
	for (int i = 0; i < 4; i++)
		hand_line(&h, 50 + 7 * (uint32_t)i, -1);
	h.w->c.sleep_end = (struct ww_interval){resume, resume};
	h.w->c.resume = (struct ww_interval){h.t - resume, h.t - resume};
	ww_pm_console(h.w, 115200, false);
	for (size_t i = 0; i < h.w->devices; i++)
		assert_in_range(ww_iv_mid(h.w->device[i].corrected), 497 * US, 504 * US);
	assert_int_equal(h.w->span[0].corrected.hi_ns, h.w->span[0].length.hi_ns);
	/* The flush and the four lines of the thaw are all that the console took. */
	hand_holds("resume", h.w->c.resume_corrected, 40 * 506 * US + 3 * US + 50 * US, 80 * MS);
	assert_true(h.w->c.resume_corrected.hi_ns < 30 * MS);
	ww_pm_work_free(h.w);
}

/* dmesg of a machine without a serial console: nothing is bound, nothing corrected. */
static void no_console(void **state)
{
	struct hand h = hand_new(5000 * MS, 0);
	size_t d;

	(void)state;
	for (int i = 0; i < 60; i++) {
		d = hand_call(&h, WW_PM_RESUME, "x", "", 9, 80 + (uint32_t)i % 17);
		h.t += (i * 7919 % 4001) * US;
		hand_return(&h, d, 80, 10);
	}
	ww_pm_console(h.w, 0, false);
	assert_int_equal(h.w->c.baud, 0);
	assert_true(isnan(h.w->c.console_bound));
	for (size_t i = 0; i < h.w->devices; i++) {
		assert_int_equal(h.w->device[i].corrected.lo_ns, h.w->device[i].length.lo_ns);
		assert_int_equal(h.w->device[i].corrected.hi_ns, h.w->device[i].length.hi_ns);
	}
	ww_pm_console(h.w, 115200, true);
	assert_int_equal(h.w->c.baud, 0);
	assert_true(h.w->c.console_bound == 0);
	ww_pm_work_free(h.w);
}

/* A port whose pace jitters: no distance is just its bytes, and none is shorter. */
static struct hand jittering(int64_t *truth, size_t n, double baud, uint32_t seed, bool prints)
{
	struct hand h = hand_new(5000 * MS, baud);
	int64_t begin = h.t;

	h.seed = seed;
	for (size_t i = 0; i < n; i++) {
		size_t d = hand_call(&h, WW_PM_RESUME, "x", "", 9, 80 + (uint32_t)(7 * i) % 31);
		int64_t t0 = h.t;

		truth[i] = i == n / 2 ? 150 * MS : (int64_t)(i % 5) * 40 * US;
		h.t += truth[i] / 2;
		if (prints && i % 4 == 1)
			hand_line(&h, 70 + (uint32_t)i, i % 8 == 1 ? 9 : -1);
		h.t += truth[i] - truth[i] / 2;
		/* One in three has no printed time. */
		hand_return(&h, d, 78, i % 3 ? (h.t - t0) / US : -1);
	}
	hand_span(&h, WW_PM_RESUME, begin, h.t);
	h.w->c.sleep_end = (struct ww_interval){begin, begin};
	h.w->c.resume = (struct ww_interval){h.t - begin, h.t - begin};
	return h;
}

static int64_t sum_of(const int64_t *v, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

static void jitter_is_bounded(void **state)
{
	static const double rates[] = {115200, 115200, 9600, 921600};
	int64_t truth[40], sum;

	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		double baud = rates[seed % 4];
		struct hand h = jittering(truth, 40, baud, seed, true);
		struct ww_pm_console_sum all = {0};
		struct ww_notes notes = {0};
		struct ww_pm_cycle *c = &h.w->c;
		unsigned missed = 0;

		sum = sum_of(truth, 40);
		ww_pm_console(h.w, seed & 1 ? (uint32_t)baud : 0, false);
		assert_int_equal(c->console_proof, WW_PM_PROOF_PACE);
		if (seed & 1)
			assert_int_equal(c->baud, (uint32_t)baud);
		for (size_t i = 0; i < 40; i++) {
			const struct ww_pm_device *d = &h.w->device[i];

			/* Nineteen of twenty lines bound what a line takes, and not all. */
			missed += d->corrected.lo_ns > truth[i] || d->corrected.hi_ns < truth[i];
			assert_true(d->corrected.lo_ns - truth[i] < d->length.hi_ns / 20);
			assert_true(truth[i] <= d->corrected.hi_ns);
			/* What it prints itself, or its call, took its bytes' time at least. */
			if (i % 3 == 0)
				assert_true(d->corrected.hi_ns <
					    d->length.hi_ns - (int64_t)(75 * h.char_ns));
		}
		assert_true(missed <= 2);
		hand_holds("span", h.w->span[0].corrected, sum, h.w->span[0].length.hi_ns);
		hand_holds("resume", c->resume_corrected, sum, c->resume.hi_ns);
		assert_true(c->resume_corrected.hi_ns < c->resume.hi_ns * 9 / 10);
		ww_pm_console_add(&all, c);
		ww_pm_console_note(&all, &notes);
		assert_int_equal(notes.n, 2);
		assert_non_null(strstr(notes.note[1], "jitters"));
		ww_notes_free(&notes);
		ww_pm_work_free(h.w);
	}
}

static void expect_unknown(struct hand *h)
{
	struct ww_pm_console_sum all = {0};
	struct ww_notes notes = {0};
	const struct ww_pm_cycle *c = &h->w->c;

	assert_int_equal(c->console_proof, WW_PM_PROOF_UNKNOWN);
	for (size_t i = 0; i < h->w->devices; i++)
		assert_false(ww_iv_ok(h->w->device[i].corrected));
	assert_false(ww_iv_ok(h->w->span[0].corrected));
	assert_false(ww_iv_ok(c->resume_corrected));
	ww_pm_console_add(&all, c);
	ww_pm_console_note(&all, &notes);
	assert_int_equal(notes.n, 1);
	assert_non_null(strstr(notes.note[0], "not known"));
	ww_notes_free(&notes);
}

/* A port was written and too few lines tell how: nothing is claimed. */
static void nothing_is_proven(void **state)
{
	int64_t truth[6];
	struct hand h = jittering(truth, 6, 115200, 3, false);

	(void)state;
	/* The same text from a file: perhaps it never met a console. */
	ww_pm_console(h.w, 0, false);
	assert_int_equal(h.w->c.console_proof, WW_PM_PROOF_NONE);
	assert_true(ww_iv_ok(h.w->device[0].corrected));
	ww_pm_console(h.w, 115200, false);
	expect_unknown(&h);
	for (size_t i = 0; i < h.w->lines; i++)
		h.w->line[i].lo_ns = h.w->line[i].hi_ns = h.w->line[i].t_ns;
	ww_pm_console(h.w, 0, false);
	expect_unknown(&h);
	ww_pm_console(h.w, 115200, true);
	assert_int_equal(h.w->device[0].corrected.hi_ns, h.w->device[0].length.hi_ns);
	ww_pm_work_free(h.w);
}

/* A recorded console that sends later what is written: it holds nobody up. */
static void sent_later(void **state)
{
	struct hand h = hand_new(5000 * MS, 0);

	(void)state;
	for (int i = 0; i < 40; i++) {
		size_t d = hand_call(&h, WW_PM_RESUME, "x", "", 9, 90);

		h.t += 40 * US;
		hand_return(&h, d, 80, 40);
	}
	for (size_t i = 0; i < h.w->lines; i++)
		h.w->line[i].lo_ns = h.w->line[i].hi_ns = h.w->line[i].t_ns;
	ww_pm_console(h.w, 115200, false);
	assert_int_equal(h.w->c.console_proof, WW_PM_PROOF_NONE);
	for (size_t i = 0; i < h.w->devices; i++)
		hand_holds("device", h.w->device[i].corrected, 40 * US, 5 * US);
	ww_pm_work_free(h.w);
}

static void warned(void **state)
{
	struct ww_pm_console_sum sum = {0};
	struct ww_notes notes = {0};
	struct ww_pm_cycle c = {.baud = 115200};

	(void)state;
	c.suspend = (struct ww_interval){300 * MS, 300 * MS};
	c.suspend_corrected = (struct ww_interval){120 * MS, 120 * MS};
	c.resume = (struct ww_interval){100 * MS, 100 * MS};
	c.resume_corrected = (struct ww_interval){80 * MS, 80 * MS};
	ww_pm_console_add(&sum, &c);
	ww_pm_console_note(&sum, &notes);
	assert_int_equal(notes.n, 1);
	assert_non_null(strstr(notes.note[0], "50 % of suspend and resume"));
	assert_non_null(strstr(notes.note[0], "115200"));
	ww_notes_free(&notes);
	sum = (struct ww_pm_console_sum){0};
	c.suspend_corrected = c.suspend;
	c.resume_corrected = (struct ww_interval){99 * MS, 99 * MS};
	ww_pm_console_add(&sum, &c);
	ww_pm_console_note(&sum, &notes);
	assert_int_equal(notes.n, 0);
	ww_notes_free(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_is_told_or_found),
		cmocka_unit_test(nested_line),
		cmocka_unit_test(no_printed_time),
		cmocka_unit_test(hidden_behind_another),
		cmocka_unit_test(suspended_console),
		cmocka_unit_test(no_console),
		cmocka_unit_test(jitter_is_bounded),
		cmocka_unit_test(nothing_is_proven),
		cmocka_unit_test(sent_later),
		cmocka_unit_test(warned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

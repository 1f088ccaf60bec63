/* SPDX-License-Identifier: MIT */
/* A trace once more: same values, same widths, same gaps and marks, other times. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sinklog.h"

#include <math.h>
#include <unistd.h>

#define SEC WW_NS_PER_S
#define MS  WW_NS_PER_MS
#define T0  (5000 * SEC)

static char folder[] = "/tmp/ww_replay_XXXXXX";
static char path[64];

static void must(int rc, const struct ww_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static const struct ww_source_info port = {.kind = WW_SERIAL,
					   .name = "port",
					   .uri = "/dev/y",
					   .driver = "tty",
					   .model = "",
					   .serial = "",
					   .firmware = "",
					   .notes = "",
					   .transport = {.name = "pty", .settings = ""}};
static const struct ww_source_info meter = {.kind = WW_METER,
					    .name = "meter",
					    .uri = "wattsup:/dev/x",
					    .driver = "wattsup",
					    .model = "Watts up? PRO",
					    .serial = "",
					    .firmware = "",
					    .notes = "old",
					    .period_ns = 10 * MS,
					    .transport = {.name = "uart", .settings = ""}};
static const struct ww_channel_info power = {.source = 2,
					     .name = "power",
					     .quantity = "power",
					     .unit = "W",
					     .semantics = WW_AVERAGE,
					     .scale = 0.1,
					     .resolution = 0.1,
					     .acc_abs = (double)NAN,
					     .acc_rel = (double)NAN};

static void write_mark(struct ww_writer *w, uint32_t source, int64_t t, const char *kind,
		       const char *text)
{
	const struct ww_mark m = {.t = {t, t}, .source = source, .kind = kind, .text = text};
	struct ww_error err = {0};

	must(ww_writer_mark(w, &m, &err), &err);
}

static void write_bytes(struct ww_writer *w, int64_t lo, int64_t hi, const char *text)
{
	struct ww_error err = {0};

	must(ww_writer_bytes(w, 1, (struct ww_interval){lo, hi}, (const uint8_t *)text,
			     strlen(text), &err),
	     &err);
}

/* A meter with 3000 rows of 10 ms and a hole, and a port that said two things. */
static int write_trace(void **state)
{
	const struct ww_gap gap = {.t = {T0 + 9990 * MS, T0 + 11 * SEC},
				   .source = 2,
				   .lost = 100,
				   .reason = "silent"};
	struct ww_channel_info volts = power;
	struct ww_error err = {0};
	struct ww_writer *w;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.wwt", folder);
	must(ww_writer_open(path, NULL, &w, &err), &err);
	assert_int_equal(ww_writer_source(w, &port, &err), 1);
	assert_int_equal(ww_writer_source(w, &meter, &err), 2);
	volts.name = volts.quantity = "voltage";
	volts.unit = "V";
	must(ww_writer_channel(w, &power, &err), &err);
	must(ww_writer_channel(w, &volts, &err), &err);
	for (int i = 0; i < 3000; i++) {
		int64_t hi = T0 + i * 10 * MS + (i >= 1000 ? SEC : 0), lo = hi - 1000 - i;
		int64_t codes[2] = {i, i % 7 ? 2300 + i % 5 : WW_MISSING};

		must(ww_writer_samples(w, 2, 1, &lo, &hi, codes, &err), &err);
	}
	write_bytes(w, T0 + SEC, T0 + SEC + 700, "ab");
	write_bytes(w, T0 + 2 * SEC, T0 + 2 * SEC + 300, "c");
	must(ww_writer_gap(w, &gap, &err), &err);
	write_mark(w, 0, T0 + 3 * SEC, "label", "box on");
	write_mark(w, 2, T0 + 4 * SEC, "device", "banner");
	write_mark(w, 1, T0 + 4 * SEC, "device", "of the port");
	must(ww_writer_close(w, &err), &err);
	return 0;
}

static int remove_trace(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static struct ww_source *begin(struct sinklog *s, const char *options)
{
	struct ww_error err = {0};
	struct ww_source *src;
	char uri[160];

	snprintf(uri, sizeof(uri), "replay:%s%s", path, options);
	must(sl_init(s, 90000 * SEC, &err), &err);
	must(sl_open(s, uri, 0, 0, &src, &err), &err);
	must(src->ops->start(src, &err), &err);
	return src;
}

/* Every row, its width, and its distance to the first over `speed`. */
static void same_rows(const struct sinklog *s, double speed)
{
	assert_int_equal(s->n, 3000);
	for (int i = 0; i < 3000; i++) {
		int64_t after = i * 10 * MS + (i >= 1000 ? SEC : 0);
		int64_t got = s->hi[i] - s->hi[0];

		assert_true(llabs(got - (int64_t)((double)after / speed)) <= 1);
		assert_true(s->hi[i] - s->lo[i] == 1000 + i);
		assert_int_equal(s->codes[i * SINK_CHANNELS], i);
		assert_true(s->codes[i * SINK_CHANNELS + 1] == (i % 7 ? 2300 + i % 5 : WW_MISSING));
	}
}

static void as_fast_as_it_was(void **unused)
{
	struct sinklog s;
	struct ww_source *src = begin(&s, "");
	int64_t begun = s.now_ns;

	(void)unused;
	assert_string_equal(s.names, "power[W] voltage[V]");
	assert_int_equal(s.kind, WW_METER);
	assert_string_equal(s.model, "Watts up? PRO");
	assert_non_null(strstr(s.info.notes, "replay of meter in "));
	assert_true(isnan(s.channel[0].acc_abs));
	sl_run(&s, 2 * SEC);
	/* Two seconds of it, no more: within the batch of 5 ms. */
	assert_in_range(s.n, 199, 201);
	assert_true(s.hi[s.n - 1] <= s.now_ns);
	sl_run(&s, 60 * SEC);
	assert_true(s.ended);
	same_rows(&s, 1);
	assert_true(llabs(s.hi[0] - begun - 1000) <= 1);
	assert_true(s.now_ns - begun >= 30990 * MS && s.now_ns - begun < 31010 * MS);
	assert_string_equal(sl_text(&s), "mark 3000 label box on\nmark 4000 device banner\n"
					 "gap 9990..11000 100 silent\n");
	src->ops->close(src);
	sl_free(&s);
}

static void ten_times_faster(void **unused)
{
	struct sinklog s;
	struct ww_source *src = begin(&s, "?speed=10&source=meter");

	(void)unused;
	sl_run(&s, 60 * SEC);
	assert_true(s.ended);
	same_rows(&s, 10);
	assert_non_null(strstr(sl_text(&s), "mark 300 label box on\n"));
	/* A gap is time that passes as fast as the rest. */
	assert_non_null(strstr(sl_text(&s), "gap 999..1100 100 silent\n"));
	assert_int_equal(s.info.period_ns, MS);
	src->ops->close(src);
	sl_free(&s);
}

static void without_pace(void **unused)
{
	struct sinklog s;
	struct ww_source *src = begin(&s, "?speed=0");
	int64_t begun = s.now_ns;

	(void)unused;
	sl_run(&s, 60 * SEC);
	assert_true(s.ended);
	assert_true(s.now_ns == begun);
	same_rows(&s, 1);
	/* Each mark and gap stands between the rows where it stood. */
	assert_int_equal(s.said, 3);
	assert_int_equal(s.after[0], 301);
	assert_int_equal(s.after[1], 401);
	assert_int_equal(s.after[2], 1000);
	/* Nothing lies in the future. */
	assert_true(s.hi[2999] == begun);
	src->ops->close(src);
	sl_free(&s);
}

static void bytes(void **unused)
{
	struct sinklog s;
	struct ww_source *src = begin(&s, "?source=port");

	(void)unused;
	assert_int_equal(s.kind, WW_SERIAL);
	sl_run(&s, 60 * SEC);
	assert_true(s.ended);
	assert_string_equal(sl_bytes_text(&s), "1000+700:ab 2000+300:c ");
	assert_non_null(strstr(sl_text(&s), "of the port"));
	assert_null(strstr(sl_text(&s), "banner"));
	src->ops->close(src);
	sl_free(&s);
}

/* A gap that never ended, half as fast, and a replay that ends all the same. */
static void open_end(void **unused)
{
	const struct ww_gap gap = {.t = {T0 + SEC, WW_TIME_MAX},
				   .source = 1,
				   .lost = -1,
				   .reason = "unplugged"};
	struct ww_error err = {0};
	struct ww_source *src;
	struct ww_writer *w;
	struct sinklog s;
	char file[96], uri[128];

	(void)unused;
	snprintf(file, sizeof(file), "%s/open.wwt", folder);
	must(ww_writer_open(file, NULL, &w, &err), &err);
	assert_int_equal(ww_writer_source(w, &port, &err), 1);
	write_bytes(w, T0, T0 + 700, "ab");
	must(ww_writer_gap(w, &gap, &err), &err);
	must(ww_writer_close(w, &err), &err);
	for (int k = 0; k < 2; k++) {
		snprintf(uri, sizeof(uri), "replay:%s?speed=%s", file, k ? "0" : "0.5");
		must(sl_init(&s, 90000 * SEC, &err), &err);
		must(sl_open(&s, uri, 0, 0, &src, &err), &err);
		must(src->ops->start(src, &err), &err);
		sl_run(&s, 60 * SEC);
		assert_true(s.ended);
		/* Without a pace it ends now. */
		assert_non_null(strstr(sl_text(&s), k ? "gap 0.." : "gap 2000.."));
		src->ops->close(src);
		sl_free(&s);
	}
	unlink(file);
}

static void refused(void **unused)
{
	struct ww_error err = {0};
	struct ww_source *src;
	struct sinklog s;
	char uri[160];

	(void)unused;
	must(sl_init(&s, 90000 * SEC, &err), &err);
	assert_int_equal(sl_open(&s, "replay:", 0, 0, &src, &err), -EINVAL);
	ww_error_clear(&err);
	assert_int_equal(sl_open(&s, "replay:/no/such.wwt", 0, 0, &src, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such.wwt"));
	ww_error_clear(&err);
	snprintf(uri, sizeof(uri), "replay:%s?source=meter9", path);
	assert_int_equal(sl_open(&s, uri, 0, 0, &src, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no source 'meter9'"));
	sl_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_fast_as_it_was), cmocka_unit_test(ten_times_faster),
		cmocka_unit_test(without_pace),	     cmocka_unit_test(bytes),
		cmocka_unit_test(open_end),	     cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, write_trace, remove_trace);
}

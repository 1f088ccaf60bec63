/* SPDX-License-Identifier: MIT */
/* Suspends made by hand as trace events. */
#include "kcycle.h"
#include "report/events.h"

#include <stdio.h>
#include <unistd.h>

static char *read_all(int fd)
{
	char *text = calloc(1, 1 << 20);

	assert_non_null(text);
	assert_true(lseek(fd, 0, SEEK_SET) == 0);
	assert_true(read(fd, text, (1 << 20) - 1) > 0);
	return text;
}

static char *events_of(const struct ww_pm_cycle *c, size_t n)
{
	FILE *f = tmpfile();
	struct ww_error err = {0};
	struct ww_events e;
	char *text;

	assert_non_null(f);
	ww_events_open(&e, fileno(f));
	for (size_t i = 0; i < n; i++)
		ww_events_cycle(&e, &c[i]);
	assert_int_equal(ww_events_close(&e, NULL, &err), 0);
	text = read_all(fileno(f));
	fclose(f);
	return text;
}

static void test_events(void **state)
{
	struct ww_pm_cycle c = good();
	char *text = events_of(&c, 1);
	struct ww_str s = {.p = text, .n = strlen(text)};

	(void)state;
	has(&s, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
	has(&s, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"name\":"
		"\"phases\"}}");
	has(&s, "{\"name\":\"cycle 1: ok\",\"cat\":\"cycle\",\"ph\":\"X\",\"ts\":10000000,"
		"\"dur\":900000,\"pid\":1,\"tid\":1,\"args\":{\"mode\":\"mem\",");
	has(&s, "{\"name\":\"thaw\",\"cat\":\"phase\",\"ph\":\"X\",\"ts\":10822000,"
		"\"dur\":1234.567,\"pid\":1,\"tid\":2,");
	/* Two that overlap are in two lanes. */
	has(&s, "\"ts\":10430000,\"dur\":150000,\"pid\":1,\"tid\":9,");
	has(&s, "\"ts\":10440000,\"dur\":80000,\"pid\":1,\"tid\":10,");
	/* Without the words that join it to a result. */
	has(&s, "\"why\":\"woken by IRQ 9 (acpi)\"");
	free(text);
}

/* What is no device comes in any order and may overlap: each thread is in order, and nests. */
static void test_events_beside(void **state)
{
	static const struct ww_interval ms30 = {30 * WW_NS_PER_MS, 30 * WW_NS_PER_MS};
	struct ww_pm_other costs[] = {
		{.what = "third", .length = ms30, .start_ns = 10 * WW_NS_PER_S + 90000000},
		{.what = "second", .length = ms30, .start_ns = 10 * WW_NS_PER_S + 65000000},
		{.what = "first", .length = ms30, .start_ns = 10 * WW_NS_PER_S + 50000000},
	};
	struct ww_pm_cycle c = good();
	const char *first, *second, *third;
	struct ww_str s;
	char *text;

	(void)state;
	c.other = costs;
	c.others = 3;
	text = events_of(&c, 1);
	s = (struct ww_str){.p = text, .n = strlen(text)};
	has(&s, "\"ts\":10050000,\"dur\":30000,\"pid\":1,\"tid\":3,");
	has(&s, "\"ts\":10065000,\"dur\":30000,\"pid\":1,\"tid\":4,");
	has(&s, "\"ts\":10090000,\"dur\":30000,\"pid\":1,\"tid\":3,");
	has(&s, "\"other, beside\"");
	first = strstr(text, "\"first\"");
	second = strstr(text, "\"second\"");
	third = strstr(text, "\"third\"");
	assert_true(first && second && third && first < second && second < third);
	free(text);
}

/* A clock that begins again is another boot: its slices must not lie on the first one's. */
static void test_events_boot(void **state)
{
	struct ww_pm_cycle c[2] = {good(), good()};
	char *text = events_of(c, 2);
	struct ww_str s = {.p = text, .n = strlen(text)};

	(void)state;
	has(&s, "\"args\":{\"name\":\"kernel, boot 2\"}}");
	has(&s, "\"dur\":900000,\"pid\":2,");
	free(text);
}

static void test_events_unplaced(void **state)
{
	struct ww_pm_cycle c = good();
	char *text;
	struct ww_str s;

	(void)state;
	c.t.lo_ns = WW_TIME_MIN;
	text = events_of(&c, 1);
	s = (struct ww_str){.p = text, .n = strlen(text)};
	has(&s, "\"traceEvents\":[],");
	has(&s, "\"cycles without times\":1");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_events_beside),
		cmocka_unit_test(test_events_boot),
		cmocka_unit_test(test_events_unplaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

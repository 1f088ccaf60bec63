/* SPDX-License-Identifier: MIT */
#include "base/str.h"
#include "control/action.h"

#include <stdio.h>

/* The wall clock's time of a moment of CLOCK_BOOTTIME; false: the clocks cannot be read. */
static bool wall(int64_t boot_ns, int64_t *real_ns)
{
	struct ww_anchor a;

	if (ww_anchor_take(&a, NULL) < 0)
		return false;
	*real_ns = a.real_ns + (boot_ns - a.boot_ns);
	return true;
}

static void add_ms(struct ww_str *s, int64_t ns)
{
	ww_str_fixed(s, (double)ns / 1e6, ns < 10 * WW_NS_PER_MS ? 3 : 1);
	ww_str_add(s, " ms");
}

static void text(const struct ww_action *a, struct ww_str *s)
{
	const char *how = ww_action_how(a);
	struct ww_interval t;
	int64_t real;

	ww_str_plain(s, ww_action_form(a)->text);
	ww_str_add(s, ": ");
	ww_str_plain(s, *how ? how : ww_action_running(a) ? "runs" : "not begun");
	if (ww_action_when(a, &t) == 0 && wall(t.lo_ns, &real)) {
		ww_str_add(s, "\ntook effect at ");
		ww_str_time(s, real, 0);
		ww_str_add(s, ", or up to ");
		add_ms(s, t.hi_ns - t.lo_ns);
		ww_str_add(s, " later");
	}
	ww_str_add(s, "\n");
}

static void interval(struct ww_json *j, const char *key, struct ww_interval t, double unit)
{
	if (t.lo_ns > t.hi_ns) {
		ww_json_null(j, key);
		return;
	}
	ww_json_open(j, key, '[');
	ww_json_num(j, NULL, (double)t.lo_ns / unit);
	ww_json_num(j, NULL, (double)t.hi_ns / unit);
	ww_json_close(j, ']');
}

static void json(const struct ww_action *a, struct ww_str *s)
{
	struct ww_json j = {.s = s};
	struct ww_str when = {0};
	struct ww_interval t;
	bool known = ww_action_when(a, &t) == 0;
	int64_t real;

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/act/1");
	if (known && wall(t.lo_ns, &real))
		ww_str_time(&when, real, 0);
	ww_json_text(&j, "start", when.p);
	ww_str_free(&when);
	ww_json_text(&j, "action", ww_action_form(a)->text);
	ww_json_text(&j, "how", ww_action_how(a));
	if (known) {
		ww_json_open(&j, "effect_ns", '[');
		ww_json_int(&j, NULL, t.lo_ns);
		ww_json_int(&j, NULL, t.hi_ns);
		ww_json_close(&j, ']');
	} else {
		ww_json_null(&j, "effect_ns");
	}
	interval(&j, "pulse_ms", ww_action_length(a), 1e6);
	ww_json_text(&j, "error", ww_action_error(a)->code ? ww_action_error(a)->text : NULL);
	ww_json_open(&j, "notes", '[');
	ww_json_text(&j, NULL,
		     "effect_ns: of CLOCK_BOOTTIME, the axis of a trace; the action's own delay "
		     "is included");
	ww_json_close(&j, ']');
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_action_report(const struct ww_action *a, int form, char **out, struct ww_error *err)
{
	struct ww_str s = {0};

	*out = NULL;
	if (form == WW_REPORT_JSON)
		json(a, &s);
	else
		text(a, &s);
	return ww_str_take(&s, out, err);
}

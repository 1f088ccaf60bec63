/* SPDX-License-Identifier: MIT */
/* One step of a bisection, as text and JSON. */
#include "report/format.h"
#include "report/length.h"

#include <math.h>

static const char *verdict(const struct ww_bisect *b)
{
	return b->verdict == WW_BISECT_GOOD ? "good" : b->verdict == WW_BISECT_BAD ? "bad" : "skip";
}

/* Nothing is certain, however many nines a double has. */
static void put_percent(struct ww_str *s, double p)
{
	double v = fmin(100 * p, 99.9999);
	int decimals = v > 99.99 ? 4 : v > 99 ? 2 : 1;
	double unit = pow(10, decimals);

	ww_str_fixed(s, floor(v * unit) / unit, decimals);
	ww_str_add(s, " %");
}

static void put_ms(struct ww_str *s, double v)
{
	ww_str_fixed(s, v, v < 10 ? 3 : 1);
}

static void text(struct ww_str *s, const struct ww_bisect *b)
{
	ww_str_add(s, verdict(b));
	if (b->verdict != WW_BISECT_SKIP) {
		ww_str_add(s, ", ");
		put_percent(s, b->probability);
		ww_str_add(s, " sure");
	}
	ww_str_addf(s, ": %s\n", b->why);
	if (isnan(b->median_ms))
		return;
	ww_str_add(s, "median ");
	if (isinf(b->median_ms))
		ww_str_add(s, "never");
	else
		put_ms(s, b->median_ms);
	if (isfinite(b->ci_ms[0]) && isfinite(b->ci_ms[1])) {
		ww_str_add(s, " ms (95 %: ");
		put_ms(s, b->ci_ms[0]);
		ww_str_add(s, " to ");
		put_ms(s, b->ci_ms[1]);
		ww_str_add(s, " ms)\n");
	} else {
		ww_str_add(s, isinf(b->median_ms) ? "\n" : " ms\n");
	}
}

static void json(struct ww_str *s, const struct ww_bisect *b)
{
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/bisect/1");
	ww_json_text(&j, "verdict", verdict(b));
	ww_json_trimmed(&j, "probability", b->probability, 6);
	ww_json_int(&j, "cycles", (int64_t)b->cycles);
	if (b->more == UINT64_MAX)
		ww_json_null(&j, "more");
	else
		ww_json_int(&j, "more", (int64_t)b->more);
	ww_json_trimmed(&j, "threshold_ms", b->threshold_ms, 6);
	ww_json_trimmed(&j, "failure_rate", b->failure_rate, 6);
	ww_json_trimmed(&j, "median_ms", b->median_ms, 6);
	ww_json_pair(&j, "ci95_ms", b->ci_ms[0], b->ci_ms[1]);
	ww_json_text(&j, "why", b->why);
	ww_json_open(&j, "notes", '[');
	ww_json_close(&j, ']');
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_bisect_report(const struct ww_bisect *b, int form, char **out, struct ww_error *err)
{
	struct ww_str s = {0};

	*out = NULL;
	if (form == WW_REPORT_TEXT)
		text(&s, b);
	else if (form == WW_REPORT_JSON)
		json(&s, b);
	else
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	return ww_str_take(&s, out, err);
}

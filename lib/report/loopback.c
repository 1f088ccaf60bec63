/* SPDX-License-Identifier: MIT */
/* A loopback's figures to text and JSON. */
#include "report/format.h"

#include <math.h>

static void put_ms(struct ww_str *s, const char *name, double seconds, double resolution)
{
	ww_str_addf(s, "  %-10s", name);
	ww_str_fixed(s, seconds * 1e3, 3);
	ww_str_add(s, " ms");
	if (resolution > 0) {
		ww_str_add(s, "  (known to ");
		ww_str_fixed(s, resolution * 1e3, 3);
		ww_str_add(s, " ms)");
	}
	ww_str_add(s, "\n");
}

static double nominal(const struct ww_loopback_result *r)
{
	const char *p = strstr(r->transport.settings, "baud=");

	return p ? ww_strtod(p + 5, NULL) : NAN;
}

static void text(struct ww_str *s, const struct ww_loopback *l, const struct ww_loopback_result *r)
{
	double rate = nominal(r);
	const char *note;

	ww_str_addf(s, "%llu bytes sent, %llu came back, %llu of them wrong\n",
		    (unsigned long long)r->sent, (unsigned long long)r->back,
		    (unsigned long long)r->wrong);
	ww_str_addf(s, "transport %s%s%s\n", r->transport.name, *r->transport.settings ? ", " : "",
		    r->transport.settings);
	if (r->latency_ns >= 0)
		ww_str_addf(s, "latency timer %lld ms in force\n",
			    (long long)(r->latency_ns / WW_NS_PER_MS));
	ww_str_add(s, "\ndelay from the end of a byte on the line to its stamp\n");
	put_ms(s, "least", r->min_s, r->resolution_s);
	put_ms(s, "median", r->median_s, 0);
	put_ms(s, "99 %", r->p99_s, 0);
	put_ms(s, "greatest", r->max_s, 0);
	ww_str_add(s, "stated intervals: median width ");
	ww_str_fixed(s, r->width_s * 1e3, 3);
	ww_str_add(s, " ms");
	if (isfinite(r->inside)) {
		ww_str_add(s, ", ");
		ww_put_percent(s, r->inside);
		ww_str_add(s, " hold their byte");
	}
	ww_str_add(s, "\n");
	if (isfinite(r->baud.value)) {
		ww_str_add(s, "rate ");
		ww_put_quantity(s, r->baud, "baud", 0);
		if (rate > 0) {
			ww_str_add(s, ", ");
			ww_str_fixed(s, (r->baud.value / rate - 1) * 100, 2);
			ww_str_add(s, " % off nominal");
		}
		ww_str_add(s, "\n");
		ww_put_legend(s);
	}
	if (ww_loopback_note(l, 0))
		ww_str_add(s, "\n");
	for (size_t i = 0; (note = ww_loopback_note(l, i)); i++)
		ww_put_note(s, note);
}

static void json(struct ww_json *j, const struct ww_loopback *l, const struct ww_loopback_result *r)
{
	const char *note;

	ww_json_open(j, NULL, '{');
	ww_json_text(j, "schema", "wakewatt/loopback/1");
	ww_json_int(j, "sent", (int64_t)r->sent);
	ww_json_int(j, "back", (int64_t)r->back);
	ww_json_int(j, "wrong", (int64_t)r->wrong);
	ww_json_open(j, "delay_s", '{');
	ww_json_num(j, "min", r->min_s);
	ww_json_num(j, "median", r->median_s);
	ww_json_num(j, "p99", r->p99_s);
	ww_json_num(j, "max", r->max_s);
	ww_json_num(j, "resolution", r->resolution_s);
	ww_json_close(j, '}');
	ww_json_num(j, "width_s", r->width_s);
	ww_json_num(j, "inside", r->inside);
	ww_json_quantity(j, "baud", r->baud, "no stream with a pace was measured");
	ww_json_num(j, "baud_nominal", nominal(r));
	if (r->latency_ns >= 0)
		ww_json_num(j, "latency_timer_s", (double)r->latency_ns / 1e9);
	ww_json_text(j, "transport", r->transport.name);
	ww_json_text(j, "settings", r->transport.settings);
	ww_json_open(j, "notes", '[');
	for (size_t i = 0; (note = ww_loopback_note(l, i)); i++)
		ww_json_text(j, NULL, note);
	ww_json_close(j, ']');
	ww_json_close(j, '}');
}

int ww_loopback_report(const struct ww_loopback *l, int form, char **out, struct ww_error *err)
{
	struct ww_loopback_result r;
	struct ww_str s = {0};
	struct ww_json j = {.s = &s};
	int rc = ww_loopback_result(l, &r, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	if (form == WW_REPORT_JSON) {
		json(&j, l, &r);
		ww_str_add(&s, "\n");
	} else if (form == WW_REPORT_TEXT) {
		text(&s, l, &r);
	} else {
		return ww_fail(err, -EINVAL, "a loopback has no such form");
	}
	return ww_str_take(&s, out, err);
}

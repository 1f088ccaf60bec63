/* SPDX-License-Identifier: MIT */
/* What a trace is, as text for people and as JSON (schema wakewatt/info/1). */
#include "report/format.h"

#include <math.h>
#include <stdio.h>

static const char *const kinds[] = {"meter", "serial", "line", "manual"};
static const char *const states[] = {"closed", "live", "unclosed"};

#define NAME(list, i) ((i) >= 0 && (size_t)(i) < WW_COUNTOF(list) ? (list)[i] : "other")

static const char *semantics_of(const struct ww_channel_info *c)
{
	const char *name = ww_semantics_name(c->semantics);

	return name ? name : "other";
}

/* A clocksource that makes times doubtful, and why. */
static const struct {
	const char *name;
	const char *why;
} doubtful[] = {{"jiffies", "it only counts timer ticks: no time is finer than 1 to 10 ms"},
		{"acpi_pm", "it is slow to read and was chosen because the TSC was found unstable"},
		{"hpet", "it is slow to read and was chosen because the TSC was found unstable"},
		{"refined-jiffies",
		 "it only counts timer ticks: no time is finer than 1 to 10 ms"}};

static void add_notes(const struct ww_trace *t, struct ww_str *text, struct ww_json *j)
{
	static const char *const keys[] = {"bench.clocksource", "dut.clocksource"};
	struct ww_str note = {0};

	for (size_t i = 0; i < WW_COUNTOF(keys) * WW_COUNTOF(doubtful); i++) {
		const char *key = keys[i / WW_COUNTOF(doubtful)];
		size_t d = i % WW_COUNTOF(doubtful);
		const char *have = ww_trace_meta(t, key);

		if (!have || strcmp(have, doubtful[d].name) != 0)
			continue;
		ww_str_reset(&note);
		ww_str_addf(&note, "%s is %s: times are doubtful, %s", key, have, doubtful[d].why);
		if (j)
			ww_json_text(j, NULL, note.p);
		else
			ww_str_addf(text, "warning: %s\n", note.p);
	}
	for (size_t i = 0; ww_trace_warning(t, i); i++) {
		if (j)
			ww_json_text(j, NULL, ww_trace_warning(t, i));
		else
			ww_str_addf(text, "warning: %s\n", ww_trace_warning(t, i));
	}
	/* As text they stand among the environment. */
	for (size_t i = 0; j && ww_import_note(t, i); i++)
		ww_json_text(j, NULL, ww_import_note(t, i));
	if (ww_trace_state(t) == WW_TRACE_UNCLOSED) {
		static const char unclosed[] =
			"the recorder died or the stream was cut: complete up to the last commit";

		if (j)
			ww_json_text(j, NULL, unclosed);
		else
			ww_str_addf(text, "note: %s\n", unclosed);
	}
	if (ww_trace_anchor_count(t) == 0) {
		if (j)
			ww_json_text(j, NULL, "no clock anchors: the wall time is unknown");
		else
			ww_str_add(text, "note: no clock anchors: the wall time is unknown\n");
	}
	text->bad |= note.bad;
	ww_str_free(&note);
}

/* Wall time of the first record, with the bench's zone; empty where unknown. */
static void add_start(const struct ww_trace *t, struct ww_str *s)
{
	const char *offset = ww_trace_meta(t, "bench.utc_offset_s");
	struct ww_interval span = ww_trace_span(t);
	int64_t real;

	if (ww_iv_ok(span) && ww_trace_wall(t, span.lo_ns, &real) == 0)
		ww_str_time(s, real, offset ? (int32_t)strtol(offset, NULL, 10) : 0);
}

/* A number for people: whole ones without an exponent. */
static void add_num(struct ww_str *s, double v)
{
	if (fabs(v) < 1e15 && v == nearbyint(v))
		ww_str_addf(s, "%lld", (long long)v);
	else
		ww_str_num(s, v);
}

/* A step that was computed has no more. */
static double four_digits(double v)
{
	int decimals = 3 - (int)floor(log10(v));
	double scale;

	if (decimals < 0 || decimals > 22)
		return v;
	scale = pow(10, decimals);
	return nearbyint(v * scale) / scale;
}

/* A time in the unit that suits its size. */
static void add_ns(struct ww_str *s, int64_t ns)
{
	static const struct {
		int64_t per;
		const char *name;
	} units[] = {{WW_NS_PER_S, " s"}, {WW_NS_PER_MS, " ms"}, {WW_NS_PER_US, " \xc2\xb5s"}};

	for (size_t i = 0; i < WW_COUNTOF(units); i++) {
		if (ns < units[i].per)
			continue;
		add_num(s, (double)ns / (double)units[i].per);
		ww_str_add(s, units[i].name);
		return;
	}
	ww_str_addf(s, "%lld ns", (long long)ns);
}

static void add_range(struct ww_str *s, const char *what, int64_t a, int64_t b)
{
	if (a == 0 && b == 0)
		return;
	ww_str_add(s, what);
	if (a != b) {
		add_ns(s, a);
		ww_str_add(s, " to ");
	}
	add_ns(s, b);
}

static void add_line(struct ww_str *s, const char *label, const char *value)
{
	if (value && *value)
		ww_str_addf(s, "    %-10s %s\n", label, value);
}

static void channel_text(struct ww_str *s, const struct ww_channel_info *c)
{
	ww_str_addf(s, "    channel    %s: %s%s%s, %s", c->name, c->quantity,
		    *c->unit ? " in " : "", c->unit, semantics_of(c));
	if (c->resolution > 0) {
		ww_str_add(s, ", resolution ");
		add_num(s, four_digits(c->resolution));
	}
	if (!isnan(c->acc_abs) || !isnan(c->acc_rel)) {
		ww_str_add(s, ", accuracy \xc2\xb1");
		if (!isnan(c->acc_rel)) {
			add_num(s, c->acc_rel * 100);
			ww_str_add(s, " %");
		}
		if (!isnan(c->acc_rel) && !isnan(c->acc_abs))
			ww_str_add(s, " \xc2\xb1");
		if (!isnan(c->acc_abs))
			add_num(s, c->acc_abs);
	}
	if (c->wrap > 0) {
		ww_str_add(s, ", wraps at ");
		add_num(s, c->wrap);
	}
	ww_str_add(s, "\n");
}

static int source_text(struct ww_str *s, struct ww_trace *t, const struct ww_source_info *i,
		       struct ww_error *err)
{
	int64_t rows = ww_trace_rows(t, i->id, WW_TIME_MIN, WW_TIME_MAX, err);

	if (rows < 0)
		return (int)rows;
	ww_str_addf(s, "  %s (%s)\n", i->name, NAME(kinds, i->kind));
	add_line(s, "uri", i->uri);
	add_line(s, "driver", i->driver);
	add_line(s, "model", i->model);
	add_line(s, "serial", i->serial);
	add_line(s, "firmware", i->firmware);
	add_line(s, "role", i->role);
	add_line(s, "notes", i->notes);
	ww_str_addf(s, "    %-10s %lld\n", i->kind == WW_SERIAL ? "bytes" : "rows",
		    (long long)rows);
	if (i->period_ns || i->window_ns || i->delay_max_ns) {
		ww_str_add(s, "    timing     ");
		add_range(s, "period ", i->period_ns, i->period_ns);
		if (i->window_ns < 0)
			ww_str_addf(s, "%sof pulses: since the reading before",
				    i->period_ns ? ", " : "");
		else
			add_range(s, i->period_ns ? ", window " : "window ", i->window_ns,
				  i->window_ns);
		add_range(s, i->period_ns || i->window_ns ? ", delay " : "delay ", i->delay_min_ns,
			  i->delay_max_ns);
		ww_str_add(s, "\n");
	}
	if (*i->transport.name) {
		ww_str_addf(s, "    transport  %s", i->transport.name);
		add_range(s, ", delay ", i->transport.delay_min_ns, i->transport.delay_max_ns);
		add_range(s, ", a character takes ", i->transport.char_ns, i->transport.char_ns);
		ww_str_addf(s, "%s%s\n", *i->transport.settings ? ", " : "", i->transport.settings);
	}
	for (size_t k = 0; k < ww_trace_channel_count(t); k++)
		if (ww_trace_channel(t, k)->source == i->id)
			channel_text(s, ww_trace_channel(t, k));
	return 0;
}

static int64_t lost_items(const struct ww_trace *t)
{
	int64_t n = 0;

	for (size_t i = 0; i < ww_trace_gap_count(t); i++)
		if (ww_trace_gap(t, i)->lost > 0)
			n = ww_add_sat(n, ww_trace_gap(t, i)->lost);
	return n;
}

/* Which kind of mark how often, in the order of first appearance. */
static void mark_counts(const struct ww_trace *t, struct ww_str *s, struct ww_json *j)
{
	size_t n = ww_trace_mark_count(t);
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		const char *kind = ww_trace_mark(t, i)->kind;
		int64_t count = 0;
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = strcmp(ww_trace_mark(t, k)->kind, kind) == 0;
		if (seen)
			continue;
		for (size_t k = i; k < n; k++)
			count += strcmp(ww_trace_mark(t, k)->kind, kind) == 0;
		if (j)
			ww_json_int(j, kind, count);
		else
			ww_str_addf(s, "%s%s %lld", first ? ": " : ", ", kind, (long long)count);
		first = false;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct ww_mark *const *x = a, *const *y = b;

	if ((*x)->t.lo_ns != (*y)->t.lo_ns)
		return (*x)->t.lo_ns < (*y)->t.lo_ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static void label_text(const struct ww_trace *t, const struct ww_mark *m, struct ww_str *s)
{
	char at[32];

	ww_fixed_text(at, sizeof(at), ((double)m->t.lo_ns - (double)ww_trace_span(t).lo_ns) / 1e9,
		      3);
	ww_str_addf(s, "  %12s s  ", at);
	/* One line, whatever was typed. */
	for (const char *p = m->text; *p; p++)
		ww_str_addn(s, (unsigned char)*p < 0x20 || *p == 0x7f ? " " : p, 1);
	ww_str_add(s, "\n");
}

static void label_json(const struct ww_trace *t, const struct ww_mark *m, struct ww_json *j)
{
	double origin = (double)ww_trace_span(t).lo_ns;

	ww_json_open(j, NULL, '{');
	ww_json_open(j, "t_s", '[');
	ww_json_fixed(j, NULL, ((double)m->t.lo_ns - origin) / 1e9, 6);
	ww_json_fixed(j, NULL, ((double)m->t.hi_ns - origin) / 1e9, 6);
	ww_json_close(j, ']');
	ww_json_text(j, "text", m->text);
	ww_json_close(j, '}');
}

/* What was typed, by time: the names that `pwrlog stat --between` takes. */
static int labels(const struct ww_trace *t, struct ww_str *s, struct ww_json *j,
		  struct ww_error *err)
{
	size_t all = ww_trace_mark_count(t), n = 0;
	const struct ww_mark **list = calloc(all + 1, sizeof(*list));

	if (!list)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < all; i++)
		if (strcmp(ww_trace_mark(t, i)->kind, WW_MARK_LABEL) == 0)
			list[n++] = ww_trace_mark(t, i);
	qsort(list, n, sizeof(*list), by_time);
	for (size_t i = 0; i < n; i++) {
		if (j)
			label_json(t, list[i], j);
		else
			label_text(t, list[i], s);
	}
	free(list);
	return 0;
}

static int info_text(struct ww_trace *t, struct ww_str *s, struct ww_error *err)
{
	struct ww_interval span = ww_trace_span(t);
	const char *key, *value;
	int rc = 0;

	ww_str_addf(s, "trace      %s\n", NAME(states, ww_trace_state(t)));
	if (ww_iv_ok(span)) {
		ww_str_add(s, "span       ");
		ww_str_fixed(s, ((double)span.hi_ns - (double)span.lo_ns) / 1e9, 3);
		ww_str_add(s, " s");
		if (ww_trace_anchor_count(t) > 0) {
			ww_str_add(s, " from ");
			add_start(t, s);
		}
		ww_str_add(s, "\n");
	}
	ww_str_addf(s, "marks      %zu", ww_trace_mark_count(t));
	mark_counts(t, s, NULL);
	ww_str_add(s, "\n");
	rc = labels(t, s, NULL, err);
	ww_str_addf(s, "gaps       %zu", ww_trace_gap_count(t));
	if (lost_items(t) > 0)
		ww_str_addf(s, ", %lld items lost", (long long)lost_items(t));
	ww_str_addf(s, "\nsources    %zu\n", ww_trace_source_count(t));
	for (size_t i = 0; i < ww_trace_source_count(t) && rc == 0; i++)
		rc = source_text(s, t, ww_trace_source(t, i), err);
	ww_str_add(s, "environment\n");
	for (size_t i = 0; ww_trace_meta_at(t, i, &key, &value); i++)
		ww_str_addf(s, "  %-20s %s\n", key, value);
	add_notes(t, s, NULL);
	return rc;
}

static void channel_json(struct ww_json *j, const struct ww_channel_info *c)
{
	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", c->name);
	ww_json_text(j, "quantity", c->quantity);
	ww_json_text(j, "unit", c->unit);
	ww_json_text(j, "semantics", semantics_of(c));
	ww_json_num(j, "scale", c->scale);
	ww_json_num(j, "offset", c->offset);
	ww_json_num(j, "resolution", c->resolution);
	ww_json_num(j, "acc_abs", c->acc_abs);
	ww_json_num(j, "acc_rel", c->acc_rel);
	ww_json_num(j, "wrap", c->wrap);
	ww_json_close(j, '}');
}

static int source_json(struct ww_json *j, struct ww_trace *t, const struct ww_source_info *i,
		       struct ww_error *err)
{
	int64_t rows = ww_trace_rows(t, i->id, WW_TIME_MIN, WW_TIME_MAX, err);

	if (rows < 0)
		return (int)rows;
	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", i->name);
	ww_json_text(j, "kind", NAME(kinds, i->kind));
	ww_json_text(j, "uri", i->uri);
	ww_json_text(j, "driver", i->driver);
	ww_json_text(j, "model", i->model);
	ww_json_text(j, "serial", i->serial);
	ww_json_text(j, "firmware", i->firmware);
	ww_json_text(j, "role", i->role);
	ww_json_text(j, "notes", i->notes);
	ww_json_int(j, i->kind == WW_SERIAL ? "bytes" : "rows", rows);
	ww_json_int(j, "period_ns", i->period_ns);
	ww_json_int(j, "window_ns", i->window_ns);
	ww_json_int(j, "delay_min_ns", i->delay_min_ns);
	ww_json_int(j, "delay_max_ns", i->delay_max_ns);
	ww_json_open(j, "transport", '{');
	ww_json_text(j, "name", i->transport.name);
	ww_json_int(j, "delay_min_ns", i->transport.delay_min_ns);
	ww_json_int(j, "delay_max_ns", i->transport.delay_max_ns);
	ww_json_int(j, "char_ns", i->transport.char_ns);
	ww_json_text(j, "settings", i->transport.settings);
	ww_json_close(j, '}');
	ww_json_open(j, "channels", '[');
	for (size_t k = 0; k < ww_trace_channel_count(t); k++)
		if (ww_trace_channel(t, k)->source == i->id)
			channel_json(j, ww_trace_channel(t, k));
	ww_json_close(j, ']');
	ww_json_close(j, '}');
	return 0;
}

static int info_json(struct ww_trace *t, struct ww_str *s, struct ww_error *err)
{
	struct ww_interval span = ww_trace_span(t);
	struct ww_json j = {.s = s};
	struct ww_str start = {0};
	const char *key, *value;
	int rc = 0;

	add_start(t, &start);
	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/info/1");
	ww_json_text(&j, "start", start.p);
	ww_json_text(&j, "state", NAME(states, ww_trace_state(t)));
	if (ww_iv_ok(span))
		ww_json_num(&j, "span_s", ((double)span.hi_ns - (double)span.lo_ns) / 1e9);
	else
		ww_json_null(&j, "span_s");
	ww_json_open(&j, "meta", '{');
	for (size_t i = 0; ww_trace_meta_at(t, i, &key, &value); i++)
		ww_json_text(&j, key, value);
	ww_json_close(&j, '}');
	ww_json_open(&j, "sources", '[');
	for (size_t i = 0; i < ww_trace_source_count(t) && rc == 0; i++)
		rc = source_json(&j, t, ww_trace_source(t, i), err);
	ww_json_close(&j, ']');
	ww_json_open(&j, "marks", '{');
	mark_counts(t, s, &j);
	ww_json_close(&j, '}');
	ww_json_open(&j, "labels", '[');
	if (rc == 0)
		rc = labels(t, s, &j, err);
	ww_json_close(&j, ']');
	ww_json_int(&j, "gaps", (int64_t)ww_trace_gap_count(t));
	ww_json_int(&j, "lost", lost_items(t));
	ww_json_int(&j, "anchors", (int64_t)ww_trace_anchor_count(t));
	ww_json_open(&j, "notes", '[');
	add_notes(t, s, &j);
	ww_json_close(&j, ']');
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
	s->bad |= start.bad;
	ww_str_free(&start);
	return rc;
}

int ww_info_report(struct ww_trace *t, int form, char **out, struct ww_error *err)
{
	struct ww_str s = {0};
	int rc = form == WW_REPORT_JSON ? info_json(t, &s, err) : info_text(t, &s, err);

	if (rc < 0) {
		ww_str_free(&s);
		return rc;
	}
	return ww_str_take(&s, out, err);
}

/* SPDX-License-Identifier: MIT */
/* The objects of the stream form: see wakewatt-trace(5). */
#include "trace/writer.h"

static struct ww_json begin(struct ww_str *s, const char *type)
{
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "type", type);
	return j;
}

/* An open end is null. */
static void add_interval(struct ww_json *j, struct ww_interval t)
{
	ww_json_open(j, "t", '[');
	if (t.lo_ns == WW_TIME_MIN)
		ww_json_null(j, NULL);
	else
		ww_json_int(j, NULL, t.lo_ns);
	if (t.hi_ns == WW_TIME_MAX)
		ww_json_null(j, NULL);
	else
		ww_json_int(j, NULL, t.hi_ns);
	ww_json_close(j, ']');
}

void ww_json_source(struct ww_str *s, const struct ww_source_info *i)
{
	struct ww_json j = begin(s, "source");

	ww_json_int(&j, "id", i->id);
	ww_json_int(&j, "kind", i->kind);
	ww_json_text(&j, "name", i->name);
	ww_json_text(&j, "uri", i->uri);
	ww_json_text(&j, "driver", i->driver);
	ww_json_text(&j, "model", i->model);
	ww_json_text(&j, "serial", i->serial);
	ww_json_text(&j, "firmware", i->firmware);
	ww_json_text(&j, "notes", i->notes);
	ww_json_text(&j, "role", i->role);
	ww_json_int(&j, "period_ns", i->period_ns);
	ww_json_int(&j, "window_ns", i->window_ns);
	ww_json_int(&j, "delay_min_ns", i->delay_min_ns);
	ww_json_int(&j, "delay_max_ns", i->delay_max_ns);
	ww_json_text(&j, "transport", i->transport.name);
	ww_json_int(&j, "transport_delay_min_ns", i->transport.delay_min_ns);
	ww_json_int(&j, "transport_delay_max_ns", i->transport.delay_max_ns);
	ww_json_int(&j, "transport_char_ns", i->transport.char_ns);
	ww_json_text(&j, "transport_settings", i->transport.settings);
	ww_json_close(&j, '}');
}

void ww_json_channel(struct ww_str *s, const struct ww_channel_info *c)
{
	struct ww_json j = begin(s, "channel");

	ww_json_int(&j, "id", c->id);
	ww_json_int(&j, "source", c->source);
	ww_json_text(&j, "name", c->name);
	ww_json_text(&j, "quantity", c->quantity);
	ww_json_text(&j, "unit", c->unit);
	ww_json_int(&j, "semantics", c->semantics);
	ww_json_num(&j, "scale", c->scale);
	ww_json_num(&j, "offset", c->offset);
	ww_json_num(&j, "resolution", c->resolution);
	ww_json_num(&j, "acc_abs", c->acc_abs);
	ww_json_num(&j, "acc_rel", c->acc_rel);
	ww_json_num(&j, "wrap", c->wrap);
	ww_json_close(&j, '}');
}

void ww_json_mark(struct ww_str *s, const struct ww_mark *m)
{
	struct ww_json j = begin(s, "mark");

	add_interval(&j, m->t);
	ww_json_int(&j, "source", m->source);
	ww_json_int(&j, "cycle", m->cycle);
	ww_json_text(&j, "kind", m->kind);
	ww_json_text(&j, "text", m->text);
	ww_json_close(&j, '}');
}

void ww_json_gap(struct ww_str *s, const struct ww_gap *g)
{
	struct ww_json j = begin(s, "gap");

	ww_json_int(&j, "source", g->source);
	add_interval(&j, g->t);
	ww_json_int(&j, "lost", g->lost);
	ww_json_text(&j, "reason", g->reason);
	ww_json_close(&j, '}');
}

void ww_json_anchor(struct ww_str *s, const struct ww_anchor *a)
{
	struct ww_json j = begin(s, "anchor");

	ww_json_int(&j, "boot_ns", a->boot_ns);
	ww_json_int(&j, "mono_ns", a->mono_ns);
	ww_json_int(&j, "real_ns", a->real_ns);
	ww_json_int(&j, "width_ns", a->width_ns);
	ww_json_int(&j, "adj_state", a->adj_state);
	ww_json_int(&j, "adj_freq_ppb", a->adj_freq_ppb);
	ww_json_int(&j, "adj_maxerror_ns", a->adj_maxerror_ns);
	ww_json_close(&j, '}');
}

static void add_time(struct ww_str *s, int64_t t, int64_t open)
{
	if (t == open)
		ww_str_add(s, "null");
	else
		ww_str_int(s, t);
}

static void add_head(struct ww_str *s, const struct ww_wsource *src, size_t i)
{
	ww_str_add(s, src->tail.bytes ? "{\"type\":\"bytes\",\"source\":"
				      : "{\"type\":\"sample\",\"source\":");
	ww_str_int(s, src->id);
	ww_str_add(s, ",\"t\":[");
	add_time(s, src->tail.lo[i], WW_TIME_MIN);
	ww_str_add(s, ",");
	add_time(s, src->tail.hi[i], WW_TIME_MAX);
}

static void add_codes(struct ww_str *s, const struct ww_wsource *src, size_t i)
{
	ww_str_add(s, "],\"codes\":[");
	for (size_t c = 0; c < src->channels; c++) {
		if (c)
			ww_str_add(s, ",");
		add_time(s, src->tail.col[c][i], WW_MISSING);
	}
	ww_str_add(s, "],\"values\":[");
	for (size_t c = 0; c < src->channels; c++) {
		if (c)
			ww_str_add(s, ",");
		if (!ww_str_value(s, &src->digits[c], src->tail.col[c][i]))
			ww_str_add(s, "null");
	}
	ww_str_add(s, "]}\n");
}

static void add_hex(struct ww_str *s, const uint8_t *p, size_t n)
{
	static const char digit[] = "0123456789abcdef";

	ww_str_add(s, "],\"hex\":\"");
	for (size_t i = 0; i < n; i++) {
		const char two[2] = {digit[p[i] >> 4], digit[p[i] & 15]};

		ww_str_addn(s, two, 2);
	}
	ww_str_add(s, "\"}\n");
}

/* By hand rather than by ww_json: this is the one that must be fast. */
void ww_json_rows(struct ww_str *s, const struct ww_wsource *src)
{
	const uint8_t *p = src->tail.data;

	for (size_t i = 0; i < src->tail.n; i++) {
		add_head(s, src, i);
		if (!src->tail.bytes) {
			add_codes(s, src, i);
			continue;
		}
		add_hex(s, p, (size_t)src->tail.col[0][i]);
		p += src->tail.col[0][i];
	}
}

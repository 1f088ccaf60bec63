/* SPDX-License-Identifier: MIT */
/* What was recorded beside the power: supply, crest and power factor, meter, DUT. */
#include "analysis/standby.h"
#include "base/str.h"

#include <math.h>

static int keep(char **to, const char *text)
{
	*to = strdup(text ? text : "");
	return *to ? 0 : -ENOMEM;
}

static const struct ww_source_info *source_of(const struct ww_trace *t, uint32_t id)
{
	for (size_t i = 0; i < ww_trace_source_count(t); i++)
		if (ww_trace_source(t, i)->id == id)
			return ww_trace_source(t, i);
	return NULL;
}

/* The channel's quantity is this, or its name is in the list ("thd|thd_v"). */
static bool is_it(const struct ww_channel_info *ch, const char *quantity, const char *names)
{
	size_t n = strlen(ch->name);

	if (*quantity)
		return strcmp(ch->quantity, quantity) == 0;
	for (const char *p = names; *p; p += strcspn(p, "|"), p += *p == '|')
		if (strcspn(p, "|") == n && strncmp(p, ch->name, n) == 0)
			return true;
	return false;
}

/* Index of such a channel, the meter's own before others; SIZE_MAX none. */
static size_t find(const struct ww_standby *s, const struct ww_trace *t, const char *quantity,
		   const char *names)
{
	size_t hit = SIZE_MAX;

	for (size_t i = 0; i < ww_trace_channel_count(t); i++) {
		const struct ww_channel_info *ch = ww_trace_channel(t, i);

		if (is_it(ch, quantity, names) &&
		    (hit == SIZE_MAX || ch->source == s->series.source))
			hit = i;
	}
	return hit;
}

/* Mean of such a channel over the stretch. NaN stays where there is none. */
static int mean_of(const struct ww_standby *s, struct ww_trace *t, const char *quantity,
		   const char *names, double *out, struct ww_error *err)
{
	int64_t from = s->series.origin_ns + (int64_t)(s->r.from_s * 1e9);
	int64_t to = s->series.origin_ns + (int64_t)(s->r.to_s * 1e9);
	size_t hit = find(s, t, quantity, names);
	const struct ww_channel_info *ch = ww_trace_channel(t, hit);
	const struct ww_source_info *src = ch ? source_of(t, ch->source) : NULL;
	struct ww_str name = {0};
	struct ww_series x;
	double sum = 0, unit;
	int rc;

	if (!src)
		return 0;
	unit = strcmp(ch->unit, "%") == 0 ? 100 : 1;
	ww_str_addf(&name, "%s.%s", src->name, ch->name);
	rc = name.bad ? ww_fail_nomem(err)
		      : ww_series_read(t, name.p, ch->quantity, from, to, &x, err);
	ww_str_free(&name);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < x.n; i++)
		sum += x.v[i];
	if (x.n)
		*out = sum / (double)x.n / unit;
	ww_series_free(&x);
	return 0;
}

static int take_dut(struct ww_standby *s, struct ww_trace *t, struct ww_error *err)
{
	const char *key, *value;
	size_t n = 0;

	while (ww_trace_meta_at(t, n, &key, &value) == 1)
		n++;
	s->dut = calloc(2 * n + 1, sizeof(*s->dut));
	if (!s->dut)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < n && ww_trace_meta_at(t, i, &key, &value) == 1; i++) {
		if (strncmp(key, "dut.", 4) != 0)
			continue;
		s->duts++;
		if (keep(&s->dut[2 * s->duts - 2], key + 4) < 0 ||
		    keep(&s->dut[2 * s->duts - 1], value) < 0)
			return ww_fail_nomem(err);
	}
	return 0;
}

int ww_standby_surroundings(struct ww_standby *s, struct ww_trace *t, struct ww_error *err)
{
	struct ww_standby_result *r = &s->r;
	const struct ww_source_info *src = source_of(t, s->series.source);
	int rc = 0;

	if (!src || keep(&s->uri, src->uri) < 0 || keep(&s->driver, src->driver) < 0 ||
	    keep(&s->model, src->model) < 0 || keep(&s->serial, src->serial) < 0 ||
	    keep(&s->firmware, src->firmware) < 0 ||
	    keep(&s->program, ww_trace_meta(t, "program")) < 0 ||
	    keep(&s->command, ww_trace_meta(t, "command")) < 0)
		return ww_fail_nomem(err);
	rc = take_dut(s, t, err);
	if (rc == 0)
		rc = mean_of(s, t, "voltage", "", &r->volts, err);
	if (rc == 0)
		rc = mean_of(s, t, "frequency", "", &r->hz, err);
	if (rc == 0 && isnan(r->power_factor))
		rc = mean_of(s, t, "power_factor", "", &r->power_factor, err);
	if (rc == 0 && isnan(r->crest))
		rc = mean_of(s, t, "", "crest|crest_factor|current_crest", &r->crest, err);
	if (rc == 0)
		rc = mean_of(s, t, "", "thd|voltage_thd|thd_v", &r->thd, err);
	if (rc == 0)
		rc = mean_of(s, t, "", "voltage_crest", &r->volts_crest, err);
	return rc;
}

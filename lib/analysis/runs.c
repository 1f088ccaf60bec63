/* SPDX-License-Identifier: MIT */
/* ww_runs: runs of a command, found by their marks, and the energy of each. */
#include "analysis/runs.h"
#include "analysis/series.h"
#include "analysis/stat.h"

#include <math.h>
#include <stdio.h>

const char *ww_runs_keep(struct ww_runs *r, const char *text)
{
	char *copy, **more;

	if (!*text)
		return "";
	for (size_t i = r->texts; i > 0 && r->texts - i < 8; i--)
		if (strcmp(r->text[i - 1], text) == 0)
			return r->text[i - 1];
	copy = strdup(text);
	more = copy ? realloc(r->text, (r->texts + 1) * sizeof(*more)) : NULL;
	if (!more) {
		free(copy);
		r->bad = true;
		return "";
	}
	r->text = more;
	return r->text[r->texts++] = copy;
}

static int describe_meter(struct ww_runs *r, struct ww_trace *t, const char *name,
			  struct ww_error *err)
{
	int at = ww_series_find(t, name, "power", err);
	const struct ww_channel_info *c;
	const struct ww_source_info *s = NULL;
	struct ww_runs_meter *m = &r->meter;
	double watts, pad;
	char full[256];

	if (at < 0)
		return at;
	c = ww_trace_channel(t, (size_t)at);
	for (size_t i = 0; i < ww_trace_source_count(t); i++)
		if (ww_trace_source(t, i)->id == c->source)
			s = ww_trace_source(t, i);
	watts = ww_power_joules(c->unit);
	if (!s || !(watts > 0) || c->semantics == WW_COUNTER)
		return ww_fail(err, -EINVAL, "%s: channel '%s' is in %s, not in watts",
			       ww_trace_path(t), c->name, c->unit);
	snprintf(full, sizeof(full), "%s.%s", s->name, c->name);
	m->channel = ww_runs_keep(r, full);
	m->semantics = c->semantics;
	m->period_s = (double)s->period_ns / 1e9;
	m->window_s = (double)s->window_ns / 1e9;
	m->resolution = (c->resolution > 0 ? c->resolution : fabs(c->scale)) * watts;
	m->gain_u = c->acc_rel / sqrt(3);
	m->offset_u = c->acc_abs * watts / sqrt(3);
	pad = fmax((double)s->period_ns, (double)s->window_ns) +
	      ((double)s->delay_max_ns - (double)s->delay_min_ns) / 2;
	r->pad_ns = pad > 0 && pad < 1e15 ? (int64_t)pad : 0;
	return 0;
}

/* The usual interval of a meter whose driver does not tell it, from all its readings. */
static int find_period(struct ww_runs *r, struct ww_trace *t, struct ww_error *err)
{
	struct ww_series s;
	int rc;

	if (r->meter.period_s > 0)
		return 0;
	rc = ww_series_read(t, r->meter.channel, "power", WW_TIME_MIN, WW_TIME_MAX, &s, err);
	if (rc < 0)
		return rc;
	r->meter.period_s = s.period_s;
	r->pad_ns = ww_add_sat(r->pad_ns, (int64_t)(s.period_s * 1e9));
	ww_series_free(&s);
	return 0;
}

int ww_runs_new(struct ww_trace *t, const struct ww_runs_options *opt, struct ww_runs **out,
		struct ww_error *err)
{
	struct ww_runs *r;
	int rc = WW_OPT_CHECK(opt, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return ww_fail_nomem(err);
	r->failed = WW_OPT(opt, failed, 0) != 0;
	ww_wall_read(&r->wall, t);
	r->origin_ns = ww_trace_span(t).lo_ns;
	rc = describe_meter(r, t, WW_OPT(opt, channel, NULL), err);
	if (rc == 0)
		rc = find_period(r, t, err);
	if (rc == 0)
		ww_runs_marks(r, t);
	if (rc == 0 && r->runs == 0 && !r->bad)
		rc = ww_fail(err, -ENODATA,
			     "%s: no runs of a command in this trace; 'pwrlog run' records such",
			     ww_trace_path(t));
	if (rc == 0 && !r->bad)
		rc = ww_runs_energies(r, t, err);
	if (rc == 0 && !r->bad)
		ww_runs_sums(r);
	if (rc == 0 && (r->bad || r->notes.bad))
		rc = ww_fail_nomem(err);
	if (rc < 0) {
		ww_runs_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

size_t ww_runs_count(const struct ww_runs *r)
{
	return r->runs;
}

const struct ww_run *ww_runs_at(const struct ww_runs *r, size_t i)
{
	return i < r->runs ? &r->run[i] : NULL;
}

const struct ww_run_variant *ww_runs_variant(const struct ww_runs *r, size_t i)
{
	return i < r->variants ? &r->variant[i] : NULL;
}

const struct ww_runs_meter *ww_runs_meter(const struct ww_runs *r)
{
	return &r->meter;
}

const char *ww_runs_note(const struct ww_runs *r, size_t i)
{
	return ww_note_at(&r->notes, i);
}

void ww_runs_free(struct ww_runs *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->texts; i++)
		free(r->text[i]);
	free(r->text);
	free(r->run);
	free(r->variant);
	free(r->place);
	free(r->base);
	ww_notes_free(&r->notes);
	free(r);
}

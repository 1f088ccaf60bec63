/* SPDX-License-Identifier: MIT */
/* sim: a wattmeter whose truth is known, and a fast source of codes for benchmarks. */
#include "source/source.h"
#include "source/simload.h"
#include "source/simnoise.h"

#include <stdio.h>

#define OPTIONS                                                                                    \
	"watts, noise, rate, resolution, step, drift, follow, end, seed, volts, pf, wh, "          \
	"wh_resolution, wrap, reset, gap, unplug, semantics, channels"
#define ROWS	 512
#define CHANNELS 6
/* Fast samples are handed over in batches of this length. */
#define BATCH_NS (8 * WW_NS_PER_MS)

struct span {
	int64_t at_ns, len_ns;
};

struct sim {
	struct ww_source base;
	struct ww_sink sink;
	struct ww_loop *loop;
	struct ww_timer *timer;
	struct ww_simfollow *follow;
	struct ww_simload load;
	struct ww_noise noise;
	char *uri;
	int64_t t0_ns;	    /* beginning of its time */
	int64_t period_ns;  /* sample i is taken at t0 + i * period */
	int64_t i;	    /* last sample that was taken */
	int64_t plugged_ns; /* started at this time, since t0 */
	int64_t batch;	    /* samples a call */
	int64_t end_ns, reset_ns;
	int32_t semantics;
	bool codes, is_reset, running;
	double volts, pf, sigma, resolution, part_J;
	double wh_step, wh_wrap, wh_zero_J;
	size_t gaps, unplugs;
	struct span gap[WW_URI_OPTIONS], unplug[WW_URI_OPTIONS];
	int64_t lost; /* samples of the gap at hand */
	size_t channels;
	struct ww_channel_info channel[CHANNELS];
	size_t rows;
	int64_t t[ROWS];
	int64_t row[ROWS * CHANNELS];
};

/* ----------------------------------------------------------------- samples */

static int64_t to_code(double v, double step)
{
	double x = v / step;

	/* Half away from zero, whatever the rounding mode. */
	return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

static void hand_over(struct sim *s)
{
	size_t n = s->rows;

	s->rows = 0;
	if (n)
		s->sink.samples(s->sink.ctx, n, s->t, s->t, s->row);
}

static int64_t register_code(struct sim *s, int64_t at_ns)
{
	int64_t code, wrap = s->wh_wrap > 0 ? to_code(s->wh_wrap, s->wh_step) : 0;

	if (!s->is_reset && at_ns >= s->reset_ns) {
		s->is_reset = true;
		s->wh_zero_J = s->load.joules;
		hand_over(s);
		s->sink.mark(s->sink.ctx, (struct ww_interval){s->t0_ns + at_ns, s->t0_ns + at_ns},
			     WW_MARK_RESET, "energy register set to zero");
	}
	/* A register shows whole steps that are full. */
	code = (int64_t)((s->load.joules - s->wh_zero_J) / 3600.0 / s->wh_step);
	return wrap > 0 ? code % wrap : code;
}

static void watts_row(struct sim *s, int64_t *row, int64_t at_ns)
{
	double truth, w;
	size_t c = 0;

	s->part_J += ww_simload_to(&s->load, at_ns);
	truth = s->semantics == WW_AVERAGE ? s->part_J / ((double)s->period_ns / 1e9)
					   : ww_simload_watts(&s->load);
	s->part_J = 0;
	w = truth;
	if (s->sigma > 0)
		w += s->sigma * (double)ww_noise_q16(&s->noise) / 65536.0;
	row[c++] = to_code(w, s->resolution);
	if (s->volts > 0) {
		row[c++] = to_code(s->volts, 0.1);
		row[c++] = to_code(w / (s->volts * s->pf), 0.001);
		row[c++] = to_code(s->pf, 0.01);
		row[c++] = to_code(w / s->pf, s->resolution);
	}
	if (s->wh_step > 0)
		row[c++] = register_code(s, at_ns);
}

static void take(struct sim *s, int64_t at_ns)
{
	int64_t row[CHANNELS];

	if (s->codes) {
		/* Standard deviation 4: two bits more than 16. */
		row[0] = 30000 + ((ww_noise_q16(&s->noise) + (1 << 13)) >> 14);
		row[1] = 20000 + ((ww_noise_q16(&s->noise) + (1 << 13)) >> 14);
	} else {
		watts_row(s, row, at_ns);
	}
	memcpy(s->row + s->rows * s->channels, row, s->channels * sizeof(*row));
	s->t[s->rows++] = s->t0_ns + at_ns;
	if (s->rows == ROWS)
		hand_over(s);
}

static bool within(const struct span *v, size_t n, int64_t at_ns)
{
	for (size_t i = 0; i < n; i++)
		if (at_ns > v[i].at_ns && at_ns <= v[i].at_ns + v[i].len_ns)
			return true;
	return false;
}

static void tell_gap(struct sim *s)
{
	struct ww_interval t = {s->t0_ns + (s->i - s->lost) * s->period_ns,
				s->t0_ns + s->i * s->period_ns};

	if (!s->lost)
		return;
	hand_over(s);
	s->sink.gap(s->sink.ctx, t, s->lost, "sequence");
	s->lost = 0;
}

/* All samples up to `to`, since the beginning. */
static void take_until(struct sim *s, int64_t to_ns)
{
	while ((s->i + 1) * s->period_ns <= to_ns) {
		int64_t at = (s->i + 1) * s->period_ns;

		if (s->gaps && within(s->gap, s->gaps, at)) {
			if (!s->codes)
				ww_simload_to(&s->load, at);
			s->part_J = 0;
			s->lost++;
			s->i++;
			continue;
		}
		tell_gap(s);
		s->i++;
		take(s, at);
	}
	hand_over(s);
}

/* ------------------------------------------------------------------- times */

/* The first unplugging that is still to come or is going on; NULL: none. */
static const struct span *next_unplug(const struct sim *s, int64_t rel_ns)
{
	const struct span *best = NULL;

	for (size_t i = 0; i < s->unplugs; i++) {
		const struct span *u = &s->unplug[i];

		if (rel_ns < u->at_ns + u->len_ns && (!best || u->at_ns < best->at_ns))
			best = u;
	}
	return best;
}

static void arm(struct sim *s, int64_t rel_ns)
{
	const struct span *u = next_unplug(s, rel_ns);
	int64_t at = (s->i + s->batch) * s->period_ns;

	if (u && u->at_ns < at)
		at = u->at_ns;
	if (s->end_ns < at)
		at = s->end_ns;
	ww_timer_set(s->timer, s->t0_ns + at, 0);
}

static void on_timer(void *ctx, int64_t now_ns, int64_t late_ns)
{
	struct sim *s = ctx;
	int64_t rel = now_ns - s->t0_ns;
	const struct span *u = next_unplug(s, s->plugged_ns);
	struct ww_error why = {0};

	(void)late_ns;
	if (u && u->at_ns <= rel) {
		take_until(s, u->at_ns < s->end_ns ? u->at_ns : s->end_ns);
		s->running = false;
		ww_fail(&why, -ENODEV, "%s: unplugged, as asked", s->uri);
		s->sink.lost(s->sink.ctx, &why);
		return;
	}
	if (rel >= s->end_ns) {
		take_until(s, s->end_ns);
		tell_gap(s);
		s->running = false;
		s->sink.ended(s->sink.ctx);
		return;
	}
	take_until(s, rel);
	arm(s, rel);
}

/* What is followed changed: the samples before belong to the old level. */
static void on_follow(void *ctx, double by_watts)
{
	struct sim *s = ctx;
	int64_t rel = ww_loop_now(s->loop) - s->t0_ns;

	if (s->running)
		take_until(s, rel < s->end_ns ? rel : s->end_ns);
	s->part_J += ww_simload_to(&s->load, rel);
	s->load.level += by_watts;
}

/* ----------------------------------------------------------------- options */

static int read_spans(struct ww_uri *uri, const char *key, struct span *v, size_t *n,
		      struct ww_error *err)
{
	for (size_t i = 0; i < uri->options; i++) {
		const char *rest;

		if (strcmp(uri->option[i].key, key) != 0)
			continue;
		uri->option[i].used = true;
		if (!ww_sim_pair(uri->option[i].value, &v[*n].at_ns, &rest) ||
		    ww_duration_parse(rest, &v[*n].len_ns, NULL) < 0)
			return ww_fail(err, -EINVAL,
				       "sim: option %s=%s: expected a time and a length, 10s:2s",
				       key, uri->option[i].value);
		++*n;
	}
	return 0;
}

static int read_rate(struct sim *s, struct ww_uri *uri, int64_t every_ns, struct ww_error *err)
{
	double rate = 10;

	if (ww_uri_num(uri, "rate", 1e-4, 1e6, &rate, err) < 0)
		return -EINVAL;
	s->period_ns = (int64_t)(1e9 / rate + 0.5);
	if (every_ns > s->period_ns)
		s->period_ns = every_ns;
	s->batch = s->period_ns < BATCH_NS / 2 ? BATCH_NS / s->period_ns : 1;
	return 0;
}

static int read_words(struct sim *s, struct ww_uri *uri, struct ww_error *err)
{
	static const char *const names[] = {"instant", "average", "hold"};
	const char *semantics = ww_uri_get(uri, "semantics", "average");
	const char *channels = ww_uri_get(uri, "channels", "watts");

	s->semantics = -1;
	for (int32_t i = 0; i < 3; i++)
		if (strcmp(names[i], semantics) == 0)
			s->semantics = i;
	if (s->semantics < 0)
		return ww_fail(err, -EINVAL,
			       "sim: option semantics=%s: expected instant, average or hold",
			       semantics);
	s->codes = strcmp(channels, "codes") == 0;
	if (!s->codes && strcmp(channels, "watts") != 0)
		return ww_fail(err, -EINVAL, "sim: option channels=%s: expected watts or codes",
			       channels);
	return 0;
}

static int read_options(struct sim *s, struct ww_uri *uri, int64_t every_ns, struct ww_error *err)
{
	int64_t seed = 1, wh = 0;

	s->end_ns = s->reset_ns = WW_TIME_MAX;
	s->resolution = 0.1;
	s->pf = 1;
	if (read_rate(s, uri, every_ns, err) < 0 || read_words(s, uri, err) < 0 ||
	    ww_simload_init(&s->load, uri, err) < 0 ||
	    ww_uri_num(uri, "noise", 0, 1e9, &s->sigma, err) < 0 ||
	    ww_uri_num(uri, "resolution", 1e-9, 1e6, &s->resolution, err) < 0 ||
	    ww_uri_num(uri, "volts", 1e-3, 1e6, &s->volts, err) < 0 ||
	    ww_uri_num(uri, "pf", 0.01, 1, &s->pf, err) < 0 ||
	    ww_uri_int(uri, "seed", 0, INT64_MAX, &seed, err) < 0 ||
	    ww_uri_int(uri, "wh", 0, 1, &wh, err) < 0 ||
	    ww_uri_num(uri, "wrap", 1e-3, 1e15, &s->wh_wrap, err) < 0 ||
	    ww_uri_dur(uri, "end", &s->end_ns, err) < 0 ||
	    ww_uri_dur(uri, "reset", &s->reset_ns, err) < 0 ||
	    read_spans(uri, "gap", s->gap, &s->gaps, err) < 0 ||
	    read_spans(uri, "unplug", s->unplug, &s->unplugs, err) < 0)
		return -EINVAL;
	s->wh_step = wh ? 0.001 : 0;
	if (ww_uri_num(uri, "wh_resolution", 1e-9, 1e6, &s->wh_step, err) < 0)
		return -EINVAL;
	ww_noise_seed(&s->noise, (uint64_t)seed);
	return 0;
}

/* ------------------------------------------------------------ the description */

static void add_channel(struct sim *s, const char *name, const char *unit, int32_t semantics,
			double scale)
{
	s->channel[s->channels++] = (struct ww_channel_info){
		.name = name,
		.quantity = strncmp(name, "code", 4) == 0 ? "other" : name,
		.unit = unit,
		.semantics = semantics,
		.scale = scale,
		.resolution = scale,
		/* Neither gain nor offset is wrong: only resolution and noise remain. */
		.acc_abs = 0,
		.acc_rel = 0,
		.wrap = semantics == WW_COUNTER ? s->wh_wrap : 0};
}

static int describe(struct sim *s, struct ww_error *err)
{
	struct ww_source_info info = {
		.kind = WW_METER,
		.name = "",
		.uri = s->uri,
		.driver = "sim",
		.model = "simulator",
		.serial = "",
		.firmware = "",
		.notes = "simulated, no measurement",
		.period_ns = s->period_ns,
		.window_ns = s->semantics == WW_AVERAGE ? s->period_ns : 0,
		.transport = {.name = "sim", .settings = ""},
	};

	if (s->codes) {
		add_channel(s, "code0", "1", s->semantics, 1);
		add_channel(s, "code1", "1", s->semantics, 1);
	} else {
		add_channel(s, "power", "W", s->semantics, s->resolution);
		if (s->volts > 0) {
			add_channel(s, "voltage", "V", s->semantics, 0.1);
			add_channel(s, "current", "A", s->semantics, 0.001);
			add_channel(s, "power_factor", "1", s->semantics, 0.01);
			add_channel(s, "apparent_power", "VA", s->semantics, s->resolution);
		}
		if (s->wh_step > 0)
			add_channel(s, "energy", "Wh", WW_COUNTER, s->wh_step);
	}
	return s->sink.describe(s->sink.ctx, &info, s->channel, s->channels, err);
}

/* ---------------------------------------------------------------- the source */

static int sim_start(struct ww_source *base, struct ww_error *err)
{
	struct sim *s = (struct sim *)base;
	int64_t rel = ww_loop_now(s->loop) - s->t0_ns;

	(void)err;
	/* Plugged in again, it goes on where its time is now; its register never stopped. */
	s->i = rel / s->period_ns;
	s->plugged_ns = rel;
	s->running = true;
	if (s->reset_ns <= s->i * s->period_ns) {
		ww_simload_to(&s->load, s->reset_ns);
		s->wh_zero_J = s->load.joules;
		s->is_reset = true;
	}
	ww_simload_to(&s->load, s->i * s->period_ns);
	s->part_J = 0;
	arm(s, rel);
	return 0;
}

static int64_t sim_stop(struct ww_source *base)
{
	struct sim *s = (struct sim *)base;

	ww_timer_set(s->timer, WW_TIME_MAX, 0);
	if (s->running)
		tell_gap(s);
	s->running = false;
	return 0;
}

static void sim_close(struct ww_source *base)
{
	struct sim *s = (struct sim *)base;

	ww_timer_free(s->timer);
	ww_simfollow_close(s->follow);
	free(s->uri);
	free(s);
}

static const struct ww_source_ops sim_ops = {.start = sim_start,
					     .stop = sim_stop,
					     .close = sim_close};

static int open_parts(struct sim *s, const struct ww_source_setup *setup, struct ww_uri *uri,
		      struct ww_error *err)
{
	int64_t now = ww_loop_now(setup->loop), rel;
	const struct span *u;
	const char *path;
	int rc;

	if (!s->uri)
		return ww_fail_nomem(err);
	if (*uri->place)
		return ww_fail(err, -EINVAL,
			       "sim:%s: a simulator is at no place; its options follow a question "
			       "mark: sim:?watts=25",
			       uri->place);
	rc = read_options(s, uri, setup->every_ns, err);
	if (rc < 0)
		return rc;
	s->t0_ns = setup->first_open_ns ? setup->first_open_ns : now;
	rel = now - s->t0_ns;
	u = next_unplug(s, rel);
	if (u && rel >= u->at_ns && setup->first_open_ns)
		return ww_fail(err, -ENODEV, "%s: unplugged for another %lld ms", s->uri,
			       (long long)((u->at_ns + u->len_ns - rel) / WW_NS_PER_MS));
	path = ww_uri_get(uri, "follow", NULL);
	if (path)
		rc = ww_simfollow_open(s->loop, path, uri, on_follow, s, &s->load.level, &s->follow,
				       err);
	if (rc >= 0)
		rc = ww_uri_check_used(uri, OPTIONS, err);
	if (rc >= 0)
		rc = ww_loop_timer(s->loop, on_timer, s, &s->timer, err);
	return rc < 0 ? rc : describe(s, err);
}

static int sim_open(const struct ww_source_setup *setup, struct ww_uri *uri, struct ww_source **out,
		    struct ww_error *err)
{
	struct sim *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return ww_fail_nomem(err);
	s->base.ops = &sim_ops;
	s->sink = setup->sink;
	s->loop = setup->loop;
	s->uri = strdup(setup->uri);
	rc = open_parts(s, setup, uri, err);
	if (rc < 0) {
		sim_close(&s->base);
		return rc;
	}
	*out = &s->base;
	return 0;
}

const struct ww_driver ww_source_sim = {
	.name = "sim",
	.summary = "simulated wattmeter with known truth",
	.example = "sim:?watts=25&noise=0.2&rate=100&resolution=0.1&step=10s:+12.5",
	.available = true,
	.proven = true,
	.open = sim_open,
};

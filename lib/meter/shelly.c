/* SPDX-License-Identifier: MIT */
/*
 * Shelly plugs, relays and meters. Gen1: GET /status, its meters or emeters. Gen2 and
 * later: the component that measures is looked for once in /rpc/Shelly.GetStatus. Source:
 * the maker's API pages. Its time stamps are local clocks without a zone: not used.
 */
#include "meter/json.h"
#include "meter/plug.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define REPLY_NS (8 * WW_NS_PER_S) /* the port's own time-out is shorter */
#define USUAL	 4
#define CHANNELS 8
#define NO_PHASE 't'

/* Before it is known: who is there, what a Gen2 has, what a Gen1 has; then values. */
enum step { WHO, LIST, STATUS, VALUES };
enum field { POWER, VOLTAGE, CURRENT, ENERGY, PF, VA, VAR, HZ };
/* 60 000 counts are a watt-hour: watt-minutes and milliwatt-hours are whole numbers of it. */
#define PER_WH 60000.0

/* Whatever has watts in one of these firmwares. "a_": of the phase that is asked for. */
static const struct kind {
	const char *method; /* of /rpc */
	const char *part;   /* in Shelly.GetStatus, and in /status of a Gen1 */
	const char *data;   /* where its energy stands, if elsewhere */
	const char *key[CHANNELS];
	double energy_per;
} kinds[] = {
	{"EM",
	 "em:",
	 "emdata:",
	 {"total_act_power", NULL, "total_current", "total_act", NULL, "total_aprt_power"},
	 PER_WH},
	{"EM",
	 "em:",
	 "emdata:",
	 {"a_act_power", "a_voltage", "a_current", "a_total_act_energy", "a_pf", "a_aprt_power",
	  NULL, "a_freq"},
	 PER_WH},
	{"EM1",
	 "em1:",
	 "em1data:",
	 {"act_power", "voltage", "current", "total_act_energy", "pf", "aprt_power", NULL, "freq"},
	 PER_WH},
	{"Switch",
	 "switch:",
	 NULL,
	 {"apower", "voltage", "current", "total", "pf", NULL, NULL, "freq"},
	 PER_WH},
	{"PM1",
	 "pm1:",
	 NULL,
	 {"apower", "voltage", "current", "total", "pf", NULL, NULL, "freq"},
	 PER_WH},
	{"Cover",
	 "cover:",
	 NULL,
	 {"apower", "voltage", "current", "total", "pf", NULL, NULL, "freq"},
	 PER_WH},
	{"Light",
	 "light:",
	 NULL,
	 {"apower", "voltage", "current", "total", "pf", NULL, NULL, "freq"},
	 PER_WH},
	{NULL,
	 "emeters",
	 NULL,
	 {"power", "voltage", "current", "total", "pf", NULL, "reactive"},
	 PER_WH},
	{NULL, "meters", NULL, {"power", NULL, NULL, "total"}, PER_WH / 60},
};
#define GEN1 7 /* the first of them */

struct shelly {
	struct ww_plug plug;
	enum step step;
	bool sure; /* of its generation: it has told */
	bool all;
	int64_t id; /* -1: not said */
	char phase;
	int kind; /* -1: not yet known */
	char model[48], serial[32], firmware[48];
};

static int shelly_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct shelly *m = state;
	const char *phase = ww_uri_get(options, "phase", "total");
	int64_t all = 0, id = -1;

	if (ww_uri_int(options, "all", 0, 1, &all, err) < 0 ||
	    ww_uri_int(options, "id", 0, 15, &id, err) < 0 ||
	    ww_uri_int(options, "channel", 0, 15, &id, err) < 0)
		return -EINVAL;
	if (strcmp(phase, "total") != 0 && (strlen(phase) != 1 || !strchr("abc", phase[0])))
		return ww_fail(err, -EINVAL, "shelly: phase=%s: expected a, b, c or total", phase);
	*m = (struct shelly){.all = all != 0, .id = id, .kind = -1, .phase = phase[0]};
	return ww_plug_init(&m->plug, "shelly", m->all ? CHANNELS : USUAL, every_ns, REPLY_NS, err);
}

static void shelly_shape(const void *state, struct ww_meter_shape *s)
{
	const struct shelly *m = state;

	s->channels = m->all ? CHANNELS : USUAL;
	s->period_ns = ww_pace_period(&m->plug.pace);
}

static void ask(struct shelly *m, int64_t now_ns, const struct ww_meter_out *out)
{
	const struct kind *k = m->kind >= 0 ? &kinds[m->kind] : NULL;
	char text[96];

	if (m->step == WHO)
		snprintf(text, sizeof(text), "GET /shelly");
	else if (m->step == STATUS || (k && !k->method))
		snprintf(text, sizeof(text), "GET /status");
	else if (m->step == LIST || !k || k->data)
		snprintf(text, sizeof(text), "GET /rpc/Shelly.GetStatus");
	else
		snprintf(text, sizeof(text), "GET /rpc/%s.GetStatus?id=%lld", k->method,
			 (long long)m->id);
	ww_plug_asked(&m->plug, now_ns, m->step == VALUES);
	out->send(out->ctx, text, strlen(text));
}

static void shelly_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct shelly *m = state;

	(void)out;
	m->step = WHO;
	m->sure = false;
	m->kind = -1;
	ww_plug_start(&m->plug, now_ns);
}

static void identify(const struct shelly *m, const struct ww_meter_out *out)
{
	out->identity(out->ctx, m->model[0] ? m->model : "Shelly", m->serial[0] ? m->serial : NULL,
		      m->firmware[0] ? m->firmware : NULL);
}

/* ---------------------------------------------------------------- its values */

/* Member of a component, "a_..." of the phase that is asked for. */
static bool member(const struct shelly *m, const struct ww_js *o, const char *key, double *v,
		   int *decimals)
{
	char name[32];

	if (!key)
		return false;
	snprintf(name, sizeof(name), "%s", key);
	if (name[0] == 'a' && name[1] == '_')
		name[0] = m->phase;
	return ww_js_num(o, name, v, decimals);
}

/* Where the kind has its counter: beside, inside, or in a component of its own. */
static const struct ww_js *energy_of(const struct shelly *m, const struct ww_js *answer,
				     const struct ww_js *part)
{
	const struct kind *k = &kinds[m->kind];
	char name[32];

	if (!k->method)
		return part;
	if (!k->data)
		return ww_js_get(part, "aenergy");
	snprintf(name, sizeof(name), "%s%lld", k->data, (long long)m->id);
	return ww_js_get(answer, name);
}

static void values(struct shelly *m, struct ww_interval t, const struct ww_js *answer,
		   const struct ww_js *part, const struct ww_meter_out *out)
{
	const struct kind *k = &kinds[m->kind];
	int64_t codes[WW_METER_CHANNELS];
	double v[CHANNELS];
	bool finer = false;

	for (size_t i = 0; i < CHANNELS; i++) {
		const struct ww_js *o = i == ENERGY ? energy_of(m, answer, part) : part;
		int decimals = 0;

		codes[i] = WW_MISSING;
		v[i] = (double)NAN;
		if (!member(m, o, k->key[i], &v[i], &decimals) ||
		    !ww_js_code(v[i], i == ENERGY ? k->energy_per : 1e3, &codes[i]))
			continue;
		finer |= ww_plug_seen(&m->plug, i, decimals);
	}
	if (ww_js_false(part, "is_valid")) {
		ww_plug_bad(&m->plug, t, "its meter has no valid value", out);
		return;
	}
	if (codes[POWER] == WW_MISSING) {
		ww_plug_bad(&m->plug, t, "there is no power in it", out);
		return;
	}
	ww_plug_check(&m->plug, t, v[POWER], v[VOLTAGE], v[CURRENT], &codes[CURRENT], out);
	ww_pace_register(&m->plug.pace, t, codes, ENERGY, 0, "x 1/60000 Wh", out);
	if (finer)
		identify(m, out);
	m->step = VALUES;
	ww_plug_good(&m->plug, t, codes, out);
}

static const struct ww_js *part_of(const struct shelly *m, const struct ww_js *answer)
{
	const struct kind *k = &kinds[m->kind];
	char name[32];

	if (!k->method)
		return ww_js_at(ww_js_get(answer, k->part), (size_t)m->id);
	if (!k->data && m->step == VALUES)
		return answer;
	snprintf(name, sizeof(name), "%s%lld", k->part, (long long)m->id);
	return ww_js_get(answer, name);
}

/* ------------------------------------------------------- what measures here */

/* Does component number id of a kind measure, by this answer? */
static bool measures(struct shelly *m, const struct ww_js *answer, int kind, int64_t id)
{
	struct shelly as = *m;
	const struct ww_js *part;
	double v;

	as.kind = kind;
	as.id = id;
	as.step = LIST;
	part = part_of(&as, answer);
	return member(&as, part, kinds[kind].key[POWER], &v, NULL);
}

/* The first kind that measures, and its number. False: it was given up, or says nothing yet. */
static bool choose(struct shelly *m, struct ww_interval t, const struct ww_js *answer, int from,
		   int to, const struct ww_meter_out *out)
{
	int64_t found = -1;
	unsigned n = 0;
	char list[96] = "";

	for (int k = from; k < to && !n; k++) {
		if (kinds[k].data && k < 2 && (k == 0) != (m->phase == NO_PHASE))
			continue;
		for (int64_t id = 0; id < 16; id++) {
			if (!measures(m, answer, k, id))
				continue;
			n++;
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%lld",
				 n > 1 ? ", " : "", (long long)id);
			if (found < 0 || id == m->id)
				found = id;
			m->kind = k;
		}
	}
	if (!n) {
		m->kind = -1;
		ww_plug_bad(&m->plug, t, "none of its parts measures power", out);
		return false;
	}
	if (m->id >= 0 ? found != m->id : n > 1) {
		ww_plug_fail(&m->plug, out, -EINVAL, "it measures %u thing%s (%.*s)%s: %s%s", n,
			     n == 1 ? "" : "s", (int)strcspn(kinds[m->kind].part, ":"),
			     kinds[m->kind].part, m->id >= 0 ? ", but not that one" : "",
			     n == 1 ? "leave ?id= out, or write ?id=" : "add ?id= with one of ",
			     list);
		return false;
	}
	m->id = found;
	return true;
}

static void copy(char *to, size_t size, const char *text)
{
	if (text)
		ww_plain(to, size, text, strlen(text));
}

/* /shelly: {"type":"SHPLG-S",...} or {"gen":2,"model":...}; needs no login. */
static bool who(struct shelly *m, const struct ww_js *j, const struct ww_meter_out *out)
{
	const char *type = ww_js_text(j, "type"), *model = ww_js_text(j, "model");
	double gen;
	bool later = ww_js_num(j, "gen", &gen, NULL);

	if (!type && !later)
		return false;
	copy(m->model, sizeof(m->model), later ? model : type);
	copy(m->serial, sizeof(m->serial), ww_js_text(j, "mac"));
	copy(m->firmware, sizeof(m->firmware), ww_js_text(j, later ? "ver" : "fw"));
	identify(m, out);
	m->step = later ? LIST : STATUS;
	m->sure = true;
	return true;
}

/* ------------------------------------------------------------------ the meter */

static void answered(struct shelly *m, struct ww_interval t, const struct ww_js *j,
		     const struct ww_meter_out *out)
{
	enum step was = m->step;

	if (m->step == WHO) {
		if (who(m, j, out)) {
			ask(m, t.hi_ns, out);
		} else {
			m->step = LIST;
			ww_plug_bad(&m->plug, t, "its /shelly is none of a Shelly", out);
		}
		return;
	}
	if (m->kind < 0 && !choose(m, t, j, was == LIST ? 0 : GEN1,
				   was == LIST ? GEN1 : (int)WW_COUNTOF(kinds), out)) {
		if (m->plug.phase != WW_PLUG_DEAD && !m->sure)
			m->step = was == LIST ? STATUS : WHO;
		return;
	}
	values(m, t, j, part_of(m, j), out);
}

static void shelly_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
			const struct ww_meter_out *out)
{
	struct shelly *m = state;
	const uint8_t *body;
	struct ww_js *j;
	size_t len;

	if (m->plug.phase != WW_PLUG_WAIT)
		return;
	if (!ww_plug_http(&m->plug, t, p, n, "Shelly", &body, &len, out)) {
		/* Not this way, perhaps another. */
		if (m->step != VALUES && !m->sure && n > 1 && p[0] != '0')
			m->step = m->step == WHO ? LIST : m->step == LIST ? STATUS : WHO;
		return;
	}
	j = ww_js_parse(body, len);
	if (j)
		answered(m, t, j, out);
	else
		ww_plug_bad(&m->plug, t, "it is no JSON of a Shelly", out);
	ww_js_free(j);
}

static int64_t shelly_deadline(const void *state)
{
	return ((const struct shelly *)state)->plug.deadline_ns;
}

static void shelly_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct shelly *m = state;

	if (ww_plug_tick(&m->plug, now_ns,
			 "Is it a Shelly that measures power, is it on, and is this its address?",
			 out))
		ask(m, now_ns, out);
}

static void shelly_stop(void *state, const struct ww_meter_out *out)
{
	struct shelly *m = state;

	(void)out;
	m->plug.phase = WW_PLUG_IDLE;
	m->plug.deadline_ns = WW_TIME_MAX;
}

static void shelly_channel(const void *state, size_t i, struct ww_channel_info *out);

/* Resolution until its digits are seen: the usual one, and no finer. */
/* clang-format off */
#define CH(n, q, u, sem, s, r)                                                                      \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = r, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */

const struct ww_meter_ops ww_meter_shelly = {
	.desc = {.name = "shelly",
		 .summary = "Shelly plugs, relays and meters of all generations, by HTTP (1 s)",
		 .example = "shelly:http://192.168.1.51",
		 .proven = false,
#ifndef WW_WITH_JANSSON
		 .left_out = true,
#endif
		 .needs = "jansson",
		 .buses = WW_BUS_HTTP,
		 .period_ns = WW_PLUG_DELAY_NS,
		 .window_ns = WW_PLUG_WINDOW_NS,
		 .delay_min_ns = 0,
		 .delay_max_ns = WW_PLUG_DELAY_NS,
		 .channels = USUAL,
		 .channel = {CH("power", "power", "W", WW_AVERAGE, 0.001, 0.1),
			     CH("voltage", "voltage", "V", WW_AVERAGE, 0.001, 0.1),
			     CH("current", "current", "A", WW_AVERAGE, 0.001, 0.001),
			     CH("energy", "energy", "Wh", WW_COUNTER, 1 / PER_WH, 0.1),
			     CH("power_factor", "power_factor", "1", WW_AVERAGE, 0.001, 0.01),
			     CH("apparent_power", "apparent_power", "VA", WW_AVERAGE, 0.001, 0.1),
			     CH("reactive_power", "other", "var", WW_AVERAGE, 0.001, 0.1),
			     CH("frequency", "frequency", "Hz", WW_AVERAGE, 0.001, 0.1)},
		 .state_size = sizeof(struct shelly)},
	.init = shelly_init,
	.shape = shelly_shape,
	.channel = shelly_channel,
	.start = shelly_start,
	.feed = shelly_feed,
	.deadline = shelly_deadline,
	.tick = shelly_tick,
	.stop = shelly_stop,
};

/* Models differ in their digits: as they are seen. */
static void shelly_channel(const void *state, size_t i, struct ww_channel_info *out)
{
	const struct shelly *m = state;
	double unit = 1;

	*out = ww_meter_shelly.desc.channel[i];
	if (m->kind < 0)
		return;
	if (i == ENERGY)
		unit = kinds[m->kind].energy_per / PER_WH;
	out->resolution = ww_plug_resolution(&m->plug, i, unit, out->resolution);
}

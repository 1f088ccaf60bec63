/* SPDX-License-Identifier: MIT */
/*
 * Plugs with Tasmota: GET /cm?cmnd=Status 8 (Status 10 is the same), the object ENERGY. Its
 * time stamp has no zone and is not used. Source: the firmware's documentation.
 */
#include "meter/json.h"
#include "meter/plug.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define REPLY_NS (8 * WW_NS_PER_S) /* the port's own time-out is shorter */
#define USUAL	 5
#define CHANNELS 8

enum step { VALUES, VALUES_10, FIRMWARE, NETWORK };
enum { POWER, VOLTAGE, CURRENT, ENERGY };

struct tasmota {
	struct ww_plug plug;
	enum step step;
	bool all;
	int64_t channel; /* of a unit that has several; 0 not said */
	char login[512]; /* "&user=...&password=..." */
	char firmware[48], serial[32];
};

/* Firmware gives as many digits as WattRes, VoltRes, AmpRes, EnergyRes say: at most these. */
static const struct {
	const char *key;
	double per; /* codes in its unit */
	double scale;
} fields[CHANNELS] = {
	{"Power", 1e3, 0.001},	       {"Voltage", 1e3, 0.001},	  {"Current", 1e3, 0.001},
	{"Total", 1e5, 0.01},	       {"Factor", 1e3, 0.001},	  {"ApparentPower", 1e3, 0.001},
	{"ReactivePower", 1e3, 0.001}, {"Frequency", 1e3, 0.001},
};

static void add_escaped(char *to, size_t size, const char *text)
{
	size_t n = strlen(to);

	for (; *text && n + 4 < size; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'))
			to[n++] = (char)c;
		else
			n += (size_t)snprintf(to + n, size - n, "%%%02X", c);
	}
	to[n] = '\0';
}

static int tasmota_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct tasmota *m = state;
	const char *user = ww_uri_get(options, "user", "admin");
	const char *password = ww_uri_get(options, "password", NULL);
	int64_t all = 0, channel = 0;

	if (ww_uri_int(options, "all", 0, 1, &all, err) < 0 ||
	    ww_uri_int(options, "channel", 1, 8, &channel, err) < 0)
		return -EINVAL;
	*m = (struct tasmota){.all = all != 0, .channel = channel};
	if (password && strlen(user) + strlen(password) > 128)
		return ww_fail(err, -EINVAL, "tasmota: user and password are too long");
	if (password) {
		snprintf(m->login, sizeof(m->login), "&user=");
		add_escaped(m->login, sizeof(m->login) - 16, user);
		strncat(m->login, "&password=", sizeof(m->login) - strlen(m->login) - 1);
		add_escaped(m->login, sizeof(m->login), password);
	}
	return ww_plug_init(&m->plug, "tasmota", m->all ? CHANNELS : USUAL, every_ns, REPLY_NS,
			    err);
}

static void tasmota_shape(const void *state, struct ww_meter_shape *s)
{
	const struct tasmota *m = state;

	s->channels = m->all ? CHANNELS : USUAL;
	s->period_ns = ww_pace_period(&m->plug.pace);
}

static void ask(struct tasmota *m, int64_t now_ns, const struct ww_meter_out *out)
{
	static const char *const what[] = {
		[VALUES] = "8", [VALUES_10] = "10", [FIRMWARE] = "2", [NETWORK] = "5"};
	char text[600];

	snprintf(text, sizeof(text), "GET /cm?cmnd=Status%%20%s%s", what[m->step], m->login);
	ww_plug_asked(&m->plug, now_ns, m->step == VALUES || m->step == VALUES_10);
	out->send(out->ctx, text, strlen(text));
}

static void tasmota_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct tasmota *m = state;

	(void)out;
	m->step = VALUES;
	ww_plug_start(&m->plug, now_ns);
}

static void identify(const struct tasmota *m, const struct ww_meter_out *out)
{
	out->identity(out->ctx, "Tasmota", m->serial[0] ? m->serial : NULL,
		      m->firmware[0] ? m->firmware : NULL);
}

/* One of several channels where the unit has such: its array, or what all of them share. */
static bool field(const struct tasmota *m, const struct ww_js *energy, size_t i, bool several,
		  double *v, int *decimals)
{
	const struct ww_js *x = ww_js_get(energy, fields[i].key);
	size_t n = ww_js_count(x), at = m->channel ? (size_t)m->channel - 1 : 0;

	if (n)
		return ww_js_value(ww_js_at(x, at), v, decimals);
	/* A total beside several powers is that of all. */
	if (several && (i == ENERGY || i == CURRENT))
		return false;
	return ww_js_value(x, v, decimals);
}

static void values(struct tasmota *m, struct ww_interval t, const struct ww_js *energy,
		   const struct ww_meter_out *out)
{
	int64_t codes[WW_METER_CHANNELS];
	size_t several = ww_js_count(ww_js_get(energy, "Power"));
	double v[CHANNELS];
	bool finer = false;

	for (size_t i = 0; i < CHANNELS; i++) {
		int decimals = 0;

		codes[i] = WW_MISSING;
		v[i] = (double)NAN;
		if (!field(m, energy, i, several > 1, &v[i], &decimals) ||
		    !ww_js_code(v[i], fields[i].per, &codes[i]))
			continue;
		finer |= ww_plug_seen(&m->plug, i, decimals);
	}
	if (codes[POWER] == WW_MISSING) {
		ww_plug_bad(&m->plug, t, "there is no power in it", out);
		return;
	}
	ww_plug_check(&m->plug, t, v[POWER], v[VOLTAGE], v[CURRENT], &codes[CURRENT], out);
	ww_pace_register(&m->plug.pace, t, codes, ENERGY, 0, "x 0.01 Wh", out);
	if (finer)
		identify(m, out);
	ww_plug_good(&m->plug, t, codes, out);
}

/* Before the first values: is it the right one? false: it was given up. */
static bool suits(struct tasmota *m, const struct ww_js *energy, const struct ww_meter_out *out)
{
	const struct ww_js *power = ww_js_get(energy, "Power");
	size_t n = ww_js_count(power);

	if (m->plug.known)
		return true;
	if (!energy || !power) {
		ww_plug_fail(&m->plug, out, -ENODEV,
			     "this Tasmota measures no power (its Status 8 has no %s): set the "
			     "right Module or Template in its web page, or use another plug",
			     energy ? "Power" : "ENERGY");
		return false;
	}
	if (n > 1 && !m->channel) {
		ww_plug_fail(&m->plug, out, -EINVAL,
			     "this unit has %zu channels: add ?channel=1 to ?channel=%zu", n, n);
		return false;
	}
	if (m->channel > (int64_t)(n ? n : 1)) {
		ww_plug_fail(&m->plug, out, -EINVAL, "?channel=%lld: this unit has %zu",
			     (long long)m->channel, n ? n : 1);
		return false;
	}
	return true;
}

static void got_values(struct tasmota *m, struct ww_interval t, const struct ww_js *j,
		       const struct ww_meter_out *out)
{
	const struct ww_js *sns = ww_js_get(j, "StatusSNS");
	const struct ww_js *energy = ww_js_get(sns, "ENERGY");
	bool first = !m->plug.known;

	if (!sns && ww_js_text(j, "WARNING") && !m->plug.known) {
		ww_plug_fail(&m->plug, out, -EACCES,
			     "it wants a login: add ?user=admin&password=WORD (the web password)");
		return;
	}
	if (!sns && first && m->step == VALUES) {
		/* Old firmware has the values under the other number. */
		m->step = VALUES_10;
		ask(m, t.hi_ns, out);
		return;
	}
	if (!sns && first) {
		ww_plug_fail(&m->plug, out, -ENODEV,
			     "what answers is no Tasmota with a meter: no StatusSNS in its answer");
		return;
	}
	if (!suits(m, energy, out))
		return;
	values(m, t, energy, out);
	if (first && m->plug.known)
		m->step = FIRMWARE;
}

static void got_name(struct tasmota *m, struct ww_interval t, const struct ww_js *j,
		     const struct ww_meter_out *out)
{
	const char *version = ww_js_text(ww_js_get(j, "StatusFWR"), "Version");
	const char *mac = ww_js_text(ww_js_get(j, "StatusNET"), "Mac");

	if (version)
		ww_plain(m->firmware, sizeof(m->firmware), version, strlen(version));
	if (mac)
		ww_plain(m->serial, sizeof(m->serial), mac, strlen(mac));
	if (m->step == FIRMWARE) {
		m->step = NETWORK;
		ask(m, t.hi_ns, out);
		return;
	}
	m->step = VALUES;
	identify(m, out);
	ww_plug_rest(&m->plug, t.hi_ns);
}

static void tasmota_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
			 const struct ww_meter_out *out)
{
	struct tasmota *m = state;
	const uint8_t *body;
	struct ww_js *j;
	size_t len;

	if (m->plug.phase != WW_PLUG_WAIT)
		return;
	if (m->step == FIRMWARE || m->step == NETWORK) {
		/* Its name is worth one question each, and no loss. */
		bool ok = n > 4 && memcmp(p, "200\n", 4) == 0;

		j = ok ? ww_js_parse(p + 4, n - 4) : NULL;
		got_name(m, t, j, out);
		ww_js_free(j);
		return;
	}
	if (!ww_plug_http(&m->plug, t, p, n, "Tasmota", &body, &len, out))
		return;
	j = ww_js_parse(body, len);
	if (j)
		got_values(m, t, j, out);
	else
		ww_plug_bad(&m->plug, t, "it is no JSON of a Tasmota", out);
	ww_js_free(j);
}

static int64_t tasmota_deadline(const void *state)
{
	return ((const struct tasmota *)state)->plug.deadline_ns;
}

static void tasmota_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct tasmota *m = state;
	bool naming = m->step == FIRMWARE || m->step == NETWORK;

	if (naming && m->plug.phase == WW_PLUG_WAIT && now_ns >= m->plug.deadline_ns)
		m->step = VALUES;
	if (ww_plug_tick(&m->plug, now_ns,
			 "Is it a plug with Tasmota, is it on, and is this its address?", out))
		ask(m, now_ns, out);
}

static void tasmota_stop(void *state, const struct ww_meter_out *out)
{
	struct tasmota *m = state;

	(void)out;
	m->plug.phase = WW_PLUG_IDLE;
	m->plug.deadline_ns = WW_TIME_MAX;
}

static void tasmota_channel(const void *state, size_t i, struct ww_channel_info *out);

/* Resolution until its digits are seen: the usual one, and no finer. */
/* clang-format off */
#define CH(n, q, u, sem, s, r)                                                                      \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = r, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */

const struct ww_meter_ops ww_meter_tasmota = {
	.desc = {.name = "tasmota",
		 .summary = "plugs with Tasmota, by their web server (1 s, digits by WattRes)",
		 .example = "tasmota:http://192.168.1.50",
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
		 .channel = {CH("power", "power", "W", WW_AVERAGE, 0.001, 1),
			     CH("voltage", "voltage", "V", WW_AVERAGE, 0.001, 1),
			     CH("current", "current", "A", WW_AVERAGE, 0.001, 0.001),
			     CH("energy", "energy", "Wh", WW_COUNTER, 0.01, 1),
			     CH("power_factor", "power_factor", "1", WW_AVERAGE, 0.001, 0.01),
			     CH("apparent_power", "apparent_power", "VA", WW_AVERAGE, 0.001, 1),
			     CH("reactive_power", "other", "var", WW_AVERAGE, 0.001, 1),
			     CH("frequency", "frequency", "Hz", WW_AVERAGE, 0.001, 1)},
		 .state_size = sizeof(struct tasmota)},
	.init = tasmota_init,
	.shape = tasmota_shape,
	.channel = tasmota_channel,
	.start = tasmota_start,
	.feed = tasmota_feed,
	.deadline = tasmota_deadline,
	.tick = tasmota_tick,
	.stop = tasmota_stop,
};

/* Its digits are those it was set to: as they are seen. */
static void tasmota_channel(const void *state, size_t i, struct ww_channel_info *out)
{
	const struct tasmota *m = state;

	double unit;

	*out = ww_meter_tasmota.desc.channel[i];
	unit = out->scale * fields[i].per; /* of what its JSON counts in */
	/* It always prints the digits that it was set to: a whole number has none. */
	if (m->plug.decimals[i] == 0)
		out->resolution = unit;
	else
		out->resolution = ww_plug_resolution(&m->plug, i, unit, out->resolution);
}

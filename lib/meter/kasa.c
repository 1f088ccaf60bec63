/* SPDX-License-Identifier: MIT */
/*
 * TP-Link Kasa plugs and strips of the older firmware: TCP port 9999, four bytes of length,
 * then JSON, each byte XORed with the one before it. A connection for each answer:
 * some hang up by themselves, and two at a time are more than they bear. Source: public
 * captures of many models.
 */
#include "meter/json.h"
#include "meter/plug.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define REPLY_NS (2 * WW_NS_PER_S)
#define FRAME	 16384
#define CHANNELS 4
#define KEY	 171

enum field { POWER, VOLTAGE, CURRENT, ENERGY };

struct kasa {
	struct ww_plug plug;
	bool named;	      /* it has told what it is */
	char which[64];	      /* ?plug=: number from 1, or name; "" not said */
	char child[96];	      /* id of a strip's socket; "" none */
	struct ww_interval t; /* of the answer's first byte */
	size_t n;
	uint8_t in[FRAME];
};

/* Hardware 1 counts in W, V, A and kWh with a point, later ones in whole thousandths. */
static const struct {
	const char *whole, *milli;
	double scale; /* of our codes, in our unit */
	double unit;  /* of `whole` in our unit */
} fields[CHANNELS] = {
	{"power", "power_mw", 1e-6, 1},
	{"voltage", "voltage_mv", 1e-6, 1},
	{"current", "current_ma", 1e-6, 1},
	{"total", "total_wh", 1e-3, 1000},
};

static int kasa_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct kasa *m = state;
	const char *which = ww_uri_get(options, "plug", "");

	if (strlen(which) >= sizeof(m->which))
		return ww_fail(err, -EINVAL, "kasa: plug=: a number from 1, or a name");
	*m = (struct kasa){.named = false};
	snprintf(m->which, sizeof(m->which), "%s", which);
	return ww_plug_init(&m->plug, "kasa", CHANNELS, every_ns, REPLY_NS, err);
}

static void kasa_shape(const void *state, struct ww_meter_shape *s)
{
	s->period_ns = ww_pace_period(&((const struct kasa *)state)->plug.pace);
}

static void send_json(const char *text, const struct ww_meter_out *out)
{
	uint8_t frame[256], key = KEY;
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		frame[4 + i] = key = (uint8_t)text[i] ^ key;
	frame[0] = frame[1] = 0;
	frame[2] = (uint8_t)(n >> 8);
	frame[3] = (uint8_t)n;
	out->send(out->ctx, frame, n + 4);
}

static void hang_up(const struct ww_meter_out *out)
{
	out->send(out->ctx, "", 0);
}

static void ask(struct kasa *m, int64_t now_ns, const struct ww_meter_out *out)
{
	char text[250];

	m->n = 0;
	ww_plug_asked(&m->plug, now_ns, m->named);
	if (!m->named)
		snprintf(text, sizeof(text), "{\"system\":{\"get_sysinfo\":{}}}");
	else if (m->child[0])
		snprintf(text, sizeof(text),
			 "{\"context\":{\"child_ids\":[\"%s\"]},\"emeter\":{\"get_realtime\":{}}}",
			 m->child);
	else
		snprintf(text, sizeof(text), "{\"emeter\":{\"get_realtime\":{}}}");
	send_json(text, out);
}

static void kasa_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct kasa *m = state;

	(void)out;
	m->named = false;
	ww_plug_start(&m->plug, now_ns);
}

/* ----------------------------------------------------------------- who it is */

/* Of letters and digits, as all of theirs are: it goes back into a question. */
static bool take_id(struct kasa *m, const char *device, const char *id)
{
	size_t n;

	/* Some strips tell the end alone. */
	if (strlen(id) < 4)
		n = (size_t)snprintf(m->child, sizeof(m->child), "%s%s", device ? device : "", id);
	else
		n = (size_t)snprintf(m->child, sizeof(m->child), "%s", id);
	for (size_t i = 0; i < n && i < sizeof(m->child); i++) {
		char c = m->child[i], low = (char)(c | 32);

		if (!ww_is_digit(c) && c != '_' && (low < 'a' || low > 'z'))
			return false;
	}
	return n && n < sizeof(m->child);
}

/* The sockets of a strip by number and name, for people. */
static void list_children(const struct ww_js *children, char *out, size_t size)
{
	size_t k = 0;

	*out = '\0';
	for (size_t i = 0; i < ww_js_count(children) && k + 48 < size; i++) {
		const char *alias = ww_js_text(ww_js_at(children, i), "alias");
		char name[24];

		ww_plain(name, sizeof(name), alias ? alias : "", strlen(alias ? alias : ""));
		k += (size_t)snprintf(out + k, size - k, "%s%zu '%s'", i ? ", " : "", i + 1, name);
	}
}

/* false: given up. */
static bool choose_child(struct kasa *m, const struct ww_js *info, const struct ww_meter_out *out)
{
	const struct ww_js *children = ww_js_get(info, "children");
	size_t n = ww_js_count(children), number = strspn(m->which, "0123456789");
	char list[300];

	if (n < 2 && !m->which[0])
		return true;
	number = !m->which[number] ? strtoul(m->which, NULL, 10) : 0;
	if (!n && number == 1)
		return true;
	for (size_t i = 0; i < n && m->which[0]; i++) {
		const char *id = ww_js_text(ww_js_at(children, i), "id");
		const char *alias = ww_js_text(ww_js_at(children, i), "alias");

		if (id && (number == i + 1 || (alias && strcmp(alias, m->which) == 0)) &&
		    take_id(m, ww_js_text(info, "deviceId"), id))
			return true;
	}
	list_children(children, list, sizeof(list));
	ww_plug_fail(&m->plug, out, -EINVAL, "%s: add ?plug= with a number or a name of: %s",
		     m->which[0] ? "it has no such socket" : "this is a strip of several sockets",
		     n ? list : "1");
	return false;
}

static void named(struct kasa *m, struct ww_interval t, const struct ww_js *answer,
		  const struct ww_meter_out *out)
{
	const struct ww_js *info = ww_js_get(ww_js_get(answer, "system"), "get_sysinfo");
	const char *text[3] = {ww_js_text(info, "model"), ww_js_text(info, "deviceId"),
			       ww_js_text(info, "sw_ver")};
	char plain[3][64];

	if (!info) {
		ww_plug_bad(&m->plug, t, "it does not tell what it is (no get_sysinfo)", out);
		return;
	}
	if (!choose_child(m, info, out))
		return;
	for (size_t i = 0; i < 3; i++)
		ww_plain(plain[i], sizeof(plain[i]), text[i] ? text[i] : "",
			 strlen(text[i] ? text[i] : ""));
	out->identity(out->ctx, text[0] ? plain[0] : "Kasa", text[1] ? plain[1] : NULL,
		      text[2] ? plain[2] : NULL);
	m->named = true;
	ask(m, t.hi_ns, out);
}

/* ------------------------------------------------------------------- readings */

static bool field(struct kasa *m, const struct ww_js *r, size_t i, int64_t *code, bool *finer)
{
	double v;
	int decimals;

	*code = WW_MISSING;
	if (ww_js_num(r, fields[i].whole, &v, &decimals))
		v *= fields[i].unit;
	else if (ww_js_num(r, fields[i].milli, &v, &decimals))
		v *= fields[i].unit / 1000, decimals += 3;
	else
		return false;
	if (!ww_js_code(v, 1 / fields[i].scale, code))
		return false;
	*finer |= ww_plug_seen(&m->plug, i, decimals);
	return true;
}

static void values(struct kasa *m, struct ww_interval t, const struct ww_js *answer,
		   const struct ww_meter_out *out)
{
	const struct ww_js *emeter = ww_js_get(answer, "emeter");
	const struct ww_js *r = ww_js_get(emeter, "get_realtime");
	int64_t codes[WW_METER_CHANNELS];
	double code = 0;
	bool finer = false;

	if ((ww_js_num(r ? r : emeter, "err_code", &code, NULL) && code != 0) || !r) {
		if (m->plug.known || (!r && !emeter))
			ww_plug_bad(&m->plug, t, "an error instead of values", out);
		else
			ww_plug_fail(&m->plug, out, -ENODEV,
				     "this one has no energy meter (err_code %d): HS110, KP115, "
				     "HS300 and EP25 have one",
				     (int)code);
		return;
	}
	for (size_t i = 0; i < CHANNELS; i++)
		field(m, r, i, &codes[i], &finer);
	if (codes[POWER] == WW_MISSING) {
		ww_plug_bad(&m->plug, t, "there is no power in it", out);
		return;
	}
	if (codes[VOLTAGE] != WW_MISSING && codes[CURRENT] != WW_MISSING)
		ww_plug_check(&m->plug, t, (double)codes[POWER] * fields[POWER].scale,
			      (double)codes[VOLTAGE] * fields[VOLTAGE].scale,
			      (double)codes[CURRENT] * fields[CURRENT].scale, &codes[CURRENT], out);
	ww_pace_register(&m->plug.pace, t, codes, ENERGY, 0, "mWh", out);
	if (finer)
		out->identity(out->ctx, NULL, NULL, NULL);
	ww_plug_good(&m->plug, t, codes, out);
}

/* A whole answer of n bytes behind its length. */
static void answered(struct kasa *m, size_t n, const struct ww_meter_out *out)
{
	struct ww_js *j;
	uint8_t key = KEY;

	for (size_t i = 4; i < 4 + n; i++) {
		uint8_t c = m->in[i];

		m->in[i] = c ^ key;
		key = c;
	}
	m->n = 0;
	hang_up(out);
	j = ww_js_parse(m->in + 4, n);
	if (!j)
		ww_plug_bad(&m->plug, m->t, "it is no JSON of a Kasa plug", out);
	else if (m->named)
		values(m, m->t, j, out);
	else
		named(m, m->t, j, out);
	ww_js_free(j);
}

static void kasa_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		      const struct ww_meter_out *out)
{
	struct kasa *m = state;
	static const char gone[] = "it hangs up";
	char why[WW_PLUG_WHY], begin[48];
	size_t len;

	if (!n && m->plug.phase == WW_PLUG_WAIT) {
		m->n = 0;
		ww_plug_silent(&m->plug, t, gone, strlen(gone), out);
	}
	/* What comes without a question, or behind the answer, belongs to nobody. */
	for (size_t i = 0; i < n && m->plug.phase == WW_PLUG_WAIT; i++) {
		if (!m->n)
			m->t = t;
		m->in[m->n++] = p[i];
		if (m->n < 4)
			continue;
		len = (size_t)m->in[2] << 8 | m->in[3];
		if (m->in[0] || m->in[1] || len > FRAME - 4 || len < 2) {
			ww_plain(begin, sizeof(begin), (const char *)m->in, 4);
			snprintf(why, sizeof(why),
				 "it begins with \"%s\" and no length of a Kasa plug", begin);
			hang_up(out);
			ww_plug_bad(&m->plug, m->t, why, out);
			return;
		}
		if (m->n == len + 4) {
			answered(m, len, out);
			return;
		}
	}
}

static int64_t kasa_deadline(const void *state)
{
	return ((const struct kasa *)state)->plug.deadline_ns;
}

static void kasa_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct kasa *m = state;

	/* An answer that comes later must not be taken for the next one. */
	if (m->plug.phase == WW_PLUG_WAIT && now_ns >= m->plug.deadline_ns)
		hang_up(out);
	if (ww_plug_tick(&m->plug, now_ns,
			 "Plugs with later firmware (KLAP, on port 80) and Tapo do not answer on "
			 "port 9999 and are not supported: take one with older firmware, with "
			 "Tasmota, or a Shelly",
			 out))
		ask(m, now_ns, out);
}

static void kasa_stop(void *state, const struct ww_meter_out *out)
{
	struct kasa *m = state;

	(void)out;
	m->plug.phase = WW_PLUG_IDLE;
	m->plug.deadline_ns = WW_TIME_MAX;
}

static void kasa_channel(const void *state, size_t i, struct ww_channel_info *out);

/* Resolution until its digits are seen: the usual one, and no finer. */
/* clang-format off */
#define CH(n, q, u, sem, s, r)                                                                      \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = r, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */

const struct ww_meter_ops ww_meter_kasa = {
	.desc = {.name = "kasa",
		 .summary = "Kasa HS110, KP115, HS300, EP25 of older firmware (port 9999, 1 s)",
		 .example = "kasa:tcp://192.168.1.52:9999",
		 .proven = false,
#ifndef WW_WITH_JANSSON
		 .left_out = true,
#endif
		 .needs = "jansson",
		 .reconnect = true,
		 .period_ns = WW_PLUG_DELAY_NS,
		 .window_ns = WW_PLUG_WINDOW_NS,
		 .delay_min_ns = 0,
		 .delay_max_ns = WW_PLUG_DELAY_NS,
		 .channels = CHANNELS,
		 .channel = {CH("power", "power", "W", WW_AVERAGE, 1e-6, 1e-3),
			     CH("voltage", "voltage", "V", WW_AVERAGE, 1e-6, 1e-3),
			     CH("current", "current", "A", WW_AVERAGE, 1e-6, 1e-3),
			     CH("energy", "energy", "Wh", WW_COUNTER, 1e-3, 1)},
		 .state_size = sizeof(struct kasa)},
	.init = kasa_init,
	.shape = kasa_shape,
	.channel = kasa_channel,
	.start = kasa_start,
	.feed = kasa_feed,
	.deadline = kasa_deadline,
	.tick = kasa_tick,
	.stop = kasa_stop,
};

static void kasa_channel(const void *state, size_t i, struct ww_channel_info *out)
{
	const struct kasa *m = state;

	*out = ww_meter_kasa.desc.channel[i];
	out->resolution = ww_plug_resolution(&m->plug, i, fields[i].unit, out->resolution);
}

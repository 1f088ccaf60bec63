/* SPDX-License-Identifier: MIT */
/*
 * Kasa plugs and strips: length, then JSON that is XORed with the byte before it.
 * Source: public captures of the protocol on TCP port 9999.
 */
#include "../emu.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FRAME 2048
#define ID    "8006C0FFEE00112233445566778899AABBCCDDEE"

struct kasa {
	struct emu_setup setup;
	int64_t began_ns; /* 0: not yet */
	uint8_t in[FRAME];
	size_t n;
	unsigned answers;
	bool wedged;
};

/*
 * hw1           floats in A, W, kWh, V
 * hs300         a strip of six: each socket is named by child_ids, the load is on the third
 * noemeter      err_code -1: this plug has no meter
 * newname       sysinfo of later firmware: "mic_type", "MIC"
 * close         the socket closes after each answer
 * closefirst    ... before each answer
 * split         the answer comes in pieces of 7 bytes, 3 ms apart
 * slow          the answer takes 1.5 s
 * late          every third answer takes 8 s
 * silent        no answer at all
 * mute          after five answers no more
 * garbage       bytes at random
 * hugelength    a length of 2 GB before the answer
 * badjson       the JSON ends too early
 * plain         the JSON is not XORed
 * missing       no power in the answer: not 0 W
 * nulls         "power_mw":null
 * strings       "power_mw":"12"
 * negative      power below zero
 * flood         a thousand answers to one question
 */
static const char faults[] = "hw1 hs300 noemeter newname close closefirst split slow late silent "
			     "mute garbage hugelength badjson plain missing nulls strings negative "
			     "flood";

static bool has(const struct kasa *k, const char *fault)
{
	return k->setup.fault && strcmp(k->setup.fault, fault) == 0;
}

static int kasa_init(void *state, const struct emu_setup *s)
{
	struct kasa *k = state;

	k->setup = *s;
	k->began_ns = INT64_MIN;
	return !s->fault || !*s->fault || emu_has(faults, s->fault) ? 0 : -1;
}

static double register_wh(const struct kasa *k, int64_t now)
{
	double mid;

	if (k->began_ns == INT64_MIN || now < k->began_ns)
		return k->setup.wh;
	mid = emu_watts(&k->setup, k->began_ns + (now - k->began_ns) / 2);
	return k->setup.wh + mid * (double)(now - k->began_ns) / 3600e9;
}

/* Its values are renewed once a second. */
static int64_t measured_at(const struct kasa *k, int64_t now)
{
	return k->began_ns == INT64_MIN ? now : now - (now - k->began_ns) % EMU_S;
}

static void kasa_truth(const void *state, int64_t now, double out[4])
{
	const struct kasa *k = state;
	int64_t at = measured_at(k, now);

	out[0] = k->setup.volts;
	out[1] = emu_amps(&k->setup, at);
	out[2] = emu_watts(&k->setup, at) * (has(k, "negative") ? -1 : 1);
	out[3] = register_wh(k, at);
}

struct text {
	char p[FRAME];
	size_t n;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->p + t->n, sizeof(t->p) - t->n, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(t->p) - t->n)
		t->n += (size_t)n;
}

static void add_values(struct text *t, const struct kasa *k, int64_t now, int slot)
{
	double v[4];

	kasa_truth(k, now, v);
	if (slot >= 0 && slot != 2)
		v[1] = v[2] = v[3] = 0;
	if (slot >= 0)
		add(t, "\"slot_id\":%d,", slot);
	if (has(k, "hw1")) {
		add(t, "\"current\":%.6f,\"voltage\":%.6f,\"power\":%.6f,\"total\":%.6f", v[1],
		    v[0], v[2], v[3] / 1000);
		return;
	}
	add(t, "\"current_ma\":%.0f,\"voltage_mv\":%.0f", v[1] * 1e3, v[0] * 1e3);
	if (has(k, "nulls"))
		add(t, ",\"power_mw\":null");
	else if (has(k, "strings"))
		add(t, ",\"power_mw\":\"%.0f\"", v[2] * 1e3);
	else if (!has(k, "missing"))
		add(t, ",\"power_mw\":%.0f", v[2] * 1e3);
	add(t, ",\"total_wh\":%.0f", floor(v[3]));
}

/* The socket that the question names by the last two digits of its id; -1: none. */
static int asked_slot(const char *question)
{
	const char *p = strstr(question, "\"child_ids\"");
	const char *end = p ? strchr(p, ']') : NULL;

	while (end && end > p && *end != '"')
		end--;
	if (!end || end - p < 14 || end[-2] != '0' || end[-1] < '0' || end[-1] > '5')
		return -1;
	return end[-1] - '0';
}

static void add_emeter(struct text *t, const struct kasa *k, int64_t now, const char *question)
{
	bool strip = has(k, "hs300");
	int slot = strip ? asked_slot(question) : -1;

	if (has(k, "noemeter") || (strip && slot < 0)) {
		add(t, "\"emeter\":{\"err_code\":-1,\"err_msg\":\"module not support\"}");
		return;
	}
	add(t, "\"emeter\":{\"get_realtime\":{");
	add_values(t, k, now, slot);
	add(t, ",\"err_code\":0}}");
}

static void add_sysinfo(struct text *t, const struct kasa *k)
{
	bool strip = has(k, "hs300");
	const char *id = k->setup.serial ? k->setup.serial : ID;

	add(t, "\"system\":{\"get_sysinfo\":{\"sw_ver\":\"1.5.6 Build 191125 Rel.083657\",");
	add(t, "\"hw_ver\":\"%s\",\"model\":\"%s\",", has(k, "hw1") ? "1.0" : "2.0",
	    strip ? "HS300(US)" : "HS110(EU)");
	add(t, "\"%s\":\"IOT.SMARTPLUGSWITCH\",", has(k, "newname") ? "mic_type" : "type");
	add(t, "\"deviceId\":\"%s\",\"alias\":\"bench\",\"feature\":\"TIM%s\",", id,
	    has(k, "noemeter") ? "" : ":ENE");
	if (strip) {
		add(t, "\"children\":[");
		for (int i = 0; i < 6; i++)
			add(t, "%s{\"id\":\"%s%02d\",\"state\":1,\"alias\":\"Plug %d\"}",
			    i ? "," : "", id, i, i + 1);
		add(t, "],\"child_num\":6,");
	}
	add(t, "\"relay_state\":1,\"led_off\":0,\"rssi\":-52,\"err_code\":0}}");
}

/* Out it goes, as its fault wants. */
static void answer(struct kasa *k, int64_t at, struct text *t, const struct emu_out *out)
{
	uint8_t frame[FRAME + 4], key = 171;
	size_t n = t->n + 4, piece = has(k, "split") ? 7 : n;

	if (has(k, "badjson"))
		n -= 9;
	frame[0] = has(k, "hugelength") ? 0x7f : 0;
	frame[1] = 0;
	frame[2] = (uint8_t)((n - 4) >> 8);
	frame[3] = (uint8_t)(n - 4);
	for (size_t i = 4; i < n; i++) {
		key = (uint8_t)t->p[i - 4] ^ key;
		frame[i] = has(k, "plain") ? (uint8_t)t->p[i - 4] : key;
	}
	if (has(k, "garbage"))
		for (size_t i = 0; i < n; i++)
			frame[i] = (uint8_t)emu_random(&k->setup.seed);
	for (int again = has(k, "flood") ? 1000 : 1; again; again--)
		for (size_t i = 0; i < n; i += piece, at += i < n && piece == 7 ? 3 * EMU_MS : 0)
			out->send(out->ctx, at, frame + i, n - i < piece ? n - i : piece);
	if (has(k, "close") && out->hangup)
		out->hangup(out->ctx, at);
}

static void asked(struct kasa *k, int64_t now, const char *question, const struct emu_out *out)
{
	int64_t at = now + 20 * EMU_MS;
	struct text t = {.n = 0};

	k->answers++;
	if (has(k, "silent") || (has(k, "mute") && k->answers > 5))
		return;
	if (has(k, "closefirst")) {
		if (out->hangup)
			out->hangup(out->ctx, at);
		return;
	}
	if (has(k, "slow"))
		at = now + 1500 * EMU_MS;
	if (has(k, "late") && k->answers % 3 == 0)
		at = now + 8 * EMU_S;
	add(&t, "{");
	if (strstr(question, "get_sysinfo"))
		add_sysinfo(&t, k);
	if (strstr(question, "get_realtime")) {
		add(&t, "%s", t.n > 1 ? "," : "");
		add_emeter(&t, k, now, question);
	}
	if (t.n == 1)
		add(&t, "\"err_code\":-1,\"err_msg\":\"module not support\"");
	add(&t, "}");
	answer(k, at, &t, out);
}

static void take_off(uint8_t *to, const uint8_t *from, size_t n)
{
	uint8_t key = 171;

	for (size_t i = 0; i < n; i++) {
		uint8_t c = from[i];

		to[i] = c ^ key;
		key = c;
	}
	to[n] = '\0';
}

/* Whole frames are answered; what is none makes it deaf until the next connection. */
static void kasa_host(void *state, int64_t now, const uint8_t *p, size_t n,
		      const struct emu_out *out)
{
	struct kasa *k = state;

	if (k->began_ns == INT64_MIN)
		k->began_ns = now;
	for (; n && !k->wedged; p++, n--) {
		size_t len;

		k->in[k->n++] = *p;
		if (k->n < 4)
			continue;
		len = (size_t)k->in[2] << 8 | k->in[3];
		k->wedged = k->in[0] || k->in[1] || len > FRAME - 8;
		if (k->wedged || k->n < len + 4)
			continue;
		take_off(k->in, k->in + 4, len);
		k->n = 0;
		asked(k, now, (const char *)k->in, out);
	}
}

static void kasa_opened(void *state, int64_t now)
{
	struct kasa *k = state;

	(void)now;
	k->n = 0;
	k->wedged = false;
}

const struct emu_model emu_kasa = {
	.name = "kasa",
	.faults = faults,
	.wire = EMU_STREAM,
	.state_size = sizeof(struct kasa),
	.init = kasa_init,
	.host = kasa_host,
	.truth = kasa_truth,
	.opened = kasa_opened,
};

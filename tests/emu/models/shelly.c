/* SPDX-License-Identifier: MIT */
/*
 * Shelly plugs and meters, asked over HTTP. Sources: the maker's API pages and
 * captures of real units. Which one it is, is a word among the faults: gen1 (a Plug
 * S), em (a Gen1 EM, two inputs), pm1 (a PM Mini Gen3), em3 (a Pro 3EM), em1 (a Pro EM),
 * else a Plus Plug S.
 *
 * Beside the faults of web.h: invalid (is_valid false), missing (a relay that does not
 * measure: no apower, no meters), integers (2 instead of 2.0), insensitive (0 A below 10 mA),
 * nocurrent (no key of it).
 */
#include "web.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FAULTS                                                                                     \
	WEB_FAULTS                                                                                 \
	" gen1 em pm1 em3 em1 invalid missing integers insensitive nocurrent"

static int shelly_init(void *state, const struct emu_setup *s)
{
	return web_init(state, s, FAULTS);
}

/* "2.7", or "3" of a firmware that leaves out what is no fraction. */
static const char *num(const struct web *w, char *buf, double v, int decimals)
{
	if (web_fault(w, "integers"))
		snprintf(buf, 40, "%.0f", v);
	else
		snprintf(buf, 40, "%.*f", decimals, v);
	return buf;
}

static const char *mac(const struct web *w)
{
	return w->s.serial && *w->s.serial ? w->s.serial : "AABBCCDDEEFF";
}

/* ------------------------------------------------------------------ Gen1 */

/* The total counts watt-minutes, the counters are the means of the last three minutes. */
static void plug_meters(struct web *w, int64_t now, char *out, size_t n)
{
	double v[4];
	char p[40], c[40];

	web_shown(w, now, v);
	num(w, p, v[2], 2);
	num(w, c, v[2], 3);
	snprintf(out, n,
		 "\"meters\":[{\"power\":%s,\"overpower\":0.0,\"is_valid\":%s,"
		 "\"timestamp\":%lld,\"counters\":[%s,%s,%s],\"total\":%.0f}]",
		 p, web_fault(w, "invalid") ? "false" : "true",
		 (long long)(1707335841 + now / EMU_S), c, c, c, floor(v[3] * 60));
}

static void em_meters(struct web *w, int64_t now, char *out, size_t n)
{
	double v[4], pf;
	char a[3][40];

	web_shown(w, now, v);
	pf = v[0] * v[1] > 0 ? v[2] / (v[0] * v[1]) : 0;
	num(w, a[0], v[2], 2);
	num(w, a[1], v[0], 2);
	num(w, a[2], v[3], 1);
	snprintf(out, n,
		 "\"emeters\":[{\"power\":%s,\"reactive\":0.0,\"pf\":%.2f,\"voltage\":%s,"
		 "\"is_valid\":%s,\"total\":%s,\"total_returned\":0.0},"
		 "{\"power\":0.0,\"reactive\":0.0,\"pf\":0.0,\"voltage\":%s,\"is_valid\":true,"
		 "\"total\":0.0,\"total_returned\":0.0}]",
		 a[0], pf, a[1], web_fault(w, "invalid") ? "false" : "true", a[2], a[1]);
}

static void gen1(struct web *w, int64_t now, const struct emu_out *out, const char *path)
{
	bool em = web_fault(w, "em");
	char meters[700] = "", text[1600];

	if (em)
		em_meters(w, now, meters, sizeof(meters));
	else
		plug_meters(w, now, meters, sizeof(meters));
	if (web_fault(w, "missing"))
		snprintf(meters, sizeof(meters), "\"meters\":[]");
	if (strcmp(path, "/shelly") == 0)
		snprintf(text, sizeof(text),
			 "{\"type\":\"%s\",\"mac\":\"%s\",\"auth\":%s,\"fw\":"
			 "\"20230913-113421/v1.14.0-gcb84623\",\"discoverable\":true,"
			 "\"num_outputs\":1,\"num_meters\":1}",
			 em ? "SHEM" : "SHPLG-S", mac(w), web_fault(w, "401") ? "true" : "false");
	else if (strcmp(path, "/status") == 0)
		snprintf(text, sizeof(text),
			 "{\"wifi_sta\":{\"connected\":true,\"rssi\":-76},\"cloud\":{\"enabled\":"
			 "false},\"time\":\"19:57\",\"unixtime\":1707332241,\"serial\":16,"
			 "\"mac\":\"%s\",\"relays\":[{\"ison\":true,\"source\":\"http\"}],%s,"
			 "\"temperature\":24.14,\"uptime\":2589909}",
			 mac(w), meters);
	else
		snprintf(text, sizeof(text), "Not Found");
	web_answer(w, now, out, text[0] == '{' ? 200 : 404, text);
}

/* ---------------------------------------------------------------- Gen2 and later */

static void switch_text(struct web *w, int64_t now, char *out, size_t n)
{
	double v[4];
	char a[4][40], amps[64];

	web_shown(w, now, v);
	if (web_fault(w, "insensitive") && v[1] < 0.01)
		v[1] = 0;
	if (web_fault(w, "missing")) {
		snprintf(out, n,
			 "{\"id\":0,\"source\":\"init\",\"output\":true,"
			 "\"temperature\":{\"tC\":32.1,\"tF\":89.7}}");
		return;
	}
	snprintf(amps, sizeof(amps), "\"current\":%s,", num(w, a[0], v[1], 3));
	snprintf(out, n,
		 "{\"id\":0,%s\"apower\":%s,\"voltage\":%s,%s\"aenergy\":{\"total\":%s,"
		 "\"by_minute\":[%.3f,%.3f,%.3f],\"minute_ts\":%lld}%s}",
		 web_fault(w, "pm1") ? "" : "\"source\":\"init\",\"output\":true,",
		 num(w, a[1], v[2], 1), num(w, a[2], v[0], 1),
		 web_fault(w, "nocurrent") ? "" : amps, num(w, a[3], v[3], 3), v[2] / 0.06,
		 v[2] / 0.06, v[2] / 0.06, (long long)(1707326925 + now / EMU_S),
		 web_fault(w, "pm1") ? ",\"freq\":50.0,\"ret_aenergy\":{\"total\":0.000}"
				     : ",\"temperature\":{\"tC\":32.1,\"tF\":89.7}");
}

/* Three phases; the load lies on the first, a quarter of it on the second. */
static void em3_text(struct web *w, int64_t now, char *out, size_t n)
{
	double v[4];
	char a[5][40];

	web_shown(w, now, v);
	num(w, a[0], v[1], 3);
	num(w, a[1], v[0], 1);
	num(w, a[2], v[2], 1);
	num(w, a[3], v[2] / 4, 1);
	num(w, a[4], v[2] * 1.25, 3);
	snprintf(out, n,
		 "{\"id\":0,\"a_current\":%s,\"a_voltage\":%s,\"a_act_power\":%s,\"a_aprt_power\":"
		 "%.1f,\"a_pf\":0.99,\"a_freq\":50.0,\"b_current\":0.1,\"b_voltage\":%s,"
		 "\"b_act_power\":%s,\"b_aprt_power\":1.0,\"b_pf\":0.99,\"b_freq\":50.0,"
		 "\"c_current\":0.0,\"c_voltage\":%s,\"c_act_power\":0.0,\"c_aprt_power\":0.0,"
		 "\"c_pf\":0.0,\"c_freq\":50.0,\"n_current\":null,\"total_current\":%s,"
		 "\"total_act_power\":%s,\"total_aprt_power\":%.3f,\"user_calibrated_phase\":[]}",
		 a[0], a[1], a[2], v[0] * v[1], a[1], a[3], a[1], a[0], a[4], v[0] * v[1]);
}

static void em1_text(struct web *w, int64_t now, char *out, size_t n)
{
	double v[4];
	char a[3][40];

	web_shown(w, now, v);
	snprintf(out, n,
		 "{\"id\":0,\"current\":%s,\"voltage\":%s,\"act_power\":%s,\"aprt_power\":%.1f,"
		 "\"pf\":0.99,\"freq\":50.0,\"calibration\":\"factory\"}",
		 num(w, a[0], v[1], 3), num(w, a[1], v[0], 1), num(w, a[2], v[2], 1), v[0] * v[1]);
}

/* "switch" of this unit: the component, its key in Shelly.GetStatus, and what it says. */
static const char *component(const struct web *w)
{
	return web_fault(w, "pm1")   ? "PM1"
	       : web_fault(w, "em3") ? "EM"
	       : web_fault(w, "em1") ? "EM1"
				     : "Switch";
}

static void component_text(struct web *w, int64_t now, char *out, size_t n)
{
	if (web_fault(w, "em3"))
		em3_text(w, now, out, n);
	else if (web_fault(w, "em1"))
		em1_text(w, now, out, n);
	else
		switch_text(w, now, out, n);
}

static void data_text(struct web *w, int64_t now, char *out, size_t n)
{
	double v[4];

	web_shown(w, now, v);
	if (web_fault(w, "em3"))
		snprintf(out, n,
			 "{\"id\":0,\"a_total_act_energy\":%.2f,\"b_total_act_energy\":%.2f,"
			 "\"c_total_act_energy\":0.00,\"total_act\":%.2f,\"total_act_ret\":0.00}",
			 v[3] * 0.8, v[3] * 0.2, v[3]);
	else
		snprintf(out, n,
			 "{\"id\":0,\"total_act_energy\":%.2f,\"total_act_ret_energy\":0.00}",
			 v[3]);
}

static void info_text(const struct web *w, char *out, size_t n)
{
	const char *model = web_fault(w, "pm1")	  ? "S3PM-001PCEU16"
			    : web_fault(w, "em3") ? "SPEM-003CEBEU"
			    : web_fault(w, "em1") ? "SPEM-002CEBEU50"
						  : "SNPL-00112EU";
	const char *app = web_fault(w, "pm1")	? "MiniPMG3"
			  : web_fault(w, "em3") ? "Pro3EM"
			  : web_fault(w, "em1") ? "ProEM50"
						: "PlusPlugS";

	snprintf(out, n,
		 "{\"name\":null,\"id\":\"shelly-%s\",\"mac\":\"%s\",\"slot\":0,\"model\":\"%s\","
		 "\"gen\":%d,\"fw_id\":\"20240112-145131/1.1.0-g4e5b1d1\",\"ver\":\"1.1.0\","
		 "\"app\":\"%s\",\"auth_en\":%s,\"auth_domain\":null}",
		 mac(w), mac(w), model, web_fault(w, "pm1") ? 3 : 2, app,
		 web_fault(w, "401") ? "true" : "false");
}

static void status_text(struct web *w, int64_t now, char *out, size_t n)
{
	const char *c = component(w);
	char part[1100], lower[16], data[400], more[440] = "";
	size_t i;

	component_text(w, now, part, sizeof(part));
	for (i = 0; c[i]; i++)
		lower[i] = (char)(c[i] | (c[i] >= 'A' && c[i] <= 'Z' ? 32 : 0));
	lower[i] = '\0';
	if (web_fault(w, "em3") || web_fault(w, "em1")) {
		data_text(w, now, data, sizeof(data));
		snprintf(more, sizeof(more), "\"%sdata:0\":%s,", lower, data);
	}
	snprintf(out, n,
		 "{\"ble\":{},\"cloud\":{\"connected\":false},\"mqtt\":{\"connected\":false},"
		 "\"%s:0\":%s,%s\"sys\":{\"mac\":\"%s\",\"restart_required\":false,"
		 "\"time\":\"18:28\",\"unixtime\":1707326925,\"uptime\":11081},\"wifi\":{"
		 "\"sta_ip\":\"192.0.2.7\",\"status\":\"got ip\",\"rssi\":-58}}",
		 lower, part, more, mac(w));
}

/* A call by its method's name; false: there is no such method here. */
static bool method(struct web *w, int64_t now, const char *name, char *out, size_t n)
{
	char want[40];
	const char *c = component(w);

	if (strcmp(name, "Shelly.GetDeviceInfo") == 0)
		return info_text(w, out, n), true;
	if (strcmp(name, "Shelly.GetStatus") == 0)
		return status_text(w, now, out, n), true;
	snprintf(want, sizeof(want), "%s.GetStatus", c);
	if (strcmp(name, want) == 0)
		return component_text(w, now, out, n), true;
	snprintf(want, sizeof(want), "%sData.GetStatus", c);
	if (strcmp(name, want) == 0 && (web_fault(w, "em3") || web_fault(w, "em1")))
		return data_text(w, now, out, n), true;
	return false;
}

static void no_method(struct web *w, int64_t now, const struct emu_out *out, const char *name)
{
	char text[200];

	snprintf(text, sizeof(text), "{\"code\":404,\"message\":\"No handler for %.80s\"}", name);
	web_answer(w, now, out, 404, text);
}

/* POST /rpc {"id":1,"method":"Switch.GetStatus","params":{"id":0}} */
static void posted(struct web *w, int64_t now, const struct emu_out *out, const char *body)
{
	char name[80] = "", text[2600], all[2800];
	const char *m = strstr(body, "\"method\"");

	if (m)
		sscanf(m + 8, " : \"%79[^\"]", name);
	if (!method(w, now, name, text, sizeof(text))) {
		no_method(w, now, out, name);
		return;
	}
	snprintf(all, sizeof(all), "{\"id\":1,\"src\":\"shelly-%s\",\"result\":%s}", mac(w), text);
	web_answer(w, now, out, 200, all);
}

static void gen2(struct web *w, int64_t now, const struct emu_out *out, const char *path,
		 const char *post)
{
	char name[80] = "", text[2600];
	const char *id = strstr(path, "?id=");

	if (strcmp(path, "/shelly") == 0) {
		info_text(w, text, sizeof(text));
		web_answer(w, now, out, 200, text);
		return;
	}
	if (strcmp(path, "/rpc") == 0) {
		posted(w, now, out, post);
		return;
	}
	sscanf(path, "/rpc/%79[^?]", name);
	if (!method(w, now, name, text, sizeof(text)))
		no_method(w, now, out, name);
	else if (id && strcmp(id, "?id=0") != 0)
		web_answer(w, now, out, 500,
			   "{\"code\":-105,\"message\":\"Argument 'id', value not found!\"}");
	else
		web_answer(w, now, out, 200, text);
}

static void shelly_host(void *state, int64_t now, const uint8_t *p, size_t n,
			const struct emu_out *out)
{
	struct web *w = state;
	char path[512], post[512];

	web_path(p, n, path, sizeof(path), post, sizeof(post));
	web_request(w, now);
	if (web_fault(w, "gen1") || web_fault(w, "em"))
		gen1(w, now, out, path);
	else
		gen2(w, now, out, path, post);
}

static void shelly_truth(const void *state, int64_t now, double out[4])
{
	web_truth(state, now, out);
}

const struct emu_model emu_shelly = {
	.name = "shelly",
	.faults = FAULTS,
	.wire = EMU_HTTP,
	.state_size = sizeof(struct web),
	.init = shelly_init,
	.host = shelly_host,
	.truth = shelly_truth,
};

/* SPDX-License-Identifier: MIT */
/*
 * A plug with Tasmota, asked over HTTP. Sources: the firmware's documentation of
 * its commands and of its JSON answers, and its issues about small loads.
 *
 * Beside the faults of web.h: arrays (two channels), missing (no ENERGY at all), nopower
 * (no Power in it), old (firmware of 2018), fine (three decimals), password
 * (user=admin&password=secret is asked for), kwh0 (EnergyRes 0).
 */
#include "web.h"

#include <stdio.h>
#include <string.h>

#define FAULTS WEB_FAULTS " arrays missing nopower old fine password kwh0"

static int tasmota_init(void *state, const struct emu_setup *s)
{
	return web_init(state, s, FAULTS);
}

static void energy_text(const struct web *w, int64_t now, char *out, size_t n)
{
	double v[4], va;
	int wd = web_fault(w, "fine") ? 3 : 0;
	char power[96], tail[160] = "", amps[64];

	web_shown(w, now, v);
	va = v[0] * v[1];
	snprintf(power, sizeof(power), "\"Power\":%.*f,", wd, v[2]);
	snprintf(amps, sizeof(amps), "%.3f", v[1]);
	if (web_fault(w, "arrays")) {
		snprintf(power, sizeof(power), "\"Power\":[%.*f,%.*f],", wd, v[2], wd, v[2] / 4);
		snprintf(amps, sizeof(amps), "[%.3f,%.3f]", v[1], v[1] / 4);
	}
	if (web_fault(w, "nopower"))
		power[0] = '\0';
	if (!web_fault(w, "old"))
		snprintf(tail, sizeof(tail), "\"ApparentPower\":%.*f,\"ReactivePower\":%.*f,", wd,
			 va, wd, 0.0);
	snprintf(out, n,
		 "\"ENERGY\":{%s\"Total\":%.*f,\"Yesterday\":0.058,\"Today\":0.127,"
		 "%s%s\"Factor\":%.2f,\"Voltage\":%.*f,\"Current\":%s%s}",
		 web_fault(w, "old") ? "" : "\"TotalStartTime\":\"2022-01-03T09:12:44\",",
		 web_fault(w, "kwh0") ? 0 : 3, v[3] / 1000, power, tail, va > 0 ? v[2] / va : 0.0,
		 wd, v[0], amps, web_fault(w, "old") ? "" : ",\"Frequency\":50");
}

static void sensors(struct web *w, int64_t now, const struct emu_out *out, const char *name)
{
	char energy[600], text[900];

	energy_text(w, now, energy, sizeof(energy));
	if (web_fault(w, "missing"))
		energy[0] = '\0';
	snprintf(text, sizeof(text), "{\"%s\":{\"Time\":\"%s\"%s%s}}", name,
		 web_fault(w, "old") ? "2018.02.04 23:17:01" : "2024-02-04T23:17:01",
		 energy[0] ? "," : "", energy);
	web_answer(w, now, out, 200, text);
}

static void command(struct web *w, int64_t now, const struct emu_out *out, const char *cmnd)
{
	size_t n = strcspn(cmnd, "&");

	if ((n == 8 && strncasecmp(cmnd, "Status 8", 8) == 0) ||
	    (n == 9 && strncasecmp(cmnd, "Status 10", 9) == 0))
		sensors(w, now, out, "StatusSNS");
	else if (n == 8 && strncasecmp(cmnd, "Status 2", 8) == 0)
		web_answer(w, now, out, 200,
			   "{\"StatusFWR\":{\"Version\":\"13.4.0(tasmota)\",\"BuildDateTime\":"
			   "\"2024-02-14T12:37:01\",\"Hardware\":\"ESP8266EX\"}}");
	else if (n == 6 && strncasecmp(cmnd, "Status", 6) == 0)
		web_answer(w, now, out, 200,
			   "{\"Status\":{\"Module\":0,\"DeviceName\":\"Bench\",\"FriendlyName\":"
			   "[\"Bench\"],\"Topic\":\"tasmota_1A2B3C\",\"Power\":1}}");
	else
		web_answer(w, now, out, 200, "{\"Command\":\"Unknown\"}");
}

static void tasmota_host(void *state, int64_t now, const uint8_t *p, size_t n,
			 const struct emu_out *out)
{
	struct web *w = state;
	char path[1024], post[8];
	const char *cmnd;

	web_path(p, n, path, sizeof(path), post, sizeof(post));
	web_request(w, now);
	cmnd = strstr(path, "cmnd=");
	if (strncmp(path, "/cm?", 4) != 0 || !cmnd)
		web_answer(w, now, out, 200, "<!DOCTYPE html><html><title>Tasmota</title></html>");
	else if (web_fault(w, "password") &&
		 (!strstr(path, "user=admin") || !strstr(path, "password=secret")))
		web_answer(w, now, out, 401,
			   "{\"WARNING\":\"Need user=<username>&password=<password>\"}");
	else
		command(w, now, out, cmnd + 5);
}

static void tasmota_truth(const void *state, int64_t now, double out[4])
{
	web_truth(state, now, out);
}

const struct emu_model emu_tasmota = {
	.name = "tasmota",
	.faults = FAULTS,
	.wire = EMU_HTTP,
	.state_size = sizeof(struct web),
	.init = tasmota_init,
	.host = tasmota_host,
	.truth = tasmota_truth,
};

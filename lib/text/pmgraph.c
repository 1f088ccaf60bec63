// SPDX-License-Identifier: MIT
/*
 * Lines that pm-graph (sleepgraph) puts in front of the text of kernel and ftrace, and behind
 * it: sleepgraph.py of tools/power/pm-graph writes them. Several runs may share a file.
 */
#include "text/ftparts.h"
#include "text/stamp.h"

#define IS(s, text) ww_slice_is(s, "" text, sizeof(text) - 1)

static struct ww_slice trim(const char *p, const char *end)
{
	p = ww_skip_spaces(p, end);
	while (end > p && (end[-1] == ' ' || end[-1] == '\r' || end[-1] == '\n'))
		end--;
	return ww_cut(p, end);
}

/* The next word of the rest. */
static struct ww_slice word(struct ww_slice *rest)
{
	const char *p = ww_skip_spaces(rest->p, rest->p + rest->n), *end = rest->p + rest->n;
	const char *q = p;

	while (q < end && *q != ' ')
		q++;
	*rest = ww_cut(q, end);
	return ww_cut(p, q);
}

static bool number(struct ww_slice s, int64_t *out)
{
	int64_t v = 0;

	if (s.n == 0 || s.n > 18)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!ww_is_digit(s.p[i]))
			return false;
		v = v * 10 + (s.p[i] - '0');
	}
	*out = v;
	return true;
}

/* "061314-132459": month, day, year, then the time of day */
static bool read_time(struct ww_slice s, int64_t *out)
{
	char iso[] = "20YYMMDDTHHMMSSZ";
	struct ww_stamp stamp;

	if (s.n != 13 || s.p[6] != '-')
		return false;
	memcpy(iso + 2, s.p + 4, 2);
	memcpy(iso + 4, s.p, 4);
	memcpy(iso + 9, s.p + 7, 6);
	if (!ww_stamp_read(iso, sizeof(iso) - 1, WW_DATE_DMY, &stamp))
		return false;
	*out = stamp.ns;
	return true;
}

static int mode_of(struct ww_slice s)
{
	static const struct {
		const char *name;
		int mode;
	} modes[] = {{"mem", WW_PM_MODE_MEM},	      {"freeze", WW_PM_MODE_S2IDLE},
		     {"s2idle", WW_PM_MODE_S2IDLE},   {"standby", WW_PM_MODE_STANDBY},
		     {"shallow", WW_PM_MODE_SHALLOW}, {"deep", WW_PM_MODE_MEM},
		     {"disk", WW_PM_MODE_DISK}};

	/* "disk-shutdown" and the like: how it hibernates */
	for (size_t i = 0; i < WW_COUNTOF(modes); i++) {
		size_t n = strlen(modes[i].name);

		if (s.n >= n && memcmp(s.p, modes[i].name, n) == 0 && (s.n == n || s.p[n] == '-'))
			return modes[i].mode;
	}
	return WW_PM_MODE_UNKNOWN;
}

/* "suspend-061314-132459 skynet mem 3.15.0-latest", of older ones without the kernel */
static bool read_stamp(struct ww_slice key, struct ww_slice rest, struct ww_pmgraph *out)
{
	const char *end = key.p + key.n;
	struct ww_slice mode;

	if (key.n < 15 || end[-14] != '-' || !read_time(ww_cut(end - 13, end), &out->utc_ns))
		return false;
	out->key = ww_cut(key.p, end - 14);
	out->host = word(&rest);
	mode = word(&rest);
	out->mode = mode_of(mode);
	out->text = mode;
	out->kernel = word(&rest);
	out->kind = WW_PMG_STAMP;
	return true;
}

/* "fwsuspend 11000000 fwresume 220000000" */
static bool read_firmware(struct ww_slice rest, struct ww_pmgraph *out)
{
	int64_t ns;

	if (!number(word(&rest), &ns))
		return false;
	out->fwsuspend_ns = ns;
	if (!IS(word(&rest), "fwresume") || !number(word(&rest), &ns))
		return false;
	out->fwresume_ns = ns;
	out->kind = WW_PMG_FIRMWARE;
	return true;
}

/* "wifi wlan0 reconnected 2.41", "wifi wlan0 timeout 60" */
static bool read_wifi(struct ww_slice rest, struct ww_pmgraph *out)
{
	struct ww_ftline t = {.t_ns = WW_NO_TIME};
	struct ww_slice status, time;
	int64_t s;

	out->text = word(&rest);
	status = word(&rest);
	time = word(&rest);
	if (out->text.n == 0)
		return false;
	/* Older ones tell settings: "device:wlan0|ip:...". */
	out->kind = WW_PMG_OTHER;
	if (status.n == 0)
		return true;
	out->kind = WW_PMG_WIFI;
	out->dur_ns = -1;
	if (status.n < 9 || memcmp(status.p, "reconnect", 9) != 0)
		return true;
	if (number(time, &s) && s < 1000000)
		out->dur_ns = s * WW_NS_PER_S;
	else if (ww_ft_time(time.p, time.p + time.n, &t) == time.p + time.n && !t.bare)
		out->dur_ns = t.t_ns;
	return true;
}

/* "KEY | TEXT" and "KEY TEXT" */
static bool read_key(struct ww_slice key, struct ww_slice rest, struct ww_pmgraph *out)
{
	static const struct {
		const char *key;
		int kind;
		bool bar;
	} keys[] = {{"sysinfo", WW_PMG_SYSINFO, true}, {"kparams", WW_PMG_KPARAMS, true},
		    {"command", WW_PMG_COMMAND, true}, {"turbostat", WW_PMG_OTHER, false},
		    {"devprops", WW_PMG_OTHER, true},  {"enter_sleep_error", WW_PMG_ERROR, false},
		    {"mcelog", WW_PMG_OTHER, false},   {"battery", WW_PMG_OTHER, false},
		    {"netfix", WW_PMG_OTHER, false},   {"multitest", WW_PMG_OTHER, false},
		    {"osversion", WW_PMG_OTHER, false}};
	const char *end = rest.p + rest.n;

	for (size_t i = 0; i < WW_COUNTOF(keys); i++) {
		if (!ww_slice_is(key, keys[i].key, strlen(keys[i].key)))
			continue;
		rest = trim(rest.p, end);
		if (rest.n > 0 && rest.p[0] == '|')
			rest = trim(rest.p + 1, end);
		else if (keys[i].bar && rest.n > 0)
			return false;
		out->kind = keys[i].kind;
		out->text = rest;
		return true;
	}
	return false;
}

/* "platform-devinfo: dmidecode | BASE64": key devinfo, text what stands behind */
static bool read_platform(struct ww_slice key, struct ww_slice rest, struct ww_pmgraph *out)
{
	static const char mark[] = "platform-";
	const size_t n = sizeof(mark) - 1;

	if (key.n <= n || memcmp(key.p, mark, n) != 0)
		return false;
	out->key = ww_cut(key.p + n, key.p + key.n - (key.p[key.n - 1] == ':'));
	out->text = rest;
	out->kind = WW_PMG_PLATFORM;
	return true;
}

int ww_pmgraph_parse(const char *line, size_t n, struct ww_pmgraph *out)
{
	struct ww_slice rest = trim(line, line + n), key;

	*out = (struct ww_pmgraph){.utc_ns = WW_NO_TIME,
				   .fwsuspend_ns = WW_NO_TIME,
				   .fwresume_ns = WW_NO_TIME,
				   .dur_ns = WW_NO_TIME};
	if (rest.n < 3 || rest.p[0] != '#' || rest.p[1] != ' ')
		return out->kind;
	rest = ww_cut(rest.p + 1, rest.p + rest.n);
	key = word(&rest);
	rest = trim(rest.p, rest.p + rest.n);
	out->key = key;
	if (read_stamp(key, rest, out) || read_key(key, rest, out))
		return out->kind;
	if (IS(key, "fwsuspend") && read_firmware(rest, out))
		return out->kind;
	if (IS(key, "wifi") && read_wifi(rest, out))
		return out->kind;
	read_platform(key, rest, out);
	return out->kind;
}

/* SPDX-License-Identifier: MIT */
#include "control/form.h"
#include "base/str.h"
#include "bus/ftdibits.h"
#include "bus/guard.h"

#include <ctype.h>
#include <stdio.h>

#define ALARM_MAX_S  (7 * 86400)
#define NETWORK_NS   (10 * WW_NS_PER_MS) /* a packet through the switches of a house */
#define WOL_PORT     9
#define PULSE_MAX_NS (60 * WW_NS_PER_S)

/* ------------------------------------------------------------ level, time, hold */

static int word_of(struct ww_act *a, const char *word, struct ww_error *err)
{
	bool pins = a->drive.kind != WW_DRIVE_TTY && a->drive.kind != WW_DRIVE_MODEM;
	static const struct {
		const char *word;
		bool pins;
		int level;
	} known[] = {{"low", true, 0},
		     {"high", true, 1},
		     {"pulse", false, WW_DRIVE_OTHER},
		     {"on", false, 1},
		     {"off", false, 0}};

	for (size_t i = 0; i < WW_COUNTOF(known); i++) {
		if (known[i].pins != pins || strcmp(known[i].word, word) != 0)
			continue;
		a->drive.level = known[i].level;
		snprintf(a->word, sizeof(a->word), "%s", word);
		return 0;
	}
	return ww_fail(err, -EINVAL, "%s: '%s' is no level: expected %s", a->text, word,
		       pins ? "low or high" : "pulse, on or off");
}

static int length_of(struct ww_act *a, const char *word, struct ww_error *err)
{
	if (ww_duration_parse(word, &a->for_ns, NULL) < 0 || a->for_ns < WW_NS_PER_MS ||
	    a->for_ns > PULSE_MAX_NS)
		return ww_fail(err, -EINVAL,
			       "%s: '%s': expected a length from 1 ms to 60 s, or 'hold'", a->text,
			       word);
	return 0;
}

/* "low,200ms,hold" */
static int parse_drive(struct ww_act *a, const char *text, struct ww_error *err)
{
	char buf[64], *rest = buf, *word;
	int rc;

	if (strlen(text) >= sizeof(buf))
		return ww_fail(err, -EINVAL, "%s: too long", a->text);
	snprintf(buf, sizeof(buf), "%s", text);
	rc = word_of(a, strsep(&rest, ","), err);
	while (rc == 0 && (word = strsep(&rest, ",")) != NULL) {
		if (strcmp(word, "hold") == 0)
			a->hold = true;
		else if (a->for_ns)
			rc = ww_fail(err, -EINVAL, "%s: two lengths", a->text);
		else
			rc = length_of(a, word, err);
	}
	if (rc < 0)
		return rc;
	if (!a->for_ns && a->drive.level == WW_DRIVE_OTHER)
		return ww_fail(err, -EINVAL, "%s: how long is the pulse? As in 'pulse,200ms'",
			       a->text);
	if (!a->hold && ww_pulse_most(a->for_ns) >= WW_PULSE_LONG_NS)
		return ww_fail(err, -EINVAL,
			       "%s: this pulse may last 3 s or more, and a power button that is "
			       "held for about 4 s switches a PC off: add ',hold' if that is meant",
			       a->text);
	return 0;
}

/* "20ms": up to that; "5ms..20ms" */
static int parse_delay(struct ww_act *a, struct ww_error *err)
{
	const char *text = ww_uri_get(&a->uri, "delay", NULL), *dots;
	char low[32] = "0";

	if (!text)
		return 0;
	dots = strstr(text, "..");
	if (dots && (size_t)(dots - text) < sizeof(low))
		snprintf(low, sizeof(low), "%.*s", (int)(dots - text), text);
	if (ww_duration_parse(low, &a->delay_min_ns, NULL) < 0 ||
	    ww_duration_parse(dots ? dots + 2 : text, &a->delay_max_ns, NULL) < 0 ||
	    a->delay_min_ns > a->delay_max_ns || a->delay_max_ns > 3600 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL,
			       "%s: option delay=%s: expected the longest delay, or the shortest "
			       "and the longest as 5ms..20ms",
			       a->text, text);
	return 0;
}

/* -------------------------------------------------------------------- the forms */

static int parse_gpio(struct ww_act *a, struct ww_error *err)
{
	static const char *const types[] = {"push-pull", "open-drain", "open-source"};
	const char *place = a->uri.place, *eq = strrchr(place, '='), *slash = NULL;
	const char *type = ww_uri_get(&a->uri, "drive", types[0]);
	size_t i = 0;

	a->drive.kind = WW_DRIVE_GPIO;
	for (const char *p = place; eq && p < eq; p++)
		slash = *p == '/' ? p : slash;
	if (!slash || slash == place || slash + 1 == eq ||
	    (size_t)(slash - place) >= sizeof(a->chip) || (size_t)(eq - slash) > sizeof(a->line))
		return ww_fail(err, -EINVAL,
			       "%s: expected gpio:CHIP/LINE=LEVEL,TIME, such as "
			       "gpio:gpiochip0/17=low,200ms",
			       a->text);
	snprintf(a->chip, sizeof(a->chip), "%.*s", (int)(slash - place), place);
	snprintf(a->line, sizeof(a->line), "%.*s", (int)(eq - slash - 1), slash + 1);
	while (i < WW_COUNTOF(types) && strcmp(type, types[i]) != 0)
		i++;
	if (i == WW_COUNTOF(types))
		return ww_fail(err, -EINVAL,
			       "%s: option drive=%s: expected push-pull, open-drain or open-source",
			       a->text, type);
	a->drive.type = (int32_t)i;
	return parse_drive(a, eq + 1, err);
}

/* dtr= or rts=, one of them. */
static int parse_modem(struct ww_act *a, struct ww_error *err)
{
	const char *dtr = ww_uri_get(&a->uri, "dtr", NULL), *rts = ww_uri_get(&a->uri, "rts", NULL);

	if (!dtr == !rts)
		return ww_fail(err, -EINVAL, "%s: expected %s, such as dtr=pulse,200ms", a->text,
			       dtr ? "one of dtr and rts, not both" : "dtr=, rts= or a pin=");
	a->drive.rts = rts != NULL;
	return parse_drive(a, dtr ? dtr : rts, err);
}

static int parse_tty(struct ww_act *a, struct ww_error *err)
{
	a->drive.kind = WW_DRIVE_TTY;
	if (a->uri.place[0] != '/' || strlen(a->uri.place) >= sizeof(a->drive.path))
		return ww_fail(err, -EINVAL,
			       "%s: expected the path of a port, as in "
			       "tty:/dev/ttyUSB0?dtr=pulse,200ms",
			       a->text);
	snprintf(a->drive.path, sizeof(a->drive.path), "%s", a->uri.place);
	return parse_modem(a, err);
}

static int parse_ftdi(struct ww_act *a, struct ww_error *err)
{
	const char *pin = ww_uri_get(&a->uri, "pin", NULL), *level;
	struct ww_ftdi_pin p;
	struct ww_error why = {0};

	a->serial = ww_uri_get(&a->uri, "serial", a->uri.place);
	if (ww_uri_usb_id(&a->uri, "vid", &a->vid, err) < 0 ||
	    ww_uri_usb_id(&a->uri, "pid", &a->pid, err) < 0 ||
	    ww_uri_int(&a->uri, "interface", 1, 4, &a->interface, err) < 0)
		return -EINVAL;
	if (!pin) {
		a->drive.kind = WW_DRIVE_MODEM;
		return parse_modem(a, err);
	}
	if (ww_ftdi_pin_parse(pin, &p, &why) < 0)
		return ww_fail(err, why.code, "%s: %s", a->text, why.text);
	a->drive.kind = p.cbus ? WW_DRIVE_CBUS : WW_DRIVE_BITS;
	a->drive.offset = p.bit;
	level = ww_uri_get(&a->uri, "level", NULL);
	if (!level)
		return ww_fail(err, -EINVAL, "%s: which level, and how long? As in level=low,200ms",
			       a->text);
	return parse_drive(a, level, err);
}

static int parse_rtc(struct ww_act *a, struct ww_error *err)
{
	int64_t ns = 0;

	if (ww_duration_parse(a->uri.place, &ns, NULL) < 0 || ns < WW_NS_PER_S ||
	    ns > ALARM_MAX_S * WW_NS_PER_S || ns % WW_NS_PER_S)
		return ww_fail(err, -EINVAL,
			       "%s: expected whole seconds until the alarm, as in rtc:20s",
			       a->text);
	a->alarm_s = ns / WW_NS_PER_S;
	/* A clock of whole seconds, read and set by a program that rounds. */
	a->delay_min_ns = ns - WW_NS_PER_S;
	a->delay_max_ns = ns + WW_NS_PER_S;
	return 0;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "00:11:22:33:44:55" or with dashes, and nothing else. */
static bool parse_mac(const char *p, uint8_t out[6])
{
	for (int i = 0; i < 6; i++) {
		int h = nibble(p[0]), l = h < 0 ? -1 : nibble(p[1]);

		if (l < 0)
			return false;
		out[i] = (uint8_t)(h << 4 | l);
		p += 2;
		if (i < 5 && *p != ':' && *p != '-')
			return false;
		p += i < 5;
	}
	return *p == '\0';
}

static int parse_wol(struct ww_act *a, struct ww_error *err)
{
	const char *password = ww_uri_get(&a->uri, "password", NULL);
	uint8_t mac[6];

	if (!parse_mac(a->uri.place, mac))
		return ww_fail(err, -EINVAL,
			       "%s: expected the address of the DUT's network card, as in "
			       "wol:00:11:22:33:44:55",
			       a->text);
	memset(a->packet, 0xff, 6);
	for (size_t i = 0; i < 16; i++)
		memcpy(a->packet + 6 + 6 * i, mac, 6);
	a->packet_n = 102;
	if (password && !parse_mac(password, a->packet + a->packet_n))
		return ww_fail(err, -EINVAL,
			       "%s: option password: expected six bytes as an address has them",
			       a->text);
	a->packet_n += password ? 6 : 0;
	a->host = ww_uri_get(&a->uri, "host", "255.255.255.255");
	a->device = ww_uri_get(&a->uri, "dev", "");
	a->port = WOL_PORT;
	a->delay_max_ns = NETWORK_NS;
	return ww_uri_int(&a->uri, "port", 1, 65535, &a->port, err) < 0 ? -EINVAL : 0;
}

static const struct form {
	const char *driver;
	int kind;
	int (*parse)(struct ww_act *a, struct ww_error *err);
	const char *known;
} forms[] = {
	{"gpio", WW_ACT_GPIO, parse_gpio, "drive, delay"},
	{"tty", WW_ACT_TTY, parse_tty, "dtr, rts, delay"},
	{"ftdi", WW_ACT_FTDI, parse_ftdi,
	 "serial, vid, pid, interface, dtr, rts, pin, level, delay"},
	{"rtc", WW_ACT_RTC, parse_rtc, "none"},
	{"wol", WW_ACT_WOL, parse_wol, "host, port, password, dev, delay"},
};

static const struct form *form_of(const char *text)
{
	for (size_t i = 0; i < WW_COUNTOF(forms); i++) {
		size_t n = strlen(forms[i].driver);

		if (strncmp(text, forms[i].driver, n) == 0 && text[n] == ':')
			return &forms[i];
	}
	return NULL;
}

/* "gpoi:...": no command is called so; it would only be told when it is needed. */
static int no_scheme(const char *text, struct ww_error *err)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");

	if (n == 0 || text[n] != ':')
		return 0;
	return ww_fail(err, -EINVAL,
		       "%s: there is no action '%.*s:' (known: gpio:, tty:, ftdi:, rtc:, wol:); a "
		       "command that is called so takes 'exec ' before it",
		       text, (int)n, text);
}

int ww_act_parse(const char *text, struct ww_act *out, struct ww_error *err)
{
	const struct form *f = form_of(text);
	int rc;

	*out = (struct ww_act){.kind = f ? f->kind : WW_ACT_COMMAND, .vid = -1, .pid = -1};
	if (text[strspn(text, " \t\n")] == '\0')
		return ww_fail(err, -EINVAL, "an empty action does nothing");
	if (!f && no_scheme(text, err) < 0)
		return -EINVAL;
	out->text = strdup(text);
	if (!out->text)
		return ww_fail_nomem(err);
	if (!f)
		return 0;
	rc = ww_uri_parse(text, &out->uri, err);
	if (rc == 0)
		rc = f->parse(out, err);
	if (rc == 0 && f->kind != WW_ACT_RTC)
		rc = parse_delay(out, err);
	if (rc == 0)
		rc = ww_uri_check_used(&out->uri, f->known, err);
	if (rc < 0)
		ww_act_free(out);
	return rc;
}

void ww_act_free(struct ww_act *a)
{
	ww_uri_free(&a->uri);
	free(a->text);
	*a = (struct ww_act){0};
}

char *ww_act_fill(const char *command, int64_t alarm_s)
{
	static const char key[] = "{rtc}";
	struct ww_str s = {0};
	const char *at;
	char *out = NULL;

	while (alarm_s && (at = strstr(command, key)) != NULL) {
		ww_str_addn(&s, command, (size_t)(at - command));
		ww_str_addf(&s, "%lld", (long long)alarm_s);
		command = at + sizeof(key) - 1;
	}
	ww_str_add(&s, command);
	return ww_str_take(&s, &out, NULL) < 0 ? NULL : out;
}

/* SPDX-License-Identifier: MIT */
/*
 * The udev rules and the tables of the drivers name the same devices: who plugs in a meter
 * that a driver knows may use it.
 */
#include "meter/meter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static char rules[16384];

static void read_rules(void)
{
	FILE *f = fopen("lib/bus/60-wakewatt.rules", "r");

	assert_non_null(f);
	rules[fread(rules, 1, sizeof(rules) - 1, f)] = '\0';
	fclose(f);
}

/* Does the line give the device to its user, as a meter? */
static bool names(const char *line, const char *vid, const char *pid)
{
	char v[64];
	const char *p;

	snprintf(v, sizeof(v), "{idVendor}==\"%s\"", vid);
	p = strstr(line, "{idProduct}==\"");
	if (*line == '#' || !strstr(line, v) || !p || !strstr(line, "ENV{WAKEWATT}=\"1\""))
		return false;
	for (p = strchr(p, '"') + 1; *p && *p != '"'; p += 4, p += *p == '|')
		if (strncmp(p, pid, 4) == 0)
			return true;
	return false;
}

static bool granted(const struct ww_usb_id *id, bool tty)
{
	char copy[sizeof(rules)], vid[8], pid[8], *line, *rest = copy;

	memcpy(copy, rules, sizeof(copy));
	snprintf(vid, sizeof(vid), "%04x", id->vid);
	snprintf(pid, sizeof(pid), "%04x", id->pid);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		if (tty &&
		    strcmp(line, "SUBSYSTEM==\"tty\", SUBSYSTEMS==\"usb\", TAG+=\"uaccess\"") == 0)
			return true;
		if (names(line, vid, pid))
			return true;
	}
	return false;
}

static void test_ids(void **state)
{
	size_t n = 0;

	(void)state;
	read_rules();
	for (size_t i = 0; ww_meters[i]; i++) {
		const struct ww_meter_desc *d = &ww_meters[i]->desc;

		for (const struct ww_usb_id *u = d->usb; u && u->vid; u++, n++)
			if (!granted(u, u->bus == WW_BUS_STREAM || !u->bus))
				fail_msg("%s: %04x:%04x (%s) is not in the rules", d->name, u->vid,
					 u->pid, u->name);
	}
	assert_true(n > 0);
	assert_false(granted(&(struct ww_usb_id){.vid = 0x5fc9, .pid = 0x0062}, false));
	assert_true(granted(&(struct ww_usb_id){.vid = 0x0403, .pid = 0x6015}, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

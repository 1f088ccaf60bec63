/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <string.h>

/* Those of a serial port; the others measure, or are wires. */
static bool serial(const char *driver)
{
	static const char *const names[] = {"tty", "unix", "tcp", "ftdi", "sim", "replay"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(driver, names[i]) == 0)
			return true;
	return false;
}

/* The driver whose name is the first n characters. */
static bool driver(const char *name, size_t n, struct ww_driver_info *out)
{
	for (size_t i = 0; ww_driver_at(i, out) == 1; i++)
		if (strlen(out->name) == n && strncmp(out->name, name, n) == 0)
			return true;
	return false;
}

int place_meter(const char *uri)
{
	size_t n = strcspn(uri, ":?/");
	struct ww_driver_info d;

	/* "name:...": whether there is such a driver is told where it is looked up. */
	if (uri[n] == ':')
		return TOOL_OK;
	if (uri[n] != '/' && driver(uri, n, &d))
		return tool_usage_error("%s: no colon behind the name. Did you mean %s:PLACE? "
					"Example: %s",
					uri, d.name, d.example);
	return tool_usage_error("%s: which meter is it? Its name comes first, such as wattsup:%s; "
				"'pwrlog list' knows the names, 'pwrlog list --probe' asks the "
				"meter (a serial line is recorded by 'resumetime record -p %s')",
				uri, uri, uri);
}

int place_port(const char *uri, const char *option)
{
	size_t n = strcspn(uri, ":?/");
	struct ww_driver_info d;

	if (uri[n] == '/' || !driver(uri, n, &d) || (serial(d.name) && (option || *d.name != 's')))
		return TOOL_OK;
	return tool_usage_error("%s: %s is no serial port: name one, such as /dev/ttyUSB0%s%s", uri,
				d.name, option ? "; this one is recorded beside it with " : "",
				option ? option : "");
}

/* SPDX-License-Identifier: MIT */
/* Meters that are folders of the kernel: hwmon, IIO, batteries, energy counters. */
#include "source/list.h"
#include "bus/sysfs.h"
#include "meter/meter.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <unistd.h>

/* Has the folder a file of this pattern? */
static bool holds(const char *dir, const char *pattern)
{
	struct dirent *e;
	bool any = false;
	DIR *d = opendir(dir);

	while (d && !any && (e = readdir(d)))
		any = fnmatch(pattern, e->d_name, 0) == 0;
	if (d)
		closedir(d);
	return any;
}

static int each(struct ww_list *l, const char *dir, const char *prefix,
		int (*fn)(struct ww_list *l, const char *dir, const char *name))
{
	char **names;
	size_t n;
	int rc = ww_list_names(dir, prefix, &names, &n);

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = fn(l, dir, names[i]);
	ww_list_names_free(names, n);
	return rc;
}

static int add_hwmon(struct ww_list *l, const char *dir, const char *name)
{
	char path[WW_SYSFS_PATH], chip[64], uri[96], what[96];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!holds(path, "power[0-9]*_input") && !holds(path, "power[0-9]*_average") &&
	    !holds(path, "energy[0-9]*_input") && !holds(path, "curr[0-9]*_input"))
		return 0; /* temperatures and fans */
	ww_sysfs_read(path, "name", chip, sizeof(chip));
	snprintf(uri, sizeof(uri), "hwmon:%s", name);
	snprintf(what, sizeof(what), "hwmon (%s)", *chip ? chip : "without a name");
	return ww_list_add(l, uri, what, "", "");
}

static int add_iio(struct ww_list *l, const char *dir, const char *name)
{
	char path[WW_SYSFS_PATH], chip[64], uri[96], what[96], node[96];
	const char *hint = "";

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!holds(path, "in_power*_raw") && !holds(path, "in_current*_raw"))
		return 0;
	ww_sysfs_read(path, "name", chip, sizeof(chip));
	snprintf(uri, sizeof(uri), "iio:%s", strchr(name, ':') ? strchr(name, ':') + 1 : name);
	snprintf(what, sizeof(what), "IIO device (%s)", *chip ? chip : "without a name");
	snprintf(node, sizeof(node), "/dev/%s", name);
	if (access(node, F_OK) == 0 && access(node, R_OK) != 0)
		hint = "its buffer may not be read, single readings may: install wakewatt's udev "
		       "rules";
	return ww_list_add(l, uri, what, "", hint);
}

static int add_supply(struct ww_list *l, const char *dir, const char *name)
{
	char path[WW_SYSFS_PATH], type[32], maker[64], model[64], uri[96], detail[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ww_sysfs_read(path, "type", type, sizeof(type));
	if (strcmp(type, "Battery") != 0)
		return 0;
	ww_sysfs_read(path, "manufacturer", maker, sizeof(maker));
	ww_sysfs_read(path, "model_name", model, sizeof(model));
	ww_list_ids(detail, sizeof(detail), maker, model, "");
	snprintf(uri, sizeof(uri), "battery:%s", name);
	return ww_list_add(l, uri, "battery", detail, "");
}

static int add_zone(struct ww_list *l, const char *dir, const char *name)
{
	char path[WW_SYSFS_PATH], file[WW_SYSFS_PATH + 16], zone[64], uri[96], hint[900] = "";

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(file, sizeof(file), "%s/energy_uj", path);
	/* The control type itself has none; sub-zones are channels of their zone. */
	if (access(file, F_OK) != 0 || strchr(name, ':') != strrchr(name, ':'))
		return 0;
	ww_sysfs_read(path, "name", zone, sizeof(zone));
	snprintf(uri, sizeof(uri), "rapl:%s", name);
	if (access(file, R_OK) != 0)
		snprintf(hint, sizeof(hint),
			 "only root may read it: `sudo chgrp adm %s/energy_uj && sudo chmod g+r "
			 "%s/energy_uj` lets a group until the next boot, the rule for rapl: in "
			 "60-wakewatt.rules at each",
			 path, path);
	return ww_list_add(l, uri, "energy counter of the processor", zone, hint);
}

int ww_list_kernel(struct ww_list *l)
{
	int rc = each(l, "/sys/class/hwmon", "hwmon", add_hwmon);

	if (rc == 0)
		rc = each(l, "/sys/bus/iio/devices", "iio:device", add_iio);
	if (rc == 0)
		rc = each(l, "/sys/class/power_supply", "", add_supply);
	if (rc == 0)
		rc = each(l, "/sys/class/powercap", "", add_zone);
	return rc;
}

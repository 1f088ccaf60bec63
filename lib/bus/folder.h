/* SPDX-License-Identifier: MIT */
/* Folders of /sys by the names that people use, and the device behind them by what it is. */
#ifndef WW_BUS_FOLDER_H
#define WW_BUS_FOLDER_H

#include "bus/sysfs.h"

/*
 * "hwmon3", "BAT0", "intel-rapl:0", "iio:device0"; "hwmon:" (the only one that measures),
 * "battery:", "rapl:", "iio:"; "hwmon:ina226" or "ina226" by what the chip is called,
 * "ina226@1-0040" with its device where there are several; an absolute path. `sys` is
 * "/sys". memory: "" or what ww_folder_identity() gave before: then that device is
 * looked for first, under whatever number it has now, and no other one is taken
 * for it. out: WW_SYSFS_PATH bytes.
 */
int ww_folder_find(const char *sys, const char *place, const char *memory, char *out,
		   struct ww_error *err);
/* "name|device's path|USB serial number" */
void ww_folder_identity(const char *path, char *out, size_t n);

#endif

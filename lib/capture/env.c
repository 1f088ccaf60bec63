/* SPDX-License-Identifier: MIT */
/* What the bench is: kernel, clocksource, power settings. Read once, at the start. */
#include "capture/capture.h"

#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *key;
	const char *path;
} files[] = {
	{"bench.cmdline", "/proc/cmdline"},
	{"bench.boot_id", "/proc/sys/kernel/random/boot_id"},
	{"bench.clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{"bench.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
	{"bench.cpuidle", "/sys/devices/system/cpu/cpuidle/current_driver"},
	{"bench.max_cstate", "/sys/module/intel_idle/parameters/max_cstate"},
	{"bench.aspm", "/sys/module/pcie_aspm/parameters/policy"},
	{"bench.mem_sleep", "/sys/power/mem_sleep"},
	{"bench.board", "/sys/class/dmi/id/board_name"},
	{"bench.board_vendor", "/sys/class/dmi/id/board_vendor"},
	{"bench.product", "/sys/class/dmi/id/product_name"},
	{"bench.bios", "/sys/class/dmi/id/bios_version"},
	{"bench.temperature_mC", "/sys/class/thermal/thermal_zone0/temp"},
};

/* First line of a small file, without blanks at its end; false if there is none. */
static bool first_line(const char *path, char *buf, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, buf, n - 1);
	close(fd);
	if (got <= 0)
		return false;
	buf[got] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	for (size_t i = strlen(buf); i > 0 && isspace((unsigned char)buf[i - 1]); i--)
		buf[i - 1] = '\0';
	return *buf != '\0';
}

/* Name of the zone ("Europe/Berlin") for display of times; empty if it has none. */
static void zone(char *buf, size_t n)
{
	const char *tz = getenv("TZ");
	char link[256], *at;
	ssize_t got;

	buf[0] = '\0';
	if (tz && *tz) {
		snprintf(buf, n, "%s", *tz == ':' ? tz + 1 : tz);
		return;
	}
	got = readlink("/etc/localtime", link, sizeof(link) - 1);
	if (got > 0) {
		link[got] = '\0';
		at = strstr(link, "zoneinfo/");
		if (at)
			snprintf(buf, n, "%s", at + strlen("zoneinfo/"));
	}
	if (!*buf)
		first_line("/etc/timezone", buf, n);
}

static int put_system(struct ww_recorder *r)
{
	struct utsname u;
	struct tm tm;
	time_t now = (time_t)(r->keeper.last.real_ns / WW_NS_PER_S);
	char buf[256];
	int rc = 0;

	if (uname(&u) == 0) {
		rc = ww_recorder_put_meta(r, "bench.host", u.nodename);
		snprintf(buf, sizeof(buf), "%s %s %s", u.sysname, u.release, u.machine);
		if (rc == 0)
			rc = ww_recorder_put_meta(r, "bench.kernel", buf);
	}
	zone(buf, sizeof(buf));
	if (rc == 0 && *buf)
		rc = ww_recorder_put_meta(r, "bench.timezone", buf);
	/* The offset in force, so that a report needs no zone files. */
	if (rc == 0 && localtime_r(&now, &tm)) {
		snprintf(buf, sizeof(buf), "%ld", tm.tm_gmtoff);
		rc = ww_recorder_put_meta(r, "bench.utc_offset_s", buf);
	}
	if (rc == 0) {
		int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

		rc = ww_recorder_put_meta(r, "bench.scheduler",
					  policy == (SCHED_FIFO) ? "SCHED_FIFO"
					  : policy == (SCHED_RR) ? "SCHED_RR"
								 : "SCHED_OTHER");
	}
	return rc;
}

int ww_env_put(struct ww_recorder *r)
{
	char buf[2048], text[256];
	int rc = put_system(r);

	for (size_t i = 0; i < WW_COUNTOF(files) && rc == 0; i++) {
		if (!first_line(files[i].path, buf, sizeof(buf)))
			continue;
		rc = ww_recorder_put_meta(r, files[i].key, buf);
		if (strcmp(files[i].key, "bench.clocksource") != 0)
			continue;
		if (strcmp(buf, "jiffies") == 0 || strcmp(buf, "acpi_pm") == 0) {
			snprintf(text, sizeof(text),
				 "the bench's clocksource is %.16s: its time stamps are doubtful; "
				 "boot with clocksource=tsc or hpet where the machine has one",
				 buf);
			ww_recorder_warn(r, text);
		}
	}
	return rc;
}

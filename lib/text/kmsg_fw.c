/* SPDX-License-Identifier: MIT */
/* What boot loaders, firmware and hypervisors say on the same wire. */
#include "text/kmsg_in.h"

#define FW(pattern, f)                                                                             \
	{                                                                                          \
		pattern "%*", WW_PMEV_FIRMWARE, 0, 0, 0, WW_FW_##f, 0, -1                          \
	}
#define ONLY(pattern, f)                                                                           \
	{                                                                                          \
		pattern, WW_PMEV_FIRMWARE, 0, 0, 0, WW_FW_##f, 0, -1                               \
	}
#define TIME(pattern, v)                                                                           \
	{                                                                                          \
		pattern, WW_PMEV_FIRMWARE_TIME, 0, WW_PM_V_##v, 0, 0, 0, -1                        \
	}

static const struct ww_km_rule fw_A[] = {FW("Attempting a hard reboot", BOOT)};
static const struct ww_km_rule fw_B[] = {FW("BIOS-e820", OTHER)};
static const struct ww_km_rule fw_D[] = {FW("Decompressing Linux...", BOOT)};
static const struct ww_km_rule fw_E[] = {
	FW("ERROR:   BL", OTHER),
	ONLY("Entering ACPI S3 state.", OTHER),
	ONLY("Entering System Suspend", OTHER),
	FW("Enter ddr resume", RESUME),
	FW("Enabling non-boot CPUs  ...", OTHER),
};
static const struct ww_km_rule fw_F[] = {
	FW("FADT found at ", OTHER),
	FW("FACS found at ", OTHER),
	FW("Finishing wakeup from ACPI S%S state.", RESUME),
	FW("Failed to recover CBMEM in S3 resume", OTHER),
};
static const struct ww_km_rule fw_I[] = {
	FW("INFO:    %w the wake up information:", RESUME),
	FW("INFO:    BL", OTHER),
	FW("INFO:    PSCI", OTHER),
	FW("INFO:    Entry point", OTHER),
	FW("INFO:    SPSR", OTHER),
	FW("INFO:    ", OTHER),
	FW("In resume (status=254)", RESUME),
	FW("In resume (status=", OTHER),
	ONLY("In 32bit resume", RESUME),
};
static const struct ww_km_rule fw_J[] = {FW("Jump to resume vector (", LAST)};
static const struct ww_km_rule fw_L[] = {
	FW("LinuxBIOS-%w", OTHER),
	FW("Little core clk resume rate", RESUME),
};
static const struct ww_km_rule fw_N[] = {
	FW("NOTICE:  %w wakeup", RESUME),  FW("NOTICE:  ", OTHER),
	FW("No resume vector set!", BOOT), ONLY("Normal boot", BOOT),
	ONLY("Normal boot.", BOOT),
};
static const struct ww_km_rule fw_O[] = {
	FW("OS waking vector is 0x", LAST),
	ONLY("Out of suspend", RESUME),
};
static const struct ww_km_rule fw_P[] = {
	FW("Preparing system for ACPI S%S state.", OTHER),
	FW("POST: 0x", OTHER),
};
static const struct ww_km_rule fw_R[] = {
	FW("RSDP found at ", OTHER),
	FW("Resume from S3 detected, but disabled.", BOOT),
	FW("Resume from S3 detected", RESUME),
};
static const struct ww_km_rule fw_S[] = {
	FW("SeaBIOS (version ", BOOT),	 ONLY("S3 Resume", RESUME),
	ONLY("S3 Resume.", RESUME),	 ONLY("Suspending to RAM", OTHER),
	FW("Starting kernel ...", BOOT),
};
static const struct ww_km_rule fw_T[] = {FW("Trying to find the wakeup vector", RESUME)};
static const struct ww_km_rule fw_U[] = {
	FW("U-Boot SPL %g", OTHER),
	FW("U-Boot TPL %g", OTHER),
	FW("U-Boot %g", BOOT),
	FW("Uncompressing Linux...", BOOT),
};
static const struct ww_km_rule fw_V[] = {FW("VERBOSE: BL", OTHER)};
static const struct ww_km_rule fw_W[] = {FW("WARNING: BL", OTHER)};
static const struct ww_km_rule fw_b[] = {
	FW("bl30 enter suspend", OTHER),
	FW("bl30 exit suspend", RESUME),
};
static const struct ww_km_rule fw_c[] = {FW("coreboot-%w ", OTHER)};
static const struct ww_km_rule fw_d[] = {
	TIME("ddr suspend time: %uus", SUSPEND),
	TIME("ddr resume time: %uus", RESUME),
};
static const struct ww_km_rule fw_e[] = {FW("exit_reason:0x", OTHER)};
static const struct ww_km_rule fw_p[] = {FW("power state %g = ", OTHER)};
static const struct ww_km_rule fw_s[] = {FW("system_resume_early", RESUME)};
static const struct ww_km_rule fw_w[] = {
	FW("whole system suspend done", OTHER),
	FW("wake up status: 0x", RESUME),
};

#define G(c, name) [c] = {fw_##name, sizeof(fw_##name) / sizeof(fw_##name[0])}
static const struct ww_km_group groups[128] = {
	G('A', A), G('B', B), G('D', D), G('E', E), G('F', F), G('I', I), G('J', J), G('L', L),
	G('N', N), G('O', O), G('P', P), G('R', R), G('S', S), G('T', T), G('U', U), G('V', V),
	G('W', W), G('b', b), G('c', c), G('d', d), G('e', e), G('p', p), G('s', s), G('w', w),
};

struct ww_km_group ww_km_firmware(unsigned char first)
{
	return first < 128 ? groups[first] : (struct ww_km_group){NULL, 0};
}

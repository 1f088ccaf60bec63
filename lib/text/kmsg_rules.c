/* SPDX-License-Identifier: MIT */
/*
 * Messages of the kernel: kernel/power, drivers/base/power, kernel/cpu.c, drivers/acpi/sleep.c,
 * the code of each architecture for its processors, wakelocks of Android. Of all ages: what
 * a message was called at first stands beside what it is called now.
 */
#include "text/kmsg_in.h"

#define PM WW_KM_PM
#define R(pattern, k)                                                                              \
	{                                                                                          \
		pattern, WW_PMEV_##k, 0, 0, 0, 0, 0, -1                                            \
	}
/* A step: begins, ends ... */
#define STEP(pattern, k, ph)                                                                       \
	{                                                                                          \
		pattern, WW_PMEV_##k, WW_PM_##ph, 0, 0, 0, 0, -1                                   \
	}
#define STEPN(pattern, k, ph, number)                                                              \
	{                                                                                          \
		pattern, WW_PMEV_##k, WW_PM_##ph, 0, 0, 0, 0, number                               \
	}
#define NEED(pattern, k, ph, needs)                                                                \
	{                                                                                          \
		pattern, WW_PMEV_##k, WW_PM_##ph, 0, 0, 0, needs, -1                               \
	}
#define MODE(pattern, k, m, needs)                                                                 \
	{                                                                                          \
		pattern, WW_PMEV_##k, 0, 0, WW_PM_MODE_##m, 0, needs, -1                           \
	}
#define DEV(pattern, k, ph, v)                                                                     \
	{                                                                                          \
		pattern, WW_PMEV_##k, WW_PM_##ph, WW_PM_V_##v, 0, 0, 0, -1                         \
	}

static const struct ww_km_rule rules_a[] = {
	NEED("active wakeup source: %k", WAKE_SOURCE, NO_PHASE, 0),
	NEED("active wake lock %k, time left %*", WAKE_SOURCE, NO_PHASE, 0),
	NEED("active wake lock %k", WAKE_SOURCE, NO_PHASE, 0),
};

static const struct ww_km_rule rules_A[] = {
	NEED("Allocated %g kbytes in %s seconds%*", END, IMAGE, PM),
	R("Abort: Pending Wakeup Sources: %k", WAKE_SOURCE),
	R("Abort: Last active Wakeup Source: %k", WAKE_SOURCE),
	R("Abort: Wakeup IRQ %n %k pending", WAKE_SOURCE),
	R("Abort: Wakeup IRQ %n%|%*", WAKE_SOURCE),
	STEP("Abort: Device %d not prepared for power transition: code %e", DEVICE_FAIL, PREPARE),
	DEV("Abort: %d device failed to power down", DEVICE_FAIL, SUSPEND_LATE, SUSPEND),
	R("Abort: Wakeup pending%*", WAKE_PENDING),
	DEV("Abort: Callback failed on %d in %f returned %e", DEVICE_FAIL, NO_PHASE, SUSPEND),
	STEP("Abort: Device %d failed to %v%I: error %e", DEVICE_FAIL, NO_PHASE),
	STEPN("Abort: Some devices failed to suspend%*", SOME_FAILED, SUSPEND, 0),
};

static const struct ww_km_rule rules_B[] = {
	R("Back to C!", AWAKE),
	R("BUG: unable to handle %*", OOPS),
	R("BUG: kernel NULL pointer dereference%*", OOPS),
	R("Bad mode in %*", OOPS),
};

static const struct ww_km_rule rules_C[] = {
	STEP("CPU%n is down", CPU_OFF, CPU_OFF),
	STEP("CPU%n: shutdown", CPU_OFF, CPU_OFF),
	STEP("CPU%n killed%|.", CPU_OFF, CPU_OFF),
	STEP("CPU%n killed (polled %g ms)", CPU_OFF, CPU_OFF),
	STEP("CPU%n: off", CPU_OFF, CPU_OFF),
	STEP("CPU %n is now offline", CPU_OFF, CPU_OFF),
	STEP("CPU %n (hwid %g) is now offline", CPU_OFF, CPU_OFF),
	STEP("CPU%n is up", CPU_ON, CPU_ON),
	STEP("CPU%n: failed to come online", FAIL, CPU_ON),
	STEP("CPU%n: cpu didn't die", FAIL, CPU_OFF),
	STEP("CPU%n: unable to kill", FAIL, CPU_OFF),
	STEP("CPU %n didn't die...", FAIL, CPU_OFF),
	STEP("CPU%n may not have stopped%*", FAIL, CPU_OFF),
	STEP("CPU%n may not have shut down cleanly%*", FAIL, CPU_OFF),
	DEV("Could not suspend device %d: error %e%|%_(please convert to suspend_late)",
	    DEVICE_FAIL, SUSPEND, SUSPEND),
	DEV("Could not power down device %d: error %e", DEVICE_FAIL, SUSPEND_LATE, SUSPEND),
	DEV("Could not resume device %d: error %e", DEVICE_FAIL, RESUME, RESUME),
	STEP("Class suspend failed for %d", DEVICE_FAIL, SYSCORE_SUSPEND),
	STEP("Class driver suspend failed for %d", DEVICE_FAIL, SYSCORE_SUSPEND),
	NEED("Creating hibernation image:", BEGIN, IMAGE, PM),
	NEED("Creating image:", BEGIN, IMAGE, PM),
	NEED("Cannot find swap device%*", FAIL, IMAGE_IO, PM),
	NEED("Cannot get swap writer", FAIL, IMAGE_IO, PM),
	NEED("Compressing and saving image data (%n pages)%*", BEGIN, IMAGE_IO, PM),
	R("Could not enter target state in pm_suspend", REFUSED),
	R("Could not transition all powerdomains to target state", REFUSED),
	{"Calling %f", WW_PMEV_INITCALL, 0, 0, 0, 0, 0, 0},
};

static const struct ww_km_rule rules_D[] = {
	STEP("Disabling non-boot CPUs ...%*", BEGIN, CPU_OFF),
	STEP("Disabling non-boot CPUs", BEGIN, CPU_OFF),
	STEP("Device %d failed to %v%I: error %e", DEVICE_FAIL, NO_PHASE),
	STEP("Device %d not prepared for power transition: code %e", DEVICE_FAIL, PREPARE),
};

static const struct ww_km_rule rules_E[] = {
	STEP("Enabling non-boot CPUs ...%*", BEGIN, CPU_ON),
	STEP("Error taking CPU%n down: %e", FAIL, CPU_OFF),
	STEP("Error taking cpu %n down: %e", FAIL, CPU_OFF),
	STEP("Error taking CPU%n up: %e", FAIL, CPU_ON),
	STEP("Error bringing CPU%n up: %e", FAIL, CPU_ON),
	MODE("Entering %M sleep", MODE, UNKNOWN, PM),
	NEED("Error %e creating hibernation image", FAIL, IMAGE, PM),
	NEED("Error %e creating image", FAIL, IMAGE, PM),
	NEED("Error %e suspending", FAIL, IMAGE, 0),
	NEED("Error %e resuming", FAIL, IMAGE_READ, 0),
};

#define FROZEN "%{user space processes|remaining freezable tasks|kernel threads|cpus|processes}"
static const struct ww_km_rule rules_F[] = {
	STEPN("Freezing " FROZEN " ...%_(elapsed %s seconds) done.", END, FREEZE, 1),
	STEPN("Freezing " FROZEN " ...%_done.", END, FREEZE, 1),
	STEP("Freezing " FROZEN " ...%*", BEGIN, FREEZE),
	STEPN("Freezing " FROZEN " completed (elapsed %s seconds)", END, FREEZE, 0),
	STEP("Freezing " FROZEN " failed after %s seconds%|%_(%n tasks refusing to freeze%*", FAIL,
	     FREEZE),
	STEP("Freezing " FROZEN " aborted after %s seconds%|%_(%n tasks refusing to freeze%*",
	     ABORT, FREEZE),
	STEP("Freezing " FROZEN, BEGIN, FREEZE),
	STEP("Freezing of tasks failed after %s seconds%|%_(%n tasks refusing to freeze%*", FAIL,
	     FREEZE),
	STEP("Freezing of tasks aborted after %s seconds%|%_(%n tasks refusing to freeze%*", ABORT,
	     FREEZE),
	STEP("Freezing of tasks aborted", ABORT, FREEZE),
	STEP("Freezing of %{tasks|user space|kernel threads}%_timed out after %s seconds%|"
	     "%_(%n tasks refusing to freeze%*",
	     FAIL, FREEZE),
	STEP("Freezing of %{user space|kernel threads}%_aborted", ABORT, FREEZE),
	STEPN("Filesystems sync: %s seconds", END, SYNC, 0),
	NEED("Failed to prepare device %d for power transition: error %e", DEVICE_FAIL, PREPARE,
	     PM),
	NEED("Failed to %{restore|load hibernation image|load image}, recovering.", FAIL,
	     IMAGE_READ, PM),
	NEED("Freed %g kbytes in %s seconds%*", END, IMAGE, PM),
	STEPN("Freeing memory...%_done (%n pages freed)", END, IMAGE, -1),
	STEP("Freeing memory...%*", BEGIN, IMAGE),
	R("Failed to enter %x", REFUSED),
	R("Failed to suspend: %x", REFUSED),
};

static const struct ww_km_rule rules_H[] = {
	NEED("Hibernation image created (%n pages copied%*", END, IMAGE, PM),
	MODE("Hibernation mode set to %*", MODE, DISK, PM),
	R("Hardware changed while hibernated, %*", REFUSED),
};

static const struct ww_km_rule rules_I[] = {
	NEED("Image created (%n pages copied%*", END, IMAGE, PM),
	NEED("Image saving progress: %g%*", NONE, IMAGE_IO, PM),
	NEED("Image saving done%|.", END, IMAGE_IO, PM),
	NEED("Image loading done%|.", END, IMAGE_READ, PM),
	NEED("Image allocation is %g pages short", FAIL, IMAGE, PM),
	MODE("Image restored successfully.", AWAKE, DISK, PM),
	NEED("Image mismatch: %x", REFUSED, NO_PHASE, PM),
	R("IRQ wakeup: %n %k", WAKE_IRQ),
	R("Internal error: %*", OOPS),
};

static const struct ww_km_rule rules_K[] = {
	R("Kernel panic - not syncing%*", OOPS),
	R("Kernel BUG at %*", OOPS),
};

static const struct ww_km_rule rules_L[] = {
	R("Low-level resume complete", AWAKE),
	R("Last active Wakeup Source: %k", WAKE_SOURCE),
	R("Linux version %o%*", BOOT),
	NEED("Loading image data pages (%n pages)%*", BEGIN, IMAGE_READ, PM),
	NEED("Loading and decompressing image data (%n pages)%*", BEGIN, IMAGE_READ, PM),
	R("Lockdown: %w hibernation is restricted;%*", REFUSED),
};

static const struct ww_km_rule rules_M[] = {
	NEED("Memory allocation failed", FAIL, IMAGE, PM),
};

static const struct ww_km_rule rules_N[] = {
	STEP("Non-boot CPUs are not disabled", FAIL, CPU_OFF),
	NEED("Not enough free memory", FAIL, IMAGE, PM),
	NEED("Not enough free swap%*", FAIL, IMAGE_IO, PM),
};

static const struct ww_km_rule rules_O[] = {
	R("Oops: %*", OOPS),
	R("Oops - %*", OOPS),
};

static const struct ww_km_rule rules_P[] = {
	MODE("Preparing system for %M sleep", MODE, UNKNOWN, PM),
	MODE("Preparing system for sleep (%M)", MODE, UNKNOWN, PM),
	{"Preparing to enter system sleep state S%S", WW_PMEV_MODE, 0, 0, 0, 0, WW_KM_ACPI, -1},
	NEED("Preparing processes for restore.", BEGIN, FREEZE, PM),
	NEED("Preparing processes for hibernation snapshot.", BEGIN, FREEZE, PM),
	NEED("Preallocating image memory... done (allocated %n pages)", END, IMAGE, PM),
	NEED("Preallocating image memory", BEGIN, IMAGE, PM),
	NEED("Preallocating image memory...", BEGIN, IMAGE, PM),
	NEED("Preallocating image memory...%*", BEGIN, IMAGE, PM),
	R("Pending Wakeup Sources: %k", WAKE_SOURCE),
};

static const struct ww_km_rule rules_R[] = {
	STEPN("Restarting tasks ...%_done.", END, THAW, 1),
	STEPN("Restarting tasks...%_done%|.", END, THAW, 1),
	STEPN("Restarting tasks: Done", END, THAW, 0),
	STEP("Restarting tasks: Starting", BEGIN, THAW),
	STEP("Restarting tasks...%*", BEGIN, THAW),
	STEP("Restarting tasks ...%*", BEGIN, THAW),
	R("Resume caused by IRQ %n, %k", WAKE_IRQ),
	R("Resume caused by IRQ %n", WAKE_IRQ),
	R("Resume caused by misconfigured IRQ %n%|%*", WAKE_IRQ),
	NEED("Read %g kbytes in %s seconds%*", END, IMAGE_READ, PM),
};

static const struct ww_km_rule rules_S[] = {
	STEPN("Syncing filesystems ...%_done.", END, SYNC, 1),
	STEP("Syncing filesystems ...%*", BEGIN, SYNC),
	STEP("Suspending console(s)%|%_(use no_console_suspend to debug)", BEGIN, CONSOLE_OFF),
	MODE("Suspending system (%M)", MODE, UNKNOWN, PM),
	R("Suspended for %s seconds", SLEPT),
	STEPN("Some devices failed to suspend, or early wake event detected", SOME_FAILED, SUSPEND,
	      1),
	STEPN("Some devices failed to suspend", SOME_FAILED, SUSPEND, 0),
	STEPN("Some devices failed to power down%|, %*", SOME_FAILED, SUSPEND_LATE, 0),
	STEPN("Some devices failed to %v%|, %*", SOME_FAILED, NO_PHASE, 0),
	STEPN("Some system devices failed to power down%|, %*", FAIL, SYSCORE_SUSPEND, -1),
	STEP("System core suspend callback %f failed.", FAIL, SYSCORE_SUSPEND),
	STEP("Stopping tasks: %*", BEGIN, FREEZE),
	STEPN("Stopping tasks ...%_done.", END, FREEZE, 1),
	STEP("Stopping tasks ...%*", BEGIN, FREEZE),
	STEP("Stopping user space processes ...%*", BEGIN, FREEZE),
	R("Strange, %t not stopped", TASK),
	STEPN("Shrinking memory...%_done (%n pages freed)", END, IMAGE, -1),
	STEP("Shrinking memory...%*", BEGIN, IMAGE),
	NEED("Saving image data pages (%n pages)%*", BEGIN, IMAGE_IO, PM),
	R("Successfully put all powerdomains to target state", AWAKE),
};

static const struct ww_km_rule rules_T[] = {
	R("Timekeeping suspended for %s seconds", SLEPT),
	NEED("Triggering wakeup from IRQ %n", WAKE_IRQ, NO_PHASE, PM),
};

static const struct ww_km_rule rules_U[] = {
	R("Unable to handle kernel %*", OOPS),
	R("Unhandled fault: %*", OOPS),
};

static const struct ww_km_rule rules_W[] = {
	R("Wakeup pending, aborting suspend", WAKE_PENDING),
	R("Wakeup pending. Abort CPU freeze", WAKE_PENDING),
	R("Wakeup IRQ %n %k pending, suspend aborted", WAKE_SOURCE),
	NEED("Wakeup source %k", WAKE_IRQ, NO_PHASE, PM),
	MODE("Waking up from system sleep state S%S", AWAKE, UNKNOWN, WW_KM_ACPI),
	NEED("Wrote %g kbytes in %s seconds%*", END, IMAGE_IO, PM),
	NEED("Writing hibernation image.", BEGIN, IMAGE_IO, PM),
};

static const struct ww_km_rule rules_c[] = {
	STEP("critical section:%*", BEGIN, IMAGE),
	STEP("critical section/: done (%n pages copied)", END, IMAGE),
	STEP("cpu %n (hwid %g) Ready to die...", CPU_OFF, CPU_OFF),
};

static const struct ww_km_rule rules_d[] = {
	R("done.", DONE),
	R("done", DONE),
	R("done (allocated %n pages)", DONE),
	R("done (%n pages freed)", DONE),
	{"debug: Waiting for %s seconds.", WW_PMEV_PM_TEST, 0, 0, WW_PM_MODE_DISK, 0, WW_KM_HIB,
	 -1},
	{"debug: Waiting for %s second(s).", WW_PMEV_PM_TEST, 0, 0, WW_PM_MODE_DISK, 0, WW_KM_HIB,
	 -1},
};

static const struct ww_km_rule rules_g[] = {
	R("gic_show_resume_irq: %n triggered %k", WAKE_IRQ),
	R("gic_show_resume_irq: IRQ %n HWIRQ %g triggered %k", WAKE_IRQ),
	R("gic_show_resume_irq: %n", WAKE_IRQ),
	R("general protection fault%*", OOPS),
};

static const struct ww_km_rule rules_h[] = {
	MODE("hibernation entry", ENTRY, DISK, PM),
	MODE("hibernation exit", EXIT, DISK, PM),
	MODE("hibernation debug: Waiting for %s seconds.", PM_TEST, DISK, 0),
	MODE("hibernation debug: Waiting for %s second(s).", PM_TEST, DISK, 0),
};

static const struct ww_km_rule rules_i[] = {
	R("in-flight: %g:%f", TASK),
	NEED("irq_pm_check_wakeup: IRQ %n%|, %k", WAKE_IRQ, NO_PHASE, PM),
};

static const struct ww_km_rule rules_k[] = {
	R("kernel BUG at %*", OOPS),
};

static const struct ww_km_rule rules_l[] = {
	NEED("last active wakeup source: %k", WAKE_SOURCE, NO_PHASE, 0),
	STEP("late suspend of devices failed", FAIL, SUSPEND_LATE),
};

static const struct ww_km_rule rules_n[] = {
	STEP("noirq suspend of devices failed", FAIL, SUSPEND_NOIRQ),
};

static const struct ww_km_rule rules_p[] = {
	NEED("pm_system_irq_wakeup: %n triggered %k", WAKE_IRQ, NO_PHASE, PM),
	R("pm_suspend: Failed to enter %x", REFUSED),
	R("pwq %g: %a", TASK),
};

static const struct ww_km_rule rules_r[] = {
	MODE("resume from suspend-to-idle", AWAKE, S2IDLE, PM),
	R("request_suspend_state: wakeup (%*", NONE),
};

static const struct ww_km_rule rules_s[] = {
	MODE("suspend entry (%M)", ENTRY, UNKNOWN, PM),
	MODE("suspend entry (%M)  %*", ENTRY, UNKNOWN, PM), /* a remark of whoever posted it */
	NEED("suspend entry %z UTC%|%_%*", ENTRY, NO_PHASE, PM),
	NEED("suspend entry", ENTRY, NO_PHASE, PM),
	NEED("suspend exit", EXIT, NO_PHASE, PM),
	NEED("suspend exit  %*", EXIT, NO_PHASE, PM),
	NEED("suspend exit %z UTC%|%_%*", EXIT, NO_PHASE, PM),
	MODE("suspend-to-idle", ASLEEP, S2IDLE, PM),
	MODE("suspend: enter suspend", ENTRY, MEM, 0),
	R("suspend: exit suspend, ret = %e (%z UTC)", EXIT),
	R("suspend: exit suspend, ret = %e%|%*", EXIT),
	R("suspend: abort suspend", WAKE_PENDING),
	STEP("stopping tasks failed (%n tasks remaining)", FAIL, FREEZE),
	STEP("stopping tasks timed out (%n tasks remaining)", FAIL, FREEZE),
	R("suspend debug: Waiting for %s second(s).", PM_TEST),
	R("suspend debug: Waiting for %s seconds.", PM_TEST),
};

static const struct ww_km_rule rules_t[] = {
	R("task:%t state:%w%_stack:%_%g%_pid:%_%p%_ppid:%*", TASK),
	R("task:%t state:%w%_stack:%_%g%_pid:%_%p%_tgid:%*", TASK),
	R("task:%t state:%w%_stack:%_%g%_pid:%_%p", TASK),
	R("task:%t state:%w%_running task%_stack:%_%g%_pid:%_%p%_ppid:%*", TASK),
};

static const struct ww_km_rule rules_w[] = {
	R("wakeup source or subsystem %k aborted suspend", WAKE_SOURCE),
	R("wakeup wake lock: %k", WAKE_SOURCE),
	R("wakeup wake lock(%w: %k", WAKE_SOURCE),
	{"workqueue %t: flags=0x%a", WW_PMEV_TASK, 0, 0, 0, 0, 0, 0},
};

/* MediaTek's power manager, in the firmware's seconds. */
static const struct ww_km_rule rules_spm[] = {
	R("[SPM] Suspended for %s seconds", SLEPT),
	R("[SPM] suspend wake up by%_%k, timer_out = %*", WAKE_IRQ),
};

static const struct ww_km_rule rules_star[] = {
	R("**** DPM device timeout: %d (%D)", DEVICE_SLOW),
};

static const struct ww_km_rule rules_paren[] = {
	R("(elapsed %s seconds) done.", DONE),
	R("(elapsed %s seconds)", DONE),
};

static const struct ww_km_rule verbs[] = {
	NEED("%i%v of devices complete after %m msecs", END, NO_PHASE, PM),
	NEED("%i%v of devices aborted after %m msecs", ABORT, NO_PHASE, PM),
	NEED("%i%v of devices failed", FAIL, NO_PHASE, PM),
	NEED("%v devices took %s seconds", TOOK, NO_PHASE, PM),
	NEED("%i%v of drv:%D dev:%d complete after %m msecs", DEVICE_TOOK, NO_PHASE, PM),
	NEED("%i%v of drv:%D dev:%d aborted after %m msecs", DEVICE_TOOK, NO_PHASE, PM),
};

#define G(c, name) [c] = {rules_##name, sizeof(rules_##name) / sizeof(rules_##name[0])}
static const struct ww_km_group groups[128] = {
	G('A', A), G('B', B), G('C', C), G('D', D),	G('E', E),    G('F', F),
	G('H', H), G('I', I), G('K', K), G('L', L),	G('M', M),    G('N', N),
	G('O', O), G('P', P), G('R', R), G('S', S),	G('T', T),    G('U', U),
	G('W', W), G('a', a), G('c', c), G('d', d),	G('g', g),    G('h', h),
	G('i', i), G('k', k), G('l', l), G('n', n),	G('p', p),    G('r', r),
	G('s', s), G('t', t), G('w', w), G('(', paren), G('*', star), G('[', spm),
};

struct ww_km_group ww_km_rules(unsigned char first)
{
	return first < 128 ? groups[first] : (struct ww_km_group){NULL, 0};
}

struct ww_km_group ww_km_verbs(void)
{
	return (struct ww_km_group){verbs, sizeof(verbs) / sizeof(verbs[0])};
}

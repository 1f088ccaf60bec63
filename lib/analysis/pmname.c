/* SPDX-License-Identifier: MIT */
/* Names of what a kernel does around a suspend, as in reports. */
#include "base/base.h"

static const char *const phases[WW_PM_PHASES] = {
	[WW_PM_NO_PHASE] = "",
	[WW_PM_NOTIFIERS] = "suspend_notifiers",
	[WW_PM_SYNC] = "sync",
	[WW_PM_FREEZE] = "freeze",
	[WW_PM_IMAGE] = "image",
	[WW_PM_CONSOLE_OFF] = "console_suspend",
	[WW_PM_PREPARE] = "suspend_prepare",
	[WW_PM_SUSPEND] = "suspend",
	[WW_PM_SUSPEND_LATE] = "suspend_late",
	[WW_PM_SUSPEND_NOIRQ] = "suspend_noirq",
	[WW_PM_CPU_OFF] = "cpu_offline",
	[WW_PM_SYSCORE_SUSPEND] = "syscore_suspend",
	[WW_PM_MACHINE] = "machine",
	[WW_PM_SYSCORE_RESUME] = "syscore_resume",
	[WW_PM_CPU_ON] = "cpu_online",
	[WW_PM_RESUME_NOIRQ] = "resume_noirq",
	[WW_PM_RESUME_EARLY] = "resume_early",
	[WW_PM_RESUME] = "resume",
	[WW_PM_COMPLETE] = "resume_complete",
	[WW_PM_CONSOLE_ON] = "console_resume",
	[WW_PM_IMAGE_IO] = "image_write",
	[WW_PM_IMAGE_READ] = "image_read",
	[WW_PM_THAW] = "thaw",
	[WW_PM_POST_NOTIFIERS] = "resume_notifiers",
};

static const char *const verbs[] = {
	[WW_PM_NO_VERB] = "",	       [WW_PM_V_SUSPEND] = "suspend",
	[WW_PM_V_FREEZE] = "freeze",   [WW_PM_V_HIBERNATE] = "hibernate",
	[WW_PM_V_QUIESCE] = "quiesce", [WW_PM_V_RESUME] = "resume",
	[WW_PM_V_THAW] = "thaw",       [WW_PM_V_RESTORE] = "restore",
	[WW_PM_V_RECOVER] = "recover",
};

static const char *const modes[] = {
	[WW_PM_MODE_UNKNOWN] = "unknown", [WW_PM_MODE_MEM] = "mem",
	[WW_PM_MODE_S2IDLE] = "s2idle",	  [WW_PM_MODE_STANDBY] = "standby",
	[WW_PM_MODE_SHALLOW] = "shallow", [WW_PM_MODE_DISK] = "disk",
};

static const char *const results[WW_PM_RESULTS] = {
	[WW_PM_OK] = "ok",
	[WW_PM_FAILED] = "failed",
	[WW_PM_ABORTED] = "aborted",
	[WW_PM_TEST] = "pm_test",
	[WW_PM_RESET] = "reset",
	[WW_PM_HUNG] = "hung",
	[WW_PM_TRUNCATED] = "truncated",
};

static const char *of(const char *const *names, size_t n, int i)
{
	return i >= 0 && (size_t)i < n ? names[i] : NULL;
}

const char *ww_pm_phase_name(int phase)
{
	return of(phases, WW_COUNTOF(phases), phase);
}

const char *ww_pm_verb_name(int verb)
{
	return of(verbs, WW_COUNTOF(verbs), verb);
}

const char *ww_pm_mode_name(int mode)
{
	return of(modes, WW_COUNTOF(modes), mode);
}

const char *ww_pm_result_name(int result)
{
	return of(results, WW_COUNTOF(results), result);
}

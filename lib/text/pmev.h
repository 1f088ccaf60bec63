/* SPDX-License-Identifier: MIT */
/*
 * What one line of kernel text, or one event of ftrace, says of suspend and resume. The same
 * structure for both, so that cycles are built from either by one machine.
 * Strings are slices of the line: not terminated, valid as long as it is.
 */
#ifndef WW_TEXT_PMEV_H
#define WW_TEXT_PMEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Public: enum ww_pm_phase, ww_pm_verb, ww_pm_mode. */
#include <wakewatt.h>

/* No time, no duration. */
#define WW_NO_TIME INT64_MIN

struct ww_slice {
	const char *p;
	size_t n; /* 0: not told; p may then be NULL */
};

enum ww_pmev_kind {
	WW_PMEV_NONE = 0, /* nothing of ours; the line still counts (silent gaps) */
	/* The frame of a cycle. */
	WW_PMEV_ENTRY, /* "PM: suspend entry (deep)", "hibernation entry": mode */
	WW_PMEV_EXIT,  /* "PM: suspend exit" */
	WW_PMEV_MODE,  /* the mode is told and nothing else: "Preparing system for mem sleep" */
	/* Phases: phase, verb. A begin may be seen without its end and the reverse. */
	WW_PMEV_BEGIN,
	WW_PMEV_END,   /* dur_ns: what it prints, WW_NO_TIME if it prints nothing */
	WW_PMEV_ABORT, /* "suspend of devices aborted after 675.644 msecs": dur_ns */
	WW_PMEV_FAIL,  /* "noirq suspend of devices failed"; freezing failed: dur_ns, count */
	WW_PMEV_SUM,   /* "start suspend of devices complete after": prepare and suspend: dur_ns.
			  count 1: it was aborted */
	WW_PMEV_TOOK, /* "PM: suspend devices took 1.559 seconds": dur_ns, a coarse second figure */
	/* Devices: device, driver, parent, func, module, pid, err, dur_ns, async, unit. */
	WW_PMEV_CALL,
	WW_PMEV_RETURN,
	WW_PMEV_DEVICE_TOOK, /* Ubuntu's "resume of drv:X dev:Y complete after": dur_ns from the
				start of the phase */
	WW_PMEV_DEVICE_FAIL, /* "Device usb8 failed to suspend: error -2": device, err, async,
				verb */
	WW_PMEV_CALLEE,	     /* "pm_op(): usb_dev_suspend+0x0/0x20 returns -2": func, err */
	WW_PMEV_DEVICE_SLOW, /* the kernel's own watchdog: "**** DPM device timeout ****" */
	/* Why. */
	WW_PMEV_TASK,	      /* a task that refuses to freeze: task, pid; count 0: a queue of
				 work instead, and without a task count: how much of it is under
				 way, or func: what it does */
	WW_PMEV_SOME_FAILED,  /* "Some devices failed to suspend": count 1: "... or early wake
				 event detected" */
	WW_PMEV_WAKE_PENDING, /* "Wakeup pending, aborting suspend" */
	WW_PMEV_WAKE_SOURCE,  /* an active or last active wakeup source: wakeup */
	WW_PMEV_WAKE_IRQ,     /* count: number of the interrupt, -1 unknown; wakeup: its name */
	WW_PMEV_PM_TEST,      /* "suspend debug: Waiting for 5 second(s).": dur_ns */
	WW_PMEV_REFUSED, /* the machine refused: text. "Failed to enter sleep", ACPI errors ... */
	/* The sleep. */
	WW_PMEV_ASLEEP, /* goes to sleep now: s2idle "suspend-to-idle", machine_suspend begin */
	WW_PMEV_AWAKE,	/* runs again: "Back to C!", "Low-level resume complete" ... */
	WW_PMEV_SLEPT,	/* "Timekeeping suspended for 3.320 seconds": dur_ns */
	/* CPUs: count: its number, -1 unknown. */
	WW_PMEV_CPU_OFF, /* one is off now: "CPU1: shutdown", "psci: CPU1 killed" */
	WW_PMEV_CPU_ON,	 /* one is on now: "CPU1 is up" */
	/* What has a time and is no device. */
	WW_PMEV_FIRMWARE,      /* a line of a boot loader or firmware: text; phase: see fw */
	WW_PMEV_FIRMWARE_TIME, /* it tells a time itself: dur_ns, verb suspend or resume */
	WW_PMEV_BOOT,	       /* a kernel begins to boot: "Linux version ..." : text the version */
	WW_PMEV_NET_UP,	       /* a link is up: device */
	WW_PMEV_STORAGE_UP,    /* a disk is back: device */
	WW_PMEV_OOPS,	       /* the kernel died: text */
	WW_PMEV_DONE,	       /* "done." that ends the line begun before */
	WW_PMEV_INITCALL,      /* other calls that initcall_debug times: func, dur_ns, pid, err */
	WW_PMEV_KINDS
};

/* What a line of firmware means. */
enum ww_fw {
	WW_FW_OTHER = 0,
	WW_FW_RESUME, /* says itself that it resumes: "SB: Resume from S3 detected." */
	WW_FW_BOOT,   /* says that it boots: "Normal boot", a U-Boot banner */
	WW_FW_LAST    /* gives control to the kernel: "OS waking vector", "Jump to resume vector" */
};

/* Unit of a printed time. */
enum ww_pm_unit {
	WW_PM_UNIT_NONE = 0,
	WW_PM_UNIT_MSECS,
	WW_PM_UNIT_SECONDS,
	WW_PM_UNIT_USECS /* of a callback: microseconds or, in old kernels, 1.024 of them; dur_ns
			    is as printed (1 = 1000 ns): the builder decides */
};

struct ww_pmev {
	int kind;	/* enum ww_pmev_kind */
	int phase;	/* enum ww_pm_phase */
	int verb;	/* enum ww_pm_verb */
	int mode;	/* enum ww_pm_mode */
	int fw;		/* enum ww_fw */
	int unit;	/* enum ww_pm_unit */
	int generation; /* of a device's line: 'A', 'B', 'C', 'D' (kernel-logs), 0 other */
	int32_t pid;	/* -1 not told */
	int32_t err;	/* 0, or what it returned */
	int64_t count;	/* see the kinds */
	int64_t dur_ns; /* WW_NO_TIME not told */
	bool async;
	/*
	 * The text is the beginning of a sentence of the grammar and nothing else: what follows
	 * on the next line may belong to it (mail programs wrap). kind is what it means alone.
	 */
	bool partial;
	struct ww_slice device, driver, parent, func, module, task, wakeup, text;
	/* Wall time told in the text (Android's "suspend entry 2013-01-18 08:51:07.058334719
	 * UTC"), ns since 1970; WW_NO_TIME none. */
	int64_t utc_ns;
};

/* All members as "not told". */
void ww_pmev_clear(struct ww_pmev *e);

/* Slices. */
static inline bool ww_slice_is(struct ww_slice s, const char *text, size_t n)
{
	return s.n == n && __builtin_memcmp(s.p, text, n) == 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Framing of kernel text: what stands around a message. One line in, the message and every
 * clock that stamped it out. Knows: raw console with or without printk time, level, caller;
 * dmesg in each of its time formats, -x, -T, --reltime; journal, syslog in any locale,
 * short-iso; Android logcat; LAVA and KernelCI; grabserial, tio, minicom; quoted mail, grep
 * numbers, indentation; Xen; a prompt or junk glued in front; escapes, NUL, CR; the kernel's
 * stamp is looked for anywhere in the line, never at a column.
 * No allocation; a line of any bytes and length.
 */
#ifndef WW_TEXT_KLINE_H
#define WW_TEXT_KLINE_H

#include "text/pmev.h"

/* Whose clock a stamp in front of the kernel's own is. */
enum ww_host_clock {
	WW_HOST_NONE = 0,
	WW_HOST_WALL,	 /* ns since 1970; without a zone or year: as if UTC, of a guessed year */
	WW_HOST_DAY,	 /* time of day only: the state adds a day where it falls */
	WW_HOST_ELAPSED, /* since the start of a program */
	WW_HOST_DELTA	 /* since the line before: added up by the state */
};

enum ww_line_from {
	WW_LINE_UNKNOWN = 0,
	WW_LINE_KERNEL,
	WW_LINE_USER,
	WW_LINE_FIRMWARE,
	WW_LINE_XEN,
	WW_LINE_EC
};

struct ww_kline {
	struct ww_slice text;  /* the message: no framing, no line end, no trailing blanks */
	int from;	       /* enum ww_line_from: by its framing only */
	int64_t kernel_ns;     /* the kernel's stamp, WW_NO_TIME none */
	int64_t kernel_res_ns; /* its resolution: 1000; 10 or 1 for longer fractions */
	int host_clock;	       /* enum ww_host_clock */
	int64_t host_ns;       /* WW_NO_TIME none */
	int64_t host_res_ns;
	int level;	  /* 0..7, -1 not told */
	char caller_kind; /* 'T' task, 'C' cpu, 0 not told */
	int32_t caller;
	struct ww_slice tag; /* syslog: "kernel", "systemd-sleep"; logcat: the tag */
	/* What the kernel sent to a console for this line: from its level or stamp to the end,
	 * without CR LF. What its bytes cost at a baud rate. */
	size_t console_n;
	bool glued; /* something foreign stood before it */
};

struct ww_kline_state {
	/* Remembered over lines: cleared by init. Not the caller's business. */
	int64_t last_kernel_ns; /* of the last stamp that was believed */
	int64_t day_ns;		/* days that have passed, for clocks without a date */
	int64_t last_day_ns;	/* the last time of day; -1 none */
	int64_t sum_ns;		/* of deltas */
	int64_t anchor_ns;	/* a date of dmesg --reltime is sum_ns plus this */
	int64_t block_ns;	/* stamp of the lines that follow a header of its own line */
	int64_t block_res_ns;
	int32_t block_level;
	uint64_t host_hash;  /* of the name of the machine that logs */
	uint64_t month_hash; /* of a month's name that is in no table */
	int32_t year, month;
	uint32_t lines, kernel_stamps;
	uint32_t carry;	   /* bytes in clean that the next line goes on with */
	bool bracketed;	   /* "[12.345678] " in front is the logger's, not the kernel's */
	bool deltas;	   /* times of day turned out to be differences */
	bool anchored;	   /* anchor_ns is known */
	bool block;	   /* block_ns is */
	bool block_kernel; /* and they are the kernel's */
	bool quoted;	   /* lines are quoted-printable, as a mail is stored */
	bool monotonic;	   /* a host and a tag follow the kernel's stamp */
	/* A line with escapes, NUL or a mail's encoding is cleaned into this; longer ones are cut.
	 */
	char clean[4096];
};

void ww_kline_init(struct ww_kline_state *s);
/* @param line  without its '\n'. Slices of out point into it, or into s->clean. */
void ww_kline_parse(struct ww_kline_state *s, const char *line, size_t n, struct ww_kline *out);

#endif

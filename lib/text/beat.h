/* SPDX-License-Identifier: MIT */
/*
 * What a DUT's heartbeat looks like on the line, and its decoder. The encoder is
 * tools/ttybeat.c, which stands alone; this comment is the contract of both.
 *
 * Plain: one character a beat, any character.
 *
 * Stamped: 23 bytes a beat,
 *
 *	! SSSS MMMMMMMM OOOOOOO CC \n
 *
 * without the blanks. Digits are the alphabet A-Z a-z 0-9 + / (RFC 4648), six bits
 * each, most significant first:
 *   SSSS      24 bits  sequence number, one more each beat, wraps
 *   MMMMMMMM  48 bits  CLOCK_MONOTONIC in us, read just before the write
 *   OOOOOOO   42 bits  CLOCK_BOOTTIME - CLOCK_MONOTONIC in us, modulo 2^42: grows by
 *                      every sleep
 *   CC        12 bits  check: low 12 bits of CRC-16/CCITT-FALSE (poly 0x1021, start
 *                      0xFFFF, not reflected) over the 19 digits before it
 * The newline is what an FTDI's event character waits for. At 115200 baud a beat
 * lasts 2.00 ms.
 *
 * Information lines, at the start and after each resume once the beat is steady:
 *
 *	# KEY=VALUE * CC \n
 *
 * without the blanks; CC over the text between # and *. VALUE is UTF-8 in which
 * control characters, '*' and '%' are %-escaped, at most 48 bytes as sent; what is
 * longer goes on in lines # KEY+=VALUE * CC \n, which append. (48 bytes are 5 ms at
 * 115200 baud: longer lines would look like starvation.) Keys: info (start,
 * resume, refused, again: opens a group), beat (1: version of this format), mode, format,
 * period_us, tty, baud, boot_id, host, kernel, cmdline, board, firmware, clocksource,
 * governor, cpuidle, aspm, mem_sleep, state, autosleep, disk, image_size, pm_test,
 * suspend_stats (NAME:COUNT, blank separated), and of the sleep that is over:
 *   sleep_mode             mem, s2idle, standby, shallow or disk: what it came back from
 *   wakeup_irq             number and names of its actions: "9 acpi"
 *   wakeup_sources         those that fired since they were told last:
 *                          NAME:EVENTS[:WAKEUPS][@MS of the last change]
 *   s2idle_states          cpu0's idle states, used more since: NAME:TIMES/US
 *   s2idle_residency_us, s2idle_cpu_us   low_power_idle_{system,cpu}_residency_us
 *   hw_sleep_us, hw_sleep_total_us, hw_sleep_max_us   of suspend_stats
 *   wake_lock              Android's wakelocks that are held
 * A key whose file does not exist is not sent, nor after a resume what is as it was. All is
 * sent again every 60 s, for those who began to listen later. Lines come one at a time
 * between beats, so that they hardly disturb the cadence.
 */
#ifndef WW_TEXT_BEAT_H
#define WW_TEXT_BEAT_H

#include "base/base.h"

#define WW_BEAT_LEN 23

/* In stream mode a beat is written only while at most so many bytes wait with it. */
#define WW_BEAT_AHEAD 3840

struct ww_beat {
	struct ww_interval t;	  /* of its first byte */
	struct ww_interval t_end; /* of its last byte */
	uint32_t seq;
	int64_t mono_us;
	int64_t sleep_us; /* BOOTTIME - MONOTONIC */
};

/* What a decoder meets; other bytes are text (boot loader, kernel, junk). */
struct ww_beat_sink {
	void *ctx;
	void (*beat)(void *ctx, const struct ww_beat *b);
	void (*info)(void *ctx, struct ww_interval t, const char *key, const char *value);
	/* One byte that belongs to neither. */
	void (*other)(void *ctx, struct ww_interval t, uint8_t byte);
};

#define WW_BEAT_LINE 320

/* Decoder: fed bytes with their intervals in order. Zero-initialise. */
struct ww_beat_decoder {
	size_t n;
	size_t len; /* while the sink is called: bytes of what it is given */
	uint8_t buf[WW_BEAT_LINE];
	struct ww_interval t[WW_BEAT_LINE];
};

void ww_beat_feed(struct ww_beat_decoder *d, const struct ww_beat_sink *sink,
		  const struct ww_interval *t, const uint8_t *p, size_t n);
/* The rest is no beat: give it as other bytes. */
void ww_beat_end(struct ww_beat_decoder *d, const struct ww_beat_sink *sink);
uint16_t ww_beat_check(const void *p, size_t n); /* the 12 bits */

#endif

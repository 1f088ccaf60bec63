/* SPDX-License-Identifier: MIT */
/* What a finished analysis gives. */
#include "analysis/resume.h"

size_t ww_resume_count(const struct ww_resume *r)
{
	return r->cycles;
}

const struct ww_cycle *ww_resume_at(const struct ww_resume *r, size_t i)
{
	return i < r->cycles ? &r->cycle[i].c : NULL;
}

const struct ww_latency_summary *ww_resume_summary(const struct ww_resume *r, int latency)
{
	return latency >= 0 && latency < WW_LAT_COUNT ? &r->summary[latency] : NULL;
}

int ww_resume_dut_at(const struct ww_resume *r, size_t i, const char **key, const char **value)
{
	if (i >= r->dut_n)
		return 0;
	*key = r->dut[2 * i];
	*value = r->dut[2 * i + 1];
	return 1;
}

const char *ww_resume_note(const struct ww_resume *r, size_t i)
{
	return i < r->notes.n ? r->notes.note[i] : NULL;
}

const char *ww_event_name(int event)
{
	static const char *const names[WW_EV_COUNT] = {
		[WW_EV_REQUEST] = "request",
		[WW_EV_LAST_BEAT] = "last_beat",
		[WW_EV_OFF] = "off",
		[WW_EV_WAKE] = "wake",
		[WW_EV_FIRMWARE] = "firmware",
		[WW_EV_HANDOFF] = "handoff",
		[WW_EV_UART] = "uart",
		[WW_EV_FIRST_BEAT] = "first_beat",
		[WW_EV_STEADY] = "steady",
		[WW_EV_SETTLED] = "settled",
		[WW_EV_ALIVE] = "alive",
		[WW_EV_KERNEL_ENTRY] = "kernel_entry",
		[WW_EV_KERNEL_ASLEEP] = "kernel_asleep",
		[WW_EV_KERNEL_AWAKE] = "kernel_awake",
		[WW_EV_THAWED] = "thawed",
	};

	return event >= 0 && event < WW_EV_COUNT ? names[event] : NULL;
}

const char *ww_latency_name(int latency)
{
	static const char *const names[WW_LAT_COUNT] = {
		[WW_LAT_SUSPEND_ENTRY] = "suspend_entry",
		[WW_LAT_ASLEEP] = "asleep",
		[WW_LAT_FIRMWARE] = "firmware",
		[WW_LAT_KERNEL] = "kernel",
		[WW_LAT_RESUME_TO_UART] = "resume_to_uart",
		[WW_LAT_RESUME_TO_USER] = "resume_to_user",
		[WW_LAT_RESUME_TO_STEADY] = "resume_to_steady",
		[WW_LAT_SILENCE] = "silence",
		[WW_LAT_DUT_ASLEEP] = "dut_asleep",
		[WW_LAT_ASLEEP_FIRMWARE] = "asleep_and_firmware",
		[WW_LAT_RESUME_TO_ALIVE] = "resume_to_alive",
		[WW_LAT_RESUME_TO_SETTLED] = "resume_to_settled",
	};

	return latency >= 0 && latency < WW_LAT_COUNT ? names[latency] : NULL;
}

const char *ww_result_name(int result)
{
	static const char *const names[WW_RES_COUNT] = {
		[WW_RES_OK] = "ok",	      [WW_RES_REFUSED] = "refused",
		[WW_RES_ABORTED] = "aborted", [WW_RES_EARLY] = "early",
		[WW_RES_PM_TEST] = "pm_test", [WW_RES_RESET] = "reset",
		[WW_RES_HUNG] = "hung",	      [WW_RES_UNKNOWN] = "unknown",
	};

	return result >= 0 && result < WW_RES_COUNT ? names[result] : NULL;
}

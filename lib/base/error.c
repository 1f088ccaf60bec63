/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>

void ww_error_clear(struct ww_error *err)
{
	if (err) {
		err->code = 0;
		err->text[0] = '\0';
	}
}

int ww_fail(struct ww_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err && err->code == 0) {
		char text[2 * sizeof(err->text)];

		/* It may quote a file, and goes to a terminal. */
		err->code = code;
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		ww_plain(err->text, sizeof(err->text), text, strlen(text));
	}
	return code;
}

int ww_fail_nomem(struct ww_error *err)
{
	return ww_fail(err, -ENOMEM, "out of memory");
}

void ww_free(void *p)
{
	free(p);
}

const char *ww_version(void)
{
	return WW_VERSION_STRING;
}

int ww_abi(void)
{
	return WW_ABI;
}

#ifdef WW_WITH_USB
#define F_USB "usb "
#else
#define F_USB ""
#endif
#ifdef WW_WITH_FTDI
#define F_FTDI "ftdi "
#else
#define F_FTDI ""
#endif
#if defined(WW_WITH_GPIOD) && WW_WITH_GPIOD >= 2
#define F_GPIO "gpio2 "
#elif defined(WW_WITH_GPIOD)
#define F_GPIO "gpio1 "
#else
#define F_GPIO ""
#endif

#ifdef WW_WITH_CURL
#define F_CURL "curl "
#else
#define F_CURL ""
#endif
#ifdef WW_WITH_JANSSON
#define F_JANSSON "jansson "
#else
#define F_JANSSON ""
#endif
#ifdef WW_WITH_NETTLE
#define F_NETTLE "nettle "
#else
#define F_NETTLE ""
#endif
#ifdef WW_WITH_ZLIB
#define F_ZLIB "zlib "
#else
#define F_ZLIB ""
#endif
#ifdef WW_WITH_LZMA
#define F_LZMA "lzma "
#else
#define F_LZMA ""
#endif

const char *ww_features(void)
{
	return F_USB F_FTDI F_GPIO F_CURL F_JANSSON F_NETTLE F_ZLIB F_LZMA "sqlite zstd";
}

/* One list of the public structures, for bindings that check their sizes. */
#define STRUCTURES(X)                                                                              \
	X(ww_error)                                                                                \
	X(ww_interval)                                                                             \
	X(ww_quantity)                                                                             \
	X(ww_anchor)                                                                               \
	X(ww_transport)                                                                            \
	X(ww_source_info)                                                                          \
	X(ww_channel_info)                                                                         \
	X(ww_mark)                                                                                 \
	X(ww_gap)                                                                                  \
	X(ww_writer_options)                                                                       \
	X(ww_batch)                                                                                \
	X(ww_import_options)                                                                       \
	X(ww_import_format)                                                                        \
	X(ww_recorder_options)                                                                     \
	X(ww_recorder_stats)                                                                       \
	X(ww_live)                                                                                 \
	X(ww_found)                                                                                \
	X(ww_driver_info)                                                                          \
	X(ww_campaign_options)                                                                     \
	X(ww_campaign_state)                                                                       \
	X(ww_stat_options)                                                                         \
	X(ww_channel_stat)                                                                         \
	X(ww_resume_options)                                                                       \
	X(ww_stall)                                                                                \
	X(ww_cycle)                                                                                \
	X(ww_latency_summary)                                                                      \
	X(ww_steps_options)                                                                        \
	X(ww_step)                                                                                 \
	X(ww_level)                                                                                \
	X(ww_calibration_options)                                                                  \
	X(ww_calibration_info)                                                                     \
	X(ww_attribute_options)                                                                    \
	X(ww_device)                                                                               \
	X(ww_device_group)                                                                         \
	X(ww_device_next)                                                                          \
	X(ww_device_level)                                                                         \
	X(ww_device_pair)                                                                          \
	X(ww_attribute_info)                                                                       \
	X(ww_saving)                                                                               \
	X(ww_plan_options)                                                                         \
	X(ww_plan_info)                                                                            \
	X(ww_runs_options)                                                                         \
	X(ww_run)                                                                                  \
	X(ww_run_variant)                                                                          \
	X(ww_runs_meter)                                                                           \
	X(ww_work_found)                                                                           \
	X(ww_standby_options)                                                                      \
	X(ww_standby_result)                                                                       \
	X(ww_clause)                                                                               \
	X(ww_suspend_options)                                                                      \
	X(ww_policy_result)                                                                        \
	X(ww_suspend_result)                                                                       \
	X(ww_suspend_fit)                                                                          \
	X(ww_numbers_options)                                                                      \
	X(ww_numbers_group)                                                                        \
	X(ww_compare_set)                                                                          \
	X(ww_compare_options)                                                                      \
	X(ww_comparison)                                                                           \
	X(ww_shift_row)                                                                            \
	X(ww_shift_options)                                                                        \
	X(ww_vet_options)                                                                          \
	X(ww_vet_row)                                                                              \
	X(ww_bisect_options)                                                                       \
	X(ww_bisect)                                                                               \
	X(ww_runtime_point)                                                                        \
	X(ww_runtime_options)                                                                      \
	X(ww_runtime_case)                                                                         \
	X(ww_runtime_need)                                                                         \
	X(ww_loopback_options)                                                                     \
	X(ww_loopback_result)                                                                      \
	X(ww_pm_device)                                                                            \
	X(ww_pm_span)                                                                              \
	X(ww_pm_other)                                                                             \
	X(ww_pm_reason)                                                                            \
	X(ww_pm_cycle)                                                                             \
	X(ww_kernlog_options)                                                                      \
	X(ww_page_options)                                                                         \
	X(ww_export_options)

size_t ww_sizeof(const char *structure)
{
#define ROW(s) {#s, sizeof(struct s)},
	static const struct {
		const char *name;
		size_t size;
	} rows[] = {STRUCTURES(ROW)};

	for (size_t i = 0; i < WW_COUNTOF(rows); i++)
		if (strcmp(rows[i].name, structure) == 0)
			return rows[i].size;
	return 0;
}

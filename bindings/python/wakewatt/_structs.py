# SPDX-License-Identifier: MIT
"""Structures, in the order and with the names of the header.

Made from wakewatt.h by mirror.py.
"""

from __future__ import annotations

from ctypes import (POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)


class ww_error(Structure):
    _fields_ = [("code", c_int), ("text", c_char * 512)]


class ww_interval(Structure):
    _fields_ = [("lo_ns", c_int64), ("hi_ns", c_int64)]


class ww_quantity(Structure):
    _fields_ = [("value", c_double), ("u", c_double)]


class ww_anchor(Structure):
    _fields_ = [("boot_ns", c_int64), ("mono_ns", c_int64), ("real_ns", c_int64),
                ("width_ns", c_int64), ("adj_state", c_int32), ("adj_freq_ppb", c_int32),
                ("adj_maxerror_ns", c_int64)]


class ww_transport(Structure):
    _fields_ = [("name", c_char_p), ("delay_min_ns", c_int64), ("delay_max_ns", c_int64),
                ("char_ns", c_int64), ("settings", c_char_p)]


class ww_source_info(Structure):
    _fields_ = [("id", c_uint32), ("kind", c_int32), ("name", c_char_p), ("uri", c_char_p),
                ("driver", c_char_p), ("model", c_char_p), ("serial", c_char_p),
                ("firmware", c_char_p), ("role", c_char_p), ("notes", c_char_p),
                ("period_ns", c_int64), ("window_ns", c_int64), ("delay_min_ns", c_int64),
                ("delay_max_ns", c_int64), ("transport", ww_transport)]


class ww_channel_info(Structure):
    _fields_ = [("id", c_uint32), ("source", c_uint32), ("name", c_char_p),
                ("quantity", c_char_p), ("unit", c_char_p), ("semantics", c_int32),
                ("reserved", c_int32), ("scale", c_double), ("offset", c_double),
                ("resolution", c_double), ("acc_abs", c_double), ("acc_rel", c_double),
                ("wrap", c_double)]


class ww_mark(Structure):
    _fields_ = [("t", ww_interval), ("source", c_uint32), ("cycle", c_uint32),
                ("kind", c_char_p), ("text", c_char_p)]


class ww_gap(Structure):
    _fields_ = [("t", ww_interval), ("source", c_uint32), ("reserved", c_uint32),
                ("lost", c_int64), ("reason", c_char_p)]


class ww_writer_options(Structure):
    _fields_ = [("size", c_size_t), ("form", c_int32), ("fd", c_int32), ("program", c_char_p),
                ("command", c_char_p)]


class ww_batch(Structure):
    _fields_ = [("n", c_size_t), ("channels", c_size_t), ("lo_ns", POINTER(c_int64)),
                ("hi_ns", POINTER(c_int64)), ("codes", POINTER(POINTER(c_int64))),
                ("data", POINTER(c_uint8))]


class ww_import_options(Structure):
    _fields_ = [("size", c_size_t), ("format", c_char_p), ("rate_hz", c_double),
                ("resolution", c_double), ("columns", c_char_p), ("offset_s", c_int32),
                ("has_offset", c_int32)]


class ww_import_format(Structure):
    _fields_ = [("name", c_char_p), ("what", c_char_p)]


class ww_recorder_options(Structure):
    _fields_ = [("size", c_size_t), ("path", c_char_p), ("form", c_int32), ("fd", c_int32),
                ("program", c_char_p), ("command", c_char_p), ("commit_ns", c_int64),
                ("every_ns", c_int64), ("queue_bytes", c_size_t), ("raw", c_int32),
                ("append", c_int32)]


class ww_recorder_stats(Structure):
    _fields_ = [("samples", c_uint64), ("bytes", c_uint64), ("lost", c_uint64),
                ("gaps", c_uint64), ("late_max_ns", c_int64), ("late_p99_ns", c_int64),
                ("queue_peak", c_uint64), ("stored", c_uint64), ("raw", c_uint64)]


class ww_live(Structure):
    _fields_ = [("source", c_char_p), ("channel", c_char_p), ("unit", c_char_p),
                ("value", c_double), ("resolution", c_double), ("t_ns", c_int64),
                ("n", c_uint64), ("state", c_int32), ("kind", c_int32)]


class ww_found(Structure):
    _fields_ = [("uri", c_char_p), ("what", c_char_p), ("detail", c_char_p),
                ("hint", c_char_p)]


class ww_driver_info(Structure):
    _fields_ = [("name", c_char_p), ("summary", c_char_p), ("example", c_char_p),
                ("available", c_int32), ("proven", c_int32)]


class ww_campaign_options(Structure):
    _fields_ = [("size", c_size_t), ("suspend", c_char_p), ("wake", c_char_p),
                ("cycles", c_uint32), ("reserved", c_uint32), ("asleep_ns", c_int64),
                ("suspend_timeout_ns", c_int64), ("resume_timeout_ns", c_int64),
                ("settle_ns", c_int64), ("silence_ns", c_int64), ("reset", c_char_p),
                ("off", c_char_p), ("asleep_max_ns", c_int64), ("seed", c_uint64),
                ("warmup", c_uint32), ("until_failure", c_int32), ("until_width_ns", c_int64),
                ("look", c_int32), ("until_least", c_uint32), ("away_timeout_ns", c_int64),
                ("alive", c_char_p)]


class ww_campaign_state(Structure):
    _fields_ = [("cycle", c_uint32), ("cycles", c_uint32), ("ok", c_uint32),
                ("failed", c_uint32), ("other", c_uint32), ("latency", c_int32),
                ("median_ms", c_double), ("width_ms", c_double), ("left_ns", c_int64),
                ("phase", c_char_p), ("end", c_char_p)]


class ww_loopback_options(Structure):
    _fields_ = [("size", c_size_t), ("bytes", c_uint32), ("echo", c_uint32)]


class ww_loopback_result(Structure):
    _fields_ = [("sent", c_uint64), ("back", c_uint64), ("wrong", c_uint64),
                ("min_s", c_double), ("median_s", c_double), ("p99_s", c_double),
                ("max_s", c_double), ("width_s", c_double), ("inside", c_double),
                ("baud", ww_quantity), ("latency_ns", c_int64), ("transport", ww_transport),
                ("resolution_s", c_double)]


class ww_stat_options(Structure):
    _fields_ = [("size", c_size_t), ("from_ns", c_int64), ("to_ns", c_int64)]


class ww_channel_stat(Structure):
    _fields_ = [("name", c_char_p), ("quantity", c_char_p), ("unit", c_char_p),
                ("semantics", c_int32), ("reserved", c_int32), ("n", c_uint64),
                ("missing", c_uint64), ("duration_s", c_double), ("mean", ww_quantity),
                ("min", c_double), ("max", c_double), ("resolution", c_double),
                ("energy_J", ww_quantity), ("coverage", c_double), ("gap_s", c_double),
                ("gaps", c_uint64), ("register_J", ww_quantity), ("register_z", c_double),
                ("register_resets", c_uint64), ("why", c_char_p)]


class ww_resume_options(Structure):
    _fields_ = [("size", c_size_t), ("mode", c_int32), ("reserved", c_int32),
                ("port", c_char_p), ("console", c_char_p), ("handoff", c_char_p),
                ("period_ns", c_int64)]


class ww_stall(Structure):
    _fields_ = [("t", ww_interval), ("length", ww_interval)]


class ww_cycle(Structure):
    _fields_ = [("n", c_uint32), ("result", c_int32), ("reason", c_char_p),
                ("event", ww_interval * 24), ("latency", ww_interval * 24),
                ("stalls", c_size_t), ("stall", POINTER(ww_stall)), ("energy_J", ww_quantity),
                ("asleep_watts", ww_quantity), ("energy_why", c_char_p), ("warmup", c_int32),
                ("mode", c_int32)]


class ww_latency_summary(Structure):
    _fields_ = [("n", c_uint64), ("failures", c_uint64), ("median", c_double),
                ("p90", c_double), ("p95", c_double), ("median_ci", c_double * 2),
                ("envelope", c_double * 2), ("p90_ci", c_double * 2), ("p95_ci", c_double * 2),
                ("resolution", c_double), ("min", c_double), ("max", c_double),
                ("actual_ci", c_double * 2), ("actual_coverage", c_double),
                ("bounds", c_uint64), ("median_hi", c_double), ("bound_only", c_uint64),
                ("bound", c_double * 2)]


class ww_pm_device(Structure):
    _fields_ = [("name", c_char_p), ("driver", c_char_p), ("parent", c_char_p),
                ("func", c_char_p), ("phase", c_int32), ("verb", c_int32),
                ("start_ns", c_int64), ("end_ns", c_int64), ("length", ww_interval),
                ("corrected", ww_interval), ("printed", ww_interval), ("error", c_int32),
                ("pid", c_int32), ("async", c_int32), ("critical", c_int32),
                ("critical_ns", c_int64), ("from", c_int32), ("reserved", c_int32)]


class ww_pm_span(Structure):
    _fields_ = [("phase", c_int32), ("verb", c_int32), ("start_ns", c_int64),
                ("end_ns", c_int64), ("length", ww_interval), ("printed", ww_interval),
                ("traced", ww_interval), ("corrected", ww_interval), ("failed", c_int32),
                ("nested", c_int32)]


class ww_pm_other(Structure):
    _fields_ = [("what", c_char_p), ("before", c_char_p), ("after", c_char_p),
                ("start_ns", c_int64), ("length", ww_interval)]


class ww_pm_reason(Structure):
    _fields_ = [("step", c_char_p), ("device", c_char_p), ("driver", c_char_p),
                ("func", c_char_p), ("task", c_char_p), ("wakeup", c_char_p),
                ("text", c_char_p), ("error", c_int32), ("async", c_int32)]


class ww_pm_cycle(Structure):
    _fields_ = [("n", c_uint32), ("mode", c_int32), ("result", c_int32), ("sleeps", c_int32),
                ("reason", ww_pm_reason), ("t", ww_interval), ("bench_begin", ww_interval),
                ("bench_end", ww_interval), ("suspend", ww_interval), ("resume", ww_interval),
                ("slept", ww_interval), ("suspend_corrected", ww_interval),
                ("resume_corrected", ww_interval), ("sleep_begin", ww_interval),
                ("sleep_end", ww_interval), ("firmware_suspend", ww_interval),
                ("firmware_resume", ww_interval), ("network", ww_interval),
                ("storage", ww_interval), ("spans", c_size_t), ("devices", c_size_t),
                ("others", c_size_t), ("errors", c_size_t), ("contradictions", c_size_t),
                ("span", POINTER(ww_pm_span)), ("device", POINTER(ww_pm_device)),
                ("other", POINTER(ww_pm_other)), ("error", POINTER(c_char_p)),
                ("contradiction", POINTER(c_char_p)), ("console_bytes", c_uint64),
                ("console_ns", c_int64), ("console_bound", c_double), ("baud", c_uint32),
                ("clock", c_int32), ("kernel", c_char_p), ("devices_left_out", c_uint64),
                ("stamp_res_ns", c_double), ("console_proof", c_int32)]


class ww_kernlog_options(Structure):
    _fields_ = [("size", c_size_t), ("baud", c_uint32), ("no_console", c_int32),
                ("gap_ns", c_int64)]


class ww_shift_row(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_char_p), ("unit", c_char_p), ("n", c_uint64 * 2),
                ("failures", c_uint64 * 2), ("median", c_double * 2), ("shift", c_double),
                ("ci", c_double * 2), ("p", c_double), ("p_adjusted", c_double),
                ("resolution", c_double), ("mdd", c_double), ("verdict", c_int32),
                ("reserved", c_int32)]


class ww_shift_options(Structure):
    _fields_ = [("size", c_size_t), ("fail_if", c_char_p), ("top", c_size_t)]


class ww_vet_options(Structure):
    _fields_ = [("size", c_size_t), ("min_ms", c_double), ("spread_ms", c_double),
                ("min_cycles", c_uint32), ("reserved", c_uint32)]


class ww_vet_row(Structure):
    _fields_ = [("device", c_char_p), ("driver", c_char_p), ("func", c_char_p),
                ("phase", c_char_p), ("n", c_uint64), ("median_ms", c_double),
                ("min_ms", c_double), ("max_ms", c_double), ("spread_ms", c_double),
                ("nearest_ms", c_double), ("saving_ms", c_double), ("fixed", c_int32),
                ("reserved", c_int32)]


class ww_bisect_options(Structure):
    _fields_ = [("size", c_size_t), ("metric", c_char_p), ("threshold_ms", c_double),
                ("certainty", c_double), ("failure_rate", c_double)]


class ww_bisect(Structure):
    _fields_ = [("verdict", c_int32), ("reserved", c_int32), ("probability", c_double),
                ("cycles", c_uint64), ("more", c_uint64), ("threshold_ms", c_double),
                ("median_ms", c_double), ("ci_ms", c_double * 2), ("failure_rate", c_double),
                ("why", c_char * 512)]


class ww_steps_options(Structure):
    _fields_ = [("size", c_size_t), ("channel", c_char_p), ("from_ns", c_int64),
                ("to_ns", c_int64), ("spike_ns", c_int64)]


class ww_step(Structure):
    _fields_ = [("t", ww_interval), ("settled_ns", c_int64), ("delta", ww_quantity),
                ("before", ww_quantity), ("after", ww_quantity), ("bounds", c_double * 2),
                ("peak", c_double), ("dof", c_double), ("state", c_int32), ("mark", c_int32),
                ("label", c_char_p)]


class ww_level(Structure):
    _fields_ = [("from_ns", c_int64), ("to_ns", c_int64), ("watts", ww_quantity),
                ("sigma", c_double), ("slope", c_double), ("dof", c_double), ("n", c_uint64),
                ("shape", c_int32), ("reserved", c_int32)]


class ww_calibration_options(Structure):
    _fields_ = [("size", c_size_t), ("resolution", c_double), ("reference_u", c_double),
                ("meter", c_char_p), ("correct_asked", c_int32), ("reserved", c_int32),
                ("correct", ww_quantity)]


class ww_calibration_info(Structure):
    _fields_ = [("offset", ww_quantity), ("gain", ww_quantity), ("cov", c_double),
                ("s", c_double), ("resolution", c_double), ("lo", c_double), ("hi", c_double),
                ("zero", c_double), ("zero_u", c_double), ("n", c_uint64), ("york", c_int32),
                ("dead_zone", c_int32), ("meter", c_char_p)]


class ww_attribute_options(Structure):
    _fields_ = [("size", c_size_t), ("offset_known", c_int32), ("own_offsets", c_int32),
                ("offset", ww_quantity), ("interactions", c_int32), ("drift", c_int32),
                ("resolution", c_double), ("spec_abs", c_double), ("spec_rel", c_double),
                ("calibration", c_void_p), ("channel", c_char_p), ("spike_ns", c_int64),
                ("order", c_char_p), ("hours_per_day", c_double), ("price", c_double),
                ("cost", c_double), ("currency", c_char_p)]


class ww_device(Structure):
    _fields_ = [("name", c_char_p), ("state", c_char_p), ("watts", ww_quantity),
                ("estimable", c_int32), ("group", c_uint32), ("with_offset", ww_quantity),
                ("readings", c_uint64), ("va", c_double), ("pf", c_double)]


class ww_device_group(Structure):
    _fields_ = [("count", c_size_t), ("device", POINTER(c_uint32)), ("with_offset", c_int32),
                ("reserved", c_int32), ("sum", ww_quantity)]


class ww_device_next(Structure):
    _fields_ = [("on", c_size_t), ("device", POINTER(c_uint32)), ("separates", c_size_t),
                ("separate", POINTER(c_uint32)), ("rank_gain", c_uint32), ("flips", c_uint32),
                ("gain", c_double)]


class ww_device_level(Structure):
    _fields_ = [("device", c_uint32), ("synthetic", c_int32), ("watts", ww_quantity),
                ("added", ww_quantity)]


class ww_attribute_info(Structure):
    _fields_ = [("offset", ww_quantity), ("total", ww_quantity), ("total_shown", ww_quantity),
                ("drift", ww_quantity), ("total_va", c_double), ("total_pf", c_double),
                ("chi2", c_double), ("p", c_double), ("birge", c_double), ("scale", c_double),
                ("dof", c_uint64), ("rank", c_uint64), ("readings", c_uint64),
                ("resolution", c_double), ("total_synthetic", c_int32), ("reserved", c_int32)]


class ww_device_pair(Structure):
    _fields_ = [("a", c_uint32), ("b", c_uint32), ("extra", ww_quantity)]


class ww_saving(Structure):
    _fields_ = [("before", ww_quantity), ("now", ww_quantity), ("before_shown", ww_quantity),
                ("now_shown", ww_quantity), ("watts", ww_quantity), ("kwh_year", ww_quantity),
                ("money_year", ww_quantity), ("payback_years", ww_quantity),
                ("payback_ci", c_double * 2), ("hours_per_day", c_double), ("price", c_double),
                ("cost", c_double), ("currency", c_char_p)]


class ww_plan_options(Structure):
    _fields_ = [("size", c_size_t), ("readings", c_uint32), ("one_flip", c_int32),
                ("reading_u", c_double)]


class ww_plan_info(Structure):
    _fields_ = [("devices", c_size_t), ("readings", c_size_t), ("u", c_double),
                ("u_bound", c_double), ("u_onebyone", c_double), ("flips", c_uint64),
                ("hadamard", c_int32), ("reserved", c_int32)]


class ww_runs_options(Structure):
    _fields_ = [("size", c_size_t), ("channel", c_char_p), ("failed", c_int32),
                ("reserved", c_int32)]


class ww_run(Structure):
    _fields_ = [("n", c_uint32), ("round", c_uint32), ("variant", c_uint32),
                ("repeat", c_uint32), ("label", c_char_p), ("command", c_char_p),
                ("warmup", c_int32), ("status", c_int32), ("signal", c_int32),
                ("used", c_int32), ("start", ww_interval), ("end", ww_interval),
                ("duration_s", ww_quantity), ("cpu_s", c_double), ("gross_J", ww_quantity),
                ("marginal_J", ww_quantity), ("mean_W", ww_quantity), ("peak_W", c_double),
                ("before_W", ww_quantity), ("after_W", ww_quantity), ("coverage", c_double),
                ("edges_J", c_double), ("gross_own_u", c_double), ("marginal_own_u", c_double),
                ("work", ww_quantity), ("work_unit", c_char_p), ("gross_per", ww_quantity),
                ("marginal_per", ww_quantity), ("time_per", ww_quantity), ("why", c_char_p),
                ("work_why", c_char_p)]


class ww_run_variant(Structure):
    _fields_ = [("label", c_char_p), ("command", c_char_p), ("work_unit", c_char_p),
                ("runs", c_uint64), ("failed", c_uint64), ("no_energy", c_uint64),
                ("n", c_uint64), ("duration_s", ww_quantity), ("gross_J", ww_quantity),
                ("marginal_J", ww_quantity), ("mean_W", ww_quantity), ("work", ww_quantity),
                ("gross_per", ww_quantity), ("marginal_per", ww_quantity),
                ("time_per", ww_quantity), ("duration_sd", c_double), ("gross_sd", c_double),
                ("marginal_sd", c_double), ("peak_W", c_double)]


class ww_runs_meter(Structure):
    _fields_ = [("channel", c_char_p), ("semantics", c_int32), ("reserved", c_int32),
                ("period_s", c_double), ("window_s", c_double), ("resolution", c_double),
                ("gain_u", c_double), ("offset_u", c_double)]


class ww_work_found(Structure):
    _fields_ = [("kind", c_int32), ("reserved", c_int32), ("lines", c_uint64),
                ("value", c_double), ("u", c_double), ("unit", c_char_p), ("why", c_char_p)]


class ww_numbers_options(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("column", c_char_p),
                ("label", c_char_p)]


class ww_numbers_group(Structure):
    _fields_ = [("label", c_char_p), ("measure", c_char_p), ("unit", c_char_p),
                ("value", POINTER(c_double)), ("when", POINTER(c_double)), ("n", c_size_t)]


class ww_compare_set(Structure):
    _fields_ = [("variant", c_char_p), ("measure", c_char_p), ("unit", c_char_p),
                ("value", POINTER(c_double)), ("when", POINTER(c_double)),
                ("pair", POINTER(c_uint32)), ("n", c_size_t), ("per_offset", c_double),
                ("per_gain", c_double), ("series", c_uint32), ("reserved", c_uint32)]


class ww_compare_options(Structure):
    _fields_ = [("size", c_size_t), ("pairing", c_int32), ("other_meter", c_int32),
                ("conf", c_double), ("power", c_double), ("offset_u", c_double),
                ("gain_u", c_double), ("resolution", c_double), ("base", c_char_p)]


class ww_comparison(Structure):
    _fields_ = [("measure", c_char_p), ("unit", c_char_p), ("a", c_char_p), ("b", c_char_p),
                ("n_a", c_uint64), ("n_b", c_uint64), ("failed_a", c_uint64),
                ("failed_b", c_uint64), ("pairs", c_uint64), ("mean_a", ww_quantity),
                ("mean_b", ww_quantity), ("sd_a", c_double), ("sd_b", c_double),
                ("method", c_int32), ("verdict", c_int32), ("ratio", c_double),
                ("ratio_ci", c_double * 2), ("u_runs", c_double), ("u_meter", c_double),
                ("df", c_double), ("difference", ww_quantity), ("difference_ci", c_double * 2),
                ("p", c_double), ("p_holm", c_double), ("signed_rank_p", c_double),
                ("mann_whitney_u", c_double), ("mann_whitney_p", c_double),
                ("brunner_munzel_p", c_double), ("shift", c_double), ("shift_ci", c_double * 2),
                ("cliffs_delta", c_double), ("cohens_d", c_double), ("detectable", c_double),
                ("needed", c_double), ("detectable_abs", c_double)]


class ww_standby_options(Structure):
    _fields_ = [("size", c_size_t), ("channel", c_char_p), ("from_ns", c_int64),
                ("to_ns", c_int64), ("procedure", c_int32), ("cyclic", c_int32),
                ("limit_watts", c_double), ("crest", c_double), ("power_factor", c_double),
                ("acc_abs", c_double), ("acc_rel", c_double), ("supply_volts", c_double),
                ("supply_hz", c_double), ("ambient_degC", c_double)]


class ww_standby_result(Structure):
    _fields_ = [("procedure", c_int32), ("verdict", c_int32), ("standing", c_int32),
                ("under", c_int32), ("begin_s", c_double), ("from_s", c_double),
                ("to_s", c_double), ("tested_s", c_double), ("lucky_s", c_double),
                ("n", c_uint64), ("watts", ww_quantity), ("u_noise", c_double),
                ("u_resolution", c_double), ("u_accuracy", c_double), ("expanded", c_double),
                ("expanded_limit", c_double), ("dof", c_double), ("slope", ww_quantity),
                ("slope_limit", c_double), ("variation", c_double), ("interval_s", c_double),
                ("period_s", c_double), ("cycles", c_uint64), ("crest", c_double),
                ("power_factor", c_double), ("mcr", c_double), ("volts", c_double),
                ("hz", c_double), ("thd", c_double), ("volts_crest", c_double),
                ("limit_watts", c_double), ("coverage", c_double), ("gaps", c_uint64)]


class ww_clause(Structure):
    _fields_ = [("name", c_char_p), ("requirement", c_char_p), ("measured", c_char_p),
                ("state", c_int32), ("given", c_int32)]


class ww_runtime_point(Structure):
    _fields_ = [("watts", ww_quantity), ("minutes", ww_quantity)]


class ww_runtime_options(Structure):
    _fields_ = [("size", c_size_t), ("watts", ww_quantity), ("va", ww_quantity),
                ("pf", ww_quantity), ("peak_W", c_double), ("rating_W", c_double),
                ("rating_VA", c_double), ("table", c_void_p), ("model", c_char_p),
                ("measured", POINTER(ww_runtime_point)), ("points", c_size_t),
                ("capacity_Ah", ww_quantity), ("volts", ww_quantity), ("series", c_uint32),
                ("parallel", c_uint32), ("chemistry", c_int32), ("direct", c_int32),
                ("rated_h", c_double), ("peukert", ww_quantity), ("efficiency", ww_quantity),
                ("own_W", ww_quantity), ("depth", ww_quantity), ("ageing", ww_quantity),
                ("temperature", ww_quantity), ("celsius", ww_quantity),
                ("has_celsius", c_int32), ("reserved", c_int32), ("wanted_h", ww_quantity)]


class ww_runtime_case(Structure):
    _fields_ = [("model", c_char_p), ("method", c_int32), ("extrapolated", c_int32),
                ("load", c_double), ("unit", c_char_p), ("minutes", ww_quantity),
                ("bounds_min", c_double * 2), ("exponent", c_double), ("error_log", c_double),
                ("error_linear", c_double), ("points", c_uint64), ("battery_W", ww_quantity),
                ("battery_A", ww_quantity), ("own_W", ww_quantity), ("efficiency", ww_quantity),
                ("delivered_Wh", ww_quantity), ("nameplate", c_double), ("heaviest", c_double),
                ("why", c_char_p)]


class ww_runtime_need(Structure):
    _fields_ = [("hours", ww_quantity), ("energy_Wh", ww_quantity), ("ideal_Ah", c_double),
                ("Ah", ww_quantity), ("volts", c_double), ("strings", c_uint64)]


class ww_suspend_options(Structure):
    _fields_ = [("size", c_size_t), ("idle_watts", ww_quantity),
                ("suspended_watts", ww_quantity), ("transition_watts", ww_quantity),
                ("transition_J", ww_quantity), ("suspend_s", ww_quantity),
                ("resume_s", ww_quantity), ("gaps", c_int32), ("reserved", c_int32),
                ("gap_mean", c_double), ("gap_least", c_double), ("gap_alpha", c_double),
                ("gap_most", c_double), ("gap", POINTER(c_double)), ("n", c_size_t),
                ("timeout_s", c_double), ("visible_J", c_double), ("visible_s", c_double),
                ("battery_Wh", c_double), ("generated_watts", c_double),
                ("efficiency", c_double), ("ratio", c_double)]


class ww_policy_result(Structure):
    _fields_ = [("policy", c_int32), ("reserved", c_int32), ("timeout_s", c_double),
                ("watts", ww_quantity), ("life", ww_quantity), ("joules", c_double),
                ("cost_watts", c_double), ("competitive", c_double),
                ("wakes_per_hour", c_double), ("wakes", c_double), ("gaps_part", c_double),
                ("delay_mean_s", c_double), ("delay_p95_s", c_double),
                ("suspended_part", c_double), ("hours", c_double), ("ratio", c_double)]


class ww_suspend_result(Structure):
    _fields_ = [("transition_J", ww_quantity), ("break_even_s", ww_quantity),
                ("break_even_cost_s", c_double), ("limited_by_latency", c_int32),
                ("visible", c_int32), ("gap_mean", c_double), ("best_cross_watts", c_double),
                ("needed_watts", c_double), ("needed_part", c_double)]


class ww_suspend_fit(Structure):
    _fields_ = [("idle_watts", ww_quantity), ("suspended_watts", ww_quantity),
                ("transition_J", ww_quantity), ("suspend_s", ww_quantity),
                ("resume_s", ww_quantity), ("cycles", c_uint64), ("from_beats", c_int32),
                ("reserved", c_int32), ("why", c_char * 512)]


class ww_page_options(Structure):
    _fields_ = [("size", c_size_t), ("title", c_char_p), ("devices", c_size_t),
                ("cycle", c_uint32), ("detail", c_int32)]


class ww_export_options(Structure):
    _fields_ = [("size", c_size_t), ("what", c_int32), ("jsonl", c_int32), ("source", c_char_p),
                ("redact", c_int32), ("reserved", c_int32)]


STRUCTURES = (ww_error, ww_interval, ww_quantity, ww_anchor, ww_transport, ww_source_info,
              ww_channel_info, ww_mark, ww_gap, ww_writer_options, ww_batch, ww_import_options,
              ww_import_format, ww_recorder_options, ww_recorder_stats, ww_live, ww_found,
              ww_driver_info, ww_campaign_options, ww_campaign_state, ww_loopback_options,
              ww_loopback_result, ww_stat_options, ww_channel_stat, ww_resume_options, ww_stall,
              ww_cycle, ww_latency_summary, ww_pm_device, ww_pm_span, ww_pm_other, ww_pm_reason,
              ww_pm_cycle, ww_kernlog_options, ww_shift_row, ww_shift_options, ww_vet_options,
              ww_vet_row, ww_bisect_options, ww_bisect, ww_steps_options, ww_step, ww_level,
              ww_calibration_options, ww_calibration_info, ww_attribute_options, ww_device,
              ww_device_group, ww_device_next, ww_device_level, ww_attribute_info,
              ww_device_pair, ww_saving, ww_plan_options, ww_plan_info, ww_runs_options, ww_run,
              ww_run_variant, ww_runs_meter, ww_work_found, ww_numbers_options,
              ww_numbers_group, ww_compare_set, ww_compare_options, ww_comparison,
              ww_standby_options, ww_standby_result, ww_clause, ww_runtime_point,
              ww_runtime_options, ww_runtime_case, ww_runtime_need, ww_suspend_options,
              ww_policy_result, ww_suspend_result, ww_suspend_fit, ww_page_options,
              ww_export_options)

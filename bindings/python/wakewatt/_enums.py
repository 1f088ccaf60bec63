# SPDX-License-Identifier: MIT
"""Constants of the header.

Made from wakewatt.h by mirror.py.
"""

from __future__ import annotations

from enum import IntEnum


class ww_semantics(IntEnum):
    INSTANT = 0
    AVERAGE = 1
    HOLD = 2
    COUNTER = 3
    EDGE = 4


class ww_source_kind(IntEnum):
    METER = 0
    SERIAL = 1
    LINE = 2
    MANUAL = 3


class ww_form(IntEnum):
    FILE = 0
    JSONL = 1
    BINARY = 2


class ww_trace_state(IntEnum):
    CLOSED = 0
    LIVE = 1
    UNCLOSED = 2


class ww_cursor_flags(IntEnum):
    SURE = 1


class ww_beat_mode(IntEnum):
    UNKNOWN = 0
    STREAM = 1
    REOPEN = 2
    DRAIN = 3


class ww_event(IntEnum):
    REQUEST = 0
    LAST_BEAT = 1
    OFF = 2
    WAKE = 3
    FIRMWARE = 4
    HANDOFF = 5
    UART = 6
    FIRST_BEAT = 7
    STEADY = 8
    SETTLED = 9
    ALIVE = 10
    KERNEL_ENTRY = 11
    KERNEL_ASLEEP = 12
    KERNEL_AWAKE = 13
    THAWED = 14
    COUNT = 15
    MAX = 24


class ww_latency(IntEnum):
    SUSPEND_ENTRY = 0
    ASLEEP = 1
    FIRMWARE = 2
    KERNEL = 3
    RESUME_TO_UART = 4
    RESUME_TO_USER = 5
    RESUME_TO_STEADY = 6
    SILENCE = 7
    DUT_ASLEEP = 8
    ASLEEP_FIRMWARE = 9
    RESUME_TO_ALIVE = 10
    RESUME_TO_SETTLED = 11
    COUNT = 12
    MAX = 24


class ww_result(IntEnum):
    OK = 0
    REFUSED = 1
    ABORTED = 2
    EARLY = 3
    PM_TEST = 4
    RESET = 5
    HUNG = 6
    UNKNOWN = 7
    COUNT = 8


class ww_pm_phase(IntEnum):
    NO_PHASE = 0
    NOTIFIERS = 1
    SYNC = 2
    FREEZE = 3
    IMAGE = 4
    CONSOLE_OFF = 5
    PREPARE = 6
    SUSPEND = 7
    SUSPEND_LATE = 8
    SUSPEND_NOIRQ = 9
    CPU_OFF = 10
    SYSCORE_SUSPEND = 11
    MACHINE = 12
    SYSCORE_RESUME = 13
    CPU_ON = 14
    RESUME_NOIRQ = 15
    RESUME_EARLY = 16
    RESUME = 17
    COMPLETE = 18
    CONSOLE_ON = 19
    IMAGE_IO = 20
    IMAGE_READ = 21
    THAW = 22
    POST_NOTIFIERS = 23
    PHASES = 24


class ww_pm_verb(IntEnum):
    NO_VERB = 0
    V_SUSPEND = 1
    V_FREEZE = 2
    V_HIBERNATE = 3
    V_QUIESCE = 4
    V_RESUME = 5
    V_THAW = 6
    V_RESTORE = 7
    V_RECOVER = 8


class ww_pm_mode(IntEnum):
    UNKNOWN = 0
    MEM = 1
    S2IDLE = 2
    STANDBY = 3
    SHALLOW = 4
    DISK = 5


class ww_pm_result(IntEnum):
    OK = 0
    FAILED = 1
    ABORTED = 2
    TEST = 3
    RESET = 4
    HUNG = 5
    TRUNCATED = 6
    RESULTS = 7


class ww_pm_proof(IntEnum):
    NONE = 0
    BYTES = 1
    PACE = 2
    UNKNOWN = 3


class ww_pm_clock(IntEnum):
    NONE = 0
    PRINTK = 1
    TRACE = 2
    HOST = 3
    BENCH = 4


class ww_shift_verdict(IntEnum):
    NONE = 0
    SLOWER = 1
    FASTER = 2
    BELOW_RESOLUTION = 3
    TOO_FEW = 4
    ONLY_A = 5
    ONLY_B = 6


class ww_vet_kind(IntEnum):
    VARIES = 0
    FIXED = 1
    TICK = 2


class ww_bisect_verdict(IntEnum):
    GOOD = 0
    BAD = 1
    SKIP = 125


class ww_step_state(IntEnum):
    DETECTED = 0
    KNOWN_TIME = 1
    UNRESOLVED = 2


class ww_level_shape(IntEnum):
    CONSTANT = 0
    LINE = 1
    SETTLING = 2


class ww_attribute_set(IntEnum):
    NOW = 0
    BEFORE = 1


class ww_work_kind(IntEnum):
    NONE = 0
    AMOUNT = 1
    RATE = 2


class ww_pairing(IntEnum):
    AUTO = 0
    YES = 1
    NO = 2


class ww_verdict(IntEnum):
    NONE = 0
    LESS = 1
    MORE = 2
    SAME = 3
    UNRESOLVED = 4


class ww_compare_method(IntEnum):
    NONE = 0
    PAIRED_LOG = 1
    WELCH_LOG = 2
    PAIRED = 3
    WELCH = 4


class ww_standby_procedure(IntEnum):
    SAMPLING = 0
    AVERAGE = 1
    DIRECT = 2
    EDITION1 = 3
    ENERGYSTAR = 4


class ww_standby_verdict(IntEnum):
    STABLE = 0
    NOT_STABLE = 1
    NOT_RESOLVED = 2
    TOO_SHORT = 3
    NO_TEST = 4


class ww_standby_standing(IntEnum):
    INFORMATIVE = 0
    NOT_SHOWN = 1
    AS_OBSERVED = 2


class ww_clause_state(IntEnum):
    MET = 0
    NOT_MET = 1
    NOT_RESOLVED = 2
    NOT_OBSERVED = 3


class ww_chemistry(IntEnum):
    LEAD = 0
    LIFEPO4 = 1
    LIION = 2


class ww_runtime_method(IntEnum):
    TABLE = 0
    BATTERY = 1
    MEASURED = 2


class ww_gaps_kind(IntEnum):
    NONE = 0
    FIXED = 1
    EXPONENTIAL = 2
    PARETO = 3
    RECORDED = 4


class ww_policy(IntEnum):
    NEVER = 0
    AT_ONCE = 1
    TIMEOUT = 2
    BREAK_EVEN = 3
    RANDOM = 4
    BEST = 5
    CLAIRVOYANT = 6
    COUNT = 7


class ww_report_form(IntEnum):
    TEXT = 0
    JSON = 1
    CSV = 2
    MARKDOWN = 3
    JUNIT = 4
    TRACE_EVENTS = 5
    HTML = 6


class ww_detail(IntEnum):
    AUTO = 0
    ALL = 1
    TABLE = 2


class ww_plot_form(IntEnum):
    SVG = 0
    HTML = 1


class ww_export_what(IntEnum):
    SAMPLES = 0
    BYTES = 1
    EVENTS = 2
    MARKS = 3
    GAPS = 4


VERSION_STRING = "0.1.0"
ABI = 1
ERROR_TEXT = 512
MARK_LABEL = "label"
MARK_START = "start"
MARK_STOP = "stop"
MARK_REQUEST = "request"
MARK_REQUEST_END = "request-end"
MARK_WAKE = "wake"
MARK_WAKE_END = "wake-end"
MARK_CYCLE_END = "cycle-end"
MARK_WARMUP = "warmup"
MARK_SILENT = "silent"
MARK_ALIVE = "alive"
MARK_CONTINUED = "continued"
MARK_CAMPAIGN_END = "campaign-end"
MARK_DUT_RESET = "reset"
MARK_DUT_RESET_END = "reset-end"
MARK_DUT_OFF = "off"
MARK_DUT_OFF_END = "off-end"
MARK_UNPLUGGED = "unplugged"
MARK_REPLUGGED = "replugged"
MARK_CLOCK_STEP = "clock-step"
MARK_BENCH_RESUME = "bench-resume"
MARK_RESET = "counter-reset"
MARK_DEVICE = "device"
GAP_DAMAGED = "damaged block"
MARK_RUN_START = "run-start"
MARK_RUN_END = "run-end"
MARK_RUN_WORK = "run-work"
MARK_BASELINE = "baseline"
MARK_BASELINE_END = "baseline-end"
TIME_MIN = MISSING = -(2**63)
TIME_MAX = 2**63 - 1
OVER = MISSING + 1
UNDER = MISSING + 2
CODE_MIN = MISSING + 16

# SPDX-License-Identifier: MIT
"""Composed kernel logs (kgen.py) as programs leave them: serial captures, dmesg, journals."""
import time

from kgen import MS

START_UTC = 1_683_356_889  # 2023-05-06 07:08:09


def _k(line):
    return "[%5d.%06d] " % (line.t // 1_000_000_000, line.t // 1000 % 1_000_000)


def _utc(line):
    return START_UTC * 1_000_000_000 + line.t + line.slept


def _date(line, fmt):
    return time.strftime(fmt, time.gmtime(_utc(line) // 1_000_000_000))


def _us(line):
    return "%06d" % (_utc(line) // 1000 % 1_000_000)


def _ms(line):
    return "%03d" % (_utc(line) // MS % 1000)


def _body(line, kernel):
    return kernel + line.text if line.kernel else line.text


def _since(line, first):
    return (_utc(line) - _utc(first)) / 1e9


def raw(line, first, before):
    return _body(line, _k(line))


def level(line, first, before):
    return _body(line, "<%d>%s" % (line.level, _k(line)))


def igt(line, first, before):
    return _body(line, "<%d> [%d.%06d] " % (line.level, line.t // 1_000_000_000,
                                            line.t // 1000 % 1_000_000))


def caller(line, first, before):
    return _body(line, "%s[%6s] " % (_k(line).rstrip(), "T%d" % line.pid))


def dmesg_x(line, first, before):
    return _body(line, "kern  :%-6s: %s" % ({3: "err", 5: "notice", 6: "info", 7: "debug"}
                                            [line.level], _k(line)))


def lava(line, first, before):
    return "%s.%s  %s" % (_date(line, "%Y-%m-%dT%H:%M:%S"), _us(line), level(line, first, before))


def grabserial(line, first, before):
    return "[%.6f %.6f] %s" % (_since(line, first), _since(line, before), _body(line, _k(line)))


def tio(line, first, before):
    return "[%s.%s] %s" % (_date(line, "%H:%M:%S"), _ms(line), _body(line, _k(line)))


def tio_iso(line, first, before):
    return "[%s.%s] %s" % (_date(line, "%Y-%m-%dT%H:%M:%S"), _ms(line), _body(line, _k(line)))


def minicom(line, first, before):
    return "[%s.%s]@0 %s" % (_date(line, "%Y%m%d_%H:%M:%S"), _us(line), _body(line, _k(line)))


def syslog(line, first, before):
    return "%s bench %s%s" % (_date(line, "%b %e %H:%M:%S"), "kernel: " if line.kernel else
                              "rtcwake[77]: ", _body(line, _k(line)))


def iso(line, first, before):
    return "%s.%s+00:00 bench %s%s" % (_date(line, "%Y-%m-%dT%H:%M:%S"), _us(line),
                                      "kernel: " if line.kernel else "rtcwake[77]: ",
                                      _body(line, _k(line)))


def logcat(line, first, before):
    return "%s.%s %5d %5d I %s" % (_date(line, "%m-%d %H:%M:%S"), _ms(line), 0, 0,
                                   "kernel  : " + _k(line) + line.text if line.kernel
                                   else "rtcwake: " + line.text)


def quoted(line, first, before):
    return "> > " + raw(line, first, before)


def indented(line, first, before):
    return "\t    " + raw(line, first, before)


def grep(line, first, before):
    return "%d:%s" % (4711 + (line.t - first.t) % 7, raw(line, first, before))


def glued(line, first, before):
    return ("root@bench:~# " if line.t and line.t % 5000 == 0 else "") + raw(line, first, before)


def colour(line, first, before):
    return _body(line, "\x1b[32m%s\x1b[0m" % _k(line))


def tty(line, first, before):
    return raw(line, first, before) + "\r"


def junk(line, first, before):
    return _body(line, ("\xf8\xfe" if line.t % 3000 == 0 else "") + _k(line))


def journal(line, first, before):
    return "%s bench %s%s" % (_date(line, "%b %d %H:%M:%S"), "kernel: " if line.kernel else
                              "rtcwake[77]: ", line.text)


def journal_de(line, first, before):
    return "%s. %s bench %s%s" % ("Mai", _date(line, "%d %H:%M:%S"), "kernel: " if line.kernel else
                                 "rtcwake[77]: ", line.text)


def dmesg_t(line, first, before):
    return _body(line, "[%s] " % _date(line, "%a %b %e %H:%M:%S %Y"))


def bare(line, first, before):
    return line.text


def wrapped(line, first, before):
    """As a mail program breaks its lines."""
    text, out = raw(line, first, before), []
    while len(text) > 76 and " " in text[40:76]:
        at = text.rindex(" ", 0, 76)
        out.append(text[:at])
        text = text[at + 1:]
    return "\n".join(out + [text])


def reltime(line, first, before):
    if line is first:
        return _body(line, "[%s] " % _date(line, "%b%e %H:%M").replace("  ", " "))
    return _body(line, "[%+11.6f] " % ((line.t - before.t) / 1e9))


# What stamps a line: the kernel to the microsecond, a clock in whole seconds, none.
FRAMINGS = {
    "kernel": [raw, level, igt, caller, dmesg_x, lava, grabserial, tio, tio_iso, minicom, syslog,
               iso, logcat, quoted, indented, grep, glued, colour, tty, junk,
               wrapped],
    "delta": [reltime],
    "second": [journal, journal_de, dmesg_t],
    "none": [bare],
}


ONE_BOOT = (reltime, dmesg_x, dmesg_t)


def frame(log, how):
    first = before = next(x for x in log.lines if x.kernel)
    out = []
    for line in log.lines:
        if how in ONE_BOOT + (igt,) and not line.kernel:
            continue  # dmesg knows the kernel's lines alone
        out.append(how(line, first, before))
        if line.kernel:
            before = line
    return ("\n".join(out) + "\n").encode("latin-1")

#!/bin/sh
# SPDX-License-Identifier: MIT
# Static checks: lint.sh [PART...], parts: format tidy cppcheck limits layers symbols man scripts
# ruff (where it is, or in build/venv).
# Silent where all is well; findings as FILE:LINE. B names the build whose library is read.
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
parts=${*:-format limits scripts ruff man layers symbols cppcheck tidy}
jobs=$(nproc)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0

# Files of the project that match; outside of git those that lie there.
files() {
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -- "$@"
	else
		for pattern in "$@"; do
			find . -path "./build*" -prune -o -path "./$pattern" -print | sed 's|^\./||'
		done
	fi | sort -u | while read -r f; do [ ! -f "$f" ] || echo "$f"; done
}
finding() { # part: what a failing part printed is in $log
	echo "lint: $1" >&2
	cat "$log" >&2
	bad=1
}
need() {
	command -v "$1" >/dev/null && return 0
	echo "$1 is missing; 'make deps' installs it" >"$log"
	return 1
}
cflags() {
	f="-std=c11 -D_GNU_SOURCE -Iinclude -Ilib"
	pkgs="sqlite3 libzstd"
	pkg-config --exists libusb-1.0 && pkgs="$pkgs libusb-1.0" && f="$f -DWW_WITH_USB=1"
	pkg-config --exists libftdi1 && pkgs="$pkgs libftdi1" && f="$f -DWW_WITH_FTDI=1"
	pkg-config --exists libgpiod && pkgs="$pkgs libgpiod" &&
		f="$f -DWW_WITH_GPIOD=$(pkg-config --modversion libgpiod | cut -d. -f1)"
	pkg-config --exists libcurl && pkgs="$pkgs libcurl" && f="$f -DWW_WITH_CURL=1"
	pkg-config --exists jansson && pkgs="$pkgs jansson" && f="$f -DWW_WITH_JANSSON=1"
	pkg-config --exists nettle && pkgs="$pkgs nettle" && f="$f -DWW_WITH_NETTLE=1"
	pkg-config --exists zlib && pkgs="$pkgs zlib" && f="$f -DWW_WITH_ZLIB=1"
	pkg-config --exists liblzma && pkgs="$pkgs liblzma" && f="$f -DWW_WITH_LZMA=1"
	echo "$f $(pkg-config --cflags $pkgs)"
}

format() {
	need clang-format || return 1
	files '*.c' '*.h' | xargs clang-format --dry-run 2>&1 |
		sed -n 's/^\([^ :]*:[0-9]*\):.* \(code should be.*\) \[.*/\1: \2/p' | uniq >"$log"
	[ ! -s "$log" ]
}
tidy_one='f=$1; shift
case $f in
lib/base/error.c | tools/*) pre= ;;
*) pre="-include tests/analyze.h" ;;
esac
out=$(clang-tidy --quiet "$f" -- $pre "$@" 2>/dev/null) && exit 0
# The finding and its line; clang-tidy shows the path to it when it is run by hand.
printf "%s\n" "$out" | grep -A 2 -E "(error|warning):" | sed "s|^$PWD/||; /^--$/d"
exit 1'
tidy() {
	need clang-tidy && files 'lib/*.c' 'tools/*.c' |
		xargs -P "$jobs" -I '{}' sh -c "$tidy_one" tidy '{}' $(cflags) >"$log" 2>&1
}
# WW_OPT() allows for NULL also where a caller may not give it. Newer versions tell where
# they did not look at every branch.
cppcheck_() {
	need cppcheck && files 'lib/*.c' 'tools/*.c' >"$log.list" &&
		cppcheck -q -j "$jobs" --std=c11 --enable=warning,performance,portability \
			--inline-suppr --suppress='*:/usr/include/*' --suppress=missingIncludeSystem \
			--suppress=unknownMacro --suppress=shiftTooManyBitsSigned \
			--suppress=nullPointerRedundantCheck --suppress=arrayIndexThenCheck \
			--suppress=normalCheckLevelMaxBranches \
			--error-exitcode=1 -D_GNU_SOURCE -D__linux__ \
			-DWW_WITH_USB=1 -DWW_WITH_FTDI=1 -DWW_WITH_GPIOD=1 -Iinclude -Ilib \
			--template='{file}:{line}: {severity}: {message} [{id}]' \
			--file-list="$log.list" >"$log" 2>&1
	rc=$?
	rm -f "$log.list"
	return $rc
}
# ttybeat is one file so that a DUT needs no more; the header is half documentation, and a program
# writes its mirror.
limits() {
	files 'lib/*.[ch]' 'tools/*.[ch]' 'tests/*.[ch]' 'tests/*.py' 'bindings/*.py' |
		grep -vE '^tools/ttybeat.c$|/_structs.py$' | xargs awk '
		FNR == 501 { print FILENAME ":501: longer than 500 lines"; bad = 1 }
		FNR <= 3 && /SPDX-License-Identifier/ { seen[FILENAME] = 1 }
		FNR == 3 && !seen[FILENAME] { print FILENAME ":1: no SPDX line"; bad = 1 }
		/[ \t]$/ { print FILENAME ":" FNR ": space at the end of the line"; bad = 1 }
		END { exit bad }' >"$log" 2>&1
}
layers() {
	python3 tests/layers.py >"$log" 2>&1
}
symbols() {
	make -s -j "$jobs" B="${B:-build}" all >"$log" 2>&1 &&
		python3 tests/symbols.py "${B:-build}" >"$log" 2>&1
}
# A page of a subcommand refers to its program's, whose name it begins with.
man() {
	need mandoc || return 1
	files 'tools/man/*' | xargs -r mandoc -T lint -W warning 2>&1 |
		grep -v 'cross reference to self' >"$log"
	[ ! -s "$log" ]
}
scripts() {
	rc=0
	for f in $(files '*.sh' '.ci/run'); do
		sh -n "$f" 2>>"$log" || rc=1
	done
	for f in $(files '*.bash'); do
		bash -n "$f" 2>>"$log" || rc=1
	done
	files '*.py' | xargs python3 -c '
import sys
bad = 0
for name in sys.argv[1:]:
    try:
        with open(name, encoding="utf-8") as f:
            compile(f.read(), name, "exec", dont_inherit=True)
    except SyntaxError as e:
        print(f"{name}:{e.lineno}: {e.msg}")
        bad = 1
sys.exit(bad)' >>"$log" 2>&1 || rc=1
	return $rc
}
# tests/python/venv.sh installs it; Debian 12 has none.
ruff_() {
	ruff=$(command -v ruff || echo "${B:-build}/venv/bin/ruff")
	[ -x "$ruff" ] || return 0
	"$ruff" check -q --no-cache --output-format concise --line-length 100 --select F,E,W bindings/python \
		>"$log" 2>&1
}

for p in $parts; do
	: >"$log"
	case $p in
	cppcheck | ruff) "${p}_" || finding "$p" ;;
	format | tidy | limits | layers | symbols | man | scripts) "$p" || finding "$p" ;;
	*) echo "lint: no part $p" >&2; exit 2 ;;
	esac
done
exit $bad

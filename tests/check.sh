#!/bin/sh
# SPDX-License-Identifier: MIT
# All tests: check.sh [PART...], parts: units clang cli asan python lab lint fuzz.
# Ends with one line 'N passed, N failed'.
set -u
cd "$(dirname "$0")/.." || exit 1
parts=${*:-units clang cli asan python lab lint fuzz}
jobs=$(nproc)
TEST_COUNTS=$(mktemp)
export TEST_COUNTS
trap 'rm -rf "$TEST_COUNTS" ${idle:+"$idle"}' EXIT

# A step that is no TAP program counts as one test.
step() {
	name=$1
	shift
	log=$(mktemp)
	start=$(date +%s)
	if "$@" >"$log" 2>&1; then
		echo "ok   $name ($(($(date +%s) - start)) s)"
		echo 1 0 0 >>"$TEST_COUNTS"
	else
		echo "FAIL $name"
		tail -n 60 "$log" | sed 's/^/    /'
		echo 0 1 0 >>"$TEST_COUNTS"
		rm -f "$log"
		return 1
	fi
	rm -f "$log"
}
mk() { make --no-print-directory -j"$jobs" "$@"; }
# Those of lib/bus and lib/capture measure how late something was, a campaign has time-outs: one at
# a time. The others mostly wait.
alone='/(bus|capture)/[^/]*$|/control/test_campaign$'
units() { # directory of the build, pattern of what is left out
	all=$(find "$1/tests" -type f -name 'test_*' -perm -u+x | sort | grep -vE "${2:-^$}")
	python3 tests/runner.py -j$((2 * jobs)) $(echo "$all" | grep -vE "$alone")
	python3 tests/runner.py $(echo "$all" | grep -E "$alone")
}

# Those that record while something happens: one at a time.
scripts() {
	all=$(find tests -name 'test_*.py' ! -path 'tests/lab/*' ! -path 'tests/python/*' | sort)
	live='/test_(loopback|meters|plugs|record|record_campaign|resumetime|run|standby|ttybeat|wattsup)[.]py$'
	python3 tests/runner.py -j"$jobs" $(echo "$all" | grep -vE "$live")
	python3 tests/runner.py $(echo "$all" | grep -E "$live")
}

# What only computes goes on beside tests that mostly wait, and gives way to them at once.
part_sanitized() { $gentle make --no-print-directory -j"$jobs" B=build/asan SAN=1 OPT='-O1 -g' all tests; }
part_venv() { $gentle tests/python/venv.sh; }
part_lint() { $gentle tests/lint.sh; }
part_fuzz() { $gentle make --no-print-directory -j"$jobs" fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-1}"; }
gentle=
idle_parts=
idle=
beside() {
	[ -z "$idle" ] || return 0
	for q in asan python lint fuzz; do
		case " $parts " in *" $q "*) ;; *) continue ;; esac
		case $q in asan) q=sanitized ;; python) q=venv ;; esac
		idle_parts="$idle_parts $q"
	done
	[ -n "$idle_parts" ] || return 0
	idle=$(mktemp -d)
	(
		for q in $idle_parts; do
			start=$(date +%s)
			gentle="chrt -i 0"
			"part_$q" >"$idle/$q.log" 2>&1
			echo "$? $(($(date +%s) - start))" >"$idle/$q.rc.new"
			mv "$idle/$q.rc.new" "$idle/$q.rc"
		done
	) &
	idle_pid=$!
}
# The result of what ran beside, as a step; or the step itself where nothing did.
result() { # part, name
	case " $idle_parts " in *" $1 "*) ;; *) step "$2" "part_$1"; return ;; esac
	while [ ! -e "$idle/$1.rc" ] && kill -0 "$idle_pid" 2>/dev/null; do sleep 0.2; done
	read -r rc took <"$idle/$1.rc" || rc=1
	if [ "$rc" = 0 ]; then
		echo "ok   $2 ($took s, beside)"
		echo 1 0 0 >>"$TEST_COUNTS"
		return
	fi
	echo "FAIL $2"
	tail -n 60 "$idle/$1.log" | sed 's/^/    /'
	echo 0 1 0 >>"$TEST_COUNTS"
	return 1
}
quiet() { [ -z "$idle" ] || wait "$idle_pid" 2>/dev/null || true; }
# Under Debian's Python and its libraries; the wheel under the current ones; reading with nothing.
pythons() {
	all=$(ls tests/python/test_*.py)
	TEST_PYTHON=/usr/bin/python3 python3 tests/runner.py -j$((2 * jobs)) $all
	result venv "virtual environment" &&
		TEST_PYTHON=build/venv/bin/python WW_INSTALLED=1 python3 tests/runner.py -j$((2 * jobs)) $all
	WW_BARE=1 python3 tests/runner.py -j"$jobs" $(echo "$all" | grep -E '/test_(wakewatt|store)[.]py$')
}
# Machines that prove what their kernel does run two at a time; those that are timed, alone.
machines() {
	all=$(ls tests/lab/test_*.py)
	two='/test_(gpio|powercut|relay|sysfs|usb)[.]py$'
	# The longest is the last by its name, and begins first.
	python3 tests/runner.py -j"$jobs" $(echo "$all" | grep -E "$two" | sort -r)
	quiet
	python3 tests/runner.py $(echo "$all" | grep -vE "$two")
}

for p in $parts; do
	echo "== $p"
	case $p in
	units) step "build, gcc" mk WERROR=1 all tests build/static/ttybeat-x86_64 && {
		case " $parts " in *" clang "*)
			step "build, clang" mk B=build/clang CC=clang WERROR=1 all tests ;;
		esac
		beside
		units build
	} ;;
	# An experiment repeated a thousand times shows the sanitizers nothing more than once, and
	# what is timed is another thing under them.
	asan) result sanitized "build, sanitizers" &&
		units build/asan '/test_(compare_repeated|stat_u|standby_cycles|suspend_model_fit|interval|lateness|stall|blackhole)$' ;;
	clang) case " $parts " in *" units "*) ;; *)
		step "build, clang" mk B=build/clang CC=clang WERROR=1 all tests ;;
	esac ;;
	cli) step "build" mk all tests && step "build, clang" mk B=build/clang CC=clang WERROR=1 all && {
		beside
		scripts
	} ;;
	python) step "build" mk all && pythons ;;
	lint | fuzz) result "$p" "$p" ;;
	lab) step "build" mk all build/static/ttybeat-x86_64 &&
		machines ;;
	*) echo "check: no part $p" >&2; exit 2 ;;
	esac
done
awk '{p += $1; f += $2; s += $3}
     END {printf "%d passed, %d failed%s\n", p, f, s ? ", " s " skipped" : ""
          exit !(f == 0 && p > 0)}' "$TEST_COUNTS"

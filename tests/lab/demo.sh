#!/bin/sh
# SPDX-License-Identifier: MIT
# A machine that really suspends, its watts and its latencies: five cycles of a
# virtual machine whose heartbeat comes over a paced wire. Its wattmeter is
# simulated and follows its state.
set -eu
cd "$(dirname "$0")/../.."
build=${WW_BUILD:-$PWD/build}
cycles=${1:-5}
dut() { tests/lab/dut --dir "$build/lab/demo" "$@"; }
trace=$build/lab/demo.wwt
rm -f "$trace" "$trace"-*
trap 'dut stop' EXIT

echo "demo: booting the machine under test (the first time its kernel is fetched)" >&2
dut start --beat "--mode drain --format stamped"
"$build/bin/resumetime" record -p "$(dut wire)" \
	-m "sim:?follow=$(dut state-file)&on=24.9&off=0.8&rate=20&noise=0.1&resolution=0.1" \
	--cycles "$cycles" --asleep 3s --settle 2s --silence 500ms \
	--suspend "tests/lab/dut --dir '$build/lab/demo' suspend" --wake "$(dut wake-command)" \
	-o "$trace" >/dev/null
"$build/bin/pwrlog" stat "$trace"
echo
echo "== changes of its power, down and up with each cycle"
"$build/bin/pwrlog" steps "$trace"
echo
echo "== latencies"
"$build/bin/resumetime" report "$trace"
echo
echo "== watts of each device, from readings typed by hand (examples/thinclient.sh)"
PWRLOG="$build/bin/pwrlog" sh examples/thinclient.sh
echo
echo "demo: the trace is $trace; look at it with $build/bin/wwtrace info, dump or export" >&2

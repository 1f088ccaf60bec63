#!/bin/sh
# SPDX-License-Identifier: MIT
# Benchmarks, each beside a named peer in the same run: run.sh BUILD
set -eu
cd "$(dirname "$0")/../.."
build=$1
export LC_ALL=C
for b in "$build"/tests/bench/bench_*; do
	[ -x "$b" ] && [ -f "$b" ] || continue
	echo "== ${b##*/}"
	"$b"
done
echo "== record"
python3 tests/bench/record.py "$build" "${BENCH_SECONDS:-60}"
for s in tests/bench/bench_*.py; do
	[ -f "$s" ] || continue
	echo "== ${s##*/}"
	python3 "$s" "$build"
done

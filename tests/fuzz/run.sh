#!/bin/sh
# SPDX-License-Identifier: MIT
# Each fuzzer over its seed corpus and then FUZZ_SECONDS of its own ideas.
set -eu
cd "$(dirname "$0")/../.."
dir=$1
for f in "$dir"/fuzz_*; do
	[ -x "$f" ] && [ -f "$f" ] || continue
	name=${f##*/fuzz_}
	work=$(mktemp -d)
	echo "fuzz $name"
	(cd "$work" && "$OLDPWD/$f" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=10 \
		-rss_limit_mb=2048 -print_final_stats=0 -verbosity=0 -close_fd_mask=0 \
		. "$OLDPWD/tests/fuzz/corpus/$name") || { echo "crash kept in $work" >&2; exit 1; }
	rm -rf "$work"
done

#!/bin/sh
# SPDX-License-Identifier: MIT
# Each fuzzer over its seed corpus and then FUZZ_SECONDS of its own ideas.
set -eu
cd "$(dirname "$0")/../.."
top=$PWD
one() { # fuzzer
	name=${1##*/fuzz_}
	work=$(mktemp -d)
	if (cd "$work" && "$1" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=10 \
		-rss_limit_mb=2048 -print_final_stats=0 -verbosity=0 -close_fd_mask=0 \
		. "$top/tests/fuzz/corpus/$name") >"$work.log" 2>&1; then
		echo "fuzz $name"
		rm -rf "$work" "$work.log"
		return
	fi
	cat "$work.log"
	echo "fuzz $name: crash kept in $work"
	return 1
}
if [ "${2:-}" ]; then
	one "$2"
	exit
fi
dir=$(cd "$1" && pwd)
find "$dir" -name 'fuzz_*' -type f -perm -u+x | sort |
	xargs -P "$(nproc)" -I '{}' "$0" "$1" '{}'

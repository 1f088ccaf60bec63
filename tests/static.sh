#!/bin/sh
# SPDX-License-Identifier: MIT
# static.sh FOLDER: the DUT's program for other machines, and a check of what
# was built: static, small, and it runs where this machine can run it.
# STATIC_CC_i386 and STATIC_CC_arm name other compilers.
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/static}
limit=100000
failed=0
mkdir -p "$out"

first() { # of the compilers that is there
	for c in "$@"; do
		if [ -n "$c" ] && command -v "$c" >/dev/null; then
			echo "$c"
			return
		fi
	done
}
check() { # architecture, compiler
	f=$out/ttybeat-$1
	size=$(stat -c %s "$f")
	if readelf -l "$f" | grep -q INTERP; then
		echo "static: $f is not static" >&2
		failed=1
	fi
	case $2 in
	*musl*)
		if [ "$size" -ge $limit ]; then
			echo "static: $f has $size bytes, $limit are allowed" >&2
			failed=1
		fi ;;
	esac
	echo "$f: $size bytes, $2"
}
build() { # architecture, compilers to try
	arch=$1
	shift
	cc=$(first "$@")
	if [ -z "$cc" ]; then
		echo "ttybeat-$arch: skipped, none of these compilers is here:" "$@"
		return
	fi
	"$cc" -std=c99 -D_GNU_SOURCE -Os -s -static -Wall -Wextra -Werror -o "$out/ttybeat-$arch" \
		tools/ttybeat.c
	check "$arch" "$cc"
}

build x86_64 "${STATIC_CC_x86_64:-musl-gcc}"
build i386 "${STATIC_CC_i386:-}" i686-linux-musl-gcc i386-linux-musl-gcc i686-linux-gnu-gcc
build arm "${STATIC_CC_arm:-}" arm-linux-musleabi-gcc arm-linux-musleabihf-gcc \
	arm-linux-gnueabi-gcc arm-linux-gnueabihf-gcc
if [ -x "$out/ttybeat-x86_64" ] && [ "$(uname -m)" = x86_64 ]; then
	"$out/ttybeat-x86_64" --version
fi
exit $failed

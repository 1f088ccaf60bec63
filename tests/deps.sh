#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, by apt: deps.sh build|demo|all. Does nothing, and
# needs no rights, where everything is there already.
set -eu
build="gcc make pkg-config libc6-dev libsqlite3-dev libzstd-dev libusb-1.0-0-dev libftdi1-dev
    libgpiod-dev libcurl4-openssl-dev libjansson-dev nettle-dev zlib1g-dev liblzma-dev
    python3"
demo="$build musl-tools qemu-system-x86 busybox-static cpio kmod util-linux e2fsprogs xz-utils"
all="$demo clang clang-format clang-tidy cppcheck libcmocka-dev umockdev libumockdev-dev libmodbus-dev
    chromium grabserial sqlite3 mandoc locales procps git
    python3-numpy python3-pandas python3-xarray python3-matplotlib python3-venv"
# libFuzzer and the sanitizers' runtime come with the compiler's own version.
case ${1:-all} in
build) want=$build ;;
demo) want=$demo ;;
all) want=$all ;;
*) echo "usage: deps.sh build|demo|all" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "deps: not a Debian system; install what these packages hold:" $want >&2
	exit 0
fi
missing() {
	for p in "$@"; do
		dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q '^install ok' || echo "$p"
	done
}
install() {
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null ||
			{ echo "deps: run as root: apt-get install $*" >&2; exit 1; }
		sudo=sudo
	fi
	echo "deps: installing $*" >&2
	$sudo apt-get update -qq >&2
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends "$@" >&2
}
need=$(missing $want)
[ -z "$need" ] || install $need
if [ "${1:-all}" = all ]; then
	v=$(clang -dumpversion | cut -d. -f1)
	need=$(missing "libclang-rt-$v-dev")
	[ -z "$need" ] || install $need
fi

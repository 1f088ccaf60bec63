#!/bin/sh
# SPDX-License-Identifier: MIT
# What a byte of AES costs with the processor's AES instructions (A), and without them (B):
# J/B of `openssl speed`, in turns. The meter measures the machine that this runs on.
# usage: aes.sh METER [RUNS [SECONDS]]     PWRLOG names another program than pwrlog.
set -eu
meter=${1:?usage: aes.sh METER [RUNS [SECONDS]]}

case $(uname -m) in
x86_64 | i?86) without='OPENSSL_ia32cap=~0x200000200000000' ;;
aarch64) without='OPENSSL_armcap=1' ;;
*) echo "aes.sh: no switch for the AES instructions of $(uname -m) is known" >&2 && exit 1 ;;
esac
speed="openssl speed -elapsed -seconds ${3:-10} -bytes 16384 -evp aes-128-cbc"
# The words of $speed are the command's.
# shellcheck disable=SC2086
exec "${PWRLOG:-pwrlog}" run -m "$meter" -n "${2:-6}" --log /dev/null --per openssl \
	--interleave "env $without $speed" -- $speed

#!/bin/sh
# SPDX-License-Identifier: MIT
# How long a small UPS holds a thin client, and what a day without the mains takes.
#
# It held 48 minutes at 25 W; its battery has 12 V and 4.5 Ah. PWRLOG names another program than
# pwrlog.
set -eu
pwrlog=${PWRLOG:-pwrlog}

echo '--- with the monitor off: 11 W'
"$pwrlog" runtime --load 11W+-1 --measured 48min@25W --capacity 4.5Ah
echo
echo '--- a day at 25 W, from 12 V by an inverter, in a cold room'
"$pwrlog" runtime --load 25W+-0.6 --for 24h --temperature 0.9
echo
echo '--- the same without an inverter'
"$pwrlog" runtime --load 25W+-0.6 --for 24h --dc --chemistry lifepo4

#!/bin/sh
# SPDX-License-Identifier: MIT
# What a thin client saves over an old desktop: watts of each part, the saving in a year, and
# when it has paid for itself; then how long a small UPS holds it, and what a day takes. thinclient.sh [PRICE OF A KWH] [COST]
#
# The readings are those of a plug-in meter, typed into two small tables; it shows 1 W with
# nothing plugged in, which is taken off; 0.2 % is its maker's word. PWRLOG names another program
# than pwrlog. The UPS was seen to hold 25 W for 48 minutes; its battery is one of 12 V, 4.5 Ah.
set -eu
pwrlog=${PWRLOG:-pwrlog}
price=${1:-'$0.0702'}
cost=${2:-'$180'}
data=$(dirname "$0")/data

echo "Watts of each part, and what is saved"
echo
"$pwrlog" attribute --table "$data/thinclient.txt" --spec 0.2% --order box,supply \
	--against "$data/thinclient-before.txt" --price "$price" --cost "$cost"

echo
echo "How long a small UPS holds it"
echo
"$pwrlog" runtime --load 25W --measured 48min@25W --capacity 4.5Ah

echo
echo "What a day without mains takes"
echo
"$pwrlog" runtime --load 25W --for 24h

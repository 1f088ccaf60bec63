#!/bin/sh
# SPDX-License-Identifier: MIT
# What a thin client saves over an old desktop: watts of each part, the saving in a year, and
# when it has paid for itself. thinclient.sh [PRICE OF A KWH] [COST]
#
# The readings are those of a plug-in meter, typed into two small tables; it shows 1 W with
# nothing plugged in, which is taken off; 0.2 % is its maker's word. PWRLOG names another program
# than pwrlog.
set -eu
pwrlog=${PWRLOG:-pwrlog}
price=${1:-'$0.0702'}
cost=${2:-'$180'}
data=$(dirname "$0")/data

"$pwrlog" attribute --table "$data/thinclient.txt" --spec 0.2% --order box,supply \
	--against "$data/thinclient-before.txt" --price "$price" --cost "$cost"

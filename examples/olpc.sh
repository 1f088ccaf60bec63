#!/bin/sh
# SPDX-License-Identifier: MIT
# A laptop for children that suspends between two key strokes: 2.75 W idle, 1.0 W suspended,
# 0.25 s into suspend and 0.40 s out of it (3 W meanwhile, assumed). What is a gap's
# break-even, and what do policies come to? PWRLOG names another program than pwrlog.
set -eu
pwrlog=${PWRLOG:-pwrlog}

model() {
	"$pwrlog" suspend-model --transition 3 "$@"
}

# The value of a quantity or a number at a key of JSON in one line.
value() {
	sed 's/.*"'"$1"'":\({"value":\)\{0,1\}\([0-9.e+-]*\).*/\2/'
}

echo "idle/suspended  in + out       break-even"
while read -r idle asleep in out; do
	t=$(model --idle "$idle" --suspended "$asleep" --suspend-time "$in" --resume-time "$out" \
		--json | value break_even_s)
	printf '%4s / %-4s W    %4s + %-4s s  %5.2f s\n' "$idle" "$asleep" "$in" "$out" "$t"
done <<ROWS
2.75 1.0 0.25 0.40
2.75 1.0 0.25 0.95
2.75 1.0 0.1 0.1
ROWS

olpc() {
	model --idle 2.75 --suspended 1.0 --suspend-time 0.25 --resume-time 0.40 "$@"
}

echo
echo "Idle gaps of 5 s on average, a time-out of 15 s, a crank that gives 7 W:"
echo
olpc --gaps exponential:5 --timeout 15 --generated 7 --efficiency 0.8

echo
echo "What 10:1 takes where it draws 0.5 W suspended and the crank gives 10 W:"
echo
model --idle 2.75 --suspended 0.5 --suspend-time 0.25 --resume-time 0.40 --generated 10 \
	--efficiency 0.8

echo
echo "Sixteen gaps that were recorded:"
echo
printf '%s\n' 0.12 0.2 0.15 0.3 1.1 4.0 0.25 0.18 9.5 0.4 0.22 30 0.6 2.2 0.14 0.35 |
	olpc --gaps -

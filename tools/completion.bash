# SPDX-License-Identifier: MIT
# Bash completion for pwrlog, resumetime and wwtrace. Commands and options are taken from the
# programs' own --help, so that they are those of the version that runs.

_wakewatt_commands() {
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

_wakewatt_options() {
	"$1" "$2" --help 2>/dev/null | sed -n 's/^ \{2,6\}-/-/p' | sed 's/  .*//' |
		grep -oE -- '(^|[ ,])--?[A-Za-z][a-z-]*' | tr -d ' ,'
}

_wakewatt_ttys() {
	compgen -G '/dev/tty[A-Z]*[0-9]'
	compgen -G '/dev/serial/by-id/*'
	return 0
}

# What follows an option. Fails where that is for the user to know.
_wakewatt_value() {
	case $1 in
	-m)
		if [ "$2" = record ] || [ "$2" = run ] || [ "$2" = standby ]; then
			echo 'wattsup: sim: replay: manual:'
			_wakewatt_ttys
		else
			echo 'stream reopen drain'
		fi ;;
	-g) echo 'gpio:' ;;
	--wake) echo 'gpio: ftdi: tty: rtc: wol:' ;;
	--suspend | --reset | --off) echo 'gpio: ftdi: tty: wol:' ;;
	-p | --port | --console)
		case $2 in report | compare) return 1 ;; esac
		_wakewatt_ttys ;;
	-t | --tty) _wakewatt_ttys ;;
	--mode) echo 'stream reopen drain' ;;
	-f | --format)
		case $2 in
		beat) echo 'stamped plain' ;;
		export) echo 'csv jsonl' ;;
		compare) return 1 ;;
		*) wwtrace import --list 2>/dev/null | sed 's/ .*//' ;;
		esac ;;
	--stream) echo 'jsonl binary' ;;
	--metric) echo 'resume_to_user failures' ;;
	--certainty) echo '95% 99% 99.9%' ;;
	--per) echo 'openssl hdparm dd rsync nbench' ;;
	--method) echo 'sampling average direct' ;;
	--edition) echo '1 2' ;;
	--gaps) echo 'exponential: pareto: fixed:' ;;
	--what) echo 'samples bytes events marks gaps' ;;
	--spec) echo '0.2% 1W 2%+1W' ;;
	--chemistry) echo 'lead lifepo4 liion' ;;
	--meters) echo 'one two' ;;
	--table-unit) echo 'W VA' ;;
	-b | --baud) echo '9600 19200 38400 57600 115200 230400 460800 921600' ;;
	--for | --every | --spike | --period | --baseline | --asleep | --settle | --silence | --gap | --*-timeout)
		echo '100ms 1s 10s 1m 5m 1h' ;;
	*) return 1 ;;
	esac
}

# Whether the option takes a value, as its line of the help says.
_wakewatt_takes() {
	"$1" "$2" --help 2>/dev/null |
		grep -qE -- "^ {2,6}(-[A-Za-z],? )?.*$3(, --[a-z-]+)? [A-Z]"
}

_wakewatt() {
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]}
	local prev=${COMP_WORDS[COMP_CWORD - 1]} words

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_wakewatt_commands "$program") --help" -- "$cur")
		return
	fi
	# A colon divides words: DRIVER:PLACE is three of them.
	if [ "$cur" = : ] || [ "$prev" = : ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_wakewatt_ttys)" -- "${cur#:}")
		return
	fi
	case $cur in
	-*)
		mapfile -t COMPREPLY < <(compgen -W "$(_wakewatt_options "$program" "$command")" \
			-- "$cur")
		return ;;
	esac
	# What -g, -b and -m mean elsewhere, they do not here.
	if [ "$command" = bisect-step ]; then
		case $prev in
		-g | -b | --good | --bad) prev=--table ;;
		-m) prev=--metric ;;
		esac
	fi
	case $prev in
	--table | --against | --calibration | --kernel-log | --ftrace)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	-*)
		if _wakewatt_takes "$program" "$command" "$prev"; then
			if [ "$prev" != -o ] && words=$(_wakewatt_value "$prev" "$command"); then
				mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
				case ${COMPREPLY[*]} in
				*:) compopt -o nospace 2>/dev/null ;;
				esac
				return
			fi
			[ "$prev" = -o ] || return
		fi ;;
	esac
	if [ "${program##*/} $command" = 'resumetime act' ]; then
		mapfile -t COMPREPLY < <(compgen -W 'gpio: ftdi: tty: wol:' -- "$cur")
		compopt -o nospace 2>/dev/null
		return
	fi
	compopt -o filenames 2>/dev/null
	# A log has any name.
	if [ "${program##*/} $command" = 'resumetime kernlog' ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -f -X '!*.wwt' -- "$cur"; compgen -d -- "$cur")
}

complete -F _wakewatt pwrlog resumetime wwtrace

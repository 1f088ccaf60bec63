#!/bin/sh
# SPDX-License-Identifier: MIT
# A virtual environment with the current numpy, pandas, ... and the package as its wheel:
# venv.sh [DIRECTORY [BUILD]]. Made once; the wheel, of BUILD's library, is laid into it each time.
set -eu
cd "$(dirname "$0")/../.."
venv=${1:-build/venv}
build=$(realpath -m "${2:-build}")
want="numpy pandas xarray matplotlib pyarrow polars duckdb mypy ruff nbconvert ipykernel"

# What it was made for: another Python or another list makes it anew.
key="$(/usr/bin/python3 -V) $want"
if [ "$(cat "$venv/made-for" 2>/dev/null)" != "$key" ]; then
	rm -rf "$venv"
	/usr/bin/python3 -m venv "$venv"
	# Modules are compiled as they are used.
	"$venv/bin/pip" install -q --disable-pip-version-check --no-compile $want
	echo "$key" >"$venv/made-for"
fi
WAKEWATT_BUILD=$build "$venv/bin/pip" install -q --disable-pip-version-check --no-index --no-deps \
	--force-reinstall ./bindings/python

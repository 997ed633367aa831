#!/bin/sh
# Builds the wheel of Python, which holds the module and the command: sh bindings/python/build.sh FOLDER
#
#   python3 -m venv venv && venv/bin/pip install maturin
#
# PYTHON is the interpreter that has maturin, venv/bin/python if it is not set. The wheel fits every Python from 3.10 on.
set -eu
cd "$(dirname "$0")/../.."
out=${1:?name the folder of the wheel}
python=${PYTHON:-venv/bin/python}
scripts=bindings/python/parsim.data/scripts

cargo build --release --features parquet --bin parsim
mkdir -p "$scripts"
cp target/release/parsim "$scripts/parsim"
strip "$scripts/parsim"
"$python" -m maturin build --release --manifest-path bindings/python/Cargo.toml --out "$out"

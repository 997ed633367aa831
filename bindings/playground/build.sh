#!/bin/sh
# Builds the playground, a folder of static files for any web server: sh bindings/playground/build.sh FOLDER
#
#   rustup target add wasm32-unknown-unknown    and wasm-opt of binaryen (108 or later)
#
# To look at it: python3 -m http.server --directory FOLDER
set -eu
cd "$(dirname "$0")/../.."
out=${1:?name the folder of the page}
target=wasm32-unknown-unknown
command -v wasm-opt >/dev/null || { echo "wasm-opt is not there: install binaryen" >&2 && exit 1; }
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$PWD/bindings/playground/wasm-ld"
# The simulator is inlined less than `opt-level = "s"` does by itself; no path of this machine is in the module.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-C llvm-args=-inline-threshold=10 \
    --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src/="
cargo build --profile playground --target $target -p parsim-playground
mkdir -p "$out"
cp bindings/playground/page/* "$out"
# -O1 makes the least file when compressed: higher levels make shorter code that compresses worse. The passes after it find what they
# leave of each other.
wasm-opt -O1 --duplicate-function-elimination --dce --vacuum --dae-optimizing --rse --remove-unused-brs --merge-blocks \
    --duplicate-function-elimination --dce --vacuum --all-features "${CARGO_TARGET_DIR:-target}/$target/playground/parsim_playground.wasm" -o "$out/parsim.wasm"

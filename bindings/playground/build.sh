#!/bin/sh
# Builds the playground, a folder of static files for any web server: sh bindings/playground/build.sh FOLDER
#
#   rustup target add wasm32-unknown-unknown
#
# To look at it: python3 -m http.server --directory FOLDER
set -eu
cd "$(dirname "$0")/../.."
out=${1:?name the folder of the page}
target=wasm32-unknown-unknown
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$PWD/bindings/playground/wasm-ld"
cargo build --profile playground --target $target -p parsim-playground
mkdir -p "$out"
cp bindings/playground/page/* "$out"
cp "${CARGO_TARGET_DIR:-target}/$target/playground/parsim_playground.wasm" "$out/parsim.wasm"

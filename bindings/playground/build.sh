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
cargo build --release --target $target --config 'profile.release.strip=true' -p parsim-playground
mkdir -p "$out"
cp bindings/playground/page/* "$out"
cp "${CARGO_TARGET_DIR:-target}/$target/release/parsim_playground.wasm" "$out/parsim.wasm"

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
# Small code where no time is spent: a page is loaded before it computes.
cargo build --release --target $target -p parsim-playground --config 'profile.release.strip=true' \
    --config 'profile.release.opt-level="s"' --config 'profile.release.package.parsim-sim.opt-level=3'
mkdir -p "$out"
cp bindings/playground/page/* "$out"
cp "${CARGO_TARGET_DIR:-target}/$target/release/parsim-playground.wasm" "$out/parsim.wasm"

#!/bin/sh
# Prints the compressed size of the playground, and the times of a run of Gauss-Jordan with n = 256 on 64 ranks in its module and in the
# library, medians of 11 after a first one: sh tests/playground/measure.sh FOLDER   (FOLDER from bindings/playground/build.sh)
set -eu
cd "$(dirname "$0")/../.."
folder=${1:?name the folder of the page}
tar -C "$folder" -cf - . | gzip -9 | wc -c
cargo build --quiet --release -p parsim-playground --example native
target/release/examples/native
node tests/playground/measure.mjs "$folder"

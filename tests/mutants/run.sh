#!/bin/sh
# Shows that the oracle can fail: applies every patch of this folder to a copy of the repository, one at a time, and
# runs the oracle and the comparisons of trains with single packets on it. A mutant that they do not notice makes this
# script fail.
#
#   sh tests/mutants/run.sh [PATCH…]
#
# The rarest faults need more random cases than a test run makes: PARSIM_ORACLE_CASES, 20000 if it is not set.
set -eu
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -co --exclude-standard | tar -cf - -T - | tar -xf - -C "$copy"
test $# -gt 0 || set -- tests/mutants/*.patch
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target/mutants}" RUST_BACKTRACE=0
export PARSIM_ORACLE_CASES="${PARSIM_ORACLE_CASES:-20000}"
survivors=0
for mutant in "$@"; do
    git -C "$copy" apply "$PWD/$mutant"
    name=$(basename "$mutant" .patch)
    if (cd "$copy" && cargo build --quiet --test it && ! timeout 600 cargo test --quiet --test it -- oracle trains_ >/dev/null 2>&1); then
        echo "caught    $name"
    else
        echo "SURVIVES  $name"
        survivors=$((survivors + 1))
    fi
    git -C "$copy" apply -R "$PWD/$mutant"
done
test "$survivors" -eq 0

#!/bin/sh
# Counts the instructions of a handful of whole runs, a figure that hardly depends on the machine:
#
#   cargo build --release && sh benches/instructions.sh
set -eu
cd "$(dirname "$0")/.."
count() {
    name=$1
    shift
    refs=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/parsim "$@" --format json 2>&1 >/dev/null |
        sed -n 's/.*refs: *//p' | tr -d ',')
    echo "$name $refs" | awk '{ printf "%-28s %10.1f million\n", $1, $2 / 1e6 }'
}
concurrent='program.broadcast=Naive(order:Descending,sends:Concurrent)'
count naive-n256-p128 run scenarios/gauss-jordan-naive.ron --set program.n=256
count naive-concurrent-n128-p128 run scenarios/gauss-jordan-naive.ron --set program.n=128 --set "$concurrent"
count neighbour-n512-p128 run scenarios/gauss-jordan-neighbour.ron
count stencil run scenarios/stencil.ron
count rendezvous-n64-p128 run scenarios/gauss-jordan-naive.ron --set program.n=64 --set machine.sends=Rendezvous

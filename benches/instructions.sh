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
# Traffic on a 16 × 16 mesh.
traffic() {
    name=$1
    shift
    count "$name" run scenarios/wormhole-mesh.ron --set 'axes=[]' --set 'machine.network.topology=Mesh2d(rows:16,columns:16)' \
        --set ranks=256 --set program.warm_up=0us "$@"
}
traffic worms-0.1 --set program.packet=64B --set program.offered=0.1 --set program.measured=20us
traffic worms-0.3 --set program.packet=64B --set program.offered=0.3 --set program.measured=20us
traffic worms-0.6 --set program.packet=64B --set program.offered=0.6 --set program.measured=10us --set program.drain=10us
traffic worms-of-one-flit --set program.offered=0.3 --set program.measured=10us
packets='--set program.packet=16B --set program.offered=0.3'
# shellcheck disable=SC2086
traffic store-and-forward $packets --set 'machine.network.switching=StoreAndForward(packet:"16 B")' --set program.measured=40us
# shellcheck disable=SC2086
traffic cut-through $packets --set 'machine.network.switching=CutThrough(packet:"16 B",header:"4 B")' --set program.measured=20us
# shellcheck disable=SC2086
traffic buffers $packets --set 'machine.network.switching=StoreAndForward(packet:"16 B")' \
    --set 'machine.network.links.buffers=Packets(4)' --set program.measured=20us

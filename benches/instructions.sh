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
# Programs of steps: halos of 1 KiB on 32 × 32 ranks, 81,920 messages, and Gauss-Jordan beside the built-in program.
torus='Machine(name:"torus",nodes:Node(processor:FlopRate("10 Gflop/s"),memory:"16 GiB",router:Hardware,
    sending:Sending(per_packet:"200 ns",overlap:true),receiving:Receiving(per_packet:"200 ns")),
    network:Network(topology:Torus2d(rows:32,columns:32),routing:DimensionOrder,switching:StoreAndForward(packet:"1 KiB"),
    links:Link(per_byte:"10 GB/s")),sends:UntilInjected)'
halos='Phases(steps:[Repeat(times:20,steps:[Phase(name:"halo",steps:[Exchange(with:Torus,bytes:"1 KiB")]),
    Phase(name:"update",steps:[Compute(flops:100000)])])])'
count steps-stencil-32x32 run scenarios/stencil.ron --set 'axes=[]' --set "machine=$torus" --set ranks=1024 --set "program=$halos"
gauss_jordan() {
    which=$1
    steps=$2
    broadcast=$3
    count "steps-$which-n512-p128" run "scenarios/$steps.ron" --set ranks=128 --set program.parameters.n=512
    count "built-in-$which-n512-p128" run "scenarios/$steps.ron" --set ranks=128 --set 'axes=[]' \
        --set "program=GaussJordan(n:512,broadcast:$broadcast,barrier:Never)"
}
gauss_jordan naive steps-gauss-jordan 'Naive(order:Ascending,sends:Sequential)'
gauss_jordan tree steps-gauss-jordan-tree 'Neighbour(sends:Sequential,forward:WholeMessage,first:Trunk)'
# One changed line of the machine, beside the first run.
count latency-n256-p128 run scenarios/gauss-jordan-naive.ron --set program.n=256 --set 'machine.network.links.latency=1 us'
count one-other-link-n256-p128 run scenarios/gauss-jordan-naive.ron --set program.n=256 \
    --set 'machine.network.overrides=[LinkSpeed(from:0,to:1,per_byte:"0.6 us/B")]'
count cut-through-n256-p128 run scenarios/gauss-jordan-naive.ron --set program.n=256 \
    --set 'machine.network.switching=CutThrough(packet:"120 B",header:"4 B")'
count rendezvous-n256-p128 run scenarios/gauss-jordan-naive.ron --set program.n=256 --set machine.sends=Rendezvous
count buffers-n256-p128 run scenarios/gauss-jordan-naive.ron --set program.n=256 --set 'machine.network.links.buffers=Packets(64)'
# The same program on hardware routers, whose links have a latency, beside a rendezvous there.
routed() {
    name=$1
    machine="Machine(name:\"routed\",nodes:Node(processor:FlopRate(\"10 Gflop/s\"),memory:\"16 GiB\",router:Hardware,
        sending:Sending(per_packet:\"200 ns\",overlap:true),receiving:Receiving(per_packet:\"200 ns\")),
        network:Network(topology:Mesh2d(rows:8,columns:16),routing:DimensionOrder,switching:StoreAndForward(packet:\"120 B\"),
        links:Link(per_byte:\"10 GB/s\",latency:\"1 us\")),sends:$2)"
    count "$name" run scenarios/gauss-jordan-naive.ron --set program.n=128 --set ranks=128 --set 'axes=[]' --set "machine=$machine"
}
routed routed-n128-p128 UntilInjected
routed routed-rendezvous-n128-p128 Rendezvous
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
# A collective operation whose messages contend for links, where trains are a loss.
count contended-all-to-all run scenarios/collective.ron --set 'axes=[]' --set ranks=256 --set 'program.bytes=8 KiB' \
    --set 'program.operation=AllToAll(algorithm: Pairwise)' \
    --set "machine=$(echo "$torus" | sed 's/32/16/g')"
# Flows between nodes of 32 ranks: many have the same route.
nodes='Node(processor:FlopRate("10 Gflop/s"),memory:"16 GiB",router:Hardware,noise:LogNormal(0.02),
    interface:Interface(overhead:"0.2 us",latency:"0.2 us",gap_per_byte:"100 Gbit/s",progress:AfterArrival))'
count flows-32-ranks-a-node run scenarios/stencil.ron --set 'axes=[]' --set ranks=2048 --set 'placement=Packed(ranks_per_node:32)' \
    --set "machine=Machine(name:\"fat tree\",nodes:$nodes,sends:Buffered,network:Network(routing:DimensionOrder,
        topology:ExtendedFatTree(children:[16,4],parents:[1,8]),switching:CutThrough(packet:\"4 KiB\"),
        links:Link(per_byte:\"100 Gbit/s\"),contention:FairFlows))" \
    --set 'program=Phases(steps:[Repeat(times:2,steps:[Exchange(with:Torus,bytes:"64 KiB"),Compute(flops:100000)])])'

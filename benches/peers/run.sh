#!/usr/bin/env bash
# Prints what the peers say in docs/simulators.md: section, gap, case, without and with the option of that row.
# SimGrid and SMPI are those of Debian (libsimgrid-dev). LogGOPSim and BookSim2 are run if they are named:
# LOGGOPSIM=folder-of-LogGOPSim-and-txt2bin BOOKSIM=path-of-booksim benches/peers/run.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
say() {
    for word; do [ -n "$word" ] || { echo "no figure: $*" >&2 && exit 1; }; done
    printf '%s | %s | %s | %s | %s\n' "$@"
}

g++ -O2 -o gauss_jordan "$here/gauss_jordan.cpp" -lsimgrid
smpicc -O2 -o gauss_jordan_mpi "$here/gauss_jordan.c"
smpicc -O2 -o collective "$here/collective.c"
for host in $(seq 0 127); do echo "h$host"; done >hosts
quiet=--log=root.thresh:critical
cm02="--cfg=network/model:CM02 --cfg=network/crosstraffic:0"
simgrid() { ./gauss_jordan 256 "$@" $quiet; }
smpi() {
    smpirun -np "$1" -platform "$here/star.xml" -hostfile hosts --cfg=smpi/host-speed:1Mf --cfg=smpi/simulate-computation:no \
        --cfg=smpi/wtime:0 $quiet "${@:2}" 2>/dev/null | tail -1
}
milliseconds() { awk '{ printf "%.3f\n", 1000 * $1 }'; }

say 'As they come' SimGrid "p = 64, s" "$(simgrid 64 5us)" -
say 'As they come' SMPI "p = 64, s" "$(smpi 64 ./gauss_jordan_mpi 256)" -
for p in 64 16; do
    say SimGrid factors "p = $p, s" "$(simgrid $p 5us early)" "$(simgrid $p 5us early $cm02)"
    say SimGrid 'factors in parsim' "p = $p, s" "$(simgrid $p 5us early)" "$(simgrid $p 5us early)"
    say SimGrid latency "p = $p, s" "$(simgrid $p 5us early $cm02)" "$(simgrid $p 5us early $cm02)"
    say SimGrid meeting "p = $p, s" "$(simgrid $p 5us $cm02)" "$(simgrid $p 5us $cm02)"
    say SimGrid 'many hops' "p = $p, s" "$(simgrid $p 5us mesh early $cm02)" "$(simgrid $p 5us mesh early $cm02)"
done
for p in 64 128; do
    shared=$(simgrid $p 0us mesh early $cm02)
    say SimGrid contention "p = $p, s" "$shared" "$(simgrid $p 0us mesh early no-contention $cm02)"
    say SimGrid 'contention, packets' "p = $p, s" "$shared" "$shared"
    say SimGrid 'fair shares' "p = $p, s" "$shared" "$shared"
    met=$(simgrid $p 0us mesh $cm02)
    say SimGrid 'fair shares, meeting' "p = $p, s" "$met" "$met"
done

detached=--cfg=smpi/send-is-detached-thresh:0
early=--cfg=smpi/async-small-thresh:65536
for p in 64 16; do
    say SMPI factors "p = $p, s" "$(smpi $p ./gauss_jordan_mpi 256)" "$(smpi $p $cm02 ./gauss_jordan_mpi 256)"
    say SMPI meeting "p = $p, s" "$(smpi $p $cm02 ./gauss_jordan_mpi 256)" "$(smpi $p $cm02 ./gauss_jordan_mpi 256)"
    eager=$(smpi $p $cm02 ./gauss_jordan_mpi 256)
    say SMPI eager "p = $p, s" "$eager" "$eager"
    say SMPI shares "p = $p, s" "$(smpi $p $cm02 $early ./gauss_jordan_mpi 256)" "$(smpi $p $cm02 $early ./gauss_jordan_mpi 256)"
    say SMPI header "p = $p, s" "$(smpi $p $cm02 $detached ./gauss_jordan_mpi 256)" "$(smpi $p $cm02 $detached ./gauss_jordan_mpi 256)"
done
for case in '16 1000' '64 10000'; do
    read -r p bytes <<<"$case"
    collective() { smpi "$p" $cm02 "${@:2}" ./collective "$1" "$bytes" | milliseconds; }
    rdb=--cfg=smpi/allreduce:rdb
    label="p = $p, $bytes B, ms"
    say SMPI completion "$label" "$(collective broadcast)" "$(collective broadcast $detached)"
    say SMPI 'eager broadcast' "$label" "$(collective broadcast)" "$(collective broadcast)"
    say SMPI algorithm "$label" "$(collective allreduce)" "$(collective allreduce $rdb)"
    say SMPI arithmetic "$label" "$(collective allreduce $rdb)" "$(collective allreduce $rdb)"
done

if [ -n "${LOGGOPSIM:-}" ]; then
    # program size p, then LogGOPSim's options: nanoseconds.
    loggopsim() {
        python3 "$here/goal.py" "$1" "$2" "$3" >program.goal
        "$LOGGOPSIM/txt2bin" -i program.goal -o program.bin >/dev/null
        "$LOGGOPSIM/LogGOPSim" -f program.bin -b -L 5000 -G 500 "${@:4}" | sed -n 's/.*finishing time at host [0-9]*: \([0-9]*\) .*/\1/p'
    }
    in_s() { awk '{ printf "%.7f\n", $1 / 1e9 }'; }
    in_us() { awk '{ printf "%.1f\n", $1 / 1e3 }'; }
    free="-o 0 -g 0 -S 65535"
    for bytes in 8 1000; do
        first=$(loggopsim broadcast $bytes 64 -O 0 $free | in_us)
        both=$(loggopsim broadcast $bytes 64 -O 0 -o 5000 -g 1000 -S 65535 | in_us)
        say LogGOPSim 'first byte' "$bytes B, µs" "$first" "$first"
        say LogGOPSim 'overhead and gap' "$bytes B, µs" "$both" "$both"
    done
    for p in 64 16; do
        gauss_jordan() { loggopsim gauss-jordan 256 $p -o 0 -g 0 "$@" | in_s; }
        eager=$(gauss_jordan -O 0 -S 65535)
        [ $p = 16 ] || say 'As they come' LogGOPSim "p = $p, s" "$eager" -
        say LogGOPSim 'sending processor' "p = $p, s" "$eager" "$(gauss_jordan -O 500 -S 65535)"
        say LogGOPSim 'sending processor in parsim' "p = $p, s" "$eager" "$eager"
        say LogGOPSim rendezvous "p = $p, s" "$(gauss_jordan -O 500 -S 1)" "$(gauss_jordan -O 500 -S 1)"
    done
    for bytes in 2048 8192; do
        time=$(loggopsim overlap $bytes 2 -O 0 $free | in_s)
        say LogGOPSim 'receiving processor' "$bytes B, s" "$time" "$time"
    done
fi

if [ -n "${BOOKSIM:-}" ]; then
    # traffic flits, then BookSim2's options: cycles, of all packets or of those that leave their node.
    # BookSim2 ends with 255 when all is well.
    mean() {
        { "$BOOKSIM" "$here/mesh.cfg" traffic="$1" packet_size="$2" injection_rate="$(awk "BEGIN { print 0.1 / $2 }")" "${@:3}" || true; } |
            sed -n '/Overall Traffic/,$s/^Packet latency average = \([0-9.]*\).*/\1/p' | awk '{ printf "%.2f\n", $1 }'
    }
    leaving() {
        mean "$1" "$2" pair_stats=1 stats_out=pairs.m >/dev/null
        awk '/^pair_sent/ { split($0, sent) } /^pair_plat/ {
            for (pair = 0; pair < 4096; pair++) if (int(pair / 64) != pair % 64 && sent[pair + 4] > 0) {
                split($0, mean); packets += sent[pair + 4]; sum += sent[pair + 4] * mean[pair + 4]
            }
        } END { printf "%.2f\n", sum / packets }' pairs.m
    }
    for case in '1 flit' '16 flits'; do
        read -r flits _ <<<"$case"
        default=$(mean bitcomp $flits routing_delay=1 credit_delay=0)
        equal=$(mean bitcomp $flits)
        say BookSim2 'routing stage' "$case, cycles" "$default" "$equal"
        say BookSim2 'routing stage in parsim' "$case, cycles" "$default" "$default"
        say BookSim2 'end channels' "$case, cycles" "$equal" "$equal"
        say BookSim2 'to oneself' "$case, cycles" "$(mean transpose $flits)" "$(leaving transpose $flits)"
    done
fi

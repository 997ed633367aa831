#!/bin/bash
# A sweep on a real Slurm: controller and two nodes on this machine, without systemd. A node daemon and steps are killed at random,
# the script is submitted again until `merge` succeeds, and the bytes are compared with those of an undisturbed sweep.
#
#   cargo build --release && sudo tests/slurm.sh [CASES] [KILLS]
#
# Needs root and Debian packages, which it installs: slurmctld, slurmd, slurm-client, munge. It ends the daemons that it has started.
set -euo pipefail
cases=${1:-400} kills=${2:-20}
cd -- "$(dirname -- "$0")/.."
parsim=$PWD/target/release/parsim
[ -x "$parsim" ] || { echo "build it first: cargo build --release"; exit 2; }
[ "$(id -u)" = 0 ] || { echo "this needs root"; exit 2; }
type slurmctld slurmd munged sbatch > /dev/null 2>&1 ||
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge > /dev/null

# Everything lies in a folder of its own, which plays the file system that the nodes share.
work=$(mktemp -d) host=$(hostname -s)
chmod 755 "$work"
export SLURM_CONF=$work/slurm.conf
declare -A daemon
finish() {
    for name in "${!daemon[@]}"; do kill "${daemon[$name]}" 2> /dev/null || true; done
    steps | xargs -r kill -KILL 2> /dev/null || true
    [ "${KEEP:-}" ] || rm -rf "$work"
}
trap finish EXIT

# The parsims of this run.
steps() { pgrep -f "^$parsim sweep .*$work/store" || true; }
start() {
    local name=$1
    shift
    "$@" > "$work/$name.out" 2>&1 &
    daemon[$name]=$!
}
node() { start "$1" slurmd -D -N "$1"; }

mkdir "$work/munge" "$work/state" "$work/n0" "$work/n1"
dd if=/dev/urandom of="$work/munge/key" bs=1024 count=1 2> /dev/null
chmod 700 "$work/munge" && chmod 400 "$work/munge/key"
cat > "$SLURM_CONF" << END
ClusterName=parsim
SlurmctldHost=$host
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/%n.pid
SlurmctldTimeout=15
SlurmdTimeout=10
SlurmctldPort=27817
SlurmdPort=27818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobRequeue=1
ReturnToService=2
NodeName=n0 NodeHostname=$host NodeAddr=127.0.0.1 Port=27818 CPUs=1
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=27819 CPUs=1
PartitionName=all Nodes=n0,n1 Default=YES State=UP
END
start munged munged -F --force --key-file="$work/munge/key" --socket="$work/munge/socket" \
    --pid-file="$work/munge/pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed"
sleep 1
start slurmctld slurmctld -D
node n0
node n1
for _ in $(seq 30); do
    [ "$(sinfo -h -t idle -o %D 2> /dev/null)" = 2 ] && break
    sleep 1
done
sinfo

sweep=(scenarios/gauss-jordan-neighbour.ron --over n=256 --over p=16,64 --over "seed=1..$((cases / 2))")
"$parsim" sweep "${sweep[@]}" --format jsonl > "$work/undisturbed.jsonl"
merge() { "$parsim" merge "${sweep[@]}" --store "$work/store" --format jsonl -o "$work/merged.jsonl" 2> "$work/merge.err"; }

# Two blocks: one for each node.
"$parsim" script "${sweep[@]}" --engine slurm --store "$work/store" --blocks 2 -o "$work/sweep.sh"
killed=0 submitted=0 nodes=0
until merge; do
    job=$(sbatch --parsable --output="$work/%A_%a.log" "$work/sweep.sh")
    submitted=$((submitted + 1))
    while squeue -h -j "$job" 2> /dev/null | grep -q .; do
        sleep "0.$((RANDOM % 9 + 1))"
        [ "$killed" -lt "$kills" ] || continue
        victim=$(steps | shuf -n 1)
        [ "$victim" ] || continue
        # Every tenth kill is that of a node: its daemon and a step, until Slurm has missed it and runs its block again.
        [ $((killed % 10)) != 9 ] || kill -KILL "${daemon[n1]}"
        kill -KILL "$victim" 2> /dev/null || true
        if [ $((killed % 10)) = 9 ]; then
            until sinfo -h -n n1 -o %t | grep -q down; do sleep 1; done
            node n1
            nodes=$((nodes + 1))
        fi
        killed=$((killed + 1))
    done
    echo "submission $submitted has ended, after $killed kills"
done
cmp "$work/undisturbed.jsonl" "$work/merged.jsonl"
doubled=$("$parsim" sweep "${sweep[@]}" --store "$work/store" 2>&1 > /dev/null | tail -n 1)
echo "the merged rows are those of the undisturbed sweep: $(wc -l < "$work/merged.jsonl") rows, $submitted submissions of two blocks,"
echo "$killed kills, $nodes of them of a node daemon, too; again: $doubled"

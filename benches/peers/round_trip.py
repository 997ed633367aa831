#!/usr/bin/env python3
"""Compares random programs with their exported schedules: how many take another time when they are read back on the same machine.

From the root of the repository: benches/peers/round_trip.py FIRST END. The programs FIRST to END - 1 have up to 12 messages
among 2 to 4 ranks, sent, received and waited for in any order, with computations between. A line for each machine: its runs, those that
take another time, and the largest relative difference.
"""
import json, random, re, subprocess, sys, tempfile

parsim = "target/release/parsim"
file = 'machine=File("scenarios/machines/{}.ron")'.format
machines = {
    "LogGOPSim's": [file("loggopsim-default")],
    "LogGOPSim's, O = 10 ns/B": [file("loggopsim-default"), 'machine.O="10 ns/B"'],
    "LogGOPSim's, o = 1 us, g = 0": [file("loggopsim-default"), 'machine.o="1 us"', 'machine.g="0 ns"'],
    "hopper": [file("hopper")],
    "hopper, OnRequest": [file("hopper"), 'machine.nodes.interface.data=OnRequest(above: "500 B")'],
    "hopper, WhenMatched": [file("hopper"), 'machine.nodes.interface.data=WhenMatched(above: "500 B")'],
    "marenostrum5": [file("marenostrum5")],
    "small-cluster": [file("small-cluster")],
    "parsytec-supercluster-t800": [file("parsytec-supercluster-t800")],
}


def program(dice):
    """The steps of every rank."""
    p, messages = dice.choice([2, 3, 4]), dice.randint(1, 12)
    ranks = [[] for _ in range(p)]
    sizes = [dice.choice([1, 100, 1000, 100000]) for _ in range(messages)]
    for tag in range(messages):
        (sender, receiver), request = dice.sample(range(p), 2), f"r{tag % 3}"
        is_begun = dice.random() < 0.7
        options = f', request: "{request}"' if is_begun else ""
        ranks[sender].append(f'{"Isend" if is_begun else "Send"}(to: "{receiver}", bytes: "{sizes[tag]} B", tag: "{tag}"{options})')
        is_begun = dice.random() < 0.7
        options = f', request: "{request}"' if is_begun else ""
        ranks[receiver].append(f'{"Irecv" if is_begun else "Receive"}(from: "{sender}", tag: "{tag}"{options})')
        for rank in (sender, receiver):
            if dice.random() < 0.3:
                ranks[rank].append(f'Compute(flops: "{dice.choice([1000, 5000, 20000])}")')
            if dice.random() < 0.3:
                ranks[rank].append(f'Wait(request: "r{dice.randrange(3)}")')
    begun = {step.split('request: "')[1][:2] for steps in ranks for step in steps if step.startswith("I")}
    waits = [f'Wait(request: "{request}")' for request in sorted(begun)]
    known = lambda step: not step.startswith("Wait") or step[15:17] in begun
    return [[step for step in steps if known(step)] + waits + ['Compute(flops: "1000")'] for steps in ranks]


def makespan(words):
    said = subprocess.run([parsim, *words, "--format", "jsonl"], check=True, capture_output=True, text=True).stdout
    return json.loads(said.splitlines()[0])["makespan_s"]


def difference(ranks, machine, folder):
    steps = "".join(f'When(condition: "rank == {rank}", then: [{", ".join(steps)}]),' for rank, steps in enumerate(ranks))
    with open(f"{folder}/s.ron", "w") as scenario:
        scenario.write(f'Scenario(machine: File("{machine_file}"), ranks: {len(ranks)}, placement: RowMajor, axes: [], seed: 1, '
                       f'program: Phases(memory: "1 B", steps: [{steps}]))')
    words = [f"{folder}/s.ron", *(word for setting in machine for word in ("--set", setting))]
    run = makespan(["export", *words, "--goal", f"{folder}/x.goal", "--unit", "1 ps"])
    return makespan(["run", *words, "--set", f'program=Goal(file: "{folder}/x.goal", unit: "1 ps")']) / run - 1


first, end = map(int, sys.argv[1:])
machine_file = subprocess.run(["realpath", "scenarios/machines/loggopsim-default.ron"], capture_output=True, text=True).stdout.strip()
for name, machine in machines.items():
    with tempfile.TemporaryDirectory() as folder:
        found = [abs(difference(program(random.Random(seed)), machine, folder)) for seed in range(first, end)]
    other = sum(error > 1e-12 for error in found)
    print(f"{name}: {len(found)} runs, {other} with another time, at most {max(found):.1%}")

#!/usr/bin/env python3
"""Compares parsim with LogGOPSim on large schedules: benches/peers/goal_speed.py FOLDER, which holds LogGOPSim and txt2bin.

From the root of the repository. Every rank exchanges messages with those at distances 1, 2, 4, … again and again, and computes between;
then 256 ranks send to all others at once. For each schedule: whether both say the same, and the least of three processor times of
txt2bin, of LogGOPSim on the binary file, and of `parsim run` on the text and on the binary file, with that of the simulation alone
and parsim's peak memory, by its log.
"""
import json, os, re, resource, subprocess, sys, tempfile

folder, parsim = sys.argv[1], "target/release/parsim"


def schedule(file, p, rounds):
    file.write(f"num_ranks {p}\n")
    for rank in range(p):
        file.write(f"rank {rank} {{\n")
        before, number, distance = None, 0, 1
        for _ in range(rounds):
            file.write(f"s{number}: send {100 + number % 7}b to {(rank + distance) % p} tag {number}\n")
            file.write(f"r{number}: recv {100 + number % 7}b from {(rank - distance) % p} tag {number}\n")
            file.write(f"c{number}: calc {1000 + 10 * (rank % 13)}\n")
            if before is not None:
                file.write(f"s{number} requires c{before}\nr{number} requires c{before}\n")
            file.write(f"c{number} requires r{number}\nc{number} requires s{number}\n")
            before, number = number, number + 1
            distance = distance * 2 if distance * 2 < p else 1
        file.write("}\n")


def crowd(file, p, rounds):
    file.write(f"num_ranks {p}\n")
    for rank in range(p):
        file.write(f"rank {rank} {{\n")
        for distance in range(1, p):
            file.write(f"send {rounds}b to {(rank + distance) % p}\nrecv {rounds}b from {(rank - distance) % p}\n")
        file.write("}\n")


def timed(words):
    """The least processor time of three runs in s, what the last one said, and its log."""
    best, log = 1e9, {**os.environ, "RUST_LOG": "info"}
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run(words, check=True, capture_output=True, text=True, env=log)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best, said.stdout, re.sub("\x1b.*?m", "", said.stderr)


def scenario(place, goal, p):
    text = (f'Scenario(machine: File("{os.path.realpath("scenarios/machines/loggopsim-default.ron")}"), ranks: {p}, placement: RowMajor, '
            f'program: Goal(file: "{goal}", unit: "1 ns"), axes: [], seed: 1)')
    path = f"{place}/{os.path.basename(goal)}.ron"
    with open(path, "w") as file:
        file.write(text)
    return path


print("p, operations, text MB, binary MB, equal, txt2bin s, LogGOPSim s, parsim text s, run s, peak MB, parsim binary s, run s, peak MB")
for write, p, rounds, operations in [(schedule, 8, 40000, 960000), (schedule, 64, 5000, 960000), (schedule, 1024, 300, 921600), (crowd, 256, 64, 130560)]:
    with tempfile.TemporaryDirectory() as place:
        text, binary = f"{place}/x.goal", f"{place}/x.bin"
        with open(text, "w") as file:
            write(file, p, rounds)
        convert = timed([f"{folder}/txt2bin", "-i", text, "-o", binary])[0]
        peer, said, _ = timed([f"{folder}/LogGOPSim", "-f", binary, "--batchmode"])
        its = int(re.search(r"Maximum finishing time at host \d+: (\d+)", said)[1])
        row = [p, operations, *(f"{os.path.getsize(file) / 1e6:.1f}" for file in (text, binary))]
        ours = []
        for file in (text, binary):
            whole, said, log = timed([parsim, "run", scenario(place, file, p), "--format", "jsonl"])
            alone, peak = (float(re.search(rf"{key}=([0-9.]+)", log)[1]) for key in ("cpu_s", "peak_memory_kib"))
            its_is_ours = round(json.loads(said.splitlines()[0])["makespan_s"] * 1e9) == its
            ours += [f"{whole:.2f}", f"{alone:.2f}", f"{peak / 1024:.0f}"]
        print(", ".join(map(str, [*row, its_is_ours, f"{convert:.2f}", f"{peer:.2f}", *ours])))

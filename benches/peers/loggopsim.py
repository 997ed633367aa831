#!/usr/bin/env python3
"""Writes validation/loggopsim/*.csv anew: every row is exported by parsim as a GOAL schedule and timed by LogGOPSim.

From the root of the repository: benches/peers/loggopsim.py FOLDER, which holds LogGOPSim and txt2bin.
"""
import csv, json, re, subprocess, sys, tempfile

folder, parsim = sys.argv[1], "target/release/parsim"
machine = ["-L", "2500", "-o", "1500", "-g", "1000", "-G", "6", "-O", "0", "-S", "65535"]
naive = "Broadcast(algorithm: Naive(order: Ascending, sends: Sequential))"
binomial = "Broadcast(algorithm: Binomial)"
operations = [naive, binomial, "AllReduce(algorithm: RecursiveDoubling)", "AllToAll(algorithm: Pairwise)", "AllGather(algorithm: Ring)"]


def replay(goal, words):
    """The time of a schedule in LogGOPSim, in nanoseconds."""
    with tempfile.TemporaryDirectory() as place:
        binary = f"{place}/x.bin"
        subprocess.run([f"{folder}/txt2bin", "-i", goal, "-o", binary], check=True, capture_output=True)
        words = [f"{folder}/LogGOPSim", "-f", binary, *words, "--batchmode"]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        return int(re.search(r"Maximum finishing time at host \d+: (\d+)", said)[1])


def loggopsim(scenario, settings):
    """The time of a scenario with these settings in LogGOPSim, in nanoseconds."""
    with tempfile.TemporaryDirectory() as place:
        goal = f"{place}/x.goal"
        words = [word for setting in settings for word in ("--set", setting)]
        subprocess.run([parsim, "export", scenario, "--goal", goal, *words], check=True, stdout=subprocess.DEVNULL)
        return replay(goal, machine)


with open("validation/loggopsim/collectives.csv", "w", newline="") as file:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["program.operation", "p", "bytes", "loggopsim_us"])
    for operation in operations:
        for p in [4, 16, 64, 256, 1024]:
            for size in [8, 1000, 100000]:
                if p < 1024 or operation in (naive, binomial) or "AllReduce" in operation:
                    time = loggopsim("scenarios/loggops-collectives.ron", [f"program.operation={operation}", f"ranks={p}", f'program.bytes="{size} B"'])
                    rows.writerow([operation, p, size, time / 1000])

with open("validation/loggopsim/gauss-jordan.csv", "w", newline="") as file:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["program.parameters.n", "p", "loggopsim_us"])
    for n in [64, 256]:
        for p in [2, 4, 16, 64]:
            machine_file = 'machine=File("scenarios/machines/loggopsim-default.ron")'
            time = loggopsim("scenarios/peers/gauss-jordan.ron", [machine_file, f"program.parameters.n={n}", f"ranks={p}"])
            rows.writerow([n, p, time / 1000])

for schedule in ["random-8", "dissemination-64", "tree-1024"]:
    with open(f"validation/loggopsim/{schedule}.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["o", "overhead_per_byte", "eager_up_to", "loggopsim_us"])
        for o in [0, 1500, 6000]:
            for per_byte in [0, 6]:
                for eager in [65535, 400]:
                    words = ["-L", "2500", "-o", str(o), "-g", "1000", "-G", "6", "-O", str(per_byte), "-S", str(eager)]
                    time = replay(f"validation/loggopsim/{schedule}.goal", words)
                    rows.writerow([f"{o} ns", f"{per_byte} ns/B", f"{eager} B", time / 1000])

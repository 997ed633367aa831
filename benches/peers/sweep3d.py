#!/usr/bin/env python3
"""Compares the recorded times of sweep3d's MPI calls with simulated ones: benches/peers/sweep3d.py FOLDER, of the four files.

From the root of the repository. The program calls MPI_Allreduce 32 times; a machine by LogGOPS is calibrated on the time that each rank
spends in each kind of call up to the 16th, and judged by that behind it. Beside it are a network that takes no time, and
Hockney's model a + b n of every call, calibrated on the same half. Prints constants, times in ms, and mean absolute errors.
"""
import json, os, subprocess, sys, tempfile

folder, parsim = os.path.realpath(sys.argv[1]), "target/release/parsim"
kinds = ["MPI_Send", "MPI_Recv", "MPI_Allreduce"]
cells = [(rank, kind) for rank in range(4) for kind in kinds]
half = 16


def recorded():
    """The time in ms of each half, and the calls in it, by rank and kind."""
    times, counts = [dict.fromkeys(cells, 0.0) for _ in range(2)], [dict.fromkeys(cells, 0) for _ in range(2)]
    for rank in range(4):
        seen = 0
        for line in open(f"{folder}/pmpi-trace-rank-{rank}.txt"):
            fields = line.strip().split(":")
            if fields[0] in kinds:
                part = seen >= half
                times[part][rank, fields[0]] += (float(fields[-1]) - float(fields[1])) / 1e3
                counts[part][rank, fields[0]] += 1
                seen += fields[0] == "MPI_Allreduce"
    return times, counts


def simulated(constants):
    """The same by parsim on a LogGOPS machine with constants in s."""
    L, o, g, G, O = constants
    machine = f'LogGOPS(L: "{L:.12f} s", o: "{o:.12f} s", g: "{g:.12f} s", G: "{G * 1e9:.6f} ns/B", O: "{O * 1e9:.6f} ns/B", S: "1 GB", processor: FlopRate("1 Gflop/s"))'
    with tempfile.TemporaryDirectory() as place:
        with open(f"{place}/s.ron", "w") as scenario:
            scenario.write(f'Scenario(machine: {machine}, ranks: 4, placement: RowMajor, '
                           f'program: MpiTrace(folder: "{folder}", format: Liballprof), axes: [], seed: 1)')
        subprocess.run([parsim, "critical-path", f"{place}/s.ron", "--perfetto", f"{place}/p.json"], check=True, capture_output=True)
        slices = [slice for slice in json.load(open(f"{place}/p.json"))["traceEvents"] if slice["ph"] == "X" and slice["pid"] == 1]
    times, seen, last = [dict.fromkeys(cells, 0.0) for _ in range(2)], [0] * 4, [""] * 4
    for slice in sorted(slices, key=lambda slice: (slice["ts"], slice["ts"] + slice["dur"])):
        rank, kind = slice["tid"] - 1, slice["args"]["phase"]
        if kind != last[rank] and last[rank] == "MPI_Allreduce":
            seen[rank] += 1
        last[rank] = kind
        if kind in kinds:
            times[seen[rank] >= half][rank, kind] += slice["dur"] / 1e3
    return times


def error(times, measured):
    return sum(abs(times[cell] - measured[cell]) for cell in cells) / len(cells)


def calibrated(measured):
    """Constants by coordinate descent on the first half."""
    best = [50e-6, 20e-6, 20e-6, 8e-9, 7e-9]
    least = error(simulated(best)[0], measured)
    step = 2.0
    while step > 1.05:
        before = least
        for place in range(len(best)):
            for factor in (step, 1 / step):
                tried = [value * factor if place == other else value for other, value in enumerate(best)]
                found = error(simulated(tried)[0], measured)
                if found < least:
                    best, least = tried, found
        if least > 0.99 * before:
            step = step ** 0.5
    return best


def hockney(measured, counts):
    """a + b n of every call, n being 36000 B or 4 B, by the sums of the first half."""
    long = sum(measured[cell] for cell in cells if cell[1] != kinds[2]) / sum(counts[cell] for cell in cells if cell[1] != kinds[2])
    short = sum(measured[cell] for cell in cells if cell[1] == kinds[2]) / sum(counts[cell] for cell in cells if cell[1] == kinds[2])
    return {kinds[0]: long, kinds[1]: long, kinds[2]: short}


(first, second), (counts, later) = recorded()
constants = calibrated(first)
print("L, o, g in us; G, O in ns/B:", ", ".join(f"{value * scale:.4g}" for value, scale in zip(constants, [1e6, 1e6, 1e6, 1e9, 1e9])))
per_call = hockney(first, counts)
ours, free = simulated(constants), simulated([0, 0, 0, 0, 0])
models = {"LogGOPS": ours[1], "network free": free[1], "Hockney": {cell: later[cell] * per_call[cell[1]] for cell in cells}}
print("rank, kind, measured, " + ", ".join(models))
for cell in cells:
    print(f"{cell[0]}, {cell[1]}, {second[cell]:.1f}, " + ", ".join(f"{times[cell]:.1f}" for times in models.values()))
print("mean absolute error, ms: " + ", ".join(f"{name} {error(times, second):.1f}" for name, times in models.items()))
relative = lambda times: sum(abs(times[cell] / second[cell] - 1) for cell in cells) / len(cells)
print("mean relative error: " + ", ".join(f"{name} {relative(times):.0%}" for name, times in models.items()))
print(f"first half: LogGOPS {error(ours[0], first):.1f} ms")

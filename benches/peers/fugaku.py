#!/usr/bin/env python3
"""Prints the errors on 8 x 8 x 8 nodes of Fugaku (validation/measured-collectives/README.md): median (90th percentile), in percent.

From the root of the repository: benches/peers/fugaku.py GIVEN [STUDY], where GIVEN is the file of the given medians, fugaku.csv, and STUDY the folder
of the scenarios, validation/measured-collectives or validation/fugaku-all-lengths. Baselines: (N) the machine
without contention; (H) rounds x (8.05 us + bytes x 0.237 ns/B), by the messages on the longest chain and their bytes; (L) the time on 8 nodes x
log2(p) / 3, of the rows that have one. Then, for each algorithm, the signed medians of the bands.
"""
import csv, json, math, pathlib, statistics, subprocess, sys, tempfile

RANKS = 512
LEVELS = int(math.log2(RANKS))
ALPHA, BETA = 8.05e-6, 0.237e-9
BANDS = {"<= 2 KiB": (0, 2048), "16 to 128 KiB": (2049, 131072), ">= 1 MiB": (131073, 1 << 40)}


def chain(algorithm):
    """Messages on the longest chain, and the mean bytes of each as a part of the vector."""
    ports = int(algorithm.rsplit("-", 1)[1]) if "UTOFU" in algorithm else 1
    whole = 1 - 1 / RANKS
    return next(known for part, known in {
        "recursive_doubling": (LEVELS, 1), "ring": (2 * (RANKS - 1), 1 / RANKS), "basic_linear": (2 * (RANKS - 1), 1),
        "split-binary-tree": (2 * (LEVELS - 1) + 1, 1 / 2), "binary-tree": (2 * (LEVELS - 1), 1), "default-binomial": (LEVELS, 1),
        "chain": (RANKS // 3 + 3, 1), "pipeline": (RANKS - 1, 1), "BINOMIAL_TREE": (LEVELS, 1 / ports),
        "SCATTER_ALLGATHER": (2 * LEVELS, whole / LEVELS / ports), "RING-B_CONT": (42, 2 * whole / 42 / ports),
        "BINE-B_CONT": (2 * LEVELS, whole / LEVELS / ports), "BINE-L": (LEVELS, 1 / ports),
    }.items() if part in algorithm)


def simulated(*settings):
    """By collective, algorithm and bytes the row of each cell on 8 x 8 x 8 nodes."""
    with tempfile.TemporaryDirectory() as folder:
        study = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "validation/measured-collectives").absolute()
        tables = "".join(
            f'(name: "{library}", scenario: "{study}/{scenario}.ron", data: "{study}/fugaku-{library}.csv", simulated: "collective_s", '
            f'reference: "measured_us", labels: ["nodes", "collective", "algorithm", "bytes", "band"], no_baseline: "see below"),'
            for library, scenario in (("mpi", "fujitsu-mpi"), ("bine", "bine-library")))
        (pathlib.Path(folder) / "case.ron").write_text(f'Validation(title: "Fugaku", calibrated_on: [], tables: [{tables}], totals: [])')
        words = ["target/release/parsim", "validate", folder, "--quiet", "-o", f"{folder}/cells.jsonl", *settings]
        subprocess.run(words, check=True)
        rows = [json.loads(line) for line in open(f"{folder}/cells.jsonl")]
    cells = [row for row in rows if row["record"] == "cell" and row["nodes"] == "8x8x8"]
    return {(row["collective"], row["algorithm"], row["bytes"]): row for row in cells}


def shown(errors):
    if not errors:
        return "-"
    sizes = sorted(100 * abs(error) for error in errors)
    place = 0.9 * (len(sizes) - 1)
    low = int(place)
    high = sizes[low] + (sizes[min(low + 1, len(sizes) - 1)] - sizes[low]) * (place - low)
    return f"{statistics.median(sizes):.1f} ({high:.0f})"


cells, free = simulated(), simulated("--set", "machine.network.contention=Off")
given = {(row["collective"], row["algorithm"], int(row["bytes"])): float(row["median_us"]) / 1e6
         for row in csv.DictReader(open(sys.argv[1])) if row["nodes"] == "2x2x2"}
errors = {}
for key, row in cells.items():
    measured, (messages, part) = row["reference_s"], chain(key[1])
    times = {"parsim": row["collective_s"], "N": free[key]["collective_s"], "H": messages * (ALPHA + part * key[2] * BETA)}
    if key in given:
        times["L"] = given[key] * LEVELS / 3
    errors[key] = {name: time / measured - 1 for name, time in times.items()}
contended = sorted((key for key in errors if key[2] >= 1 << 20), key=lambda key: cells[key]["collective_s"] / free[key]["collective_s"])[-30:]
is_in = lambda band: lambda key: BANDS[band][0] <= key[2] <= BANDS[band][1]
lines = {"all": lambda key: True, "<= 128 KiB": lambda key: key[2] <= 131072} | {band: is_in(band) for band in BANDS} | {
    "Fujitsu's MPI": lambda key: key[1].startswith("default"), "Bine library": lambda key: not key[1].startswith("default"),
    "the 30 rows >= 1 MiB that contention makes longest": lambda key: key in contended}
for name, is_meant in lines.items():
    chosen = [errors[key] for key in errors if is_meant(key)]
    columns = [shown([one[model] for one in chosen if model in one]) for model in ("parsim", "N", "H", "L")]
    print(f"| {name} | {len(chosen)} | {' | '.join(columns)} |")
for algorithm in sorted({key[:2] for key in errors}):
    of_band = lambda band: [errors[key]["parsim"] for key in errors if key[:2] == algorithm and is_in(band)(key)]
    medians = [f"{100 * statistics.median(found):+.0f}" if (found := of_band(band)) else "" for band in BANDS]
    print(f"| {' | '.join(algorithm)} | {' | '.join(medians)} |")

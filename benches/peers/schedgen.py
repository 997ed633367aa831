#!/usr/bin/env python3
"""Compares the patterns of LogGOPSim's generator in LogGOPSim and here: equal times to the nanosecond, from the text and from the binary.

From the root of the repository: benches/peers/schedgen.py LOGGOPSIM RANKS BYTES [PATTERNS], where LOGGOPSIM is a folder with LogGOPSim,
txt2bin and schedgen, RANKS and BYTES are lists such as 8,64 and 8,100000, and so is PATTERNS, all unless
given. A line for each pattern: its runs, those that are equal, those of which LogGOPSim has no time, or its generator no schedule that both can
read, and the largest difference of the others.
"""
import itertools, json, pathlib, re, subprocess, sys, tempfile

parsim = "target/release/parsim"
root = pathlib.Path(sys.argv[1]).absolute()
find = lambda name: next(path for path in sorted(root.rglob(name)) if path.is_file())
simulator, converter, generator = find("LogGOPSim"), find("txt2bin"), find("schedgen")
counts, lengths = ([int(text) for text in list.split(",")] for list in sys.argv[2:4])
patterns = ("binomialtreereduce binarytreebcast binomialtreebcast nwaydissemination pipelinedring pipelinedringdep doublering gather scatter "
            "linbarrier dissemination random_bisect random_bisect_fd_sym linear_alltoall linear_alltoallv allreduce_recdoub allreduce_ring resnet "
            "chained_dissem").split()
patterns = sys.argv[4].split(",") if len(sys.argv) > 4 else patterns
constants = [(2500, 1500, 1000, 6, 0, 65535), (1000, 300, 2000, 1, 0, 65535), (2500, 1500, 1000, 6, 2, 400), (5000, 0, 100, 10, 1, 1)]
options = lambda pattern, bytes: {"nwaydissemination": ["--nway", "3"]}.get(
    pattern, ["--segmentsize", str(max(1, bytes // 4))] if pattern.startswith("pipelined") else [])


def said(*words):
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else None


def theirs(file, values):
    """LogGOPSim's time in nanoseconds; `None` if it gives none."""
    settings = (word for name, value in zip("LogGOS", values) for word in (f"-{name}", value))
    found = re.search(r"Maximum finishing time at host \d+: (\d+)", said(simulator, "-f", file, *settings, "--batchmode") or "")
    return int(found[1]) if found else None


def ours(file, ranks, values, folder):
    L, o, g, G, O, S = values
    machine = f'LogGOPS(L: "{L} ns", o: "{o} ns", g: "{g} ns", G: "{G} ns/B", O: "{O} ns/B", S: "{S} B", within_node: OverNetwork, empty: LessThanOneByte)'
    (folder / "s.ron").write_text(f'Scenario(machine: {machine}, ranks: {ranks}, placement: RowMajor, '
                                  f'program: Goal(file: "{file}", unit: "1 ns"), seed: 1)')
    text = said(parsim, "run", folder / "s.ron", "--format", "json", "--quiet")
    return text and round(1e9 * json.loads(text)["makespan_s"])


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for pattern in patterns:
        runs = equal = without = 0
        largest = 0.0
        for ranks, bytes in itertools.product(counts, lengths):
            text, binary = folder / "x.goal", folder / "x.bin"
            said(generator, "-p", pattern, "-s", ranks, "-d", bytes, "-o", text, *options(pattern, bytes))
            said(converter, "-i", text, "-o", binary)
            for values in constants:
                runs += 1
                time, read = theirs(binary, values), [ours(file, ranks, values, folder) for file in (text, binary)]
                if time is None or None in read:
                    without += 1
                elif read == [time, time]:
                    equal += 1
                else:
                    largest = max(largest, *(abs(one / time - 1) for one in read))
        print(f"{pattern:24} {runs:4} runs, {equal:4} equal, {without:3} without a time, {100 * largest:.2f} % at most", flush=True)

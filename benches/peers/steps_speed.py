#!/usr/bin/env python3
"""Processor time of Gauss-Jordan in steps, n = 512 on 128 ranks, beside LogGOPSim on the same messages.

From the root of the repository, after `cargo build --release`: benches/peers/steps_speed.py LOGGOPSIM [RUNS], where LOGGOPSIM is a checkout of
LogGOPSim that has been built. parsim exports the messages of the run once, and LogGOPSim's converter makes a binary of them; then both simulators run
in turns. A line for each program: the medians of the seconds of both, and that of their ratios.
"""
import pathlib, resource, statistics, subprocess, sys, tempfile

root, runs = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else 15
find = lambda name: next(path for path in sorted(root.rglob(name)) if path.is_file())
simulator, converter, parsim = find("LogGOPSim"), find("txt2bin"), "target/release/parsim"


def seconds(*words):
    """Processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


for program in ("steps-gauss-jordan", "steps-gauss-jordan-tree"):
    with tempfile.TemporaryDirectory() as folder:
        text, binary = pathlib.Path(folder, "run.goal"), pathlib.Path(folder, "run.bin")
        scenario = [f"scenarios/{program}.ron", "--set", "ranks=128", "--set", "axes=[]", "--set", "program.parameters.n=512"]
        seconds(parsim, "export", *scenario, "--goal", text, "--quiet")
        seconds(converter, "-i", text, "-o", binary)
        times = [(seconds(simulator, "-f", binary, "-L", 1000, "-o", 200, "--batchmode"), seconds(parsim, "run", *scenario)) for _ in range(runs)]
        theirs, ours = (statistics.median(column) for column in zip(*times))
        print(f"{program}: LogGOPSim {theirs:.3f} s, parsim {ours:.3f} s, ratio {statistics.median(b / a for a, b in times):.2f}")

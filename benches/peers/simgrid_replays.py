#!/usr/bin/env python3
"""Compares SimGrid's examples of replay in SMPI (Debian's simgrid, 3.32) and here, on benches/peers/star.xml.

From the root of the repository: benches/peers/simgrid_replays.py SIMGRID, where SIMGRID is a checkout of SimGrid. A line for each example: ranks,
SMPI's time and parsim's in seconds, and the difference. Runs that take no time have no difference.
"""
import json, pathlib, re, subprocess, sys, tempfile

parsim = pathlib.Path("target/release/parsim").absolute()
star, peers = (pathlib.Path(path).absolute() for path in ("benches/peers/star.xml", "scenarios/peers/fair-flows-star.ron"))
smpi = pathlib.Path(sys.argv[1]).absolute() / "examples/smpi"
ranks = dict(allgatherv=4, gather=4, reducescatter=4)
names = "allgatherv allreduce alltoall alltoallv barrier bcast bcast_reduce_datatypes gather reducescatter waitall with_isend".split()
examples = [(name, [smpi / f"replay/actions_{name}.txt"], ranks.get(name, 3)) for name in names]
examples.append(("actions", [smpi / f"replay/actions{rank}.txt" for rank in range(2)], 2))
many = smpi / "replay_multiple/ti_traces_32_1"
examples.append(("ti_traces_32_1", [many / f"ti_trace{rank}.txt" for rank in range(32)], 32))
for name in "coll compute_only empty mixed".split():
    folder = smpi / "replay_multiple_manual_deploy" / name
    examples.append((name, [folder / f"actions{rank}.txt" for rank in range(2)], 2))


def simulated(files, ranks, folder):
    """SMPI's time: its network without factors and without traffic of acknowledgements, its limit of asynchronous sends as parsim's machine has it."""
    (folder / "list").write_text("".join(f"{file}\n" for file in files))
    (folder / "hosts").write_text("".join(f"h{host}\n" for host in range(128)))
    words = ["smpirun", "-no-privatize", "-np", str(ranks), "-platform", star, "-hostfile", "hosts", "-replay", "list",
             "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=smpi/async-small-thresh:65536"]
    said = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    return float(re.findall(r"Simulation time ([0-9.e+-]+)", said.stdout + said.stderr)[-1])


def replayed(files, ranks, folder):
    """parsim's time, on a machine whose messages have the 16 bytes that SMPI adds."""
    file = files[0] if len(files) == 1 else folder / "list"
    (folder / "s.ron").write_text(
        f'Scenario(machine: Like(File("{peers}"), {{"nodes.interface.header": "16 B", "nodes.interface.data": WhenMatched(above: "64 KiB"), '
        f'"sends": Eager(up_to: "64 KiB")}}), ranks: {ranks}, placement: RowMajor, '
        f'program: TimeIndependent(file: "{file}", collectives: SimGrid), seed: 1)')
    said = subprocess.run([parsim, "run", folder / "s.ron", "--format", "json", "--quiet"], check=True, capture_output=True, text=True)
    return json.loads(said.stdout)["makespan_s"]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for example, files, count in examples:
        theirs, ours = simulated(files, count, folder), replayed(files, count, folder)
        difference = f"{100 * (ours / theirs - 1):+.5f} %" if theirs > 0 else ""
        print(f"{example:24} {count:3} {theirs:16.6f} {ours:16.6f} {difference}", flush=True)

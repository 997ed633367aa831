#!/usr/bin/env python3
"""Bytes of memory for each operation that waits: benches/peers/goal_memory.py [MACHINE.ron [RANKS…]].

From the root of the repository. Every rank sends 1000 B to all others at once and receives from them, so that all operations wait. For each
number of ranks, 512 to 1024 unless given: the operations, parsim's peak in MiB by its log, and the bytes for each of them beyond a
run of two ranks, from the binary form of the schedule.
"""
import os, re, struct, subprocess, sys, tempfile

parsim = "target/release/parsim"
machine = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "scenarios/machines/loggopsim-default.ron")


def crowd(file, p):
    """Writes the form that txt2bin writes: a table of the parts of all ranks, and of each its roots and its operations."""
    count = 2 * (p - 1)
    size = 8 + 43 * count
    file.write(struct.pack("<QIBB", 4223, p, 1, 1))
    begin = 6 + 16 * p
    for rank in range(p):
        file.write(struct.pack("<QQ", begin + rank * size, begin + (rank + 1) * size))
    for rank in range(p):
        file.write(struct.pack(f"<II{count}I", count, count, *range(count)))
        for distance in range(1, p):
            for kind, peer in (1, rank + distance), (2, rank - distance):
                file.write(struct.pack("<IBIQIBBIIII", 0, kind, peer % p, 1000, 0, 0, 0, 0, 0, 0, 0))


def peak(p):
    """The peak of a run in bytes."""
    with tempfile.TemporaryDirectory() as place:
        with open(f"{place}/x.bin", "wb") as file:
            crowd(file, p)
        with open(f"{place}/x.ron", "w") as file:
            file.write(f'Scenario(machine: File("{machine}"), ranks: {p}, placement: RowMajor, '
                       f'program: Goal(file: "x.bin", unit: "1 ns"), axes: [], seed: 1)')
        said = subprocess.run([parsim, "run", f"{place}/x.ron"], check=True, capture_output=True, text=True, env={**os.environ, "RUST_LOG": "info"})
        return 1024 * float(re.search(r"peak_memory_kib=([0-9.]+)", re.sub("\x1b.*?m", "", said.stderr))[1])


nothing = peak(2)
print(f"2 ranks: {nothing / 2**20:.1f} MiB")
for p in [int(word) for word in sys.argv[2:]] or [512, 600, 700, 800, 1024]:
    operations, of_run = 2 * p * (p - 1), peak(p)
    print(f"{p} ranks, {operations} operations: {of_run / 2**20:.1f} MiB, {(of_run - nothing) / operations:.1f} bytes for each")

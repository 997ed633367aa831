#!/usr/bin/env python3
"""Writes a program in GOAL, LogGOPSim's language, in nanoseconds: goal.py PROGRAM SIZE P.

PROGRAM is `gauss-jordan`, `broadcast` or `overlap`, that of scenarios/peers/PROGRAM.ron, and SIZE its n or its bytes; see
docs/simulators.md. Every operation requires the one before it.
"""
import sys


def rank_of(rank, operations):
    print(f"rank {rank} {{")
    for number, operation in enumerate(operations):
        print(f"l{number}: {operation}")
        if number:
            print(f"l{number} requires l{number - 1}")
    print("}")


def gauss_jordan(rank, n, p):
    rows = n // p
    for step in range(n):
        owner, size = step // rows, 8 * (n + 1)
        if rank == owner:
            yield from (f"send {size}b to {other} tag {step}" for other in range(p) if other != owner)
        else:
            yield f"recv {size}b from {owner} tag {step}"
        yield f"calc {2 * n * rows * 1000}"


def broadcast(rank, size, p):
    if rank == 0:
        yield from (f"send {size}b to {other} tag 0" for other in range(1, p))
    else:
        yield f"recv {size}b from 0 tag 0"


def overlap(rank, size, _):
    for message in range(100):
        if rank == 0:
            yield f"send {size}b to 1 tag {message}"
        else:
            yield f"recv {size}b from 0 tag {message}"
            yield "calc 1000000"


program = {"gauss-jordan": gauss_jordan, "broadcast": broadcast, "overlap": overlap}[sys.argv[1]]
size, p = int(sys.argv[2]), int(sys.argv[3])
print(f"num_ranks {p}")
for rank in range(p):
    rank_of(rank, program(rank, size, p))

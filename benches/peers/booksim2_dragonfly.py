#!/usr/bin/env python3
"""Prints the tables of validation/booksim2 for BookSim2's dragonfly under UGAL.

booksim2_dragonfly.py path/of/booksim saturation   the load at which the mean latency is three times the idle one
booksim2_dragonfly.py path/of/booksim accepted     the load that arrives, below and past saturation

BookSim2 (github.com/booksim/booksim2, commit 28f4329) with its defaults but for the settings below: a dragonfly of 72 nodes, 9 groups
of 4 routers with 2 nodes, its rule and its three virtual channels for UGAL, and buffers that hold the credit loop of its links of
100 cycles, as in its own example of a dragonfly.
"""

import subprocess
import sys

SETTINGS = """topology = dragonflynew; k = 2; n = 1; routing_function = ugal; num_vcs = 3; vc_buf_size = 256;
injection_rate_uses_flits = 1; sample_period = 10000;
"""
PATTERNS = {"Uniform": "uniform", "NextGroup(nodes: 8)": "bad_dragon"}


def run(booksim, flits, pattern, rate, *settings):
    """Mean latency in cycles and accepted flits per node and cycle; a latency of infinity where it is not stable."""
    with open("dragonfly.cfg", "w") as file:
        file.write(SETTINGS)
    arguments = [f"packet_size={flits}", f"traffic={PATTERNS[pattern]}", f"injection_rate={rate}", *settings]
    text = subprocess.run([booksim, "dragonfly.cfg", *arguments], capture_output=True, text=True).stdout
    if "Overall Traffic Statistics" not in text:
        return float("inf"), None
    overall = text.split("Overall Traffic Statistics")[1]

    def figure(name):
        return float(overall.split(name)[1].split("=")[1].split()[0])

    return figure("Packet latency average"), figure("Accepted flit rate average")


def saturation(booksim, flits, pattern):
    idle, _ = run(booksim, flits, pattern, 0.005)
    low, high = 0.005, 0.6
    while high / low > 1.0075:
        middle = (low + high) / 2
        latency, _ = run(booksim, flits, pattern, middle, f"latency_thres={6 * idle}")
        low, high = (middle, high) if latency <= 3 * idle else (low, middle)
        print(flits, pattern, idle, middle, latency, file=sys.stderr, flush=True)
    print(f"{flits},\"{pattern}\",{(low + high) / 2:.4f}", flush=True)


def accepted(booksim, flits, pattern):
    for rate in [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]:
        _, load = run(booksim, flits, pattern, rate, "latency_thres=1000000.0", "sim_type=throughput", "max_samples=3")
        print(f"{flits},\"{pattern}\",{rate},{load:.4f}", flush=True)


if __name__ == "__main__":
    booksim, what = sys.argv[1:]
    print("flits,pattern," + {"saturation": "saturation_flits_per_node_cycle", "accepted": "offered,booksim2_flits_per_node_cycle"}[what])
    for flits in [1, 16]:
        for pattern in PATTERNS:
            {"saturation": saturation, "accepted": accepted}[what](booksim, flits, pattern)

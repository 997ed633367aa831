"""Accepted load of networks with 64 end nodes above their saturation, by flows without packets or queues' lengths.

Every link is a first-come-first-served queue without bound: what leaves it is a mixture of what comes to it, in the same
shares, and no more than its width. Fixed point by iteration. Routes and patterns are written anew here, from their
definitions. Prints saturation.csv:  python3 fluid.py effective-bandwidth.csv > saturation.csv
"""

import csv
import itertools
import sys

NODES = 64
OVERLOAD = 1.5  # offered over the bound of the busiest channel
MOST = 1.0  # an end node cannot send more than its link carries


def grid(sides, wraps):
    """Routes of a mesh or torus: the last coordinate first, both ways of a ring where they are equally long."""

    def coordinates(node):
        place = []
        for side in reversed(sides):
            node, coordinate = divmod(node, side)
            place.append(coordinate)
        return place  # last dimension first

    def node_of(place):
        node = 0
        for side, coordinate in zip(sides, reversed(place)):
            node = node * side + coordinate
        return node

    def step(at, to):
        here, there = coordinates(at), coordinates(to)
        for dimension, side in enumerate(reversed(sides)):
            ahead = (there[dimension] - here[dimension]) % side
            if ahead == 0:
                continue
            if not wraps:
                ways = [1] if there[dimension] > here[dimension] else [-1]
            else:
                ways = [way for way, hops in ((1, ahead), (-1, side - ahead)) if hops == min(ahead, side - ahead)]
            following = []
            for way in ways:
                place = list(here)
                place[dimension] = (place[dimension] + way) % side
                following.append(node_of(place))
            return following
        return []

    return {"step": step, "entry": list(range(NODES))}


def shortest(neighbours, entry):
    """Routes of a graph: every neighbour that is closer, with the same probability. Nodes hang at the vertices `entry`."""
    distance = {}
    for goal in set(entry):
        reached, front = {goal: 0}, [goal]
        while front:
            front = [(new, reached[old] + 1) for old in front for new in neighbours[old] if new not in reached]
            front = [new for new, hops in front if reached.setdefault(new, hops) == hops]
            front = list(dict.fromkeys(front))
        distance[goal] = reached

    def step(at, to):
        goal = distance[entry[to]]
        return [new for new in neighbours[at] if goal[new] < goal[at]]

    return {"step": step, "entry": entry}


def fat_tree(levels=6):
    """Two switches up and two down from each of 32 switches on every level; two nodes at each on the lowest."""
    neighbours = {}
    words = range(2 ** (levels - 1))
    for level, word in itertools.product(range(levels), words):
        neighbours[level, word] = []
    for level, word, bit in itertools.product(range(levels - 1), words, range(2)):
        above = (level + 1, word & ~(1 << level) | bit << level)
        neighbours[level, word].append(above)
        neighbours[above].append((level, word))
    return shortest(neighbours, [(0, node // 2) for node in range(NODES)])


def cube_connected_cycles(dimension=4):
    neighbours = {}
    for corner, place in itertools.product(range(2**dimension), range(dimension)):
        ring = [corner * dimension + (place + way) % dimension for way in (1, -1)]
        neighbours[corner * dimension + place] = ring + [(corner ^ 1 << place) * dimension + place]
    return shortest(neighbours, list(range(NODES)))


# By the names of effective-bandwidth.csv: the name in scenarios, and the routes.
NETWORKS = {
    "ring": ("ring", grid([64], True)),
    "mesh2": ("mesh2d", grid([8, 8], False)),
    "torus2": ("torus2d", grid([8, 8], True)),
    "mesh3": ("mesh3d", grid([4, 4, 4], False)),
    "torus3": ("torus3d", grid([4, 4, 4], True)),
    "fattree": ("fat-tree", fat_tree()),
    "ccc": ("ccc", cube_connected_cycles()),
}
PATTERNS = {
    "uniform": "Uniform",
    "hotspot": "HotSpot(share: 1.0)",
    "bitcomp": "BitComplement",
    "news_wrap": "News",
    "transpose": "Transpose",
    "shuffle": "Shuffle",
}


def flows(pattern, node):
    """Destinations and their shares; what a node would send to itself is not sent."""
    row, column = divmod(node, 8)
    if pattern == "Uniform":
        return [(other, 1 / NODES) for other in range(NODES) if other != node]
    if pattern == "News":
        steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
        return [((row + down) % 8 * 8 + (column + right) % 8, 0.25) for down, right in steps]
    to = {
        "HotSpot(share: 1.0)": 0,
        "BitComplement": NODES - 1 - node,
        "Transpose": column * 8 + row,
        "Shuffle": node * 2 % NODES + node * 2 // NODES,
    }[pattern]
    return [(to, 1.0)] if to != node else []


def play(network, pattern, offered, width, rounds=2000):
    """The accepted load of a node, the mean of all."""
    step, entry = network["step"], network["entry"]
    sent = {}
    for node in range(NODES):
        for to, share in flows(pattern, node):
            key = (entry[node], to)
            sent[key] = sent.get(key, 0.0) + offered * share
    ways, passes = {}, {}
    accepted = 0.0
    for turn in range(rounds):
        # What comes to each vertex for each destination, then to each link, with the last shares of what passes.
        coming = dict(sent)
        for (at, new, to), rate in ways.items():
            coming[new, to] = coming.get((new, to), 0.0) + rate * passes.get((at, new), 1.0)
        ways, arrivals, ends = {}, {}, [0.0] * NODES
        for (at, to), rate in coming.items():
            following = step(at, to) if at != entry[to] else []
            if not following:
                ends[to] += rate
            for new in following:
                part = rate / len(following)
                ways[at, new, to] = ways.get((at, new, to), 0.0) + part
                arrivals[at, new] = arrivals.get((at, new), 0.0) + part
        passes = {link: min(1.0, width / rate) for link, rate in arrivals.items()}
        before, accepted = accepted, sum(min(1.0, rate) for rate in ends) / NODES
        if turn > 40 and abs(accepted - before) < 1e-9:
            break
    return accepted


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["pattern"] in PATTERNS]
    print("# Flits per node and cycle, by fluid.py: accepted by a fluid above saturation, beside what the busiest channel, the")
    print("# bisection rule and the source allow, all no more than what is sent.")
    print("topology,pattern,machine.network.links.per_byte,program.offered,program.warm_up,program.measured,fluid,routed,rule,printed")
    for row in rows:
        name, network = NETWORKS[row["topology"]]
        pattern = PATTERNS[row["pattern"]]
        # Widths are printed with four digits; the times of a byte are whole picoseconds.
        per_byte = round(1000.0 / float(row["width"]))
        sends = sum(share for node in range(NODES) for _, share in flows(pattern, node)) / NODES
        offered = float(f"{min(MOST, OVERLOAD * float(row['routed']) / NODES / sends):.5f}")
        bounds = [float(row[key]) / NODES for key in ("routed", "rule_min_N_B_over_gamma", "printed")]
        # Microseconds: the narrower the links, the fewer packets in a time; a hot spot is offered few.
        measured = 130 if row["pattern"] == "hotspot" else round(24 * per_byte / 1000)
        cells = [name, pattern, f"{per_byte} ps/B", f"{offered:.5f}", f"{measured} us", f"{measured} us"]
        cells += [f"{play(network, pattern, offered, 1000.0 / per_byte):.6f}"]
        cells += [f"{min(bound, offered * sends):.6f}" for bound in bounds]
        print(",".join(str(cell) for cell in cells), flush=True)


main()

#!/usr/bin/env python3
"""Compares random schedules in LogGOPSim and here, to the nanosecond, and changes LogGOPSim where it is known to differ.

From the root of the repository: benches/peers/random_schedules.py SOURCES FIRST END, where SOURCES is the folder src/LogGOPSim of a checkout of
LogGOPSim that has been built. The schedules FIRST to END - 1 of each kind have up to 25 messages among 2 to 5 ranks, up to 12 computations, and
relations between any of them, on machines whose constants are often 0. A line for each kind and each LogGOPSim: its runs, those that are equal,
those that neither ends, and of the others how many there are and the largest difference of those that both end.
"""
import json, pathlib, random, re, subprocess, sys, tempfile

parsim = "target/release/parsim"
sources = pathlib.Path(sys.argv[1])
first, end = map(int, sys.argv[2:4])

STABLE = [("LogGOPSim.cpp", "std::sort(", "std::stable_sort(", 3)]
# An operation begins no earlier than those have begun, or ended, that it requires: `earliest`; `done` is when a processor has dealt with messages.
CAUSAL = [
    ("Parser.hpp", "std::vector<DeserializedNode> executableNodes;\n\n\n", "std::vector<DeserializedNode> executableNodes;\n\tstd::map<uint32_t, uint64_t> earliest;\n", 1),
    ("Parser.hpp", "gp.offset = executableNodes[cnt].offset;", "gp.offset = executableNodes[cnt].offset;\n\t\t\tgp.starttime = earliest[gp.offset];", 1),
    ("Parser.hpp", "void MarkNodeAsStarted(uint32_t offset) {", "void MarkNodeAsStarted(uint32_t offset, uint64_t since) {", 1),
    ("Parser.hpp", "void MarkNodeAsDone(uint32_t offset) {", "void MarkNodeAsDone(uint32_t offset, uint64_t since) {", 1),
    ("LogGOPSim.cpp", "// initialize o and g for all PEs and hosts", "std::vector<std::vector<btime_t> > done(p, std::vector<btime_t>(ncpus, 0));", 1),
    ("LogGOPSim.cpp", "MarkNodeAsStarted(elem.offset)", "MarkNodeAsStarted(elem.offset, elem.time)", 3),
    ("LogGOPSim.cpp", "uint32_t size, src, tag, offset;", "uint32_t size, src, tag, offset; uint8_t proc;", 1),
    ("LogGOPSim.cpp", "nelem.starttime = elem.time;", "nelem.starttime = elem.time; nelem.proc = elem.proc;", 1),
    ("LogGOPSim.cpp", "nextgs[elem.host][elem.nic] = elem.time + g ", "done[elem.host][elem.proc] = nexto[elem.host][elem.proc];\n          nextgs[elem.host][elem.nic] = elem.time + g ", 1),
    ("LogGOPSim.cpp", "nextgr[elem.host][elem.nic] = elem.time+g", "done[elem.host][elem.proc] = nexto[elem.host][elem.proc];\n          nextgr[elem.host][elem.nic] = elem.time+g", 1),
    ("LogGOPSim.cpp", "schedules[h].MarkNodeAsDone(elem.offset)", "schedules[h].MarkNodeAsDone(elem.offset, done[h][elem.proc])", 1),
    ("LogGOPSim.cpp", "MarkNodeAsDone(elem.offset);\n          check_hosts.push_back(elem.host);\n          // add", "MarkNodeAsDone(elem.offset, nexto[elem.host][elem.proc]);\n          check_hosts.push_back(elem.host);\n          // add", 1),
    ("LogGOPSim.cpp", "schedules[elem.host].MarkNodeAsDone(elem.offset)", "schedules[elem.host].MarkNodeAsDone(elem.offset, std::max(elem.time, done[elem.host][matched_elem.proc]))", 1),
    ("LogGOPSim.cpp", "schedules[elem.host].MarkNodeAsDone(matched_elem.offset)", "schedules[elem.host].MarkNodeAsDone(matched_elem.offset, done[elem.host][elem.proc])", 1),
    ("LogGOPSim.cpp", "schedules[elem.target].MarkNodeAsDone(elem.offset)", "schedules[elem.target].MarkNodeAsDone(elem.offset, std::max(elem.time, done[elem.target][elem.proc]))", 1),
    ("LogGOPSim.cpp", "MarkNodeAsDone(matched_elem.offset); //", "MarkNodeAsDone(matched_elem.offset, std::max(elem.time, done[matched_elem.src][matched_elem.proc])); //", 1),
    ("LogGOPSim.cpp", "        aq.push(*freeop);", "        freeop->time = std::max(freeop->time, freeop->starttime);\n        aq.push(*freeop);", 1),
]

# Processors and interfaces of a rank; whether messages may be larger than S, and receives have other sizes than their messages.
KINDS = {
    "one processor, one interface": dict(any=0.0),
    "the same, receives of any source or tag": dict(any=0.3),
    "the same, larger than S": dict(any=0.0, large=True),
    "the same, larger than S, receives of any source or tag": dict(any=0.3, large=True),
    "the same, receives on the other side of S": dict(any=0.0, large=True, crosses=True),
    "two interfaces": dict(any=0.3, nics=2),
    "two interfaces, larger than S": dict(any=0.0, nics=2, large=True),
    "two processors": dict(any=0.0, cpus=2),
    "two processors and interfaces, larger than S": dict(any=0.2, cpus=2, nics=2, large=True),
}


def changed(changes, folder):
    """Builds LogGOPSim with these changes."""
    files = {name: (sources / name).read_text().expandtabs(8) if name == "LogGOPSim.cpp" else (sources / name).read_text() for name in ("LogGOPSim.cpp", "Parser.hpp")}
    for name, old, new, count in changes:
        assert files[name].count(old) == count, (name, old, files[name].count(old))
        files[name] = files[name].replace(old, new)
    if "earliest" in files["Parser.hpp"]:
        begin = files["Parser.hpp"].index("void MarkNodeAsStarted(uint32_t")
        rest = files["Parser.hpp"][begin:].replace("(*dep_cnt)--;", "earliest[offset] = std::max(earliest[offset], since);\n\t\t\t(*dep_cnt)--;")
        files["Parser.hpp"] = files["Parser.hpp"][:begin] + rest
    for name, text in files.items():
        (folder / name).write_text(text)
    command = ["g++", "-std=c++11", "-O1", "-w", f"-I{folder}", f"-I{sources}", folder / "LogGOPSim.cpp", sources / "loggopsim_cmdline.c"]
    subprocess.run([*command, "-o", folder / "LogGOPSim", "-lcgraph"], check=True)
    return folder / "LogGOPSim"


def drawn(dice, any, cpus=1, nics=1, large=False, crosses=False):
    """The number of ranks, the text of a schedule and constants."""
    p, is_wide = dice.randint(2, 5), dice.random() < 0.5
    S = dice.choice([0, 3, 100]) if large else 10**6
    lengths = [1, 2, 7, 50, 150, 1000] if is_wide or S > 7 else [1, 2, 5]
    ranks = [[] for _ in range(p)]
    place = lambda: f"cpu {dice.randrange(cpus)} nic {dice.randrange(nics)}"
    for _ in range(dice.randint(1, dice.choice([4, 12, 25]))):
        sender, receiver = dice.sample(range(p), 2) if dice.random() < 0.9 else [dice.randrange(p)] * 2
        tag = dice.randrange(3)
        # So that a message and its receive lie on one side of S, whichever meet.
        among = [length for length in lengths if crosses or (length > S) == (large and (any > 0 or tag < 2))]
        size = dice.choice(among or [length for length in lengths if length > S])
        ranks[sender].append((dice.random(), f"send {size}b to {receiver} tag {tag} {place()}"))
        source, wanted = (-1 if dice.random() < any else known for known in (sender, tag))
        ranks[receiver].append((dice.random(), f"recv {size}b from {source} tag {wanted} {place()}"))
    for _ in range(dice.randint(0, 12)):
        time = dice.choice([0, 1, 3, 10, 100, 1000] if is_wide else [0, 1, 2, 3, 5])
        ranks[dice.randrange(p)].append((dice.random(), f"calc {time} cpu {dice.randrange(cpus)}"))
    density = dice.choice([0.2, 0.6, 1.2])
    lines = [f"num_ranks {p}"]
    for rank, operations in enumerate(ranks):
        lines.append(f"rank {rank} {{")
        for number, (_, operation) in enumerate(sorted(operations) or [(0, "calc 0")]):
            lines.append(f"l{number}: {operation}")
            leaders = set()
            while number and dice.random() < density / (1 + len(leaders)):
                leader = dice.randrange(max(0, number - 5), number)
                if leader in leaders:
                    break
                leaders.add(leader)
                lines.append(f"l{number} {'requires' if dice.random() < 0.7 else 'irequires'} l{leader}")
        lines.append("}")
    time = lambda: dice.choice([0, 1, 10, 100, 1500] if is_wide else [0, 1, 2, 3, 10])
    per_byte = lambda: dice.choice([0, 0, 1, 2, 6])
    return p, "\n".join(lines) + "\n", (time(), time(), time(), per_byte(), per_byte(), S)


def theirs(simulator, file, values):
    """LogGOPSim's time in nanoseconds; `None` if the run has no end."""
    settings = (word for name, value in zip("LogGOS", values) for word in (f"-{name}", str(value)))
    try:
        said = subprocess.run([simulator, "-f", file, *settings, "--batchmode"], capture_output=True, text=True, timeout=10).stdout
    except subprocess.TimeoutExpired:
        return None
    found = re.search(r"Maximum finishing time at host \d+: (\d+)", said)
    return int(found[1]) if found else None


def ours(file, ranks, values, folder):
    L, o, g, G, O, S = values
    machine = f'LogGOPS(L: "{L} ns", o: "{o} ns", g: "{g} ns", G: "{G} ns/B", O: "{O} ns/B", S: "{S} B", within_node: OverNetwork, overtaking: Allowed)'
    (folder / "s.ron").write_text(f'Scenario(machine: {machine}, ranks: {ranks}, placement: RowMajor, '
                                  f'program: Goal(file: "{file}", unit: "1 ns"), seed: 1)')
    run = subprocess.run([parsim, "run", folder / "s.ron", "--format", "json", "--quiet"], capture_output=True, text=True)
    return round(1e9 * json.loads(run.stdout)["makespan_s"]) if run.returncode == 0 else None


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    simulators = {}
    for words, changes in [("a stable sort", STABLE), ("and nothing begins too early", STABLE + CAUSAL)]:
        (folder / words).mkdir()
        simulators[words] = changed(changes, folder / words)
    for kind, properties in KINDS.items():
        found = {words: [] for words in simulators}
        for seed in range(first, end):
            ranks, text, values = drawn(random.Random(f"{kind} {seed}"), **properties)
            (folder / "x.goal").write_text(text)
            subprocess.run([sources / "txt2bin", "-i", folder / "x.goal", "-o", folder / "x.bin"], check=True, capture_output=True)
            time = ours(folder / "x.goal", ranks, values, folder)
            for words, simulator in simulators.items():
                found[words].append((theirs(simulator, folder / "x.bin", values), time))
        for words, pairs in found.items():
            equal = sum(one == other is not None for one, other in pairs)
            neither = sum(one is None and other is None for one, other in pairs)
            errors = [abs(other / max(one, 1) - 1) for one, other in pairs if None not in (one, other) and one != other]
            print(f"{kind}; {words}: {len(pairs)} runs, {equal} equal, {neither} end in neither, {len(pairs) - equal - neither} others, "
                  f"{100 * max(errors, default=0):.1f} % at most", flush=True)

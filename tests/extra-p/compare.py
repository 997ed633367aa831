"""Asks `parsim fit` and Extra-P for the normal forms behind the same noisy data.

    python3 -m venv venv && venv/bin/pip install extrap==4.2.5
    venv/bin/python tests/extra-p/compare.py target/debug/parsim

Twenty forms as in `src/model/fit/tests.rs`, fourteen of p = 2 … 4096 and six of p and n = 64 … 4096, every term worth 1 at the
first point beside the constant 1; five values at each point with 5 % of normal noise, from the seed that stands in the table.
Both read the same JSON Lines. A form counts as found if the exponents of all its terms are, and no term besides.
Prints a table; its last row counts what was found. Exit code 1 if parsim finds fewer than Extra-P.
"""

import json
import math
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
from extrap.modelers.model_generator import ModelGenerator

ONE = ["1/4,0", "1/3,0", "1/2,0", "2/3,0", "3/4,0", "1,0", "5/4,0", "3/2,0", "2,0", "3,0", "0,2", "1/2,1", "1,1", "1,2"]
TWO = ["1,0 1,0", "1/2,0 2,0", "0,1 1,0", "1,0 0,0; 0,0 2,0", "1/2,0 0,0; 0,0 1,1", "2,0 0,0; 0,0 3/2,0"]
POWERS = [2.0**exponent for exponent in range(1, 13)]
SIZES = POWERS[5:]


def form(text):
    """Terms as tuples of (i, j) for each parameter."""
    pair = lambda factor: (Fraction(factor.split(",")[0]), int(factor.split(",")[1]))
    return frozenset(tuple(pair(factor) for factor in term.split()) for term in text.split(";"))


def product(term, point):
    return math.prod(x ** float(i) * math.log2(x) ** j for (i, j), x in zip(term, point))


def words(terms, names):
    def factor(power, name):
        i, j = power
        return ([f"{name}^{i}" if i != 1 else name] if i else []) + ([f"log {name}" if j == 1 else f"log² {name}"] if j else [])
    each = sorted(" ".join(word for power, name in zip(term, names) for word in factor(power, name)) for term in terms)
    return " + ".join(each) or "constant"


def write(path, terms, points, names, seed):
    dice = random.Random(seed)
    value = lambda point: 1 + sum(product(term, point) / product(term, points[0]) for term in terms)
    with open(path, "w") as file:
        for point in points:
            values = [value(point) * (1 + 0.05 * dice.gauss(0, 1)) for _ in range(5)]
            line = {"params": dict(zip(names, point)), "callpath": "run", "metric": "time", "value": values}
            file.write(json.dumps(line) + "\n")


def of_parsim(parsim, path, names):
    fragment = path.with_suffix(".ron")
    command = [parsim, "fit", path, "--model", "normal-form", "--value", "time", "--parameters", ",".join(names), "--ron", fragment]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    text = fragment.read_text()
    terms = set()
    for term in re.findall(r"factors:\s*\[(.*?)\]", text, re.S):
        powers = re.findall(r"numerator:\s*(\d+).*?denominator:\s*(\d+).*?logarithm:\s*(\d+)", term, re.S)
        terms.add(tuple((Fraction(int(over), int(under)), int(log)) for over, under, log in powers))
    return frozenset(terms)


def of_extra_p(path, names):
    experiment = read_jsonlines_file(path)
    generator = ModelGenerator(experiment)
    generator.model_all()
    (model,) = generator.models.values()
    order = [str(parameter) for parameter in experiment.parameters]
    terms = set()
    for term in model.hypothesis.function.compound_terms:
        pairs = getattr(term, "parameter_term_pairs", [(0, term)])
        powers = {order[index]: powers_of(single) for index, single in pairs}
        terms.add(tuple(powers.get(name, (Fraction(0), 0)) for name in names))
    return frozenset(terms)


def powers_of(compound):
    powers = {"polynomial": Fraction(0), "logarithm": 0}
    for term in compound.simple_terms:
        powers[term.term_type] = Fraction(term.exponent).limit_denominator(60)
    return powers["polynomial"], int(powers["logarithm"])


def main(parsim):
    sets = [(text, ["p"], [(p,) for p in POWERS]) for text in ONE]
    sets += [(text, ["p", "n"], [(p, n) for p in POWERS[::2] for n in SIZES]) for text in TWO]
    found = [0, 0]
    print("| seed | form | `parsim fit` | Extra-P |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for seed, (text, names, points) in enumerate(sets, 1):
            path = Path(folder, f"{seed}.jsonl")
            write(path, form(text), points, names, seed)
            answers = [of_parsim(parsim, path, names), of_extra_p(path, names)]
            hits = [answer == form(text) for answer in answers]
            found = [count + hit for count, hit in zip(found, hits)]
            told = ["found" if hit else words(answer, names) for hit, answer in zip(hits, answers)]
            print(f"| {seed} | {words(form(text), names)} | {told[0]} | {told[1]} |")
    print(f"| | found of {len(sets)} | {found[0]} | {found[1]} |")
    return int(found[0] < found[1])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

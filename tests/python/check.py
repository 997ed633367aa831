"""The module of Python against the command: the same rows, scenarios as dicts, errors with their places.

usage: check.py PARSIM   (from the root of the repository, with duckdb, pandas, polars and pyarrow beside the wheel)
"""

import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import duckdb
import pandas
import parsim
import polars
import pyarrow

command = sys.argv[1]
scenarios = Path("scenarios")


def printed(*arguments):
    done = subprocess.run([command, *map(str, arguments)], check=True, capture_output=True, text=True)
    return done.stdout


def flat(row):
    """The columns of a row: those of CSV."""
    cells = {}
    for key, value in row.items():
        cells.update({f"{key}.{below}": cell for below, cell in flat(value).items()} if isinstance(value, dict) else {key: value})
    return cells


def plain(cell):
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def the_rows_of_a_sweep_are_those_of_the_command():
    # Integers come as floats where another row of the column has a fraction, which is equal; lists come as texts.
    for name, over in [("ring-shift", {}), ("gauss-jordan-neighbour", {"n": [16, 32], "p": [1, 4, 16]}), ("ping", {})]:
        path = scenarios / f"{name}.ron"
        options = [f"--over={axis}={','.join(map(str, values))}" for axis, values in over.items()]
        lines = printed("sweep", path, "--format", "jsonl", *options).splitlines()
        expected = [flat(json.loads(line)) for line in lines]
        swept = table = parsim.sweep(path, over=over)
        rows = [{key: cell for key, cell in row.items() if key != "error"} for row in table.rows()]
        assert rows == expected, (name, rows[0], expected[0])
        frames = {
            "pandas": pandas.DataFrame.from_arrow(table).to_dict("records"),
            "polars": polars.DataFrame(table).to_dicts(),
            "pyarrow": pyarrow.table(table).to_pylist(),
            "duckdb": duckdb.sql("select * from swept").df().to_dict("records"),
        }
        for reader, frame in frames.items():
            found = [{key: plain(cell) for key, cell in row.items() if key != "error"} for row in frame]
            assert found == expected, (reader, found[0])
        assert table.units["makespan_s"] == "s" and len(table) == len(table["makespan_s"]) == len(expected)
        assert "makespan_s" in table._repr_html_()


def a_run_is_that_of_the_command():
    path = scenarios / "gauss-jordan-neighbour.ron"
    options = ["--set", "ranks=8", "--set", "program.n=32"]
    run = parsim.run(path, set={"ranks": 8, "program.n": 32})
    assert run.row == json.loads(printed("run", path, "--format", "json", *options))
    assert str(run).strip() == printed("run", path, *options).strip()
    critical = run.critical_path()
    assert critical.row == json.loads(printed("critical-path", path, "--format", "json", *options))
    accounts = pandas.DataFrame.from_arrow(run.accounts())
    times = accounts.drop(columns=["phase"]).groupby("rank").sum().sum(axis=1)
    assert len(times) == 8 and all(math.isclose(time, run.makespan_s, rel_tol=1e-12) for time in times)
    pieces = pandas.DataFrame.from_arrow(critical.pieces())
    assert math.isclose((pieces.to_s - pieces.from_s).sum(), run.makespan_s, rel_tol=1e-12)
    links = pandas.DataFrame.from_arrow(run.links())
    assert links.packets.sum() == run.row["packet_hops"]
    assert math.isclose(links.utilization.max(), run.row["busiest_link_utilization"])
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("space-time.svg", "heat-map.svg")]
        printed("critical-path", path, *options, "--space-time", files[0])
        printed("run", path, *options, "--heat-map", files[1])
        assert [run.space_time(), run.heat_map()] == [file.read_text() for file in files]
    assert "<svg" in run._repr_html_()


def every_scenario_is_the_same_as_a_dict():
    paths = sorted(scenarios.glob("*.ron"))
    assert len(paths) > 40
    for path in paths:
        scenario = parsim.read(path)
        # Files of programs have whole paths; descriptions on an axis keep the quotes of variants as they were given.
        found, expected = parsim.resolved(scenario, folder=scenarios), parsim.resolved(path.resolve())
        assert re.sub(r'"([A-Z]\w*)"', r"\1", found) == re.sub(r'"([A-Z]\w*)"', r"\1", expected), path
    schema = json.loads(printed("schema", "--format", "json"))
    maps = set()

    def walk(schema):
        if isinstance(schema, dict):
            for name, field in schema.get("properties", {}).items():
                if isinstance(field.get("additionalProperties"), dict):
                    maps.add(name)
            for value in schema.values():
                walk(value)
        elif isinstance(schema, list):
            for value in schema:
                walk(value)

    walk(schema)
    documented = parsim.to_ron.__doc__
    assert maps and all(name in documented for name in maps), maps


def a_dict_may_be_written_by_hand():
    scenario = {
        "machine": {"Like": [{"File": "machines/parsytec-supercluster-t800.ron"}, {"name": "it"}]},
        "ranks": 4,
        "placement": "RowMajor",
        "program": {"RingShift": {"bytes": "1 kB", "rounds": 10, "order": "SendFirst"}},
        "seed": 1,
    }
    run = parsim.run(scenario, folder=scenarios)
    assert run.row["meta"]["seed"] == 1 and "it, 4 ranks" in repr(run)
    table = parsim.sweep(scenario, over={"ranks": [2, 4]}, folder=scenarios)
    assert table["makespan_s"][1] == run.makespan_s


def raised(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def faults_have_their_places():
    path = scenarios / "ring-shift.ron"
    text = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "machines").symlink_to((scenarios / "machines").resolve())
        bad = Path(folder) / "bad.ron"
        bad.write_text(text.replace("ranks:", "rank:", 1))
        error = raised(parsim.ScenarioError, lambda: parsim.run(bad))
        line = next(number for number, line in enumerate(text.splitlines(), 1) if "ranks:" in line)
        assert (error.file, error.line) == (str(bad), line) and "ranks" in error.help, vars(error)
        assert error.message in str(error) and error.faults[0]["column"] == error.column
    error = raised(parsim.ScenarioError, lambda: parsim.run(path, set={"ranks": "many"}))
    assert error.path == "ranks" and error.file == "--set ranks=many"
    scenario = parsim.read(path)["Scenario"]
    scenario["placement"] = "RowMinor"
    error = raised(parsim.ScenarioError, lambda: parsim.run(scenario))
    assert error.path == "placement" and "RowMajor" in error.help and error.line > 1, vars(error)
    assert isinstance(error, ValueError)
    assert raised(parsim.ScenarioError, lambda: parsim.run("nowhere.ron")).message == "there is no file `nowhere.ron`"
    assert "program.n" in str(raised(TypeError, lambda: parsim.run({"program": {"n": object()}})))
    raised(TypeError, lambda: parsim.run(5))
    raised(ValueError, lambda: parsim.run(path, folder="."))
    raised(TypeError, lambda: parsim.sweep(path, over={"p": 3}))
    raised(ValueError, lambda: parsim.sweep(path, jobs=0))
    raised(KeyError, lambda: parsim.sweep(path)["nothing"])
    deep = []
    deep.append(deep)
    raised(ValueError, lambda: parsim.to_ron({"a": deep}))
    limited = {"limits.simulated": "1 us"}
    assert isinstance(raised(parsim.SimulationError, lambda: parsim.run(path, set=limited)), RuntimeError)


def a_failed_case_is_a_row_and_a_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = parsim.sweep(scenarios / "ring-shift.ron", over={"p": [4]}, set={"limits.simulated": "1 us"})
    assert [warning.category for warning in caught] == [parsim.FailedCasesWarning]
    assert table["makespan_s"] == [None] * len(table) and "limit" in table["error"][0]


def a_store_is_shared_with_the_command():
    path = scenarios / "ring-shift.ron"
    with tempfile.TemporaryDirectory() as folder:
        first = parsim.sweep(path, store=folder)
        done = subprocess.run([command, "sweep", path, "--store", folder], capture_output=True, text=True, check=True)
        assert "0 run" in done.stderr, done.stderr
        assert parsim.sweep(path, store=folder, jobs=1).rows() == first.rows()


def other_threads_run_meanwhile():
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(None)

    thread = threading.Thread(target=tick)
    thread.start()
    parsim.run(scenarios / "gauss-jordan-neighbour.ron")
    done.set()
    thread.join()
    assert len(ticks) > 3, "the interpreter was held"


def a_sweep_can_be_interrupted():
    def interrupt():
        time.sleep(0.5)
        os.kill(os.getpid(), 2)

    # In the background of a shell the signal is ignored, which Python leaves so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt).start()
    over = {"seed": range(1, 1_000_000)}
    raised(KeyboardInterrupt, lambda: parsim.sweep(scenarios / "ring-shift.ron", over=over))


for name, check in list(globals().items()):
    if callable(check) and getattr(check, "__module__", None) == "__main__" and not check.__code__.co_argcount and name != "printed":
        check()
        print(name.replace("_", " "))

"""What a checker of types makes of a program that uses the module: `mypy --strict` accepts it."""

from pathlib import Path

import parsim


def makespans(scenario: Path, ranks: list[int]) -> dict[int, float]:
    table: parsim.Table = parsim.sweep(scenario, over={"p": ranks}, jobs=2)
    return dict(zip(ranks, table["makespan_s"]))


def place(scenario: Path) -> tuple[str | None, int | None]:
    try:
        run: parsim.Run = parsim.run(scenario, set={"ranks": 4})
    except parsim.ScenarioError as error:
        return error.file, error.line
    path: parsim.CriticalPath = run.critical_path()
    return str(path.row["critical_path_s"]), len(run.accounts())

import os
from collections.abc import Iterable
from typing import Any, Final, TypedDict, final

__all__ = [
    "CriticalPath",
    "FailedCasesWarning",
    "Run",
    "ScenarioError",
    "SimulationError",
    "Table",
    "__commit__",
    "__version__",
    "_command",
    "read",
    "resolved",
    "run",
    "sweep",
    "to_ron",
]

__commit__: Final[str | None]
__version__: Final[str]

_Scenario = str | os.PathLike[str] | dict[str, Any]

class _Fault(TypedDict):
    file: str | None
    line: int | None
    column: int | None
    path: str
    message: str
    help: str | None

class ScenarioError(ValueError):
    file: str | None
    line: int | None
    column: int | None
    path: str
    message: str
    help: str | None
    faults: list[_Fault]

class SimulationError(RuntimeError): ...
class FailedCasesWarning(UserWarning): ...

@final
class Table:
    @property
    def columns(self) -> list[str]: ...
    @property
    def units(self) -> dict[str, str]: ...
    @property
    def notes(self) -> list[str]: ...
    def rows(self) -> list[dict[str, Any]]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, column: str, /) -> list[Any]: ...
    def _repr_html_(self) -> str: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

@final
class CriticalPath:
    @property
    def row(self) -> dict[str, Any]: ...
    def pieces(self) -> Table: ...
    def space_time(self) -> str: ...
    def _repr_svg_(self) -> str: ...

@final
class Run:
    @property
    def makespan_s(self) -> float: ...
    @property
    def row(self) -> dict[str, Any]: ...
    @property
    def notes(self) -> list[str]: ...
    def accounts(self) -> Table: ...
    def links(self) -> Table: ...
    def critical_path(self) -> CriticalPath: ...
    def space_time(self) -> str: ...
    def heat_map(self) -> str: ...
    def _repr_html_(self) -> str: ...

def _command() -> None: ...
def run(
    scenario: _Scenario,
    /,
    *,
    set: dict[str, Any] | None = None,
    seed: int | None = None,
    store: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Run: ...
def sweep(
    scenario: _Scenario,
    /,
    *,
    over: dict[str, Iterable[Any]] | None = None,
    set: dict[str, Any] | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    store: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Table: ...
def resolved(
    scenario: _Scenario,
    /,
    *,
    set: dict[str, Any] | None = None,
    seed: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> str: ...
def read(path: str | os.PathLike[str], /) -> dict[str, Any]: ...
def to_ron(scenario: dict[str, Any], /) -> str: ...

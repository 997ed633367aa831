"""A table of parsim as Parquet, read by DuckDB, pandas and polars: the rows, types and units are those of the JSON Lines.

usage: check.py PARSIM SCENARIO   (PARSIM built with --features parquet)
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow.parquet

parsim, scenario = sys.argv[1:]
folder = Path(tempfile.mkdtemp())
table = folder / "rows.parquet"
lines = subprocess.run([parsim, "sweep", scenario, "--format", "jsonl"], check=True, capture_output=True).stdout.splitlines()
rows = [json.loads(line) for line in lines]
subprocess.run([parsim, "sweep", scenario, "-o", table], check=True)

keys = [key for key in rows[0] if not isinstance(rows[0][key], (dict, list))]
expected = [tuple(row[key] for key in keys) for row in rows]
columns = ", ".join(f'"{key}"' for key in keys)
readers = {
    "duckdb": duckdb.sql(f"select {columns} from '{table}'").fetchall(),
    "pandas": [tuple(row) for row in pandas.read_parquet(table)[keys].astype(object).itertuples(index=False)],
    "polars": polars.read_parquet(table).select(keys).rows(),
}
for name, found in readers.items():
    found = [tuple(None if cell != cell else cell for cell in row) for row in found]
    assert found == expected, f"{name} reads other rows: {found[:1]} instead of {expected[:1]}"
schema = pyarrow.parquet.read_schema(table)
unit = schema.field("makespan_s").metadata[b"unit"]
assert unit == b"s", unit
assert schema.field("makespan_s").type == "double" and schema.field("meta.seed").type == "int64"
print(f"{len(rows)} rows, {len(schema)} columns: the same to {', '.join(readers)}")

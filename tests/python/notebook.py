"""Runs a notebook from the root of the repository, and fails where one of its cells does.

usage: notebook.py NOTEBOOK
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

path = Path(sys.argv[1])
notebook = nbformat.read(path, as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
assert cells and all(cell.outputs for cell in cells if not cell.source.splitlines()[-1].startswith("links[")), "a cell shows nothing"
print(f"{path}: {len(cells)} cells")

"""Notebooks of `examples`, executed cell by cell in one Python session.

    python -m tests.docs.notebooks examples/place.ipynb

writes the outputs into a notebook. The value of a cell's last expression is stored as a front end
would store it, as text and as HTML.
"""

import ast
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]
Cell = dict[str, Any]


def read(path: Path) -> Notebook:
    """Return a notebook (format 4)."""
    found: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return found


def executed(notebook: Notebook) -> Notebook:
    """Return a notebook with the outputs of its cells, which run in an empty folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells: list[Cell] = []
    with _in_empty_folder():
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                cells.append(cell)
                continue
            count = 1 + sum(one["cell_type"] == "code" for one in cells)
            outputs = _outputs("".join(cell["source"]), names, count)
            cells.append({**cell, "execution_count": count, "outputs": outputs})
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run a cell, and return what it prints and the value of its last expression."""
    tree, value = ast.parse(source), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    found: list[dict[str, Any]] = []
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, f"cell {count}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)
    if text := printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": _lines(text)})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": _lines(value._repr_html_()), **data}
        result = {"output_type": "execute_result", "execution_count": count, "metadata": {}}
        found.append({**result, "data": data})
    return found


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


@contextmanager
def _in_empty_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def write(path: Path, notebook: Notebook) -> None:
    """Write a notebook as Jupyter does."""
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(Path(name), executed(read(Path(name))))

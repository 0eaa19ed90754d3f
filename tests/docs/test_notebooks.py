"""Notebooks in `examples`: their outputs are those of their cells."""

from pathlib import Path
from typing import Any

import pytest

from tests.docs.notebooks import executed, read
from tests.support.paths import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
LARGEST = 60_000  # bytes


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_those_of_the_cells(path: Path) -> None:
    notebook = read(path)
    found = executed(notebook)
    for cell, again in zip(notebook["cells"], found["cells"], strict=True):
        assert cell == again
    assert path.stat().st_size < LARGEST


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_valid_and_show_drawings(path: Path) -> None:
    notebook = read(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    html = [
        "".join(output["data"]["text/html"])
        for cell in notebook["cells"]
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert any("<svg" in text for text in html)


def test_a_changed_output_is_found() -> None:
    notebook: dict[str, Any] = {
        "cells": [{"cell_type": "code", "source": ["print(1)\n", "1 + 1"], "outputs": []}]
    }
    printed, value = executed(notebook)["cells"][0]["outputs"]
    assert printed["text"] == ["1\n"]
    assert value["data"] == {"text/plain": ["2"]}

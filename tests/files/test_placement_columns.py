"""Placements as .npz, which hold everything; a bad file is refused in one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace.errors import FormatError
from streamplace.files import read_graph, read_placement, write_dataset, write_placement
from streamplace.files.placements import placement_to
from streamplace.files.summary import summary
from streamplace.problem.cluster import Cluster
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.corpus.line_graph import line_graph
from tests.corpus.own_files import makespan_placement, placement


@pytest.mark.parametrize("placed", [placement(), makespan_placement()], ids=["rate", "makespan"])
def test_columns_hold_the_whole_placement(placed: Placement, tmp_path: Path) -> None:
    write_placement(tmp_path / "p.npz", placed.of_job("clicks"), placer="x", gap=0.5)
    again = read_placement(tmp_path / "p.npz")
    assert placement_to(again) == placement_to(placed.of_job("clicks"))
    assert summary(tmp_path / "p.npz")["kind"] == "placement"


def spoil(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Write a placement in columns with one change, and return the file."""
    write_placement(folder / "p.npz", placement())
    with np.load(folder / "p.npz", allow_pickle=False) as stored:
        columns: dict[str, Any] = {name: stored[name] for name in stored.files}
    change(columns)
    np.savez(folder / "bad.npz", **columns)
    return folder / "bad.npz"


def _text(columns: dict[str, Any], old: bytes, new: bytes) -> None:
    about = columns["placement"].tobytes()
    assert old in about
    columns["placement"] = np.frombuffer(about.replace(old, new), dtype=np.uint8)


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "device": (lambda c: c.update(devices=np.array([0, 1, 2], np.int32)), "devices: expected"),
    "negative": (lambda c: c.update(devices=np.array([0, 1, -1], np.int32)), "devices: expected"),
    "few": (lambda c: c.update(devices=np.array([0, 1], np.int32)), "devices: expected"),
    "kind": (lambda c: c.update(devices=np.zeros(3)), "column 'devices' must be int32"),
    "none": (lambda c: c.pop("devices"), "not an .npz of a placement: missing column 'devices'"),
    "no problem": (lambda c: _text(c, b'"problem"', b'"problam"'), "placement: has no problem"),
    "a list": (lambda c: c.update(placement=np.frombuffer(b"[]", np.uint8)), "has no problem"),
    "text": (lambda c: c.update(placement=np.array([255], np.uint8)), "placement: is not UTF-8"),
    "cluster": (lambda c: _text(c, b'"mips": 2500.0', b'"mips": -1'), "mips: must be greater than"),
    "edited": (lambda c: c.update(memory_bytes=np.ones(3)), "problem.graph: .* has changed since"),
    "field": (lambda c: _text(c, b'"model"', b'"modal"'), "unknown field 'modal'"),
}


@pytest.mark.parametrize(("change", "message"), FAULTS.values(), ids=FAULTS)
def test_bad_columns(change: Callable[[Any], object], message: str, tmp_path: Path) -> None:
    bad = spoil(tmp_path, change)
    with pytest.raises(FormatError, match=message) as caught:
        read_placement(bad)
    assert str(caught.value).startswith(str(bad))


def test_graphs_and_placements_differ(tmp_path: Path) -> None:
    write_dataset(tmp_path / "g.npz", [line_graph()])
    write_placement(tmp_path / "p.npz", Placement(Problem(line_graph(), Cluster.equal(1)), [0] * 3))
    with pytest.raises(FormatError, match=r"g\.npz: is a graph; a placement is expected"):
        read_placement(tmp_path / "g.npz")
    with pytest.raises(FormatError, match=r"p\.npz: is a placement, .*; a graph is expected"):
        read_graph(tmp_path / "p.npz")

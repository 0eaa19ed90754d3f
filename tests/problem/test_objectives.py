"""The registry of objectives: names, options and their text in files."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from streamplace.errors import UsageError
from streamplace.problem.objectives import make_objective, objective_names, text_of
from tests.support.objectives import Net

NET = "tests.support.objectives:Net"


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("throughput", sp.Throughput()),
        (NET, Net()),
        (f"{NET}:price=2.5", Net(price=2.5)),
        (f"{NET}:price=1e-07:title=a=b:rounded=true", Net(price=1e-7, title="a=b", rounded=True)),
    ],
)
def test_written_text_is_read_back(text: str, objective: sp.Throughput) -> None:
    assert make_objective(text) == objective
    assert text_of(objective) == text
    others = objective.with_changes([9, 3], "engine", 0.5)  # these are not options
    assert text_of(others) == text


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("title", "a:b", "text that is not empty and has no ':'"),
        ("title", "", "text that is not empty and has no ':'"),
        ("title", None, "text that is not empty and has no ':'"),
        ("title", ("a", "b"), "text that is not empty and has no ':'"),
        ("price", None, "a number"),
        ("price", math.nan, "a number"),
        ("levels", None, "a whole number"),
        ("levels", 2.5, "a whole number"),
        ("rounded", "yes", "True or False"),
    ],
)
def test_a_value_that_cannot_be_read_back_is_not_written(
    name: str, value: object, expected: str, tmp_path: Path
) -> None:
    values: dict[str, Any] = {name: value}
    graph = sp.StreamGraph([("a", 1e5, 10)], [], source_rate=100)
    placement = sp.Placement(sp.Problem(graph, objective=Net(**values)), [0])
    with pytest.raises(UsageError) as refused:
        sp.write_placement(tmp_path / "placement.json", placement)
    fault = f"{name}={value!r} cannot be written to a file; choose {expected}"
    assert str(refused.value) == f"objective {NET!r}: {fault}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("troughput", "unknown objective 'troughput'; did you mean 'throughput'?"),
        ("throughput:price=3", "unknown option 'price'; it has no options"),
        (f"{NET}:prize=3", "unknown option 'prize'; did you mean 'price'?"),
        (f"{NET}:model=engine", "unknown option 'model'; choose from price, title, ro"),
        (f"{NET}:price=dear", "price must be a number"),
        (
            "tests.support.objectives:NetEvaluator",
            "is no objective, such as a subclass of streamplace.Throughput",
        ),
        (
            "tests.support.objectives:np",
            "is no objective, such as a subclass of streamplace.Throughput",
        ),
        ("tests.support.objectives:Gross", "has no 'Gross'"),
        ("nowhere.at_all:Net", "there is no module 'nowhere.at_all'; it is neither in"),
    ],
)
def test_a_message_names_the_text(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        make_objective(text)
    assert message in str(raised.value)
    assert repr(text) in str(raised.value) or repr(text.partition(":")[0]) in str(raised.value)


def test_no_module_is_imported_because_a_file_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "left_alone.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="a file cannot load a module"):
        make_objective("left_alone:Net", from_file=True)
    assert "left_alone" not in sys.modules
    assert make_objective("throughput", from_file=True) == sp.Throughput()
    with pytest.raises(
        UsageError, match=r"unknown objective 'net'; choose from throughput.*"
    ) as no:
        make_objective("net", from_file=True)
    assert "module:Class" not in str(no.value)


def test_built_in_objectives_are_listed_first() -> None:
    assert objective_names()[0] == "throughput"

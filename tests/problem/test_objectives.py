"""The table of objectives: names, options, and what is written of one."""

import sys
from pathlib import Path

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
def test_what_is_written_is_read_back(text: str, objective: sp.Throughput) -> None:
    assert make_objective(text) == objective
    assert text_of(objective) == text
    assert text_of(objective.with_changes([9, 3], "engine", 0.5)) == text  # these stand beside it


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("troughput", "no objective is called 'troughput'; did you mean 'throughput'?"),
        ("throughput:price=3", "'price=3' is no option=value; it takes no options"),
        (f"{NET}:prize=3", "'prize=3' is no option=value; did you mean 'price'?"),
        (f"{NET}:model=engine", "'model=engine' is no option=value; options are price, title, ro"),
        (f"{NET}:price=dear", "price must be a number"),
        ("tests.support.objectives:NetEvaluator", "is no subclass of streamplace.Throughput"),
        ("tests.support.objectives:np", "is no subclass of streamplace.Throughput"),
        ("tests.support.objectives:Gross", "has no 'Gross'"),
        ("nowhere.at_all:Net", "importing nowhere.at_all failed: ModuleNotFoundError"),
    ],
)
def test_a_fault_names_what_was_typed(text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        make_objective(text)
    assert said in str(raised.value)
    assert repr(text) in str(raised.value) or repr(text.partition(":")[0]) in str(raised.value)


def test_a_file_has_no_module_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "left_alone.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="a file cannot name a module"):
        make_objective("left_alone:Net", from_file=True)
    assert "left_alone" not in sys.modules
    assert make_objective("throughput", from_file=True) == sp.Throughput()


def test_ours_are_listed() -> None:
    assert objective_names()[0] == "throughput"

"""Figures of two versions, compared."""

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks import speed_beside
from benchmarks.speed_beside import compared, figures, is_rate, main, measured

OUTPUT = """\
figure                                      measured         target
bottleneck, placements/s                  12,000,000     10,000,000
layered, ns per operator or stream        1.5 2.5e-1   last < 2x MISSED
  the same in CPU s                              7.1
"""


def test_figures_of_an_output() -> None:
    assert dict(figures(OUTPUT)) == {
        "bottleneck, placements/s": 12e6,
        "layered, ns per operator or stream [1]": 1.5,
        "layered, ns per operator or stream [2]": 0.25,
        "the same in CPU s": 7.1,
    }


def test_a_lower_rate_and_a_longer_time_are_slower() -> None:
    assert is_rate("bottleneck, placements/s")
    assert is_rate("speed-up over plain Python [2]")
    assert not is_rate("the same in CPU s")
    own = [{"a, placements/s": 50.0, "b, ms": 1.0, "c": 1.0}] * 3
    other = [{"a, placements/s": 100.0, "b, ms": 1.0, "d": 1.0}] * 3
    rate, time, only, missing = compared(own, other)
    assert rate.endswith("2.000  2.000 to 2.000  SLOWER")
    assert time.endswith("1.000  1.000 to 1.000")
    assert only.split() == ["c", "only", "here"]
    assert missing.split() == ["d", "only", "in", "the", "other"]


def test_a_figure_of_zero_has_no_finite_ratio() -> None:
    (line,) = compared([{"b, ms": 1.0}], [{"b, ms": 0.0}])
    assert line.endswith("inf  inf to inf  SLOWER")


def test_a_tree_without_a_benchmark_runs_that_of_this_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for tree, figure in ((own, 1), (other, 2)):
        (tree / "benchmarks").mkdir(parents=True)
        (tree / "benchmarks" / "__init__.py").touch()
        (tree / "product.py").write_text(f"FIGURE = {figure}\n")
    script = "from product import FIGURE\nprint('figure  measured')\nprint('a  ', FIGURE)\n"
    (own / "benchmarks" / "new.py").write_text(script)
    monkeypatch.setattr(speed_beside, "HERE", own)

    def figures_of(tree: Path) -> dict[str, float]:
        return measured(tree, os.environ, "benchmarks.new")

    assert figures_of(own) == {"a": 1.0}
    assert figures_of(other) == {"a": 2.0}
    (other / "benchmarks" / "new.py").write_text(script.replace("'a  '", "'b  '"))
    assert figures_of(other) == {"b": 2.0}
    (other / "product.py").unlink()
    with pytest.raises(subprocess.CalledProcessError):
        figures_of(other)
    (other / "benchmarks" / "new.py").unlink()
    assert figures_of(other) == {}, "this tree's benchmark needs what the other lacks"


@pytest.mark.parametrize("rounds", ["0", "-1", "x"])
def test_rounds_are_positive(
    rounds: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["speed_beside", ".", "--rounds", rounds])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert f"--rounds: {rounds}: must be an integer of at least 1" in capsys.readouterr().err

"""The picture of results over budgets."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image

from streamplace.makespan.total_cost import TotalCost
from streamplace.pictures.budgets import budgets_picture
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.ratios import RatioMeasure
from tests.support.comparisons import random_comparison, random_makespans

NAMES = ("random:evaluations=10", "policy:file=/runs/of/last/week/policy.safetensors:samples=16")


def test_the_label_of_a_total_cost_is_not_cut(tmp_path: Path) -> None:
    for first, other in (NAMES, NAMES[::-1]):
        costs = replace(random_makespans((first, other)), measure=RatioMeasure(TotalCost()))
        path = tmp_path / "budgets.png"
        budgets_picture(path, costs, {"a": [first], "b": [other]}, (10,))
        pixels = image.imread(path)[..., :3]
        for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
            assert (edge == 1.0).all()


@pytest.mark.parametrize("spread", [1e-7, 1e-4])
def test_ticks_have_their_full_value(spread: float, tmp_path: Path) -> None:
    found = random_makespans(("heft", "a"), spread=spread)
    budgets_picture(tmp_path / "x.svg", found, {"heft": ["heft"], "a": ["a"]}, (10,))
    texts = [line for line in (tmp_path / "x.svg").read_text().splitlines() if "<!--" in line]
    assert not [text for text in texts if "<!-- +1" in text or "<!-- 1e" in text]
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize(
    "comparison", [random_makespans(("a", "b")), random_comparison(("a", "b"))]
)
def test_times_are_cpu_times(comparison: Comparison, tmp_path: Path) -> None:
    drawn, path = list[str](), tmp_path / "x.svg"
    of_placers = np.ones_like(comparison.values) * [[1.0], [2.0]]
    for wall, cpu in ((1.0, 1.0), (5.0, 1.0), (1.0, 5.0)):
        figures = comparison.figures._replace(
            seconds=wall * of_placers, cpu_seconds=cpu * of_placers
        )
        budgets_picture(path, replace(comparison, figures=figures), {"x": ["a", "b"]})
        drawn.append(path.read_text())
    assert drawn[0] == drawn[1] != drawn[2]
    assert "CPU time per graph, ms" in drawn[0]

"""Custom placers as teachers and as starts of training: their faults are one line."""

from pathlib import Path

import pytest

from streamplace.errors import CustomPlacerError
from streamplace.learning.training.loop import Loop
from streamplace.placers.custom import GROUP
from tests.support.refiners import pass_problem, placeto
from tests.support.stages import imitation, loop_of, small_policy

MODULE = """
import streamplace as sp

def failing(problem, rng, start=None):
    raise KeyError("a fault")

def leaving(problem, rng, start=None):
    raise SystemExit(3)

def nothing(problem, rng, start=None):
    return None

def elsewhere(problem, rng, start=None):
    other = sp.Problem(problem.graph, problem.cluster, objective=problem.objective)
    return sp.Placement(other, [0] * len(problem.graph.names))
"""
FAULTS = {
    "failing": r"placer 'failing': placing failed: KeyError: 'a fault'",
    "leaving": r"placer 'leaving': placing failed: SystemExit: 3",
    "nothing": r"placer 'nothing' must return a Placement \(got NoneType\)",
    "elsewhere": r"placer 'elsewhere' returned a placement of another problem",
}


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "faulty.py").write_text(MODULE)
    about = tmp_path / "faulty-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    points = "".join(f"{name} = faulty:{name}\n" for name in FAULTS)
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    monkeypatch.syspath_prepend(tmp_path)


def first_step(loop: Loop) -> None:
    """Make the first step of a loop."""
    loop.begin()
    next(loop.steps())


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_of_a_teacher_names_placer_and_graph(name: str) -> None:
    loop = loop_of([imitation(teacher=name, epochs=1)], small_policy())
    with pytest.raises(CustomPlacerError, match=rf"^layered_\d: .*{FAULTS[name]}"):
        first_step(loop)


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_of_a_start_names_placer_and_graph(name: str) -> None:
    stage = {
        "algorithm": "reinforce-steps",
        "epochs": 1,
        "problems_per_step": 1,
        "start": name,
    }
    loop = loop_of([stage], placeto(), [pass_problem()])
    with pytest.raises(
        CustomPlacerError, match=rf"^stage\[0\].start: layered_\d: .*{FAULTS[name]}"
    ):
        first_step(loop)

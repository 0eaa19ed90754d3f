"""Users' measures: how they are named, made, checked and closed, and what runs require one."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from benchmarks.reference.trainings import config_of
from streamplace.errors import TrainingError, UsageError
from streamplace.learning.training.measuring.measure import (
    GROUP,
    check_name,
    measure_names,
    measuring,
    opened,
)
from tests.support.measures import Modelled
from tests.support.stages import imitation, reinforce, stages_of

MODULE = """
from pathlib import Path

class System:
    def __init__(self, repeats: int = 3):
        if repeats < 1:
            raise ValueError("repeats: at least 1")
        self.repeats = repeats
    def __call__(self, problem, placements):
        return [self.repeats] * len(placements)
    def close(self):
        Path("closed").touch()

class Broken(System):
    def close(self):
        raise OSError("gone")

class Other:
    def __call__(self, problem):
        return 1

def function(problem, placements):
    return [1.0] * len(placements)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a user's module into the current folder; return its name."""
    name = f"measured_system_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return name


def test_a_class_is_made_with_its_options_and_closed(module: str) -> None:
    text = f"{module}:System:repeats=5"
    with opened(text) as named:
        assert named.name == text
        assert named.measure.repeats == 5  # type: ignore[attr-defined]
        assert not Path("closed").exists()
    assert Path("closed").exists()


def test_a_class_is_closed_after_an_error(module: str) -> None:
    with pytest.raises(KeyboardInterrupt), opened(f"{module}:System"):
        raise KeyboardInterrupt
    assert Path("closed").exists()


def test_an_object_or_function_is_used_as_it_is(module: str) -> None:
    measure = Modelled()
    with opened(measure) as named:
        assert named.measure is measure
        assert named.name == "tests.support.measures:Modelled"
    with opened(f"{module}:function") as named:
        assert named.measure.__name__ == "function"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("Systm", "has no 'Systm'"),
        ("System:repeat=2", "unknown option 'repeat'; did you mean 'repeats'"),
        ("System:repeats=0", "its constructor failed: ValueError: repeats: at least 1"),
        ("Other", "is not a measure: a measure is called with problem and placements"),
    ],
)
def test_what_cannot_be_made_is_refused(module: str, rest: str, message: str) -> None:
    with pytest.raises(UsageError, match=message), opened(f"{module}:{rest}"):
        pass


def test_a_measure_that_cannot_be_closed_is_reported(module: str) -> None:
    failed = pytest.raises(TrainingError, match="Broken': closing it failed: OSError: gone")
    with failed, opened(f"{module}:Broken"):
        pass


def test_a_measure_that_cannot_be_closed_does_not_hide_what_failed_before(module: str) -> None:
    with pytest.raises(TrainingError, match="the system is down"), opened(f"{module}:Broken"):
        raise TrainingError("the system is down")


def test_a_file_cannot_name_a_module(module: str) -> None:
    with pytest.raises(UsageError, match="a file cannot load a module"):
        check_name(f"{module}:System")
    with pytest.raises(UsageError, match="unknown measure 'cluster': no installed package"):
        check_name("cluster")


def test_an_installed_package_registers_a_name(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "ours-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\nours = {module}:System\n")
    monkeypatch.syspath_prepend(tmp_path)
    check_name("ours:repeats=4")
    assert measure_names() == ["ours"]
    with opened("ours:repeats=4", from_file=True) as named:
        assert named.measure.repeats == 4  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="unknown measure 'cluster'; choose from ours"):
        check_name("cluster")
    with pytest.raises(ValidationError, match="no stage measures; set its key measurements"):
        config_of(reinforce(), run={"measure": "ours"})


SIMULATED = stages_of(imitation(), reinforce())
MEASURED = stages_of(imitation(), reinforce(reward="loss", measurements=5))


def test_a_measure_goes_with_stages_that_measure() -> None:
    with measuring(SIMULATED, None) as named:
        assert named is None
    measure = Modelled()
    with measuring(MEASURED, measure) as named:
        assert named is not None
        assert named.measure is measure
    with measuring(MEASURED, measure, from_config="registered") as named:
        assert named is not None
        assert named.measure is measure


@pytest.mark.parametrize(
    ("stages", "measure", "processes", "message"),
    [
        (SIMULATED, Modelled(), 1, "measure: no stage measures; set the key measurements"),
        (MEASURED, None, 1, "stage[1].measurements: nothing to measure with; name a measure"),
        (MEASURED, Modelled(), 2, "stage[1].measurements: only one process may measure (got 2)"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    stages: list[object], measure: Modelled | None, processes: int, message: str
) -> None:
    refused = pytest.raises(UsageError, match=re.escape(message))
    with refused, measuring(stages, measure, processes=processes):  # type: ignore[arg-type]
        pass


def test_a_config_names_only_what_is_installed() -> None:
    refused = pytest.raises(UsageError, match="a file cannot load a module")
    with refused, measuring(MEASURED, None, from_config="tests.support.measures:Modelled"):
        pass

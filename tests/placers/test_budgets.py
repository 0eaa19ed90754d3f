"""Equal budgets of several placers."""

from dataclasses import dataclass

import pytest

from streamplace.errors import UsageError
from streamplace.placers.budgets import with_evaluations, with_seconds


def test_every_placer_with_such_an_option_gets_the_number() -> None:
    names = ["metis", "search:prefer=fewest", "policy", "climb", "random", "rnn", "exact"]
    found = with_evaluations(names, 70)
    assert found.names == (
        "metis",
        "search:prefer=fewest:evaluations=70",
        "policy:samples=70:refine=0",
        "climb:evaluations=70",
        "random:evaluations=70",
        "rnn",
        "exact",
    )
    assert found.unlimited == ("metis", "rnn", "exact")


def test_every_placer_with_a_time_limit_gets_the_seconds() -> None:
    found = with_seconds(["auto", "metis", "exact:workers=1", "policy"], 0.25)
    assert found.names == ("auto:seconds=0.25", "metis", "exact:workers=1:seconds=0.25", "policy")
    assert found.unlimited == ("metis", "policy")


@dataclass
class Own:
    """A placer of one's own with an option."""

    evaluations: int = 1

    def __call__(self, problem: object, rng: object, start: object = None) -> None: ...


def test_placers_of_ones_own_have_the_option_as_well() -> None:
    name = f"{__name__}:Own"
    assert with_evaluations([name], 5).names == (f"{name}:evaluations=5",)
    assert with_seconds([name], 5.0).unlimited == (name,)


class Plain:
    """A placer of one's own that keeps its options under other names."""

    def __init__(self, evaluations: int = 1, seconds: float = 1.0) -> None:
        self._limits = evaluations, seconds

    def __call__(self, problem: object, rng: object, start: object = None) -> None: ...


def test_a_parameter_of_a_constructor_is_an_option() -> None:
    name = f"{__name__}:Plain"
    assert with_evaluations([name], 5).names == (f"{name}:evaluations=5",)
    assert with_seconds([name], 0.5).names == (f"{name}:seconds=0.5",)


def test_a_policy_evaluates_its_samples_only() -> None:
    names = ["policy:coarsen=0", "policy:refine=0", "policy:file=own.safetensors"]
    assert with_evaluations(names, 5).names == (
        "policy:coarsen=0:samples=5:refine=0",
        "policy:refine=0:samples=5",
        "policy:file=own.safetensors:samples=5",
    )


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("search:evaluations=3", "already sets a number of evaluations"),
        ("policy:samples=3", "already sets a number of evaluations"),
        ("policy:beam=2", "already sets a number of evaluations"),
        ("policy:refine=9", "already sets a number of evaluations; remove 'refine=9'"),
        ("serch", "did you mean 'search'"),
    ],
)
def test_a_budget_is_set_once(name: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        with_evaluations([name], 10)


def test_a_time_limit_is_set_once() -> None:
    assert with_seconds(["search:evaluations=3"], 1.0).names == (
        "search:evaluations=3:seconds=1.0",
    )
    with pytest.raises(UsageError, match="already sets a time limit"):
        with_seconds(["auto:seconds=2"], 1.0)

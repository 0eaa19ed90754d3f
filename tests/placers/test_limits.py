"""Tests for limits of placers: the options that set them."""

from dataclasses import dataclass

import pytest

from streamplace.errors import UsageError
from streamplace.placers.limits import MaxEvaluations, MaxRuntime, PlacerLimit
from streamplace.placers.registry import placer_named


def limited(name: str, limit: PlacerLimit) -> str:
    """Return the name of a placer with a limit."""
    return placer_named(name).limited(limit).text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("search:prefer=fewest", "search:prefer=fewest:evaluations=70"),
        ("climb", "climb:evaluations=70"),
        ("random", "random:evaluations=70"),
        ("policy", "policy:samples=70:refine=0"),
        ("policy:coarsen=0", "policy:coarsen=0:samples=70:refine=0"),
        ("policy:refine=0", "policy:refine=0:samples=70"),
        ("policy:file=own.safetensors", "policy:file=own.safetensors:samples=70"),
        ("critical-path", "critical-path:samples=70"),
    ],
)
def test_a_number_of_evaluations_sets_an_option(name: str, text: str) -> None:
    """Every sample of a policy is one evaluation, without the refinement of the shipped weights."""
    assert limited(name, MaxEvaluations(70)) == text


@pytest.mark.parametrize("name", ["metis", "exact", "rnn", "hsdag"])
def test_placers_without_a_number_of_evaluations(name: str) -> None:
    """The samples of a placer that trains a network are those of each step."""
    assert not placer_named(name).accepts(MaxEvaluations(70))


def test_a_time_limit_sets_an_option() -> None:
    assert limited("auto", MaxRuntime(0.25)) == "auto:seconds=0.25"
    assert limited("exact:workers=1", MaxRuntime(0.25)) == "exact:workers=1:seconds=0.25"
    assert limited("search:evaluations=3", MaxRuntime(1.0)) == "search:evaluations=3:seconds=1.0"
    assert not placer_named("metis").accepts(MaxRuntime(1.0))
    assert not placer_named("policy").accepts(MaxRuntime(1.0))


@dataclass
class Own:
    """A placer of one's own with an option."""

    evaluations: int = 1

    def __call__(self, problem: object, rng: object, start: object = None) -> None: ...


class Plain:
    """A placer of one's own that keeps its options under other names."""

    def __init__(self, evaluations: int = 1, seconds: float = 1.0) -> None:
        self.limits = evaluations, seconds

    def __call__(self, problem: object, rng: object, start: object = None) -> None: ...


def plain(problem: object, rng: object, start: object = None) -> None:
    """A placer of one's own that is a function."""


def test_a_parameter_of_ones_own_constructor_is_an_option() -> None:
    own, other = f"{__name__}:Own", f"{__name__}:Plain:evaluations=2"
    assert limited(own, MaxEvaluations(5)) == f"{own}:evaluations=5"
    assert not placer_named(own).accepts(MaxRuntime(5.0))
    made = placer_named(other).limited(MaxRuntime(0.5))
    assert made.text == f"{other}:seconds=0.5"
    assert isinstance(made.placer, Plain)
    assert made.placer.limits == (2, 0.5)
    assert not placer_named(f"{__name__}:plain").accepts(MaxRuntime(0.5))


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("search:evaluations=3", "already sets a number of evaluations"),
        ("policy:samples=3", "already sets a number of evaluations"),
        ("policy:beam=2", "already sets a number of evaluations"),
        ("policy:refine=9", "already sets a number of evaluations; remove 'refine=9'"),
        ("metis", "'metis' does not accept a number of evaluations; these do: auto, random"),
        ("serch", "did you mean 'search'"),
    ],
)
def test_a_limit_is_set_once(name: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        limited(name, MaxEvaluations(10))

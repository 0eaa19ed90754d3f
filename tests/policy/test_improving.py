"""Tests for what placers that improve a placement by a policy of one kind share."""

from pathlib import Path

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import CheckpointError, UsageError
from streamplace.placers.registry import make_placer
from tests.support.giph import giph_problem

SHIPPED = Path(sp.__file__).parent / "policy" / "shipped"


@pytest.mark.parametrize("name", ["giph", "rebuild"])
def test_the_number_of_evaluations_is_checked(name: str) -> None:
    for evaluations in (-1, 10_000_001):
        with pytest.raises(UsageError, match="evaluations must be 0 to 10000000"):
            make_placer(f"{name}:evaluations={evaluations}")


@pytest.mark.parametrize(
    ("name", "file"), [("giph", "best.safetensors"), ("rebuild", "giph-makespan.safetensors")]
)
def test_weights_of_another_kind_are_refused(name: str, file: str) -> None:
    placer = make_placer(f"{name}:file={SHIPPED / file}")
    expected = f"{name}: .*{file} has a policy of another kind; use policy:file="
    with pytest.raises(UsageError, match=expected):
        placer(giph_problem(), np.random.default_rng(0))


@pytest.mark.parametrize("name", ["giph", "rebuild"])
def test_missing_weights_are_refused(name: str, tmp_path: Path) -> None:
    placer = make_placer(f"{name}:file={tmp_path / 'none'}")
    with pytest.raises(CheckpointError):
        placer(giph_problem(), np.random.default_rng(0))

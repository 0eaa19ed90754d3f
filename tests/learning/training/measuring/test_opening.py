"""The measure of a run: refused without a stage that measures, and required with one."""

import re

import pytest

from streamplace.errors import UsageError
from streamplace.learning.training.measuring.measure import measuring
from tests.support.measures import Modelled
from tests.support.stages import imitation, reinforce, stages_of

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

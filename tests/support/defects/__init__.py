"""Defective policies, each with the check and the message that find its defect."""

from tests.support.defects import (
    decisions,
    invariance,
    parameters,
    probabilities,
    samples,
    sampling,
    scoring,
    teaching,
)
from tests.support.defects.altered import Defect

DEFECTS: list[Defect] = [
    *samples.DEFECTS,
    *decisions.DEFECTS,
    *probabilities.DEFECTS,
    *sampling.DEFECTS,
    *teaching.DEFECTS,
    *invariance.DEFECTS,
    *parameters.DEFECTS,
    *scoring.DEFECTS,
]

"""Placements in the files of CEPSim."""

import json

from hypothesis import given

from benchmarks.reference.strategies import Case, cases
from streamplace.files import cepsim
from streamplace.problem.placement import Placement


@given(cases())
def test_cepsim_round_trip(case: Case) -> None:
    problem, devices = case
    value = json.loads(json.dumps(cepsim.placement_to(Placement(problem, devices))))
    again = cepsim.placement_from(value, problem, "x")
    assert again.devices.tolist() == devices
    assert sorted(v for row in value["placements"] for v in row["ops"]) == list(range(len(devices)))

"""Cases of the campaign of latencies."""

import numpy as np
import pytest

from benchmarks.testbed.latency.devices import MACHINE
from benchmarks.testbed.latency.problems import LOADS, MOST_LOAD, SIZES, cases
from benchmarks.testbed.scaling import scale
from streamplace.scoring.tuples import busiest, deployed


@pytest.mark.long
def test_cases_have_the_loads_that_they_should_have() -> None:
    made = cases(8)
    assert [case.name for case in made] == [case.name for case in cases(8)]
    assert len({case.name for case in made}) == 8
    assert {case.service for case in made} == {"exponential", "deterministic"}
    assert len({len(case.problem.cluster.devices) for case in made}) == 3
    for i, case in enumerate(made):
        assert len(case.problem.graph.names) in SIZES
        problem = scale(case.problem, MACHINE).problem
        own, other = (
            busiest(problem, deployed(problem, devices)).utilisation
            for devices in (case.starts["auto"], case.starts["other"])
        )
        assert own == pytest.approx(LOADS[i // 3 % 4], abs=0.05)
        assert other <= MOST_LOAD
        assert (case.starts["auto"] != case.starts["other"]).any()
        assert np.array(problem.source_rate) <= MACHINE.tuples_s

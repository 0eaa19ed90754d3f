"""Tests that METIS and the fuser reproduce their published results on the released graphs."""

import numpy as np
import pytest
from numpy.typing import NDArray

from streamplace import Problem
from streamplace.placers.base import Placer
from streamplace.placers.partition.fuser import Fuser
from streamplace.placers.partition.metis import Metis
from streamplace.scoring.throughput import throughput
from tests.support.released_data import needs_dream, released_graphs

RNG = np.random.default_rng(0)


def relative_throughput(placer: Placer, source_rate: float) -> NDArray[np.float64]:
    """Return the relative throughput of every released graph under path-average."""
    problems = (
        Problem(graph, source_rate=source_rate, model="path-average") for graph in released_graphs()
    )
    achieved = [throughput(problem, placer(problem, RNG).devices)[0] for problem in problems]
    return np.array(achieved) / source_rate


@pytest.mark.long
@needs_dream
def test_metis_reproduces_its_published_row() -> None:
    achieved = relative_throughput(Metis(), 1e4)
    assert achieved.mean() == pytest.approx(0.81, abs=0.03)
    assert np.percentile(achieved, 25) == pytest.approx(0.70, abs=0.03)
    assert np.median(achieved) == pytest.approx(0.88, abs=0.03)
    assert (achieved > 0.97).mean() == pytest.approx(0.30, abs=0.03)
    assert achieved.min() == pytest.approx(0.222, abs=0.03)


@pytest.mark.long
@needs_dream
def test_metis_reproduces_its_published_row_at_twice_the_rate() -> None:
    achieved = relative_throughput(Metis(), 2e4)
    assert achieved.mean() == pytest.approx(0.48, abs=0.03)
    assert np.percentile(achieved, 25) == pytest.approx(0.37, abs=0.03)
    assert np.median(achieved) == pytest.approx(0.46, abs=0.03)


@pytest.mark.long
@needs_dream
def test_fuser_reproduces_ibm_streams() -> None:
    achieved = relative_throughput(Fuser(), 1e4)
    assert achieved.mean() == pytest.approx(0.711, abs=0.002)
    assert np.percentile(achieved, 25) == pytest.approx(0.568, abs=0.002)
    assert np.median(achieved) == pytest.approx(0.711, abs=0.002)
    assert (achieved > 0.97).mean() == pytest.approx(0.154, abs=0.002)
    assert achieved.min() == pytest.approx(0.037, abs=0.001)

"""Tests for the figures of the sensor-fusion case, with values computed by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

import streamplace as sp
from streamplace.papers.giph.sensor_fusion.scenario import CAMERA, RSU_FUSION, TIMES_S
from streamplace.papers.giph.study.registered import FUSION, GIPH
from streamplace.papers.giph.study.results import (
    COST,
    ENERGY,
    FREQUENCY,
    MAKESPAN,
    MOVES,
    OVER,
    fusion_figures,
    fusion_findings,
    fusion_tables,
    pipelines,
)
from streamplace.papers.giph.study.systems import HEFT
from streamplace.papers.studies.study import Row
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.makespan import with_published_semantics

CAMERA_S, FUSION_S = (0.053, 0.009), 0.028  # on a Jetson Nano and on a GPU; on a CPU
MESSAGE_S = 0.001  # 1,000 bytes at 8 Mbit/s
NANO_START_S, GPU_START_S = 4.27373, 0.79466  # of the camera's task
STATE_S = 0.011494  # 11,494 bytes at 8 Mbit/s


def _snapshot(*devices: Device) -> sp.Problem:
    """Return a snapshot in which a camera's detections go to a road-side unit."""
    operators = [
        sp.Operator("camera", 1.0, 1000.0, type=CAMERA, seconds_on=TIMES_S[CAMERA]),
        sp.Operator("fusion", 1.0, 0.0, type=RSU_FUSION, seconds_on=TIMES_S[RSU_FUSION]),
    ]
    graph = sp.StreamGraph(operators, [sp.Stream("camera", "fusion")], firing="all")
    cluster = Cluster(devices, Network("free", bandwidth_mbps=8.0, latency_s=0.0))
    return sp.Problem(*with_published_semantics(graph, cluster, "giph"), objective=sp.Makespan())


NANO, GPU, OTHER = Device("n", 1.0, kind="A"), Device("g", 1.0, kind="C"), Device("h", 1, kind="C")
SNAPSHOTS = [_snapshot(GPU, NANO), _snapshot(GPU, NANO), _snapshot(GPU, OTHER)]


def _rows(system: str, repeat: int, devices: Sequence[Sequence[int]]) -> list[Row]:
    return [
        {"system": system, "repeat": repeat, "case": case, "devices": each}
        for case, each in enumerate(devices)
    ]


def test_figures_are_those_computed_by_hand() -> None:
    """The camera's task moves to the Nano, which then leaves, and to another GPU."""
    found = pipelines(SNAPSHOTS, _rows(HEFT, 0, [[0, 0], [1, 0], [1, 0]])[::-1])[HEFT]
    nano_s, gpu_s = CAMERA_S
    seconds = np.array([gpu_s + FUSION_S, *(s + MESSAGE_S + FUSION_S for s in CAMERA_S)])
    cost = np.array([STATE_S + NANO_START_S, GPU_START_S])
    np.testing.assert_allclose(found[MAKESPAN], seconds)
    np.testing.assert_allclose(found[FREQUENCY], 1 / seconds)
    joules = 250 * FUSION_S + np.array([250 * gpu_s, 10 * nano_s, 250 * gpu_s])
    np.testing.assert_allclose(found[ENERGY], joules)
    np.testing.assert_array_equal(found[MOVES], [1, 1])
    np.testing.assert_allclose(found[COST], cost)
    np.testing.assert_allclose(found[OVER], cost * seconds[1:])


def test_trained_systems_have_means_over_their_seeds() -> None:
    stays = _rows(GIPH, 0, [[0, 0]] * 3)
    moves = _rows(GIPH, 1, [[0, 0], [0, 0], [1, 1]])
    found = pipelines(SNAPSHOTS, [*stays, *moves])[GIPH]
    np.testing.assert_allclose(found[MAKESPAN], CAMERA_S[1] + FUSION_S)
    np.testing.assert_allclose(found[MOVES], [0, 1])  # two moves with one of two seeds
    both = GPU_START_S + 0.001 + STATE_S + 20_907 * 8 / 8e6
    np.testing.assert_allclose(found[COST], [0, both / 2])


def test_the_table_and_the_findings_have_means() -> None:
    rows = [*_rows(GIPH, 0, [[0, 0]] * 3), *_rows(HEFT, 0, [[1, 0], [1, 0], [0, 0]])]
    found = pipelines(SNAPSHOTS, rows)
    (table,) = fusion_tables(found)
    assert [name for name, _ in table.rows] == [GIPH, HEFT]
    assert table.csv().splitlines()[0].startswith('system,"makespan, s, mean","makespan, s, 95%')
    makespan, frequency, energy, moves, *_ = table.rows[0][1]
    assert isinstance(makespan, tuple)
    assert makespan[0] == pytest.approx(0.037)
    assert [isinstance(cell, tuple) and cell[0] for cell in (frequency, energy, moves)] == [
        pytest.approx(1 / 0.037),
        pytest.approx(9.25),
        0.0,
    ]
    texts = list(fusion_findings(found))
    assert texts[0] == (
        f"In the sensor-fusion case, {GIPH} completes 27.03 passes per second with 9.2 J each, and "
        "its 0.0 moves between two snapshots cost 0.00 s."
    )
    assert [HEFT in text for text in texts] == [False, True]


def test_one_snapshot_has_no_relocations() -> None:
    found = pipelines(SNAPSHOTS, _rows(HEFT, 0, [[0, 0]]))
    (table,) = fusion_tables(found)
    assert table.rows[0][1][3:] == [(None, None)] * 3
    assert "9.250" in table.markdown()
    assert not any("moves" in text for text in fusion_findings(found))


def test_results_without_placements_have_no_figures() -> None:
    rows: list[Row] = [{"test": FUSION, "system": HEFT, "repeat": 0, "case": 0, "losses": [1.0]}]
    assert fusion_figures(rows) == {}
    assert not [*fusion_tables({}), *fusion_findings({})]

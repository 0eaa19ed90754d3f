"""Tests for the placer `auto`, compared with the placers that it runs."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.reference.random_problems import optimum, random_problem
from streamplace import (
    Cluster,
    Constraints,
    Network,
    Operator,
    Problem,
    Recipe,
    Stream,
    StreamGraph,
)
from streamplace.errors import CheckpointError
from streamplace.placers import auto
from streamplace.placers.auto import Auto
from streamplace.placers.registry import NAMES, make_placer
from streamplace.placers.search.chains import CONTIGUOUS
from streamplace.problem.network import NetworkKind
from streamplace.problem.objective import Model
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import qualities, qualities_of_rows
from streamplace.scoring.throughput import throughput
from tests.support.graphs import chain_graph, preset_graph
from tests.support.long import long_after
from tests.support.paths import ROOT
from tests.support.placers import seeded_rng
from tests.support.share import Share


@pytest.mark.parametrize("preset", long_after(1, ["dream", "layered"]))
def test_auto_is_never_worse_than_the_placers_it_runs(preset: str) -> None:
    recipe = Recipe(preset, 20, seed=2)
    for number in range(20):
        problem = Problem(recipe.graph(number))
        found = make_placer("auto:evaluations=2000")(problem, seeded_rng())
        best = throughput(problem, found.devices)[0]
        for name in auto.TRIES:
            other = throughput(problem, make_placer(name)(problem, seeded_rng()).devices)[0]
            assert best >= other * (0.999 - 1e-9), name


def test_auto_uses_no_more_devices_than_needed() -> None:
    placement = make_placer("auto:evaluations=2000")(Problem(chain_graph(*[1.0] * 8)), seeded_rng())
    assert len(placement.pes) == 1


def test_fewer_devices_than_balance_uses_are_named_only_where_fewest_finds_them() -> None:
    """On small problems they are the fewest, by brute force."""
    named = 0
    for operators, devices, load in product((5, 30), (3, 6), (0.8, 1.7, 2.6)):
        cluster = Cluster.equal(devices)
        graph = chain_graph(3e5, 1e5, 2e5, 1e5, 4e5)
        if operators > 5:
            graph = Recipe("layered", operators, seed=operators).graph(devices)
        work = float(flow(Problem(graph, cluster, source_rate=1.0)).work.sum())
        problem = Problem(graph, cluster, source_rate=load * float(cluster.capacity[0]) / work)
        found = Auto(evaluations=5_000).run(problem, seeded_rng())
        assert Auto(evaluations=5_000, prefer="balance").run(problem, seeded_rng()) == replace(
            found, fewer_devices=None
        )
        fewest = Auto(evaluations=5_000, prefer="fewest").run(problem, seeded_rng())
        assert fewest.fewer_devices is None
        if found.fewer_devices is None:
            continue
        named += 1
        used = len(np.unique(fewest.placement.devices))
        assert load < found.fewer_devices == used < len(np.unique(found.placement.devices))
        assert qualities(problem, [fewest.placement])[0] > 1 - 1e-9
        if operators == 5 and devices == 3:
            rows = np.array(list(product(range(devices), repeat=operators)), np.int32)
            carry = rows[qualities_of_rows(problem, rows) > 1 - 1e-9]
            assert min(len(set(row)) for row in carry.tolist()) == found.fewer_devices
    assert named > 6


def test_auto_reports_damaged_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the policy the same seed would silently give another result.

    Where all placements are tried, no weights are read.
    """
    shipped = next((ROOT / "streamplace/learning/policy/shipped").glob("*.safetensors"))
    data = bytearray(shipped.read_bytes())
    data[-1] ^= 1
    (tmp_path / "damaged.safetensors").write_bytes(data)
    damaged = f"policy:file={tmp_path / 'damaged.safetensors'}"
    monkeypatch.setattr(auto, "TRIES", {damaged: auto.TRIES[auto.POLICY]})
    placer = make_placer("auto:evaluations=2000")
    with pytest.raises(CheckpointError, match="damaged"):
        placer(Problem(preset_graph("layered", 40), model="path-average"), seeded_rng())
    assert placer(Problem(chain_graph(1.0, 2.0)), seeded_rng()).devices.tolist() == [0, 0]


def test_auto_runs_only_registered_placers() -> None:
    assert {tried.split(":")[0] for tried in (*auto.TRIES, CONTIGUOUS)} <= set(NAMES)


def test_auto_places_a_large_graph() -> None:
    graph = preset_graph("layered", 20_000)
    problem = Problem(graph, Cluster.equal(8))
    best = throughput(problem, make_placer("auto")(problem, seeded_rng()).devices)[0]
    assert best >= throughput(problem, make_placer("metis")(problem, seeded_rng()).devices)[0]


def tiny_problem(seed: int, model: Model) -> Problem:
    """Return a problem of a few hundred placements; costs from 1e-4 to 1 are of many sizes."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 6))
    work = 10 ** rng.uniform(-4, 0, count)
    graph = StreamGraph(
        [Operator(f"o{v}", 1e6 * work[v], 0.0) for v in range(count)],
        [
            Stream(f"o{rng.integers(w)}", f"o{w}", payload_bytes=10 ** rng.uniform(0, 5))
            for w in range(1, count)
        ],
    )
    kind: NetworkKind = ("pair", "nic", "egress", "free")[seed % 4]
    cluster = Cluster.equal(2 + seed % 2, 1.0, network=Network(kind, bandwidth_mbps=1.0))
    return Problem(graph, cluster, source_rate=3.0, model=model)


@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
@pytest.mark.parametrize("options", ["", ":prefer=fewest", ":evaluations=100"])
def test_auto_finds_the_optimum_where_all_placements_are_tried(options: str, model: Model) -> None:
    """It gives up no throughput for fewer devices: placements within 0.1% are not as good."""
    close = 0
    for seed in range(60):
        problem = tiny_problem(seed, model)
        rows = np.array(list(product(range(2 + seed % 2), repeat=len(problem.graph.names))))
        reached = qualities_of_rows(problem, rows.astype(np.int32))
        found = make_placer("auto" + options)(problem, np.random.default_rng(0))
        own = qualities(problem, [found])[0]
        assert own >= reached.max() * (1 - 3e-9), seed
        lower = reached[reached < reached.max() * (1 - 1e-6)]
        close += bool((lower > reached.max() * (1 - 1e-3)).any())
    assert close > 3


@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
def test_proven_bounds_hold_for_the_model(model: Model) -> None:
    """On one chain with heavy payloads, the search ends with a proof under ``bottleneck`` only."""
    graph = chain_graph(*[1e5] * 60, payload_bytes=1e4)
    cluster = Cluster(Cluster.equal(3).devices, Network("nic", bandwidth_mbps=10.0))
    problem = Problem(graph, cluster, source_rate=1e3, model=model)
    found = Auto(evaluations=200_000).run(problem, seeded_rng())
    reached = float(throughput(problem, found.placement.devices)[0])
    assert found.bound is None or found.bound >= reached * (1.0 - 1e-9)
    if model == "path-average":
        assert found.bound is None


def check_proofs(monkeypatch: pytest.MonkeyPatch, seeds: Iterable[int]) -> int:
    """Compare what searches prove with the best of all placements; return the number of proofs."""
    monkeypatch.setattr(auto, "best_and_cheapest", lambda *_: [])
    proofs = 0
    for seed in seeds:
        problem = random_problem(seed, max_placements=20_000)
        found = Auto(evaluations=50_000).run(problem, seeded_rng())
        if found.bound is not None:
            best, reached = optimum(problem), throughput(problem, found.placement.devices)[0]
            assert best <= found.bound * (1.0 + 1e-9), seed
            assert reached >= best * (1.0 - 3e-9), seed
            proofs += 1
    return proofs


def test_proofs_agree_with_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_proofs(monkeypatch, range(25)) > 0


@pytest.mark.long
def test_many_proofs_agree_with_brute_force(monkeypatch: pytest.MonkeyPatch, share: Share) -> None:
    assert check_proofs(monkeypatch, share.of(range(1_000))) > share.least(40)


def test_pins_that_no_quick_placer_knows_are_kept() -> None:
    """In no time, only `single` is run, and it finds nothing."""
    graph = chain_graph(*[1.0] * 100)
    pins = {graph.names[0]: "d3", graph.names[1]: "d5"}
    problem = Problem(graph, Cluster.equal(8), constraints=Constraints(pins=pins))
    found = Auto(seconds=0.0)(problem, seeded_rng())
    assert problem.feasibility.violation(found.devices) is None


def test_graphs_without_work_are_placed() -> None:
    graph = chain_graph(*[0.0] * 20, payload_bytes=0.0)
    found = Auto(evaluations=2_000)(Problem(graph, Cluster.equal(5)), seeded_rng())
    assert len(found.devices) == 20


def test_an_infeasible_placement_ends_no_search() -> None:
    """Random groups that ignore `exlocate` may reach the bound; their repair does not."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        graph = chain_graph(*rng.uniform(1e5, 3e5, 24), payload_bytes=1e3)
        names = list(graph.names)
        apart = [names[i : i + 3] for i in range(0, 24, 3)]
        cluster = Cluster(Cluster.equal(3).devices, Network("nic", bandwidth_mbps=100.0))
        problem = Problem(
            graph, cluster, source_rate=300.0, constraints=Constraints(exlocate=apart)
        )
        found = Auto(evaluations=300_000, prefer="fewest")(problem, seeded_rng())
        free = Auto(evaluations=300_000)(problem, seeded_rng())
        reached = qualities(problem, [found, free])
        assert reached[0] >= reached[1] * 0.998
        assert problem.feasibility.violation(found.devices) is None

"""GiPH's changing clusters: numbers of devices, capacities, types and links of all protocols."""

import hashlib
import json
from itertools import pairwise

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import UsageError
from streamplace.families.giph.changes import Adaptivity
from streamplace.files.clusters import cluster_to
from streamplace.placers.search.current import current_devices
from streamplace.placers.search.moves import must_move

ONE_BY_ONE = [20, 19, 18, 17, 16, 17, 18, 19, 20]
COUNTS = {
    "paper": ONE_BY_ONE,
    "links": ONE_BY_ONE,
    "code": [20, 18, 14, 16, 20],
}
# SHA-256 over the clusters of seed 1; if one changes, existing results cannot be reproduced
GOLDEN = {
    "paper": "e2655ebccfa5b534221fb3077bccb204ce6a7413103e7cec2991a2f041e2caae",
    "links": "d47978ac2bbf2ea702c9c7d236e4e0aeb183ff5e7fa80a72bbff8d3c27e1a959",
    "code": "2ebb4ef045f6557519bd338f69eef74169d10898bc5736cba2bdec1eb38b3b62",
}
TYPES = {f"type{t}" for t in range(5)}


@pytest.mark.parametrize("protocol", COUNTS)
def test_the_numbers_of_devices_follow_the_protocol(protocol: str) -> None:
    found = [len(cluster.devices) for cluster in Adaptivity(protocol).clusters()]
    cycle = COUNTS[protocol][1:]
    assert found == [20, *(cycle[i % len(cycle)] for i in range(20))]


@pytest.mark.parametrize("protocol", COUNTS)
def test_the_clusters_of_a_seed_never_change(protocol: str) -> None:
    text = json.dumps([cluster_to(cluster) for cluster in Adaptivity(protocol).clusters()])
    assert hashlib.sha256(text.encode()).hexdigest() == GOLDEN[protocol]
    other = Adaptivity(protocol, seed=2)
    assert other.sequence != Adaptivity(protocol).sequence


@pytest.mark.parametrize("protocol", COUNTS)
@pytest.mark.parametrize("seed", range(5))
def test_all_types_stay_covered_and_links_follow_the_protocol(protocol: str, seed: int) -> None:
    changing = Adaptivity(protocol, seed=seed)
    at_first = {(o.source, o.target): o for o in changing.first.network.overrides}
    speeds = {device.name: device.mips for device in changing.first.devices}
    for cluster in changing.clusters():
        assert {label for device in cluster.devices for label in device.labels} == TYPES
        count = len(cluster.devices)
        assert len(cluster.network.overrides) == count * (count - 1)
        shares = {device.name: device.mips / speeds[device.name] for device in cluster.devices}
        for override in cluster.network.overrides:
            before = at_first[override.source, override.target]
            share = 1.0
            if protocol == "links":
                share = min(shares[str(name)] for name in (override.source, override.target))
            assert override.bandwidth_mbps == pytest.approx(share * (before.bandwidth_mbps or 0))
            assert override.latency_s == before.latency_s


@pytest.mark.parametrize("seed", range(5))
def test_slower_links_belong_to_the_devices_of_the_paper(seed: int) -> None:
    found, plain = (list(Adaptivity(how, seed).clusters()) for how in ("links", "paper"))
    assert [one.devices for one in found] == [one.devices for one in plain]
    assert found[-1].network != plain[-1].network


@pytest.mark.parametrize("seed", range(5))
def test_devices_of_the_paper_come_back_slower_with_their_types(seed: int) -> None:
    changing = Adaptivity("paper", seed=seed, changes=40, least_share=0.25)
    at_first = {device.name: device for device in changing.first.devices}
    shares = []
    for change in changing.sequence:
        for device in change.coming:
            assert device.labels == at_first[device.name].labels
            shares.append(device.mips / at_first[device.name].mips)
    assert len(shares) == 20
    assert 0.25 <= min(shares) < 0.5 < max(shares) < 1


def test_devices_of_the_code_have_new_speeds_and_types_from_the_same_distribution() -> None:
    coming = [
        device
        for seed in range(30)
        for change in Adaptivity("code", seed=seed).sequence
        for device in change.coming
    ]
    speeds = np.array([device.mips for device in coming])
    assert len(speeds) == 30 * 5 * 6
    assert 4.5 <= speeds.min() < 4.51  # half of a spread of 20%
    assert 5.49 < speeds.max() <= 5.5
    assert speeds.mean() == pytest.approx(5, rel=0.005)
    labels = [len(device.labels) for device in coming]
    assert min(labels) == 1
    # binomial(5, 0.3), and 1 instead of 0
    assert np.mean(labels) == pytest.approx(1.5 + 0.7**5, abs=4 * 1.1 / 30)


def test_graphs_run_on_every_cluster_and_operators_on_lost_devices_must_move() -> None:
    changing = Adaptivity("code")
    graph, rng = changing.graph(3), np.random.default_rng(0)
    clusters = list(changing.clusters())
    for (before, after), change in zip(pairwise(clusters), changing.sequence, strict=True):
        problem = sp.Problem(graph, before, objective=sp.Makespan())
        rows = problem.feasibility.allowed
        old = sp.Placement(problem, [rng.choice(np.flatnonzero(row)) for row in rows])
        current = current_devices(sp.Problem(graph, after, objective=sp.Makespan()), old)
        forced = [graph.names[v] for v in np.flatnonzero(current.devices < 0)]
        assert tuple(forced) == change.forced(old.assignment)
        stays = np.flatnonzero(current.devices >= 0)
        assert not any(must_move(current, int(v)) for v in stays)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "cod"}, "unknown protocol 'cod'; did you mean 'code'"),
        ({"devices": 6}, "devices must be 7 to 2048 (got 6)"),
        ({"protocol": "paper", "devices": 4}, "devices must be 5 to 2048 (got 4)"),
        ({"changes": -1}, "changes must be 0 to"),
        ({"spread": 1.5}, "spread must be 0 to 1"),
        ({"least_share": 0}, "least_share must be 0.01 to 1"),
    ],
)
def test_what_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Adaptivity(**options)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_types_that_cannot_stay_covered_are_refused() -> None:
    with pytest.raises(UsageError, match=r"found no 1 of \d devices without which"):
        Adaptivity("paper", devices=5, type_probability=0).sequence  # noqa: B018 - raises

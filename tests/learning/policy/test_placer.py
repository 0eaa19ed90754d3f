"""The policy placer: weights files, constraints and errors."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.strategies import problems
from streamplace import Problem
from streamplace.errors import InfeasibleError, UsageError
from streamplace.learning.policy.coarse import Part
from streamplace.learning.policy.placer import PolicyPlacer
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import pack_policy, read_policy
from streamplace.placers.registry import make_placer
from streamplace.problem.objective import Model
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound
from streamplace.util.arrays import Ints
from tests.support.placements import solve, some_placement_is_feasible, throughput_of
from tests.support.policies import (
    KINDS,
    cluster_of,
    greedy_placement,
    layered_problem,
    policy_of,
)
from tests.support.share import Share
from tests.support.strategies import constrained_problems

SCORER = "device-scorer"
CARD = {"trained on": "nothing at all"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a policy of every kind to a file."""
    folder = tmp_path_factory.mktemp("policies")
    paths = {name: folder / f"{i}.safetensors" for i, name in enumerate(KINDS)}
    for name, path in paths.items():
        path.write_bytes(pack_policy(policy_of(name), KINDS[name], CARD))
    return paths


def rng(seed: int) -> np.random.Generator:
    """Return a generator."""
    return np.random.default_rng(seed)


def place_by_policy(file: Path, problem: Problem, seed: int = 0, **options: int | str) -> Ints:
    """Return the placement by a policy file."""
    text = "".join(f":{key}={value}" for key, value in options.items())
    placer = make_placer(f"policy:file={file}{text}")
    return placer(problem, rng(seed)).devices


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_a_saved_policy_places_like_the_original(
    name: str, model: Model, files: dict[str, Path]
) -> None:
    problem = layered_problem(12, cluster_of(3, "nic", seed=1), seed=3, model=model)
    policy, card = read_policy(files[name])
    assert card == CARD
    for key, tensor in policy_of(name).state_dict().items():
        assert torch.equal(policy.state_dict()[key], tensor), key
    devices = place_by_policy(files[name], problem)
    assert devices.tolist() == greedy_placement(policy, problem).tolist()
    assert len(set(devices.tolist())) > 1


@pytest.mark.parametrize("name", ["weights.make_policy", "tensor_files.safetensors.deserialize"])
def test_a_lack_of_memory_is_not_a_fault_of_the_file(
    name: str, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lack of memory was once reported as a fault of the file."""
    exhausts = lambda *_: torch.empty(2**55, dtype=torch.uint8, device="cpu")  # noqa: E731
    monkeypatch.setattr(f"streamplace.learning.policy.{name}", exhausts)
    with pytest.raises(MemoryError):
        read_policy(files[SCORER])


def test_16_bit_weights_are_nearly_the_same(tmp_path: Path) -> None:
    network = policy_of(SCORER)
    full, half = (pack_policy(network, KINDS[SCORER], CARD, half=h) for h in (False, True))
    assert len(half) < 0.6 * len(full)
    file = tmp_path / "half.safetensors"
    file.write_bytes(half)
    read, _ = read_policy(file)
    for key, tensor in network.state_dict().items():
        assert read.state_dict()[key].dtype == torch.float32
        torch.testing.assert_close(read.state_dict()[key], tensor, rtol=1e-3, atol=1e-6)


@given(st.sampled_from(CLOSED_FORMS).flatmap(problems), st.integers(1, 5), st.integers(0, 3))
def test_a_scorer_places_anything(
    files: dict[str, Path], problem: Problem, samples: int, beam: int
) -> None:
    devices = place_by_policy(files[SCORER], problem, samples=samples, beam=beam)
    assert 0 < throughput_of(problem, devices) <= bound(problem) * (1 + 1e-9)


@given(constrained_problems(), st.sampled_from([1, 4]))
def test_constraints_are_respected_or_proven_infeasible(
    files: dict[str, Path], problem: Problem | None, samples: int
) -> None:
    if problem is None:
        return
    try:
        devices = place_by_policy(files[SCORER], problem, samples=samples, beam=samples - 1)
    except InfeasibleError:
        assert not some_placement_is_feasible(problem)
    else:
        assert problem.feasibility.violation(devices) is None


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_more_samples_are_never_worse_than_one(
    name: str, model: Model, files: dict[str, Path]
) -> None:
    """The first sample is the greedy placement; some of the others are better."""
    gains = []
    for seed in range(4):
        problem = layered_problem(12, cluster_of(3, seed=seed), seed=seed, model=model)
        one, two, twelve = (
            throughput_of(problem, place_by_policy(files[name], problem, seed, samples=samples))
            for samples in (1, 2, 12)
        )
        assert one <= two <= twelve
        gains.append(twelve / one)
    assert max(gains) > 1


@settings(max_examples=6)
@given(st.sampled_from(CLOSED_FORMS).flatmap(problems), st.integers(0, 9))
def test_more_samples_are_never_worse(problem: Problem, seed: int) -> None:
    """Also after refinement."""
    reached = [
        throughput_of(problem, make_placer(f"policy:samples={n}")(problem, rng(seed)).devices)
        for n in (1, 4, 16)
    ]
    assert reached == sorted(reached)


def test_more_samples_of_groups_are_never_worse() -> None:
    """Samples of larger graphs are of groups on several levels, which take turns."""
    gains = []
    for seed, (operators, devices) in enumerate([(20, 2), (90, 2), (20, 5), (90, 3)]):
        problem = layered_problem(operators, cluster_of(devices, seed=seed), seed)
        reached = [
            throughput_of(problem, make_placer(f"policy:samples={n}")(problem, rng(seed)).devices)
            for n in (1, 3, 4, 16)
        ]
        assert reached == sorted(reached)
        gains.append(reached[-1] / reached[0])
    assert max(gains) > 1


@pytest.mark.parametrize("name", ["device-scorer", "b+f1&f2"])
def test_samples_are_the_first_of_a_larger_number(name: str, files: dict[str, Path]) -> None:
    placer = PolicyPlacer(file=str(files[name]))
    problem = layered_problem(14, cluster_of(3, seed=1), seed=2)

    def drafts(samples: int) -> list[tuple[int, ...]]:
        several, made = replace(placer, samples=samples), placer._loaded()
        rows = several._drafts(made, [Part(problem)] * min(3, samples), rng(5))
        return [tuple(row.tolist()) for row in rows]

    larger = drafts(16)
    assert len(set(larger)) > 8
    for samples in (1, 2, 4, 11):
        assert drafts(samples) == larger[:samples]


@pytest.mark.parametrize("beam", [1, 4])
def test_a_beam_is_never_worse_than_no_beam(beam: int, files: dict[str, Path]) -> None:
    gains = []
    for seed in range(4):
        problem = layered_problem(12, cluster_of(4, seed=seed), seed=seed)
        one = throughput_of(problem, place_by_policy(files[SCORER], problem))
        wide = throughput_of(problem, place_by_policy(files[SCORER], problem, beam=beam))
        assert wide >= one * (1 - 1e-12)
        gains.append(wide / one)
    assert (max(gains) > 1) == (beam > 1)


@pytest.mark.parametrize("name", KINDS)
def test_the_same_seed_gives_the_same_placement(name: str, files: dict[str, Path]) -> None:
    problem = layered_problem(14, cluster_of(3, seed=1))
    found = [
        place_by_policy(files[name], problem, seed, samples=5).tolist()
        for seed in (*range(8), 0, 3)
    ]
    assert found[8] == found[0]
    assert found[9] == found[3]
    assert len({tuple(row) for row in found}) > 1


def test_with_one_sample_the_seed_does_not_matter(files: dict[str, Path]) -> None:
    problem = layered_problem(14, cluster_of(3, seed=1))
    found = {tuple(place_by_policy(files[SCORER], problem, seed).tolist()) for seed in range(3)}
    assert len(found) == 1


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("device-scorer", {"orders": ["dfs-postorder"]}), ("b+f1&f2", {"order": "dfs-postorder"})],
)
def test_an_order_of_the_placer_replaces_that_of_the_policy(
    name: str, sizes: dict[str, Any], tmp_path: Path, files: dict[str, Path]
) -> None:
    """The same weights with the order in their sizes place in the same way."""
    section, own = KINDS[name], KINDS[name].sizes.model_dump() | sizes
    ordered = tmp_path / "ordered.safetensors"
    backward = policy_section({"kind": section.kind, "sizes": own})
    ordered.write_bytes(pack_policy(policy_of(name), backward, CARD))
    differ = False
    for seed in range(6):
        problem = layered_problem(12, cluster_of(3, seed=1), seed)
        expected = place_by_policy(ordered, problem).tolist()
        assert place_by_policy(files[name], problem, order="dfs-postorder").tolist() == expected
        by_default = place_by_policy(files[name], problem).tolist()
        assert place_by_policy(files[name], problem, order="by-depth").tolist() == by_default
        differ |= expected != by_default
    assert differ, "the test needs weights for which the order matters"


def test_a_random_order_is_drawn_from_the_seed(files: dict[str, Path]) -> None:
    problem = layered_problem(12, cluster_of(3, seed=1))
    drawn = [
        place_by_policy(files[SCORER], problem, seed, order="random").tolist()
        for seed in (1, 1, 2, 3, 4)
    ]
    assert drawn[0] == drawn[1]
    assert any(one != drawn[0] for one in drawn)


def test_a_policy_without_orders_refuses_one(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = layered_problem(6, cluster_of(3))
    monkeypatch.setattr("streamplace.learning.policy.placer.Reorderable", int)
    with pytest.raises(UsageError, match="policy: order: DeviceScorer does not support orders"):
        make_placer("policy:order=bfs")(problem, np.random.default_rng(0))


def test_published_networks_do_not_support_beam_search(files: dict[str, Path]) -> None:
    with pytest.raises(UsageError) as caught:
        place_by_policy(files["b"], layered_problem(6, cluster_of(3)), beam=2)
    assert str(caught.value) == "policy: beam: EncoderDecoder does not support beam search"


def test_solve_accepts_a_policy_for_three_devices(
    files: dict[str, Path],
) -> None:
    """Placers are first tried on a small problem, which has five devices."""
    problem = layered_problem(6, cluster_of(3))
    found = solve(problem, f"policy:file={files['b']}").placement
    assert found.devices.tolist() == place_by_policy(files["b"], problem).tolist()


@pytest.mark.parametrize("name", [name for name in KINDS if not name.startswith(SCORER)])
@pytest.mark.parametrize("devices", [1, 2, 5])
def test_a_different_number_of_devices_is_rejected(
    name: str, devices: int, files: dict[str, Path]
) -> None:
    with pytest.raises(UsageError) as caught:
        solve(layered_problem(6, cluster_of(devices)), f"policy:file={files[name]}")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(f"sizes = {{ devices = {devices} }} under [policy]")


@pytest.mark.long
def test_16_samples_are_never_worse_than_one_pass(share: Share) -> None:
    """Of 523 problems, 19 were once, by up to 38%."""
    gains = []
    for seed in share.of(range(600)):
        operators, devices = 10 + seed % 60, (2, 3, 5)[seed % 3]
        problem = layered_problem(operators, cluster_of(devices, seed=seed), seed)
        reached = [
            throughput_of(problem, make_placer(name)(problem, rng(seed)).devices)
            for name in ("policy", "policy:samples=16")
        ]
        assert reached[0] <= reached[1]
        gains.append(reached[1] / reached[0])
    assert np.mean(gains) > 1.001

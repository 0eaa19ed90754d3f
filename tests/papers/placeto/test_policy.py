"""Tests of the placer `policy` with weights of Placeto."""

import re
from pathlib import Path

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import StreamplaceError
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import pack_policy
from streamplace.placers.registry import make_placer
from streamplace.scoring.registry import evaluator
from streamplace.workflows.place import place_problem
from tests.support.graphs import preset_graph
from tests.support.placements import solve
from tests.support.refiners import pass_problem, placeto


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write random weights for three devices."""
    path = tmp_path_factory.mktemp("weights") / "placeto.safetensors"
    section = policy_section({"kind": "placeto", "sizes": {"devices": 3}})
    path.write_bytes(pack_policy(placeto(), section, {}))
    return str(path)


def losses(problem: sp.Problem, *placements: sp.Placement) -> list[float]:
    found = evaluator(problem).loss(np.stack([one.devices for one in placements]))
    return [float(loss) for loss in found]


def test_the_start_is_refined(file: str) -> None:
    problem = pass_problem(15)
    start = sp.Placement(problem, np.arange(15, dtype=np.int32) % 3)
    found = [
        make_placer(f"policy:file={file}:{options}")(problem, np.random.default_rng(0), start)
        for options in ("episodes=1", "episodes=8", "samples=8")
    ]
    before, *after = losses(problem, start, *found)
    assert all(loss < before for loss in after)
    assert after[1] <= after[0]
    assert after[2] <= after[0]


def test_without_a_start_it_is_at_least_as_good_as_fast_placers(file: str) -> None:
    problem = pass_problem(15)
    rng = np.random.default_rng(0)
    placed, heft = (make_placer(n)(problem, rng) for n in (f"policy:file={file}", "heft"))
    found, other = losses(problem, placed, heft)
    assert found <= other


def test_workflows_pass_the_start_on(file: str) -> None:
    problem = pass_problem()
    start = sp.Placement(problem, np.zeros(9, np.int32))
    made = place_problem(problem, f"policy:file={file}", start=start)
    assert made.score.value <= losses(problem, start)[0]
    flow = sp.Problem(preset_graph("layered", 9, 0), "3x2500", source_rate=1e5)
    begun = sp.Placement(flow, np.zeros(9, np.int32))
    refined = solve(flow, f"policy:file={file}", start=begun).placement
    assert losses(flow, refined) <= losses(flow, begun)
    with pytest.raises(StreamplaceError, match="or a policy that refines placements"):
        solve(flow, "policy", start=begun)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("episodes=0", "policy: episodes must be 1 to"),
        ("beam=2", "policy: beam: Placeto does not support beam search"),
        ("coarsen=9", "policy: coarsen: Placeto refines placements of all operators"),
        ("refine=9", "policy: refine: Placeto refines placements of all operators"),
    ],
)
def test_wrong_options_are_refused(options: str, message: str, file: str) -> None:
    name = f"policy:file={file}:{options}"
    with pytest.raises(StreamplaceError, match=re.escape(message.removeprefix("policy: "))):
        make_placer(name)(pass_problem(), np.random.default_rng(0))


def test_episodes_of_a_policy_that_builds_are_refused() -> None:
    flow = sp.Problem(preset_graph("layered", 9, 0), "3x2500", source_rate=1e5)
    with pytest.raises(StreamplaceError, match="DeviceScorer builds placements at once"):
        make_placer("policy:episodes=2")(flow, np.random.default_rng(0))


def test_another_number_of_devices_is_refused(file: str) -> None:
    with pytest.raises(StreamplaceError, match=r"requires 3 devices \(got 2\)"):
        make_placer(f"policy:file={file}")(pass_problem(devices="2x2500"), np.random.default_rng(0))


def test_information_about_weights(file: str) -> None:
    from streamplace.learning.policy.tensor_files import summary  # noqa: PLC0415 - beside what it tests

    facts = summary(Path(file))
    assert facts["network"] == "placeto"
    assert facts["sizes"]["order"] == "topo-level"
    assert facts["weights"] == sum(p.numel() for p in placeto().parameters())

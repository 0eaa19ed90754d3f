"""Policy kinds: built-in ones, and those of installed packages."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reference.trainings import SMALL, graphs
from streamplace.errors import CheckpointError, UsageError
from streamplace.files.training_logs import CONFIG, POLICY
from streamplace.learning.policy.device_scorer.network import DeviceScorer
from streamplace.learning.policy.registry import (
    KINDS,
    PolicySection,
    make_policy,
    policy_kind,
    policy_section,
)
from streamplace.learning.policy.tensor_files import summary
from streamplace.learning.policy.weights import pack_policy, parameter_hash, read_policy
from streamplace.learning.training import read_config, train
from tests.support.errors import fault_of
from tests.support.placements import solve
from tests.support.policies import cluster_of, greedy_placement, layered_problem
from tests.support.training_runs import check_same, ctrl_c_at

SIZES = """
from typing import Annotated

from pydantic import Field

from streamplace.learning.policy.config import StrictModel
from streamplace.learning.policy.registry import PolicyKind


class Sizes(StrictModel):
    width: Annotated[int, Field(ge=1)] = 8


NARROW = PolicyKind(Sizes, "own_network:Narrow")
NOWHERE = PolicyKind(Sizes, "own_nowhere:Narrow")
NAMELESS = PolicyKind(Sizes, "own_network:Broad")
PICKY = PolicyKind(Sizes, "own_network:Picky")
HUNGRY = PolicyKind(Sizes, "own_network:Hungry")
NO_POLICY = PolicyKind(Sizes, "own_network:number")
NUMBER = 3
"""

NETWORK = """
from streamplace.learning.policy.config import DeviceScorerSizes
from streamplace.learning.policy.device_scorer.network import DeviceScorer


class Narrow(DeviceScorer):
    def __init__(self, sizes):
        super().__init__(DeviceScorerSizes(hidden=sizes.width, hops=1))


class Picky(Narrow):
    def __init__(self, sizes):
        raise ArithmeticError("not\\nthat wide")


class Hungry(Narrow):
    def __init__(self, sizes):
        raise MemoryError


def number(sizes):
    return 3
"""

POINTS = """
[streamplace.policies]
narrow = own_sizes:NARROW
device-scorer = own_sizes:NARROW
nowhere = own_sizes:NOWHERE
nameless = own_sizes:NAMELESS
picky = own_sizes:PICKY
hungry = own_sizes:HUNGRY
no-policy = own_sizes:NO_POLICY
number = own_sizes:NUMBER
absent = own_absent:KIND
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that registers one valid kind and several invalid ones."""
    folder = tmp_path / "site"
    about = folder / "own-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    (folder / "own_sizes.py").write_text(SIZES)
    (folder / "own_network.py").write_text(NETWORK)
    monkeypatch.syspath_prepend(folder)


def section_of(kind: str, **sizes: Any) -> PolicySection:
    """Return a checked section."""
    return policy_section({"kind": kind, "sizes": sizes})


def message_of(call: Callable[..., object], *arguments: Any) -> str:
    """Return the error message of a call, which must be one line."""
    with pytest.raises((UsageError, ValueError)) as caught:
        call(*arguments)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_a_kind_is_found_by_its_name() -> None:
    section = section_of("narrow", width=6)
    assert section.model_dump() == {"kind": "narrow", "sizes": {"width": 6}}
    policy = make_policy(section)
    assert type(policy).__name__ == "Narrow"
    assert isinstance(policy, DeviceScorer)
    assert policy.read.out_features == 6


def test_sizes_are_validated_by_the_model_of_their_kind() -> None:
    assert section_of("narrow").model_dump()["sizes"] == {"width": 8}
    message = message_of(policy_section, {"kind": "narrow", "sizes": {"widht": 3}})
    assert message == "sizes: unknown field 'widht'; did you mean 'width'?"
    message = message_of(policy_section, {"kind": "narrow", "sizes": {"width": 0}})
    assert message.startswith("sizes.width: must be ")


def test_no_network_is_imported_before_a_policy_is_created() -> None:
    section = section_of("narrow", width=6)
    assert "own_sizes" in sys.modules
    assert "own_network" not in sys.modules
    make_policy(section)
    assert "own_network" in sys.modules


def test_a_built_in_kind_cannot_be_shadowed() -> None:
    assert policy_kind("device-scorer") is KINDS["device-scorer"]
    assert type(make_policy(section_of("device-scorer", hidden=8))) is DeviceScorer


def test_the_error_for_an_unknown_kind_suggests_names() -> None:
    assert message_of(policy_kind, "narow") == "unknown policy 'narow'; did you mean 'narrow'?"
    message = message_of(policy_kind, "xyzzy")
    assert all(name in message for name in (*KINDS, "narrow", "picky"))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("absent", "policy 'absent': loading own_absent:KIND failed: ModuleNotFoundError: "),
        (
            "number",
            "policy 'number': own_sizes:NUMBER must be a streamplace.learning.policy.registry.",
        ),
    ],
)
def test_a_broken_registration_is_rejected(kind: str, message: str) -> None:
    assert message_of(policy_kind, kind).startswith(message)
    assert message_of(policy_section, {"kind": kind, "sizes": {}}).startswith(f"kind: {message}")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("nowhere", "loading own_nowhere:Narrow failed: ModuleNotFoundError: No module named"),
        ("nameless", "loading own_network:Broad failed: AttributeError: "),
        ("picky", "its constructor failed: ArithmeticError: not that wide"),
        (
            "no-policy",
            "own_network:number must return a streamplace.learning.policy.base.Constructive",
        ),
    ],
)
def test_a_policy_that_cannot_be_created(kind: str, message: str, tmp_path: Path) -> None:
    assert message_of(make_policy, section_of(kind)).startswith(f"policy {kind!r}: {message}")
    file = tmp_path / "weights.safetensors"
    file.write_bytes(pack_policy(make_policy(section_of("narrow")), section_of(kind), {}))
    with pytest.raises(CheckpointError) as caught:
        read_policy(file)
    assert fault_of(caught.value, file).startswith(f"policy {kind!r}: {message}")


def test_a_lack_of_memory_is_not_a_fault_of_a_package() -> None:
    with pytest.raises(MemoryError):
        make_policy(section_of("hungry"))


def test_weights_name_their_kind(tmp_path: Path) -> None:
    section, problem = section_of("narrow", width=6), layered_problem(6, cluster_of(3))
    policy = make_policy(section)
    file = tmp_path / "weights.safetensors"
    file.write_bytes(pack_policy(policy, section, {}))
    read, _ = read_policy(file)
    assert type(read).__name__ == "Narrow"
    assert parameter_hash(read) == parameter_hash(policy)
    found = solve(problem, f"policy:file={file}").placement
    assert found.devices.tolist() == greedy_placement(policy, problem).tolist()


def test_a_registered_kind_is_trained_and_resumed(tmp_path: Path) -> None:
    text = SMALL.replace("device-scorer", "narrow").replace("hidden = 8, hops = 1", "width = 6")
    (tmp_path / "config.toml").write_text(text)
    config = read_config(str(tmp_path / "config.toml"))
    train(graphs(), config, tmp_path / "uninterrupted")
    train(graphs(), config, tmp_path / "run", on_step=ctrl_c_at(2))
    train(graphs(), read_config(str(tmp_path / "run" / CONFIG)), tmp_path / "run", resume=True)
    check_same(tmp_path / "run", tmp_path / "uninterrupted")
    assert summary(tmp_path / "run" / POLICY)["network"] == "narrow"

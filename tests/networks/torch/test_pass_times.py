"""Times of whole passes by placements."""

import numpy as np
import pytest
import torch
from torch import nn

from streamplace.errors import GraphError, UsageError
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.in_memory import fit
from streamplace.learning.training.stages import ReinforceStage, Stage, StepReinforceStage
from streamplace.networks.torch import pass_times
from streamplace.networks.torch.graph import from_module
from streamplace.networks.torch.pass_times import ModuleTimes, PassTimes
from streamplace.networks.torch.placed import PlacedModule
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints
from tests.support.gpus import needs_gpu, run_on_gpu

X = torch.ones(3, 4)
ON_GPU = """
import numpy as np
import torch
from torch import nn
from streamplace.networks.torch.pass_times import PassTimes
from tests.networks.torch.test_pass_times import problem_of

module, x = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU()).eval(), torch.randn(4096, 4096)
times = PassTimes(module, (x,), {"a": "cpu", "b": "cuda:0"}, repeats=3)
on_cpu, on_gpu = times(problem_of(module, x), np.array([[0, 0], [1, 1]]))
assert 2 * on_gpu < on_cpu, (on_cpu, on_gpu)
"""


def problem_of(module: nn.Module, x: torch.Tensor, names: str = "ab") -> Problem:
    """Return the problem of one pass on devices with these names of one letter."""
    network = Network("pair", bandwidth_mbps=1000.0)
    cluster = Cluster([Device(name, 1000.0) for name in names], network)
    return Problem(from_module(module, (x,)), cluster, objective=Makespan())


@pytest.fixture
def module() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU()).eval()


def test_the_median_after_two_passes_in_turns(
    module: nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock is that of the placement: 1 s for the first, 10 s for the other, and outliers."""
    ran: list[int] = []
    now = 0.0

    def run(self: PlacedModule, *inputs: object) -> None:
        nonlocal now
        ran.append(len(self.devices))
        now += {1: 1.0, 2: 10.0}[ran[-1]] + (100.0 if len(ran) in (1, 2, 7) else 0.0)

    monkeypatch.setattr(PlacedModule, "__call__", run)
    monkeypatch.setattr(pass_times, "perf_counter", lambda: now)
    times = PassTimes(module, (X,), {"a": "meta", "b": "cpu"}, repeats=3)
    found = times(problem_of(module, X), np.array([[0, 0], [0, 1]]))
    assert found.tolist() == [1.0, 10.0]
    assert ran == [1, 2] * 5


def test_real_passes_have_positive_times(module: nn.Module) -> None:
    """The devices of a cluster may have the names of PyTorch's."""
    network = Network("pair", bandwidth_mbps=1000.0)
    cluster = Cluster([Device("cpu", 1000.0)], network)
    problem = Problem(from_module(module, (X,)), cluster, objective=Makespan())
    times = PassTimes(module, (X,), repeats=2)
    assert (times(problem, np.zeros((3, 2), np.int32)) > 0).all()


def test_devices_and_modules_that_do_not_fit(module: nn.Module) -> None:
    problem = problem_of(module, X)
    with pytest.raises(UsageError, match="PyTorch cannot use 'b'"):
        PassTimes(module, (X,))(problem, np.array([[1, 1]]))
    other = nn.Sequential(nn.Linear(4, 4), nn.Tanh()).eval()
    with pytest.raises(GraphError, match="no device for"):
        PassTimes(other, (X,), {"a": "cpu", "b": "cpu"})(problem, np.array([[0, 1]]))


def model() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Return a module with example inputs, as users' functions do."""
    torch.manual_seed(0)
    layers = nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.Tanh()
    return nn.Sequential(*layers), (X,)


class OwnLinear(nn.Linear):
    """A module that a text can name."""

    def __init__(self) -> None:
        super().__init__(4, 4)


def test_modules_by_name() -> None:
    problem = problem_of(OwnLinear().eval(), X)
    both = np.array([[0], [1]])
    times = ModuleTimes(f"{__name__}.OwnLinear", "3x4/float32", "cpu+cpu", repeats=1)
    assert (times(problem, both) > 0).all()
    with pytest.raises(UsageError, match="devices: 1 are named, and the cluster has 2; name one"):
        ModuleTimes(f"{__name__}.OwnLinear", "3x4", "cpu", repeats=1)(problem, both)
    with pytest.raises(UsageError, match="cannot use 'a'"):
        ModuleTimes(f"{__name__}.OwnLinear", "3x4", repeats=1)(problem, both)


@pytest.mark.parametrize("kind", ["hsdag", "doppler"])
def test_policies_learn_from_measured_passes(kind: str) -> None:
    """HSDAG's rewards are latencies of every step, DOPPLER's third stage those of placements."""
    problem, limit = problem_of(model()[0].eval(), X), 6
    stages: dict[str, Stage] = {
        "hsdag": StepReinforceStage(
            algorithm="reinforce-steps", epochs=9, measurements=limit, evaluate_every=0
        ),
        "doppler": ReinforceStage(
            algorithm="reinforce", epochs=9, reward="log-loss", measurements=limit
        ),
    }
    sizes = {"steps": 3, "chains": False, "hidden": 8} if kind == "hsdag" else {"length": 8}
    policy = new_policy(policy_section({"kind": kind, "sizes": sizes}), 0)
    text = f"{__name__}.model"
    placements_run: list[bytes] = []

    class Listed(ModuleTimes):
        def __call__(self, problem: Problem, placements: Ints) -> Floats:
            placements_run.extend(row.tobytes() for row in placements)
            return super().__call__(problem, placements)

    measure = Listed(text, devices="cpu+cpu", repeats=1)
    rng = np.random.default_rng(0)
    fitted = fit(policy, [problem], [stages[kind]], rng, measure=measure)
    assert len(placements_run) == len({*placements_run}) >= 2  # no placement is measured twice
    assert fitted.records[-1]["measurements"] == min(limit, len(placements_run))
    best = fitted.best[0]
    assert best is not None
    assert best.devices.tobytes() in placements_run


@pytest.mark.parametrize("option", ["repeats", "threads"])
def test_options_of_at_least_one(option: str, module: nn.Module) -> None:
    with pytest.raises(UsageError, match=f"{option}: must be at least 1"):
        PassTimes(module, (X,), **{option: 0})  # type: ignore[arg-type]


@needs_gpu
def test_a_gpu_is_waited_for() -> None:
    run_on_gpu(ON_GPU)

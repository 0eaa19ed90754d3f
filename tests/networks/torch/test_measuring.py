"""Measured operators of PyTorch modules. Clocks are replaced where times matter."""

from collections.abc import Iterator
from itertools import count
from math import inf, isfinite, sqrt

import pytest
import torch

from streamplace.errors import GraphError, UsageError
from streamplace.networks.torch import measuring, passes
from streamplace.networks.torch.graph import from_module
from streamplace.networks.torch.measuring import WARM_UP, measure, with_times
from tests.support.gpus import needs_gpu, run_on_gpu
from tests.support.long import long_after
from tests.support.torch_modules import CASES, Net, Tied, case


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the clock by one that is 1 s later at each reading."""
    monkeypatch.setattr(passes, "perf_counter", map(float, count()).__next__)


@pytest.mark.parametrize("name", long_after(4, CASES))
def test_every_operator_has_a_time(name: str) -> None:
    module, inputs = case(name)
    found = measure(module, inputs, repeats=4)
    assert found.graph.with_numbers(seconds_on={})[0] == from_module(module, inputs)
    assert list(found.seconds) == list(found.graph.names)
    for v, operator in enumerate(found.graph.names):
        time = found.seconds[operator]
        assert time.value is not None
        assert 0 < time.value < inf
        assert time.error is not None
        assert time.error >= 0
        assert isfinite(time.error)
        assert found.graph.seconds_on[v] == {"cpu": time.value}
    assert found.sum_s == sum(time.value or 0 for time in found.seconds.values())
    assert found.module.value
    assert found.repeats == 4


@pytest.mark.usefixtures("seconds")
def test_only_operators_are_measured() -> None:
    """Each call takes 1 s, so the sum is the number of operators: views have no time."""
    found = measure(*case("attention"), repeats=3, seconds=inf)
    assert {time.value for time in found.seconds.values()} == {1.0}
    assert found.sum_s == 3
    assert (found.module.value, found.module.error) == (1.0, 0.0)


def test_the_median_and_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pass of five is far slower; the two that warm up do not count."""
    lengths = [50, 50, 3, 1, 2, 4, 1000]

    def clock() -> Iterator[float]:
        now = 0.0
        for length in lengths:
            for _ in range(4):  # three operators and the module
                yield now
                now += length
                yield now

    monkeypatch.setattr(passes, "perf_counter", clock().__next__)
    assert len(lengths) - WARM_UP == 5
    found = measure(*case("net"), repeats=5, seconds=inf)
    assert {time.value for time in found.seconds.values()} == {3.0}
    error = 1.2533 * 1.4826 * 1 / sqrt(5)  # the deviations are 0, 2, 1, 1, 997
    assert [time.error for time in found.seconds.values()] == [pytest.approx(error)] * 3


@pytest.mark.parametrize(("repeats", "limit", "passes_run"), [(1, 60, 1), (2, 60, 2), (50, 0, 1)])
def test_few_passes_have_no_error(repeats: int, limit: float, passes_run: int) -> None:
    found = measure(*case("net"), repeats=repeats, seconds=limit)
    assert found.repeats == passes_run
    assert {time.error for time in found.seconds.values()} == {None}


def test_kinds_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    used = list[int]()
    monkeypatch.setattr(torch, "set_num_threads", used.append)
    before = torch.get_num_threads()
    found = measure(*case("net"), kind="edge", threads=7, repeats=1)
    assert used == [7, before]
    assert {tuple(times) for times in found.graph.seconds_on.values()} == {("edge",)}
    assert found.kind == "edge"


def test_times_for_several_kinds() -> None:
    module, inputs = case("net")
    old, new = (measure(module, inputs, kind=kind, repeats=1).graph for kind in ("a", "b"))
    both = with_times(new, old)
    for v in range(3):
        assert both.seconds_on[v] == {**old.seconds_on[v], **new.seconds_on[v]}
    assert with_times(new, from_module(module, inputs)) == new
    again = measure(module, inputs, kind="a", repeats=1).graph
    assert with_times(again, old) == again
    with pytest.raises(GraphError, match="not a graph of this module"):
        with_times(new, from_module(module, (torch.ones(4, 6),)))


def test_faults_that_only_data_show() -> None:
    """Exporting does not look at values, so only a measured pass finds the unknown word."""
    word = torch.full((1, 3), 99)
    assert from_module(Tied().eval(), (word,))
    with pytest.raises(GraphError, match="does not run on inputs of shape 1x3: IndexError"):
        measure(Tied().eval(), (word,))


def test_devices_that_do_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for device, message in (("cuda", "no GPU"), ("tpu", "choose from cpu, cuda")):
        with pytest.raises(UsageError, match=message):
            measure(*case("net"), device=device)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_busy_machine_is_noted(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first reading of the clock is the number 0, the second 1, and so on."""
    monkeypatch.setattr(measuring, "perf_counter", map(float, count()).__next__)
    monkeypatch.setattr(measuring, "process_time", (share * i for i in count()).__next__)
    found = measure(*case("net"), repeats=1)
    assert found.repeats == 1
    notes = [note for note in found.notes if "had a CPU for only" in note]
    assert len(notes) == (share < 0.85)
    assert all(f"only {share:.0%} of" in note for note in notes)


def test_cpu_time_counts_no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the process has no CPU, only the wall clock moves."""
    monkeypatch.setattr(passes, "perf_counter", map(float, count()).__next__)
    monkeypatch.setattr(passes, "process_time", (0.5 * i for i in count()).__next__)
    monkeypatch.setattr(measuring, "perf_counter", (1e3 * i for i in count()).__next__)
    found = measure(*case("net"), repeats=3, seconds=inf, cpu_time=True)
    assert {time.value for time in found.seconds.values()} == {0.5}
    assert found.module.value == 0.5
    assert not [note for note in found.notes if "had a CPU" in note]


def test_a_gpu_has_no_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(UsageError, match="CPU time says nothing about device 'cuda'"):
        measure(*case("net"), device="cuda", cpu_time=True)


def test_weights_are_left_as_they_are() -> None:
    module = Net().eval()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    measure(module, (torch.randn(3, 6),), repeats=2)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


ON_BOTH = """
from streamplace.networks.torch.measuring import measure, with_times
from tests.support.gpus import needs_gpu, run_on_gpu
from tests.support.torch_modules import CASES, case

for name in CASES:
    module, inputs = case(name)
    on_gpu = measure(module, inputs, device="cuda", repeats=1).graph
    on_cpu = measure(module, inputs, repeats=1).graph
    both = with_times(on_gpu, on_cpu).seconds_on.values()
    assert all({*times} == {"cpu", "cuda"} for times in both), name
"""


@needs_gpu
def test_a_gpu_has_the_same_graph_as_the_processor() -> None:
    run_on_gpu(ON_BOTH)

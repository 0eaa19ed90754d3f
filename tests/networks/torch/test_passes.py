"""Passes of exported graphs, and their clocks."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from streamplace.networks.torch.graph import operators_of
from streamplace.networks.torch.passes import CpuClock, GpuClock, Passes
from streamplace.networks.torch.program import export
from tests.support.long import long_after
from tests.support.torch_modules import CASES, case


@pytest.mark.parametrize("name", long_after(4, CASES))
def test_a_pass_computes_what_the_module_computes(name: str) -> None:
    module, inputs = case(name)
    program = export(module, inputs)
    nodes = operators_of(program)
    arguments = [*program.arguments(inputs).values()]
    once = Passes(program.exported.graph_module, {*nodes.values()}, arguments, CpuClock())
    with torch.no_grad():
        (result,) = once.run_once()
        torch.testing.assert_close(result, module(*inputs))
    assert [len(times) for times in once.times.values()] == [1] * len(nodes)


def test_the_clock_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock waits for the end of the work only when it is asked for the time."""
    log: list[str] = []
    names = iter(("start", "end"))

    def event(*, enable_timing: bool) -> Any:
        assert enable_timing
        name = next(names)
        return SimpleNamespace(
            record=lambda: log.append(f"{name} recorded"),
            synchronize=lambda: log.append(f"waited for {name}"),
            elapsed_time=lambda other: 1500.0,
        )

    monkeypatch.setattr(torch.cuda, "Event", event)
    work: Callable[[], int] = lambda: log.append("work") or 7  # type: ignore[func-returns-value] # noqa: E731
    result, time = GpuClock().measured(work)
    assert (result, log) == (7, ["start recorded", "work", "end recorded"])
    assert time() == 1.5
    assert log[-1] == "waited for end"

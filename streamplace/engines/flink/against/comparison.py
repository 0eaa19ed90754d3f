"""The result type of `explain --against`: predictions beside measurements of a running job."""

from dataclasses import asdict, dataclass
from typing import Any

from streamplace.display.text import number, percent
from streamplace.display.view import Grid, Line
from streamplace.engines.flink.against.costs_off import Off
from streamplace.formats.profiling.estimates import Estimate

MISSING = "-"


@dataclass(frozen=True)
class DeviceUse:
    """The utilisation of a device, predicted and measured.

    Parameters
    ----------
    task_manager
        The host that stands for the device; None: none does.
    measured
        Busy time of the operators there, as a share of the device's cores; None if unknown.
    """

    name: str
    task_manager: str | None
    predicted: float
    measured: float | None


@dataclass(frozen=True)
class OperatorUse:
    """The use of CPU time by an operator, or by a chain of operators, predicted and measured.

    Parameters
    ----------
    predicted
        Cores that all instances keep busy.
    measured
        The same, measured, with its standard error.
    predicted_rate, measured_rate
        Tuples/s of the first operator, over all instances.
    graph_instructions, instructions
        Instructions per tuple of the first operator, in the graph and measured.
    """

    name: str
    predicted: float
    measured: Estimate
    predicted_rate: float
    measured_rate: Estimate
    graph_instructions: float
    instructions: Estimate

    @property
    def ratio(self) -> float | None:
        """Measured ÷ predicted use; None if one is missing or nothing is predicted."""
        value = self.measured.value
        return None if value is None or self.predicted <= 0 else value / self.predicted

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``operators`` in `explain --json`."""
        return {
            "name": self.name,
            "predicted": self.predicted,
            "measured": self.measured.value,
            "standard_error": self.measured.error,
            "ratio": self.ratio,
            "tuples": {"predicted": self.predicted_rate, "measured": self.measured_rate.value},
            "instructions": {
                "graph": self.graph_instructions,
                **self.instructions.to_dict(),
            },
        }


@dataclass(frozen=True)
class Against:
    """Predictions for a placement at the source rate that a running job receives.

    Parameters
    ----------
    source_rate
        Tuples/s measured.
    placed_rate
        Tuples/s for which the placement was scored.
    seconds, intervals
        How long the job was watched, and in how many intervals its metrics changed.
    off
        The numbers that differ by more than their noise; the largest difference first.
    unmatched_operators, unmatched_in_job
        Operators of the placement that the job lacks, and the reverse.
    notes
        What could not be matched, measured or distinguished, one line each.
    """

    source_rate: Estimate
    placed_rate: float
    seconds: float
    intervals: int
    devices: tuple[DeviceUse, ...]
    operators: tuple[OperatorUse, ...]
    off: tuple[Off, ...]
    unmatched_operators: tuple[str, ...] = ()
    unmatched_in_job: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``against`` of `explain --json`."""
        return {
            "source_rate": self.source_rate.value,
            "source_rate_standard_error": self.source_rate.error,
            "placed_source_rate": self.placed_rate,
            "seconds": self.seconds,
            "intervals": self.intervals,
            "devices": [asdict(device) for device in self.devices],
            "operators": [operator.to_dict() for operator in self.operators],
            "off": [each.to_dict() for each in self.off],
            "unmatched": {
                "placement": list(self.unmatched_operators),
                "job": list(self.unmatched_in_job),
            },
            "notes": list(self.notes),
        }

    def body(self) -> list[Line | Grid]:
        """Return the lines and tables of the comparison."""
        rate = number(self.source_rate.value or 0.0)
        watched = f"{self.intervals} intervals, {self.seconds:.3g} s"
        scored = f"the placement was scored at {number(self.placed_rate)}"
        first = (
            f"the job receives {rate} tuples/s ({watched}); {scored}, predictions are for {rate}"
        )
        if self.off:
            last = [each.line() for each in self.off]
        else:
            last = [Line("no cost is off by more than the noise of the readings and 20%")]
        return [Line(first), self._devices(), self._operators(), *last]

    def _devices(self) -> Grid:
        def row(i: int) -> tuple[str, ...]:
            each = self.devices[i]
            return (
                each.name,
                percent(each.predicted),
                MISSING if each.measured is None else percent(each.measured),
                each.task_manager or MISSING,
            )

        head = ("device", "predicted", "measured", "TaskManager")
        return Grid(head, len(self.devices), row, names=(0, 3), expendable=("TaskManager",))

    def _operators(self) -> Grid:
        def row(i: int) -> tuple[str, ...]:
            each = self.operators[i]
            return (
                each.name,
                percent(each.predicted),
                _share(each.measured),
                MISSING if each.ratio is None else f"{each.ratio:.3g}",
                number(each.graph_instructions),
                _figure(each.instructions),
            )

        head = ("operator", "predicted", "measured", "ratio", "instructions", "measured cost")
        return Grid(head, len(self.operators), row)


def _share(estimate: Estimate) -> str:
    if estimate.value is None:
        return MISSING
    error = "" if estimate.error is None else f" ± {estimate.error:.1%}"
    return f"{estimate.value:.1%}{error}"


def _figure(estimate: Estimate) -> str:
    if estimate.value is None:
        return MISSING
    error = "" if estimate.error is None else f" ± {estimate.error:,.2g}"
    text = f"{estimate.value:,.4g}{error}"
    return f"({text})" if estimate.how == "bound" else text

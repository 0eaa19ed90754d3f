"""Jobs of spinning operators, drawn by seed before any run."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 32
JOBS = 6
SLOTS = 6  # of all TaskManagers, and instances of the heaviest operator
INSTRUCTIONS = 2e6  # of all operators for a tuple of the source
SIZES = (4, 7)  # fewest and most operators besides source and sink
SPREAD = 0.8  # of the logarithms of the operators' shares of the work
SELECTIVITIES = ((1, 1), (1, 1), (1, 1), (1, 2), (2, 1))  # tuples out per tuples in
ROUNDING = 1e-9
SKIPS = 0.4  # probability that an operator reads from the one before its predecessor


@dataclass(frozen=True)
class Spinning:
    """An operator that executes a number of instructions for each tuple.

    Parameters
    ----------
    inputs
        Names of the operators that it reads from; "events" is the source.
    out, per
        It emits `out` tuples for every `per` that arrive.
    """

    name: str
    inputs: tuple[str, ...]
    shipping: str
    instructions: float
    out: int
    per: int
    instances: int

    @property
    def argument(self) -> str:
        """The argument of ShapedJob that describes it."""
        effort = f"spin:{self.instructions:.0f} {self.out}/{self.per}"
        return f"{self.name} {','.join(self.inputs)} {self.shipping} {effort} {self.instances}"


@dataclass(frozen=True)
class SpinningJob:
    """A job: operators in upstream order, the last of which feeds the sink."""

    name: str
    operators: tuple[Spinning, ...]

    def arguments(self, rate: float) -> list[str]:
        """Return the arguments of ShapedJob for the source's tuples/s."""
        return [f"{rate:g}", *(each.argument for each in self.operators)]

    def folder(self, of_all: Path) -> Path:
        """Return the job's own folder inside that of all jobs."""
        return of_all / self.name.replace(" ", "-")

    @property
    def arriving(self) -> dict[str, float]:
        """Operator -> tuples that it reads per tuple of the source."""
        found: dict[str, float] = {}
        written = {"events": 1.0}
        for each in self.operators:
            found[each.name] = sum(written[name] for name in each.inputs)
            written[each.name] = found[each.name] * each.out / each.per
        return found

    @property
    def sink_share(self) -> float:
        """Tuples at the sink per tuple of the source."""
        last = self.operators[-1]
        return self.arriving[last.name] * last.out / last.per


def drawn(seed: int = SEED, count: int = JOBS) -> tuple[SpinningJob, ...]:
    """Return the jobs of a seed.

    Operators have as many instances as their share of the work needs, when the heaviest one has
    one in each slot. This is what DS2 and the autoscaler of Flink's operator for Kubernetes choose.
    """
    return tuple(_job(np.random.default_rng((seed, number)), number) for number in range(count))


def _job(rng: np.random.Generator, number: int) -> SpinningJob:
    size = int(rng.integers(SIZES[0], SIZES[1] + 1))
    inputs = [[int(i - 1 - (i > 0 and rng.random() < SKIPS))] for i in range(size)]  # -1: source
    unread = set(range(size - 1)) - {j for each in inputs for j in each}
    inputs[-1] = sorted({*inputs[-1], *unread})
    work = np.exp(SPREAD * rng.standard_normal(size))
    work *= INSTRUCTIONS / work.sum()
    counts = np.ceil(SLOTS * work / work.max() - ROUNDING).astype(int)
    chosen = [SELECTIVITIES[i] for i in rng.integers(len(SELECTIVITIES), size=size)]
    shipping = rng.choice(["hash", "rebalance"], size=size)
    rates = {-1: 1.0}
    made = []
    for i, (out, per) in enumerate(chosen):
        arriving = sum(rates[j] for j in inputs[i])
        rates[i] = arriving * out / per
        read = tuple("events" if j < 0 else f"j{number}op{j}" for j in inputs[i])
        effort = float(work[i] / arriving)
        made.append(
            Spinning(f"j{number}op{i}", read, str(shipping[i]), effort, out, per, int(counts[i]))
        )
    return SpinningJob(f"job {number}", tuple(made))

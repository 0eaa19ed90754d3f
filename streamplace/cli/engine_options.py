"""Options of `simulate --model engine`."""

from dataclasses import asdict, dataclass
from typing import Any

from streamplace.cli.command import option
from streamplace.cli.options import file
from streamplace.cli.param_types import NUMBER, SECONDS, TICK, Choice


@dataclass(frozen=True)
class EngineOptions:
    """The options of the engine; None where one is left out."""

    duration: float | None = option(
        "--duration",
        type=SECONDS,
        metavar="S",
        help="Engine: seconds to simulate.  [default: 61, and more until throughput has settled]",
    )
    tick: float | None = option(
        "--tick",
        type=TICK,
        metavar="S|auto",
        help="Engine: seconds per tick; shortened if queues or windows require it. auto starts "
        "with 0.1 and halves the tick until the throughput no longer changes.  [default: auto]",
    )
    scheduler: str | None = option(
        "--scheduler",
        type=Choice(["default", "dynamic"]),
        help="Engine: operators have fixed shares of their device (default), or unused shares go "
        "to operators with work left (dynamic).  [default: default]",
    )
    allocation: str | None = option(
        "--allocation",
        type=Choice(["uniform", "weighted"]),
        help="Engine: operators on a device get equal shares of it (uniform), or shares in "
        "proportion to the work that arrives for them (weighted).  [default: weighted]",
    )
    queue: float | None = option(
        "--queue",
        type=NUMBER,
        metavar="N",
        help="Engine: tuples that may wait on a stream; 0 is unlimited.  [default: 2048]",
    )
    source_queue: float | None = option(
        "--source-queue",
        type=NUMBER,
        metavar="N",
        help="Engine: tuples that may wait at a source; any beyond that are dropped. 0 is "
        "unlimited.  [default: 0]",
    )
    backpressure: bool | None = option(
        "--backpressure/--no-backpressure",
        default=None,
        help="Engine: whether overloaded links slow their senders. If so, tuples in transit "
        "between devices count towards --queue. A full queue slows its senders in either case.  "
        "[default: backpressure]",
    )
    source_wait: bool | None = option(
        "--without-source-wait",
        flag_value=False,
        type=bool,
        default=None,
        help="Engine: measure the latency of a tuple from when its source takes it, as CEPSim "
        "does, and not from when it is offered to the source.",
    )
    arrivals: str | None = option(
        "--arrivals",
        type=Choice(["poisson", "bursts"]),
        help="Engine: simulate single tuples that arrive at random, instead of ticks. poisson: "
        "with independent exponential times between them; bursts: at rates that alternate between "
        "1.5 times and half the source rate, for about 1 s each. Requires --service; of the other "
        "options of the engine, only --duration can be used.",
    )
    service: str | None = option(
        "--service",
        type=Choice(["exponential", "deterministic"]),
        help="Engine: distribution of the time that an operator takes for a tuple. Requires "
        "--arrivals.",
    )
    scene: str | None = file(
        "--scene",
        "Engine: file (JSON) that describes source rates over time, windows and slow devices "
        "during the run; see `streamplace schema scene`.",
    )
    trace: str | None = file(
        "--trace",
        "Engine: file to write (JSON) with rates, queues and utilisations for every second of "
        "the run; - is stdout.",
    )
    plot: str | None = file(
        "--plot",
        "Engine: plot file to write (the trace over time): .png, .svg or .pdf.",
    )

    @property
    def chosen(self) -> dict[str, Any]:
        """Option -> value, for the options that the user specified."""
        return {name: value for name, value in asdict(self).items() if value is not None}

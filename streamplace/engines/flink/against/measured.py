"""A running Flink job, watched over REST and compared with the predictions for a placement."""

from streamplace.engines.flink.against.compare import check_operators, compare
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.use import observe
from streamplace.errors import BackendError, ProblemError
from streamplace.formats.profiling.rest import Server
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.workflows.measurements import Measured


def compare_running(
    placement: Placement,
    url: str,
    job: str | None,
    *,
    seconds: float,
    timeout_s: float,
    seed: int,
) -> Measured:
    """Watch a job and compare it; see `Measure`. It is refused first if no operator is known."""
    server = Server(url)

    def check(logical: LogicalGraph) -> None:
        try:
            check_operators(placement, logical.graph.names)
        except ProblemError as error:
            raise ProblemError(f"{error} ({server.url})") from None

    observed = observe(
        placement,
        server,
        Client(server, timeout_s).running_job(job),
        seconds=seconds,
        timeout_s=timeout_s,
        seed=seed,
        check=check,
    )
    try:
        return Measured(compare(placement, observed.use), observed.fault, observed.interrupted)
    except BackendError as error:
        if observed.interrupted:
            raise KeyboardInterrupt from None
        raise BackendError(observed.fault or f"{server.url}: {error}") from None

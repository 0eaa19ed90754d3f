"""What the dashboard of a Ray cluster says about actors: where they run, and their counters."""

import time
import urllib.parse
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, TypeVar

from pydantic import Field

from streamplace.errors import BackendError, FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Number, Title
from streamplace.formats.profiling.counters import Counters
from streamplace.formats.profiling.rest import Server
from streamplace.problem.seconds import MAX_SECONDS

MOST = 10_000  # actors that the State API lists at most
ALIVE = "ALIVE"
STATES = (ALIVE, "RESTARTING", "PENDING_CREATION", "DEPENDENCIES_UNREADY")
"""Those of actors that are not dead, of which Ray may know many."""
OF_A_STATE = "filter_keys=state&filter_predicates=%3D&filter_values="
LISTED = f"/api/v0/actors?detail=1&limit={MOST}&{OF_A_STATE}"
"""The list of actors in the state that follows."""
ONE = "/logical/actors/"
MS = 1e3
F = TypeVar("F", bound=ForeignForm)
Tasks = Annotated[int, Field(ge=0, lt=2**63)]
Seconds = Annotated[Number, Field(le=MAX_SECONDS)]


class _Actor(ForeignForm):
    actor_id: Name
    name: Title | None = ""
    state: Title
    node_id: Title | None = ""
    ray_namespace: Title | None = ""


class _Actors(ForeignForm):
    result: list[_Actor]
    total: Tasks
    num_after_truncation: Tasks


class _CpuTimes(ForeignForm):
    user: Seconds
    system: Seconds


class _Process(ForeignForm):
    cpu_times: _CpuTimes | None = Field(None, alias="cpuTimes")


class _Detail(ForeignForm):
    state: Title
    executed: Tasks | None = Field(None, alias="numExecutedTasks")
    process: _Process | None = Field(None, alias="processStats")


@dataclass(frozen=True)
class Actor:
    """A named actor that is not dead.

    Parameters
    ----------
    node
        Id of the node that it runs on.
    """

    id: str
    name: str
    namespace: str
    node: str


class Dashboard:
    """The dashboard of one cluster.

    All methods raise BackendError if it does not answer in time, or in another format.

    Parameters
    ----------
    within_s
        Time limit of an answer in seconds.
    """

    def __init__(self, server: Server, within_s: float) -> None:
        self.server, self._within_s = server, within_s

    def actors(self) -> list[Actor]:
        """Return the named actors that are not dead: those that run, then those that start.

        Raises
        ------
        BackendError
            If more are in one state than the 10,000 that Ray lists.
        """
        return [each for state in STATES for each in self._in_state(state)]

    def _in_state(self, state: str) -> list[Actor]:
        where = self.server.url + LISTED.partition("?")[0]
        data = self._data(LISTED + state)
        found = _read(_Actors, data.get("result") if isinstance(data, dict) else None, where)
        if found.num_after_truncation < found.total:
            listed = f"{found.num_after_truncation:,}"
            raise BackendError(
                f"{where}: Ray lists {listed} of {found.total:,} actors, so some that run may be "
                "missing"
            )
        return [
            Actor(each.actor_id, each.name, each.ray_namespace or "", each.node_id or "")
            for each in found.result
            if each.name and each.state == state
        ]

    def counters(self, actor: Actor, until: float = inf) -> Counters:
        """Return the calls that an actor has executed, and the CPU time of its process.

        Either is missing where the dashboard has not heard of it yet.

        Parameters
        ----------
        until
            By `time.monotonic`: when the answer must be there.

        Raises
        ------
        BackendError
            If the actor does not run any more.
        """
        path = ONE + urllib.parse.quote(actor.id, safe="")
        data = self._data(path, until)
        where = self.server.url + path
        found = _read(_Detail, data.get("detail") if isinstance(data, dict) else None, where)
        if found.state != ALIVE:
            raise BackendError(f"{self.server.url}: actor {actor.name} is {found.state}")
        times = found.process.cpu_times if found.process else None
        cpu_ms = MS * (times.user + times.system) if times else None
        return Counters(records_in=found.executed, cpu_ms=cpu_ms)

    def _data(self, path: str, until: float = inf) -> Any:
        """Return the field ``data`` of the answer at a path."""
        answer = self.server.get(path, min(self._within_s, until - time.monotonic()))
        if not isinstance(answer, dict) or answer.get("result") is not True:
            message = answer.get("msg") if isinstance(answer, dict) else None
            why = f": {message:.200}" if isinstance(message, str) and message else ""
            raise BackendError(
                f"{self.server.url}{path.partition('?')[0]}: not what Ray's dashboard answers{why}"
            )
        return answer.get("data")


def _read(form: type[F], value: Any, where: str) -> F:
    try:
        return check(form, value, where)
    except FormatError as error:
        raise BackendError(str(error)) from None

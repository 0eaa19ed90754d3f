"""Actions of the controller on a scripted Flink, in short times."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from streamplace.control.controller import Controller
from streamplace.control.decisions import Decision
from streamplace.control.interfaces import Acted, Clock, Events, Realiser
from streamplace.control.journal import BEGAN, Entry, Journal
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment, Plan
from streamplace.control.settings import ControllerSettings
from streamplace.control.watching import Watching
from streamplace.engines.flink.applying import asking
from streamplace.engines.flink.applying.apply import Options
from streamplace.engines.flink.applying.asking import Limits
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.watching.handing_out import HandingOut
from streamplace.engines.flink.watching.rescaling import AdaptiveRealiser
from streamplace.engines.flink.watching.restarting import PROGRESS, RestartRealiser
from streamplace.engines.flink.watching.sampling import Sampler
from streamplace.engines.flink.watching.windows import Devices, Windows
from streamplace.formats.profiling.rest import Server
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.server import JAR, ScriptedFlink

PATIENT = Limits(answer_s=20.0, savepoint_s=20.0, start_s=20.0)
"""Limits that even a busy machine meets, for actions that succeed."""
HASTY = Limits(answer_s=0.5, savepoint_s=0.3, start_s=0.6)
"""Limits that are soon over, for actions that may wait until they end."""
BEFORE = Deployment({"Source: src": ("b",), "count": ("b",), "out: Writer": ("b",)})
AFTER = Deployment({"Source: src": ("a",), "count": ("b", "b"), "out: Writer": ("a",)})
HOSTS = {"Source: src": ["tm-a"], "count": ["tm-b", "tm-b"], "out: Writer": ["tm-a"]}


PAUSES = {"POLL_S": 0.02, "SETTLE_S": 0.05, "STALE_S": 0.1, "GRACE_S": 0.2}


def quick(monkeypatch: pytest.MonkeyPatch, **others: float) -> None:
    """Ask the server often; some pauses may differ from `PAUSES`."""
    for name, seconds in (PAUSES | others).items():
        monkeypatch.setattr(asking, name, seconds)


def restarts(
    url: str, limits: Limits = PATIENT, labels: bool = True, **more: Any
) -> RestartRealiser:
    """Return a realiser for the scripted cluster."""
    how = Options(JOB, JAR, limits=limits, **more)
    devices = ["a", "b"] if labels else []
    return RestartRealiser(Client(Server(url), limits.answer_s), how, devices, lambda line: None)


def rescales(url: str, limits: Limits = PATIENT) -> AdaptiveRealiser:
    """Return a realiser for the scripted cluster under the adaptive scheduler."""
    return AdaptiveRealiser(Client(Server(url), limits.answer_s), limits)


class FixedPlanner:
    """A planner that always returns the same deployment."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment

    def __call__(self, observation: Observation, rate_s: float, seconds: float) -> Plan | str:
        """Return a plan that carries twice the rate, which the present one does not carry."""
        return Plan(self.deployment, rate_s, 2 * rate_s, 0.6 * rate_s, 2.0, 2.0)


@contextmanager
def watched(
    flink: ScriptedFlink, clock: ManualClock, folder: Path, *how: Any, **more: Any
) -> Iterator[tuple[Watching, list[str]]]:
    """Yield a controller of the job of a scripted cluster, and the lines that it says."""
    flink.clock = clock
    with flink.serving() as url, watched_at(url, clock, folder, *how, **more) as found:
        yield found


@contextmanager
def watched_at(
    url: str,
    clock: Clock,
    folder: Path,
    realiser: type[Realiser] | None = RestartRealiser,
    deployment: Deployment = AFTER,
    limits: Limits = PATIENT,
    journal: Callable[[Path], Journal] = Journal,
) -> Iterator[tuple[Watching, list[str]]]:
    """Yield a controller of a job at an address, and the lines that it says.

    Parameters
    ----------
    realiser
        `HandingOut` chooses between the two others by the scheduler of the job.
    """
    lines: list[str] = []
    settings, client = ControllerSettings(), Client(Server(url), limits.answer_s)
    with journal(folder / "journal.jsonl") as writer:
        restarting, in_place = restarts(url, limits), rescales(url, limits)
        restarting.client = in_place.client = client
        choices: dict[type[Realiser] | None, Realiser | None] = {
            None: None,
            RestartRealiser: restarting,
            AdaptiveRealiser: in_place,
            HandingOut: HandingOut(client, folder, in_place, restarting),
        }
        sampler = Sampler(client, clock)
        windows = Windows(sampler, Devices(["a", "b"]), settings, clock)
        chooses = realiser is not AdaptiveRealiser
        controller = Controller(settings, FixedPlanner(deployment), chooses_devices=chooses)
        watching = Watching(
            *(JOB, windows, controller, writer, choices[realiser]),
            Lines(lines),
        )
        watching.begin()
        yield watching, lines


class Lines(Events):
    """What a controller says, and the reasons of its decisions."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def decided(self, observation: Observation, decision: Decision) -> None:
        self.lines.append(decision.reason)

    def say(self, line: str) -> None:
        self.lines.append(line)


START = [Entry(0.0, BEGAN, {"job": JOB, "deployment": AFTER.to_dict()})]
HANGS = 10**6


class Log:
    """A journal in memory, which may interrupt the action."""

    def __init__(self, until: int = HANGS, before: Sequence[Entry] = START) -> None:
        self.entries, self.until = list(before), until

    def __call__(self, step: str, details: dict[str, Any]) -> None:
        self.entries.append(Entry(0.0, step, details))
        if len(self.entries) > self.until:
            raise KeyboardInterrupt


def gone_on(flink: ScriptedFlink, log: Log, limits: Limits = PATIENT) -> Acted | None:
    """Go on with an action until it ends, on a server without faults."""
    flink.faults.clear()
    with flink.serving() as url:
        while True:
            done = restarts(url, limits).resume(JOB, AFTER, log.entries, log)
            if done is None or not done.pending or done.lost:
                return done


STOP = {"job": JOB, "trigger": "x", "savepoint": "", "rolling_back": False, "cancelling": False}


def stopping(**more: Any) -> Log:
    """Return a journal that ends while the job is being stopped."""
    return Log(before=[*START, Entry(0.0, PROGRESS, STOP | more)])

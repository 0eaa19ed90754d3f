"""The loop of a controller of a running job: measure, decide, write it down, act."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from types import FrameType
from typing import Any

from streamplace.control.decisions import Action, Decision, Outcome
from streamplace.control.interfaces import (
    Acted,
    Decides,
    Events,
    LostError,
    Measures,
    Realiser,
    Steps,
)
from streamplace.control.journal import BEGAN, ENDED
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment
from streamplace.display.text import several
from streamplace.errors import FormatError, StreamplaceError, UsageError

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, a service manager, a closed terminal
WAITS = "an action is under way, which ends first; a second signal interrupts it"
WINDOW, WAITING = "window", "waiting"
SHOWN = 5  # operators that a message names, so that it stays a line
RETRY_S = 30.0  # at most, while no job runs: output is missing meanwhile, whatever the window
GO_ON = "the action on job {} has not ended, which may be stopped; the same command goes on with it"


@contextmanager
def not_lost() -> Iterator[Callable[[], None]]:
    """Yield a function that sends a signal of this block again if nothing has ended it.

    The exception of a signal ends nothing if it is raised in a finaliser, where Python ignores it,
    or in a library that ignores exceptions. In other threads than the main one, which receive no
    signals, the function does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    received: list[int] = []
    former = {n: handler for n, handler in _handlers().items() if callable(handler)}

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        former[number](number, frame)

    def again() -> None:
        if received:
            signal.raise_signal(received[0])

    for number in former:
        signal.signal(number, note)
    try:
        yield again
    finally:
        _set(former)


@contextmanager
def held_back(say: Callable[[str], object]) -> Iterator[None]:
    """Let a signal that ends the process wait until the block has ended.

    The second signal interrupts the block. In other threads than the main one, which receive no
    signals, nothing is changed.

    Parameters
    ----------
    say
        Called with a line when a signal waits.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    former = _handlers()

    def hold(number: int, frame: object) -> None:
        waiting.append(number)
        if len(waiting) > 1:
            _set(former)
            signal.raise_signal(number)
        else:
            with suppress(RuntimeError):  # a line was just being printed
                say(WAITS)

    for number in list(former):
        if former[number] in (None, signal.SIG_IGN):  # as after nohup
            del former[number]
        else:
            signal.signal(number, hold)
    try:
        yield
    finally:
        _set(former)
    if waiting:
        signal.raise_signal(waiting[0])


def _handlers() -> dict[int, Any]:
    """Return number -> present handler of the signals that end the process."""
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    return {number: signal.getsignal(number) for number in numbers}


def _set(handlers: Mapping[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


@dataclass
class Watching:
    """A controller of one job.

    Parameters
    ----------
    job
        The job that is watched; a restart changes it.
    realiser
        What carries out decisions; None: nothing is ever changed, and the job is only read.
    """

    job: str
    windows: Measures
    controller: Decides
    journal: Steps
    realiser: Realiser | None = None
    events: Events = field(default_factory=Events)
    idle: set[str] = field(default_factory=set, init=False)
    finished: dict[str, int] = field(default_factory=dict, init=False)

    def begin(self) -> None:
        """Go on where the journal ends, also with an action that was interrupted.

        Raises
        ------
        LostError
            If the job has ended, and this controller did not stop it.
        UsageError
            If the journal is that of another job; if an action was interrupted, and nothing may be
            changed.
        """
        known = self.journal.jobs
        if known and self.job not in known:
            raise UsageError(
                f"the journal is that of job {known[-1]}, not of job {self.job}; name that job, or "
                "another folder for the journal"
            )
        if (state := self.journal.latest("state")) is not None:
            self.controller.restore(state)
        self._watch(known[-1] if known else self.job)
        if self.journal.unfinished:
            self._go_on()

    def run(self, windows: int | None = None) -> None:
        """Watch the job for a number of windows, or until it is lost; errors are those of `begin`.

        An action that has begun is ended even if the windows are over.

        Parameters
        ----------
        windows
            None: without end.
        """
        try:
            with not_lost() as signal_again:
                self.begin()
                for _ in count() if windows is None else range(windows):
                    self.window()
                    signal_again()
                while self.realiser is not None and self.journal.unfinished:
                    self.window()
                    signal_again()
        except BaseException:  # Ctrl-C, a full disk, or a fault of ours
            if self.realiser is not None and (steps := self.journal.unfinished):
                self.events.say(GO_ON.format(steps[0].details["job"]))
            raise
        finally:
            self.events.ended()

    def window(self) -> Decision | None:
        """Measure a window, decide and act; None if an action of before had to be ended first.

        Errors are those of `begin`.
        """
        if self.journal.unfinished:
            self._go_on()
            if self.journal.unfinished:
                self.windows.clock.sleep(min(self.windows.window_s, RETRY_S))
            return None
        self.events.follow(self.job)
        observation = self.windows.next(self.job)
        self._say_idle(observation)
        decision = self.controller.step(observation)
        if self.realiser is None and decision.action is Action.ACT:
            decision = replace(decision, action=Action.ADVISE)
        self._write(WINDOW, job=self.job, decision=decision.to_dict(), state=self._state())
        self.events.decided(observation, decision)
        if decision.action is Action.ACT and decision.plan is not None:
            self._act(observation, decision, decision.plan.deployment)
        return decision

    def _say_idle(self, observation: Observation) -> None:
        """Say once of each operator that it gets no tuples, or that instances have finished."""
        kept = "adds no load, and keeps its number of instances"
        finished = observation.finished
        if new := [name for name in observation.idle if name not in {*self.idle, *finished}]:
            self.idle.update(new)
            self.events.say(f"no tuples get to {several(new, SHOWN)}; what gets none {kept}")
        if ended := sorted(name for name in finished if self.finished.get(name) != finished[name]):
            self.finished.update(finished)
            text = f"what has finished {kept}"
            self.events.say(f"instances of {several(ended, SHOWN)} have finished; {text}")

    def _act(self, observation: Observation, decision: Decision, deployment: Deployment) -> None:
        if self.realiser is None:
            return
        with held_back(self.events.say):
            self.controller.began(decision, self.windows.now_s)
            self._write(BEGAN, job=self.job, deployment=deployment.to_dict(), state=self._state())
            acted = self.realiser.act(self.job, deployment, self._record)
            self._end(acted, is_new=True)
            if acted.refused:
                refused = replace(decision, action=Action.REFUSED, why=acted.reason)
                self.events.decided(observation, refused)

    def _go_on(self) -> None:
        """Go on with the action that was interrupted, or after which no job ran."""
        steps = self.journal.unfinished
        former = str(steps[0].details["job"])
        if self.realiser is None:
            raise UsageError(
                f"the journal has an action on job {former} that was interrupted; go on with it in "
                "the mode apply, or name another folder for the journal"
            )
        self.events.say(f"an action on job {former} has not ended; looking what runs")
        self.windows.set_clock(former)
        deployment = Deployment.from_dict(steps[0].details["deployment"])
        with held_back(self.events.say):
            done = self.realiser.resume(former, deployment, steps, self._record)
            if done is not None:
                self._end(done)
                return
            reason = f"interrupted before anything was changed; job {former} runs"
            self._end(Acted(former, False, changed=False, reason=reason), interrupted=True)

    def _end(self, acted: Acted, interrupted: bool = False, is_new: bool = False) -> None:
        """Take note of the end of an action, unless it must be gone on with.

        Parameters
        ----------
        is_new
            Whether the action was decided in this window; its refusal is then shown as a decision.
        """
        self._watch(acted.job)
        self.windows.forget()
        known = {"job": acted.job, "reason": acted.reason, "savepoint": acted.savepoint}
        text = acted.reason or f"job {acted.job} runs as planned"
        if acted.pending and not acted.lost:
            try:
                self._write(WAITING, **known)
            except FormatError as error:  # a job that is stopped is worth more than the line
                self.events.say(f"{error}; going on without this line")
            self.events.say(f"{text}; trying again")
            return
        at_s = self.windows.now_s
        self.controller.ended(
            Outcome(
                *(at_s, acted.succeeded, acted.downtime_s, acted.reason),
                changed=acted.changed,
                interrupted=interrupted,
            )
        )
        self._write(ENDED, **known, succeeded=acted.succeeded, state=self._state())
        if acted.lost:
            raise LostError(text)
        if not (is_new and acted.refused):
            self.events.say(text)

    def _watch(self, job: str) -> None:
        self.events.follow(job)
        self.job = job

    def _record(self, step: str, details: dict[str, Any]) -> None:
        """Write a step of an action, and lock the job that it names, before it is started."""
        self._write(step, **details)
        with suppress(StreamplaceError):  # an action that has begun goes on
            self.events.follow(str(details["job"]))

    def _write(self, step: str, **details: Any) -> None:
        self.journal.write(self.windows.now_s, step, **details)

    def _state(self) -> dict[str, Any]:
        return dict(self.controller.to_dict())

"""Valid journals of the controller: one of advice, and one of an action that was interrupted."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from streamplace.control.controller import Controller
from streamplace.control.decisions import Action, Decision
from streamplace.control.journal import BEGAN, Journal
from streamplace.control.observation import Observation, Reading
from streamplace.control.plans import Deployment, Plan
from streamplace.control.settings import ControllerSettings
from tests.corpus.document import Document

NAME = "journal.jsonl"
JOB = "job"
NOON = 1_795_280_000.0
BEFORE, AFTER = Deployment({"a": ("d0",)}), Deployment({"a": ("d0", "d1")})


def plan(observation: Observation, rate_s: float, seconds: float) -> Plan:
    """Return a plan for twice the rate."""
    return Plan(AFTER, rate_s, 2 * rate_s, 0.5 * rate_s, 2.0, 1.0)


def window(number: int) -> Observation:
    """Return an overloaded window."""
    readings = {"a": Reading(100.0, 1.0, 1.0, 0.0, 1)}
    devices, at_s = frozenset(("d0", "d1")), NOON + 300.0 * number
    return Observation(at_s, 300.0, 0.0, readings, 200.0, 10.0, devices, BEFORE.hosts)


@cache
def documents() -> tuple[Document, ...]:
    """Return the journals of two windows, without and with an action."""
    settings, written = ControllerSettings(), []
    for acts in (False, True):
        with TemporaryDirectory() as folder, Journal(Path(folder) / NAME) as journal:
            controller = Controller(settings, plan)
            for number in (1, 2):
                decision = controller.step(window(number))
                _write(journal, decision, controller)
            if acts and decision.action is Action.ACT:
                controller.began(decision, decision.at_s)
                state = controller.to_dict()
                details = {"job": JOB, "deployment": AFTER.to_dict(), "state": state}
                journal.write(decision.at_s, BEGAN, **details)
            written.append(Document(NAME, journal.path.read_bytes()))
    return tuple(written)


def _write(journal: Journal, decision: Decision, controller: Controller) -> None:
    details = {"job": JOB, "decision": decision.to_dict(), "state": controller.to_dict()}
    journal.write(decision.at_s, "window", **details)

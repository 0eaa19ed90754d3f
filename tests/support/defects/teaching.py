"""Defects found by the check of agreement with a teacher."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from streamplace.learning.policy.device_scorer.network import ScorerBatch
from streamplace.learning.policy.teachers import Expert, Teacher
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Ints
from tests.support.defects.altered import Altered, Defect


class AgreesWithItself(Altered):
    """A policy whose agreement is the log-probability of its own actions."""

    def result_of(self, made: Trajectories, batch: ScorerBatch) -> Trajectories:
        """Replace the agreement by `log_prob`."""
        return replace(made, agreement=None if made.agreement is None else made.log_prob)


class IgnoresTies(Altered):
    """A policy that supports only one rule for ties."""

    def teacher_of(self, teacher: Teacher | None) -> Teacher | None:
        """Set the rule to `any`."""
        return teacher and replace(teacher, ties="any")


class IgnoresTeachers(Altered):
    """A policy that ignores teachers."""

    def teacher_of(self, teacher: Teacher | None) -> Teacher | None:
        """Use no teacher."""
        return None


@dataclass
class Misled:
    """An expert that receives wrong devices."""

    expert: Expert

    def judge(self, operators: Ints, devices: Ints) -> Bools:
        """Report the first device instead of the chosen ones."""
        return self.expert.judge(operators, devices * 0)


class MisleadsTheExpert(Altered):
    """A policy that does not tell the expert which devices were chosen."""

    def teacher_of(self, teacher: Teacher | None) -> Teacher | None:
        """Wrap the teacher's expert."""
        if teacher is None:
            return None
        make = teacher.expert

        def misled(problems: Sequence[Problem], samples: int) -> Expert:
            return Misled(make(problems, samples))

        return replace(teacher, expert=misled)


DEFECTS: list[Defect] = [
    (AgreesWithItself, "teacher", "agreement differs by"),
    (IgnoresTies, "teacher", "ties='each'"),
    (MisleadsTheExpert, "teacher", r"judge\(\) receives operators or devices that differ"),
    (IgnoresTeachers, "teacher", "has no agreement"),
]

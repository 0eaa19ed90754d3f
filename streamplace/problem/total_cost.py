"""The total cost objective: the execution and transfer times of one pass, added up, as data."""

from dataclasses import dataclass

from streamplace.problem.makespan import Makespan


@dataclass(frozen=True)
class TotalCost(Makespan):
    """The total cost objective: the least seconds of execution and transfer in one pass.

    The cost of a placement is the sum of the execution times of all operators and of the transfer
    times (with latency) of all messages between devices, in seconds (GiPH, Hu et al., MLSys 2023,
    section 3). Unlike the makespan, it does not depend on what happens at the same time, so neither
    order, barrier nor queues matter; they only determine the schedule that `Evaluator.trace`
    returns. Overheads, gaps and rests do not count.

    The parameters are those of `Makespan`. Placers that plan or search schedules refuse this
    objective, and it has no name on the command line.
    """

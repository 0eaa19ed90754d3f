#!/bin/sh
# PuLP 3.3.2 with its CBC: a search that its time limit ends has the status "Optimal".
#
# `prob.status` is 1, LpStatusOptimal, whenever CBC returns a feasible solution. Only `sol_status`
# tells the two cases apart: 1 if the solution is proven to be optimal, 2 if it is only feasible. A
# comparison of placements that keeps the rows with status "Optimal" thus mixes optima with whatever
# was found in time.
#
# 32 tasks were made by cutting 10,000 into four pieces for each of 8 devices, so that the best
# largest load is 10,000. CBC does not find that in time.
#
# Output seen (Python 3.11, x86-64):
#   4 tasks on 2 devices: status Optimal, sol_status Optimal Solution Found
#   32 tasks on 8 devices, limit of 5 s: status Optimal, sol_status Solution Found
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pulp==3.3.2
"$folder/venv/bin/python" - <<'PYTHON'
import random

import pulp


def assign(tasks, devices):
    """Return the solved problem: tasks on devices, with the smallest largest load."""
    problem = pulp.LpProblem("placement", pulp.LpMinimize)
    largest = pulp.LpVariable("largest")
    places = [
        [pulp.LpVariable(f"x_{i}_{j}", cat="Binary") for j in range(devices)]
        for i in range(len(tasks))
    ]
    problem += largest
    for place in places:
        problem += pulp.lpSum(place) == 1
    for j in range(devices):
        problem += pulp.lpSum(a * place[j] for a, place in zip(tasks, places)) <= largest
    problem.solve(pulp.PULP_CBC_CMD(msg=False, timeLimit=5))
    return problem


def pieces(rng):
    """Return four whole numbers whose sum is 10,000."""
    cuts = sorted(rng.sample(range(1, 10_000), 3))
    return [b - a for a, b in zip([0, *cuts], [*cuts, 10_000])]


rng = random.Random(1)
many = [piece for _ in range(8) for piece in pieces(rng)]
cases = {
    "4 tasks on 2 devices": ([3, 5, 2, 4], 2, pulp.LpSolutionOptimal),
    "32 tasks on 8 devices, limit of 5 s": (many, 8, pulp.LpSolutionIntegerFeasible),
}
for name, (tasks, devices, expected) in cases.items():
    problem = assign(tasks, devices)
    print(
        f"{name}: status {pulp.LpStatus[problem.status]}, "
        f"sol_status {pulp.LpSolution[problem.sol_status]}"
    )
    assert problem.status == pulp.LpStatusOptimal, "this has changed"
    assert problem.sol_status == expected, "this has changed"
    assert tasks is not many or problem.objective.value() > 10_000.5, "this has changed"
PYTHON

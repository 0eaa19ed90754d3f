#!/bin/sh
# OR-Tools 9.15.6755, CP-SAT: a task of length 0 in the middle of another breaks add_no_overlap, and
# keeps add_cumulative with demands of 1 and a capacity of 1, which stands for the same machine.
#
# A task graph often has such tasks, as its entry or as a barrier. In add_no_overlap, a task of
# length 0 keeps its point in time, which must not be strictly inside another task. In
# add_cumulative it takes nothing. So the optimum of a model can change when one constraint replaces
# the other.
#
# Output seen (Python 3.11, x86-64):
#   task of length 0 at the start of another: no overlap OPTIMAL, cumulative OPTIMAL
#   task of length 0 in the middle of another: no overlap INFEASIBLE, cumulative OPTIMAL
#   task of length 0 at the end of another: no overlap OPTIMAL, cumulative OPTIMAL
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ortools==9.15.6755
"$folder/venv/bin/python" - <<'PYTHON'
from ortools.sat.python import cp_model


def status(constraint: str, start: int) -> str:
    """Return the status of a task of 10 from time 0 on, beside one of length 0 at a start."""
    model = cp_model.CpModel()
    tasks = [
        model.new_fixed_size_interval_var(0, 10, "long"),
        model.new_fixed_size_interval_var(start, 0, "empty"),
    ]
    if constraint == "no overlap":
        model.add_no_overlap(tasks)
    else:
        model.add_cumulative(tasks, [1, 1], 1)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return solver.status_name(solver.solve(model))


for place, start in (("at the start", 0), ("in the middle", 5), ("at the end", 10)):
    found = {name: status(name, start) for name in ("no overlap", "cumulative")}
    print(f"task of length 0 {place} of another: "
          + ", ".join(f"{name} {each}" for name, each in found.items()))
    expected = "INFEASIBLE" if start == 5 else "OPTIMAL"
    assert found == {"no overlap": expected, "cumulative": "OPTIMAL"}, "this has changed"
PYTHON

#!/bin/sh
# OR-Tools CP-SAT 9.15.6755: OPTIMAL for an answer six times the optimum.
#
# Four jobs of 1, 2, 3 and 4 microseconds go to two machines; the longer machine should be as short
# as possible. The optimum is 5 microseconds. The times are whole numbers of microseconds in the
# constraints, and the objective is their value in seconds: 1e-6 times the makespan. CP-SAT answers
# OPTIMAL with any feasible value, because it stops at an absolute gap of 1e-4 in the objective as it
# is written, before its own scaling to integers. With absolute_gap_limit = 0 the same model gives 5.
#
# Output seen (Python 3.11, x86-64):
#   seconds: OPTIMAL, 30 microseconds
#   seconds, absolute_gap_limit = 0: OPTIMAL, 5 microseconds
#   microseconds: OPTIMAL, 5 microseconds
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ortools==9.15.6755
"$folder/venv/bin/python" - <<'PYTHON'
from ortools.sat.python import cp_model

TIMES = (1, 2, 3, 4)


def answer(unit: float, gap: float | None) -> tuple[str, int]:
    model = cp_model.CpModel()
    longest = model.new_int_var(0, 30, "makespan")
    first = [model.new_bool_var("") for _ in TIMES]
    model.add(sum(t * x for t, x in zip(TIMES, first)) <= longest)
    model.add(sum(t * ~x for t, x in zip(TIMES, first)) <= longest)
    model.minimize(unit * longest)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if gap is not None:
        solver.parameters.absolute_gap_limit = gap
    status = solver.status_name(solver.solve(model))
    return status, solver.value(longest)


seen = []
for text, unit, gap in (
    ("seconds", 1e-6, None),
    ("seconds, absolute_gap_limit = 0", 1e-6, 0.0),
    ("microseconds", 1.0, None),
):
    status, longest = answer(unit, gap)
    seen.append((status, longest))
    print(f"{text}: {status}, {longest} microseconds")
assert seen[0][0] == "OPTIMAL" and seen[0][1] > 5, "this has changed"
assert seen[1:] == [("OPTIMAL", 5)] * 2, "this has changed"
PYTHON

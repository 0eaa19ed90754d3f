#!/bin/sh
# SciPy 1.17.1, milp (HiGHS): a problem that is unbounded has the status 3, "unbounded", without
# whole-number variables, and the status 4, "other", as soon as it has one.
#
# The documentation of milp lists 3 for an unbounded problem. Code that asks for it, for example to
# report a capacity that was forgotten, does not see it in any mixed-integer problem. Below, x has
# no upper bound and every x is feasible, so nothing is infeasible about it.
#
# Output seen (Python 3.11, x86-64):
#   largest x, continuous: status 3
#   largest x, whole number: status 4
#   largest x, continuous, beside a whole number y that is nowhere used: status 4
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
from scipy.optimize import milp

for what, costs, integrality, expected in (
    ("continuous", [-1], [0], 3),
    ("whole number", [-1], [1], 4),
    ("continuous, beside a whole number y that is nowhere used", [-1, 0], [0, 1], 4),
):
    status = milp(costs, integrality=integrality).status
    print(f"largest x, {what}: status {status}")
    assert status == expected, "this has changed"
PYTHON

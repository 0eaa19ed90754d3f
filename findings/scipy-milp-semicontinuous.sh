#!/bin/sh
# SciPy 1.17.1, milp (HiGHS): a semi-continuous variable, which is 0 or between bounds, ends with a
# "Solve error" and without a solution where its best value is above 100,000.
#
# A bandwidth in kbit/s, or a memory in MB, is soon above that. HiGHS replaces an upper bound above
# 1e5 by 1e5, and gives up if the solution then lies on it; status and message do not say so. With
# an explicit 0-1 variable, the same model is solved.
#
# Output seen (Python 3.11, x86-64), the largest x that is 0 or between 2 and a bound:
#   bound 100,000: semi-continuous: x = 100,000; with a 0-1 variable: x = 100,000
#   bound 200,000: semi-continuous: status 4, Solve error; with a 0-1 variable: x = 200,000
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
from scipy.optimize import Bounds, LinearConstraint, milp


def semi_continuous(bound: float) -> str:
    return text(milp([-1], integrality=[2], bounds=Bounds(2, bound)))


def with_a_switch(bound: float) -> str:
    """Return the same with 2 y <= x <= bound y, where y is 0 or 1."""
    rows = LinearConstraint([[1, -2], [1, -bound]], [0, -float("inf")], [float("inf"), 0])
    return text(
        milp([-1, 0], integrality=[0, 1], bounds=Bounds([0, 0], [bound, 1]), constraints=rows)
    )


def text(found) -> str:
    if found.x is not None:
        return f"x = {found.x[0]:,.0f}"
    return f"status {found.status}, {'Solve error' if 'Solve error' in found.message else ''}"


for bound in (100_000, 200_000):
    one, other = semi_continuous(bound), with_a_switch(bound)
    print(f"bound {bound:,}: semi-continuous: {one}; with a 0-1 variable: {other}")
    expected = f"x = {bound:,}" if bound == 100_000 else "status 4, Solve error"
    assert (one, other) == (expected, f"x = {bound:,}"), "this has changed"
PYTHON

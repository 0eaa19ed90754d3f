#!/bin/sh
# highspy 1.16.0 (HiGHS): the status of a mixed-integer problem is "Optimal" while its own mip_gap
# is 16 %, if the times in it are some hundred nanoseconds, stated in seconds.
#
# Constraints count as met, and gaps as closed, within absolute amounts around 1e-6, however small
# the numbers of the model are. The search then stops early, and the status does not say so. A model
# of latencies has to be stated in units that make its objective about 1 or more.
#
# Twelve tasks of 10 to 98 units are divided among three devices such that the largest load is as
# small as possible. The largest load is recomputed from the solution.
#
# Output seen (Python 3.11, x86-64):
#   unit 1: Optimal, mip_gap 0 %, largest load 268
#   unit 1e-06: Optimal, mip_gap 0 %, largest load 268
#   unit 1e-08: Optimal, mip_gap 16 %, largest load 319
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q highspy==1.16.0 numpy==2.4.0
"$folder/venv/bin/python" - <<'PYTHON'
import highspy

TASKS = [54, 57, 74, 77, 77, 19, 93, 31, 46, 97, 80, 98]
DEVICES = range(3)


def solve(unit):
    """Return the status, the gap in percent, and the largest load in units."""
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    places = [[model.addBinary() for _ in DEVICES] for _ in TASKS]
    largest = model.addVariable(lb=0)
    for place in places:
        model.addConstr(sum(place) == 1)
    for device in DEVICES:
        load = sum(task * unit * place[device] for task, place in zip(TASKS, places))
        model.addConstr(load <= largest)
    model.minimize(1.0 * largest)
    values = model.getSolution().col_value
    loads = [
        sum(task for i, task in enumerate(TASKS) if values[3 * i + device] > 0.5)
        for device in DEVICES
    ]
    status = model.modelStatusToString(model.getModelStatus())
    return status, round(100 * model.getInfo().mip_gap), max(loads)


for unit in (1, 1e-6, 1e-8):
    status, gap, load = solve(unit)
    print(f"unit {unit}: {status}, mip_gap {gap} %, largest load {load}")
    assert status == "Optimal", "this has changed"
    assert (gap > 10 and load > 268) if unit == 1e-8 else (gap == 0 and load == 268), (
        "this has changed"
    )
PYTHON

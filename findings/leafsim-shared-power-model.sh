#!/bin/sh
# leafsim 0.4.2 (LEAF): a power model that two nodes share measures the node made last, for both. A
# node under full load then takes the power of an idle one, and nothing is reported.
#
# One model for all machines of a type is natural, as its arguments are those of the type. But each
# Node writes itself into the model that it is given, and PowerModelNode.measure() asks the node that
# is there. Links and their models do the same. Each node and each link needs a model of its own.
#
# Output seen (Python 3.11), 10 W when idle and 100 W at full load, a busy, b idle:
#   one model for each: a 100 W, b 10 W
#   one model for both: a 10 W, b 10 W
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --no-deps leafsim==0.4.2 networkx==3.6.1 simpy==4.1.2
"$folder/venv/bin/python" - <<'PYTHON'
from leaf.application import Task
from leaf.infrastructure import Node
from leaf.power import PowerModelNode


def model():
    """Return the power model of the machines."""
    return PowerModelNode(max_power=100, static_power=10)


shared = model()
expected = {"each": (100, 10), "both": (10, 10)}
for whose, models in (("each", (model(), model())), ("both", (shared, shared))):
    busy, idle = (Node(name, cu=4, power_model=of) for name, of in zip("ab", models))
    Task(cu=4).allocate(busy)
    measured = tuple(round(float(node.measure_power())) for node in (busy, idle))
    print(f"one model for {whose}: a {measured[0]} W, b {measured[1]} W")
    assert measured == expected[whose], "this has changed"
PYTHON

"""Rules that leave no placement after a loss: `plan` and `size` name them."""

import pytest

from streamplace import Cluster, Constraints, Device, Operator, Problem, StreamGraph
from streamplace.capacity.plan.plan import plan
from streamplace.capacity.size import size
from streamplace.errors import InfeasibleError
from streamplace.workflows.loss_conflict import loss_conflict

APART = Constraints(exlocate=[["a", "b", "c"]])
GRAPH = StreamGraph([Operator(name, 1e6, 0.0) for name in "abc"], source_rate=10.0)
UNEQUAL = Cluster([Device(f"d{i}", 1000.0 + i) for i in range(3)])


def test_three_devices_for_three_operators_that_must_be_apart() -> None:
    found = loss_conflict(Problem(GRAPH, UNEQUAL, constraints=APART))
    assert found is not None
    assert (found[0], str(found[1])) == ("d0", "no placement satisfies constraints.exlocate[0]")
    assert loss_conflict(Problem(GRAPH, Cluster.equal(4), constraints=APART)) is None
    assert loss_conflict(Problem(GRAPH, UNEQUAL)) is None


@pytest.mark.parametrize("cluster", [UNEQUAL, Cluster.equal(3)], ids=["unequal", "equal"])
def test_a_plan_names_the_rules(cluster: Cluster) -> None:
    found = plan(GRAPH, cluster, constraints=APART, survive=1, most=3, evaluations=500)
    assert found.fewest_devices is None
    lines = [line.text.format(*line.names) for line in found._view().body if hasattr(line, "text")]
    assert "after the loss of d0, no placement satisfies constraints.exlocate[0]" in lines
    conflict = found.to_dict()["conflict"]
    assert conflict == {"rules": ["constraints.exlocate[0]"], "is_minimal": True}


def test_a_size_names_the_rules() -> None:
    with pytest.raises(InfeasibleError, match="after the loss of 'd0', no placement satisfies con"):
        size(GRAPH, Cluster.equal(3), constraints=APART, survive=1, evaluations=500)

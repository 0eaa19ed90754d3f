"""Plans with devices that cost nothing."""

from streamplace import Cluster, Constraints, Device
from streamplace.capacity.plan.plan import plan
from tests.support.device_sets import DEVICES, GRAPH, RACKS
from tests.support.graphs import chain_graph


def test_devices_that_cost_nothing_are_used_only_where_they_help() -> None:
    free = (Device("old1", 1000.0, price=0.0), Device("old2", 1000.0, price=0.0))
    found = plan(GRAPH, Cluster([*DEVICES, *free], RACKS.network), evaluations=2000)
    assert found.cheapest is not None
    assert found.cheapest.price <= 1.0
    only_free = plan(chain_graph(5e5), Cluster([*DEVICES, *free], RACKS.network), evaluations=2000)
    assert only_free.cheapest is not None
    assert only_free.cheapest.price == only_free.cheapest.gap == 0.0
    assert len(only_free.cheapest.devices) == 1


def test_of_devices_that_all_cost_nothing_the_fewest_are_chosen() -> None:
    devices = [Device("d0", 1000.0, price=0.0), Device("d1", 3000.0, price=0.0)]
    found = plan(GRAPH, Cluster(devices), evaluations=2000)
    assert found.cheapest is not None
    assert found.cheapest.devices == ("d1",)
    assert found.cheapest.price == found.cheapest.bound == 0.0
    assert [row.price for row in found.rows] == [0.0]


def test_devices_that_cost_nothing_are_left_out_beside_one_that_is_needed() -> None:
    free = [Device(f"free{i}", 1000.0, price=0.0) for i in range(2)]
    cluster = Cluster([Device("paid", 3000.0, price=1.0), *free])
    rules = Constraints(pins=dict.fromkeys(GRAPH.names, "paid"))
    found = plan(GRAPH, cluster, constraints=rules, evaluations=500)
    assert found.cheapest is not None
    assert found.cheapest.devices == ("paid",)

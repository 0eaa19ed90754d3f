"""Lines for the configuration of TaskManagers."""

import yaml

from streamplace.integrations.flink.groups import COUNTED, UNLIMITED
from streamplace.integrations.flink.task_managers import write
from streamplace.problem.cluster import Cluster
from tests.support.chain_placement import chain_placement


def test_one_document_per_device() -> None:
    instances = {f"a[{i}]": "a" for i in range(3)}
    two = Cluster.parse("2x1000")
    text = write(chain_placement(["s", *instances], [1, 1, 1, 0], instances, two))
    first, second = yaml.safe_load_all(text)
    assert second == {
        "external-resources": "dev_d1;parts_0_d0;parts_0_d1;parts_1_d0;parts_1_d1",
        "external-resource.dev_d1.amount": 1000,
        "external-resource.parts_0_d0.amount": UNLIMITED,
        "external-resource.parts_0_d1.amount": COUNTED,
        "external-resource.parts_1_d0.amount": UNLIMITED,
        "external-resource.parts_1_d1.amount": COUNTED,
    }
    assert first["external-resource.parts_0_d0.amount"] == COUNTED
    assert '--- # "d1"\n' in text
    assert text == write(
        chain_placement(["s", "a[0]", "a[1]"], [0, 0, 1], {"a[0]": "a", "a[1]": "a"}, two)
    )
    assert "adaptive scheduler ignores labels" in text


def test_a_single_device_divides_nothing() -> None:
    text = write(chain_placement(["s"], [0], {}, Cluster.parse("1x1000")))
    assert yaml.safe_load(text)["external-resources"] == "dev_d0"

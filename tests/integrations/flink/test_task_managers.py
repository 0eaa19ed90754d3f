"""Lines for the configuration of TaskManagers."""

import yaml

from streamplace.integrations.flink.task_managers import write
from tests.support.chain_placement import chain_placement


def test_one_document_per_device() -> None:
    instances = {f"a[{i}]": "a" for i in range(3)}
    placement = chain_placement(["s", *instances], [3, 3, 3, 1], instances)
    text = write(placement)
    assert [*yaml.safe_load_all(text)] == [
        {
            "external-resources": "dev_d1;parts_a",
            "external-resource.dev_d1.amount": 1000,
            "external-resource.parts_a.amount": 1,
        },
        {
            "external-resources": "dev_d3;parts_a",
            "external-resource.dev_d3.amount": 1000,
            "external-resource.parts_a.amount": 2,
        },
    ]
    assert '--- # "d1"\n' in text
    assert "adaptive scheduler ignores labels" in text


def test_equal_devices_have_labels_too() -> None:
    assert "dev_d0" in write(chain_placement(["s"], [0], {}))

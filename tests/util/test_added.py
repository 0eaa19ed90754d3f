"""Fields added after version 0.2: reprs and files without them stay as they were."""

from dataclasses import dataclass

import streamplace as sp
from streamplace.display.mixins import StableRepr
from streamplace.files import clusters
from streamplace.util.added import added_field, distinguishing_fields


@dataclass(repr=False)
class Machine(StableRepr):
    name: str
    cores: int = 1
    price: float = added_field(default=0.0)


def test_an_added_field_is_shown_only_if_it_differs_from_its_default() -> None:
    assert [field.name for field in distinguishing_fields(Machine("a"))] == ["name", "cores"]
    assert [field.name for field in distinguishing_fields(Machine("a", price=2.0))][-1] == "price"
    assert repr(Machine("a")) == "Machine(name='a', cores=1)"
    assert repr(Machine("a", price=2.0)) == "Machine(name='a', cores=1, price=2.0)"
    assert clusters._fields_of(Machine("a")) == {"name": "a", "cores": 1}


def test_reprs_of_clusters_are_those_of_version_0_2() -> None:
    """Checkpoints store a hash of them, so they must not change."""
    network = sp.Network("nic", overrides=(sp.LinkOverride("a", None, latency_s=0.5),))
    assert repr(network) == (
        "Network(kind='nic', bandwidth_mbps=1000.0, latency_s=0.001, overhead_s=0.0, gap_s=0.0, "
        "overrides=(LinkOverride(source='a', target=None, bandwidth_mbps=None, latency_s=0.5, "
        "overhead_s=None, gap_s=None),))"
    )
    assert repr(sp.Device("a", 5.0)) == (
        "Device(name='a', mips=5.0, cores=1, memory_bytes=None, labels=())"
    )

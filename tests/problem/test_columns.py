"""Numbers added to operators after version 0.2: graphs without them keep their hash."""

from dataclasses import dataclass

import numpy as np
import pytest

import streamplace as sp
from streamplace.display.mixins import StableRepr
from streamplace.files import clusters
from streamplace.problem import graph, graph_columns, rows
from streamplace.problem.columns import OPERATOR_NUMBERS, NumberColumn, graph_hash
from streamplace.util.added import added_field, distinguishing_fields

ADDED = NumberColumn("threads", default=1.0, added=True)
HEADER: list[object] = [["a", "b"], []]
ALWAYS = (np.arange(3.0),)
BEFORE = graph_hash(HEADER, ALWAYS, {})


def test_an_added_column_enters_the_hash_only_if_it_differs_from_its_default() -> None:
    assert graph_hash(HEADER, ALWAYS, {ADDED: np.ones(2)}) == BEFORE
    assert graph_hash(HEADER, ALWAYS, {ADDED: np.array([1.0, 2.0])}) != BEFORE


def test_the_hash_distinguishes_columns_by_name() -> None:
    other = NumberColumn("price", default=1.0, added=True)
    numbers = np.array([1.0, 2.0])
    assert graph_hash(HEADER, ALWAYS, {ADDED: numbers}) != graph_hash(
        HEADER, ALWAYS, {other: numbers}
    )


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


@dataclass(frozen=True, slots=True, repr=False)
class Threaded(sp.Operator):
    threads: float = 1.0


def test_an_added_number_does_not_change_the_hash_of_graphs_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain_rows, ends = [("a", 1, 2), ("b", 3, 4)], [("a", "b")]
    before = sp.StreamGraph(plain_rows, ends).sha256
    for module in (graph, graph_columns, rows):
        monkeypatch.setattr(module, "OPERATOR_NUMBERS", (*OPERATOR_NUMBERS, ADDED))
    plain = sp.StreamGraph([Threaded(*row) for row in plain_rows], ends)
    assert plain.sha256 == before
    threaded = sp.StreamGraph([Threaded("a", 1, 2, threads=4.0), Threaded("b", 3, 4)], ends)
    assert threaded.sha256 != before
    columns = sp.StreamGraph.from_columns(["a", "b"], [1, 3], [2, 4], [[0, 1]])
    assert columns.sha256 == before
    assert threaded.with_numbers(instructions=[1, 3])[0].sha256 == threaded.sha256

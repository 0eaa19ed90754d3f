"""Exports for IBM Streams."""

import json
import re

import pytest
from hypothesis import given

from streamplace.errors import ProblemError
from streamplace.formats.documents import export_text
from streamplace.formats.registry import format_named
from streamplace.problem.instances import operator_devices
from streamplace.problem.placement import Placement
from tests.support.chain_placement import chain_placement
from tests.support.instance_placements import (
    instance_placements,
    pe_partition,
    word_count_placement,
)

CLAUSE = re.compile(r'^// (".*")\nconfig placement : (.*);$', re.MULTILINE)


def test_spl_requires_whole_operators() -> None:
    with pytest.raises(ProblemError, match=r"'count'.*--whole-operators"):
        export_text(word_count_placement(whole=False), "ibm-spl")


@given(instance_placements(whole=True))
def test_export_to_ibm_spl(placement: Placement) -> None:
    """Two operators share a partition if and only if they share a device."""
    text = export_text(placement, "ibm-spl")
    clauses = {json.loads(name): rules.split(", ") for name, rules in CLAUSE.findall(text)}
    device_of = operator_devices(placement)
    assert [*clauses] == [*device_of]
    pe_of = {name: rules[0] for name, rules in clauses.items()}
    assert pe_partition(pe_of) == pe_partition(device_of)
    marked = [pe_of[name] for name, rules in clauses.items() if len(rules) == 3]
    assert sorted(marked) == (sorted(set(pe_of.values())) if len(set(marked)) > 1 else [])
    pools = dict(re.findall(r"^  (pe\d+) = \[(.*)\][,;]$", text, re.MULTILINE))
    for name, rules in clauses.items():
        assert json.loads(pools[rules[-1][len("host(") : -1]]) == device_of[name]


@given(instance_placements(whole=False))
def test_export_to_ibm_overlay(placement: Placement) -> None:
    (overlay,) = json.loads(export_text(placement, "ibm-overlay"))["jobConfigOverlays"]
    assert overlay["deploymentConfig"] == {
        "fusionScheme": "manual",
        "fusionTargetPeCount": len(placement.pes),
    }


def test_an_overlay_has_no_operators() -> None:
    placement = chain_placement(["s", "t"], [0, 1], {})
    assert len(format_named("ibm-overlay").lost(placement)) == 1
    assert json.loads(export_text(placement, "ibm-overlay"))  # which has no comments

"""Files for CAPSys."""

import pytest
from hypothesis import given

from streamplace.errors import ProblemError
from streamplace.formats.documents import export_text
from streamplace.problem.placement import Placement
from tests.support.instance_placements import (
    instance_placements,
    pe_partition,
    placement_without_streams,
    word_count_placement,
)


@given(instance_placements(whole=False))
def test_export_to_capsys(placement: Placement) -> None:
    """One line per subtask; CAPSys looks for the line's task inside the subtasks' names."""
    try:
        lines = export_text(placement, "capsys").splitlines()
    except ProblemError as error:
        assert "rename" in str(error)  # noqa: PT017 - it may be rejected
        return
    group_of = dict(line.split("; ") for line in lines)
    assert len(group_of) == len(lines)
    assert pe_partition(
        {str(v): group_of[task] for v, task in enumerate(group_of)}
    ) == pe_partition({str(v): int(d) for v, d in enumerate(placement.devices)})
    for task in group_of:
        assert [other for other in group_of if task in other] == [task]


def test_capsys_distinguishes_subtasks() -> None:
    text = export_text(word_count_placement(whole=False), "capsys")
    assert "count (1/2); d2\ncount (2/2); d1\n" in text


@pytest.mark.parametrize("names", [("Map", "Flat Map"), ("a", "a (1/1) b"), ("a; b",), ("a\nb",)])
def test_capsys_rejects_ambiguous_names(names: tuple[str, ...]) -> None:
    with pytest.raises(ProblemError):
        export_text(placement_without_streams(*names), "capsys")


def test_capsys_needs_the_names_of_subtasks() -> None:
    """Plans of running jobs of Flink SQL have descriptions, execution plans have names."""
    for name in ("Calc[4]", "Source: bid[13]", "sink4[24]: Writer"):
        assert export_text(placement_without_streams(name), "capsys").startswith(f"{name} (1/1); ")
    with pytest.raises(
        ProblemError, match=r"^'\[4\]:Calc\(select=\[a\]\) .* describes an operator"
    ):
        export_text(placement_without_streams("[4]:Calc(select=[a])"), "capsys")

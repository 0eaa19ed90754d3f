"""The picture of the idea on the first page."""

from pathlib import Path

import streamplace as sp
from docs.idea import draw, placement_of_starter


def test_utilisations_are_those_of_the_score(tmp_path: Path) -> None:
    draw(tmp_path / "idea.svg")
    drawn = (tmp_path / "idea.svg").read_text()
    placement = placement_of_starter()
    score = sp.simulate(placement)
    assert score.relative_throughput == 1.0
    assert len({*placement.devices.tolist()}) == len(placement.problem.cluster.devices) == 3
    for device in score.devices:
        assert f"<!-- {device.utilisation:.0%} -->" in drawn
    for name in placement.problem.graph.names:
        assert f"<!-- {name} -->" in drawn

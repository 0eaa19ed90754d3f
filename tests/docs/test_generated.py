"""Generated parts of pages, compared with what they are derived from."""

from pathlib import Path
from types import ModuleType

import pytest

import streamplace as sp
from docs import claims, config_keys
from docs.idea import draw, placement_of_starter


@pytest.mark.parametrize(
    ("generator", "update"),
    [
        pytest.param(config_keys, config_keys.with_table, id="config_keys"),
        pytest.param(claims, claims.with_tables, id="claims", marks=pytest.mark.long),
    ],
)
def test_a_page_is_what_its_generator_writes(generator: ModuleType, update: object) -> None:
    page = generator.PAGE.read_text()
    assert callable(update)
    assert page == update(page), f"run `python -m {generator.__name__}`"


def test_the_picture_of_the_idea_has_the_utilisations_of_the_score(tmp_path: Path) -> None:
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

"""Tests for claims of papers and the verdicts on them."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from streamplace.papers.studies.claims import Claim, Claims, Verdict

PAPERS = ("ni2020", "orders", "giph", "doppler", "hsdag")


def rows(system: str, values: Any, **fields: Any) -> list[dict[str, Any]]:
    """Return a row for each seed and case, (R, N)."""
    return [
        {"system": system, "case": case, "repeat": seed, "loss": value, **fields}
        for seed, of_seed in enumerate(values)
        for case, value in enumerate(of_seed)
    ]


def claim(**fields: Any) -> Claim:
    """Return a claim that `ours` has lower losses than `theirs`, with other fields."""
    usual = {"place": "Table 1", "says": "better", "sample": ["case"], "value": "loss"}
    pair = {"of": {"system": "ours"}, "against": {"system": "theirs"}}
    return Claim(**{**usual, **pair, **fields})


THEIRS = rows("theirs", [np.linspace(1.0, 2.0, 20)])


@pytest.mark.parametrize(
    ("factor", "word"), [(0.9, "reproduced"), (1.1, "refuted"), (1.0, "undecided")]
)
def test_an_interval_on_one_side_decides(factor: float, word: str) -> None:
    found = Verdict.of(claim(), rows("ours", [factor * np.linspace(1.0, 2.0, 20)]) + THEIRS)
    assert found.word == word
    assert found.mean == pytest.approx(factor)
    assert (found.seeds, found.members) == (1, 20)


def test_seeds_that_differ_leave_a_claim_undecided() -> None:
    # Over the cases alone, the mean ratio of 0.97 is far from 1: all cases of a seed are alike.
    seeds = [factor * np.linspace(1.0, 2.0, 20) for factor in (0.85, 0.9, 1.16)]
    found = Verdict.of(claim(), rows("ours", seeds) + THEIRS)
    assert found.mean == pytest.approx(0.97)
    assert found.word == "undecided"


def test_few_seeds_on_one_member_have_no_interval() -> None:
    """The range of three seeds is no 95% interval."""
    for count, word in ((3, "undecided"), (5, "reproduced")):
        found = Verdict.of(claim(), rows("ours", [[0.9]] * count) + rows("theirs", [[1.0]]))
        assert (found.word, found.seeds, found.rival_seeds) == (word, count, 1)
        assert (found.low is None) == (count == 3)


def test_an_interval_that_ends_at_the_limit_excludes_nothing() -> None:
    ours = rows("ours", [1.0005 * np.linspace(1.0, 2.0, 20)])
    assert Verdict.of(claim(), ours + THEIRS).word == "undecided"


def test_the_least_of_fewer_members_is_that_of_subsets() -> None:
    """In two of three subsets of two, the least of three is the lowest one."""
    alone = {"against": {}, "measure": "least", "of_members": 2, "side": "above", "limit": 1.5}
    found = Verdict.of(claim(**alone), rows("ours", [[1.0, 2.0, 3.0]]))
    assert (found.mean, found.low, found.high, found.word) == (1.0, 1.0, 2.0, "undecided")


def test_the_other_side_of_the_limit_can_be_the_papers() -> None:
    better = rows("ours", [1.1 * np.linspace(1.0, 2.0, 20)])
    assert Verdict.of(claim(side="above"), better + THEIRS).word == "reproduced"
    assert Verdict.of(claim(side="above", limit=1.2), better + THEIRS).word == "refuted"
    assert Verdict.of(claim(side="near", limit=1.1, within=0.01), better + THEIRS).word == (
        "reproduced"
    )


def test_the_best_rival_counts_or_the_mean_of_all() -> None:
    ours = rows("ours", [np.full(20, 1.0)])
    theirs = rows("a", [np.full(20, 0.5)]) + rows("b", [np.full(20, 2.0)])
    against = {"system": ["a", "b"]}
    assert Verdict.of(claim(against=against), ours + theirs).mean == pytest.approx(2.0)
    mean = Verdict.of(claim(against=against, rival="mean"), ours + theirs)
    assert mean.mean == pytest.approx(0.8)


def test_wins_count_ties_as_the_measure_says() -> None:
    ours = rows("ours", [[1.0, 1.0, 2.0, 1.0]])
    theirs = rows("theirs", [[2.0, 1.0, 1.0, 2.0]])
    for measure, share in (("better", 0.5), ("not worse", 0.75), ("lead", 0.25)):
        assert Verdict.of(claim(measure=measure), ours + theirs).mean == pytest.approx(share)


def test_a_paper_can_have_its_own_tie() -> None:
    """Differences of up to the tie are none, and a rival as near to 1 has the full rate."""
    ours, theirs = (
        rows("ours", [[0.5009, 0.502, 1.0, 0.4]]),
        rows("theirs", [[0.5, 0.5, 0.9995, 0.5]]),
    )
    alike = {"higher": True, "tie": 0.001}
    for measure, share in (("better", 1 / 4), ("not worse", 3 / 4), ("lead", 0.0)):
        assert Verdict.of(claim(measure=measure, **alike), ours + theirs).mean == share
    below = Verdict.of(claim(measure="better", below_full=True, **alike), ours + theirs)
    assert below.mean == pytest.approx(1 / 3)
    assert below.members == 3


def test_higher_figures_can_be_the_better_ones() -> None:
    ours, theirs = rows("ours", [[2.0, 1.0, 1.0]]), rows("theirs", [[1.0, 1.0, 1.0]])
    found = Verdict.of(claim(measure="better", higher=True), ours + theirs)
    assert found.mean == pytest.approx(1 / 3)


def test_only_cases_below_the_full_figure_of_the_rival_count_if_asked_for() -> None:
    ours, theirs = rows("ours", [[1.0, 1.0, 0.9]]), rows("theirs", [[1.0, 0.5, 0.8]])
    found = Verdict.of(claim(measure="better", higher=True, below_full=True), ours + theirs)
    assert (found.mean, found.members) == (1.0, 2)


@pytest.mark.parametrize(
    ("measure", "figure"), [("value", 2.5), ("least", 1.0), ("q1", 1.0), ("median", 2.0)]
)
def test_figures_of_the_system_alone(measure: str, figure: float) -> None:
    found = Verdict.of(claim(measure=measure, against={}), rows("ours", [[4.0, 2.0, 1.0, 3.0]]))
    assert found.mean == pytest.approx(figure)


def test_a_share_above_a_figure() -> None:
    ours = rows("ours", [[0.98, 0.97, 0.5, 1.0]])
    assert Verdict.of(claim(measure="above", over=0.97, against={}), ours).mean == 0.5


def test_the_last_checkpoint_counts() -> None:
    ours = rows("ours", [[1.0, 1.0, 1.0]], episodes=9) + rows("ours", [[3.0] * 3], episodes=1)
    found = Verdict.of(claim(last="episodes"), ours + rows("theirs", [[2.0] * 3]))
    assert found.mean == pytest.approx(0.5)


def test_members_that_one_of_both_lacks_do_not_count() -> None:
    ours, theirs = rows("ours", [[1.0] * 4]), rows("theirs", [[2.0] * 3])
    assert Verdict.of(claim(), ours + theirs).members == 3


def test_a_claim_without_rows_is_open() -> None:
    assert Verdict.of(claim(), THEIRS).word == "open"
    assert Verdict.of(claim(of={}, against={}, open="not run"), THEIRS).word == "open"


def test_the_mean_of_several_systems_counts_against_rivals() -> None:
    ours = rows("a", [np.full(20, 1.0)]) + rows("b", [np.full(20, 3.0)])
    found = Verdict.of(claim(of={"system": ["a", "b"]}), ours + rows("theirs", [np.full(20, 4.0)]))
    assert found.mean == pytest.approx(0.5)


def test_only_rows_within_the_ranges_count() -> None:
    short = rows("ours", [np.full(20, 1.0)], path=100) + rows("theirs", [np.full(20, 2.0)], path=9)
    long = rows("ours", [np.full(20, 9.0)], path=101) + rows("theirs", [np.full(20, 1.0)], path=101)
    found = Verdict.of(claim(ranges={"path": (0, 100)}), short + long)
    assert found.mean == pytest.approx(0.5)


def test_a_claim_has_one_source() -> None:
    with pytest.raises(ValidationError, match="Table 1: either of or open decides a claim"):
        claim(open="not run")


def test_cells_have_the_interval_the_sample_and_what_would_have_shown() -> None:
    ours = rows("ours", [np.full(20, 0.9)])
    better, _, word = Verdict.of(claim(), ours + rows("theirs", [np.full(20, 1.0)])).cells(claim())
    assert (better, word) == ("0.900 (0.900 to 0.900)", "reproduced")
    single = Verdict.of(claim(), rows("ours", [[0.9]] * 3) + rows("theirs", [[1.0]]))
    assert single.cells(claim()) == ("0.900", "3 and 1, 1", "undecided: no interval")
    assert Verdict.of(claim(), []).cells(claim()) == ("", "", "not run")
    left_out = claim(of={}, against={}, open="no GPU")
    assert Verdict.of(left_out, []).cells(left_out) == ("", "", "no GPU")
    wide = rows("ours", [np.linspace(0.5, 1.5, 20)]) + rows("theirs", [np.full(20, 1.0)])
    assert Verdict.of(claim(), wide).cells(claim())[2].startswith("undecided; 0.")


def test_rows_are_named_by_place_and_number() -> None:
    places = ("Table 2", "Figure 3, left", "Table 2")
    of_places = [claim(place=place).model_dump() for place in places]
    about = {"paper": "A (2020)", "study": "a", "command": "c", "sample": ["case"]}
    claims = Claims.model_validate({**about, "value": "loss", "claim": of_places})
    assert list(claims.runnable) == ["table-2-1", "figure-3-left-1", "table-2-2"]


@pytest.mark.parametrize("paper", PAPERS)
def test_the_claims_of_each_paper_select_by_the_field_of_systems(paper: str) -> None:
    claims = Claims.of(paper)
    assert all(claims.system in one.of for one in claims.claim if one.of)
    assert all(one.place and one.says for one in claims.claim)

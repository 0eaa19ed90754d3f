"""The splits, q-errors and readers of the benchmark of recorded jobs."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from benchmarks.recorded_costs import capsys, machines
from benchmarks.recorded_jobs import (
    MODELS,
    RUNNING,
    Series,
    by_fitted,
    conttune,
    dspbench,
    errors,
    law,
    median_intervals,
    nearest,
    noise,
    one_instance,
    outcomes,
    phoebe,
    q_error,
    splits,
    table,
    task,
)

RATES = {1: 100.0, 2: 190.0, 4: 350.0, 8: 600.0, 16: 900.0}
SERIES = Series("source", "job", RATES)


def test_no_fit_sees_what_it_is_asked() -> None:
    found = list(splits(RATES))
    assert all(split.asked not in split.fitted for split in found)
    left_out = [split for split in found if split.kind == "left out"]
    assert [split.asked for split in left_out] == sorted(RATES)
    assert all({*split.fitted, split.asked} == set(RATES) for split in left_out)


def test_splits_upwards_ask_only_above_the_fitted_numbers() -> None:
    upwards = [split for split in splits(RATES) if split.kind != "left out"]
    pairs = {(split.fitted, split.asked): split.kind for split in upwards}
    assert pairs == {
        ((1, 2), 4): "up to 2 x",
        ((1, 2), 8): "above 2 x",
        ((1, 2), 16): "above 2 x",
        ((1, 2, 4), 8): "up to 2 x",
        ((1, 2, 4), 16): "above 2 x",
        ((1, 2, 4, 8), 16): "up to 2 x",
    }


def test_q_error_is_the_same_in_both_directions() -> None:
    assert q_error(50.0, 100.0) == q_error(200.0, 100.0) == 2.0
    assert q_error(100.0, 100.0) == 1.0


def test_predictions_do_not_depend_on_the_rate_that_is_held_out() -> None:
    before = outcomes([SERIES], None)
    for i, row in enumerate(before):
        changed = Series("source", "job", {**RATES, row.split.asked: 7.0})
        after = outcomes([changed], None)[i]
        assert after.split == row.split
        assert after.predicted == row.predicted
        assert after.error("law") != row.error("law")


def test_the_boosted_model_gets_no_row_of_what_is_held_out() -> None:
    other = Series("source", "other", {3: 30.0, 6: 50.0})
    for split in splits(RATES):
        posed = task([other, SERIES], 1, split, twins=True)
        own = [row for row in posed["x"] if row[2] == 1.0]
        assert np.allclose(np.exp([row[0] for row in own]), split.fitted)
        assert len(posed["y"]) == len(posed["x"]) == len(own) + len(other.rates)
        changed = Series("source", "job", {**RATES, split.asked: 7.0})
        assert task([other, changed], 1, split, twins=True) == posed
        alone = task([other, SERIES], 1, split, twins=False)
        assert alone["x"] == own
        assert alone["asked"] == posed["asked"]


def test_the_rules_are_what_they_are_called() -> None:
    known = {2: 20.0, 8: 40.0}
    assert one_instance(known, 6) == 60.0
    assert nearest(known, 6) == 30.0
    linear = {count: 10.0 * count for count in (1, 2, 5)}
    for model in (one_instance, nearest, law, MODELS["expected_rate"]):
        assert model(linear, 20) == pytest.approx(200.0)


def test_a_held_out_number_counts_once_with_the_median_over_its_fits() -> None:
    rows = [row for row in outcomes([SERIES], None) if row.split.kind == "above 2 x"]
    values = errors(rows, ["law", "nearest"])
    assert values.shape == (2, 2)  # 8 was asked once and 16 twice
    of_16 = [row.error("law") for row in rows if row.split.asked == 16]
    assert values[0, 1] == pytest.approx(np.median(of_16))
    assert values.min() >= 1.0


def test_intervals_hold_the_median_and_are_paired() -> None:
    values = np.random.default_rng(1).lognormal(size=(1, 40))
    low, high = median_intervals(values)[0]
    assert low < np.median(values) < high
    both = median_intervals(np.vstack([values, 3.0 * values]))
    assert both[1] == pytest.approx(3.0 * both[0])


def test_tables_begin_with_the_losses() -> None:
    noisy = {1: 100.0, 2: 170.0, 4: 400.0, 8: 800.0, 16: 1_600.0}
    rows = outcomes([SERIES, Series("linear", "job", noisy)], None)
    lines = list(table(rows))
    titles = [cell.strip() for cell in lines[0].split("|")]
    ratio, kind = titles.index("law / nearest"), titles.index("held out")
    assert {line.split("|")[kind].strip() for line in lines[2:]} == {row.split.kind for row in rows}
    ratios = [float(line.split("|")[ratio].split()[0]) for line in lines[2:]]
    assert len(ratios) == 6
    assert all(a >= b for a, b in pairwise(ratios))
    assert len(list(by_fitted(rows))) == 2 + 6  # two sources; two, three and more numbers


def test_noise_bends_the_law_downwards_and_more_numbers_mend_it() -> None:
    rows = [line.split("|")[2:-1] for line in list(noise())[2:]]
    low, middle = [float(row[0]) for row in rows], [float(row[2]) for row in rows]
    assert low == sorted(low)
    assert all(0.5 < value < 1.0 for value in middle)


def test_readers_of_other_repositories(tmp_path: Path) -> None:
    runs = tmp_path / "profiles2.csv"
    runs.write_text("scaleOut,avgThr,isBckPres\n2,10.5,0\n2,20.5,1\n5,45.0,1\n")
    assert phoebe(runs) == [Series("Phoebe", "cars", {2: 20.5, 5: 45.0})]
    rates = tmp_path / "throughput-full.csv"
    names = [*(f"n2_x{count}" for count in (1, 2, 3, 6)), "n4_x1", "n2_x1_x5"]
    lines = [f"{i},{name},storm_wordcount,{i + 1}.5,2" for i, name in enumerate(names)]
    rates.write_text("\n".join([",experiment,application,average,node", *lines]) + "\n")
    found = dspbench(rates)
    assert found == [
        Series("DSPBench, Storm", "storm_wordcountn2", {1: 1.5, 2: 2.5, 3: 3.5, 6: 4.5})
    ]


@pytest.mark.skipif(not RUNNING.is_dir(), reason="no data in ../shared")
def test_the_recorded_data() -> None:
    table_of, points = conttune(RUNNING)
    assert (len(table_of.rates), len(points.rates)) == (13, 14)
    assert table_of.rates[14] == pytest.approx(4_624_714.17)
    operators = capsys(RUNNING)
    assert len(operators) == 22
    window = operators[2]
    assert window.aws == pytest.approx(740.9745904302773 * 18 / 20_000)
    assert window.ratio == pytest.approx(1.286, abs=1e-3)
    assert not window.light
    heavy = next(line for line in machines(operators, None) if line.startswith("| heavy"))
    assert float(heavy.split("|")[3].split()[0]) > 1.3 > float(heavy.split("|")[4].split()[0])

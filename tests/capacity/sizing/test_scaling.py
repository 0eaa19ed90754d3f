"""Laws of scaling: fits to measured rates, and the next number of instances."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.capacity.sizing.scaling import expected_rate, fit_scaling, next_count
from streamplace.errors import UsageError
from streamplace.problem.parallelism import Scaling


@given(
    st.floats(1, 1e6),
    st.floats(0, 0.3),
    st.floats(0, 0.01),
    st.sets(st.integers(1, 60), min_size=3, max_size=8),
)
def test_a_law_is_found_again(rate: float, sigma: float, kappa: float, counts: set[int]) -> None:
    law = Scaling({"sigma": sigma, "kappa": kappa})
    found = fit_scaling({p: rate * p / law.cost(p) for p in counts})
    assert found.largest_error < 1e-6
    for p in counts:
        expected = rate * p / law.cost(p)
        assert found.rate * p / found.scaling.cost(p) == pytest.approx(expected, rel=1e-5)


def test_coefficients_are_never_negative() -> None:
    """A rate that grows faster than the number has no law; a straight line comes closest."""
    found = fit_scaling({1: 100.0, 2: 210.0, 4: 440.0})
    assert dict(found.scaling) == {}
    assert 0.02 < found.largest_error < 0.1


@given(st.integers(1, 40), st.floats(0.5, 1.0), st.floats(0.01, 1.0), st.booleans(), st.data())
def test_steps_end_at_a_number_that_carries_the_target(
    start: int, power: float, share: float, is_noisy: bool, data: st.DataObject
) -> None:
    """Whatever the rates, if they grow with the number; at the least one under a power law."""
    rates, highest = dict[int, float](), 0.0
    for p in range(1, 41):
        noise = data.draw(st.floats(0.9, 1.0)) if is_noisy else 1.0
        highest = max(highest * 1.0001, p**power * noise)
        rates[p] = highest
    target = share * rates[40]
    measured, path = {start: rates[start]}, [start]
    while (count := next_count(measured, target, 1, 40)) != path[-1]:
        path.append(count)
        measured[count] = rates[count]
        assert len(path) <= 41, "it oscillates"
    assert rates[count] >= target * (1 - 1e-12)
    assert all(rate < target for p, rate in measured.items() if p < count)
    if not is_noisy and len(measured) > 2:
        assert count == min(p for p, rate in rates.items() if rate >= target * (1 - 1e-12))


def test_one_measurement_is_extrapolated_in_proportion() -> None:
    assert next_count({2: 100.0}, 380.0, 1, 20) == 8
    assert next_count({2: 100.0}, 380.0, 1, 5) == 5
    assert next_count({8: 500.0}, 380.0, 7, 20) == 7


@pytest.mark.parametrize("measured", [{}, {0: 1.0}, {1: 0.0}, {1: float("inf")}])
def test_measurements_that_are_refused(measured: dict[int, float]) -> None:
    functions = fit_scaling, lambda m: next_count(m, 1.0, 1, 2), lambda m: expected_rate(m, 2)
    for function in functions:
        with pytest.raises(UsageError, match="measured: must"):
            function(measured)


def test_the_expected_rate_grows_by_a_power_and_meets_what_was_measured() -> None:
    measured = {2: 100.0, 8: 200.0, 32: 400.0}  # the square root
    assert {p: expected_rate(measured, p) for p in measured} == pytest.approx(measured)
    assert expected_rate(measured, 4) == pytest.approx(100.0 * 2**0.5)
    assert expected_rate(measured, 128) == pytest.approx(800.0)
    assert expected_rate(measured, 1) == pytest.approx(100.0 / 2**0.5)
    assert expected_rate({2: 100.0}, 6) == pytest.approx(300.0)
    assert expected_rate({2: 100.0, 4: 90.0}, 8) == pytest.approx(90.0)  # no power below 0
    assert expected_rate({2: 100.0, 4: 300.0}, 8) == pytest.approx(600.0)  # nor above 1
    with pytest.raises(UsageError, match="count must be at least 1"):
        expected_rate(measured, 0)


def test_the_next_count_is_within_its_limits() -> None:
    assert next_count({1: 100.0}, target=10.0, least=2, most=8) == 2
    assert next_count({4: 1.0}, target=10.0, least=1, most=8) == 8

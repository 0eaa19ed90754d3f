"""The fit of execution times: exact, without negative numbers, and with the least constants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from streamplace.papers.giph.sensor_fusion.scenario import (
    FITS,
    KINDS,
    MIPS_OF_A,
    TIMES_S,
    UNITS,
    fitted,
    instructions_of,
    mips_of,
)

Times = dict[str, dict[str, float]]


def residual(work: float, heavy: dict[str, float], light: dict[str, float]) -> float:
    """Return the least residual of T_j and S_j for one work of the lighter task."""
    squares = 0.0
    for kind in heavy:
        system = np.array([[1.0, 1.0], [work, 1.0]])
        squares += nnls(system, np.array([heavy[kind], light[kind]]))[1] ** 2
    return float(np.sqrt(squares))


@pytest.mark.parametrize("unit", UNITS)
def test_the_fit_has_no_residual_and_no_negative_number(unit: str) -> None:
    fit = FITS[unit]
    for task in UNITS[unit]:
        for kind in KINDS:
            assert fit.seconds(task, kind) == pytest.approx(TIMES_S[task][kind], rel=1e-12)
    assert min(*fit.work.values(), *fit.unit_s.values(), *fit.constant_s.values()) >= 0
    assert max(fit.work.values()) == 1


def test_the_fit_of_the_paper() -> None:
    gpu, cpu = FITS["GPU"], FITS["CPU"]
    assert gpu.work["lidar"] == pytest.approx(7 / 36)
    assert cpu.work["cav-fusion"] == pytest.approx(0.14)
    assert cpu.unit_s == pytest.approx({"A": 0.25, "B": 0.25, "C": 0.017 / 0.86})
    assert cpu.constant_s == pytest.approx({"A": 0, "B": 0, "C": 0.028 - 0.017 / 0.86}, abs=1e-15)


@st.composite
def tables(draw: st.DrawFn) -> Times:
    """Return times of two tasks on up to four kinds, of which the first is the heavier one."""
    kinds = draw(st.lists(st.sampled_from("ABCD"), min_size=1, max_size=4, unique=True))
    least = {kind: draw(st.integers(0, 50)) / 100 for kind in kinds}
    most = {kind: least[kind] + draw(st.integers(1, 50)) / 100 for kind in kinds}
    return {"heavy": most, "light": least}


@given(tables())
def test_of_all_exact_fits_it_has_the_smallest_constants(times: Times) -> None:
    fit = fitted("heavy", "light", times)
    work = fit.work["light"]
    assert residual(work, times["heavy"], times["light"]) == pytest.approx(0, abs=1e-9)
    assert residual(work + 0.01, times["heavy"], times["light"]) > 1e-5
    assert min(fit.constant_s.values()) == pytest.approx(0, abs=1e-12)
    for task, by_kind in times.items():
        for kind, seconds in by_kind.items():
            assert fit.seconds(task, kind) == pytest.approx(seconds, abs=1e-12)


def test_instructions_and_speeds_are_those_of_the_fit() -> None:
    assert mips_of("A") == MIPS_OF_A
    cpu = FITS["CPU"]
    for kind in KINDS:
        seconds = instructions_of("rsu-fusion") / (mips_of(kind) * 1e6)
        assert seconds == pytest.approx(cpu.unit_s[kind])

"""The file of measurements: what is written is read, and damaged files are refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import FormatError
from streamplace.learning.training.measuring.measurement_log import (
    MEASUREMENTS,
    Entry,
    MeasurementLog,
)

SHAPES = [(3, 2), (4, 3)]
SOURCE = {"problems": "0ff1ce", "measure": "m:C"}


def log_in(folder: Path) -> MeasurementLog:
    """Return the log of a folder."""
    return MeasurementLog(folder, SOURCE, SHAPES)


def plain(entries: list[Entry]) -> list[tuple[int, float, list[int]]]:
    """Return entries that can be compared."""
    return [(number, seconds, row.tolist()) for number, seconds, row in entries]


@st.composite
def measured(draw: st.DrawFn) -> list[Entry]:
    """Draw measurements of the two problems."""
    numbers = draw(st.lists(st.integers(0, 1), max_size=4))
    seconds = st.floats(min_value=1e-300, max_value=1e300)
    return [
        (
            i,
            draw(seconds),
            np.array([draw(st.integers(0, SHAPES[i][1] - 1)) for _ in range(SHAPES[i][0])], "i4"),
        )
        for i in numbers
    ]


@given(first=measured(), second=measured(), cut=st.integers(0, 200))
def test_what_is_written_is_read_except_for_a_torn_line(
    tmp_path_factory: pytest.TempPathFactory, first: list[Entry], second: list[Entry], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("log")
    log_in(folder).add(first)
    log_in(folder).add(second)
    assert plain(log_in(folder).entries) == plain([*first, *second])
    data = (folder / MEASUREMENTS).read_bytes()
    torn = data[: max(0, len(data) - cut)]
    (folder / MEASUREMENTS).write_bytes(torn)
    complete = max(0, torn.count(b"\n") - 1)
    assert plain(log_in(folder).entries) == plain([*first, *second][:complete])
    log_in(folder).add(second)
    assert plain(log_in(folder).entries) == plain([*[*first, *second][:complete], *second])


@pytest.mark.parametrize(
    "line",
    [
        '{"problem": 2, "seconds": 1.0, "devices": [0, 0, 0]}',
        '{"problem": 0, "seconds": 1.0, "devices": [0, 0]}',
        '{"problem": 0, "seconds": 1.0, "devices": [0, 0, 2]}',
        '{"problem": 0, "seconds": 1.0, "devices": [0, 0, true]}',
        '{"problem": 0, "seconds": 0, "devices": [0, 0, 0]}',
        '{"problem": 0, "seconds": -1.0, "devices": [0, 0, 0]}',
        '{"problem": 0, "seconds": NaN, "devices": [0, 0, 0]}',
        f'{{"problem": 0, "seconds": {10**400}, "devices": [0, 0, 0]}}',
        '{"problem": 0, "seconds": true, "devices": [0, 0, 0]}',
        '{"problem": false, "seconds": 1.0, "devices": [0, 0, 0]}',
        '{"problem": 0, "devices": [0, 0, 0]}',
        "[1]",
        "\x00",
    ],
)
def test_a_line_that_is_no_measurement_is_refused(line: str, tmp_path: Path) -> None:
    log_in(tmp_path).add([(0, 1.0, np.zeros(3, np.int32))])
    with (tmp_path / MEASUREMENTS).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(FormatError, match=f"{MEASUREMENTS}: line 3: is not a measurement of this"):
        log_in(tmp_path)


def test_a_log_whose_first_line_is_empty_is_refused(tmp_path: Path) -> None:
    """Nobody knows of which problems and by which measure its lines are."""
    line = '{"problem": 0, "seconds": 1.0, "devices": [0, 0, 0]}'
    (tmp_path / MEASUREMENTS).write_text(f"\n{line}\n")
    with pytest.raises(FormatError, match="of other problems or by another measure"):
        log_in(tmp_path)


def test_the_log_of_other_problems_is_refused(tmp_path: Path) -> None:
    log_in(tmp_path).add([])
    for name in SOURCE:
        with pytest.raises(FormatError, match="of other problems or by another measure"):
            MeasurementLog(tmp_path, SOURCE | {name: "other"}, SHAPES)

"""What measures running jobs, found by an entry point."""

import pytest

from streamplace.engines.flink.against.measured import compare_running
from streamplace.errors import UsageError
from streamplace.workflows import measurements
from streamplace.workflows.measurements import measure


def test_flink_is_measured() -> None:
    assert measure() is compare_running


def test_without_the_package_of_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "GROUP", "streamplace.nothing")
    with pytest.raises(UsageError, match="no package that measures running jobs is there"):
        measure()

"""The command `profile host`."""

import json
from pathlib import Path

import pytest

from streamplace import read_cluster
from streamplace.engines.host import commands
from streamplace.engines.host.speed import Speed
from tests.support.cli import Capture, printed, refused


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were asked for; nothing is measured."""
    asked: list[float] = []

    def measure(seconds: float) -> Speed:
        asked.append(seconds)
        return Speed(2431.4, 2380.0, 2470.0, 4, 80)

    monkeypatch.setattr(commands, "measure", measure)
    return asked


def test_a_cluster_of_this_machine(tmp_path: Path, capsys: Capture, measured: list[float]) -> None:
    out, err = printed(capsys, "profile", "host", "--seconds", 60)
    (tmp_path / "cluster.json").write_text(out)
    (only,) = read_cluster(tmp_path / "cluster.json").devices
    assert (only.mips, only.cores, measured) == (2431.0, 4, [60.0])
    assert only.memory_bytes is not None
    assert "4 cores of 2,431 MIPS, between 2,380 and 2,470 in 80 slices" in err
    assert "limits of a container are not read" in err
    assert "no network is stated" in err


def test_json_says_what_was_measured(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "cluster.json"
    found = json.loads(printed(capsys, "profile", "host", "--json", "-o", file)[0])
    assert found["mips"] == 2431.4
    assert read_cluster(file).devices[0].cores == found["cores"] == 4
    assert "--json requires -o FILE" in refused(capsys, "profile", "host", "--json")

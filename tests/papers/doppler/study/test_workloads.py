"""Workloads of the study of DOPPLER: their variants and files."""

from pathlib import Path

import pytest

from streamplace.papers.doppler.study.workloads import FILES, MESHES, SCARCE, Workload
from tests.support.cli import Capture, refused


def test_variants_of_workloads() -> None:
    few, meshes = (
        Workload("own", "ffnn", *numbers) for numbers in ((4, True, SCARCE), (8, False, MESHES))
    )
    plain = Workload("own", "ffnn", 4)
    assert "variant" not in plain.settings
    assert few.settings["variant"] == SCARCE
    kept = float(few.problem().graph.payload_bytes.sum())
    assert few.problem().cluster.devices[0].memory_bytes == pytest.approx(1.01 * kept / 4)
    speeds = meshes.problem().cluster.link_column("bandwidth_mbps").reshape(8, 8)
    assert speeds[0, 3] == speeds[4, 7] == 2 * speeds[0, 4] == 2 * speeds[7, 3]


def test_missing_released_files_are_named(tmp_path: Path, capsys: Capture) -> None:
    for name in list(FILES.values())[1:]:
        (tmp_path / name).write_text("1\n")
    line = refused(capsys, "study", "doppler", "--released", tmp_path, "-o", tmp_path / "s")
    assert f"has no {FILES['chain-mm', 4]}; --released needs" in line
    assert not (tmp_path / "s").exists()
    (tmp_path / FILES["chain-mm", 4]).write_text("1\n")
    line = refused(capsys, "study", "doppler", "--released", tmp_path, "-o", tmp_path / "s")
    assert "not a DOPPLER graph" in line

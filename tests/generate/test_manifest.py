"""The benchmarks of `datasets/benchmarks`, generated again byte for byte."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from streamplace import Recipe
from streamplace.cli.main import main
from tests.support.paths import ROOT

MANIFEST = ROOT / "datasets" / "benchmarks" / "manifest.json"
BENCHMARKS: list[dict[str, Any]] = json.loads(MANIFEST.read_text())


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda entry: str(entry["name"]))
def test_the_command_gives_the_bytes_of_the_manifest(
    benchmark: dict[str, Any], tmp_path: Path
) -> None:
    written = tmp_path / "graphs.jsonl"
    options = benchmark["command"].split()[2:]
    assert benchmark["command"].startswith("streamplace generate ")
    assert main(["generate", *options, "-o", str(written)]) == 0
    data = written.read_bytes()
    assert data.count(b"\n") == benchmark["graphs"]
    assert hashlib.sha256(data).hexdigest() == benchmark["sha256_uncompressed"]


def test_a_range_of_sizes_is_part_of_the_recipe() -> None:
    sizes = {len(Recipe("layered", 30, range(10, 13), 3).graph(n).names) for n in range(30)}
    assert sizes == {10, 11, 12}

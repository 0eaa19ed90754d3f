"""The command `generate`: the same seed gives the same dataset."""

import gzip
import json
from pathlib import Path

import pytest

from streamplace import Recipe
from streamplace.files import read_clusters, read_dataset, read_graph
from tests.support.cli import Capture, refused, succeeds

PRESETS = ["dream", "series-parallel", "layered"]


def generated(capsys: Capture, path: Path, *options: str) -> bytes:
    """Generate a dataset, and return the file's bytes."""
    succeeds(capsys, "generate", *options, "-o", path)
    return path.read_bytes()


@pytest.mark.parametrize("preset", PRESETS)
def test_the_number_of_processes_changes_nothing(
    preset: str, tmp_path: Path, capsys: Capture
) -> None:
    options = [preset, "--count", "70", "--seed", "5", "--jobs"]  # enough for several processes
    one = generated(capsys, tmp_path / "one.jsonl.gz", *options, "1")
    two = generated(capsys, tmp_path / "two.jsonl.gz", *options, "2")
    assert gzip.decompress(one) == gzip.decompress(two)
    assert one == two
    assert len(read_dataset(tmp_path / "one.jsonl.gz")) == 70


def test_a_longer_dataset_starts_with_the_shorter(tmp_path: Path, capsys: Capture) -> None:
    short = generated(capsys, tmp_path / "s.jsonl", "layered", "--count", "2")
    assert generated(capsys, tmp_path / "l.jsonl", "layered", "--count", "3").startswith(short)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("ending", [".json", ".npz", ".jsonl", ".jsonl.gz"])
def test_every_file_type_contains_the_same_graph(
    preset: str, ending: str, tmp_path: Path, capsys: Capture
) -> None:
    generated(capsys, tmp_path / "reference.jsonl", preset)
    generated(capsys, tmp_path / f"x{ending}", preset)
    assert read_graph(tmp_path / f"x{ending}") == read_graph(tmp_path / "reference.jsonl")


@pytest.mark.parametrize(("text", "smallest", "largest"), [("12", 12, 12), ("4-7", 4, 7)])
def test_sizes(text: str, smallest: int, largest: int, tmp_path: Path, capsys: Capture) -> None:
    options = ["layered", "--count", "30", "--operators", text]
    generated(capsys, tmp_path / "x.jsonl", *options)
    sizes = {len(graph.names) for graph in read_dataset(tmp_path / "x.jsonl")}
    assert (min(sizes), max(sizes)) == (smallest, largest)


def test_clusters_are_written_in_the_order_of_the_graphs(tmp_path: Path, capsys: Capture) -> None:
    files = tmp_path / "g.jsonl", tmp_path / "c.jsonl.gz"
    options = ["giph-code", "--count", "3", "--seed", "4", "-o", files[0], "--clusters", files[1]]
    out = succeeds(capsys, "generate", *options, "--json")
    assert json.loads(out)["clusters"] == str(files[1])
    recipe = Recipe("giph-code", 3, seed=4)
    assert read_dataset(files[0]) == [recipe.graph(number) for number in range(3)]
    assert read_clusters(files[1]) == [recipe.cluster(number) for number in range(3)]


@pytest.mark.parametrize(
    ("family", "name", "message"),
    [
        (
            "layered",
            "c.jsonl",
            "family 'layered' has no clusters; giph-paper, giph-code, sensor-fusion, ",
        ),
        ("giph-code", "c.json", "c.json: must end in .jsonl or .jsonl.gz"),
        ("giph-code", "x.jsonl", "-o and --clusters name the same file"),
    ],
)
def test_nothing_is_written_where_clusters_cannot_be(
    family: str, name: str, message: str, tmp_path: Path, capsys: Capture
) -> None:
    words = ["generate", family, "-o", tmp_path / "x.jsonl", "--clusters", tmp_path / name]
    assert message in refused(capsys, *words)
    assert not list(tmp_path.iterdir())

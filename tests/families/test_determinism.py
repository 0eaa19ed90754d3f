"""Hashes of generated graphs, equal on every machine, and the datasets that are shipped."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from streamplace import Recipe
from streamplace.cli.main import main
from streamplace.families import PRESETS
from streamplace.files.clusters import cluster_to
from tests.support.paths import ROOT

# SHA-256 over 40 graphs of seed 7; if one changes, existing benchmarks cannot be reproduced
GOLDEN = {
    "dream": "9531c843f884d2911afa962f31fdf8859dea6b3b76259f4ee3595b56a095c8b7",
    "series-parallel": "136f1ce9c6cdce25dad030350d90eb6aa70bbf63b6b1b227193f91478f544bde",
    "layered": "5ca231b63f78f7f92e481ec48602a2d62efa7cbe2085982f800be7688171ea15",
    "giph-paper": "638fe038e478aab0a607af2d5851ba74dd18942d0d071e961bd9a24d9eaaf3a1",
    "giph-code": "4c558ff137bb0fff402fcab8f1fb65bb5c2dab0107232d5e762c9443abd07421",
    "sensor-fusion": "8e3819532f977d7c3825418a3b02b385bd1f1400f74f76c8d5122422730f7f9f",
    "enas-cifar": "e2679194786bdb6b05dcbd35034853f920ddc77793046c020d17e4ea1d5f8464",
    "enas-ptb": "c8b34e79b45aba1a182b918ee6e9334e3d454b018754a58b121a17a246861872",
    "chain-mm": "d72617a29b98bb2a74330f65249c28489f7d0653884d7d35ff24b1c221c8775c",
    "ffnn": "6d2fd975d3cd1c79c6cf5706554346d170a947faf12388d6cd0bd2769bb967b5",
    "transformer-block": "ad211a44c5a3bbed06e74af898a05cbd4317cdcdb24e47bb0a53d2e213ea80f0",
    "transformer-layer": "4b1af268fe787520ab7bad010547b40089c75486eb369a3541f23191419a49fd",
    "contended": "f88c7748f686abc30b9545d9a4c4a487e7bbdbc962083852aa567bde4ba9244c",
    "nmt": "7805fefb28dbae30e2da29a9bcb6caa5f1b115a93a46a0c2abf4d457288ff3ea",
}
CLUSTERS = {
    "contended": "ef16a99f8cab469c111d631bada3cbfe422a99b96018d7a867e6c7604c8449a0",
    "giph-paper": "2d4d7cf56b57db66557fff3c0dbe952ebbecced988188fe38c25059b0f5601d4",
    "giph-code": "2ffa3f342af152628f51191834b3b275fdd62f5ecd07efed6012f64159da579a",
    "sensor-fusion": "126e0aa8b4411d62d92b11509520f449f738ff8d99e9a2c678ada4a1f737eb5a",
}


def count_of(preset: str) -> int:
    """Return the number of graphs in a dataset; sharded families have one."""
    return 1 if preset in ("chain-mm", "ffnn", "transformer-block", "transformer-layer") else 40


def digest(preset: str) -> str:
    """Return a hash of names, source rates, columns and streams of a dataset's graphs."""
    hashed = hashlib.sha256()
    recipe = Recipe(preset, count_of(preset), seed=7)
    for number in range(recipe.count):
        graph = recipe.graph(number)
        hashed.update(f"{graph.name} {graph.source_rate!r} {graph.sha256}\n".encode())
    return hashed.hexdigest()


@pytest.mark.parametrize("preset", PRESETS)
def test_the_graphs_of_a_seed_never_change(preset: str) -> None:
    assert digest(preset) == GOLDEN[preset]


@pytest.mark.parametrize("preset", CLUSTERS)
def test_the_clusters_of_a_seed_never_change(preset: str) -> None:
    recipe = Recipe(preset, 5, seed=7)
    text = json.dumps([cluster_to(recipe.cluster(number)) for number in range(5)])
    assert hashlib.sha256(text.encode()).hexdigest() == CLUSTERS[preset]


@pytest.mark.parametrize("preset", PRESETS)
def test_graphs_of_one_dataset_differ(preset: str) -> None:
    count = count_of(preset)
    assert len({Recipe(preset, count, seed=7).graph(n).sha256 for n in range(count)}) == count


MANIFEST = ROOT / "datasets" / "benchmarks" / "manifest.json"
BENCHMARKS: list[dict[str, Any]] = json.loads(MANIFEST.read_text())


@pytest.mark.long
@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda entry: str(entry["name"]))
def test_the_command_reproduces_the_bytes_of_the_manifest(
    benchmark: dict[str, Any], tmp_path: Path
) -> None:
    written = tmp_path / "graphs.jsonl"
    options = benchmark["command"].split()[2:]
    assert benchmark["command"].startswith("streamplace generate ")
    assert main(["generate", *options, "-o", str(written)]) == 0
    data = written.read_bytes()
    assert data.count(b"\n") == benchmark["graphs"]
    assert hashlib.sha256(data).hexdigest() == benchmark["sha256_uncompressed"]

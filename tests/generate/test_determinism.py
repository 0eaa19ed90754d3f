"""Hashes of generated graphs, equal on every machine."""

import hashlib

import pytest

from streamplace import Recipe
from streamplace.generate import PRESETS

# SHA-256 over 40 graphs of seed 7; if one changes, existing benchmarks cannot be reproduced
GOLDEN = {
    "dream": "9531c843f884d2911afa962f31fdf8859dea6b3b76259f4ee3595b56a095c8b7",
    "series-parallel": "136f1ce9c6cdce25dad030350d90eb6aa70bbf63b6b1b227193f91478f544bde",
    "layered": "5ca231b63f78f7f92e481ec48602a2d62efa7cbe2085982f800be7688171ea15",
}


def digest(preset: str, numbers: range) -> str:
    """Return a hash of names, source rates, columns and streams of a dataset's graphs."""
    hashed = hashlib.sha256()
    for number in numbers:
        graph = Recipe(preset, 40, seed=7).graph(number)
        hashed.update(f"{graph.name} {graph.source_rate!r} {graph.sha256}\n".encode())
    return hashed.hexdigest()


@pytest.mark.parametrize("preset", PRESETS)
def test_the_graphs_of_a_seed_never_change(preset: str) -> None:
    assert digest(preset, range(40)) == GOLDEN[preset]


@pytest.mark.parametrize("preset", PRESETS)
def test_graphs_of_one_dataset_differ(preset: str) -> None:
    assert len({Recipe(preset, 40, seed=7).graph(n).sha256 for n in range(40)}) == 40

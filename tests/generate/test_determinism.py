"""Same seed, same bytes: on any machine, so they are written down here."""

import hashlib
import io

import pytest

from streamplace import Recipe
from streamplace.files.columns import write_columns
from streamplace.generate import PRESETS

# sha256 over 40 graphs of seed 7; a change here changes every benchmark anybody has generated
GOLDEN = {
    "dream": "9d4a2ca67c0e478006026265a78434f2e63d4ef74dc398ed1a4eafcd333aa763",
    "series-parallel": "1fb82abe968e2d97b11776cf361b0a443ae05cf9eb37b25dd28836ac506c50ec",
    "layered": "0f7ee59f8f7f2dac7923eef3663c32daa4bbe772c7492fba2213b9b05f2a52f3",
}


def digest(preset: str, numbers: range) -> str:
    """Return the hash of graphs of one dataset."""
    written = io.BytesIO()
    for number in numbers:
        write_columns(Recipe(preset, 40, seed=7).graph(number), written)
    return hashlib.sha256(written.getvalue()).hexdigest()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_seed_gives_the_bytes_it_has_always_given(preset: str) -> None:
    assert digest(preset, range(40)) == GOLDEN[preset]


@pytest.mark.parametrize("preset", PRESETS)
def test_graphs_of_one_dataset_differ(preset: str) -> None:
    assert len({Recipe(preset, 40, seed=7).graph(n).sha256 for n in range(40)}) == 40

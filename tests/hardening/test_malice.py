"""Files that are meant to do harm: none of what is in them is executed."""

import os
import pickle
from contextlib import chdir
from pathlib import Path

import pytest

from benchmarks.hardening import loaders, malice
from benchmarks.hardening.forks import Forks
from benchmarks.hardening.trained import Trained
from benchmarks.hardening.traps import MARK, Payload, Trap, springs
from benchmarks.hardening.victims import Victim
from tests.hardening.trainings import check, forks, made
from tests.policy.jobs import SCRIPTING

__all__ = ["forks", "made"]
pytestmark = pytest.mark.filterwarnings(SCRIPTING)

SHARE = 0.02  # of the traps
HARMLESS = Payload("text", b"hello", bytes.decode)


def test_no_trap_springs(made: Trained, forks: Forks) -> None:
    rows = list(malice.run(made, forks, SHARE))
    for row in rows:
        check(row)
    assert len(rows) == 2


def test_nothing_in_the_source_could_execute_a_file() -> None:
    row = loaders.row()
    check(row)
    assert row.tried > 200


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import marshal as m",
        "import torch\ntorch.load(file)",
        "from torch import load",
        "import joblib\njoblib.load(file)",
        "import numpy as np\nnp.load(file)",
        "import numpy as np\nnp.load(file, allow_pickle=True)",
        "import numpy as np\nnp.load(file, allow_pickle=flag)",
        "import numpy as np\nnp.lib.npyio.NpzFile(file)",
        "read(file, allow_pickle=True)",
        "import yaml\nyaml.load(text)",
        "import yaml\nyaml.load(text, Loader=yaml.UnsafeLoader)",
        "eval(text)",
        "run = exec",
        "from importlib import import_module\nimport_module(name)",
        "import importlib\nimportlib.import_module(name)",
        "import ctypes\nctypes.CDLL(path)",
        "import subprocess",
        "import os\nos.system(text)",
    ],
)
def test_calls_that_execute_are_seen(source: str) -> None:
    assert list(loaders.calls_that_execute(source))


def test_other_calls_are_not() -> None:
    source = """
import ctypes, io, numpy as np, re, safetensors.torch, yaml
np.load(file, allow_pickle=False)
np.lib.npyio.NpzFile(file, allow_pickle=False)
re.compile(text)
network.eval()
safetensors.torch.load(data)
yaml.compose(text, Loader=yaml.SafeLoader)
ctypes.CDLL(None)
"""
    assert list(loaders.calls_that_execute(source)) == []


def test_every_trap_springs_where_it_is_read_carelessly(made: Trained, tmp_path: Path) -> None:
    folder = tmp_path / "traps"
    laid = malice.lay_out(folder, made)
    with chdir(folder):
        assert [one.name for one in laid if not springs(one)] == []
        assert not Path(MARK).exists()


def test_a_reader_that_unpickles_is_noticed(tmp_path: Path, forks: Forks) -> None:
    def careless(path: Path) -> None:
        pickle.loads(path.read_bytes())

    trap = Payload("pickle", pickle.dumps(Trap()), pickle.loads)
    with chdir(tmp_path):
        for folder in ("", "deep/down/"):
            row = malice.sprung(
                "x", [(trap, Victim("x", f"{folder}bad.json", careless))], [], forks
            )
            assert (row.wrong[malice.RAN], row.good) == (1, False)
        assert os.listdir() == []
        row = malice.sprung("x", [(HARMLESS, Victim("x", "bad.json", careless))], [], forks)
        assert (row.wrong[malice.TRACEBACK], row.good) == (1, False)
        assert not springs(HARMLESS)


def test_what_a_victim_does_not_even_read_is_noticed(tmp_path: Path, forks: Forks) -> None:
    """Refused for another reason: the arguments would be wrong, and the trap never looked at."""
    with chdir(tmp_path):
        other, right = (Victim("x", "bad.json", ("place", name)) for name in ("no", "bad.json"))
        row = malice.sprung("x", [(HARMLESS, other)], [], forks)
        assert (row.wrong[malice.UNREAD], row.good) == (1, False)
        assert malice.sprung("x", [(HARMLESS, right)], [], forks).good
        assert not malice.sprung("x", [(HARMLESS, right)], ["a trap"], forks).good

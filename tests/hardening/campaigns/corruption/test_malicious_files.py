"""Malicious files: their content is never executed."""

import os
import pickle
from contextlib import chdir
from pathlib import Path

import pytest

from benchmarks.hardening.campaigns.corruption import malicious_files, source_scan
from benchmarks.hardening.corpus.payloads import (
    CREATED_FOLDER,
    Payload,
    UnpickledFolder,
    is_harmful,
)
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.targets.entry_points import EntryPoint
from tests.support.hardening.row_checks import check

SHARE = 0.02  # of all payloads and readers
HARMLESS = Payload("text", b"hello", bytes.decode)


def test_no_payload_is_executed(tmp_path: Path, forks: Forks) -> None:
    rows = list(malicious_files.malicious_rows(tmp_path, forks, SHARE))
    for row in rows:
        check(row)
    assert len(rows) == 2


def test_nothing_in_the_source_could_execute_a_file() -> None:
    row = source_scan.source_row()
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
def test_calls_that_could_execute_code_are_reported(source: str) -> None:
    assert list(source_scan.calls_that_execute(source))


def test_safe_calls_are_not_reported() -> None:
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
    assert list(source_scan.calls_that_execute(source)) == []


def test_every_payload_harms_its_unsafe_reader(tmp_path: Path) -> None:
    folder = tmp_path / "payloads"
    payloads = malicious_files.write_files(folder)
    with chdir(folder):
        assert [one.name for one in payloads if not is_harmful(one)] == []
        assert not Path(CREATED_FOLDER).exists()


def test_a_reader_that_unpickles_is_noticed(tmp_path: Path, forks: Forks) -> None:
    def careless(path: Path) -> None:
        pickle.loads(path.read_bytes())

    payload = Payload("pickle", pickle.dumps(UnpickledFolder()), pickle.loads)
    with chdir(tmp_path):
        for folder in ("", "deep/down/"):
            row = malicious_files.payload_row(
                "x", [(payload, EntryPoint("x", f"{folder}bad.json", careless))], [], forks
            )
            assert (row.wrong[malicious_files.EXECUTED], row.good) == (1, False)
        assert os.listdir() == []
        row = malicious_files.payload_row(
            "x", [(HARMLESS, EntryPoint("x", "bad.json", careless))], [], forks
        )
        assert (row.wrong[malicious_files.TRACEBACK], row.good) == (1, False)
        assert not is_harmful(HARMLESS)


def test_an_unread_payload_is_noticed(tmp_path: Path, forks: Forks) -> None:
    """A command that is refused for its arguments never reads the payload."""
    with chdir(tmp_path):
        other, right = (EntryPoint("x", "bad.json", ("place", name)) for name in ("no", "bad.json"))
        row = malicious_files.payload_row("x", [(HARMLESS, other)], [], forks)
        assert (row.wrong[malicious_files.UNREAD], row.good) == (1, False)
        assert malicious_files.payload_row("x", [(HARMLESS, right)], [], forks).good
        assert not malicious_files.payload_row("x", [(HARMLESS, right)], ["a payload"], forks).good

"""No call in the source could execute the content of a file."""

import pytest

from tests.support.paths import ROOT
from tests.support.unsafe_calls import PERMITTED, calls_that_execute


def test_nothing_in_the_source_could_execute_a_file() -> None:
    paths = [path for name in ("sim", "streamplace") for path in (ROOT / name).rglob("*.py")]
    assert len(paths) > 200
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        permitted = {module for module, files in PERMITTED.items() if name in files}
        assert list(calls_that_execute(path.read_text(encoding="utf-8"), permitted)) == [], name


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
    assert list(calls_that_execute(source))


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
    assert list(calls_that_execute(source)) == []

"""Tests of the loading of numba by short commands."""

import subprocess
import sys

import pytest

CODE = """
import sys
from streamplace.cli.numba_loading import load_numba
load_numba()
assert "numba.np.arraymath" in sys.modules
assert "scipy.linalg" not in sys.modules
import numba, numpy as np
products = numba.njit(lambda a, b: (np.dot(a, b), np.convolve(a, b), np.linalg.norm(b)))
a, b = np.arange(4.0), np.array([3.0, 4.0, 0.0, 0.0])
dot, convolved, norm = products(a, b)
assert dot == a @ b and norm == 5.0
assert np.array_equal(convolved, np.convolve(a, b))
"""


@pytest.mark.long
def test_linear_algebra_still_compiles() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=300)


def test_compiling_is_announced_on_a_terminal_once() -> None:
    code = (
        "import sys\n"
        "sys.stderr.isatty = lambda: True\n"
        "from streamplace.cli import numba_loading\n"
        "numba_loading.NOTED_AFTER = -1.0\n"
        "numba_loading.load_numba()\n"
        "import numba\n"
        "for each in (lambda x: x + 1, lambda x: x + 2):\n"
        "    numba.njit(each)(1)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=300
    )
    assert run.stderr.count("compiling kernels for this machine") == 1


def test_time_between_two_compilations_does_not_count_as_compiling() -> None:
    code = (
        "import sys, time\n"
        "sys.stderr.isatty = lambda: True\n"
        "from streamplace.cli import numba_loading\n"
        "numba_loading.NOTED_AFTER = 1000.0\n"
        "numba_loading.load_numba()\n"
        "import numba\n"
        "numba.njit(lambda x: x + 1)(1)\n"
        "clock = time.monotonic\n"
        "time.monotonic = lambda: clock() + 2000.0\n"
        "numba.njit(lambda x: x + 2)(1)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=300
    )
    assert not run.stderr


def test_place_does_not_load_scipy_linalg() -> None:
    code = (
        "import sys\n"
        "from streamplace.cli.main import main\n"
        "assert main(['place', 'dataset:real/yahoo-advertising.json', '-q']) == 0\n"
        "assert 'numba.np.arraymath' in sys.modules\n"
        "assert 'scipy.linalg' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=300)

"""Signals that arrive before, during and after the work."""

import signal
import subprocess
import sys

import pytest

from tests.support.cli import ENVIRONMENT

WHILE_LOADING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from streamplace.cli.entry import script
class Loading:
    def find_spec(self, name, path, target=None):
        if name == "streamplace.cli.main":
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Loading())
script()
"""
AT_EXIT = """
import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from streamplace.cli.entry import script
sys.argv = ["streamplace", "--version"]
atexit.register(os.kill, os.getpid(), {number})
script()
"""
HEAD = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from streamplace.cli import entry, main
"""
DURING_WORK = (
    HEAD
    + """\
main.cli.main = lambda *arguments, **options: os.kill(os.getpid(), {number})
entry.script()
"""
)

UNFINISHED_OBJECT = (
    HEAD
    + """\
class Half:
    def __del__(self):
        raise AttributeError("does not exist yet")
def load(*arguments, **options):
    half = Half()
    os.kill(os.getpid(), {number})
main.cli.main = load
entry.script()
"""
)
SWALLOWED = (
    HEAD
    + """\
def draw(*arguments, **options):
    try:
        os.kill(os.getpid(), {number})
    except BaseException:
        pass
main.cli.main = draw
entry.script()
"""
)
ERROR_AFTER_SIGNAL = (
    HEAD
    + """\
from streamplace.errors import FormatError
def watch(*arguments, **options):
    try:
        os.kill(os.getpid(), {number})
    except BaseException:
        pass  # as profile does, to write its measurements
    raise FormatError("graph.json: No space left on device")
main.cli.main = watch
entry.script()
"""
)
REPLACED = (
    HEAD
    + """\
def draw(*arguments, **options):
    try:
        os.kill(os.getpid(), {number})
    except BaseException:
        raise ValueError("Invalid affine transformation matrix") from None
main.cli.main = draw
entry.script()
"""
)
IN_FINALISER = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from streamplace.cli import entry, main
class Drawn:
    def __del__(self):
        os.kill(os.getpid(), {number})
        sum(range(10))
def draw(*arguments, **options):
    Drawn()
    time.sleep(60)
    print("drawn")
main.cli.main = draw
entry.script()
"""
AFTER_WORK = (
    HEAD
    + """\
def late(number, handler):
    os.kill(os.getpid(), {number})
def done():
    signal.signal = late
    return 0
main.main = done
entry.script()
"""
)


def ended(program: str, number: int) -> "subprocess.CompletedProcess[str]":
    """Run a program that sends a signal to itself."""
    words = [sys.executable, "-c", program.format(number=number)]
    return subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def test_ctrl_c_while_loading() -> None:
    done = ended(WHILE_LOADING, signal.SIGINT)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_exit(number: signal.Signals) -> None:
    """The work is done; the process ends normally and still removes temporary files."""
    done = ended(AT_EXIT, number)
    assert (done.returncode, done.stderr) == (0, "")
    assert "version" in done.stdout


@pytest.mark.parametrize("program", [DURING_WORK, REPLACED, SWALLOWED, IN_FINALISER])
@pytest.mark.parametrize(
    ("number", "code", "expected"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_during_the_work(
    program: str, number: signal.Signals, code: int, expected: str
) -> None:
    """A library may swallow the exception or replace it by another, and Python may ignore it."""
    done = ended(program, number)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == f"streamplace: {expected}; no incomplete file was left\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_finalisers_of_unfinished_objects_are_silent(number: signal.Signals) -> None:
    """Finalisers of unfinished objects, such as those of llvmlite, fail without a traceback."""
    done = ended(UNFINISHED_OBJECT, number)
    assert done.returncode == 128 + number
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_work(number: signal.Signals) -> None:
    done = ended(AFTER_WORK, number)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_fault_after_a_handled_signal_is_reported(number: signal.Signals) -> None:
    done = ended(ERROR_AFTER_SIGNAL, number)
    assert (done.returncode, done.stderr) == (
        2,
        "streamplace: graph.json: No space left on device\n",
    )

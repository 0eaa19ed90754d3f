"""Settings of all tests: long tests, Ctrl-C, and one Hypothesis profile with fixed examples.

`make test` leaves out the tests marked `long`, which `make test-long` runs: those that take many
seconds. Of the random problems of a long test, a run draws a fifth, or with `--share` another
share. With `--share 1`, property tests try more examples, too (`make test-all`). With
`--part K/N`, a run takes the long tests of one of N parts of the files.

Tests run in several processes side by side, so each of them, and each process that they start,
computes with one thread: threads of small products that wait for each other on busy cores take ten
times as long.

Sums on a GPU are not reproducible to the last bit, so GPUs are hidden from the tests and their
processes, except those of `tests.support.gpus`.

A shell without job control starts background processes that ignore SIGINT. The processes that
tests start would ignore it too, so the handler is restored here.

Where PYTHONDONTWRITEBYTECODE is set, each process that tests start would compile all modules again,
which takes a quarter of the time of a short command. It is ignored here.
"""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.input_files import InputFiles, write_input_files
from tests.support.part import Part
from tests.support.paths import ROOT
from tests.support.share import Share

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported
os.environ.setdefault("STREAMPLACE_TEST_GPUS", os.environ.get("CUDA_VISIBLE_DEVICES", "0"))
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DEFAULT_SHARE = 0.2

settings.register_profile("streamplace", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("all", parent=settings.get_profile("streamplace"), max_examples=100)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the share of the problems of long tests."""
    parser.addoption(
        "--share",
        type=float,
        default=DEFAULT_SHARE,
        help="share of the random problems of long tests to draw, above 0 to 1 (default: 0.2)",
    )
    parser.addoption(
        "--part",
        default="1/1",
        help="K/N: of the files with long tests, only those of part K of N (default: 1/1)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Check the share and the part, and load a Hypothesis profile by the share."""
    try:
        share = Share(config.getoption("--share"))
        Part.parse(config.getoption("--part"))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    settings.load_profile("all" if share == Share(1.0) else "streamplace")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop the long tests of other parts."""
    part = Part.parse(config.getoption("--part"))
    taken: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        is_long = item.get_closest_marker("long") is not None
        taken[not is_long or part.has(item.path.relative_to(ROOT))].append(item)
    if taken[False]:
        config.hook.pytest_deselected(items=taken[False])
        items[:] = taken[True]


@pytest.fixture(autouse=True)
def forget_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the modules that a test wrote and imported: another test may write the same name."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    folder = tmp_path_factory.getbasetemp()
    for name in sys.modules.keys() - modules:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(folder):
            del sys.modules[name]


@pytest.fixture
def share(request: pytest.FixtureRequest) -> Share:
    """Return the share of its problems that a test draws: all, unless it is marked `long`."""
    if request.node.get_closest_marker("long") is None:
        return Share()
    return Share(request.config.getoption("--share"))


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> InputFiles:
    """Return valid input files, which tests only read."""
    return write_input_files(tmp_path_factory.mktemp("inputs"))

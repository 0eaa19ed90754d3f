"""Settings of all tests: long tests, Ctrl-C, and one Hypothesis profile with fixed examples.

`make test` leaves out the tests marked `long`, which `make test-long` runs: all of tests/hardening,
which run a small share of every part of the campaign, and others that take many seconds.

Tests run in several processes side by side, so each of them, and each process that they start,
computes with one thread: threads of small products that wait for each other on busy cores take ten
times as long.

A shell without job control starts background processes that ignore SIGINT. The processes that
tests start would ignore it too, so the handler is restored here.
"""

import os
import signal

import pytest
from hypothesis import settings

from tests.support.paths import ROOT

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONG_FOLDERS = (ROOT / "tests" / "hardening",)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of whole folders as long."""
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in LONG_FOLDERS):
            item.add_marker(pytest.mark.long)


settings.register_profile("streamplace", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("streamplace")

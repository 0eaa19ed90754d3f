"""Results in order, from processes that may be killed."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from streamplace.errors import BackendError
from streamplace.parallel import each

COUNT = 400
AT = 250


def killed_once(flag: Path, number: int) -> int:
    """Return the square; of one number not before a process was killed by it."""
    if number == AT and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def killed_always(number: int) -> int:
    """Return the square, but of one number."""
    if number == AT:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def test_what_a_killed_process_was_at_is_done_again(tmp_path: Path) -> None:
    flag = tmp_path / "killed"
    found = list(each(partial(killed_once, flag), range(COUNT), 2))
    assert flag.exists()
    assert found == [number**2 for number in range(COUNT)]


def test_work_that_kills_every_process_is_told() -> None:
    found: list[int] = []
    with pytest.raises(BackendError, match="killed at the same work again and again"):
        found.extend(each(killed_always, range(COUNT), 2))


class Broken:
    """Items that cannot be gone through to the end."""

    def __len__(self) -> int:
        return COUNT

    def __iter__(self) -> Iterator[int]:
        yield from range(AT)
        raise BackendError("no more")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fault_of_the_items_is_raised(jobs: int) -> None:
    with pytest.raises(BackendError, match="no more"):
        list(each(abs, Broken(), jobs))

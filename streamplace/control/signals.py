"""Signals that wait until an action has ended, and signals whose exceptions got lost."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, a service manager, a closed terminal
WAITS = "an action is under way, which ends first; a second signal interrupts it"


@contextmanager
def not_lost() -> Iterator[Callable[[], None]]:
    """Yield a function that sends a signal of this block again if nothing has ended it.

    The exception of a signal ends nothing if it is raised in a finaliser, where Python ignores it,
    or in a library that ignores exceptions. In other threads than the main one, which receive no
    signals, the function does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    received: list[int] = []
    former = {n: handler for n, handler in _handlers().items() if callable(handler)}

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        former[number](number, frame)

    def again() -> None:
        if received:
            signal.raise_signal(received[0])

    for number in former:
        signal.signal(number, note)
    try:
        yield again
    finally:
        _set(former)


@contextmanager
def held_back(say: Callable[[str], object]) -> Iterator[None]:
    """Let a signal that ends the process wait until the block has ended.

    The second signal interrupts the block. In other threads than the main one, which receive no
    signals, nothing is changed.

    Parameters
    ----------
    say
        Called with a line when a signal waits.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    former = _handlers()

    def hold(number: int, frame: object) -> None:
        waiting.append(number)
        if len(waiting) > 1:
            _set(former)
            signal.raise_signal(number)
        else:
            with suppress(RuntimeError):  # a line was just being printed
                say(WAITS)

    for number in list(former):
        if former[number] in (None, signal.SIG_IGN):  # as after nohup
            del former[number]
        else:
            signal.signal(number, hold)
    try:
        yield
    finally:
        _set(former)
    if waiting:
        signal.raise_signal(waiting[0])


def _handlers() -> dict[int, Any]:
    """Return number -> present handler of the signals that end the process."""
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    return {number: signal.getsignal(number) for number in numbers}


def _set(handlers: Mapping[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)

"""Signals that wait until an action has ended."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, a service manager, a closed terminal
WAITS = "an action is under way, which ends first; a second signal interrupts it"


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
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    former = {number: signal.getsignal(number) for number in numbers}

    def hold(number: int, frame: object) -> None:
        waiting.append(number)
        if len(waiting) > 1:
            release()
            signal.raise_signal(number)
        else:
            with suppress(RuntimeError):  # a line was just being printed
                say(WAITS)

    def release() -> None:
        for number, handler in former.items():
            signal.signal(number, handler)

    for number in list(former):
        if former[number] in (None, signal.SIG_IGN):  # as after nohup
            del former[number]
        else:
            signal.signal(number, hold)
    try:
        yield
    finally:
        release()
    if waiting:
        signal.raise_signal(waiting[0])

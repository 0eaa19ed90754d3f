"""Entry point of the command line; Ctrl-C during loading ends it without a traceback."""

import gc
import signal

NEW_OBJECTS = 200_000
"""New objects that start the garbage collector; Python's default of 700 slows loading down."""


def script() -> None:
    """Load the command line and run it with the arguments of this process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # loading takes a moment
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])
    from streamplace.cli import main  # noqa: PLC0415 - after the signal

    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main.script()

"""The entry point of the command line; until work has begun, Ctrl-C just ends it."""

import signal


def script() -> None:
    """Load the command line and run that of this process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # loading it takes a moment, and says nothing
    from streamplace.cli import main  # noqa: PLC0415 - after the signal

    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main.script()

"""Functions that tests run on worker processes."""

import os
import signal
import time
from pathlib import Path


def blocks_ctrl_c(_: int) -> bool:
    """Return whether SIGINT is blocked in this process."""
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def busy(folder: str) -> None:
    """Write a file named after this process, and sleep for a minute."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)

"""Commands that run at the same time, with limits on their time and their output."""

import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import IO

from streamplace.errors import BackendError

AT_ONCE = 16
CHUNK = 1 << 16  # bytes that are read from a pipe at once
KILLED_S = 1.0  # to wait for a process that was killed
MAX_MESSAGE = 200  # last characters of what a failed command printed


def outputs_of(
    commands: Mapping[str, Sequence[str]], within_s: float, most_bytes: int
) -> dict[str, bytes]:
    """Return name -> what its command printed on stdout.

    At most `AT_ONCE` commands run at the same time. Each has no stdin and a session of its own, so
    that it cannot ask for a password, and so that a shell's children end with it. None runs on
    after an error or an interrupt.

    Parameters
    ----------
    commands
        Name -> words of its command, which runs without a shell.
    within_s
        Seconds that each command may take.
    most_bytes
        Bytes that each command may print.

    Raises
    ------
    BackendError
        If a command cannot be run, fails, takes too long or prints too much.
    """
    found: dict[str, bytes] = {}
    left = iter(commands.items())
    while some := dict(islice(left, AT_ONCE)):
        found |= _run(some, within_s, most_bytes)
    return found


@dataclass
class _Running:
    """A running command, and what it has printed so far."""

    words: Sequence[str]
    process: "subprocess.Popen[bytes]"
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)

    def fault(self, what: str) -> BackendError:
        """Return an error that begins with the command."""
        return BackendError(f"{shlex.join(self.words)}{what}")

    def output(self, until: float) -> bytes:
        """Return what the command has printed on stdout, which has ended."""
        try:
            code = self.process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            raise self.fault(": its output has ended, but not the command") from None
        if code == 0:
            return bytes(self.out)
        pipe = _pipes(self.process)[1]
        os.set_blocking(pipe.fileno(), False)
        with suppress(BlockingIOError):
            self.err += os.read(pipe.fileno(), CHUNK)
        how = f" failed with {code}" if code > 0 else f" was ended by signal {-code}"
        text = (self.err.strip() or self.out).decode(errors="replace")
        message = " ".join(text.split())[-MAX_MESSAGE:]
        raise self.fault(f"{how}: {message}" if message else how)

    def end(self) -> None:
        """End all processes of the command, unless it has ended by itself."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):  # it runs as another user
                os.killpg(self.process.pid, signal.SIGKILL)
        for pipe in _pipes(self.process):
            pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(KILLED_S)


def _run(
    commands: Mapping[str, Sequence[str]], within_s: float, most_bytes: int
) -> dict[str, bytes]:
    """Return what commands print that run at the same time.

    A command has printed all when its stdout has ended. A process that it leaves behind may keep
    stderr open, as ssh does with ControlPersist.
    """
    until = time.monotonic() + within_s
    with ExitStack() as stack:
        running = {name: _start(words, stack) for name, words in commands.items()}
        selector = stack.enter_context(selectors.DefaultSelector())
        printing = list(running.values())
        for each in printing:
            for pipe in _pipes(each.process):
                selector.register(pipe, selectors.EVENT_READ, each)
        while printing:
            ready = selector.select(max(until - time.monotonic(), 0.0))
            if not ready or time.monotonic() > until:
                raise printing[0].fault(f": no end within {within_s:g} s")
            for key, _ in ready:
                if not _read(key, most_bytes):
                    selector.unregister(key.fileobj)
                    if key.fileobj is key.data.process.stdout:
                        printing.remove(key.data)
        return {name: each.output(until) for name, each in running.items()}


def _start(words: Sequence[str], stack: ExitStack) -> _Running:
    """Start a command, which ends with the stack."""
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise BackendError(f"cannot run {shlex.join(words)}: {error.strerror}") from None
    started = _Running(words, process)
    stack.callback(started.end)
    return started


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipes of stdout and stderr."""
    assert process.stdout is not None, "it was started with pipes"
    assert process.stderr is not None, "it was started with pipes"
    return process.stdout, process.stderr


def _read(key: selectors.SelectorKey, most_bytes: int) -> bool:
    """Read from a pipe; return whether it goes on."""
    running: _Running = key.data
    chunk = os.read(key.fd, CHUNK)
    is_out = key.fileobj is running.process.stdout
    kept = running.out if is_out else running.err
    kept += chunk
    if len(kept) > most_bytes:
        raise running.fault(f" printed more than {most_bytes >> 20} MiB")
    return bool(chunk)

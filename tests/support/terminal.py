"""Processes on a terminal, and what stays on its screen."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from tests.support.cli import ENVIRONMENT

PLAIN = {k: v for k, v in ENVIRONMENT.items() if k not in ("COLUMNS", "FORCE_COLOR", "NO_COLOR")}
CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+")


class Shown(NamedTuple):
    """What a process has printed on a terminal, and on stdout if that is a pipe; its exit code."""

    output: str
    piped: str
    code: int


def on_terminal(command: Sequence[str], **environment: str) -> str:
    """Return what a process prints on stdout and stderr on a terminal of 80 columns."""
    shown = run_on_terminal(command, environment=environment)
    assert shown.code == 0, shown.output
    return shown.output.replace("\r\n", "\n")


def run_on_terminal(
    command: Sequence[str],
    *,
    pipes_stdout: bool = False,
    interrupt_at: str = "",
    environment: dict[str, str] | None = None,
) -> Shown:
    """Run a process whose stdin and stderr, and stdout too, are a terminal of 80 columns.

    Parameters
    ----------
    interrupt_at
        What it prints before it gets the signal of Ctrl-C.
    """
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {**PLAIN, "TERM": "xterm-256color", **(environment or {})}
    stdout = subprocess.PIPE if pipes_stdout else terminal
    output, sent = b"", not interrupt_at
    with subprocess.Popen(
        command, stdin=terminal, stdout=stdout, stderr=terminal, env=env
    ) as process:
        os.close(terminal)
        for part in _read(controller):
            output += part
            if not sent and interrupt_at.encode() in output:
                process.send_signal(signal.SIGINT)
                sent = True
        piped = process.stdout.read().decode() if process.stdout else ""
    os.close(controller)
    return Shown(output.decode(), piped, process.returncode)


def screen(output: str) -> list[str]:
    """Return the lines that stay on a screen, without those at the end that are empty.

    Raises
    ------
    AssertionError
        If the cursor stays hidden, or an escape sequence is none of those known here.
    """
    lines, row, column, visible = [""], 0, 0, True
    for match in CONTROL.finditer(output):
        text, (count, final) = match.group(), match.groups()
        if final is None and text == "\r":
            column = 0
        elif final is None and text == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif final is None:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
        elif final == "A":
            row -= int(count or 1)
        elif text == "\x1b[2K":
            lines[row] = ""
        elif count == "?25":
            visible = final == "h"
        else:
            assert final == "m", f"unknown sequence {text!r}"
    assert visible
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _read(terminal: int) -> Iterator[bytes]:
    with suppress(OSError):  # raised once the other end is closed
        while part := os.read(terminal, 65536):
            yield part

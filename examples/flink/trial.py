"""One run of `streamplace apply flink` against a running job, with what may happen to it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from counting import Counting
from local_flink import LocalFlink
from scripting import ScriptError
from submitted import unless_stated

QUICK = {"--deadline": "3", "--start-timeout": "25"}
APPLIED, FAILED, REFUSED, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


@dataclass
class Trial:
    """One run of apply against a running job.

    Parameters
    ----------
    replays
        Whether a TaskManager is killed, so that counts may repeat.
    """

    flink: LocalFlink
    counting: Counting
    placements: dict[str, Path]
    home: Path
    job: str = ""
    replays: bool = False
    lines: list[str] = field(default_factory=list)

    def apply(self, *more: str, name: str = "whole", expected: int, words: str = "") -> None:
        """Run apply to its end; check its exit code and its messages."""
        command = self._command(name, more)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        self.compare(done, expected, words)

    def compare(self, done: "subprocess.CompletedProcess[str]", expected: int, words: str) -> None:
        """Check an exit code and that a message contains some words, without a traceback."""
        self.lines += (done.stderr + done.stdout).splitlines()
        if done.returncode != expected:
            raise ScriptError(f"exit code {done.returncode} instead of {expected}: {done.stderr}")
        if words not in done.stderr or "Traceback" in done.stderr:
            raise ScriptError(f"no {words!r} in: {done.stderr}")

    def follow(
        self, acts: Mapping[str, Callable[[int], object]], *more: str, name: str = "whole"
    ) -> tuple[int, str]:
        """Run apply; call an act with its process id after the first message that contains its key.

        Returns
        -------
        code, text
            Exit code and stderr.
        """
        command = self._command(name, more)
        left = dict(acts)
        lines = []
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            for line in process.stderr:
                lines.append(line)
                for words in [words for words in left if words in line]:
                    left.pop(words)(process.pid)
        self.lines += [line.rstrip() for line in lines]
        if left:
            raise ScriptError(f"no {list(left)} in {''.join(lines)}")
        return process.returncode, "".join(lines)

    def signalled(self, number: signal.Signals, after: str, delay_s: float = 0.0) -> str:
        """Run apply and send it a signal after a message; return its stderr."""

        def act(pid: int) -> None:
            time.sleep(delay_s)
            os.kill(pid, number)

        code, text = self.follow({after: act})
        wanted = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}.get(number, -number)
        if code not in (wanted, APPLIED):
            raise ScriptError(f"exit code {code}: {text}")
        if number != signal.SIGKILL and code and "this command goes on" not in text:
            raise ScriptError(f"no advice in {text}")
        return text

    def _command(self, name: str, more: Sequence[str]) -> list[str]:
        options = (*unless_stated(QUICK, more), *more)
        return self.counting.apply_command(self.placements[name], self.job, *options)

    def again(self) -> None:
        """Repeat the command, which must end with the placement applied."""
        self.apply(expected=APPLIED)

    @contextmanager
    def file(self, name: str) -> Iterator[None]:
        """Have a file in the job's folder, which blocks or sabotages it."""
        path = self.counting.out / name
        path.touch()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)

    def kill(self, name: str) -> None:
        """Kill a TaskManager."""
        os.kill(self.flink.pids[name], signal.SIGKILL)

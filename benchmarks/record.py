"""Recorded outputs of benchmarks, each with the command, the commit and the date of its run.

    python -m benchmarks.record NAME [ARGUMENT …]

runs ``python -m benchmarks.NAME ARGUMENT …``, prints its output, and writes it to
benchmarks/results/NAME.txt once it has ended well. Options become part of the file's name, so that
runs with other options have files of their own. NAME can also be the path of a script, such as
examples/flink/size_loop.py, whose stderr is recorded too, since the scripts print progress there.
Paths in this repository are recorded as relative ones.
"""

import os
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.commit import ROOT, running_commit
from streamplace.files.writing import make_folder, write_text

FOLDER = Path(__file__).parent / "results"
INSIDE = re.compile(rf"(?<![\w./-])(?P<scheme>file:)?(?://)?{re.escape(str(ROOT))}/")


def main(words: list[str]) -> int:
    """Run a benchmark and record its output; return its exit code."""
    if not words or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    commit = f"commit {running_commit()}, on {datetime.now(UTC):%Y-%m-%d}"
    header = f"{relative(command(words))}\n{commit}\n\n"
    lines = []
    with subprocess.Popen(
        [sys.executable, *_program(words[0]), *words[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if _is_script(words[0]) else None,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},  # keeps the order of stdout and stderr
    ) as run:
        for line in run.stdout or ():
            print(line, end="", flush=True)
            lines.append(relative(line))
    if run.returncode:
        print(f"not recorded: exit code {run.returncode}", file=sys.stderr)
        return run.returncode
    make_folder(FOLDER)
    write_text(file_of(words), header + "".join(lines))
    return 0


def command(words: list[str]) -> str:
    """Return the command line of a benchmark or script."""
    return shlex.join(["python", *_program(words[0]), *words[1:]])


def relative(line: str) -> str:
    """Return a line in which paths and file URIs in this repository are relative to it."""
    return INSIDE.sub(lambda found: found["scheme"] or "", line)


def file_of(words: list[str]) -> Path:
    """Return the file of a benchmark's output, whose name lists the options but not their files."""
    name = Path(words[0]).stem if _is_script(words[0]) else words[0].replace(".", "-")
    named = [name, *(word for word in words[1:] if "/" not in word)]
    return FOLDER / (re.sub(r"[^a-z0-9.]+", "-", " ".join(named).lower()) + ".txt")


def _is_script(name: str) -> bool:
    return name.endswith(".py")


def _program(name: str) -> list[str]:
    """Return the words of Python's command line that name a benchmark or script."""
    return [name] if _is_script(name) else ["-m", f"benchmarks.{name}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

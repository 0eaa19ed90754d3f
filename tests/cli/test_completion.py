"""Shell completion, in a process and in a real bash."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from streamplace.cli.shells import SHELLS, VARIABLE
from streamplace.learning.training import config_names
from streamplace.placers.registry import NAMES, PLACERS, make_placer, options_of
from tests.support.cli import ENVIRONMENT, MODULE, Capture, refused, run, succeeds
from tests.support.long import long_after


def completed(line: str) -> list[str]:
    """Return the completions that a process prints for click's bash script."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), VARIABLE: "bash_complete"}
    done = run(env={**ENVIRONMENT, **words})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    long_after(
        8,
        [
            ("streamplace pl", ["plain,place", "plain,plan"]),
            ("streamplace place x --placer exa", ["plain,exact"]),
            ("streamplace compare x --placers metis,exa", ["plain,metis,exact"]),
            ("streamplace place x --placer policy:sam", ["plain,policy:samples="]),
            (
                "streamplace place x --placer auto:",
                ["plain,auto:seconds=", "plain,auto:evaluations=", "plain,auto:prefer="],
            ),
            ("streamplace place x --placer nobody:", []),
            ("streamplace generate l", ["plain,layered"]),
            ("streamplace train x --config ", [f"plain,{name}" for name in config_names()]),
            ("streamplace export x --to ku", ["plain,kubernetes"]),
            ("streamplace place x --model p", ["plain,path-average"]),
            (
                "streamplace info dataset:real/riotbench-e",
                ["plain,dataset:real/riotbench-etl.json"],
            ),
            ("streamplace explain ", ["file,"]),
            ("streamplace place graph", ["file,graph"]),
            ("streamplace report x -o rep", ["file,rep"]),
            ("streamplace place x --qui", ["plain,--quiet"]),
        ],
    ),
)
def test_completions(line: str, expected: list[str]) -> None:
    assert completed(line) == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_printed(shell: str, capsys: Capture) -> None:
    assert VARIABLE in succeeds(capsys, "completion", shell)


def test_unsupported_shells_are_refused(capsys: Capture) -> None:
    message = refused(capsys, "completion", "powershell")
    assert "SHELL: unknown choice 'powershell'; choose from bash, zsh, fish" in message


BASH = """
eval "$(streamplace completion bash)"
complete -p streamplace > /dev/null || exit 1
compopt() { local IFS=' '; echo "compopt $*"; }
COMP_LINE=$1 COMP_POINT=${#1} COMP_CWORD=$(($# - 2))
shift
COMP_WORDS=("$@") COMPREPLY=()
_streamplace_completion streamplace
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["streamplace", "place", "g", "--placer", "policy", ":", "sa"], "samples="),
        (["streamplace", "place", "--placer", "=", "exa"], "exact"),
        (["streamplace", "info", "dataset", ":", "real/riotbench-e"], "real/riotbench-etl.json"),
        (["streamplace", "gen"], "generate"),
    ],
)
def test_completion_in_bash_where_colons_end_words(
    words: list[str], expected: str, tmp_path: Path
) -> None:
    """Bash itself adds the text before the last : or =."""
    program = tmp_path / "streamplace"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(MODULE)} "$@"\n')
    program.chmod(0o755)
    line = " ".join(words).replace(" : ", ":").replace(" = ", "=")
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", line, *words],
        env={**ENVIRONMENT, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == expected
    assert ("compopt -o nospace" in done.stdout) == expected.endswith("=")
    assert done.stderr == ""


def test_suggested_options_exist() -> None:
    values = {"weights": "utilisation", "file": "x", "seconds": "1", "prefer": "fewest"}
    values |= {
        "contention": "true",
        "links": "true",
        "order": "bfs",
        "start": "greedy",
        "rate": "0.1",
        "frozen_attention": "true",
    }
    for name in {*NAMES} - {"policy"}:  # policy would read weights
        for option in options_of(name):
            make_placer(f"{name}:{option}={values.get(option, '3')}")
    assert set(PLACERS) <= set(NAMES)

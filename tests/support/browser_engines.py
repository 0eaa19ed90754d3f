"""JavaScript functions of the report page, called in Node.js."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamplace import reports as report

PAGE = Path(report.__file__).parent / "page"
Evaluate = Callable[[list[Any]], list[Any]]
"""A JavaScript function of a list that returns a list."""


@contextmanager
def called_in_node(script: str, function: str) -> Iterator[Evaluate | None]:
    """Yield a JavaScript function of one list that runs after a script; None without Node.js."""
    path = shutil.which("node")
    if path is None:
        yield None
        return
    program = f"{script}\nconst called = {function};\n" + (
        'const lines = require("node:readline").createInterface({ input: process.stdin });\n'
        'lines.on("line", (line) => console.log(JSON.stringify(called(JSON.parse(line)))));\n'
    )
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([path, "-e", program], **pipes) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def evaluate(batch: list[Any]) -> list[Any]:
            stdin.write(json.dumps(batch) + "\n")
            stdin.flush()
            scores: list[Any] = json.loads(stdout.readline())
            return scores

        yield evaluate
        stdin.close()

"""JavaScript functions of the report page, called in Chromium or in Node.js."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from benchmarks.reference.browser import chromium
from streamplace import reports

PAGE = Path(reports.__file__).parent / "page"
Evaluate = Callable[[list[Any]], list[Any]]
"""A JavaScript function of a list that returns a list."""
NONE_FOUND = "no Chromium, no Node.js"


@contextmanager
def engines(script: str, function: str) -> Iterator[tuple[str, Evaluate | None]]:
    """Yield the name of a browser engine and a function that runs in it; None without any."""
    with chromium() as browser:
        if browser is not None:
            yield "Chromium", called_in_page(browser.new_page(), script, function)
            return
    with called_in_node(script, function) as evaluate:
        yield "Node.js", evaluate


def called_in_page(page: Any, script: str, function: str) -> Evaluate:
    """Return a JavaScript function that runs after a script in an empty page of a browser."""
    page.add_script_tag(content=script)
    return lambda batch: cast("list[Any]", page.evaluate(function, batch))


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

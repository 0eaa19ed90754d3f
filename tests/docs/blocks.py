"""Code blocks of Markdown pages, run in order."""

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from streamplace.cli.main import main

OWN_PACKAGE = "own-system.md"
"""The page that needs an installed package; tests/test_own_package.py runs it."""
NOT_RUN = "<!-- not run:"
TIMES_VARY = "<!-- times vary -->"
SHELLS = ("sh", "bash", "console")
ONLY_SHOWN = ("java", "spl", "xml", "dot", "mermaid", "bibtex")
"""Languages of blocks that are not run."""
SECONDS = re.compile(r"(?<= in )[\d.e-]+(?= s\b)")
MILLISECONDS = re.compile(r" +(ms|\d+\.\d+)$", re.MULTILINE)  # the last column of `compare`


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Parameters
    ----------
    line
        The line of its opening fence, from 1.
    title
        The name of the file that it is saved as; empty if it is not saved.
    not_run
        Why it is not run; empty if it is run.
    times_vary
        Whether computing times in it are not compared.
    """

    line: int
    language: str
    text: str
    title: str = ""
    not_run: str = ""
    times_vary: bool = False

    def shows(self, printed: str) -> bool:
        """Return whether the block equals the printed text."""
        if self.times_vary:
            return _without_times(self.text) == _without_times(printed)
        return self.text == printed


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page; an indented block is an error."""
    why, times_vary = "", False
    for token in MarkdownIt().parse(page):
        at = (token.map or [0])[0] + 1
        if token.type == "html_block":
            comment = token.content.strip()
            times_vary = comment == TIMES_VARY
            why = ""
            if NOT_RUN in comment:
                why = comment.removeprefix(NOT_RUN).removesuffix("-->").strip()
        elif token.type == "code_block":
            raise AssertionError(f"line {at}: indented code; use a fence with a language")
        elif token.type == "fence":
            language, *more = shlex.split(token.info) or [""]
            attributes = dict(each.split("=", 1) for each in more if "=" in each)
            title = attributes.get("title", "")
            yield Block(at, language, token.content, title, why, times_vary)
            why, times_vary = "", False
        else:
            why, times_vary = "", False


@dataclass
class Page:
    """A page whose blocks run in order, in one folder and one Python session, as a reader would.

    A block that is saved as a file runs by itself: later blocks import what they need of it.
    """

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: str | None = None

    def run(self, block: Block) -> None:
        """Run a block; a text block must equal the output of the block before it."""
        if block.title:
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
        if block.not_run:
            self.printed = None
        elif block.language == "python":
            names = {"__name__": "__main__"} if block.title else self.names
            with _stdout() as output:
                exec(compile(block.text, f"line {block.line}", "exec"), names)
            self.printed = output.getvalue().decode()
        elif block.language in SHELLS:
            self.printed = "".join(map(self._command, _commands(block.text)))
        elif block.language == "text":
            if self.printed is not None:
                assert block.shows(self.printed), f"line {block.line}: the output is {self.printed}"
            self.printed = None
        elif not block.title:
            assert block.language in ONLY_SHOWN, f"line {block.line}: {block.language!r} is not run"

    def _command(self, command: str) -> str:
        """Run one shell command; plain calls of streamplace run in this process."""
        words = shlex.split(command, comments=True)
        if words[0] == "streamplace" and not {"|", ">", "<", "&&"} & set(words):
            with _stdout() as output:
                code = main(words[1:])
            assert code == 0, command
            return output.getvalue().decode()
        scripts = Path(sys.executable).parent
        environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout


def run_page(text: str, folder: Path) -> None:
    """Run all blocks of a page in a folder."""
    page = Page(folder)
    for block in blocks(text):
        page.run(block)


@contextmanager
def _stdout() -> Iterator[io.BytesIO]:
    """Collect stdout, including bytes that commands write."""
    output = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(output, "utf-8", write_through=True)) as text:
        yield output
        text.detach()


def _without_times(text: str) -> str:
    """Return the text without computing times, and without the widths of columns."""
    text = MILLISECONDS.sub("", SECONDS.sub("…", text))
    return re.sub(r" +", " ", text)


def _commands(text: str) -> Iterator[str]:
    """Yield the commands of a block, with continued lines joined."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()

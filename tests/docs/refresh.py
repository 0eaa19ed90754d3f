"""Outputs on Markdown pages, updated by running the pages.

    python -m tests.docs.refresh README.md docs/explain.md

Every text block is replaced by the output of the block before it, unless the two differ only in
times that may vary. If a page cannot be run, the error names the failing command.
"""

import os
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import Page, blocks


def refresh(path: Path) -> None:
    """Run a page in an empty folder and rewrite its outputs."""
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    changes: list[tuple[int, int, str]] = []
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            page = Page(Path(folder))
            for block in blocks(text):
                printed = page.printed
                if block.language != "text" or printed is None or block.not_run:
                    page.run(block)
                    continue
                if not block.shows(printed):
                    changes.append((block.line, block.text.count("\n"), printed))
                page.printed = None
        finally:
            os.chdir(before)
    for line, count, printed in reversed(changes):
        lines[line : line + count] = [printed]
    path.write_text("".join(lines))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(Path(name))

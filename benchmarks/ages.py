"""Age of each kept result: how often the package has changed since it was measured.

    python -m benchmarks.ages

A line states the number of commits that changed streamplace/ or sim/ since, the commit, its date,
the result, and the pages that name it or its command; claims of papers rest on the results of their
studies.
The commit is the one that the result names, or else the last one that changed its file.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.commit import ROOT, git

STATED = re.compile(r"^commit ([0-9a-f]{7,40})", re.MULTILINE)
KEPT = (
    "benchmarks/results/*",
    "benchmarks/studies/*/results.jsonl*",
    "benchmarks/*/*.jsonl*",
    "benchmarks/*/*.json.gz",
)
MODULES = "benchmarks."
OTHER_WORDS = "( [^-` ][^` ]*)*"
"""Words of a command besides options."""
PAGES = "*README.md", "docs/*.md", "docs/*.py", ":(glob)benchmarks/*/RESULTS.md"
SEVERAL = re.compile(r"\b[\w.-]+\*[\w.*-]*\.\w+")
"""The name of several results, such as ``latency*.txt``."""


@dataclass(frozen=True)
class Age:
    """The age of a result.

    Attributes
    ----------
    changes
        Number of commits since its own that changed the package; None if the history lacks it.
    """

    path: str
    commit: str
    date: str
    changes: int | None
    pages: tuple[str, ...]

    def __str__(self) -> str:
        since = "?" if self.changes is None else str(self.changes)
        named = ", ".join(self.pages) or "named on no page"
        return f"{since:>6}  {self.commit:9} {self.date:10}  {self.path}  ({named})"


def ages() -> Iterator[Age]:
    """Yield the age of each kept result, by path."""
    for path in sorted(set(git(ROOT, "ls-files", "--", *KEPT).split())):
        stated = stated_commit(ROOT / path)
        commit = stated or git(ROOT, "log", "-1", "--format=%h", "--", path)
        date, changes = _since(commit)
        patterns = [name_on_pages(Path(path)), *command_on_pages(_head(ROOT / path)[:1])]
        either = re.compile("|".join(f"({pattern})" for pattern in patterns), re.MULTILINE)
        pages = (
            page
            for page, text in _pages().items()
            if either.search(text) or is_one_of_several(Path(path), text)
        )
        yield Age(path, commit[:8], date, changes, tuple(pages))


def name_on_pages(path: Path) -> str:
    """Return the pattern of what pages call a result: its name, or its folder if many share it.

    Both are whole: `speed.txt` is not in `makespans-speed.txt`, nor `studies/giph` in
    `studies/giph-streams`, and the words of a study, such as streams, are on most pages. A folder
    in benchmarks/results stands for all of its files where no file in it is named.
    """
    if path.name.lower().startswith("results."):
        return f"{path.parent.parent.name}/{path.parent.name}([^-a-z]|$)"
    name, folders = f"(^|[^-a-z0-9]){re.escape(path.name)}", path.parts[1:-1]
    if folders[:1] == ("results",) and len(folders) > 1:
        return f"{name}|results/{folders[1]}([^-a-z/]|$)"
    return name


def is_one_of_several(path: Path, text: str) -> bool:
    """Return whether a page names a result with others, such as ``latency*.txt``."""
    return any(path.match(names) for names in _several(text))


@cache
def _several(text: str) -> list[str]:
    return SEVERAL.findall(text)


def command_on_pages(lines: list[str]) -> Iterator[str]:
    """Yield the pattern of how pages write the command of a benchmark in its first line, if any.

    Files and words in capitals may be others on a page, where ``record`` may also run the command.
    """
    for line in lines:
        words = shlex.split(line.partition(": commit")[0])
        if words[:2] == ["python", "-m"] and words[2].startswith(MODULES):
            name = re.escape(words[2].removeprefix(MODULES))
            options = [word for word in words[3:] if "/" not in word and not word.isupper()]
            rest = "".join(f"{OTHER_WORDS} {re.escape(word)}" for word in options)
            yield rf"benchmarks\.(record )?{name}{rest}{OTHER_WORDS}(`| +#|$)"


def stated_commit(path: Path) -> str | None:
    """Return the commit that the first lines of a recorded output state, if any."""
    found = STATED.search("\n".join(_head(path)))
    return found[1] if found else None


def _head(path: Path) -> list[str]:
    """Return the first lines of a recorded output; nothing of other results."""
    if path.suffix != ".txt":
        return []
    with path.open() as file:
        return [line.rstrip("\n") for line, _ in zip(file, range(4), strict=False)]


@cache
def _pages() -> dict[str, str]:
    """Return the text of each page."""
    paths = git(ROOT, "ls-files", "--", *PAGES).split()
    return {path: (ROOT / path).read_text() for path in paths}


@cache
def _since(commit: str) -> tuple[str, int | None]:
    count = git(ROOT, "rev-list", "--count", f"{commit}..HEAD", "--", "streamplace", "sim")
    return git(ROOT, "log", "-1", "--format=%cs", commit), int(count) if count else None


def main() -> None:
    """Print the ages, the oldest first; results whose commit the history lacks come before."""
    for age in sorted(ages(), key=lambda a: (a.changes is not None, -(a.changes or 0), a.path)):
        print(age)


if __name__ == "__main__":
    main()

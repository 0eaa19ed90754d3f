"""Words avoided in identifiers, because they do not say what a value is."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.support.paths import ROOT

AVOIDED = {"told", "said", "given", "there", "seen", "whom"}
MAY_BE = re.compile(rf"(?<![^\W_])({'|'.join(sorted(AVOIDED))})(?![^\W_])", re.IGNORECASE)


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines or uses."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.keyword(arg=str(name)) | ast.alias(asname=str(name)):
                yield name


def avoided_in(path: Path) -> list[str]:
    """Return the identifiers of a file with an avoided word, besides Hypothesis's `given`."""
    text = path.read_text()
    if not MAY_BE.search(text):
        return []  # most files; parsing all takes seconds
    of_library = {"given"} if "from hypothesis import" in text else set()
    names = set(identifiers(ast.parse(text))) - of_library
    return sorted(name for name in names if AVOIDED & set(re.split(r"_+", name.lower())))


def test_no_identifier_uses_an_avoided_word() -> None:
    run = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = {name: avoided_in(ROOT / name) for name in run.stdout.split()}
    assert {name: avoided for name, avoided in found.items() if avoided} == {}


def test_avoided_words_are_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("def f(as_told, x): return x.seen_so_far + SAID\nheretofore = 1\n")
    assert avoided_in(path) == ["SAID", "as_told", "seen_so_far"]
    path.write_text("from hypothesis import given\n@given(1)\ndef test_whom(): ...\n")
    assert avoided_in(path) == ["test_whom"]

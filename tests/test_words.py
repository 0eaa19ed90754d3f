"""Words of identifiers: those avoided, names of functions, and one name for what a type is."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docs.layers import modules
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


NO_PARTICIPLES = re.compile(
    "ceiling|embed|everything|grouping|mapping|nothing|packing|ring|seed|setting|speed|warning"
)
IRREGULAR = re.compile(
    "begun|bound|brought|built|caught|chosen|done|drawn|driven|felt|found|frozen|gone|grown|held|"
    "hidden|kept|known|laid|led|left|lost|made|meant|met|paid|sent|shown|sold|sought|spent|stuck|"
    "taken|taught|torn|understood|won|written"
)
"""Without those that look like the verb, such as `read` and `split`."""
GLOSSARY = ROOT / "docs" / "glossary.md"
PARTICIPLES = ROOT / "tests" / "named_by_a_participle.txt"


def is_participle(name: str) -> bool:
    """Return whether a name is one word, a participle such as `placed` or `_reached`."""
    word = name.strip("_")
    looks = word.endswith(("ed", "ing")) or IRREGULAR.fullmatch(word) is not None
    return looks and "_" not in word and NO_PARTICIPLES.fullmatch(word) is None


def functions_of(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """Yield the functions and methods of a module; statements alone are looked at."""
    for name in ("body", "orelse", "handlers", "finalbody"):
        for each in getattr(node, name, ()):
            if isinstance(each, ast.FunctionDef):
                yield each
            yield from functions_of(each)


def is_property(function: ast.FunctionDef) -> bool:
    """Return whether a function is a property, whose name may be an adjective."""
    decorators = (ast.unparse(each) for each in function.decorator_list)
    return any(each.endswith(("property", ".setter")) for each in decorators)


@cache
def functions() -> list[ast.FunctionDef]:
    """Return the functions and methods of the package."""
    texts = (path.read_text() for path in modules().values())
    return [each for text in texts for each in functions_of(ast.parse(text))]


def test_functions_named_by_a_participle_only_become_fewer() -> None:
    """What `placed` does cannot be read from its name: a function is named by a verb or a noun."""
    found = Counter(f.name for f in functions() if is_participle(f.name) and not is_property(f))
    lines = [line.split() for line in PARTICIPLES.read_text().splitlines()]
    listed = {name: int(count) for name, count in lines}
    more = {name: count for name, count in found.items() if count > listed.get(name, 0)}
    assert more == {}, "name each new function by a verb or a noun"
    fewer = {name: found[name] for name, count in listed.items() if found[name] < count}
    assert fewer == {}, f"lower these in {PARTICIPLES.name}"
    assert found.total() <= 469


def test_participles_are_found() -> None:
    text = "class A:\n @property\n def kept(self): ...\n def placed(self): ...\ndef speed(): ...\n"
    found = [*functions_of(ast.parse(text))]
    assert [each.name for each in found if not is_property(each)] == ["placed", "speed"]
    names = ["placed", "_reached", "known", "running", "speed", "mapping", "placed_by"]
    assert [name for name in names if is_participle(name)] == names[:4]


NAMES = dict(re.findall(r"^\| `(\w+)` \| (`[^|]+`) \|", GLOSSARY.read_text(), re.MULTILINE))
"""Type -> the names of parameters that have it, each in backquotes."""
TYPES = {
    "rules": r"Rules|Constraints|Sequence\[Rule\]|Mapping.*",
    "budget": r"Budget|float",  # in kernels of the engine, the seconds of a core
    "feasibility": "Feasibility",
}
"""Name of a parameter -> its types: such a name stands for nothing else."""
ARRAYS = ("at", "placed", "row")
"""What functions do not call an array of devices, (V,), but `devices`; decorated ones are kernels,
which a new name would compile anew."""


def misnamed(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the parameters of a function whose name does not fit their type."""
    arguments = function.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if each.annotation is not None:
            kind = ast.unparse(each.annotation).strip("'").removesuffix(" | None")
            is_named = f"`{each.arg}`" in NAMES.get(kind, f"`{each.arg}`")
            is_array = kind == "Ints" and each.arg in ARRAYS and not function.decorator_list
            if is_array or not (is_named and re.fullmatch(TYPES.get(each.arg, ".*"), kind)):
                yield f"{each.arg}: {kind}"


def test_one_concept_has_one_name_and_one_name_one_concept() -> None:
    assert {each for function in functions() for each in misnamed(function)} == set()


def test_misnamed_parameters_are_found() -> None:
    assert {"Budget", "Constraints", "Flow", "Score"} <= NAMES.keys()
    text = (
        "def f(clock: Budget, rules: 'Feasibility', row: Ints | None, budget: Budget | None): ..."
    )
    [function] = functions_of(ast.parse(text))
    assert [*misnamed(function)] == ["clock: Budget", "rules: Feasibility", "row: Ints"]

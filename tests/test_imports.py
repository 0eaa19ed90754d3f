"""DESIGN's import rule, held by reading the source: who may import whom."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODEL = {
    "graph",
    "cluster",
    "problem",
    "placement",
    "grouping",
    "constraints",
    "ordering",
    "rows",
    "validation",
    "arrays",
    "models",
    "units",
    "feasibility",
    "given",
    "errors",
    "exhausted",
    "nearest",
    "plain",
    "printable",
    "raw",
    "shown",
}
MAY_IMPORT = {
    "sim": {"sim"},
    "nearest": set[str](),
    "errors": set[str](),
    "printable": set[str](),
    "exhausted": set[str](),
    **dict.fromkeys(MODEL - {"errors", "exhausted", "nearest", "printable"}, MODEL),
    "shown": {"views"},  # when somebody looks
    "views": MODEL | {"comparison", "planning", "replacing", "score", "solve", "views"},
    "files": MODEL | {"files", "sim"},
    "flows": MODEL | {"sim"},
    "runs": MODEL | {"flows", "sim"},
    "instances": MODEL | {"flows", "sim"},
    "generate": MODEL | {"generate"},
    "score": MODEL | {"flows", "runs", "sim"},
    "placers": MODEL | {"flows", "instances", "score", "sim", "placers"},
    "interchange": MODEL,
    "planning": MODEL | {"flows", "score", "sim", "placers"},
    "report": MODEL | {"comparison", "files", "flows", "planning", "report", "score", "sim"},
    "moves": MODEL | {"score"},
    "remedies": MODEL | {"score", "placers"},
    "explain": MODEL | {"flows", "score", "sim", "remedies"},
    "replacing": MODEL | {"score", "placers", "moves", "solve"},
    "solve": MODEL | {"files", "flows", "score", "placers"},
    "simulating": MODEL | {"score", "solve"},
    "comparison": MODEL | {"files"},
    "env": MODEL | {"files", "flows", "generate", "policy", "score", "sim", "env"},
    "pyg": MODEL | {"files", "placers", "policy", "sim", "solve", "pyg"},
    "trials": MODEL
    | {"score", "placers", "solve", "comparison", "files", "backends", "parallel", "progress"},
    "backends": {"errors", "nearest"},
    "parallel": {"backends", "errors"},
    "progress": set[str](),
    "policy": MODEL | {"flows", "score", "sim", "placers", "policy"},
    "engines": MODEL | {"files", "flows", "sim", "engines"},
    "training": MODEL
    | {
        "policy",
        "runs",
        "score",
        "sim",
        "files",
        "placers",
        "training",
        "backends",
        "parallel",
        "progress",
    },
}
WITH_TORCH = {"policy", "training", "engines", "report", "compare", "cli", "pyg"}
SOURCES = sorted([*ROOT.glob("sim/**/*.py"), *ROOT.glob("streamplace/**/*.py")])


def part(module: str) -> str:
    """Return what the rule calls a module: ``sim``, or what follows ``streamplace.``."""
    names = module.split(".")
    return names[1] if names[0] == "streamplace" and len(names) > 1 else names[0]


def test_placers_reach_policies_by_name_alone() -> None:
    """What `policy` takes from `placers` is what all of them share."""
    shared = {"streamplace.placers.base", "streamplace.placers.repair"}
    for path in ROOT.glob("streamplace/policy/**/*.py"):
        taken = {
            m
            for m in imported(ast.walk(ast.parse(path.read_text())))
            if m.startswith("streamplace.placers")
        }
        assert taken <= shared, path


def test_nobody_imports_a_test() -> None:
    """What several tests and benchmarks use is in benchmarks/reference, which knows neither."""
    for path in ROOT.glob("benchmarks/**/*.py"):
        for module in imported(ast.walk(ast.parse(path.read_text()))):
            assert module.split(".")[0] != "tests", (path, module)
            if "reference" in path.parts:
                assert not module.startswith("benchmarks.") or ".reference" in module, path


def dotted(path: Path) -> str:
    names = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def imported(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Yield the modules that import statements name, those inside functions too."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "streamplace":
                yield from (f"streamplace.{alias.name}" for alias in node.names)
            else:
                yield str(node.module)


def at_top(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when a module is imported: no functions, nothing for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        checked = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not checked and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from at_top(node)


@pytest.mark.parametrize("path", SOURCES, ids=dotted)
def test_who_imports_whom(path: Path) -> None:
    own = part(dotted(path))
    for module in imported(ast.walk(ast.parse(path.read_text()))):
        if module.split(".")[0] in ("sim", "streamplace"):
            assert part(module) != "cli" or own == "cli"
            assert own not in MAY_IMPORT or part(module) in MAY_IMPORT[own], module
        elif module.split(".")[0].startswith("torch"):
            assert own in WITH_TORCH
        elif own == "sim":
            known = {"numpy", "numba", *sys.stdlib_module_names}
            assert module.split(".")[0] in known, module


def test_the_command_line_starts_with_click_alone() -> None:
    """What `streamplace --help` loads, module after module; the rest is imported in commands."""
    waiting, seen = ["streamplace.cli.main"], {"streamplace"}
    while waiting:
        module = waiting.pop()
        seen.add(module)
        path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
        if module.split(".")[0] == "streamplace":
            tree = ast.parse(
                (path if path.exists() else path.with_suffix("") / "__init__.py").read_text()
            )
            names = set(imported(at_top(tree)))
            for node in at_top(tree):  # `from streamplace.cli import place` names a module too
                if isinstance(node, ast.ImportFrom) and node.module == "streamplace.cli":
                    names |= {f"streamplace.cli.{alias.name}" for alias in node.names}
            waiting += names - seen
    foreign = {m.split(".")[0] for m in seen} - set(sys.stdlib_module_names)
    assert foreign == {"streamplace", "click"}

"""The floors of the code: who may import whom, and the picture of it in DESIGN.md.

    python -m docs.floors      # draws docs/floors.svg anew

A package imports from floors below its own only. Imports inside functions and for type checkers
count, so what the picture shows is all there is. `tests/test_floors.py` holds both the rule and the
picture to the code.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import networkx as nx

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "floors.svg"


class Floor(NamedTuple):
    """The packages of one floor, and what they are for."""

    role: str
    packages: tuple[str, ...]


FLOORS = (  # from the ground up
    Floor("ground", ("errors", "sim")),
    Floor("words", ("util",)),
    Floor("plumbing", ("display", "execution")),
    Floor("model", ("problem",)),
    Floor("evaluate, store, make", ("scoring", "files", "generate")),
    Floor("decide, connect", ("placers", "integrations")),
    Floor("verbs, learned placers", ("workflows", "policy")),
    Floor("outputs, adapters, learning", ("report", "plots", "env", "pyg", "training")),
    Floor("tools on top", ("testing",)),
    Floor("front", ("cli", "streamplace")),
)
FLOOR_OF = {name: number for number, floor in enumerate(FLOORS) for name in floor.packages}


def package_of(module: str) -> str:
    """Return the package that a module belongs to; ``streamplace`` is its public names."""
    names = module.split(".")
    return names[1] if names[0] == "streamplace" and len(names) > 1 else names[0]


def modules() -> dict[str, Path]:
    """Return every module of ours, by its dotted name."""
    paths = sorted([*ROOT.glob("sim/**/*.py"), *ROOT.glob("streamplace/**/*.py")])
    return {_dotted(path): path for path in paths}


def imports_of(
    path: Path, known: Mapping[str, Path], *, when_loaded: bool = False
) -> Iterator[str]:
    """Yield the modules that a file imports, wherever in it the statement stands.

    Parameters
    ----------
    known
        Our modules: ``from package import module`` names a module, not the package.
    when_loaded
        Leave out what is imported inside functions and for type checkers.
    """
    tree = ast.parse(path.read_text())
    for node in _run_at_import(tree) if when_loaded else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise SystemExit(f"{path}: line {node.lineno}: imports are absolute here")
            wholes = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (whole if whole in known else str(node.module) for whole in wholes)


def _run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when a module is imported."""
    for node in ast.iter_child_nodes(tree):
        for_checkers = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not for_checkers and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from _run_at_import(node)


def import_graph() -> "nx.DiGraph[str]":
    """Return our modules and who imports whom among them."""
    known = modules()
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(known)
    for module, path in known.items():
        for name in imports_of(path, known):
            if name in known:
                graph.add_edge(module, name)
    return graph


def package_graph() -> "nx.DiGraph[str]":
    """Return packages and who imports whom among them."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for a, b in import_graph().edges:
        if package_of(a) != package_of(b):
            graph.add_edge(package_of(a), package_of(b))
    return graph


def _dotted(path: Path) -> str:
    names = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


WIDTH, ROW, BOX_WIDTH, BOX_HEIGHT, MARGIN, BETWEEN = 1110, 92, 164, 62, 216, 12
LETTERS, LINES = 25, 2  # of what a package is for, in its box
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2933 }
.role { fill: #52606d } .what { font-size: 11px; fill: #52606d } .name { font-weight: 600 }
.box { fill: #e6f4f1; stroke: #0f766e } .floor { fill: #f5f7fa }
.arrow { stroke: #9aa5b1; fill: none }
"""


def draw() -> str:
    """Return the picture as SVG: floors as rows, packages as boxes, imports as lines downwards.

    An import that follows from others (a imports b, and b imports c) is left out.
    """
    rows = [floor for floor in FLOORS if floor.packages][::-1]
    corner = {name: place for row, floor in enumerate(rows) for name, place in _places(row, floor)}
    height = ROW * len(rows) + 20
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>The floors of streamplace</title>",
            f"<style>{STYLE}</style>",
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            *(part for row, floor in enumerate(rows) for part in _floor(row, floor)),
            *(
                _arrow(corner[a], corner[b])
                for a, b in sorted(nx.transitive_reduction(package_graph()).edges)
            ),
            *(part for name, place in corner.items() for part in _box(name, *place)),
            "</svg>",
            "",
        ]
    )


def _places(row: int, floor: Floor) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the packages of a floor, and the upper left corner of each one's box."""
    wide = len(floor.packages) * (BOX_WIDTH + BETWEEN) - BETWEEN
    left = MARGIN + (WIDTH - MARGIN - wide) / 2
    for i, name in enumerate(floor.packages):
        yield name, (left + i * (BOX_WIDTH + BETWEEN), 10 + row * ROW + (ROW - BOX_HEIGHT) / 2)


def _floor(row: int, floor: Floor) -> Iterator[str]:
    top, number = 10 + row * ROW + 4, FLOORS.index(floor) + 1
    yield f'<rect class="floor" y="{top}" width="{WIDTH}" height="{ROW - 8}" rx="6"/>'
    role = f"{number}  {escape(floor.role)}"
    yield f'<text class="role" x="14" y="{top + ROW / 2:g}">{role}</text>'


def _arrow(importer: tuple[float, float], imported: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = importer, imported
    x1, x2, y1 = x1 + BOX_WIDTH / 2, x2 + BOX_WIDTH / 2, y1 + BOX_HEIGHT
    middle = (y1 + y2) / 2
    curve = f"M{x1:g} {y1:g} C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"
    return f'<path class="arrow" d="{curve}"/>'


def _box(name: str, x: float, y: float) -> Iterator[str]:
    """Yield a package's box: its name, and what it is for by its docstring."""
    yield (
        f'<rect class="box" x="{x:g}" y="{y:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"/>'
    )
    yield f'<text class="name" x="{x + 9:g}" y="{y + 19:g}">{name}</text>'
    for i, line in enumerate(wrap(_purpose(name), LETTERS, max_lines=LINES, placeholder=" …")):
        yield f'<text class="what" x="{x + 9:g}" y="{y + 36 + 14 * i:g}">{escape(line)}</text>'


def _purpose(package: str) -> str:
    """Return the first sentence of a package's docstring."""
    known = modules()
    path = known.get(f"streamplace.{package}", known.get(package))
    text = ast.get_docstring(ast.parse(path.read_text())) if path else None
    return re.split(r"\.\s|\.$", text or "")[0]


if __name__ == "__main__":
    PICTURE.write_text(draw())

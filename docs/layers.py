"""The layers of the packages, and their picture in DESIGN.md.

    python -m docs.layers      # redraws docs/layers.svg

A package may only import from layers below its own. Imports inside functions and for type checkers
count too, so the picture is complete. A part of a package that is in a layer of its own, such
as the commands of a package below the command line, counts as a package. `tests/test_layers.py`
compares the rule and the picture with the code.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Literal, NamedTuple

import networkx as nx

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "layers.svg"

When = Literal["loaded", "called", "checked"]
"""When an import runs: when its file is loaded, when a function is called, or never, as those for
type checkers."""


class Layer(NamedTuple):
    """The packages of one layer and their role."""

    role: str
    packages: tuple[str, ...]


LAYERS = (  # the lowest first
    Layer("errors, numerical kernels", ("errors", "sim")),
    Layer("utilities", ("util",)),
    Layer("display, parallel work", ("display", "execution")),
    Layer("data model", ("problem",)),
    Layer("scores, files, families", ("scoring", "files", "families")),
    Layer("placers, formats", ("placers", "formats")),
    Layer("makespan, latency, ticks", ("makespan", "latency", "ticks")),
    Layer("work of commands, networks", ("workflows", "networks")),
    Layer("capacity planning", ("capacity",)),
    Layer("reports, several jobs", ("reports", "pictures", "jobs")),
    Layer("command line", ("cli",)),
    Layer(
        "learning, commands",
        (
            "learning",
            "formats.commands",
            "capacity.commands",
            "jobs.commands",
            "ticks.commands",
        ),
    ),
    Layer(
        "checks, papers, controller", ("testing", "papers", "control", "networks.torch.commands")
    ),
    Layer("stream engines", ("engines",)),
    Layer("public names, explain", ("cli.explain", "streamplace")),
)
LAYER_OF = {name: number for number, layer in enumerate(LAYERS) for name in layer.packages}


def package_of(module: str) -> str:
    """Return the package of a module, as `LAYERS` names it.

    ``streamplace`` stands for the public names.
    """
    top, *names = module.split(".")
    if top != "streamplace" or not names:
        return top
    parents = (".".join(names[:length]) for length in range(len(names), 0, -1))
    return next((name for name in parents if name in LAYER_OF), names[0])


def modules() -> dict[str, Path]:
    """Return the paths of all modules of this repository by dotted name."""
    paths = sorted([*ROOT.glob("sim/**/*.py"), *ROOT.glob("streamplace/**/*.py")])  # no links
    return {_dotted(path): path for path in paths}


class Import(NamedTuple):
    """One name that a statement imports.

    Parameters
    ----------
    module, name
        ``from module import name``; the name is empty if the module itself is imported.
    line
        The line of the statement.
    """

    module: str
    name: str
    when: When
    line: int


def imports_in(path: Path, known: Mapping[str, Path]) -> Iterator[Import]:
    """Yield the names that a file imports, anywhere in the file.

    Parameters
    ----------
    known
        The modules of this repository. ``from package import module`` imports the module itself if
        it is one of them, and otherwise a name of the package.
    """
    for node, when in _statements(ast.parse(path.read_text()), "loaded"):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, "", when, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise SystemExit(f"{path}: line {node.lineno}: use absolute imports")
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                named = (module, "") if module in known else (str(node.module), alias.name)
                yield Import(*named, when, node.lineno)


def imports_of(
    path: Path, known: Mapping[str, Path], *, when_loaded: bool = False
) -> Iterator[str]:
    """Yield the modules that a file imports; see `imports_in`.

    Parameters
    ----------
    when_loaded
        Exclude imports inside functions and for type checkers.
    """
    for each in imports_in(path, known):
        if each.when == "loaded" or not when_loaded:
            yield each.module


def loaded_with(*names: str) -> set[str]:
    """Return the modules that are loaded with some modules: themselves, and what they import.

    Of other packages than ours, only the modules are returned that ours name.
    """
    known, waiting, loaded = modules(), [*names], set[str]()
    while waiting:
        module = waiting.pop()
        if module not in loaded:
            loaded.add(module)
            waiting += [module.rpartition(".")[0]] if "." in module else []
            waiting += imports_of(known[module], known, when_loaded=True) if module in known else []
    return loaded


def _statements(tree: ast.AST, when: When) -> Iterator[tuple[ast.AST, When]]:
    """Yield the nodes of a tree, each with the time at which it runs."""
    for node in ast.iter_child_nodes(tree):
        own = when
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            own = "checked"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = "called"
        yield node, own
        yield from _statements(node, own)


def import_graph() -> "nx.DiGraph[str]":
    """Return the import graph of the modules."""
    known = modules()
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(known)
    for module, path in known.items():
        for name in imports_of(path, known):
            if name in known:
                graph.add_edge(module, name)
    return graph


def package_graph() -> "nx.DiGraph[str]":
    """Return the import graph of the packages."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for a, b in import_graph().edges:
        if package_of(a) != package_of(b):
            graph.add_edge(package_of(a), package_of(b))
    return graph


def _dotted(path: Path) -> str:
    names = path.relative_to(ROOT).with_suffix("").parts
    names = names if names[0] == "streamplace" else ("streamplace", *names)  # sim is linked there
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


WIDTH, ROW, BOX_WIDTH, BOX_HEIGHT, MARGIN, BETWEEN = 1190, 92, 180, 62, 216, 12
LETTERS, LINES = 25, 2  # of the description in a box
LONG_NAME = 20  # letters, from which on a name is written smaller, so that it fits its box
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2933 }
.role { fill: #52606d } .what { font-size: 11px; fill: #52606d } .name { font-weight: 600 }
.long { font-size: 11px }
.box { fill: #e6f4f1; stroke: #0f766e } .layer { fill: #f5f7fa }
.arrow { stroke: #9aa5b1; fill: none }
"""


def draw() -> str:
    """Return the picture as SVG: layers as rows, packages as boxes, imports as lines downwards.

    Transitive imports are left out: if a imports b and b imports c, there is no line from a to c.
    """
    rows = [layer for layer in LAYERS if layer.packages][::-1]
    corner = {name: place for row, layer in enumerate(rows) for name, place in _places(row, layer)}
    height = ROW * len(rows) + 20
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>The layers of streamplace</title>",
            f"<style>{STYLE}</style>",
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            *(part for row, layer in enumerate(rows) for part in _layer(row, layer)),
            *(
                _arrow(corner[a], corner[b])
                for a, b in sorted(nx.transitive_reduction(package_graph()).edges)
            ),
            *(part for name, place in corner.items() for part in _box(name, *place)),
            "</svg>",
            "",
        ]
    )


def _places(row: int, layer: Layer) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield each package of a layer with the upper left corner of its box."""
    wide = len(layer.packages) * (BOX_WIDTH + BETWEEN) - BETWEEN
    left = MARGIN + (WIDTH - MARGIN - wide) / 2
    for i, name in enumerate(layer.packages):
        yield name, (left + i * (BOX_WIDTH + BETWEEN), 10 + row * ROW + (ROW - BOX_HEIGHT) / 2)


def _layer(row: int, layer: Layer) -> Iterator[str]:
    top, number = 10 + row * ROW + 4, LAYERS.index(layer) + 1
    yield f'<rect class="layer" y="{top}" width="{WIDTH}" height="{ROW - 8}" rx="6"/>'
    role = f"{number}  {escape(layer.role)}"
    yield f'<text class="role" x="14" y="{top + ROW / 2:g}">{role}</text>'


def _arrow(importer: tuple[float, float], imported: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = importer, imported
    x1, x2, y1 = x1 + BOX_WIDTH / 2, x2 + BOX_WIDTH / 2, y1 + BOX_HEIGHT
    middle = (y1 + y2) / 2
    curve = f"M{x1:g} {y1:g} C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"
    return f'<path class="arrow" d="{curve}"/>'


def _box(name: str, x: float, y: float) -> Iterator[str]:
    """Yield the box of a package: its name and the first sentence of its docstring."""
    yield (
        f'<rect class="box" x="{x:g}" y="{y:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"/>'
    )
    kind = "name" if len(name) < LONG_NAME else "name long"
    yield f'<text class="{kind}" x="{x + 9:g}" y="{y + 19:g}">{name}</text>'
    for i, line in enumerate(wrap(_purpose(name), LETTERS, max_lines=LINES, placeholder=" …")):
        yield f'<text class="what" x="{x + 9:g}" y="{y + 36 + 14 * i:g}">{escape(line)}</text>'


def _purpose(package: str) -> str:
    """Return the first sentence of a package's docstring."""
    known = modules()
    path = known.get(f"streamplace.{package}")
    text = ast.get_docstring(ast.parse(path.read_text())) if path else None
    return re.split(r"\.\s|\.$", text or "")[0]


if __name__ == "__main__":
    PICTURE.write_text(draw())

"""The rule of which package may import which, checked on the code; see docs/layers.py."""

import re
import sys
from collections.abc import Iterator

import networkx as nx

from docs.layers import (
    BOX_HEIGHT,
    LAYER_OF,
    PICTURE,
    ROOT,
    draw,
    import_graph,
    imports_of,
    loaded_with,
    modules,
    package_of,
)

MODULES = modules()
WITH_TORCH = {"learning", "testing", "papers"}
READERS_OF_TORCH = "streamplace.networks.torch."


def faults_of(module: str) -> Iterator[str]:
    """Yield the imports of a module that the rule forbids."""
    own = package_of(module)
    for name in imports_of(MODULES[module], MODULES):
        top, package = name.partition(".")[0], package_of(name)
        if top == "sim":
            yield f"{module}: sim is imported as streamplace.sim"
        elif top == "streamplace":
            if name not in MODULES:
                yield f"{module}: there is no module {name}"
            elif package != own and LAYER_OF[package] >= LAYER_OF[own]:
                yield f"{module}: {name} is not in a lower layer"
        elif own == "sim":
            if top not in {"llvmlite", "numpy", "numba", *sys.stdlib_module_names}:
                yield f"{module}: sim may not import {name}"
        elif top.startswith("torch") and not (
            own in WITH_TORCH or module.startswith(READERS_OF_TORCH)
        ):
            yield f"{module}: {own} may not import {name}"


def test_modules_import_only_from_lower_layers() -> None:
    assert [fault for module in MODULES for fault in faults_of(module)] == []


def test_policies_import_only_shared_modules_of_placers() -> None:
    names = ("base", "budget", "limits", "repair", "starting", "search.annealing")
    shared = {f"streamplace.placers.{name}" for name in names}
    for module, path in MODULES.items():
        if module.startswith("streamplace.learning.policy."):
            used = {n for n in imports_of(path, MODULES) if n.startswith("streamplace.placers")}
            assert used <= shared, module


def test_no_import_cycles() -> None:
    cycles = [part for part in nx.strongly_connected_components(import_graph()) if len(part) > 1]
    assert cycles == []


def test_modules_of_problem_import_only_rows_above() -> None:
    """The table in the README of the package has every module, and later rows import earlier."""
    page = (ROOT / "streamplace" / "problem" / "README.md").read_text(encoding="utf-8")
    table = page.partition("| row | modules |")[2].partition("\n\n")[0]
    row_of = {
        f"streamplace.problem.{name}": number
        for number, row in enumerate(table.splitlines())
        for name in re.findall(r"`(\w+)`", row)
    }
    own = {name: path for name, path in MODULES.items() if name.startswith("streamplace.problem.")}
    assert row_of.keys() == own.keys()
    assert [
        f"{module}: {name}"
        for module, path in own.items()
        for name in imports_of(path, MODULES)
        if row_of.get(name, 0) > row_of[module]
    ] == []


def test_every_package_has_a_layer() -> None:
    assert {package_of(module) for module in MODULES} == set(LAYER_OF)
    assert sorted(path.name for path in ROOT.glob("streamplace/*.py")) == [
        "__init__.py",
        "errors.py",
    ]


def test_the_picture_matches_the_code() -> None:
    assert PICTURE.read_text() == draw(), "run python -m docs.layers to draw it again"


def test_the_labels_of_the_picture_fit() -> None:
    """Names fit their boxes, and roles end before the first box of their row."""
    boxes = re.findall(r'class="box" x="([\d.]+)" y="([\d.]+)" width="(\d+)"', draw())
    names = re.findall(r'class="name( long)?" x="([\d.]+)" y="[\d.]+">([^<]+)<', draw())
    for (box, _, width), (is_small, left, name) in zip(boxes, names, strict=True):
        letter = 7.3 if is_small else 8.6  # px, of a wide font such as DejaVu Sans Bold
        assert float(left) + letter * len(name) <= float(box) + float(width), name
    for left, middle, role in re.findall(r'class="role" x="(\d+)" y="([\d.]+)">([^<]+)<', draw()):
        of_row = (float(x) for x, y, _ in boxes if 0 < float(middle) - float(y) < BOX_HEIGHT)
        assert float(left) + 7.6 * len(role) <= min(of_row), role


def test_the_command_line_loads_only_click() -> None:
    """Commands are loaded when they run or show their help, so the list of commands is quick."""
    loaded = loaded_with("streamplace.cli.main")
    foreign = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert foreign == {"streamplace", "click"}

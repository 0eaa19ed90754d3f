"""The rule of who imports whom, held by the code's own imports; see docs/floors.py."""

import sys

import networkx as nx
import pytest

from docs.floors import (
    FLOOR_OF,
    PICTURE,
    ROOT,
    draw,
    import_graph,
    imports_of,
    modules,
    package_of,
)

MODULES = modules()
WITH_TORCH = {"policy", "training", "pyg", "testing"}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_from_floors_below_its_own(module: str) -> None:
    own = package_of(module)
    for name in imports_of(MODULES[module], MODULES):
        top, package = name.partition(".")[0], package_of(name)
        if top in ("sim", "streamplace"):
            assert name in MODULES, f"there is no module {name}"
            assert package == own or FLOOR_OF[package] < FLOOR_OF[own], name
        elif own == "sim":
            assert top in {"numpy", "numba", *sys.stdlib_module_names}, name
        elif top.startswith("torch"):
            assert own in WITH_TORCH, name


def test_policies_take_from_placers_what_all_of_them_share() -> None:
    shared = {"streamplace.placers.base", "streamplace.placers.repair"}
    for module, path in MODULES.items():
        if package_of(module) == "policy":
            taken = {n for n in imports_of(path, MODULES) if n.startswith("streamplace.placers")}
            assert taken <= shared, module


def test_there_is_no_circle() -> None:
    circles = [part for part in nx.strongly_connected_components(import_graph()) if len(part) > 1]
    assert circles == []


def test_every_package_has_a_floor() -> None:
    assert {package_of(module) for module in MODULES} == set(FLOOR_OF)
    assert sorted(path.name for path in ROOT.glob("streamplace/*.py")) == [
        "__init__.py",
        "errors.py",
    ]


def test_the_picture_is_of_the_code() -> None:
    assert PICTURE.read_text() == draw(), "python -m docs.floors draws it anew"


def test_the_command_line_starts_with_click_alone() -> None:
    """Commands import what they need when they run, so that --help costs no more than click."""
    waiting, seen = ["streamplace.cli.main"], set[str]()
    while waiting:
        module = waiting.pop()
        seen.add(module)
        if module in MODULES:
            loaded = imports_of(MODULES[module], MODULES, when_loaded=True)
            waiting += {name for name in loaded if name not in seen}
    foreign = {name.partition(".")[0] for name in seen} - set(sys.stdlib_module_names)
    assert foreign == {"streamplace", "click"}

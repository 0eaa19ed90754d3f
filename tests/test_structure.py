"""Limits on what a placement loads, on its moves, and on what subsystems share; they only fall."""

import ast
from functools import cache
from pathlib import Path

import pytest

from benchmarks.kinds import kind_tests
from benchmarks.messages import message_readings
from benchmarks.structure import (
    core_to_subsystems,
    imported_names,
    imports_inside_functions,
    is_ours,
    loaded_by_first_place,
    loaded_eagerly,
    moves,
    moves_of_placing,
    nested_results,
    repeated_class_names,
)
from docs.layers import imports_in, modules
from docs.subsystems import CORE, SUBSYSTEMS, subsystem_of
from streamplace.problem.cluster import Cluster
from tests.support.flink_actions import watched
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.server import ScriptedFlink

IMPORTED_NAMES = {
    "papers": 0,
    "engines": 0,
    "networks": 0,
    "learning": 30,
    "makespan": 15,
    "capacity": 9,
    "control": 29,
    "ticks": 3,
    "latency": 6,
    "jobs": 10,
    "formats": 75,
    "pictures": 11,
    "testing": 0,
}
"""Subsystem -> the most names that others import from it."""


def is_offered(module: str) -> bool:
    """Return whether each package around a module, from its subsystem on, offers the next."""
    _, *path = module.split(".")
    for length, name in enumerate(path[1:], 1):
        names = offered(modules()[".".join(["streamplace", *path[:length]])])
        if names is not None and name not in names:
            return False
    return True


@cache
def offered(path: Path) -> list[str] | None:
    """Return what `__all__` of a file names; None if it has none."""
    for node in ast.parse(path.read_text()).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(each, ast.Name) and each.id == "__all__" for each in targets):
            found: list[str] = ast.literal_eval(node.value)  # type: ignore[attr-defined]
            return found
    return None


def test_every_module_has_a_subsystem_and_every_subsystem_its_modules() -> None:
    assert {subsystem_of(module) for module in modules()} == set(SUBSYSTEMS)
    assert {name for names in SUBSYSTEMS.values() for name in names} <= modules().keys()


def test_place_and_auto_load_no_subsystem() -> None:
    eager = loaded_eagerly()
    assert {subsystem_of(module) for module in eager} == {CORE}
    assert len(eager) <= 112


@pytest.mark.parametrize(("placer", "most"), [("greedy", 95), ("auto", 112)])
def test_modules_that_a_first_place_loads(placer: str, most: int) -> None:
    loaded = loaded_by_first_place(placer)
    assert sum(map(is_ours, loaded)) <= most
    assert "pydantic" not in loaded


def test_imports_inside_functions() -> None:
    assert imports_inside_functions() <= 22


def test_imports_of_subsystems_by_the_core() -> None:
    found = core_to_subsystems()
    assert found["loaded"] == found["called"] == set()
    assert len(found["checked"]) <= 17


def test_no_two_classes_of_the_core_have_one_name() -> None:
    assert repeated_class_names() == set()


def test_results_stand_at_most_three_deep_in_one_another() -> None:
    """`Migration` has a `Result`, which has a `ThroughputScore`."""
    found = nested_results()
    assert (found["Migration"], found["Result"], found["ThroughputScore"]) == (3, 2, 1)
    assert max(found.values()) <= 3


def test_names_that_others_import_from_subsystems() -> None:
    found = imported_names()
    more = {name: count for name, count in found.items() if count > IMPORTED_NAMES[name]}
    assert more == {}


@pytest.mark.parametrize("subsystem", [name for name in SUBSYSTEMS if name != CORE])
def test_others_use_only_what_a_subsystem_offers(subsystem: str) -> None:
    """`__all__` of each of its packages names the modules that are for others."""
    known = modules()
    hidden = [
        f"{module}: {each.module}"
        for module, path in known.items()
        if subsystem_of(module) != subsystem
        for each in imports_in(path, known)
        if each.module.startswith(f"streamplace.{subsystem}.") and not is_offered(each.module)
    ]
    assert hidden == []


@pytest.mark.parametrize(("options", "most"), [(("--placer", "greedy"), 526), ((), 683)])
def test_moves_of_placing(options: tuple[str, ...], most: int) -> None:
    assert moves_of_placing(*options) <= most


def test_moves_of_a_window_of_watch_that_does_nothing(tmp_path: Path) -> None:
    with watched(ScriptedFlink(reports_waiting=True), ManualClock(), tmp_path) as (watching, _):
        watching.window()
        assert moves(watching.window) <= 686


def test_a_move_is_a_change_of_module() -> None:
    """`Cluster.equal` is in another module than the class `Device`, which it calls."""
    assert moves(list) == 0
    assert moves(lambda: Cluster.equal(1)) > 0


def test_no_site_reads_the_text_of_an_error() -> None:
    """What code asks of an error is a part of its `Fault`."""
    assert message_readings(modules().values()) == []


def test_lines_that_test_the_kind_of_an_objective() -> None:
    """What differs between objectives is a member of their classes."""
    assert len(kind_tests(modules().values())) <= 15


KIND_TESTS = """
class Own(Objective):
    is_pass = True
if objective.is_pass: ...
if isinstance(objective, (Makespan, str)): ...
if type(problem.objective) is Throughput: ...
if isinstance(name, str): ...
if type(name) is str: ...
make(is_pass=True)
"""


def test_lines_of_each_form_that_test_the_kind(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(KIND_TESTS)
    assert kind_tests([file]) == [f"{file}:{line}" for line in (3, 4, 5, 6, 9)]


READINGS = """
class OwnError(StreamplaceError): ...
try: ...
except ValueError as error: str(error).partition(":")
except (OSError, OwnError) as error:
    text = str(error)
    text.removeprefix("size: ")
    " ".join(text.split())
    PATTERN.sub("", f"{error}: here")
    raised = named(error)
    "constraints" in str(raised)
    error.fault.what.split(";")
    text[:60]
    error.fault.option == "band"
def remedy(error: errors.OwnError | None): str(error) == ""
"""


def test_sites_that_read_the_text_of_an_error(tmp_path: Path) -> None:
    """Errors of others have no parts, and to join lines is no reading."""
    file = tmp_path / "module.py"
    file.write_text(READINGS)
    assert message_readings([file]) == [f"{file}:{line}" for line in (7, 9, 11, 12, 13, 15)]


def test_imports_by_when_they_run(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "import os.path\n"
        "if TYPE_CHECKING:\n"
        "    from streamplace.sim import flow, work_clock\n"
        "class Class:\n"
        "    from streamplace.sim.flow import Flow\n"
        "    def method(self):\n"
        "        from a import b\n"
    )
    assert [*imports_in(file, modules())] == [
        ("os.path", "", "loaded", 1),
        ("streamplace.sim.flow", "", "checked", 3),
        ("streamplace.sim.work_clock", "", "checked", 3),
        ("streamplace.sim.flow", "Flow", "loaded", 5),
        ("a", "b", "called", 7),
    ]

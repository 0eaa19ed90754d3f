"""Module paths of version 0.2, which work with a warning and follow the tables."""

import subprocess
import sys
from importlib import import_module

import pytest

import streamplace as sp
from streamplace.util.moved import MOVED_MODULES, MOVED_NAMES, moved


@pytest.mark.parametrize("old", MOVED_MODULES)
def test_every_old_module_can_be_imported(old: str) -> None:
    import_module(f"streamplace.{MOVED_MODULES[old]}")
    assert import_module(f"streamplace.{old}").__name__ == f"streamplace.{old}"


@pytest.mark.parametrize("old", MOVED_NAMES)
def test_every_old_name_refers_to_the_new_one(old: str) -> None:
    module, _, name = old.rpartition(".")
    home, _, attribute = f"streamplace.{MOVED_NAMES[old]}".rpartition(".")
    with pytest.warns(DeprecationWarning, match=rf"streamplace\.{old} is now streamplace\."):
        found = moved(module, name)
    assert found is getattr(import_module(home), attribute)


def test_imports_as_the_documentation_of_0_2_shows_them() -> None:
    with pytest.warns(DeprecationWarning, match="scoring.flow.flow"):
        from streamplace.flows import flow  # type: ignore[import-untyped]  # noqa: PLC0415
    with pytest.warns(DeprecationWarning, match=r"problem\.Problem is now streamplace\.Problem;"):
        from streamplace.problem import Problem  # noqa: PLC0415
    with pytest.warns(DeprecationWarning, match=r"replace is now streamplace\.migrate;"):
        assert sp.replace is sp.migrate
    graph = sp.StreamGraph([("a", 1, 1)], source_rate=1)
    assert flow(Problem(graph)).operators == 1


def test_an_unknown_name_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from streamplace.flows import nothing  # noqa: F401, PLC0415
    with pytest.raises(AttributeError, match=r"^module 'streamplace\.problem' has no attribute"):
        _ = import_module("streamplace.problem").nothing
    with pytest.raises(ModuleNotFoundError):
        import_module("streamplace.nowhere")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = sp.nothing


def test_modules_are_loaded_only_when_a_name_is_used() -> None:
    code = "import sys, streamplace.score; print('numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"

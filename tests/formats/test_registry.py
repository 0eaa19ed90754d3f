"""The registry of formats: where each one is declared, and what is loaded to find it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from streamplace.errors import UsageError
from streamplace.formats.format import Format
from streamplace.formats.registry import FORMATS, GROUP, format_named, formats
from streamplace.util import plugins
from tests.support.paths import ROOT

ALONE = """
import sys
from streamplace.formats.registry import FORMATS, format_named
assert format_named("kafka-streams").reads
loaded = {path.partition(":")[0] for path in FORMATS.values()} & set(sys.modules)
assert loaded == {"streamplace.engines.kafka.streams"}, loaded
"""
ALL = """
import sys
from streamplace.formats.recognition import kind_of_text
assert kind_of_text("job.onnx", "digraph { a -> b }") == "dot"
assert kind_of_text("job.onnx", "") == "onnx"
heavy = {"torch", "onnx", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""


def declared() -> Iterator[str]:
    """Yield ``module:object`` for every format that a module declares."""
    for path in (ROOT / "streamplace").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            match node:
                case ast.Assign(targets=[ast.Name(name)], value=ast.Call(func=ast.Name("Format"))):
                    dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                    yield f"{dotted}:{name}"


def test_the_table_has_every_format_that_is_declared() -> None:
    assert sorted(FORMATS.values()) == sorted(declared())


def test_names_are_those_of_the_table() -> None:
    assert [each.name for each in formats()][: len(FORMATS)] == [*FORMATS]
    for each in formats():
        assert each.reads or each.writes, each.name
        assert 0 < len(each.about) <= 78, each.name


@pytest.mark.parametrize("program", [ALONE, ALL], ids=["one", "all"])
def test_what_is_loaded(program: str) -> None:
    """One format is loaded alone, and even all of them without the libraries that are slow."""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_built_in_formats_are_found_without_installed_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: str) -> None:
        pytest.fail("installed packages are read")

    monkeypatch.setattr(plugins, "entry_points", refuse)
    assert format_named("dot").name == "dot"
    assert next(formats()).name == next(iter(FORMATS))


OWN = Format("other", about="a format of a test", read=lambda text, where: pytest.fail(text))


def test_formats_of_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """They follow the built-in ones, have the name of their entry point, and replace none."""
    points = [
        EntryPoint("mine", f"{__name__}:OWN", GROUP),
        EntryPoint("dot", f"{__name__}:OWN", GROUP),
        EntryPoint("broken", "no_such_module:FORMAT", GROUP),
        EntryPoint("wrong", "json:dumps", GROUP),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    assert [each.name for each in formats()] == [*FORMATS, "mine"]
    assert format_named("mine").about == OWN.about
    assert format_named("dot").about != OWN.about
    with pytest.raises(UsageError, match="format 'broken': loading no_such_module:FORMAT failed"):
        format_named("broken")
    with pytest.raises(UsageError, match=r"format 'wrong': is not a streamplace\.formats\.Format"):
        format_named("wrong")
    with pytest.raises(UsageError, match=r"unknown format 'min'.*did you mean 'mine'"):
        format_named("min")
    with pytest.raises(UsageError, match="unknown option 'a'"):
        format_named("mine:a=1")

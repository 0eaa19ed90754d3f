"""Commands that subsystems and installed packages register."""

from importlib.metadata import EntryPoint
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from streamplace.cli.registered import GROUP
from streamplace.util import plugins
from tests.support.cli import Capture, refused, succeeds
from tests.support.copies import all_but


def test_commands_of_packages(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """They are listed without being loaded, and replace no built-in command."""
    points = [
        EntryPoint("own", "streamplace.cli.schema:schema", GROUP),
        EntryPoint("schema", "no_such_module:schema", GROUP),
        EntryPoint("broken", "no_such_module:command", GROUP),
        EntryPoint("wrong", "json:dumps", GROUP),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    assert succeeds(capsys, "own", "graph") == succeeds(capsys, "schema", "graph")
    assert "  broken      A command of an installed package." in succeeds(capsys, "--help")
    message = "command 'broken': loading no_such_module:command failed: ModuleNotFoundError"
    assert message in refused(capsys, "broken")
    assert "command 'wrong': is not a click.Command" in refused(capsys, "wrong")
    assert "unknown command 'brokem'; did you mean 'broken'?" in refused(capsys, "brokem")


def test_a_command_of_a_package_in_a_group(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """A package adds it to one of streamplace's groups, or to a group of its own."""
    path = "streamplace.cli.schema:schema"
    points = [EntryPoint(name, path, GROUP) for name in ("profile own", "mine first")]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    expected = succeeds(capsys, "schema", "graph")
    assert succeeds(capsys, "profile", "own", "graph") == expected
    assert succeeds(capsys, "mine", "first", "graph") == expected
    assert "  own         A command of an installed package." in succeeds(
        capsys, "profile", "--help"
    )
    assert "  mine        A command of an installed package." in succeeds(capsys, "--help")
    assert "unknown command 'secnd'; choose from first" in refused(capsys, "mine", "secnd")


def test_built_in_commands_are_found_without_installed_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def refuse(**_: str) -> None:
        pytest.fail("installed packages are read")

    monkeypatch.setattr(plugins, "entry_points", refuse)
    assert succeeds(capsys, "schema", "graph")


def test_a_copy_without_a_subsystem(tmp_path: Path) -> None:
    """It lists and runs the commands of the other subsystems, also those in the same group."""
    subsystems = {"papers", "engines"}
    listed = commands(all_but(tmp_path / "whole", set(), "--help"))
    left = [name for name in listed if name not in ("apply", "study", "watch")]
    assert commands(all_but(tmp_path / "copy", subsystems, "--help")) == left
    assert commands(all_but(tmp_path / "copy", subsystems, "profile", "--help")) == ["torch"]
    assert all_but(tmp_path / "copy", subsystems, "schema", "graph").returncode == 0
    unknown = all_but(tmp_path / "copy", subsystems, "study", "dream").stderr
    assert unknown == "streamplace: unknown command 'study' (see streamplace --help)\n"
    unknown = all_but(tmp_path / "copy", subsystems, "profile", "flink").stderr
    assert "unknown command 'flink'; choose from torch" in unknown
    without_group = all_but(tmp_path / "small", {*subsystems, "networks"}, "--help")
    assert commands(without_group) == [name for name in left if name != "profile"]


def commands(help_text: "CompletedProcess[str]") -> list[str]:
    """Return the names of the commands that a printed help lists."""
    lines = help_text.stdout.partition("Commands:\n")[2].splitlines()
    return [line.split()[0] for line in lines]

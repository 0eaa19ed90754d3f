"""Commands of installed packages."""

from importlib.metadata import EntryPoint

import pytest

from streamplace.cli.main import GROUP
from streamplace.util import plugins
from tests.support.cli import Capture, refused, succeeds


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


def test_built_in_commands_are_found_without_installed_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def refuse(**_: str) -> None:
        pytest.fail("installed packages are read")

    monkeypatch.setattr(plugins, "entry_points", refuse)
    assert succeeds(capsys, "schema", "graph")

"""Users' objects: paths, names, options and errors."""

import re
from pathlib import Path

import pytest

from streamplace.errors import GraphError, UsageError
from streamplace.util import plugins
from streamplace.util.plugins import is_custom, is_ours, load, named_fault, parts_of, read_options


@pytest.mark.parametrize(
    ("text", "own", "parts"),
    [
        ("mine:Last", True, ("mine:Last", [])),
        ("mine:Last:before=1:loud=true", True, ("mine:Last", ["before=1", "loud=true"])),
        ("a.b_c:D.E", True, ("a.b_c:D.E", [])),
        ("metis", False, ("metis", [])),
        ("metis:parts=3", False, ("metis", ["parts=3"])),
        ("policy:file=run:best", False, ("policy", ["file=run", "best"])),
        ("metis-oracle:parts", False, ("metis-oracle", ["parts"])),
        ("metis:", False, ("metis", [""])),
        ("../mine:Last", False, ("../mine", ["Last"])),
        ("3d:Last", False, ("3d", ["Last"])),
    ],
)
def test_a_class_is_not_an_option(text: str, own: bool, parts: tuple[str, list[str]]) -> None:
    assert is_custom(text) == own
    assert parts_of(text) == parts


def test_a_built_in_name_is_not_replaced_unless_a_module_has_it() -> None:
    ours = ("layered", "json")
    assert is_ours("layered", ours)
    assert is_ours("layered:wide", ours)  # a mistake in an option
    assert is_ours("json", ours)
    assert not is_ours("json:loads", ours)
    assert is_ours("json:loads", ours, from_file=True)
    assert not is_ours("ring", ours)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("pathlib:Pth", "has no 'Pth'; did you mean 'Path'?"),
        ("pathlib:Path.hoem", "has no 'Path.hoem'; did you mean 'home'?"),
        ("pathlib:Zzz", "has no 'Zzz'"),
        ("json.tool:jso", "has no 'jso'"),
    ],
)
def test_a_misspelt_class_is_named(text: str, end: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(text, text, "placer")
    assert str(caught.value).endswith(end)


def test_errors_in_user_code_are_one_line_and_memory_errors_pass() -> None:
    faults = {"failed: KeyError: 'a b'": KeyError("a b"), "a cycle": GraphError("a cycle")}
    for message, fault in faults.items():
        with (
            pytest.raises(UsageError, match=f"^family 'ring': graph 3: {message}$"),
            named_fault("family", "ring", "failed", "graph 3"),
        ):
            raise fault
    with pytest.raises(MemoryError), named_fault("family", "ring"):
        raise MemoryError


class Unannotated:
    def __init__(self, depth, name="a", width=2, deep=False, anything=None):  # type: ignore[no-untyped-def]
        self.options = (depth, name, width, deep, anything)


def test_options_without_annotation_are_read_by_their_values() -> None:
    options = ["depth=5", "name=7", "width=0.5", "deep=true", "anything=x"]
    made = plugins.made("m:Unannotated", Unannotated, options, "placer")
    assert made.options == (5, "7", 0.5, True, "x")
    assert [type(option) for option in made.options] == [int, str, float, bool, str]


def test_options_are_unique_and_converted() -> None:
    types = {"wide": int, "deep": float | None, "open": bool, "name": str}
    typed = ["wide=3", "deep=0.5", "open=true", "name=a=b"]
    assert read_options("ring", typed, types, "family") == {
        "wide": 3, "deep": 0.5, "open": True, "name": "a=b",
    }  # fmt: skip
    for options, message in {
        ("wide=3", "wide=4"): "option 'wide' is repeated",
        ("wide=3.5",): r"wide must be a whole number \(got '3.5'\)",
        ("name=",): "name must not be empty",
        ("wide",): "option 'wide' needs a value: wide=VALUE",
    }.items():
        with pytest.raises(UsageError, match=f"^family 'ring': {message}"):
            read_options("ring", list(options), types, "family")


def test_options_of_the_wrong_type_say_what_is_read() -> None:
    types = {"seconds": float | None, "tries": int, "deep": float}
    for text, message in {
        "seconds=1s": r"seconds must be a number of seconds, such as 0\.2 \(got '1s'\)$",
        "seconds=1,5": r"seconds must be .* \(got '1,5'\); did you mean 1\.5\?$",
        "deep=0,5": r"deep must be a number \(got '0,5'\); did you mean 0\.5\?$",
        "tries=1,000": r"tries must be a whole number \(got '1,000'\); did you mean 1000\?$",
    }.items():
        with pytest.raises(UsageError, match=f"^placer 'x': {message}"):
            read_options("x", [text], types, "placer")


def test_a_misspelt_module_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_objective.py").write_text("import absent_of_it\n")
    message = "objective 'x': there is no module 'own_objectiv'; did you mean 'own_objective'?"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        load("x", "own_objectiv:Net", "objective")
    with pytest.raises(UsageError, match="importing own_objective failed: ModuleNotFoundError"):
        load("x", "own_objective:Net", "objective")

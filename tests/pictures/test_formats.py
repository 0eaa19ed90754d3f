"""Formats of pictures, and labels in them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.capacity.plan.result import Plan, PlanRow
from streamplace.display.formats import KINDS
from streamplace.display.view import Names, labels, names_that_fit
from streamplace.errors import FormatError, StreamplaceError, UsageError
from streamplace.pictures.comparison import devices_picture, effects_picture, throughput_picture
from streamplace.pictures.curves import draw_curves
from streamplace.pictures.plan import draw_plan
from streamplace.util.text import shortened
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.comparison_folder import save_report
from tests.support.comparisons import HARD_NAMES, comparison_by_hand, random_comparison
from tests.support.long import long_after

BEGINS = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF-"}


PLAN = Plan(1e4, (PlanRow(1, 6e3, 7e3, 0.6), PlanRow(2, 1.1e4, 1.4e4, 1.0)))


Draw = Callable[[Path], None]


PICTURES: dict[str, Draw] = {
    "effects": lambda path: effects_picture(path, comparison_by_hand()),
    "throughput": lambda path: throughput_picture(path, comparison_by_hand()),
    "devices": lambda path: devices_picture(path, comparison_by_hand()),
    "plan": lambda path: draw_plan(path, PLAN),
    "curves": lambda path: draw_curves(path, {"run": [{"step": 1.0, "loss": 0.5}]}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PICTURES)
def test_every_format_is_reproducible(name: str, kind: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"a.{kind}", tmp_path / f"b.{kind.upper()}"
    PICTURES[name](first)
    PICTURES[name](second)
    assert first.read_bytes().startswith(BEGINS[kind])
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("file", ["x.txt", "x", "nowhere/x.png"])
def test_bad_names_leave_nothing(name: str, file: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError if "/" in file else UsageError):
        PICTURES[name](tmp_path / file)
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_format_gets_a_suggestion() -> None:
    with pytest.raises(StreamplaceError, match="unknown picture format 'svgg'; did you mean 'svg'"):
        draw_plan("plan.svgg", PLAN)


@pytest.mark.parametrize(
    "found",
    [
        random_comparison(HARD_NAMES, (1e4, 2e4, 3e4)),
        random_comparison(("one",), (None,), graphs=1, max_devices=1),
        random_comparison(("a", "a"), (1.0,)),
        random_comparison(("few", "many"), max_devices=200),
    ],
    ids=["hard names", "one of each", "equal names", "many devices"],
)
@pytest.mark.parametrize("draw", [throughput_picture, devices_picture])
def test_any_comparison_is_drawn(
    draw: Callable[[Path, Comparison], None], found: Comparison, tmp_path: Path
) -> None:
    """No missing glyph, failed layout or empty axis may cause a warning."""
    draw(tmp_path / "x.svg", found)
    text = (tmp_path / "x.svg").read_text()
    for name in set(found.placers) & {"_hidden", r"$\frac{$", "one", "few"}:
        assert f"<!-- {chr(0x2009) * name.startswith('_')}{name} -->" in text, "in the legend"


DRAWN = ("differences", "throughput", "devices")


@pytest.mark.parametrize("kind", [*KINDS, None])
def test_files_saved_for_a_comparison(kind: str | None, tmp_path: Path) -> None:
    save_report(tmp_path / "new" / "folder", comparison_by_hand(), kind)
    names = {"compare.json", "table.csv", "graphs.csv", "table.md", "table.tex"}
    names |= {f"{name}.{kind}" for name in DRAWN if kind}
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} == names


@pytest.mark.parametrize(
    "kind", long_after(2, ["svg", None, *(kind for kind in KINDS if kind != "svg")])
)
def test_pictures_of_an_earlier_comparison_are_removed(kind: str | None, tmp_path: Path) -> None:
    for earlier in ("png", "svg"):
        save_report(tmp_path, comparison_by_hand(), earlier)
    (tmp_path / "throughput.txt").touch()
    removed = save_report(tmp_path, comparison_by_hand(), kind)
    expected = {f"{name}.svg" for name in DRAWN if kind != "svg"}
    assert {path.name for path in removed} == expected
    pictures = {path.name for path in tmp_path.iterdir() if path.suffix[1:] in KINDS}
    assert pictures == {f"{name}.{kind}" for name in DRAWN if kind}
    assert (tmp_path / "throughput.txt").exists()


def test_pictures_in_a_folder_without_a_comparison_are_kept(tmp_path: Path) -> None:
    (tmp_path / "throughput.svg").write_text("of a user")
    assert save_report(tmp_path, comparison_by_hand(), "png") == ()
    assert (tmp_path / "throughput.svg").read_text() == "of a user"


def test_both_ends_are_kept() -> None:
    assert shortened("metis-recursive-oracle", 13) == "metis-…oracle"
    assert shortened("metis", 5) == "metis"
    assert shortened("a\nb", 9) == r"a\nb"
    assert shortened("\x1b[31mé名", 20) == r"\x1b[31mé名"
    assert shortened("\u202eevil", 20) == r"\u202eevil", "writing would change its direction"


def test_the_parts_that_differ_are_kept() -> None:
    names = [f"com.example.streams.Operator{i}.of.the.enriching.kind" for i in (1, 23)]
    assert labels(names, 20) == ["…ms.Operator1.of.th…", "…s.Operator23.of.th…"]
    assert labels(["same", "same", "same"], 20) == ["same", "same (2)", "same (3)"]
    far = ["a" * 30 + "x" + "b" * 40 + "y" + "c" * 30, "a" * 30 + "y" + "b" * 40 + "x" + "c" * 30]
    assert labels(far, 20) == ["…aaaaaaxbb…bycccccc…", "…aaaaaaybb…bxcccccc…"]


@given(st.lists(st.text(max_size=40), max_size=12), st.integers(12, 40))
def test_labels_differ_and_are_short(names: list[str], length: int) -> None:
    found = labels(names, length)
    assert len(set(found)) == len(names)
    assert all(len(label) <= length for label in found)
    assert all(label.isprintable() or "\n" not in label for label in found)


def test_lists_are_cut_to_the_available_room() -> None:
    def of(names: list[str], room: int = 10**5) -> str:
        return names_that_fit(Names.of(names), room)

    names = [f"operator-{i}" for i in range(20)]
    assert of(names, 50) == "operator-0, operator-1, operator-2 and 17 more"
    assert of(names).endswith("operator-11 and 8 more")
    assert of(["a", "b"]) == "a, b"
    assert of([]) == ""
    assert of(["x" * 90, "y"], 40) == "x" * 13 + "…" + "x" * 12 + ", y"
    assert of(["x" * 90, "y" * 40], 40) == "x" * 13 + "…" + "x" * 12 + " and 1 more"

"""Tests for labels: short names that still differ."""

from hypothesis import given
from hypothesis import strategies as st

from streamplace.display.view import Names, labels, listed, shortened


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
        return listed(Names.of(names), room)

    names = [f"operator-{i}" for i in range(20)]
    assert of(names, 50) == "operator-0, operator-1, operator-2 and 17 more"
    assert of(names).endswith("operator-11 and 8 more")
    assert of(["a", "b"]) == "a, b"
    assert of([]) == ""
    assert of(["x" * 90, "y"], 40) == "x" * 13 + "…" + "x" * 12 + ", y"
    assert of(["x" * 90, "y" * 40], 40) == "x" * 13 + "…" + "x" * 12 + " and 1 more"

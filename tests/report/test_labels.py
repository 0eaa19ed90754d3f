"""Names that are short, and still tell what they name."""

from hypothesis import given
from hypothesis import strategies as st

from streamplace.report.labels import labels, plain, shortened


def test_both_ends_are_kept() -> None:
    assert shortened("metis-recursive-oracle", 13) == "metis-…oracle"
    assert shortened("metis", 5) == "metis"
    assert shortened("a\nb", 9) == r"a\nb"
    assert plain("\x1b[31mé名") == r"\x1b[31mé名"


@given(st.lists(st.text(max_size=40), max_size=12), st.integers(12, 40))
def test_labels_differ_and_are_short(names: list[str], length: int) -> None:
    found = labels(names, length)
    assert len(set(found)) == len(names)
    assert all(len(label) <= length for label in found)
    assert all(label.isprintable() or "\n" not in label for label in found)

"""Quantities of Kubernetes."""

import pytest

from streamplace.engines.kubernetes.quantity import number_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("500m", 0.5),
        ("4", 4.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("16Ki", 16384.0),
        ("2Gi", 2.0**31),
        ("1.5G", 1.5e9),
        ("3k", 3000.0),
        ("128974848000m", 128974848.0),
        ("250n", 2.5e-7),
        ("1e3", 1000.0),
        ("12E6", 12e6),
        ("2E", 2e18),
        ("1Ei", 2.0**60),
    ],
)
def test_quantities(text: str, number: float) -> None:
    assert number_of(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["", "4 cores", "1KB", "Gi", "1e", "1e999", "--1", "nan", "1_0"])
def test_texts_that_are_no_quantities(text: str) -> None:
    with pytest.raises(ValueError, match="must be a quantity such as 500m or 16Gi"):
        number_of(text)


def test_numbers_stay() -> None:
    assert number_of(4) == 4

"""Numbers as text on the page, computed in Node.js, as the terminal shows them."""

import numpy as np
import pytest

from streamplace.display import text
from tests.support.browser_engines import PAGE, called_in_node

SHOWN = """(values) => values.map((x) => [
  SP.text.number(x),
  SP.text.roundedUp(x),
  SP.text.roundedDown(x),
  SP.text.percent(x),
  SP.text.percentUp(x),
  SP.text.shareOf(x, 7),
  SP.text.bytes(x),
  SP.text.duration(x),
])"""
EDGES = [
    0.0,
    54.0,
    0.1 + 0.2,
    9999.6,
    0.99996,
    999_999.7,
    1 + 1e-7,
    1.0002,
    0.9998,
    3e-4,
    1e-9,
    7.0,
]


def expected(x: float) -> list[str]:
    return [
        text.number(x),
        text.rounded_up(x),
        text.rounded_down(x),
        text.percent(x),
        text.percent_up(x),
        text.share_of(x, 7.0),
        text.byte_count(x),
        text.duration(x, text.DIGITS) if x else "0 s",
    ]


def test_numbers_are_shown_as_in_the_terminal() -> None:
    drawn = 10 ** np.random.default_rng(0).uniform(
        -12, 10, 2_000
    )  # larger ones are ties of percent
    values = [*EDGES, *drawn.tolist()]
    with called_in_node((PAGE / "text.js").read_text(), SHOWN) as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        for x, shown in zip(values, evaluate(values), strict=True):
            assert shown == expected(x), x

"""Limits as text on the page, computed in Node.js: never rounded to the wrong side."""

import numpy as np
import pytest

from tests.support.browser_engines import PAGE, called_in_node

SHOWN = """(values) => values.map((x) => [
  SP.text.roundedUp(x), SP.text.roundedDown(x), SP.text.percentUp(x),
].map((text) => text.replaceAll(",", "")))"""
SAME = 2e-9  # relative difference that counts as none


def test_limits_are_rounded_away_from_what_they_limit() -> None:
    drawn = 10 ** np.random.default_rng(0).uniform(-15, 15, 2_000)
    values = [0.0, 54.0, 0.1 + 0.2, 9999.6, 0.99996, *drawn.tolist()]
    with called_in_node((PAGE / "text.js").read_text(), SHOWN) as evaluate:
        if evaluate is None:
            pytest.skip("needs Node.js")
        for x, (up, down, percent) in zip(values, evaluate(values), strict=True):
            assert x * (1 - SAME) <= float(up) <= x * 1.011, (x, up)
            assert x * 0.989 <= float(down) <= x * (1 + SAME), (x, down)
            if x < 10:
                assert x - 2 * SAME <= float(percent.rstrip(" %")) / 100 <= x + 1.1e-3, (x, percent)

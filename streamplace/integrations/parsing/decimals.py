"""Decimal numbers in text."""

import re

DECIMAL = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
"""Digits with an optional point and exponent; not ``1_000`` and ``nan``, which Python accepts."""

"""Numbers as documents write them in text."""

import re

DECIMAL = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
"""Digits, perhaps with a point and an exponent; not what else Python takes: ``1_000``, ``nan``."""

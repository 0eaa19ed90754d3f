"""Checksums of lines of JSON that a run appends to a file."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

NAME = "sha256"  # of the value that holds it
DIGITS = 16


def checksum(value: Mapping[str, Any]) -> str:
    """Return a checksum of the values of a line, without its own."""
    return sha256(json.dumps(dict(value)).encode()).hexdigest()[:DIGITS]

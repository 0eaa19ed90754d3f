"""Labels that Kubernetes accepts, made from any text."""

import re
from hashlib import sha256

MAX_LABEL_LENGTH = 63  # characters
DIGITS = 8  # of a hash
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?")


def dns_label(text: str, max_length: int = MAX_LABEL_LENGTH) -> str:
    """Return a DNS label of RFC 1123: lower-case letters, digits and single hyphens inside.

    Text that is not a label keeps its valid characters and gets a suffix, the start of its hash.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if plain == text and 0 < len(text) <= max_length:
        return text
    kept = plain[: max_length - DIGITS - 1].strip("-")
    return f"{kept}-{_hash(text)}" if kept else f"x{_hash(text)}"


def label_value(text: str) -> str:
    """Return the text if it is a valid label value, else a DNS label made from it."""
    return text if LABEL_VALUE.fullmatch(text) else dns_label(text)


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:DIGITS]

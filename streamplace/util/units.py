"""Units: conversions, and numbers with units in text, such as ``8GB`` or ``200ms``."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import inf, isfinite

from streamplace.errors import UsageError
from streamplace.util.text import without_commas

BYTES_PER_MBIT = 125_000.0
MAPS: dict[object, str] = {"seconds_on": "s", "source_rates": "rate"}
"""Field whose values are by users' names -> the kind of quantity of these."""

EXAMPLES = {
    "bytes": "8GB or 512MiB (B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB)",
    "mbps": "1Gbit/s or 1Gbps (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, Pbit/s, or bytes: MB/s)",
    "s": "200ms or 5min (ns, us, µs, ms, s, min, h)",
    "mips": "2500MIPS (MIPS, GIPS)",
    "instructions": "50k (k, M, G, T, P), for a time its microseconds times MIPS",
    "rate": "10k or 10k/s (k, M, G, T, P, each with or without /s)",
}
"""Kind of quantity -> examples and the known units, as messages show them."""

_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s].*)?", re.ASCII)
_THOUSANDS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {f"{prefix}i": 2 ** (10 * n) for n, prefix in enumerate("KMGTP", start=1)}
_SECONDS: dict[str, str | int] = {
    "ns": "1e-9",
    "us": "1e-6",
    "\N{MICRO SIGN}s": "1e-6",
    "\N{GREEK SMALL LETTER MU}s": "1e-6",
    "ms": "1e-3",
    "s": 1,
    "min": 60,
    "h": 3600,
}
_OF_BYTES = {f"{prefix}B": factor for prefix, factor in (_THOUSANDS | _BINARY).items()}
_OF_BITS = {f"{prefix}bit": factor for prefix, factor in _THOUSANDS.items()}
_RATES = {f"{name}/s": factor for name, factor in _OF_BITS.items()}
_RATES |= {f"{prefix}bps": factor for prefix, factor in _THOUSANDS.items()}
_RATES |= {f"{name}/s": 8 * factor for name, factor in _OF_BYTES.items()}
_PER_SECOND = {f"{prefix}/s": factor for prefix, factor in _THOUSANDS.items()}

_PREFIXES = {prefix: factor for prefix, factor in _THOUSANDS.items() if prefix}


def _table(units: Mapping[str, str | int], of: int = 1) -> dict[str, Decimal]:
    return {name: Decimal(factor) / of for name, factor in units.items()}


UNITS: dict[str, dict[str, Decimal]] = {
    "bytes": _table(_OF_BYTES | _PREFIXES | _BINARY),
    "mbps": _table(_RATES, 10**6),
    "s": _table(_SECONDS),
    "mips": _table({"MIPS": 1, "GIPS": 1000}),
    "instructions": _table(_PREFIXES),
    "rate": _table(_PREFIXES | _PER_SECOND),
}
"""Kind of quantity, by the end of a field's name -> unit -> its value in the unit of the field."""


def kind_at(place: Sequence[object]) -> str | None:
    """Return the kind of quantity at a place of a file; None if its field has none."""
    if "optimiser" in place:  # its rates are learning rates
        return None
    mapped = next((MAPS[part] for part in place if part in MAPS), None)
    return mapped or (kind_of(str(place[-1])) if place and isinstance(place[-1], str) else None)


def kind_of(field: str) -> str | None:
    """Return the kind of quantity of a field, by its name; None if it has none."""
    last = field.rpartition("_")[2]
    return last if last in UNITS and "_per_" not in field else None


def parsed(text: str, kind: str) -> float:
    """Return the number that text stands for, in the unit of a kind of quantity; see `UNITS`.

    Raises
    ------
    UsageError
        If the text is no number, or has a unit that the kind does not have.
    """
    match = _NUMBER.fullmatch(text.strip())
    units = UNITS[kind] | {None: Decimal(1)}
    if match is None or match[2] not in units:
        expected = f"expected a number, or one with a unit, such as {EXAMPLES[kind]}"
        meant = without_commas(text, lambda other: parsed(other, kind))
        raise UsageError(f"{expected} (got {text!r:.40}){meant}")
    try:
        number = float(Decimal(match[1]) * units[match[2]])
    except ArithmeticError:  # an exponent of more than six digits
        number = inf
    if not isfinite(number):
        raise UsageError(f"must be finite (got {text!r:.40})")
    return number

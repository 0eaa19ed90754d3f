"""Key groups: which instance of an operator receives a key, as Flink assigns it.

The formulas are those of ``KeyGroupRangeAssignment`` and ``MathUtils.murmurHash`` in Flink 2.3: the
group of a key is murmur(hash code) mod K, and instance ⌊g p / K⌋ has group g.
"""

import numpy as np

from streamplace.problem.parallelism import KeyShares
from streamplace.util.arrays import Floats, Ints

LEAST_GROUPS, MOST_GROUPS = 128, 32_768
WORD = 0xFFFFFFFF
SIGN = 0x80000000


def key_shares_of(groups: int | None, keys: KeyShares, count: int) -> Floats:
    """Return the share of a stream's tuples that each of p instances receives, (p,).

    Parameters
    ----------
    groups
        K, the number of key groups. None: keys that are not named are spread evenly, and named ones
        belong to the groups of Flink's default K.
    keys
        Shares of named keys.
    count
        p, the number of instances.
    """
    rest = 1.0 - sum(keys.values())
    shares: Floats = np.full(count, rest / count)
    if groups is not None:
        of_groups = np.bincount(instances_of_groups(groups, count), minlength=count)
        shares = rest * of_groups / groups
    known = groups or default_groups(count)
    for key, share in keys.items():
        shares[group_of(key, known) * count // known] += share
    return shares


def instances_of_groups(groups: int, count: int) -> Ints:
    """Return the instance of each key group, (K,)."""
    owner: Ints = (np.arange(groups, dtype=np.int64) * count // groups).astype(np.int32)
    return owner


def default_groups(count: int) -> int:
    """Return Flink's number of key groups for a parallelism where the job sets none."""
    wanted = count + count // 2
    return min(max(1 << (wanted - 1).bit_length(), LEAST_GROUPS), MOST_GROUPS)


def group_of(key: str, groups: int) -> int:
    """Return the key group of a key of the type String."""
    return murmur(java_hash(key)) % groups


def java_hash(text: str) -> int:
    """Return ``String.hashCode()``, as an unsigned number of 32 bits."""
    code = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for i in range(0, len(units), 2):
        code = (31 * code + int.from_bytes(units[i : i + 2], "big")) & WORD
    return code


def murmur(code: int) -> int:
    """Return Flink's hash of a hash code, at least 0."""
    code = code * 0xCC9E2D51 & WORD
    code = _rotated(code, 15)
    code = code * 0x1B873593 & WORD
    code = _rotated(code, 13)
    code = (code * 5 + 0xE6546B64) & WORD
    code ^= 4
    code ^= code >> 16
    code = code * 0x85EBCA6B & WORD
    code ^= code >> 13
    code = code * 0xC2B2AE35 & WORD
    code ^= code >> 16
    if code < SIGN:
        return code
    return 0 if code == SIGN else (-code) & WORD


def _rotated(code: int, bits: int) -> int:
    return (code << bits | code >> (32 - bits)) & WORD

"""Damage to the bytes of a file, such as disks, memory, networks and editors cause."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

import numpy as np

LENGTH_BYTES = 8  # of the length field before a safetensors header
SECTORS = (64, 512, 4096)  # bytes that are lost or swapped together


@dataclass(frozen=True)
class Damaged:
    """The bytes of a damaged file, and a description of the damage."""

    damage: str
    data: bytes


Damage = Callable[[bytes, int, np.random.Generator], Iterator[Damaged]]


def flipped_bits(data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    """Flip one bit: first each bit of the length field, then bits of header and body in turn."""
    for number in range(count):
        place, bit = _bit(data, number, rng)
        yield Damaged(f"bit {bit} of byte {place} flipped", _flipped(data, (place, bit)))


def two_flipped_bits(data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    """Flip two bits; for about half of the pairs, a sum of the bytes would not change."""
    for number in range(count):
        place, bit = _bit(data, number, rng)
        other = int(rng.integers(len(data))) if number % 2 else min(place + 1, len(data) - 1)
        pair = (place, bit), (other, bit if other != place else (bit + 1) % 8)
        yield Damaged(f"bits {pair} flipped", _flipped(data, *pair))


def truncations(data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    """Cut off the end: first near every boundary of the format, then anywhere."""
    header = header_end(data)
    begins = (range(LENGTH_BYTES + 2), range(header - 8, header + 9))
    near = [*chain(*begins), *range(len(data) - 9, len(data))]
    lengths = [length for length in near if 0 <= length < len(data)][: count // 2]
    for length in [*lengths, *rng.integers(len(data), size=count - len(lengths)).tolist()]:
        yield Damaged(f"cut to {length} bytes", data[:length])


def zeroed_pages(data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    """Zero a page, as file systems do for pages that were never written."""
    for begin, end in _sectors(data, count, rng):
        yield Damaged(f"bytes {begin} to {end} zeroed", _with(data, begin, bytes(end - begin)))


def swapped_blocks(data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    """Swap two blocks of the same size."""
    for begin, end in _sectors(data, count, rng):
        size = end - begin
        other = int(rng.integers(len(data) // size)) * size
        if other + size > len(data):
            continue
        moved = _with(_with(data, begin, data[other : other + size]), other, data[begin:end])
        yield Damaged(f"{size} bytes at {begin} and at {other} swapped", moved)


def appended(data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    """Append zeros, random bytes, or the file itself."""
    for number in range(count):
        more = int(rng.integers(1, SECTORS[-1]))
        tail = (bytes(more), rng.bytes(more), data[:more], data)[number % 4]
        yield Damaged(f"{len(tail)} bytes appended", data + tail)


def shifted(data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    """Delete or insert one byte, which shifts all later bytes."""
    for number in range(count):
        place = _bit(data, number, rng)[0]
        if number % 2:
            yield Damaged(f"byte {place} lost", data[:place] + data[place + 1 :])
        else:
            yield Damaged(f"a byte before byte {place}", data[:place] + b"\0" + data[place:])


OTHERS: Mapping[str, Damage] = MappingProxyType(
    {
        "two flipped bits": two_flipped_bits,
        "zeroed pages": zeroed_pages,
        "swapped blocks": swapped_blocks,
        "appended bytes": appended,
        "a byte deleted or inserted": shifted,
    }
)


def damaged(damage: Damage, data: bytes, count: int, rng: np.random.Generator) -> Iterator[Damaged]:
    """Yield `count` damaged files, all of which differ from the original."""
    left = count
    while left:  # some damage changes nothing: two swapped blocks may be equal
        for one in damage(data, left, rng):
            if one.data != data:
                left -= 1
                yield one


def header_end(data: bytes) -> int:
    """Return where the header of a safetensors file ends."""
    return LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")


def _bit(data: bytes, number: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return the position of a byte, and the number of a bit in it."""
    if number < 8 * LENGTH_BYTES:
        return number % LENGTH_BYTES, number // LENGTH_BYTES
    header = header_end(data)
    ends = (LENGTH_BYTES, header) if number % 2 else (header, len(data))
    return int(rng.integers(*ends)), int(rng.integers(8))


def _flipped(data: bytes, *bits: tuple[int, int]) -> bytes:
    changed = bytearray(data)
    for place, bit in bits:
        changed[place] ^= 1 << bit
    return bytes(changed)


def _sectors(data: bytes, count: int, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    for number in range(count):
        size = min(SECTORS[number % len(SECTORS)], len(data) // 2)
        begin = int(rng.integers(len(data) // size)) * size
        yield begin, begin + size


def _with(data: bytes, place: int, part: bytes) -> bytes:
    return data[:place] + part + data[place + len(part) :]

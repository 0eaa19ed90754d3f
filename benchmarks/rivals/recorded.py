"""Recorded shapes of loads, in files of others."""

import re
from pathlib import Path

import numpy as np

from streamplace.errors import FormatError
from streamplace.files.reading import read_text
from streamplace.util.arrays import Floats

NUMBER = re.compile(r"\d+(?:\.\d+)?")
SHARE = 0.5  # of a trace, which is the shape of a load


def read(path: Path) -> Floats:
    """Return the rates in a file: the last number of every line that has one.

    Raises
    ------
    FormatError
        If the file cannot be read, or has no rates that change.
    """
    lines = read_text(path).splitlines()
    rates = np.array([float(found[-1]) for line in lines if (found := NUMBER.findall(line))])
    if len(set(rates)) < 2:
        raise FormatError(f"{path}: has no rates that change, one in a line")
    return rates


def shape(rates: Floats, rng: np.random.Generator, pieces: int) -> Floats:
    """Return a part of a trace, drawn at random: means of equal pieces of it, from 0 to 1."""
    length = max(round(SHARE * len(rates)), min(pieces, len(rates)))
    begin = int(rng.integers(len(rates) - length + 1))
    at = np.linspace(begin, begin + length, pieces + 1)
    sums = np.concatenate([[0.0], np.cumsum(rates)])
    means = np.diff(np.interp(at, np.arange(len(sums)), sums))
    span = float(np.ptp(means))
    return (means - means.min()) / span if span else np.zeros(pieces)

"""Malicious files must do no harm, and the source must not execute the content of files.

Damaged checkpoints and weights are files of the part `readers`, and every bit of a file is flipped
in `tests/policy/test_hashed_tensors.py`.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.hardening.campaigns.corruption import malicious_files, source_scan
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.targets import warm_up


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Read malicious files, and scan the source."""
    with (
        TemporaryDirectory(prefix="streamplace-corruption-") as name,
        Forks(modules=warm_up.READING_WEIGHTS) as forks,
    ):
        yield from malicious_files.malicious_rows(Path(name), forks, share)
    yield source_scan.source_row()

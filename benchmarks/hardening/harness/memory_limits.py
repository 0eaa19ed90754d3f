"""Limits of the memory that a reader may use."""

import subprocess
import sys
from functools import cache

MEGABYTE = 10**6
MAX_BYTES = 300 * MEGABYTE  # of a process without torch
_TORCH = """
import re, numpy
def peak(): return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
before = peak()
import torch
torch.set_num_threads(1)
torch.optim.Adam([torch.zeros(1)])
print(peak() - before)
"""


@cache
def torch_bytes() -> int:
    """Return the memory of torch in bytes, measured in a process that loads it and an optimiser."""
    command = [sys.executable, "-W", "ignore", "-c", _TORCH]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def memory_limit(torch: bool) -> int:
    """Return the memory limit of a process in bytes: 300 MB, plus the memory of torch if used."""
    return MAX_BYTES + (torch_bytes() if torch else 0)


def memory_text(peak: int, torch: bool) -> str:
    """Return peak memory as text, with the limit if that is not 300 MB."""
    limit = f" of {memory_limit(torch) // MEGABYTE} with torch" if torch else ""
    return f"{-(-peak // MEGABYTE)} MB{limit}"

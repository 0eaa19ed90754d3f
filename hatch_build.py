"""Build hook: a wheel holds the kernels, compiled for the Python and the machine that build it."""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PORTABLE = "STREAMPLACE_PORTABLE_WHEEL"
"""The variable that leaves the kernels out of a wheel, which then serves every Python."""


class KernelsHook(BuildHookInterface[Any]):
    """Compiles the kernels, and tags the wheel with the Python and machine that they are for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file of kernels to a wheel, but not to an editable installation.

        pip builds the wheel before it looks at ``requires-python``, so an older Python ends here.
        """
        accepted = self.metadata.core.requires_python.removeprefix(">=")
        if sys.version_info < tuple(map(int, accepted.split("."))):
            sys.exit(
                f"streamplace needs Python {accepted} or newer; this is {sys.version.split()[0]}"
            )
        if version == "editable" or PORTABLE in os.environ:
            return
        with _terminal() as output:  # what is there and current is not compiled again
            self._python("-m", "streamplace.sim.kernels", stdout=output)
        script = "from streamplace.sim.kernels.bundle import PATH; print(PATH)"
        path = self._python("-c", script, stdout=subprocess.PIPE).stdout.strip()
        build_data["force_include"][path] = f"streamplace/sim/kernels/compiled/{Path(path).name}"
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-{_platform()}"
        build_data["pure_python"] = False

    def _python(self, *words: str, stdout: int | None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=self.root, check=True, stdout=stdout, text=True)


@contextmanager
def _terminal() -> Iterator[int | None]:
    """Open the terminal, since pip hides what a build prints; None: print where there is none."""
    try:
        number = os.open("/dev/tty", os.O_WRONLY)
    except OSError:
        yield None
    else:
        with os.fdopen(number, "wb", buffering=0) as terminal:
            terminal.write(b"\n")  # ends the line of pip's progress
            yield number


def _platform() -> str:
    """Return the platform of the tag; on Linux, the kernels need no more than numba does."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return re.sub("^linux_", "manylinux_2_28_", platform)

"""Build hook: a wheel holds the kernels, compiled for the Python and the machine that build it."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PORTABLE = "STREAMPLACE_PORTABLE_WHEEL"
"""The variable that leaves the kernels out of a wheel, which then serves every Python."""


class KernelsHook(BuildHookInterface[Any]):
    """Compiles the kernels, and tags the wheel with the Python and machine that they are for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file of kernels to a wheel, but not to an editable installation."""
        if version == "editable" or PORTABLE in os.environ:
            return
        self._python(
            "-m", "streamplace.sim.kernels"
        )  # what is there and current is not compiled again
        path = self._python(
            "-c", "from streamplace.sim.kernels.bundle import PATH; print(PATH)"
        ).strip()
        build_data["force_include"][path] = f"streamplace/sim/kernels/compiled/{Path(path).name}"
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-{_platform()}"
        build_data["pure_python"] = False

    def _python(self, *words: str) -> str:
        command = [sys.executable, *words]
        return subprocess.run(
            command, cwd=self.root, check=True, stdout=subprocess.PIPE, text=True
        ).stdout


def _platform() -> str:
    """Return the platform of the tag; on Linux, the kernels need no more than numba does."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return re.sub("^linux_", "manylinux_2_28_", platform)

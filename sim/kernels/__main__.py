"""Command ``python -m sim.kernels [FOLDER]``, which compiles the kernels of the package."""

import os
import subprocess
import sys

from sim.kernels import bundle

SETTINGS = {
    "NUMBA_CPU_NAME": bundle.processor(),
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_DISABLE_INTEL_SVML": "1",  # a library that other machines lack
}
others = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
command = [sys.executable, "-m", "sim.kernels.build", *(sys.argv[1:] or [str(bundle.PATH.parent)])]
sys.exit(subprocess.run(command, env=others | SETTINGS, check=False).returncode)

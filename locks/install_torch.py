"""Installer of torch for `make venv`: the CPU build where an index offers it, by hash if known.

PyTorch publishes its CPU builds for Linux on a separate index, which a machine may not have
configured. The lock `torch.txt` is therefore separate from `dev.txt`. The candidates are tried in
this order, and everything that is installed without a hash is reported on stderr:

1. the files whose hashes `torch.txt` lists for this platform and this version of Python;
2. the CPU build of the same version, for which no hash is listed;
3. the default build of the same version, with its own dependencies (on Linux often CUDA);
4. the newest version that streamplace accepts.

A file that does not match its listed hash is an error; the later candidates are not tried then.
The module needs nothing but the standard library, since it runs before anything is installed.
"""

import platform
import re
import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).with_name("torch.txt")
PROJECT = LOCK.parent.parent / "pyproject.toml"
LINUX_CPU = re.compile(r"^torch==([^+\s]+)\+cpu", re.M)
ACCEPTED = re.compile(r'"(torch>=[^"]+)"')
NOT_OFFERED = (
    "No matching distribution found",
    "Could not find a version",
    "ResolutionImpossible",  # what pip says of the first where PIP_CONSTRAINT names torch, too
)


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `pip install`; if it fails, exit with its messages, unless no index has the version."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    run = subprocess.run(
        [*command, "--only-binary", ":all:", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if run.returncode and not any(text in run.stderr for text in NOT_OFFERED):
        sys.exit(run.stderr.strip() or "pip failed without a message")
    return run


def is_installed() -> bool:
    """Return whether this environment has torch."""
    command = [sys.executable, "-c", "import importlib.metadata as m; m.version('torch')"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def report(message: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(f"torch: {message}\n")


def main() -> None:
    """Install torch into the environment of this interpreter."""
    pip("-q", "--require-hashes", "--no-deps", "-r", str(LOCK))
    if is_installed():
        return
    version = LINUX_CPU.findall(LOCK.read_text())[0]
    accepted = ACCEPTED.findall(PROJECT.read_text())[0]
    here = f"Python {platform.python_version()} on {sys.platform} {platform.machine()}"
    for requirement in (f"torch=={version}+cpu", f"torch=={version}", accepted):
        is_cpu_build = requirement.endswith("+cpu")
        if not is_cpu_build and sys.platform == "linux":
            report(
                f"no configured index has a CPU build for {here}; installing {requirement}, which "
                "may take several GB. To avoid that, stop here, add PyTorch's index of CPU builds "
                "to PIP_EXTRA_INDEX_URL, and run make again."
            )
        quiet = ("-q",) if is_cpu_build else ()  # a download of gigabytes shows its progress
        if pip(*quiet, requirement).returncode == 0:
            report(f"{requirement} was installed without a checked hash for {here}")
            return
    sys.exit(f"torch: the configured indexes and constraints leave no build for {here}")


if __name__ == "__main__":
    main()

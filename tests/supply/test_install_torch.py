"""The installer of torch: the candidates that it tries with various package indexes.

Wheels of a dummy package called torch replace the real builds, which take gigabytes. pip and the
virtual environment are real.
"""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SCRIPT = ROOT / "locks" / "install_torch.py"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an empty virtual environment."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder / "bin" / "python"


def wheel(folder: Path, version: str) -> str:
    """Write a wheel of a package named torch; return its hash."""
    path = folder / f"torch-{version}-py3-none-any.whl"
    info, metadata = f"torch-{version}.dist-info", f"Name: torch\nVersion: {version}\n"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\n{metadata}")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def install(
    environment: Path, folder: Path, digest: str, marker: str = "", **variables: str
) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run the installer on a lock with one hash; return the run and the version installed."""
    subprocess.run([environment, "-m", "pip", "uninstall", "-q", "-y", "torch"], check=True)
    (folder / "pyproject.toml").write_text('learn = ["torch>=2.10", "torch-geometric>=2.6"]\n')
    (folder / "locks").mkdir()
    lock = f"torch==2.13.0+cpu{marker} \\\n    --hash=sha256:{digest}\n"
    (folder / "locks" / "torch.txt").write_text(lock)
    script = folder / "locks" / SCRIPT.name
    script.write_bytes(SCRIPT.read_bytes())
    run = subprocess.run(
        [environment, script],
        env={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": "/dev/null"}
        | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    show: list[str | Path] = [
        environment,
        "-c",
        "import importlib.metadata as m; print(m.version('torch'))",
    ]
    shown = subprocess.run(show, capture_output=True, text=True, check=False)
    return run, shown.stdout.strip()


def test_the_listed_cpu_build_is_installed_silently(environment: Path, tmp_path: Path) -> None:
    wheel(tmp_path, "2.13.0")
    run, installed = install(environment, tmp_path, wheel(tmp_path, "2.13.0+cpu"))
    assert (run.returncode, installed, run.stderr) == (0, "2.13.0+cpu", "")


def test_another_file_than_the_listed_one_is_refused(environment: Path, tmp_path: Path) -> None:
    wheel(tmp_path, "2.13.0+cpu")
    wheel(tmp_path, "2.13.0")
    run, installed = install(environment, tmp_path, "0" * 64)
    assert (run.returncode, installed) == (1, "")
    assert "DO NOT MATCH THE HASHES" in run.stderr


def test_a_cpu_build_without_a_listed_hash_is_reported(environment: Path, tmp_path: Path) -> None:
    wheel(tmp_path, "2.13.0+cpu")
    run, installed = install(environment, tmp_path, "0" * 64, " ; python_version < '3'")
    assert (run.returncode, installed) == (0, "2.13.0+cpu")
    assert "torch==2.13.0+cpu was installed without a checked hash for Python 3." in run.stderr


@pytest.mark.parametrize(
    ("offered", "constraint"),
    [("2.13.0", ""), ("2.14.1", ""), ("2.13.0", "torch==2.13.0"), ("2.14.1", "torch<=2.14.1")],
)
def test_the_default_build_is_the_last_resort(
    environment: Path, tmp_path: Path, offered: str, constraint: str
) -> None:
    wheel(tmp_path, offered)
    constraints = tmp_path / "constraints.txt"
    constraints.write_text(constraint)
    run, installed = install(environment, tmp_path, "0" * 64, PIP_CONSTRAINT=str(constraints))
    assert (run.returncode, installed) == (0, offered)
    assert "PIP_EXTRA_INDEX_URL" in run.stderr
    assert "installed without a checked hash" in run.stderr


def test_an_index_without_a_suitable_build_is_an_error(environment: Path, tmp_path: Path) -> None:
    wheel(tmp_path, "2.9.0")
    run, installed = install(environment, tmp_path, "0" * 64)
    assert (run.returncode, installed) == (1, "")
    assert run.stderr.splitlines()[-1].startswith(
        "torch: the configured indexes and constraints leave no build"
    )

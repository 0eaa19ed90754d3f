"""The example package, which adds a placer, a format, a command and more through entry points."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamplace.testing import CHECKS
from tests.docs.blocks import OWN_PACKAGE
from tests.support.cli import CPU_ENVIRONMENT
from tests.support.paths import ROOT

PACKAGE = ROOT / "examples" / "own_package"
CONFIG = PACKAGE / "toy.toml"
COUNT = 24
pytestmark = pytest.mark.long  # installs a package and trains with it


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the installed package and nothing else."""
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(folder)]
    subprocess.run([*pip, *options, str(PACKAGE)], check=True, timeout=120)
    return folder


def run(
    site: Path, cwd: Path, program: Sequence[str], *, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a Python program with the installed package on its path."""
    done = subprocess.run(
        [sys.executable, *program],
        cwd=cwd,
        env={**CPU_ENVIRONMENT, "PYTHONPATH": f"{site}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == code, done.stderr
    return done


def streamplace(site: Path, cwd: Path, *arguments: str, code: int = 0) -> str:
    """Run `streamplace`; return its output."""
    return run(site, cwd, ["-m", "streamplace.cli.main", *arguments], code=code).stdout


@pytest.fixture(scope="module")
def trained(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with graphs of the package's family and a run folder of its policy."""
    folder = tmp_path_factory.mktemp("toy")
    count = str(COUNT)
    made = ("funnel", "--count", count, "--operators", "7-15", "-o", "funnels.jsonl.gz")
    streamplace(site, folder, "generate", *made)
    streamplace(
        site, folder, "train", "funnels.jsonl.gz", "--config", str(CONFIG), "-o", "run", "--json"
    )
    return folder


@pytest.mark.long
def test_the_package_passes_the_checks(site: Path, tmp_path: Path) -> None:
    tests = str(PACKAGE / "tests" / "test_conformance.py")
    done = run(site, tmp_path, ["-m", "pytest", "-q", "-p", "no:cacheprovider", tests])
    assert done.stdout.startswith("." * (len(CHECKS) + 3) + " ")  # a placer, a family, an objective


def test_the_page_that_compares_it(site: Path, tmp_path: Path) -> None:
    """Every block of the page runs, from the checks to the tables."""
    page = ROOT / "docs" / OWN_PACKAGE
    program = "import pathlib, sys; from tests.docs.blocks import run_page; "
    program += "run_page(pathlib.Path(sys.argv[1]).read_text(), pathlib.Path.cwd())"
    run(site, tmp_path, ["-c", program, str(page)])
    assert (tmp_path / "run" / "policy.safetensors").exists()


TOY = """\
toy job
clicks 100000 instructions 100 bytes
count 200000 instructions 50 bytes
clicks > count
"""


def test_its_format_is_read_recognised_and_written(site: Path, tmp_path: Path) -> None:
    (tmp_path / "job.toy").write_text(TOY)
    program = ["-m", "streamplace.cli.main", "place", "job.toy", "--devices", "2x100"]
    wrong = run(site, tmp_path, program, code=2).stderr
    assert "streamplace import job.toy --from toy -o job-graph.json" in wrong
    lines = streamplace(site, tmp_path, "import", "--help").splitlines()
    assert ["toy", "toy:", "a", "job,"] in [line.split()[:4] for line in lines]
    streamplace(site, tmp_path, "import", "job.toy", "--from", "toy", "-o", "graph.json")
    options = ("--devices", "2x100", "--source-rate", "1000", "-o", "placement.json")
    streamplace(site, tmp_path, "place", "graph.json", "--placer", "best-device", *options)
    exported = streamplace(site, tmp_path, "export", "placement.json", "--to", "toy")
    assert exported.splitlines() == [
        "# Lost: the source rate is not in the file",
        "clicks on d0",
        "count on d1",
    ]
    assert "times the mean" in streamplace(site, tmp_path, "spread", "placement.json")


def test_its_format_is_declared_in_one_module_and_one_entry_point() -> None:
    named = [path for path in PACKAGE.glob("**/*.*") if _declares(path)]
    assert sorted(path.name for path in named) == ["format.py", "pyproject.toml"]


def _declares(path: Path) -> bool:
    """Return whether a file declares the format, or registers it."""
    if path.suffix not in (".py", ".toml"):
        return False
    text = path.read_text()
    return "= Format(" in text or "toy_streams.format" in text


def test_its_command_is_listed_and_has_help(site: Path, tmp_path: Path) -> None:
    listed = streamplace(site, tmp_path, "--help")
    assert "  spread      A command of toy-streams." in listed
    assert "--json" in streamplace(site, tmp_path, "spread", "--help")
    program = ["-m", "streamplace.cli.main", "spred", "placement.json"]
    assert "did you mean 'spread'?" in run(site, tmp_path, program, code=2).stderr


def test_the_same_seed_gives_the_same_graphs(site: Path, trained: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl.gz"
    arguments = ("--count", str(COUNT), "--operators", "7-15", "--jobs", "2", "-o", str(again))
    streamplace(site, tmp_path, "generate", "funnel", *arguments)
    assert again.read_bytes() == (trained / "funnels.jsonl.gz").read_bytes()


def test_the_policy_is_better_than_random_in_compare(site: Path, trained: Path) -> None:
    placers = "random,policy:file=run/policy.safetensors"
    options = ("--devices", "4x2500", "--source-rate", "2e4", "--json")
    printed = streamplace(
        site, trained, "compare", "funnels.jsonl.gz", "--placers", placers, *options
    )
    random, policy = json.loads(printed)["rows"]
    assert policy["placer"] == "policy:file=run/policy.safetensors"
    assert policy["mean"] > random["mean"]


def test_the_weights_name_their_kind(site: Path, trained: Path) -> None:
    facts = json.loads(streamplace(site, trained, "info", "run/policy.safetensors", "--json"))
    assert facts["network"] == "load-aware"


def test_the_weights_are_refused_without_the_package(trained: Path, tmp_path: Path) -> None:
    program = ["-m", "streamplace.cli.main", "compare", "funnels.jsonl.gz"]
    options = ["--placers", "policy:file=run/policy.safetensors", "--devices", "4x2500"]
    done = run(tmp_path, trained, [*program, *options], code=2)
    assert "unknown policy 'load-aware'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.long
def test_an_interrupted_run_ends_with_the_same_parameters(
    site: Path, trained: Path, tmp_path: Path
) -> None:
    """The run is interrupted as soon as it has logged a step of its second stage."""
    command = ["-m", "streamplace.cli.main", "train", str(trained / "funnels.jsonl.gz")]
    options = ["--config", str(CONFIG), "-o", str(tmp_path / "run"), "--json"]
    with subprocess.Popen(
        [sys.executable, *command, *options],
        cwd=tmp_path,
        env={**CPU_ENVIRONMENT, "PYTHONPATH": f"{site}:{ROOT}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        log = tmp_path / "run" / "log.jsonl"
        while process.poll() is None:
            if log.exists() and '"reward"' in log.read_text():
                process.send_signal(signal.SIGINT)
                break
        process.wait(timeout=120)
    if process.returncode == 130:
        run(site, tmp_path, [*command, *options, "--resume"])
    parameters = [
        json.loads(streamplace(site, tmp_path, "info", str(path), "--json"))["parameter_hash"]
        for path in (tmp_path / "run/policy.safetensors", trained / "run/policy.safetensors")
    ]
    assert parameters[0] == parameters[1]

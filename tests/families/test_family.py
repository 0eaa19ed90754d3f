"""Custom graph families: lookup, checks, and determinism over processes."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import UsageError
from streamplace.files import read_dataset
from tests.support.cli import ENVIRONMENT, one_line, run
from tests.support.long import long_after
from tests.support.paths import ROOT

CUSTOM = '''
from dataclasses import dataclass
from typing import ClassVar
import streamplace as sp

def chain(operators, rng, name):
    """A chain of operators with random work."""
    names = [f"op_{v}" for v in range(operators)]
    work = rng.random(operators).tolist()
    rows = [(own, 1e4 + 1e5 * u, 100) for own, u in zip(names, work)]
    return sp.StreamGraph(rows, list(zip(names, names[1:])), name=name, source_rate=1000)

@dataclass
class Star:
    """A source that feeds all others."""
    sizes: ClassVar[range] = range(3, 6)
    least: ClassVar[int] = 2
    copies: bool = False

    def __call__(self, operators, rng, name):
        names = [f"op_{v}" for v in range(operators)]
        share = 1.0 if self.copies else 1.0 / (operators - 1)
        streams = [(names[0], own, share) for own in names[1:]]
        rows = [(own, 1e4, 100) for own in names]
        return sp.StreamGraph(rows, streams, name=name, source_rate=1000)

def cyclic(operators, rng, name):
    return sp.StreamGraph([("a", 1, 1), ("b", 1, 1)], [("a", "b"), ("b", "a")], name=name)

def failing(operators, rng, name):
    raise RuntimeError("a fault\\nin two lines")

def text(operators, rng, name):
    return "a graph"

def nameless(operators, rng, name):
    return chain(operators, rng, "")

def pair(a, b):
    return None

class Narrow:
    sizes = range(0, 3)
    def __call__(self, operators, rng, name): ...

class Odd(Narrow):
    sizes = 5

class Large(Narrow):
    sizes = None
    least = 200
'''
FAULTS = {
    "nowhere:chain": "family 'nowhere:chain': there is no module 'nowhere'; it is neither",
    "mine:failing": "family 'mine:failing': graph 0: RuntimeError: a fault in two lines",
    "mine:Star:copy=true": "unknown option 'copy'; did you mean 'copies'",
    "mine:Odd": "family 'mine:Odd': sizes must be a range (got 5)",
    "layered:wide": "family 'layered:wide': unknown option 'wide'; it has no options",
    "ring": "unknown family 'ring'; choose from series-parallel, layered, dream, giph-paper, ",
    "mine:lost": "module 'mine' (FOLDER/mine.py) has no 'lost'",
    "mine:pair": "is not a family: a family is called with operators, rng and name, but",
    "mine:CUSTOM": "module 'mine' (FOLDER/mine.py) has no 'CUSTOM'",
    "mine:sp": "a value of type module is not a family: a family is called with operators, rng",
    "mine:cyclic": "family 'mine:cyclic': graph 0: ",
    "mine:text": "family 'mine:text': graph 0: must be a StreamGraph, not str",
    "mine:nameless": "graph 0: its name must be 'mine:nameless_0', not ''",
    "mine:chain:depth=3": "it has no options; the parameters of a class are options",
    "mine:Star:copies=yes": "copies must be true or false",
    "mine:Narrow": "family 'mine:Narrow': sizes must be 4 to 1000000 (got range(0, 3))",
    "dream:size=3": "family 'dream:size=3': unknown option 'size'; it has no options",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a module of families."""
    (tmp_path / "mine.py").write_text(CUSTOM)
    return tmp_path


def generated(folder: Path, *arguments: object) -> tuple[int, str]:
    """Run `generate` in a folder, as an installed script does; return its exit code and stderr."""
    environment = {**ENVIRONMENT, "PYTHONSAFEPATH": "1"}
    done = run("generate", *arguments, "-o", "x.jsonl", cwd=folder, env=environment)
    assert done.stdout == ""
    return done.returncode, done.stderr.replace(str(folder), "FOLDER")


def sizes_in(folder: Path) -> set[int]:
    return {len(graph.names) for graph in read_dataset(folder / "x.jsonl")}


@pytest.mark.long
def test_the_output_does_not_depend_on_the_number_of_processes(folder: Path) -> None:
    written = []
    for jobs in (1, 2):
        code, err = generated(folder, "mine:chain", "--count", 70, "--seed", 3, "--jobs", jobs)
        assert (code, err) == (0, "wrote 70 graphs of mine:chain, seed 3, to x.jsonl\n")
        written.append((folder / "x.jsonl").read_bytes())
    assert written[0] == written[1]
    graphs = read_dataset(folder / "x.jsonl")
    assert [graph.name for graph in graphs] == [f"mine:chain_{n}" for n in range(70)]
    assert len({graph.sha256 for graph in graphs}) == 70
    assert sizes_in(folder) <= set(range(10, 51))
    assert len(sizes_in(folder)) > 10


def test_a_family_may_have_sizes_and_options(folder: Path) -> None:
    assert generated(folder, "mine:Star", "--count", 20)[0] == 0
    assert sizes_in(folder) == {3, 4, 5}
    split = read_dataset(folder / "x.jsonl")[0]
    assert generated(folder, "mine:Star:copies=true", "--operators", "2")[0] == 0
    (copied,) = read_dataset(folder / "x.jsonl")
    assert sum(stream.selectivity for stream in split.streams) == pytest.approx(1)
    assert [stream.selectivity for stream in copied.streams] == [1]


@pytest.mark.parametrize(
    ("family", "operators", "message"),
    [
        ("mine:Star", 1, "(got 1); the attribute 'least' of the family mine:Star is 2"),
        (
            "mine:chain",
            3,
            "(got 3); the attribute 'least' of the family mine:chain is 4, the default",
        ),
        ("mine:Large", 199, "(got 199); the attribute 'least' of the family mine:Large is 200"),
        ("mine:Large", "300-1000001", "operators must be 200 to 1000000 (got 300-1000001)"),
    ],
)
def test_too_few_or_many_operators_are_refused(
    folder: Path, family: str, operators: int | str, message: str
) -> None:
    code, err = generated(folder, family, "--operators", operators)
    assert code == 2
    assert one_line(err).endswith(message)


@pytest.mark.parametrize(("family", "message"), long_after(6, FAULTS.items()))
def test_an_error_of_a_family_is_one_line(folder: Path, family: str, message: str) -> None:
    code, err = generated(folder, family)
    assert code == 2
    assert message in one_line(err)
    assert not (folder / "x.jsonl").exists()


def test_the_message_names_the_graph_that_failed_in_another_process(folder: Path) -> None:
    late = "\n\ndef late(operators, rng, name):\n    "
    late += "return failing(1, rng, name) if name.endswith('_69') else chain(4, rng, name)\n"
    (folder / "mine.py").write_text(CUSTOM + late)
    code, err = generated(folder, "mine:late", "--count", 70, "--jobs", 2)
    assert code == 2
    assert "family 'mine:late': graph 69: RuntimeError: a fault in two lines" in one_line(err)


def test_an_installed_package_registers_a_family_by_name(folder: Path) -> None:
    about = folder / "ours-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    points = "chain = mine:chain\nlayered = mine:failing\ngone = nowhere:chain\nstar = mine:Star\n"
    (about / "entry_points.txt").write_text(f"[streamplace.families]\n{points}")
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{ROOT}:{folder}"}
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()

    def outcome(*arguments: object) -> tuple[int, str, str]:
        done = run(*arguments, cwd=elsewhere, env=environment)
        return done.returncode, done.stdout, done.stderr

    assert outcome("generate", "star:copies=true", "-o", "x.jsonl")[0] == 0
    assert read_dataset(elsewhere / "x.jsonl")[0].name == "star:copies=true_0"
    assert outcome("generate", "layered", "-o", "y.jsonl")[0] == 0  # the built-in family wins
    assert read_dataset(elsewhere / "y.jsonl") == [sp.Recipe("layered", 1).graph(0)]
    assert "family 'gone': loading nowhere:chain failed" in one_line(
        outcome("generate", "gone", "-o", "-")[2]
    )
    code, _, err = outcome("generate", "xyzzy", "-o", "-")
    assert code == 2
    assert "choose from series-parallel, layered, dream, giph-paper, " in one_line(err)
    assert ", contended, chain, gone, star, or module:function for your own" in one_line(err)
    help_text = outcome("generate", "--help")[1]
    assert "Families of installed packages: chain, gone, star" in help_text
    words = {"COMP_WORDS": "streamplace generate s", "COMP_CWORD": "2"}
    environment |= {**words, "_STREAMPLACE_COMPLETE": "bash_complete"}
    assert outcome()[1].split() == ["plain,series-parallel", "plain,sensor-fusion", "plain,star"]


def test_help_mentions_packages_only_if_they_register_families(folder: Path) -> None:
    assert "installed packages:" not in run("generate", "--help", cwd=folder).stdout


def chain(operators: int, rng: np.random.Generator, name: str) -> sp.StreamGraph:
    """Return a chain of operators."""
    names = [f"op_{v}" for v in range(operators)]
    rows = [(own, 1e6 * u, 10) for own, u in zip(names, rng.random(operators), strict=True)]
    return sp.StreamGraph(rows, [*pairwise(names)], name=name)


def test_a_recipe_accepts_a_function() -> None:
    recipe = sp.Recipe(chain, 5, range(6, 8), seed=2)
    graphs = [recipe.graph(number) for number in range(5)]
    assert [graph.name for graph in graphs] == [f"chain_{number}" for number in range(5)]
    assert {len(graph.names) for graph in graphs} == {6, 7}
    assert recipe.graph(3) == graphs[3]  # graphs do not depend on earlier ones
    with pytest.raises(UsageError, match=re.escape("the class StreamGraph is not a family")):
        sp.Recipe(sp.StreamGraph, 1)  # type: ignore[arg-type]  # the case under test

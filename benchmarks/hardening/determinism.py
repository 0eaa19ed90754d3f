"""Determinism: a seed and a limit by count give the same bytes in every process."""

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.hardening.fresh import COMMAND, VARIED, Surroundings, cleaned, differences
from benchmarks.hardening.rows import Row
from benchmarks.hardening.trained import KINDS
from streamplace.files import write_dataset, write_json
from streamplace.generate import PRESETS, Recipe
from streamplace.policy.weights import unpacked
from streamplace.training.trainer import CHECKPOINT, CONFIG, POLICY
from tests.training.runs import config, of_kind

PROCESSES, STEPS = 10, 200
JOBS = (1, 2, 4)  # worker processes, in turn
GRAPHS = 32 * JOBS[-1]  # fewer are not shared out over four processes
TIMES = ("seconds", "seconds_per_graph")
PLACERS = (
    "search:evaluations=50000",
    "auto:evaluations=50000",
    "multilevel",
    "metis",
    "metis-recursive",
    "metis-oracle",
    "fuser-oracle",
    "greedy",
    "random",
    "policy",
    "policy:samples=16",
    "policy:beam=4",
)
COMPARED = "metis,fuser,greedy,search:evaluations=2000,auto:evaluations=2000,policy:samples=4"


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Ask for everything again in fresh processes; a smaller share starts fewer."""
    processes = max(2, round(PROCESSES * share))
    rng = np.random.default_rng(seed)
    with TemporaryDirectory(prefix="streamplace-determinism-") as name:
        folder = Path(name)
        yield generated(folder, processes, rng)
        yield placed(folder, processes, rng)
        yield compared(folder, processes, rng)
        yield trained(folder, processes, rng)
        yield taught(folder, processes, rng)
        yield together(folder, max(2, processes // 3), rng)


def generated(
    folder: Path,
    processes: int,
    rng: np.random.Generator,
    presets: Sequence[str] = tuple(PRESETS),
    count: int = GRAPHS,
) -> Row:
    """Generate datasets on 1, 2 and 4 worker processes, and a graph, large where there are such."""

    def many(preset: str, around: Surroundings) -> bytes:
        told = ("generate", preset, "--count", count, "--seed", 7)
        around.run(*COMMAND, *told, "--jobs", _jobs(around), "-o", "graphs.jsonl.gz")
        return (around.folder / "graphs.jsonl.gz").read_bytes()

    def one(preset: str, around: Surroundings) -> bytes:
        size = () if preset == "dream" else ("--operators", 2000)
        told = ("generate", preset, *size, "--seed", 7)
        around.run(*COMMAND, *told, "-o", "graph.npz")
        return (around.folder / "graph.npz").read_bytes()

    results = [(f"{preset}, a dataset", partial(many, preset)) for preset in presets]
    results += [(f"{preset}, a graph", partial(one, preset)) for preset in presets]
    varied = f"{VARIED}, --jobs 1|2|4"
    return differences("generate: the files' bytes", results, processes, folder, rng, varied=varied)


def placed(
    folder: Path, processes: int, rng: np.random.Generator, placers: Sequence[str] = PLACERS
) -> Row:
    """Place one graph with every placer that has no clock."""
    graph = folder / "graph.json"
    write_dataset(graph, [Recipe("layered", 1, range(80, 81), seed=3).graph(0)])

    def place(told: tuple[object, ...], around: Surroundings) -> bytes:
        command = ("place", graph, "--source-rate", 1e4, *told, "--json", "--seed", 5)
        return _without_times(around.run(*COMMAND, *command))

    results = [(placer, partial(place, ("--placer", placer))) for placer in placers]
    search = ("--placer", PLACERS[0], "--model", "path-average")
    results.append((f"{PLACERS[0]}, path-average", partial(place, search)))
    return differences("place: the answers, by count", results, processes, folder, rng)


def compared(
    folder: Path,
    processes: int,
    rng: np.random.Generator,
    placers: str = COMPARED,
    count: int = GRAPHS,
) -> Row:
    """Compare on 1, 2 and 4 worker processes; the files come onto the disk in another order."""
    recipe = Recipe("layered", count, range(10, 40), seed=2)
    graphs = [recipe.graph(number) for number in range(count)]

    def compare(around: Surroundings) -> bytes:
        here = around.folder / "graphs"
        here.mkdir()
        for number in rng.permutation(count):
            write_dataset(here / f"{number:03d}.json", [graphs[number]])
        told = ("compare", "graphs", "--placers", placers, "--source-rate", "1e4,2e4", "--seed", 5)
        rest = ("--jobs", _jobs(around), "-o", "found", "--plots", "none", "--json")
        said = _without_times(around.run(*COMMAND, *told, *rest))
        return said + (around.folder / "found" / "graphs.csv").read_bytes()

    varied = f"{VARIED}, --jobs 1|2|4, order in which files were written"
    results = [("compare", compare)]
    what = "compare: table and answers, without times"
    return differences(what, results, processes, folder, rng, varied=varied)


def trained(
    folder: Path,
    processes: int,
    rng: np.random.Generator,
    kinds: Sequence[str] = KINDS,
    steps: int = STEPS,
) -> Row:
    """Train for so many steps: parameters, Adam's moments, memory, log."""
    dataset = _dataset(folder, 12)
    results = []
    for kind in kinds:
        wanted = config(of_kind(kind), sampling={"epochs": steps // 2, "problems_per_step": 6})
        told = folder / f"{kind}.json"
        write_json(told, wanted.model_dump(mode="json"))
        results.append((kind, partial(_train, (dataset, "--config", told), COMMAND, steps)))
    return differences(f"train: state after {steps} steps", results, processes, folder, rng)


def taught(folder: Path, processes: int, rng: np.random.Generator, count: int = GRAPHS) -> Row:
    """Train with a teacher whose placements are made on 1, 2 and 4 worker processes."""
    dataset, told = _dataset(folder, count + 1), folder / "taught.json"
    teacher = {"placer": "search:evaluations=500", "epochs": 1}
    wanted = config(teacher=teacher, sampling={"epochs": 1, "problems_per_step": 16})
    steps = 2 * count // 16
    write_json(told, wanted.model_dump(mode="json"))

    def train(around: Surroundings) -> bytes:
        return _train((dataset, "--config", told, "--jobs", _jobs(around)), COMMAND, steps, around)

    varied = f"{VARIED}, --jobs 1|2|4"
    what = "train with a teacher: state at the end"
    return differences(what, [("teacher", train)], processes, folder, rng, varied=varied)


def together(folder: Path, times: int, rng: np.random.Generator, steps: int = STEPS) -> Row:
    """Train on two processes that torchrun starts, again and again."""
    dataset, told = _dataset(folder, 13), folder / "together.json"
    wanted = config(sampling={"epochs": steps // 2, "problems_per_step": 6})
    write_json(told, wanted.model_dump(mode="json"))
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--standalone")
    two = (*torchrun, "--nproc-per-node", 2, *COMMAND[1:])
    train = partial(_train, (dataset, "--config", told), two, steps)
    what = f"train on two processes of torchrun: state after {steps} steps"
    return differences(what, [("torchrun", train)], times, folder, rng)


def _train(
    told: Sequence[object], program: Sequence[object], steps: int, around: Surroundings
) -> bytes:
    """Return all that a run leaves but times, having seen that it did all steps."""
    around.run(*program, "train", *told, "-o", "run")
    run = around.folder / "run"
    found = [(run / name).read_bytes() for name in (CONFIG, "log.jsonl")]
    for name in (CHECKPOINT, POLICY):
        tensors, words = unpacked((run / name).read_bytes(), name)
        for _, word in sorted(words.items()):
            found.append(_without_times(word) if word.startswith("{") else word.encode())
        found += [x.numpy().tobytes() + key.encode() for key, x in sorted(tensors.items())]
    done = len((run / "log.jsonl").read_text().splitlines())
    if done != steps:
        raise RuntimeError(f"{done} steps and not {steps}")
    shutil.rmtree(run)
    return b"\n".join(found)


def _dataset(folder: Path, count: int) -> Path:
    path = folder / f"{count}.jsonl"
    recipe = Recipe("layered", count, range(6, 16), seed=1)
    write_dataset(path, (recipe.graph(number) for number in range(count)))
    return path


def _jobs(around: Surroundings) -> int:
    return JOBS[around.number % len(JOBS)]


def _without_times(text: str) -> bytes:
    return json.dumps(cleaned(json.loads(text), TIMES)).encode()

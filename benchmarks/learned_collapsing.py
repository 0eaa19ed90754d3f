"""Learned collapsing of streams before `auto` searches, at equal CPU time.

    python -m benchmarks.learned_collapsing -o FOLDER [--training 100] [--rewarded 200]
        [--tests 300] [--controls 75]

After Nie et al. (IPDPS 2023): a network scores streams, the ends of the best ones are joined until
few groups are left, a search places the groups, and another one goes on from their placement on the
whole problem. Both searches are `auto`, and all of it together has the time of `auto` alone. One
network serves all graphs and devices. It learns which streams have both ends on one device in what
`auto` finds in 3 s, and then by REINFORCE with a memory of the best scores of each problem; the
reward is the throughput of the groups after 0.05 s of `auto`.

Problems are those of `benchmarks.real_sizes` with 100 to 3,000 operators and links that bind: after
0.1 s of `auto`, the largest utilisation is 2% above what CPU work alone allows. Those for training
and for tests have different seeds. Controls have scores of the untrained network, of the traffic
(heavy edges), and random ones; the last row places the groups for a tenth of the time instead of
three tenths. A row has the geometric mean of the throughput over that of `auto`, not limited by the
source rate, with a 95% interval from a bootstrap over problems; the share of problems on which it
is lower and higher by more than 0.5%; the same mean of the placement of the groups, before the
second search; and the ratio of the trained network to it on the same problems. What takes more than
1.3 times as long as `auto` may is left out. Clocks count CPU time, that of the network included.

FOLDER keeps labels, weights and results; an interrupted run goes on.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from benchmarks.real_sizes.problems import SIZES, Recipe, drawn
from benchmarks.real_sizes.rivals import LATE, Worth
from benchmarks.real_sizes.tables import BINDING, LOWER
from benchmarks.result_lines import add, read
from streamplace import Constraints, Placement, Problem
from streamplace.files.writing import make_folder
from streamplace.placers.registry import make_placer
from streamplace.scoring.flow import flow
from streamplace.sim import work_clock
from streamplace.util.arrays import Floats, Ints
from streamplace.util.effect import Effect

LARGE = [size for size in SIZES if size >= 100]
LEAST_DEVICES = 4
TRAINING_SEED, TEST_SEED = 101, 202
DRAWN = 10  # recipes for each problem that is wanted; links bind on about half
QUICK_S, LABEL_S, TOTAL_S, REWARD_S = 0.1, 3.0, 1.0, 0.05
COARSE, SHORT = 0.3, 0.1  # share of the time in which the groups are placed; only as a start
GROUPS = 4  # per device
HEAVIEST = 0.5  # work of a group, as a share of the mean per device
HIDDEN, HOPS = 32, 2
OWN, OF_STREAM = 11, 6  # features of an operator and of a stream
VECTORS, SWEEPS = 8, 10  # of the algebraic distance
TINY = 1e-9  # keeps logarithms finite
EPOCHS, RATE = 30, 3e-3
SAMPLES, SPREAD, REWARD_RATE = 3, 1.0, 3e-4  # of REINFORCE; the spread is that of sampled scores

AUTO, LEARNED, HEAVY, REWARDED = "auto", "learned", "heavy edges", "learned, then rewarded"
START = "learned, groups placed for a tenth"
MAIN, CONTROLS = (AUTO, LEARNED, HEAVY), (REWARDED, "untrained", "random", START)
Scores = Callable[[Problem], Floats]
"""What returns a score for each stream, (E,); those with the highest scores are collapsed."""


class Features(NamedTuple):
    """What the network reads of a problem; nothing depends on the order of devices.

    Parameters
    ----------
    operators
        (V, OWN) features of the operators, and of the problem.
    streams
        (E, OF_STREAM) features of the streams.
    ends, others
        (2E,) sources, then targets of the streams; and the operator at the other end.
    share
        (2E,) share of each stream in the traffic of the operator at its end.
    """

    operators: Tensor
    streams: Tensor
    ends: Tensor
    others: Tensor
    share: Tensor


def features(problem: Problem) -> Features:
    """Return the features of a problem."""
    it = flow(problem)
    source, target = it.source.astype(np.int64), it.target.astype(np.int64)
    ends, others = np.concatenate([source, target]), np.concatenate([target, source])
    traffic, streams = it.traffic, len(source)
    of_ends = np.bincount(ends, np.tile(traffic, 2), it.operators) + TINY
    share = np.tile(traffic, 2) / of_ends[ends]
    work, spread = it.work / it.capacity.mean(), it.capacity.std() / it.capacity.mean()
    depth = np.zeros(it.operators)
    for s, t in zip(source.tolist(), target.tolist(), strict=True):
        depth[t] = max(depth[t], depth[s] + 1)
    degrees = [np.log1p(np.bincount(each, minlength=it.operators)) for each in (source, target)]
    whole = np.log([it.devices, it.operators, work.sum() / it.devices, traffic.sum() / it.devices])
    of_operators = (
        *(np.log(work + TINY), np.log(of_ends), *degrees, depth / max(1.0, depth.max())),
        *(np.full(it.operators, number) for number in (*whole, spread, float(it.nic))),
    )
    of_streams = (
        *(np.log(traffic + TINY), np.argsort(np.argsort(traffic)) / streams),
        *(share[:streams], share[streams:]),
        np.log(distance(it.operators, ends, others, share) + TINY),
        np.log((traffic + TINY) / (np.minimum(work[source], work[target]) + TINY)),
    )
    numbers = np.stack(of_operators, axis=1), np.stack(of_streams, axis=1), share
    own, between, shares = (torch.from_numpy(each.astype(np.float32)) for each in numbers)
    return Features(own, between, torch.from_numpy(ends), torch.from_numpy(others), shares)


def distance(operators: int, ends: Ints, others: Ints, share: Floats) -> Floats:
    """Return the algebraic distance of the ends of each stream, (E,).

    After Ron, Safro and Brandt (2011): random numbers of operators, averaged over neighbours a few
    times, are alike where operators are strongly connected.
    """
    at = np.random.default_rng(0).random((VECTORS, operators)) - 0.5
    for _ in range(SWEEPS):
        at = 0.5 * at + 0.5 * np.stack(
            [np.bincount(ends, share * r[others], operators) for r in at]
        )
    streams = len(ends) // 2
    apart = np.abs(at[:, ends[:streams]] - at[:, others[:streams]])
    far: Floats = apart.mean(axis=0) / (at.std() + TINY)
    return far


class Network(nn.Module):
    """A score for each stream, from messages between operators along streams."""

    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.zeros(2, OWN + OF_STREAM))
        self.read = nn.Linear(OWN, HIDDEN)
        self.hops = nn.ModuleList(nn.Linear(3 * HIDDEN, HIDDEN) for _ in range(HOPS))
        self.join = nn.Linear(3 * HIDDEN + OF_STREAM, HIDDEN)
        self.score = nn.Linear(HIDDEN, 1)

    def fit_scale(self, some: list[Features]) -> None:
        """Read the mean and the standard deviation of all features."""
        tables = torch.cat([x.operators for x in some]), torch.cat([x.streams for x in some])
        self.scale[0] = torch.cat([table.mean(dim=0) for table in tables])
        self.scale[1] = torch.cat([table.std(dim=0) for table in tables]) + TINY

    def forward(self, it: Features) -> Tensor:
        """Return the logits that the ends of the streams belong together, (E,)."""
        mean, width = self.scale
        state = torch.relu(self.read((it.operators - mean[:OWN]) / width[:OWN]))
        count = torch.bincount(it.ends, minlength=len(state)).clamp(min=1)[:, None]
        for hop in self.hops:
            sent = state[it.others]
            alike = torch.zeros_like(state).index_add(0, it.ends, sent) / count
            heavy = torch.zeros_like(state).index_add(0, it.ends, sent * it.share[:, None])
            state = state + torch.relu(hop(torch.cat([state, alike, heavy], dim=1)))
        source, target = state[it.ends].chunk(2)
        between = (it.streams - mean[OWN:]) / width[OWN:]
        pair = [source + target, (source - target).abs(), source * target, between]
        found: Tensor = self.score(torch.relu(self.join(torch.cat(pair, dim=1))))[:, 0]
        return found

    def of(self, problem: Problem) -> Floats:
        """Return the scores of the streams, (E,)."""
        with torch.no_grad():
            scores: Floats = self(features(problem)).numpy()
        return scores


@dataclass(frozen=True)
class Example:
    """A training problem, and which streams its best known placement keeps on one device, (E,)."""

    problem: Problem
    features: Features
    together: Tensor

    @classmethod
    def of(cls, row: dict[str, Any]) -> "Example":
        """Return the example of a line of labels."""
        problem, devices = Recipe.of(row["problem"]).problem(), np.array(row["devices"])
        same = devices[flow(problem).source] == devices[flow(problem).target]
        return cls(problem, features(problem), torch.from_numpy(same.astype(np.float32)))


def collapsed(problem: Problem, scores: Floats) -> Problem:
    """Return the problem whose groups of operators stay together.

    The ends of the streams with the highest scores are joined, one stream after another, unless the
    group would be too heavy, until few groups are left.
    """
    it = flow(problem)
    root, work, left = list(range(it.operators)), it.work.tolist(), it.operators
    most = HEAVIEST * it.work.sum() / it.devices
    order = np.argsort(-scores, kind="stable")
    for s, t in zip(it.source[order].tolist(), it.target[order].tolist(), strict=True):
        if left <= GROUPS * it.devices:
            break
        a, b = find(root, s), find(root, t)
        if a != b and work[a] + work[b] <= most:
            root[b] = a
            work[a] += work[b]
            left -= 1
    members: dict[int, list[str]] = {}
    for v, name in enumerate(problem.graph.names):
        members.setdefault(find(root, v), []).append(name)
    together = Constraints(colocate=[group for group in members.values() if len(group) > 1])
    objective = problem.objective
    return Problem(problem.graph, problem.cluster, objective=objective, constraints=together)


def find(root: list[int], at: int) -> int:
    """Return the root of an operator, and shorten the way to it."""
    while root[at] != at:
        root[at] = root[root[at]]
        at = root[at]
    return at


def auto(problem: Problem, seconds: float, start: Placement | None = None) -> Placement:
    """Run `auto` for some CPU time."""
    placer = make_placer(f"auto:seconds={seconds:.6f}:prefer=balance")
    return placer(problem, np.random.default_rng(0), start)


def placements(
    problem: Problem, scores: Scores | None, share: float = COARSE
) -> tuple[Placement, ...]:
    """Return the placement of the groups and the one that it leads to; without scores, `auto`'s."""
    begun = work_clock.now()
    if scores is None:
        return (auto(problem, TOTAL_S),)
    coarse = collapsed(problem, scores(problem))
    groups = auto(coarse, share * (TOTAL_S - (work_clock.now() - begun)))
    start = Placement(problem, groups.devices)
    left = max(0.0, TOTAL_S - (work_clock.now() - begun))
    return start, auto(problem, left, start)


def imitate(examples: list[Example], epochs: int) -> Network:
    """Return a network that has learned which streams stay within a device."""
    torch.manual_seed(0)
    network, rng = Network(), np.random.default_rng(0)
    network.fit_scale([one.features for one in examples])
    optimiser = torch.optim.Adam(network.parameters(), RATE)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, max(1, epochs * len(examples)))
    for number in (n for _ in range(epochs) for n in rng.permutation(len(examples)).tolist()):
        logits, together = network(examples[number].features), examples[number].together
        loss = nn.functional.binary_cross_entropy_with_logits(logits, together)
        step(optimiser, loss)
        falling.step()
    return network


def step(optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
    """Take one step down the gradient of a loss."""
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()


def reinforce(network: Network, examples: list[Example], steps: int) -> None:
    """Train a network by the throughput that the groups of sampled scores reach.

    Sampled scores are the network's with normal noise. The best ones of each problem stay in a
    memory, and are learned from beside the samples, as in Ni et al. (AAAI 2020).
    """
    torch.manual_seed(0)
    optimiser = torch.optim.Adam(network.parameters(), REWARD_RATE)
    memory: dict[int, tuple[float, Tensor]] = {}
    for number in np.random.default_rng(0).integers(len(examples), size=steps).tolist():
        problem, mean = examples[number].problem, network(examples[number].features)
        worth = Worth.for_problem(problem)
        tried = [memory[number]] if number in memory else []
        for _ in range(SAMPLES):
            scores = mean.detach() + SPREAD * torch.randn(len(mean))
            found = auto(collapsed(problem, scores.numpy()), REWARD_S)
            tried.append((-float(np.log(worth.of(found.devices))), scores))
        memory[number] = max(tried, key=lambda pair: pair[0])
        rewards = torch.tensor([reward for reward, _ in tried])
        gains = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        away = torch.stack([((scores - mean) ** 2).mean() for _, scores in tried])
        step(optimiser, (gains * away).mean() / (2 * SPREAD**2))


def binding(count: int, seed: int, path: Path) -> Iterator[tuple[Recipe, dict[str, Any]]]:
    """Yield recipes whose links bind, with their lines of a file, which gets those that lack."""
    known = {row["problem"]: row for row in read(path)}
    for recipe in drawn(DRAWN * count, seed, LARGE, LEAST_DEVICES):
        if str(recipe) not in known:
            problem = recipe.problem()
            worth = Worth.for_problem(problem)
            quick = worth.of(auto(problem, QUICK_S).devices)
            row = {"problem": str(recipe), "quick": quick, "least": worth.least}
            if seed == TRAINING_SEED and quick > BINDING * worth.least:
                row["devices"] = auto(problem, LABEL_S).devices.tolist()
            with path.open("a") as file:
                add(file, row)
            known[str(recipe)] = row
        if known[str(recipe)]["quick"] > BINDING * known[str(recipe)]["least"]:
            yield recipe, known[str(recipe)]
            count -= 1
        if not count:
            return


def networks(folder: Path, training: int, rewarded: int) -> dict[str, Network]:
    """Return the networks by row; those that are trained are kept in a folder."""
    rows = binding(training, TRAINING_SEED, folder / "labels.jsonl")
    examples = [Example.of(row) for _, row in rows]
    made = {name: imitate(examples, 0) for name in ("untrained", LEARNED, REWARDED)}
    files = [folder / f"{name}.safetensors" for name in (LEARNED, REWARDED)]
    if not files[1].exists():
        begun = time.process_time()
        network = imitate(examples, EPOCHS)
        save_file(network.state_dict(), files[0])
        print(f"imitation: {time.process_time() - begun:.0f} CPU s", flush=True)
        reinforce(network, examples, rewarded)
        save_file(network.state_dict(), files[1])
        print(f"in all: {time.process_time() - begun:.0f} CPU s", flush=True)
    for name, file in zip((LEARNED, REWARDED), files, strict=True):
        made[name].load_state_dict(load_file(file))
    return made


def measure(recipe: Recipe, row: str, scores: Scores | None) -> dict[str, Any]:
    """Return the largest utilisations of one row on one problem, and its CPU time."""
    problem = recipe.problem()
    worth = Worth.for_problem(problem)  # outside the clock, as all rows need its arrays
    begun = work_clock.now()
    found = placements(problem, scores, SHORT if row == START else COARSE)
    seconds = work_clock.now() - begun
    values = [worth.of(placement.devices) for placement in found]
    return {"problem": str(recipe), "row": row, "values": values, "cpu_s": seconds}


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", dest="folder", type=Path, required=True)
    parser.add_argument("--training", type=int, default=100, help="training problems")
    parser.add_argument("--rewarded", type=int, default=200, help="steps of REINFORCE")
    parser.add_argument("--tests", type=int, default=300, help="problems")
    parser.add_argument("--controls", type=int, default=75, help="problems of all lines")
    options = parser.parse_args()
    make_folder(options.folder)
    torch.set_num_threads(1)
    with work_clock.cpu_time():
        made = networks(options.folder, options.training, options.rewarded)
        scores: dict[str, Scores | None] = {name: network.of for name, network in made.items()}
        scores |= {AUTO: None, HEAVY: lambda problem: flow(problem).traffic}
        scores[START] = scores[LEARNED]
        scores["random"] = lambda problem: np.random.default_rng(0).random(
            len(flow(problem).source)
        )
        path = options.folder / "results.jsonl"
        known = {(row["problem"], row["row"]) for row in read(path)}
        for rows, count in ((MAIN, options.tests), (CONTROLS, options.controls)):
            for recipe, _ in binding(count, TEST_SEED, options.folder / "tests.jsonl"):
                for row in (row for row in rows if (str(recipe), row) not in known):
                    with path.open("a") as file:
                        add(file, measure(recipe, row, scores[row]))
    print(*table(read(path)), sep="\n")


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a table in Markdown, one for each row of scores."""
    by_row: dict[str, dict[str, Any]] = {row["row"]: {} for row in rows}
    for row in rows:
        if row["cpu_s"] <= LATE * TOTAL_S:
            by_row[row["row"]][row["problem"]] = row
    head = (
        "scores",
        "problems",
        "over auto",
        "lower",
        "higher",
        "groups",
        "learned over it",
        "CPU s",
    )
    lines = [" | ".join(head), "|".join(["---"] * len(head))]
    for name, found in by_row.items():
        over = logs(by_row[AUTO], found)
        seconds = np.mean([row["cpu_s"] for row in found.values()])
        shares = f"{(over < np.log(LOWER)).mean():.1%} | {(over > -np.log(LOWER)).mean():.1%}"
        first, beside = logs(by_row[AUTO], found, 0), logs(found, by_row[LEARNED])
        cells = f"{ratio(over)} | {shares} | {ratio(first)} | {ratio(beside)} | {seconds:.2f}"
        lines.append(f"{name} | {len(found)} | {cells}")
    return [f"| {line} |" for line in lines]


def logs(base: dict[str, Any], other: dict[str, Any], at: int = -1) -> Floats:
    """Return the logarithms of throughput over that of a base, on the problems of both, (P,)."""
    both = [name for name in other if name in base]
    return np.log([base[name]["values"][-1] / other[name]["values"][at] for name in both])


def ratio(of_logs: Floats) -> str:
    """Return a geometric mean with its interval as text."""
    effect = Effect.of(of_logs)
    mean, low, high = np.exp([effect.mean, effect.low, effect.high])
    return f"{mean:.4f}" + f" [{low:.4f}, {high:.4f}]" * (effect.interval is not None)


if __name__ == "__main__":
    main()

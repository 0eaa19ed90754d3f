"""Claims of published systems as data, held against the results of a study by one rule.

A paper's claims are in ``claims.toml`` of its folder. A claim names what the paper says, where, and
which rows of the study decide it. A verdict follows from an interval: *reproduced* if all of it
lies on the paper's side, *refuted* if all of it lies on the other side, else *undecided*.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from streamplace.papers.studies.study import Row
from streamplace.util.arrays import Floats
from streamplace.util.effect import FEWEST, RESAMPLES, SHARE

SAME = 1e-6  # relative difference of two figures that counts as a tie, unless a paper has a `tie`
TIE = 1e-3  # an interval that ends nearer to the limit does not exclude it; figures have 3 digits
FEWEST_SEEDS = 5
"""Of one system on one member of the sample: the range of three or four seeds holds less than 95%
of their resampled means."""
WORD = re.compile(r"[a-z0-9]+")
Word = Literal["reproduced", "refuted", "undecided", "open"]
Measure = Literal[
    "ratio",
    "ratio of means",
    "difference",
    "better",
    "not worse",
    "lead",
    "value",
    "q1",
    "median",
    "least",
    "above",
]
Select = dict[str, str | int | float | bool | list[str]]
"""Values that fields of a row must have; a list stands for several systems, one for each value."""


class Claim(BaseModel):
    """A statement of a paper, and what decides it.

    Attributes
    ----------
    place
        The table, figure or section of the paper.
    says
        The statement.
    published
        The published figure; empty: the paper has none.
    setting
        ``published`` if the published setting was run, else in what ours differs.
    of_members
        Of the measure ``least``: the number of members in the paper. The figure is the median of
        the least of so many, drawn without replacement.
    of, against
        The rows of the system and of its rivals. Every combination of listed values is a rival; of
        the system, it is the mean over them that counts.
    ranges
        Field of a row -> its lowest and its highest value in the sample.
    rival
        What counts where rivals are several: the best of them for each member of the sample, or
        their mean.
    sample
        The fields of a row that name a member of the sample, whose figures are averaged if it has
        several.
    value, at
        The field of a row with the figure, and the place in it if it is a list; ``each``: every
        place is a member of the sample.
    last
        Only the row with the largest value of this field counts, as with checkpoints.
    measure
        ``ratio`` and ``difference`` to the rival, means over the sample; ``ratio of means``;
        ``better``, ``not worse``
        and ``lead``: the shares of the sample where the system is better, where it is not worse,
        and their difference to the share where it is worse; ``value``, ``q1``, ``median``,
        ``least``: of the system alone; ``above``: the share of its values above `over`.
    higher
        Whether a higher figure of a row is the better one.
    tie
        The difference of two figures, in their unit, that counts as a tie; 0: 1e-6 of the rival's.
    side, limit, within
        The paper's side: ``below`` or ``above`` the limit, or ``near`` it, by at most `within`.
    below_full
        Whether only members count where the rival's figure is below 1.
    units
        Beginnings of the keys of the units that decide it, where its selections do not name them.
    cpu_s
        The CPU seconds of the kept units that decide it; None: none was run.
    open
        Why there is no figure: what was not run, or cannot be compared.
    """

    model_config = ConfigDict(extra="forbid")

    place: str
    says: str
    published: str = ""
    setting: str = ""
    of: Select = {}
    against: Select = {}
    ranges: dict[str, tuple[float, float]] = {}
    rival: Literal["best", "mean"] = "best"
    sample: list[str] = []
    value: str = ""
    at: int | Literal["each"] = -1
    last: str = ""
    measure: Measure = "ratio"
    over: float = 0.0
    of_members: int | None = None
    higher: bool = False
    tie: float = 0.0
    side: Literal["below", "above", "near"] = "below"
    limit: float = 1.0
    within: float = 0.0
    below_full: bool = False
    units: list[str] = []
    cpu_s: float | None = None
    open: str = ""

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if bool(self.of) == bool(self.open):
            raise ValueError(f"{self.place}: either of or open decides a claim")
        return self

    def systems(self, field: str) -> set[Any]:
        """Return the systems that it selects; the field of a row names a system."""
        named = [select[field] for select in (self.of, self.against) if select]
        return {name for one in named for name in (one if isinstance(one, list) else [one])}


class Claims(BaseModel):
    """The claims of one paper.

    Attributes
    ----------
    paper
        The paper.
    study, command
        The study whose rows decide, and the command that runs one CLAIM of it.
    unit_s
        Each study of the paper -> the mean CPU seconds of its kept units.
    system
        The field of a row that names a system; every claim with rows selects by it.
    sample
        The fields of a row that name a member of the sample: a graph, or a case.
    setting, value, at, last, higher, tie
        Those of `Claim`, for all claims that do not state their own.
    every
        What every row has, of the system and of its rivals, unless a claim states another value.
    claim
        The claims, in the order of the paper.
    """

    model_config = ConfigDict(extra="forbid")

    paper: str
    study: str
    command: str
    unit_s: dict[str, float] = {}
    system: str = "system"
    setting: str = ""
    sample: list[str]
    value: str
    at: int | Literal["each"] = -1
    last: str = ""
    higher: bool = False
    tie: float = 0.0
    every: Select = {}
    claim: list[Claim]

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, data: Any) -> Any:
        shared = {
            key: data[key]
            for key in ("setting", "sample", "value", "at", "last", "higher", "tie")
            if key in data
        }
        claims = [{**shared, **one} for one in data["claim"]]
        for one in claims:
            for rows in ("of", "against"):
                if one.get(rows):
                    one[rows] = {**data.get("every", {}), **one[rows]}
        return {**data, "claim": claims}

    @classmethod
    def of(cls, paper: str) -> Self:
        """Return the claims of the paper in a folder of `streamplace.papers`."""
        text = (files("streamplace.papers") / paper / "claims.toml").read_text(encoding="utf-8")
        return cls.model_validate(tomllib.loads(text))

    @property
    def rows(self) -> list[str]:
        """The name of each claim: its place and a number, such as ``table-2-1``."""
        places = ["-".join(WORD.findall(one.place.lower())) for one in self.claim]
        return [f"{place}-{places[: i + 1].count(place)}" for i, place in enumerate(places)]

    @property
    def runnable(self) -> dict[str, Claim]:
        """The claims that the study can decide, by name."""
        return {row: one for row, one in zip(self.rows, self.claim, strict=True) if one.of}

    def verdicts(self, rows: Sequence[Row]) -> Iterator[tuple[Claim, "Verdict"]]:
        """Yield each claim with what results of the study say about it."""
        of_system: dict[Any, list[Row]] = {}
        for row in rows:
            of_system.setdefault(row.get(self.system), []).append(row)
        for claim in self.claim:
            named = claim.systems(self.system)
            yield (
                claim,
                Verdict.of(claim, [row for name in named for row in of_system.get(name, ())]),
            )


class Verdict(BaseModel):
    """What results say about a claim.

    Attributes
    ----------
    word
        ``reproduced``, ``refuted``, ``undecided``, or ``open`` without a figure.
    mean, low, high
        The figure and its 95% interval; none: too few members and seeds for an interval.
    seeds, rival_seeds
        Trainings, or repeats, of the system and of the rival with the fewest; 0: there is no rival.
    members
        Graphs or cases of the sample.
    """

    word: Word
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    seeds: int = 0
    rival_seeds: int = 0
    members: int = 0

    @classmethod
    def of(cls, claim: Claim, rows: Sequence[Row]) -> Self:
        """Return the verdict on a claim; open if no row of it is there.

        The interval is that of a bootstrap over members of the sample and over seeds alike, each
        only where there are three or more; with fewer than three members, where there are five
        seeds.
        """
        if not claim.of:
            return cls(word="open")
        system, *rivals = _tables(claim, rows)
        if system.size == 0:
            return cls(word="open")
        if claim.below_full:
            kept = rivals[0].mean(axis=0) < 1.0 - (claim.tie or SAME)
            system, rivals = system[:, kept], [one[:, kept] for one in rivals]
        even = [_even(one.shape[0]) for one in (system, *rivals)]
        mean = float(_statistic(claim, system, rivals, even, _even(system.shape[1]))[0])
        low, high = np.nan, np.nan
        if claim.of_members is not None:
            mean, low, high = _least_of(system, claim.of_members)
        elif system.shape[1] >= FEWEST or system.shape[0] >= FEWEST_SEEDS:
            seeds = [one.shape[0] for one in (system, *rivals)]
            weights = [_drawn(count, number) for number, count in enumerate(seeds, start=1)]
            drawn = _statistic(claim, system, rivals, weights, _drawn(system.shape[1], 0))
            tail = (1.0 - SHARE) / 2.0
            low, high = (float(each) for each in np.quantile(drawn, [tail, 1.0 - tail]))
        seeds, members = system.shape
        ends = {} if np.isnan(low) else {"low": low, "high": high}
        word = _word(claim, low, high)
        of_rivals = min((one.shape[0] for one in rivals), default=0)
        return cls(
            word=word, mean=mean, seeds=seeds, rival_seeds=of_rivals, members=members, **ends
        )

    def cells(self, claim: Claim) -> tuple[str, str, str]:
        """Return the cells of a table: the figure, the sample, and the verdict in words.

        The sample has the seeds of the system and of its rival, and the members. An undecided claim
        has the difference that would have shown.
        """
        figure = "" if self.mean is None else f"{self.mean:.3f}"
        rival = f" and {self.rival_seeds}" if self.rival_seeds else ""
        sample = f"{self.seeds}{rival}, {self.members or '-'}" if self.seeds else ""
        if self.word == "open":
            return figure, sample, claim.open or "not run"
        if self.low is None or self.high is None:
            return figure, sample, f"{self.word}: no interval"
        figure = f"{figure} ({self.low:.3f} to {self.high:.3f})"
        if self.word != "undecided":
            return figure, sample, self.word
        if claim.side == "near":
            return figure, sample, f"undecided: reaches beyond ±{claim.within:g}"
        return figure, sample, f"undecided; {(self.high - self.low) / 2.0:.3f} would show"


def _word(claim: Claim, low: float, high: float) -> Word:
    if claim.side == "near":
        least, most = claim.limit - claim.within, claim.limit + claim.within
        if least <= low and high <= most:
            return "reproduced"
        return "refuted" if high < least or low > most else "undecided"
    below, above = high < claim.limit - TIE, low > claim.limit + TIE
    if claim.side == "above":
        below, above = above, below
    return "reproduced" if below else "refuted" if above else "undecided"


def _statistic(
    claim: Claim,
    system: Floats,
    rivals: Sequence[Floats],
    weights: Sequence[Floats],
    members: Floats,
) -> Floats:
    """Return the measure of a claim for each of D weightings of seeds and members, (D,).

    Parameters
    ----------
    system, rivals
        Figures by seed and member, (R, N) each.
    weights
        Of the seeds of the system and of each rival, (D, R) each, with sums of 1.
    members
        Of the members, (D, N), with sums of 1.
    """
    own = weights[0] @ system
    if claim.measure in ("ratio", "ratio of means", "difference"):
        best = np.fmax if claim.higher else np.fmin
        means = [weight @ one for weight, one in zip(weights[1:], rivals, strict=True)]
        rival = np.mean(means, axis=0) if claim.rival == "mean" else best.reduce(means)
        if claim.measure == "ratio of means":
            return np.asarray((own * members).sum(axis=1) / (rival * members).sum(axis=1))
        each = own / rival if claim.measure == "ratio" else own - rival
        return np.asarray((each * members).sum(axis=1))
    if claim.measure in ("better", "not worse", "lead"):
        (rival,) = rivals
        gain = (system[:, None] - rival[None]) * (1.0 if claim.higher else -1.0)
        tie = claim.tie or SAME * rival[None]
        better, worse = gain > tie, gain < -tie
        counted = {
            "better": better * 1.0,
            "not worse": ~worse * 1.0,
            "lead": better * 1.0 - worse,
        }[claim.measure]
        of_pairs = np.einsum("rsn,dn->rsd", counted, members)
        return np.asarray(np.einsum("rsd,dr,ds->d", of_pairs, weights[0], weights[1]))
    if claim.measure == "value":
        return np.asarray((own * members).sum(axis=1))
    if claim.measure == "above":
        share = np.asarray(system > claim.over, float)
        return np.asarray(((weights[0] @ share) * members).sum(axis=1))
    quantile = {"least": 0.0, "q1": 0.25, "median": 0.5}[claim.measure]
    order = np.argsort(own, axis=1)
    reached = np.cumsum(np.take_along_axis(members, order, axis=1), axis=1) >= quantile
    present = reached & (np.take_along_axis(members, order, axis=1) > 0.0)
    quantiles: Floats = np.take_along_axis(own, order, axis=1)[
        np.arange(len(own)), present.argmax(axis=1)
    ]
    return quantiles


def _least_of(system: Floats, members: int) -> tuple[float, float, float]:
    """Return the median of the least figure of some members, and its 95% interval."""
    figures, rng = np.sort(system.mean(axis=0)), np.random.default_rng(0)
    count = len(figures)
    least = [rng.choice(count, min(members, count), replace=False).min() for _ in range(RESAMPLES)]
    tail = (1.0 - SHARE) / 2.0
    low, median, high = figures[np.quantile(least, [tail, 0.5, 1.0 - tail]).astype(int)]
    return float(median), float(low), float(high)


def _even(count: int) -> Floats:
    return np.full((1, count), 1.0 / count)


@lru_cache(maxsize=8)  # claims of one study have the same members
def _drawn(count: int, seed: int) -> Floats:
    """Return how often each of some things is in a resample, as shares, for all resamples."""
    if count < FEWEST:
        return np.repeat(_even(count), RESAMPLES, axis=0)
    rng = np.random.default_rng(seed)
    drawn: Floats = rng.multinomial(count, np.full(count, 1.0 / count), size=RESAMPLES) / count
    return drawn


def _tables(claim: Claim, rows: Sequence[Row]) -> list[Floats]:
    """Return the figures of the system and of each rival by seed and member, (R, N).

    Only members count that all of them have with all of their seeds. No figure of another seed
    stands in for one that is missing: a seed that lacks a third of the members is left out.
    """
    chosen = [claim.of, *selections(claim.against)] if claim.against else [claim.of]
    found = [_by_seed(claim, select, rows) for select in chosen]
    if not all(found):
        return [np.zeros((0, 0))]
    for seeds in found:
        most = max(len(one) for one in seeds.values())
        for seed in [seed for seed, one in seeds.items() if 3 * len(one) < 2 * most]:
            del seeds[seed]
    members = set.intersection(*(set(one) for seeds in found for one in seeds.values()))
    order = sorted(members, key=repr)
    return [
        np.array([[one[member] for member in order] for one in seeds.values()]) for seeds in found
    ]


def selections(select: Select) -> Iterator[Select]:
    """Yield a selection for each combination of listed values."""
    several = next((name for name, value in select.items() if isinstance(value, list)), None)
    if several is None:
        yield select
        return
    values = select[several]
    assert isinstance(values, list)
    for value in values:
        yield from selections({**select, several: value})


def _by_seed(
    claim: Claim, select: Select, rows: Iterable[Row]
) -> dict[int, dict[tuple[Any, ...], float]]:
    """Return the figures of the selected rows by seed and member, means where it has several."""
    found: dict[int, dict[tuple[Any, ...], list[float]]] = {}
    latest: dict[tuple[Any, ...], Any] = {}
    for row in rows:
        if not is_of(row, select) or row.get(claim.value) is None:
            continue
        if not all(low <= row[name] <= high for name, (low, high) in claim.ranges.items()):
            continue
        seed, member = int(row.get("repeat", 0)), tuple(row.get(name) for name in claim.sample)
        values = found.setdefault(seed, {})
        if claim.last in row:
            if latest.get((seed, member), row[claim.last]) > row[claim.last]:
                continue
            latest[seed, member] = row[claim.last]
            values[member] = []
        figure = row[claim.value]
        if claim.at == "each":
            for place, one in enumerate(figure):
                values.setdefault((*member, place), []).append(float(one))
        else:
            one = figure[claim.at] if isinstance(figure, list) else figure
            values.setdefault(member, []).append(float(one))
    return {
        seed: {member: sum(each) / len(each) for member, each in values.items()}
        for seed, values in found.items()
    }


def is_of(row: Mapping[str, Any], select: Select) -> bool:
    """Return whether a row has the selected values, or listed ones; a missing field is False."""
    return all(
        row.get(name, False) in (value if isinstance(value, list) else [value])
        for name, value in select.items()
    )

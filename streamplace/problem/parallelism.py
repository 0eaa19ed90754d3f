"""Parallelism of operators: counts of instances, their limits, scaling, and shares of keys."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

import numpy as np

from streamplace.errors import GraphError, StreamplaceError
from streamplace.problem.resources import NamedValues, check_name
from streamplace.util.arrays import Floats
from streamplace.util.checks import check_int, check_number, check_type
from streamplace.util.suggest import valid_choices

MAX_PARALLELISM = 100_000
"""The largest number of instances of an operator."""
FREE: Literal["free"] = "free"
"""The parallelism of an operator whose number of instances is to be chosen."""
FLINK: Literal["flink"] = "flink"
"""The key groups of an operator that has as many as Flink takes by default."""
Partitions: TypeAlias = int | Literal["flink"]
"""Partitions of a source, or key groups of an operator."""
Partitioning: TypeAlias = Literal["forward", "hash", "rebalance", "rescale", "broadcast"]
"""How a stream's tuples are distributed over the instances of its target; see docs/size.md."""
PARTITIONINGS: tuple[str, ...] = get_args(Partitioning)
SUM_TOLERANCE = 1e-9
_MOST = {"sigma": 1.0, "kappa": 1.0}


class Scaling(NamedValues[float]):
    """The coefficients σ and κ of the universal scalability law (Gunther 1993); immutable.

    p instances together are as fast as p / (1 + σ (p - 1) + κ p (p - 1)) instances that do not
    disturb each other: σ is the share of the work that they do one after another, κ the cost of
    keeping a pair of them consistent.

    Parameters
    ----------
    coefficients
        ``sigma``, from 0 to 1, and ``kappa``, at least 0; absent ones are 0.
    where
        The place that messages begin with.
    fault
        The error to raise.

    Raises
    ------
    StreamplaceError
        As `fault`, on another name or a value that is out of range.
    """

    __slots__ = ()

    def __init__(
        self,
        coefficients: Mapping[str, float],
        where: str = "scaling",
        fault: type[StreamplaceError] = StreamplaceError,
    ) -> None:
        example = 'for example {"sigma": 0.02, "kappa": 0.0001}'
        check_type(f"{where}:", coefficients, Mapping, fault, example)
        for name, value in coefficients.items():
            if name not in _MOST:
                raise fault(f"{where}: unknown name {name!r:.40}; choose from sigma, kappa")
            _check_share(f"{where}.{name}", value, _MOST[name], fault)
        self._values = {name: float(coefficients[name]) for name in _MOST if coefficients.get(name)}

    def cost(self, count: int) -> float:
        """Return the work per tuple of one of `count` instances, relative to a single one's."""
        sigma, kappa = self.get("sigma", 0.0), self.get("kappa", 0.0)
        return 1.0 + sigma * (count - 1) + kappa * count * (count - 1)


NO_SCALING = Scaling({})


class KeyShares(NamedValues[float]):
    """Shares of a stream's tuples by key, such as ``{"berlin": 0.2}``; immutable.

    The keys that are not named have the rest, evenly.

    Parameters
    ----------
    shares
        Key, as text -> its share of the tuples; they sum to at most 1.
    where, fault
        See `Scaling`.

    Raises
    ------
    StreamplaceError
        As `fault`, if a key is not valid text, or the shares are not numbers from 0 to 1 that sum
        to at most 1.
    """

    __slots__ = ()

    def __init__(
        self,
        shares: Mapping[str, float],
        where: str = "key_shares",
        fault: type[StreamplaceError] = StreamplaceError,
    ) -> None:
        check_type(f"{where}:", shares, Mapping, fault, 'for example {"berlin": 0.2}')
        for key, share in shares.items():
            if key != "":  # which is a key, too
                check_name(f"{where}: a key", key, fault)
            _check_share(f"{where}[{key!r:.40}]", share, 1.0, fault)
        if sum(shares.values()) > 1.0 + SUM_TOLERANCE:
            raise fault(f"{where}: must sum to at most 1 (got {sum(shares.values()):g})")
        self._values = {key: float(shares[key]) for key in sorted(shares) if shares[key]}


NO_SHARES = KeyShares({})


def count_of(where: str, value: object) -> int:
    """Return a checked number of instances or partitions.

    Raises
    ------
    GraphError
        If it is not a whole number from 1 to 100,000; the message begins with `where`.
    """
    check_int(where, value, GraphError)
    count = int(value)  # type: ignore[call-overload]  # it is a whole number
    if not 1 <= count <= MAX_PARALLELISM:
        raise GraphError(f"{where}: must be 1 to {MAX_PARALLELISM:,} (got {count})")
    return int(count)


def parallelism_of(where: str, value: object) -> int | Literal["free"]:
    """Return a checked parallelism, a count or ``free``; see `count_of`."""
    if isinstance(value, str):
        if value != FREE:
            raise GraphError(f"{where}: must be a whole number or 'free' (got {value!r:.40})")
        return FREE
    return count_of(where, value)


def partitions_of(where: str, value: object) -> Partitions:
    """Return checked partitions, a count or ``flink``; see `count_of`."""
    if isinstance(value, str):
        if value != FLINK:
            raise GraphError(f"{where}: must be a whole number or 'flink' (got {value!r:.40})")
        return FLINK
    return count_of(where, value)


def partitioning_of(where: str, value: object) -> str:
    """Return a checked partitioning.

    Raises
    ------
    GraphError
        If there is none of this name.
    """
    if value not in PARTITIONINGS:
        known = valid_choices(str(value), PARTITIONINGS)
        raise GraphError(f"{where}: unknown partitioning {value!r:.40}{known}")
    return str(value)


def even_shares(partitions: int | None, count: int) -> Floats:
    """Return the share of each instance of a source, (p,), whose partitions are dealt in turn.

    Without partitions, all shares are equal.
    """
    if partitions is None:
        return np.full(count, 1.0 / count)
    each, more = divmod(partitions, count)
    own = np.full(count, float(each))
    own[:more] += 1.0
    return own / partitions


def _check_share(what: str, value: object, most: float, fault: type[StreamplaceError]) -> None:
    check_number(what, value, fault)
    if not 0 <= float(value) <= most:  # type: ignore[arg-type]  # it is a number
        raise fault(f"{what} must be 0 to {most:g} (got {value})")

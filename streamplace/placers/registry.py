"""Registry of placers by name, with options: ``metis``, ``metis:parts=3``, ``fuser-oracle``.

Custom placers are named ``module:Class`` or ``module:Class:parts=3``, or by the name under which an
installed package registers them (entry points ``streamplace.placers``). The text after the first
colon distinguishes the two forms: an option has an equals sign, a class has none. A module is
imported only when one of its placers is requested.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from streamplace.errors import Fault, UsageError
from streamplace.placers import custom
from streamplace.placers.base import BasePlacer, Improver, Placer
from streamplace.placers.limits import PlacerLimit
from streamplace.problem.objective import Objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util import entry_points, plugins
from streamplace.util.plugins import parameters_of, read_options

PARTS = "parts"
"""The option of partitioners that an oracle sets."""
START = "start"
"""The option of placers that improve a placement; it names the placer of that one."""
PLACERS = {
    "auto": "streamplace.placers.auto:Auto",
    "single": "streamplace.placers.trivial:Single",
    "round-robin": "streamplace.placers.trivial:RoundRobin",
    "random": "streamplace.placers.trivial:Random",
    "greedy": "streamplace.placers.trivial:Greedy",
    "metis": "streamplace.placers.partition.metis:Metis",
    "metis-recursive": "streamplace.placers.partition.metis:MetisRecursive",
    "metis-sweep": "streamplace.placers.partition.sweep:MetisSweep",
    "fuser": "streamplace.placers.partition.fuser:Fuser",
    "contiguous": "streamplace.placers.contiguous.placer:Contiguous",
    "search": "streamplace.placers.search.search:Search",
    "multilevel": "streamplace.placers.search.multilevel:Multilevel",
    "exact": "streamplace.placers.exact.exact:Exact",
    "climb": "streamplace.placers.search.climb:Climb",
    **entry_points.ours(custom.GROUP),
}
WEIGHTS = ".safetensors"
ORACLES = {
    "metis-oracle": "metis",
    "metis-recursive-oracle": "metis-recursive",
    "fuser-oracle": "fuser",
}
"""Name of an oracle -> the partitioner that it runs for every number of parts."""
NAMES = (*PLACERS, *ORACLES)


@dataclass(frozen=True)
class NamedPlacer:
    """A placer with the text that names it, which results and tables show.

    Parameters
    ----------
    text
        The name with options, such as ``search:seconds=3.0``.
    options
        The options that the text sets.
    make
        Returns the placer for other text and options.
    is_ours
        Whether it is a built-in one.
    """

    text: str
    placer: Placer
    options: Mapping[str, Any]
    make: Callable[[str, Mapping[str, Any]], Placer]
    is_ours: bool

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return a feasible placement; see `Placer`."""
        return self.placer(problem, rng, start)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to other processes by name; each of them makes the placer once."""
        return ready, (self.text,)

    @property
    def name(self) -> str:
        """The name without options."""
        return plugins.parts_of(self.text)[0]

    @property
    def accepts_start(self) -> bool:
        """Whether it may use an initial placement; every custom placer may."""
        return not isinstance(self.placer, BasePlacer) or self.placer.uses_start

    @property
    def improver(self) -> Improver | None:
        """The placer, if it improves placements by any worth."""
        return self.placer if isinstance(self.placer, Improver) else None

    def stand_in(self, objective: Objective) -> str | None:
        """Return the name of the placer that it runs in its place under an objective, if any."""
        other = self.placer.stand_in(objective) if isinstance(self.placer, BasePlacer) else None
        return None if other is None else other.name

    def accepts(self, limit: PlacerLimit) -> bool:
        """Return whether the placer has an option for a limit."""
        return self._options_for(limit) is not None

    def limited(self, limit: PlacerLimit) -> "NamedPlacer":
        """Return the same placer with a limit.

        Raises
        ------
        UsageError
            If the placer does not accept such a limit or this one, or the name already sets one.
        """
        added = self._options_for(limit)
        if added is None:
            accepting = ", ".join(n for n in NAMES if ready(n).accepts(limit))
            message = f"does not accept {limit.what}; these do: {accepting}"
            raise UsageError(f"placer {self.name!r} {message}")
        setting = limit.parameters
        if isinstance(self.placer, BasePlacer):
            setting = self.placer.limited_by(limit)
        for option in plugins.parts_of(self.text)[1]:
            if option.partition("=")[0] in setting:
                already = f"already sets {limit.what}; remove {option!r} from it"
                raise UsageError(f"placer {self.text!r} {already}")
        return self._with(added)

    def preferring(self, prefer: str) -> "NamedPlacer":
        """Return the same placer with a preference, ``balance`` or ``fewest``.

        Raises
        ------
        UsageError
            If the placer has no preference, or the name already sets one.
        """
        if not (self.is_ours and "prefer" in options_of(self.name)):
            preferring = " or ".join(n for n in NAMES if "prefer" in options_of(n))
            fault = f"requires the placer {preferring} (got {self.text!r})"
            raise UsageError(Fault(fault, option="prefer"))
        if "prefer" in self.options:
            raise UsageError(f"placer {self.text!r} already has a preference")
        return self._with({"prefer": prefer})

    def warning(self, operators: int) -> str | None:
        """Return a warning if the placer is slow on a graph of so many operators, else None."""
        placer = self.placer
        if not isinstance(placer, BasePlacer) or placer.slow_from is None:
            return None
        if operators < placer.slow_from:
            return None
        return (
            f"{self.name} takes time that grows with the square of the number of operators, and "
            f"may take minutes for {operators:,}; {placer.faster}"
        )

    def _options_for(self, limit: PlacerLimit) -> dict[str, Any] | None:
        if isinstance(self.placer, BasePlacer):
            return self.placer.options_for(limit)
        return limit.options_among(parameters_of(type(self.placer)))

    def _with(self, added: Mapping[str, Any]) -> "NamedPlacer":
        """Return the same placer with further options."""
        text = ":".join([self.text, *(f"{key}={value}" for key, value in added.items())])
        options = {**self.options, **added}
        return NamedPlacer(text, self.make(text, options), options, self.make, self.is_ours)


def placer_named(text: str, from_file: bool = False) -> NamedPlacer:
    """Return the placer for a name with options.

    Parameters
    ----------
    from_file
        Whether the text comes from a file. If so, no module is imported.

    Raises
    ------
    UsageError
        On an unknown name or option, a value of the wrong type, or a custom placer that cannot be
        loaded.
    """
    if plugins.is_ours(text, NAMES, from_file):
        name, *option_texts = text.split(":")
        _refuse_parts_of_oracle(text, name, option_texts)
        options = read_options(text, option_texts, _types_of(name), custom.NOUN)
        _check_start(text, options.get(START, ""), from_file)
        make = partial(_built_in, name)
        return NamedPlacer(text, make(text, options), options, make, is_ours=True)
    _refuse_without_weights(text)
    found, option_texts = plugins.find(text, custom.NOUN, custom.GROUP, NAMES, from_file=from_file)
    options = custom.options_of(text, found, option_texts)
    make = partial(custom.build, found)
    return NamedPlacer(text, make(text, options), options, make, is_ours=False)


@cache
def ready(text: str) -> NamedPlacer:
    """Return the placer for a name with options; it is made once, with what it has loaded.

    Raises
    ------
    UsageError
        On an unknown name or option.
    """
    return placer_named(text)


def _check_start(text: str, start: str, from_file: bool) -> None:
    """Refuse a name with options whose option `start` names no placer."""
    try:
        if start:
            placer_named(start, from_file)
    except UsageError as error:
        raise UsageError(f"{custom.NOUN} {text!r}: {START}: {error}") from None


def make_placer(text: str, from_file: bool = False) -> Placer:
    """Return the placer for a name with options, without its name; see `placer_named`."""
    return placer_named(text, from_file).placer


def placer_of(placer: str | Placer) -> Placer:
    """Return a placer for its name, with or without its name."""
    chosen = ready(placer) if isinstance(placer, str) else placer
    return chosen.placer if isinstance(chosen, NamedPlacer) else chosen


def _refuse_without_weights(text: str) -> None:
    """Say how to use a file of weights, and how to train a published system, without its name."""
    name, _ = plugins.parts_of(text)
    if name.endswith(WEIGHTS):
        meant = f"policy:file={name.removeprefix('policy=')}"
        raise UsageError(f"unknown {custom.NOUN} {name!r}; did you mean {meant!r}?")
    kinds = entry_points.ours("streamplace.policies")
    is_trained = name in kinds and name in entry_points.config_files()
    if is_trained and name not in plugins.installed(custom.GROUP):
        raise UsageError(
            f"unknown {custom.NOUN} {name!r}; no weights of it are shipped: train it by "
            f"streamplace train DATASET --config {name} -o RUN, and use "
            "policy:file=RUN/policy.safetensors"
        )


def class_of(name: str) -> type[BasePlacer]:
    """Return the class of a built-in placer, by its name without options; an oracle is `Oracle`."""
    path = "streamplace.placers.partition.sweep:Oracle" if name in ORACLES else PLACERS[name]
    found: type[BasePlacer] = plugins.load_ours(path)
    return found


def names_for(objective: str) -> tuple[str, ...]:
    """Return the names of the built-in placers that place under an objective."""
    return tuple(name for name in NAMES if class_of(name).places_for(objective))


def taking_start() -> tuple[str, ...]:
    """Return the names of the built-in placers that use an initial placement."""
    return tuple(name for name in NAMES if class_of(name).takes_start)


def options_of(name: str) -> tuple[str, ...]:
    """Return the options of a built-in placer, by its name without options."""
    return tuple(_types_of(name))


def _types_of(name: str) -> dict[str, Any]:
    types = class_of(ORACLES.get(name, name)).options()
    return {
        key: of_option for key, of_option in types.items() if name not in ORACLES or key != PARTS
    }


def _built_in(name: str, text: str, options: Mapping[str, Any]) -> Placer:
    """Return a built-in placer with options."""
    own = ORACLES.get(name, name)
    try:
        made: Placer = _constructor(own)(**options)
        return _constructor(name)(made) if name in ORACLES else made
    except UsageError as error:
        inside = error.fault.without(class_of(own).name).place
        error.update(place=(f"{custom.NOUN} {text!r}", *inside))
        raise


def _constructor(name: str) -> Callable[..., Placer]:
    return class_of(name)


def _refuse_parts_of_oracle(text: str, name: str, options: Sequence[str]) -> None:
    if name in ORACLES and any(option.startswith(PARTS) for option in options):
        raise UsageError(f"placer {text!r}: cannot set {PARTS!r}; it tries every number of parts")


def is_ours(text: str) -> bool:
    """Return whether a name with options refers to a built-in placer."""
    return not plugins.is_custom(text) and text.partition(":")[0] in NAMES

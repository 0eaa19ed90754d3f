"""Registry of placers by name, with options: ``metis``, ``metis:parts=3``, ``fuser-oracle``.

Custom placers are named ``module:Class`` or ``module:Class:parts=3``, or by the name under which an
installed package registers them (entry points ``streamplace.placers``). The text after the first
colon distinguishes the two forms: an option has an equals sign, a class has none. A module is
imported only when one of its placers is requested.
"""

from dataclasses import fields
from functools import cache
from typing import Any, get_type_hints

from streamplace.errors import UsageError
from streamplace.placers import custom
from streamplace.placers.auto import Auto
from streamplace.placers.base import Improver, Placer
from streamplace.placers.partition.base import Oracle, Partitioner
from streamplace.util import plugins
from streamplace.util.checks import check_number, plain_number
from streamplace.util.plugin_calls import read_options

PLACERS = {
    "single": "streamplace.placers.trivial:Single",
    "round-robin": "streamplace.placers.trivial:RoundRobin",
    "random": "streamplace.placers.trivial:Random",
    "greedy": "streamplace.placers.greedy:Greedy",
    "metis": "streamplace.placers.partition.metis:Metis",
    "metis-recursive": "streamplace.placers.partition.metis:MetisRecursive",
    "fuser": "streamplace.placers.partition.fuser:Fuser",
    "contiguous": "streamplace.placers.contiguous.placer:Contiguous",
    "search": "streamplace.placers.search.search:Search",
    "multilevel": "streamplace.placers.search.multilevel:Multilevel",
    "exact": "streamplace.placers.exact.exact:Exact",
    "policy": "streamplace.policy.placer:PolicyPlacer",
    "giph": "streamplace.policy.giph.placer:GiphPlacer",
    "rebuild": "streamplace.policy.rebuild.placer:RebuildPlacer",
    "rnn": "streamplace.training.rnn_placer:RnnPlacer",
    "hsdag": "streamplace.training.hsdag_placer:HsdagPlacer",
    "climb": "streamplace.placers.search.first_improvement:Climb",
    "heft": "streamplace.placers.scheduling.lists:Heft",
    "peft": "streamplace.placers.scheduling.lists:Peft",
    "cpop": "streamplace.placers.scheduling.lists:Cpop",
    "critical-path": "streamplace.placers.scheduling.sampled:CriticalPath",
    "random-eft": "streamplace.placers.scheduling.sampled:RandomEft",
    "enumerative": "streamplace.placers.scheduling.enumerative:Enumerative",
}
ONLY_MAKESPAN = ("heft", "peft", "cpop", "critical-path", "random-eft", "enumerative", "rebuild")
"""The placers that support only the makespan objective."""
ONLY_THROUGHPUT = ("greedy", "contiguous", "multilevel", "policy")
"""The placers that support only throughput."""
TRAINED = ("rnn", "hsdag")
"""The placers that train a network on the problem."""
LEARNED = ("policy", "giph", "rebuild", *TRAINED)
"""The placers that use a network."""
WITHOUT_WEIGHTS = ("doppler", "placeto")
"""The published systems of which there is a config but no placer, as no weights are shipped."""
PARTITIONERS = ("metis", "metis-recursive", "fuser")
ORACLES = tuple(f"{name}-oracle" for name in PARTITIONERS)
QUADRATIC = {"fuser": 5_000, "fuser-oracle": 5_000, "giph": 1_000, "rebuild": 5_000}
"""Placer whose time grows with the square of the number of operators -> the number to warn from."""
PER_OPERATOR = ("giph", "rebuild")
"""Those that make two evaluations per operator, unless an option sets their number."""
AUTO_TRIES = (
    "greedy",
    "single",
    "metis-recursive-oracle",
    "metis-oracle",
    "metis-recursive-oracle:weights=utilisation",
    "metis-oracle:weights=utilisation",
    "fuser-oracle",
)
"""The placers that `auto` runs before its policy."""
AUTO_POLICY = "policy:samples=16"
AUTO_TRIES_OF_LARGE = ("greedy", "multilevel", "metis:weights=utilisation", "single")
"""The placers that `auto` runs on large graphs."""
AUTO_OF_PASSES = "contiguous"
"""The placer that `auto` runs first on graphs of the firing rule ``all``."""
FROM_START = ("auto", "search", "exact", "climb", "giph", "rebuild")
"""The placers that use an initial placement."""
OPTIONS_OF_AUTO = ("seconds", "evaluations", "prefer")
NAMES = ("auto", *PLACERS, *ORACLES)
THROUGHPUT_NAMES = tuple(name for name in NAMES if name not in ONLY_MAKESPAN)
"""The placers that support throughput."""
MAKESPAN_NAMES = tuple(name for name in NAMES if name not in ONLY_THROUGHPUT)
"""The placers that support makespans."""


def make_placer(text: str, from_file: bool = False) -> Placer:
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
    if not plugins.is_ours(text, NAMES, from_file):
        _refuse_without_weights(text)
        of_user = plugins.find(text, custom.NOUN, custom.GROUP, NAMES, from_file=from_file)
        return custom.build(text, *of_user)
    name, *options = text.split(":")
    if name in ORACLES:
        return _oracle(text, name, options)
    if name == "auto":
        return Auto(
            tuple(make_placer(tried) for tried in AUTO_TRIES),
            tuple(make_placer(tried) for tried in AUTO_TRIES_OF_LARGE),
            _auto_of_passes,
            _auto_policy,
            **read_options(text, options, _types_of(name), custom.NOUN),
        )
    arguments = read_options(text, options, _types_of(name), custom.NOUN)
    try:
        made: Placer = _class_of(name)(**arguments)
    except UsageError as error:
        message = str(error).removeprefix(f"{name}: ")
        raise UsageError(f"{custom.NOUN} {text!r}: {message}") from None
    return made


def _refuse_without_weights(text: str) -> None:
    """Say how to train a published system that users take for a placer."""
    name, _ = plugins.parts_of(text)
    if name in WITHOUT_WEIGHTS and name not in plugins.installed(custom.GROUP):
        raise UsageError(
            f"unknown {custom.NOUN} {name!r}; no weights of it are shipped: train it by "
            f"streamplace train DATASET --config {name} -o RUN, and use "
            "policy:file=RUN/policy.safetensors"
        )


@cache
def ready_placer(text: str) -> Placer:
    """Return the placer for a name with options; it is made once, with what it has loaded.

    Raises
    ------
    UsageError
        On an unknown name or option.
    """
    return make_placer(text)


def options_of(name: str) -> tuple[str, ...]:
    """Return the options of a built-in placer, by its name without options."""
    if name in ORACLES:
        return tuple(o for o in options_of(name.removesuffix("-oracle")) if o != "parts")
    return tuple(_types_of(name))


def _types_of(name: str) -> dict[str, Any]:
    cls = Auto if name == "auto" else _class_of(name)
    types = get_type_hints(cls)
    known = OPTIONS_OF_AUTO if name == "auto" else [f.name for f in fields(cls) if f.init]
    return {option: types[option] for option in known}


def _class_of(name: str) -> type[Any]:
    found: type[Any] = plugins.load_ours(PLACERS[name])
    return found


def is_ours(text: str) -> bool:
    """Return whether a name with options refers to a built-in placer."""
    return not plugins.is_custom(text) and text.partition(":")[0] in NAMES


def _oracle(text: str, name: str, options: list[str]) -> Placer:
    if any(option.startswith("parts") for option in options):
        raise UsageError(f"placer {text!r}: cannot set 'parts'; it tries every number of parts")
    inner = make_placer(":".join([name.removesuffix("-oracle"), *options]))
    if not isinstance(inner, Partitioner):
        raise UsageError(
            f"placer {name!r}: an oracle needs a partitioner, which has a number of parts"
        )
    return Oracle(inner)


def improver_of(text: str) -> Improver | None:
    """Return the placer for a name with options if it improves placements by any worth.

    Raises
    ------
    UsageError
        On an unknown name or option.
    """
    placer = make_placer(text)
    return placer if isinstance(placer, Improver) else None


def with_limit(text: str, seconds: float) -> str:
    """Return the name of the same placer with a time limit.

    Raises
    ------
    UsageError
        If the placer does not accept a time limit or this one, or the name already sets one.
    """
    name, options = plugins.parts_of(text)
    if any(option.partition("=")[0] == "seconds" for option in options):
        raise UsageError(f"placer {text!r} already has a time limit")
    check_number("seconds", seconds, UsageError)
    limited_text = f"{text}:seconds={plain_number(seconds)!r}"
    make_placer(text)
    try:
        make_placer(limited_text)
    except UsageError:
        if is_ours(text) and "seconds" in options_of(name):  # the limit is out of range
            raise
        limited = ", ".join(n for n in NAMES if "seconds" in options_of(n))
        message = f"placer {name!r} does not accept a time limit; these do: {limited}"
        raise UsageError(message) from None
    return limited_text


def with_preference(text: str, prefer: str) -> str:
    """Return the name of the same placer with a preference, ``balance`` or ``fewest``.

    Raises
    ------
    UsageError
        If the placer has no preference, or the name already sets one.
    """
    name, options = plugins.parts_of(text)
    preferring = [n for n in NAMES if "prefer" in options_of(n)]
    if name not in preferring:
        raise UsageError(f"--prefer requires --placer {' or '.join(preferring)} (got {text!r})")
    if any(option.partition("=")[0] == "prefer" for option in options):
        raise UsageError(f"placer {text!r} already has a preference")
    return f"{text}:prefer={prefer}"


def warning_for(text: str, operators: int) -> str | None:
    """Return a warning if a placer is slow on a graph with this many operators, else None."""
    name, options = plugins.parts_of(text)
    if name not in QUADRATIC or operators < QUADRATIC[name] or not is_ours(text):
        return None
    remedy = "multilevel and auto place large graphs faster"
    if name in PER_OPERATOR:
        if any(one.startswith("evaluations=") and one != "evaluations=0" for one in options):
            return None
        remedy = f"{name}:evaluations=N makes fewer evaluations than two per operator"
    return (
        f"{name} takes time that grows with the square of the number of operators, and may take "
        f"minutes for {operators:,}; {remedy}"
    )


def _auto_policy() -> Placer:
    return ready_placer(AUTO_POLICY)


def _auto_of_passes() -> Placer:
    return ready_placer(AUTO_OF_PASSES)

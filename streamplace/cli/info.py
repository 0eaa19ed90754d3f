"""The command `info`: summaries of files."""

from dataclasses import dataclass
from typing import Any

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, print_json, print_note
from streamplace.cli.output_files import check_targets
from streamplace.cli.terminal import NAME_WIDTH, console, name_in
from streamplace.display.formats import kind_of
from streamplace.display.view import Names, names_that_fit
from streamplace.execution.progress import working
from streamplace.files.datasets import read_dataset
from streamplace.files.reading import name_of
from streamplace.files.summary import summary
from streamplace.problem.assumptions import GuessedCosts
from streamplace.problem.resources import amount_text
from streamplace.util.extras import load_drawing
from streamplace.util.plugins import load_ours
from streamplace.util.text import printable

OF_POLICY = "streamplace.learning.policy.tensor_files:summary"
PICTURE = "streamplace.pictures.comparison:distributions_picture"
"""What summarises a policy, and draws; both load large packages."""

LABELS = {
    "links_that_differ": "links with their own settings",
    "longest_path": "longest path, operators",
    "longest_shortest_path": "longest shortest path, operators",
    "streams_per_operator": "streams per operator",
    "width": "width, operators of the largest level",
    "pes": "operators per device",
    "source_rate": "source rate, tuples/s",
    "source_rates": "source rates, tuples/s",
    "target_utilisation": "target utilisation",
    "total_mips": "total MIPS",
    "bandwidth_mbps": "bandwidth, Mbit/s",
    "devices_used": "devices used",
    "up_mbps": "up, Mbit/s",
    "down_mbps": "down, Mbit/s",
    "unknown": "unknown quantities",
    "types": "operators of each type",
    "seconds_on": "operators with seconds on each kind of device",
    "kinds": "devices of each kind",
    "counts": "numbers of instances",
    "partitioning": "partitioning of streams",
    "key_shares": "shares of keys",
    "networks": "clusters with each kind of network",
}
"""Labels of facts whose key in the JSON output does not explain itself."""
KEYED_BY_NAMES = {
    "resources",
    "pes",
    "groups",
    "uplinks",
    "prices",
    "slots",
    "types",
    "seconds_on",
    "kinds",
    "networks",
    "counts",
    "partitioning",
    "key_shares",
}
LIMITS = {"min_parallelism": "at least", "max_parallelism": "at most"}
ON_ONE_LINE = {"counts", "key_shares"}
"""Facts of which each entry, a dictionary, is printed on one line."""


@dataclass(frozen=True)
class InfoOptions(options.Common):
    """The options of `info`."""

    file: str = argument(type=param_types.GRAPH)
    plot: str | None = options.file(
        "--plot",
        "Plot file to write (cumulative distributions of operators, utilisations and payloads of "
        "graphs): .png, .svg or .pdf.",
    )
    beside: str | None = options.file(
        "--beside", "Another file of graphs, whose distributions --plot shows beside those of FILE."
    )


@command(InfoOptions)
def info(chosen: InfoOptions) -> None:
    """Summarise a graph, dataset, cluster, placement or policy.

    FILE is a graph, a dataset (a file or folder of graphs, or dataset:real), one or several
    clusters, a placement, or a .safetensors file of a run: a policy's weights or a checkpoint.

    A graph's longest path, and the longest of the shortest paths between two operators, follow
    streams and count operators; the latter is left out above 1,000 operators. An operator's level
    is the length of the longest path to it, and the width of a graph is that of its largest level.

    \b
    Examples:
    streamplace info dataset:real/riotbench-etl.json
    streamplace info graphs.jsonl.gz --beside ours.jsonl.gz --plot distributions.png
    streamplace info run/policy.safetensors
    """
    if chosen.plot is None:
        options.refuse_unused({"--beside": "--plot"})
    else:  # before anything is read
        kind_of(chosen.plot)
        check_targets({"--plot": chosen.plot}, (chosen.file, chosen.beside))
    with working("reading"):
        if chosen.file.endswith(".safetensors"):
            found = load_ours(OF_POLICY)(chosen.file)
        else:
            found = summary(chosen.file)
        if chosen.plot is not None:
            files = [chosen.file] if chosen.beside is None else [chosen.file, chosen.beside]
            datasets = {name_of(file): read_dataset(file) for file in files}
    if chosen.plot is not None:
        with working("drawing"):
            load_drawing(PICTURE)(chosen.plot, datasets)
    if (guessed := found.get("graph", found).get("typical_costs")) is not None:
        print_note(GuessedCosts(**guessed).sentence)
    if chosen.as_json:
        print_json(found)
    else:
        print_facts(found)


def print_facts(facts: dict[str, Any], indent: str = "", *, names: bool = False) -> None:
    """Print nested facts, one per line.

    A list of dictionaries is printed as one block per item, ``stage[0]``, ``stage[1]``, ….

    Parameters
    ----------
    names
        Whether the keys are names of operators or devices, which are printed as they are.
    """
    out = console()
    for key, value in facts.items():
        label = indent + printable(str(key if names else LABELS.get(key, key)))
        room = out.width - len(label) - len(": ")
        if isinstance(value, dict) and value:
            out.print(f"{label}:")
            shown = {k: _in_words(v) for k, v in value.items()} if key in ON_ONE_LINE else value
            if key == "resources":
                shown = {k: amount_text(k, v) for k, v in value.items()}
            print_facts(shown, indent + "  ", names=key in KEYED_BY_NAMES)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for i, item in enumerate(value):
                out.print(f"{label}[{i}]:")
                print_facts(item, indent + "  ")
        elif isinstance(value, list) and value:
            out.print(f"{label}: {names_that_fit(Names.of([_text(item) for item in value]), room)}")
        else:
            out.print(f"{label}: {name_in(out, _text(value), max(room, NAME_WIDTH))}")


def _in_words(fact: object) -> object:
    """Return a dictionary, or a list of them, as text such as ``parallelism 4, partitions 16``."""
    if isinstance(fact, list):
        return [_in_words(one) for one in fact]
    if not isinstance(fact, dict):
        return fact
    return ", ".join(
        f"{LIMITS.get(k, k)} " + (f"({_in_words(v)})" if isinstance(v, dict) else _text(v))
        for k, v in fact.items()
    )


def _text(value: object) -> str:
    """Return a single fact as text; ``none`` for null and for an empty value."""
    if value is None or value in ([], {}, ""):
        return "none"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.10g}" if isinstance(value, float) else str(value)

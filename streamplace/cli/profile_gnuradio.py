"""The command `profile gnuradio`: costs of a flowgraph of GNU Radio, from its counters."""

from dataclasses import dataclass

import click

from streamplace.cli import param_types
from streamplace.cli.command import argument, command
from streamplace.cli.inputs import graph_of
from streamplace.cli.output_files import check_targets
from streamplace.cli.profile_job import CostOptions, read_costs, write_profile
from streamplace.errors import FormatError, located
from streamplace.files.reading import name_of, read_text
from streamplace.integrations.gnuradio.profile import fit


@dataclass(frozen=True)
class GnuradioOptions(CostOptions):
    """The options of `gnuradio`."""

    file: str = argument(type=param_types.FILE, metavar="COUNTERS")


@command(GnuradioOptions)
def gnuradio(chosen: GnuradioOptions) -> None:
    """Measure a flowgraph of GNU Radio and write its graph.

    COUNTERS is the file that streamplace_counters.py writes while it runs the flowgraph; `export
    --to gnuradio-counters` writes that program, which needs GNU Radio only. An item is a tuple. The
    work of a block is the CPU time of its threads, so that waiting for a core does not count.

    \b
    Examples:
    streamplace export --to gnuradio-counters -o streamplace_counters.py
    python3 streamplace_counters.py counters.jsonl receiver.py
    streamplace profile gnuradio counters.jsonl --mips 2500 -o graph.json
    """
    if chosen.output == "-" and chosen.as_json:
        raise click.UsageError("--json requires -o FILE, since the graph goes to stdout otherwise")
    chosen.form.check()
    check_targets({"-o": chosen.output}, (chosen.file, chosen.costs_file))
    with_costs = read_costs(chosen.costs_file)
    where = name_of(chosen.file)
    with located(where, FormatError):
        found = fit(read_text(chosen.file), where, chosen.mips)
        if not found.intervals:
            raise FormatError(f"{where}: has fewer than two rows; let the flowgraph run longer")
    costed = with_costs(found.logical)
    graph = graph_of(costed, chosen.form)
    write_profile(found, costed.graph, graph, chosen, "", chosen.output == "-")

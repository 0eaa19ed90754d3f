"""The command that generates benchmark graphs."""

import re
from contextlib import closing

import click

from streamplace.cli import options, param_types


def sizes(ctx: click.Context, param: click.Parameter, value: str | None) -> range | None:
    """Read N or MIN-MAX."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", value)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise click.BadParameter(f"{value!r} is neither N nor MIN-MAX", ctx, param)
    return range(int(match[1]), int(match[2] or match[1]) + 1)


class WithInstalled(click.Command):
    """A command whose help ends with the families of installed packages."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write their names, if there are any."""
        from streamplace.generate.registry import FAMILIES, family_names  # noqa: PLC0415 - heavy

        names = family_names()[len(FAMILIES) :]
        if names:
            formatter.write_paragraph()
            formatter.write_text(f"Families of installed packages: {', '.join(names)}")


@click.command(cls=WithInstalled)
@click.argument("preset", type=param_types.FAMILY, metavar="FAMILY")
@click.option("--count", type=int, default=1, show_default=True, help="Number of graphs.")
@click.option("--operators", callback=sizes, metavar="N|MIN-MAX", help="Operators of a graph.")
@click.option(
    "-o",
    "output",
    callback=options.file_name,
    type=param_types.FILE,
    required=True,
    metavar="FILE",
    help=".jsonl[.gz], .json, .npz or -",
)
@options.processes
@options.common
def generate(
    preset: str,
    count: int,
    operators: range | None,
    output: str,
    jobs: int | None,
    backend: str,
    address: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Generate benchmark graphs.

    FAMILY is dream (the paper's branched benchmark), series-parallel or layered; or your own:
    module:function[:OPTION=VALUE…], in file module.py here or installed, or a name that an
    installed package registers. The same seed gives the same bytes, whatever the machine and the
    number of processes.

    \b
    streamplace generate dream --count 3150 --seed 1 -o dream.jsonl.gz
    streamplace generate layered --operators 1000000 -o large.npz
    """
    if output == "-" and as_json:
        raise click.UsageError("-o - and --json both want stdout")
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.execution.backends import Backend  # noqa: PLC0415 - a command loads what it needs
    from streamplace.execution.parallel import each  # noqa: PLC0415
    from streamplace.execution.progress import track  # noqa: PLC0415
    from streamplace.files import write_dataset  # noqa: PLC0415
    from streamplace.generate import Recipe  # noqa: PLC0415

    check_targets({"-o": output})
    recipe = Recipe(preset, count, operators, seed)
    with closing(each(recipe.graph, range(count), jobs, Backend(backend, address))) as graphs:
        write_dataset(output, track(graphs, count, "generating"))
    if as_json:
        options.print_json({"preset": preset, "graphs": count, "seed": seed, "file": output})
    else:
        graphs_are = "1 graph" if count == 1 else f"{count} graphs"
        to = "stdout" if output == "-" else output
        options.tell(f"wrote {graphs_are} of {preset}, seed {seed}, to {to}")

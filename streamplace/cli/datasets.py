"""`streamplace generate`."""

import re
from typing import Any

import click

from streamplace.cli import options


class Sizes(click.ParamType[range]):
    """N or MIN-MAX."""

    name = "sizes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> range:
        """Return the range of sizes."""
        if isinstance(value, range):
            return value
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", str(value))
        if match is None or int(match[2] or match[1]) < int(match[1]):
            self.fail(f"{value!r} is neither N nor MIN-MAX", param, ctx)
        return range(int(match[1]), int(match[2] or match[1]) + 1)


@click.command()
@click.argument("preset")
@click.option("--count", type=int, default=1, show_default=True, help="Number of graphs.")
@click.option("--operators", type=Sizes(), metavar="N|MIN-MAX", help="Operators of a graph.")
@click.option("-o", "output", required=True, metavar="FILE", help=".jsonl[.gz], .json, .npz or -")
@options.jobs
@options.common
def generate(
    preset: str,
    count: int,
    operators: range | None,
    output: str,
    jobs: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Generate benchmark graphs.

    PRESET is dream (the paper's branched benchmark), series-parallel or layered. The same seed
    gives the same bytes, whatever the machine and the number of processes.

    \b
    streamplace generate dream --count 3150 --seed 1 -o dream.jsonl.gz
    streamplace generate layered --operators 1000000 -o large.npz
    """
    from streamplace.files import write_dataset  # noqa: PLC0415 - a command loads what it needs
    from streamplace.generate import Recipe  # noqa: PLC0415
    from streamplace.parallel import each  # noqa: PLC0415
    from streamplace.progress import track  # noqa: PLC0415

    recipe = Recipe(preset, count, operators, seed)
    graphs = each(recipe.graph, range(count), jobs)
    write_dataset(output, track(graphs, count, "generating"))
    if as_json and output != "-":
        options.print_json({"preset": preset, "graphs": count, "seed": seed, "file": output})
    else:
        click.echo(f"{count} {preset} graphs, seed {seed}, in {output}", err=True)

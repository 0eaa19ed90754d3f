"""The `streamplace` command: parse, call one function, print. Exit codes are given here."""

import os
import sys
from collections.abc import Sequence

import click

from streamplace.cli import compare, datasets, files, place
from streamplace.errors import StreamplaceError

INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="streamplace")
def cli() -> None:
    """Decide which device runs which operator of a stream-processing job.

    \b
    streamplace init                                  a graph and a cluster to start from
    streamplace place graph.json -o placement.json    place it
    streamplace compare dataset:real --placers metis,fuser,auto
    """


for command in (
    files.init,
    datasets.generate,
    files.info,
    place.simulate,
    place.place,
    compare.compare,
    place.diff,
    files.export,
    files.schema,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit code. Every expected fault is one line on stderr."""
    try:
        cli.main(arguments, prog_name="streamplace", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        more = f" (see {where.command_path} --help)" if where else ""
        return _failed(error.format_message() + more, error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _failed("interrupted; nothing was half-written", INTERRUPTED)
    except StreamplaceError as error:
        return _failed(str(error), error.exit_code)
    except MemoryError:
        return _failed("out of memory", 1)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _failed(message: str, code: int) -> int:
    click.echo("streamplace: " + " ".join(message.split()), err=True)
    return code


if __name__ == "__main__":
    sys.exit(main())

"""The command `completion`: completion scripts for shells."""

from dataclasses import dataclass

import click
from click.shell_completion import get_completion_class

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, print_json
from streamplace.cli.shells import PROGRAM, SHELLS, VARIABLE, prepare


@dataclass(frozen=True)
class CompletionOptions(options.Common):
    """The options of `completion`."""

    shell: str = argument(type=param_types.Choice(SHELLS), metavar="SHELL")


@command(CompletionOptions)
def completion(chosen: CompletionOptions) -> None:
    """Print the script that enables completion in a shell.

    SHELL is bash, zsh or fish. The script completes commands, options, placers with their
    options, and the names of datasets, configs and file formats. To install it:

    \b
    bash    echo 'eval "$(streamplace completion bash)"' >> ~/.bashrc
    zsh     echo 'eval "$(streamplace completion zsh)"' >> ~/.zshrc
    fish    streamplace completion fish > ~/.config/fish/completions/streamplace.fish

    \b
    Example:
    streamplace completion bash
    """
    prepare()
    found = get_completion_class(chosen.shell)
    assert found is not None, "click supports all of SHELLS"
    script = found(click.get_current_context().find_root().command, {}, PROGRAM, VARIABLE).source()
    if chosen.as_json:
        print_json({"shell": chosen.shell, "script": script})
    else:
        click.echo(script)

"""The `streamplace` command: its group of commands, error messages and exit codes."""

import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, partial

import click

from streamplace.cli.registered import TAKES, cli
from streamplace.cli.shells import VARIABLE, prepare
from streamplace.cli.unknown_options import unknown_option
from streamplace.errors import StreamplaceError
from streamplace.execution.progress import is_quiet
from streamplace.sim.kernels import before_compiling
from streamplace.util.entry_points import ours
from streamplace.util.out_of_memory import is_out_of_memory
from streamplace.util.suggest import NEAR, did_you_mean, valid_choices
from streamplace.util.text import printable
from streamplace.workflows.naming_conflicts import naming_conflicts

INTERRUPTED = 130
TERMINATED = 128 + signal.SIGTERM
NOTHING_LEFT = "no incomplete file was left"
AGAIN_S = 0.05  # after which a signal is sent again
_stops: list[BaseException] = []
"""The exceptions that signals have raised."""

INSTEAD = {
    "help": "; write streamplace COMMAND --help",
    "migrate": "; 'streamplace place --start' improves a placement",
    "version": "; write streamplace --version",
}
"""Word that users take for a command -> what to write, as the end of the error."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit code. Every expected error is one line on stderr."""
    code = 0
    if VARIABLE in os.environ:
        prepare()
    for step in (partial(_run, arguments), _flush):
        try:
            step()
        except BrokenPipeError:  # the program that reads stdout has closed the pipe
            _drop_stdout()
        except (Exception, KeyboardInterrupt, SystemExit) as raised:
            message, failed = _explain(_stop_behind(raised), _notes(raised))
            if message and not code:
                click.echo(message, err=True)
            code = code or failed
    if _stops and not code:  # a library has swallowed the signal, so the work may be incomplete
        message, code = _explain(_stops[-1])
        click.echo(message, err=True)
    return code


def _run(arguments: Sequence[str] | None) -> None:
    """Run the command; the error of an infeasible problem names the rules that cannot hold."""
    typed = tuple(sys.argv[1:] if arguments is None else arguments)
    with naming_conflicts():
        cli.main(typed, "streamplace", standalone_mode=False, obj=typed)


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _drop_stdout()
        raise


def _drop_stdout() -> None:
    """Discard what is still buffered for stdout; Python would try to write it again at exit."""
    with suppress(OSError):  # stdout may not be a real file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _explain(error: BaseException, notes: Sequence[str] = ()) -> tuple[str, int]:
    """Return the message and the exit code of an expected error; re-raise any other.

    Parameters
    ----------
    notes
        What goes on after a signal; see `leaving`.
    """
    match error:
        case SystemExit() if error.code != TERMINATED:  # from rich on a closed pipe, or from train
            return "", int(error.code or 0)
        case SystemExit():
            message, code = "; ".join(["terminated", NOTHING_LEFT, *notes]), TERMINATED
        case click.exceptions.NoArgsIsHelpError():
            return error.format_message(), error.exit_code
        case click.ClickException():
            context = getattr(error, "ctx", None)
            more = f" (see {context.command_path} --help)" if context else ""
            message, code = _usage_message(error) + more, error.exit_code
        case click.Abort() | KeyboardInterrupt():
            message, code = "; ".join(["interrupted", NOTHING_LEFT, *notes]), INTERRUPTED
        case StreamplaceError():
            message, code = str(error), error.exit_code
        case MemoryError() | RuntimeError() if is_out_of_memory(error):
            message, code = "out of memory", 1
        case OSError():
            message, code = f"{error.filename or 'output'}: {error.strerror or error}", 1
        case _:
            raise error
    return "streamplace: " + printable(" ".join(message.split())), code


def _usage_message(error: click.ClickException) -> str:
    """Return click's message in the form of streamplace's own messages."""
    match error:
        case click.NoSuchOption():
            return unknown_option(error)
        case click.exceptions.NoSuchCommand(command_name=name, ctx=click.Context() as context):
            group = context.command
            known = group.list_commands(context) if isinstance(group, click.Group) else []
            message = f"unknown command {name!r}" + (
                valid_choices(name, known)
                if group is not cli
                else INSTEAD.get(name) or did_you_mean(name, known, NEAR)
            )
        case click.BadParameter(param=click.Parameter() as param) if not isinstance(
            error, click.MissingParameter
        ):
            hint = (param.get_error_hint(error.ctx) or "").replace("'", "")
            return f"{hint}: {error.message}"
        case _:
            message = error.format_message().rstrip(".")
            message = message.replace(". Choose from:", "; choose from")
            command = str(getattr(getattr(error, "ctx", None), "info_name", None))
            if message.startswith("Got unexpected") and command in ours(TAKES):
                message += f"; {command} takes {ours(TAKES)[command]}"
            if message.startswith(("Missing ", "Got ", "Option ")):  # click's own
                message = message[0].lower() + message[1:]
    return message


@cache
def note_compiling() -> None:
    """Say on a terminal, once, that kernels are compiled, and why none came with the package."""
    if not sys.stderr.isatty() or is_quiet():
        return
    from streamplace.sim.kernels.bundle import reason_for_none  # noqa: PLC0415 - loaded where a kernel is

    reason = reason_for_none() or "one is used for the first time"
    click.echo(f"compiling kernels, which takes up to a minute, once: {reason}", err=True)


def script() -> None:
    """Run the command line of this process; like Ctrl-C, SIGTERM leaves no incomplete file."""
    signal.signal(signal.SIGTERM, _terminated)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # operator names may be any text
    before_compiling.append(note_compiling)
    code = None
    with suppress(KeyboardInterrupt, SystemExit):
        code = main()
        # all output is written; a signal must not interrupt the clean-up
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    gc.freeze()  # the process ends, so Python need not search all objects for garbage (0.2 s)
    sys.exit(_explain(_stops[-1])[1] if code is None else code)


def _open_closed_streams() -> None:
    """Discard what is written to stdout or stderr where the caller has closed it (``>&-``).

    Otherwise Python has no such stream, and the next file that is opened gets its number, so that
    what C code prints would end up in it.
    """
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)  # to worker processes, for which the same holds
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))


def _stop_behind(raised: BaseException) -> BaseException:
    """Return the signal's exception if a library has replaced it with `raised`."""
    if (stop := next((error for error in _chain(raised) if error in _stops), None)) is not None:
        return stop
    expected = isinstance(raised, (StreamplaceError, click.ClickException, OSError, SystemExit))
    return raised if expected or not _stops else _stops[-1]


def _notes(raised: BaseException) -> list[str]:
    return [note for error in _chain(raised) for note in getattr(error, "__notes__", ())]


def _chain(raised: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those during whose handling it was raised, the latest first."""
    error: BaseException | None = raised
    while error is not None:
        yield error
        error = error.__context__


def _interrupted(number: int, frame: object) -> None:
    _stop(number, KeyboardInterrupt())


def _terminated(number: int, frame: object) -> None:
    _stop(number, SystemExit(TERMINATED))


def _stop(number: int, error: BaseException) -> None:
    """Raise a signal's exception; silence errors from finalisers of half-built objects.

    Python ignores an exception that is raised in a finaliser, so the signal is then sent again.
    """

    def ignored(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_value is error:
            main_thread = threading.main_thread().ident
            again = threading.Timer(AGAIN_S, signal.pthread_kill, (main_thread, number))
            again.daemon = True
            again.start()

    sys.unraisablehook = ignored
    _stops.append(error)
    raise error


if __name__ == "__main__":
    script()

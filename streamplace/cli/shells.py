"""Completion in bash, zsh and fish."""

import os

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    split_arg_string,
)

PROGRAM = "streamplace"
VARIABLE = "_STREAMPLACE_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
BREAKS = ":="  # where bash ends a word, but streamplace does not


class Bash(BashComplete):
    """Completion for bash, which ends words at ``:`` and ``=``, as in ``policy:samples=16``.

    This class splits the line itself. It removes from each answer what bash considers to be
    earlier words, because bash inserts the answer after them.
    """

    source_template = BashComplete.source_template.replace(
        "env COMP_WORDS=",
        'env COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" COMP_WORDS=',
    ).replace(  # no space after option=
        "    return 0\n",
        '    [[ "${COMPREPLY[*]}" == *= ]] && compopt -o nospace\n    return 0\n',
    )
    _typed = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one being typed, and that word."""
        if "COMP_LINE" not in os.environ:  # called by click's own script
            return super().get_completion_args()
        line = os.environ["COMP_LINE"]
        before = line.encode()[: int(os.environ.get("COMP_POINT") or len(line))].decode(
            errors="ignore"
        )
        words = split_arg_string(before)[1:]
        self._typed = "" if not words or before[-1:].isspace() else words.pop()
        return words, self._typed

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return an answer without the part that bash considers to be earlier words."""
        kept = max(self._typed.rfind(letter) for letter in BREAKS) + 1
        if item.value.startswith(self._typed[:kept]):
            item.value = item.value[kept:]
        return super().format_completion(item)


def prepare() -> None:
    """Register the completion class for bash with click."""
    add_completion_class(Bash)

"""Placeholders such as ``${workers}``, which Flux replaces before it parses a file as YAML."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

_PLACEHOLDER = re.compile(r"\$\{([^}\n]+)\}")
_WORD = re.compile("\ue000[0-9]+\ue001")
_ENVIRONMENT = "${ENV-"


def marked(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with a word of equal length for each placeholder, and word -> placeholder.

    The words are valid wherever the value of a placeholder may be, as in ``[${x}]``.
    """
    words: dict[str, str] = {}
    numbers: dict[str, int] = {}

    def word_of(match: re.Match[str]) -> str:
        number = numbers.setdefault(match[0], len(numbers))
        word = f"\ue000{number:0{len(match[0]) - 2}}\ue001"
        words[word] = match[0]
        return word

    return _PLACEHOLDER.sub(word_of, text), words


def restored(text: str, words: Mapping[str, str]) -> str:
    """Return a text with the placeholders in place of their words."""
    return _WORD.sub(lambda match: words.get(match[0], match[0]), text)


def placeholders_in(
    value: Any,
    words: Mapping[str, str],
    keys: Collection[str] | None = None,
    whole: Collection[str] = (),
) -> list[str]:
    """Return the placeholders in the texts of a document, in order.

    Parameters
    ----------
    keys
        The keys of objects under which to look; None: all.
    whole
        Those of them below which all keys count, whatever their names.
    """
    texts = _texts(value, keys, whole)
    found = (words.get(word) for text in texts for word in _WORD.findall(text))
    return list(dict.fromkeys(each for each in found if each))


def meaning(placeholders: Sequence[str]) -> str:
    """Return what placeholders stand for, as the beginning of a sentence."""
    variables = [each for each in placeholders if each.startswith(_ENVIRONMENT)]
    properties = [each for each in placeholders if each not in variables]
    file = "of a properties file (flux --filter)"
    parts = [
        _stand_for(properties, f"a value {file}", f"values {file}"),
        _stand_for(
            variables,
            "an environment variable (flux --env-filter)",
            "environment variables (flux --env-filter)",
        ),
    ]
    return " and ".join(part for part in parts if part)


def _stand_for(names: Sequence[str], one: str, several: str) -> str:
    if not names:
        return ""
    return f"{', '.join(names)} " + (
        f"stands for {one}" if len(names) == 1 else f"stand for {several}"
    )


def _texts(value: Any, keys: Collection[str] | None, whole: Collection[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, keys, whole)
    elif isinstance(value, dict):
        for key, item in value.items():
            if keys is None or key in keys:
                yield from _texts(item, None if key in whole else keys, whole)

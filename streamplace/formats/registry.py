"""The registry of formats of other programs: built-in, of packages, and ``module:FORMAT``."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from streamplace.errors import UsageError
from streamplace.formats.format import Format
from streamplace.util import entry_points, plugins

NOUN = "format"
GROUP = "streamplace.formats"
FORMATS = entry_points.ours(GROUP)
"""The built-in formats: name -> ``module:object``."""


def format_named(text: str) -> Format:
    """Return the format of a name; no other built-in format is loaded.

    Parameters
    ----------
    text
        A built-in name, that of an entry point, or ``module:FORMAT``, which is imported.

    Raises
    ------
    UsageError
        If there is no such format, or it cannot be loaded.
    """
    if text in FORMATS:
        return _built_in(text)
    found, options = plugins.find(text, NOUN, GROUP, FORMATS, form="module:FORMAT")
    plugins.read_options(text, options, {}, NOUN)
    return _as_format(found, text)


def formats() -> Iterator[Format]:
    """Yield the built-in formats, then those of installed packages that can be loaded.

    Installed packages are looked for only after the last built-in format.
    """
    yield from map(_built_in, FORMATS)
    for name, point in sorted(plugins.installed(GROUP).items()):
        if name not in FORMATS:
            with suppress(UsageError):  # `format_named` says why it cannot be loaded
                yield _as_format(plugins.load_installed(point, NOUN), name)


def _built_in(name: str) -> Format:
    found: Format = plugins.load_ours(FORMATS[name])
    return found


def _as_format(found: object, text: str) -> Format:
    if not isinstance(found, Format):
        raise UsageError(f"{NOUN} {text!r}: is not a streamplace.formats.Format")
    return replace(found, name=text)

"""Entry points of streamplace's own packages, in the form in which installed packages have them.

A package of streamplace names what it adds to a group in its file ``entry_points.txt``, as
installed distributions do. Without the folder of a package, its names are unknown, and all else
works. The files are read without a look at installed distributions, which takes 40 ms.

Only packages of streamplace can add to the groups in `PRIVATE`.
"""

from collections.abc import Mapping
from configparser import ConfigParser
from functools import cache
from pathlib import Path

FILE = "entry_points.txt"
PRIVATE = (
    "streamplace.commands.about",
    "streamplace.commands.takes",
    "streamplace.configs",
    "streamplace.families.about",
    "streamplace.measurements",
    "streamplace.placers.about",
    "streamplace.semantics",
)
"""Groups that are read from these files alone, since most are read whenever a command starts."""


@cache
def ours(group: str) -> Mapping[str, str]:
    """Return what streamplace's packages add to a group: name -> ``module:object``."""
    parser = _files()
    return dict(parser[group]) if parser.has_section(group) else {}


def config_files() -> dict[str, Path]:
    """Return the shipped configs of trainings by name.

    They are in the folders ``configs`` of the packages that the group ``streamplace.configs`` has.
    """
    root = Path(__file__).parents[1]
    packages = [Path(*name.split(".")[1:]) for name in ours("streamplace.configs").values()]
    paths = [path for package in packages for path in (root / package / "configs").glob("*.toml")]
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


@cache
def _files() -> ConfigParser:
    parser = ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[method-assign, assignment]
    for path in sorted(Path(__file__).parents[1].glob(f"*/{FILE}")):
        parser.read(path, encoding="utf-8")
    return parser

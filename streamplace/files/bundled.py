"""The data files that come with streamplace, in a checkout or in a wheel."""

from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.reading import read_failure
from streamplace.util.suggest import closest_match

PREFIX = "dataset:"
FOLDERS = ("real", "networks")
"""Folders of graphs."""


def shipped_folder() -> Path:
    """Return the folder of shipped datasets."""
    package = Path(__file__).resolve().parent.parent
    in_wheel = package / "datasets"
    return in_wheel if in_wheel.is_dir() else package.parent / "datasets"


def resolve(path: str | Path) -> Path:
    """Return the path of a file; ``dataset:real/x.json`` is a file that comes with streamplace.

    Raises
    ------
    FormatError
        If there is no such dataset, or the path is not a valid file name.
    """
    text = str(path)
    if path == "":  # as a Path it would be the current folder
        raise FormatError("'': no such file or folder")
    if not text.startswith(PREFIX):
        _check_path(text)
        return Path(path)
    folder = shipped_folder()
    found = (folder / text.removeprefix(PREFIX)).resolve()
    if not (found.exists() and found.is_relative_to(folder.resolve())):
        names = (*FOLDERS, *shipped_names())
        # without the prefix, which would make all names similar
        meant = closest_match(text.removeprefix(PREFIX), names)
        choices = ", ".join(dataset_choices())
        message = f"choose from {choices}" if meant is None else f"did you mean {PREFIX + meant!r}?"
        raise FormatError(f"{text}: no such dataset; {message}")
    return found


def shipped_names() -> list[str]:
    """Return the names of shipped graphs, without the prefix."""
    folder = shipped_folder()
    return [
        path.relative_to(folder).as_posix()
        for each in FOLDERS
        for path in sorted(folder.glob(f"{each}/*.json"))
    ]


def dataset_choices() -> list[str]:
    """Return the names of shipped folders and graphs as users type them."""
    return [PREFIX + name for name in (*FOLDERS, *shipped_names())]


def _check_path(text: str) -> None:
    try:
        Path(text).exists()  # raises if the name is too long or a folder may not be entered
    except (OSError, ValueError) as error:
        raise FormatError(f"{text}: {read_failure(error)}") from None

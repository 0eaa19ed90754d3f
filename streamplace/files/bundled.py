"""The data files that come with streamplace, from a checkout as from a wheel."""

from pathlib import Path

from streamplace.errors import FormatError
from streamplace.util.suggest import closest_match

PREFIX = "dataset:"


def shipped_folder() -> Path:
    """Return the folder of shipped datasets."""
    package = Path(__file__).resolve().parent.parent
    in_wheel = package / "datasets"
    return in_wheel if in_wheel.is_dir() else package.parent / "datasets"


def resolve(path: str | Path) -> Path:
    """Return the path of a file; ``dataset:real/x.json`` is one that streamplace ships.

    Raises
    ------
    FormatError
        If no such dataset is shipped, or the name cannot be one of a file.
    """
    text = str(path)
    if not text.startswith(PREFIX):
        _look(text)
        return Path(path)
    folder = shipped_folder()
    found = (folder / text.removeprefix(PREFIX)).resolve()
    if not (found.exists() and found.is_relative_to(folder.resolve())):
        names = ("real", *shipped_names())
        meant = closest_match(
            text.removeprefix(PREFIX), names
        )  # all names would be near by the prefix
        there = ", ".join(PREFIX + name for name in names)
        message = f"there are {there}" if meant is None else f"did you mean {PREFIX + meant!r}?"
        raise FormatError(f"{text}: not shipped; {message}")
    return found


def shipped_names() -> list[str]:
    """Return the names of shipped graphs, without what stands before them."""
    folder = shipped_folder()
    return sorted(str(path.relative_to(folder)) for path in folder.glob("real/*.json"))


def _look(text: str) -> None:
    try:
        Path(text).exists()  # which raises on names too long and folders closed to us
    except (OSError, ValueError) as error:
        raise FormatError(f"{text}: {getattr(error, 'strerror', None) or error}") from None

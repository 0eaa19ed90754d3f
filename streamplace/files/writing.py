"""Files written completely or not at all, and folders that one process writes into."""

import fcntl
import gzip
import io
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from socket import gethostname
from typing import IO
from zlib import crc32

from streamplace.errors import FormatError
from streamplace.files.reading import STDIO
from streamplace.util.suggest import near_file

TEMPORARY = ".streamplace-"
_cleaned: set[Path] = set()


@contextmanager
def atomic(
    path: str | Path, verify: Callable[[bytes], object] | None = None
) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name only once it is complete and on the disk.

    ``-`` is stdout, which is written at the end. If the name ends in .gz, the content is
    compressed, to the same bytes every time. A symbolic link stays a link; pipes and device files
    are written to directly. An existing file keeps its mode. If several processes write the same
    file, the last one to finish wins. A process that is killed while it writes leaves a temporary
    file that nothing reads, and that the next write into its folder removes.

    Parameters
    ----------
    verify
        Called with the bytes read back from the disk, before the file takes its name; may raise.

    Raises
    ------
    FormatError
        If the file cannot be written.
    """
    if not str(path) or "\0" in str(path):
        raise FormatError(f"{str(path)!r} is not a file name")
    try:
        if str(path) == STDIO:
            with _gathered() as file:
                yield file
        elif Path(path).exists() and not Path(path).is_file():
            with open(path, "wb") as file:
                yield file
        else:
            with _replacing(Path(os.path.realpath(path)), verify) as file:
                yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FormatError(f"{path}: cannot write: {_reason(path, error)}") from None


def _reason(path: str | Path, error: OSError) -> str:
    """Return why a file cannot be written, in words."""
    if not isinstance(error, FileNotFoundError):
        return error.strerror or str(error)
    folder = Path(os.path.realpath(path)).parent
    if not folder.exists():
        return f"no such folder{near_file(Path(path).parent)}"
    return f"{folder} takes no new files"  # such as /proc


def check_target(path: str | Path, make: bool = False) -> None:
    """Raise FormatError if a file cannot be written; called before the work starts.

    Parameters
    ----------
    make
        Whether missing folders will be created.
    """
    if str(path) == STDIO or "\0" in str(path):
        return
    target = Path(os.path.realpath(path))
    try:
        if Path(path).exists() and not (Path(path).is_file() or target.is_dir()):
            return  # a pipe or a device file
        if target.is_dir():
            raise FormatError(f"{path}: cannot write: is a folder")
        existing = target if target.exists() else target.parent
        while make and not existing.exists():
            existing = existing.parent
    except OSError as error:
        raise FormatError(f"{path}: cannot write: {error.strerror}") from None
    if existing != target and not existing.is_dir():
        missing = _reason(path, FileNotFoundError())
        message = f"{existing} is not a folder" if existing.exists() else missing
        raise FormatError(f"{path}: cannot write: {message}")
    folder = target.parent if existing.is_file() else existing  # a file is replaced, not opened
    if not os.access(existing, os.W_OK) or not os.access(folder, os.W_OK):
        raise FormatError(f"{path}: cannot write: not permitted")


def check_folder(path: str | Path) -> None:
    """Raise FormatError if a folder could not be created, or is not writable."""
    if "\0" in str(path):
        raise FormatError(f"{str(path)!r} is not a folder name")
    existing = Path(os.path.realpath(path))
    try:
        while not existing.exists():
            existing = existing.parent
    except OSError as error:
        raise FormatError(f"{path}: cannot create folder: {error.strerror}") from None
    if not existing.is_dir():
        raise FormatError(f"{path}: cannot create folder: {existing} is not a folder")
    if not os.access(existing, os.W_OK):
        raise FormatError(f"{path}: cannot write into this folder: not permitted")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, or to stdout for ``-``."""
    write_pieces(path, (text,))


def write_pieces(path: str | Path, pieces: Iterable[str]) -> None:
    """Write a text file piece by piece, or to stdout for ``-``.

    Bytes that are not UTF-8 in names of files are escaped, as JSON does it.
    """
    with atomic(path) as file:
        for piece in pieces:
            file.write(piece.encode(errors="backslashreplace"))


def make_folder(path: str | Path) -> Path:
    """Create a folder, and those above it, unless they exist."""
    folder = Path(path)
    try:
        new = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        known = {FileExistsError: "is a file", FileNotFoundError: "none can be made there"}
        reason = known.get(type(error), error.strerror)
        raise FormatError(f"{folder}: cannot create folder: {reason}") from None
    for each in new:
        sync_folder(each.parent)
    return folder


@contextmanager
def staged(path: str | Path) -> Iterator[Path]:
    """Yield an empty folder, whose files move into a folder at the end: all of them or none.

    The folder is created if it does not exist; other files in it stay. If several processes write
    into it, all files are those of the last one to finish.

    Raises
    ------
    FormatError
        If a file cannot be written.
    """
    folder = make_folder(path)
    _remove_stages(folder)
    with ExitStack() as later:
        try:
            stage = _made_stage(folder, later)
            yield stage
            if _identity(folder.stat()) not in _HELD:  # else nobody else writes into it
                _locked(folder, later)
            for file in sorted(stage.iterdir()):
                file.replace(folder / file.name)
        except (OSError, FormatError) as error:
            fault = error.__context__ if isinstance(error, FormatError) else error
            if not isinstance(fault, OSError):
                raise
            raise FormatError(f"{path}: cannot write: {fault.strerror or fault}") from None
    sync_folder(folder)


def _made_stage(folder: Path, later: ExitStack) -> Path:
    """Create a folder and lock it to show that it is in use; `later` removes it."""
    while True:
        stage = folder / f"{TEMPORARY}{host()}-{secrets.token_hex(8)}"
        later.callback(shutil.rmtree, stage, ignore_errors=True)
        stage.mkdir()
        with suppress(FileNotFoundError):  # another process removed it before it was locked
            _locked(stage, later)
        if stage.exists():
            return stage


def _locked(folder: Path, later: ExitStack) -> None:
    """Lock a folder until `later` is closed."""
    handle = folder_handle(folder)
    later.callback(os.close, handle)
    lock(handle, wait=True)


def _remove_stages(folder: Path) -> None:
    """Remove folders that killed processes on this host have left; see `_remove_orphans`."""
    for stage in folder.glob(f"{TEMPORARY}{host()}-*/"):
        with suppress(OSError):
            handle = folder_handle(stage)
            try:
                if lock(handle):
                    shutil.rmtree(stage)
            finally:
                os.close(handle)


@contextmanager
def _gathered() -> Iterator[IO[bytes]]:
    gathered = io.BytesIO()
    yield gathered
    sys.stdout.buffer.write(gathered.getvalue())
    sys.stdout.buffer.flush()


@contextmanager
def _replacing(
    target: Path, verify: Callable[[bytes], object] | None = None
) -> Iterator[IO[bytes]]:
    _remove_orphans(target.parent)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    with ExitStack() as later:
        temporary, raw = _made(target.parent, 0o666 if mode is None else 0o600, later)
        later.callback(os.close, os.dup(raw.fileno()))  # keeps the lock until the rename
        with raw:
            if target.suffix == ".gz":
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as zipped:
                    yield zipped  # type: ignore[misc]  # a binary file, though not an IO[bytes]
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        if verify is not None:
            verify(temporary.read_bytes())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
        sync_folder(target.parent)


def _made(folder: Path, mode: int, later: ExitStack) -> tuple[Path, IO[bytes]]:
    """Create a temporary file and lock it to show that it is in use; `later` removes it."""
    while True:
        temporary = folder / f"{TEMPORARY}{host()}-{secrets.token_hex(8)}"
        later.callback(temporary.unlink, missing_ok=True)  # first, since Ctrl-C may come any time
        raw = os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")
        lock(raw.fileno(), wait=True)
        if temporary.exists():
            return temporary, raw
        raw.close()  # another process removed it as an orphan before it was locked


def _remove_orphans(folder: Path) -> None:
    """Remove temporary files of killed processes, which are no longer locked.

    This happens once for each folder, since it lists the whole folder, and only for files of this
    host, since not every file system shares locks between hosts.
    """
    if folder in _cleaned:
        return
    _cleaned.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_temporary = entry.name.startswith(f"{TEMPORARY}{host()}-")
            if is_temporary and entry.is_file(follow_symlinks=False):
                with suppress(OSError), open(entry.path, "rb") as found:
                    if lock(found.fileno()):
                        os.unlink(entry.path)


def host() -> str:
    """Return a code for this host, used in file names; a host's name may contain any letters."""
    return f"{crc32(gethostname().encode()):08x}"


def sync_folder(folder: Path) -> None:
    """Flush a folder to the disk; otherwise a power cut may lose the names of its files."""
    with suppress(OSError):  # not every file system can flush a folder
        handle = folder_handle(folder)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock(handle: int, wait: bool = False) -> bool | None:
    """Lock the file or folder of a handle until the handle is closed.

    Parameters
    ----------
    wait
        Whether to wait until another process releases its lock.

    Returns
    -------
    locked
        False if another process holds the lock; None if the file system has no locks.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def folder_handle(path: str | os.PathLike[str]) -> int:
    """Open a folder, to lock it or to flush it to the disk."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY)


_HELD: set[tuple[int, int]] = set()
"""Device and inode of the folders that this process holds, which it must not wait for."""


@contextmanager
def held(path: str | Path) -> Iterator[Path]:
    """Lock a folder for this process, and create it if it does not exist.

    Folders that were created for the lock and are still empty at the end are removed. The folder
    itself is locked, so no lock file is left in it, and a killed process leaves nothing locked.
    Processes on other machines are excluded if the file system shares its locks.

    Raises
    ------
    FormatError
        If the folder cannot be created or written into, or another process holds it.
    """
    check_folder(path)
    folder = Path(path)
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    with ExitStack() as later:
        while not _holds(make_folder(folder), later):
            pass  # the process that held it before has removed it
        for each in reversed(new):
            later.callback(_remove_empty, each)  # before the lock is released
        yield folder


def _holds(folder: Path, later: ExitStack) -> bool:
    """Lock a folder until `later` is closed; return whether it still exists."""
    try:
        handle = folder_handle(folder)
    except OSError as error:
        raise FormatError(f"{folder}: cannot open folder: {error.strerror}") from None
    later.callback(os.close, handle)
    if lock(handle) is False:
        raise FormatError(
            f"{folder}: another run of streamplace is writing into this folder; "
            "wait, or choose another folder"
        )
    own = _identity(os.fstat(handle))
    _HELD.add(own)
    later.callback(_HELD.discard, own)
    try:
        return own == _identity(folder.stat())
    except OSError:
        return False


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()

"""Optional packages: what to install where one is missing."""

from importlib.util import find_spec
from typing import Any

from streamplace.errors import UsageError
from streamplace.sim import work_clock
from streamplace.util.plugins import load_ours

OF_LEARN = ("torch", "torch_geometric")
"""The modules of the extra `learn`."""


def missing_message(what: str, package: str, extra: str) -> str:
    """Return the message that something needs a package, which an extra installs."""
    return f"{what} needs {package}: pip install '.[{extra}]' in a checkout of streamplace"


def check_learn(what: str) -> None:
    """Require PyTorch and PyTorch Geometric, without loading them.

    Raises
    ------
    UsageError
        If one is not installed. The message names what needs them, and says what to install.
    """
    if any(find_spec(module) is None for module in OF_LEARN):
        raise UsageError(missing_message(what, "PyTorch", "learn"))


def load_learned(path: str, what: str) -> Any:
    """Return one of streamplace's own objects, ``module:object``, that needs PyTorch.

    Raises
    ------
    UsageError
        See `check_learn`.
    """
    check_learn(what)
    with work_clock.loading():
        return load_ours(path)


def load_drawing(path: str) -> Any:
    """Return one of streamplace's own functions, ``module:function``, that draws pictures.

    Raises
    ------
    UsageError
        If matplotlib or the folder of its package is not there.
    """
    if find_spec("matplotlib") is None:
        raise UsageError("pictures need matplotlib: pip install matplotlib")
    return load_ours(path)


def load_data_frame(what: str) -> Any:
    """Return the class ``pandas.DataFrame``; nothing else depends on pandas.

    Raises
    ------
    UsageError
        If it is not installed. The message names what needs it.
    """
    if find_spec("pandas") is None:
        raise UsageError(f"{what} needs pandas: pip install pandas; to_records() needs nothing")
    with work_clock.loading():
        return load_ours("pandas:DataFrame")

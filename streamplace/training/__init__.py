"""Training of policies: one visible loop, from a config, resumable.

What needs torch is loaded when it is first used: to check a config takes none.
"""

from typing import TYPE_CHECKING, Any

from streamplace.training.config import TrainConfig, config_names, read_config

if TYPE_CHECKING:
    from streamplace.training.trainer import Trained as Trained
    from streamplace.training.trainer import train as train

__all__ = ["TrainConfig", "Trained", "config_names", "read_config", "train"]


def __getattr__(name: str) -> Any:
    if name not in ("Trained", "train"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from streamplace.training import trainer  # noqa: PLC0415 - torch is heavy

    return getattr(trainer, name)

"""Training of policies in stages, in memory (`fit`) or in resumable run folders (`train`).

Modules that need torch are imported on first use, because checking a config does not need it.
"""

from typing import TYPE_CHECKING, Any

from streamplace.learning.training.config import TrainConfig, config_names, read_config
from streamplace.util.extras import check_learn
from streamplace.util.lazy import lazily

if TYPE_CHECKING:
    from streamplace.learning.training.in_memory import Fitted as Fitted
    from streamplace.learning.training.in_memory import fit as fit
    from streamplace.learning.training.in_memory import fit_each as fit_each
    from streamplace.learning.training.run import Trained as Trained
    from streamplace.learning.training.trainer import train as train

__all__ = [
    "Fitted",
    "TrainConfig",
    "Trained",
    "algorithms",
    "config",
    "config_names",
    "distributed",
    "fit",
    "fit_each",
    "in_memory",
    "read_config",
    "run",
    "stages",
    "train",
    "trainer",
]
_MODULES_WITH_TORCH = {
    "Fitted": "in_memory",
    "fit": "in_memory",
    "fit_each": "in_memory",
    "Trained": "run",
    "train": "trainer",
}
_load, _ = lazily(__name__, _MODULES_WITH_TORCH)


def __getattr__(name: str) -> Any:
    if name in _MODULES_WITH_TORCH:
        check_learn(f"{__name__}.{name}")
    return _load(name)

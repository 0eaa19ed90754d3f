"""Training of policies in stages, in memory (`fit`) or in resumable run folders (`train`).

Modules are imported on first use: checking a config does not need torch, and a form of a stage that
another package registers is loaded with the configs, which it must not load itself.
"""

from typing import TYPE_CHECKING, Any

from streamplace.util.extras import check_learn
from streamplace.util.lazy import lazily

if TYPE_CHECKING:
    from streamplace.learning.training.config import TrainConfig as TrainConfig
    from streamplace.learning.training.config import config_names as config_names
    from streamplace.learning.training.config import read_config as read_config
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
    "fit",
    "fit_each",
    "in_memory",
    "read_config",
    "stages",
    "train",
]
_MODULES_WITH_TORCH = {
    "Fitted": "in_memory",
    "fit": "in_memory",
    "fit_each": "in_memory",
    "Trained": "run",
    "train": "trainer",
}
_CONFIGS = dict.fromkeys(("TrainConfig", "config_names", "read_config"), "config")
_load, _ = lazily(__name__, _MODULES_WITH_TORCH | _CONFIGS)


def __getattr__(name: str) -> Any:
    if name in _MODULES_WITH_TORCH:
        check_learn(f"{__name__}.{name}")
    return _load(name)

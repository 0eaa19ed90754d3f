"""Training policies: one visible loop, from a config, resumable."""

from streamplace.training.config import TrainConfig, config_names, read_config
from streamplace.training.trainer import Trained, train

__all__ = ["TrainConfig", "Trained", "config_names", "read_config", "train"]

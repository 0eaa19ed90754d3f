"""Modules that a fork server imports before it forks, so that a fork spends no time on imports.

`writing` runs valid commands when it is imported.
"""

WRITING = (f"{__name__}.writing",)
READING_WEIGHTS = (
    "streamplace.training.trainer",
    "streamplace.policy.placer",
    "streamplace.policy.tensor_files",
    "streamplace.workflows.place",
    "streamplace.cli.terminal",
)

"""Modules that a fork server imports before it forks, so that a fork spends no time on imports.

The modules of this package run valid commands when they are imported.
"""

WRITING = (f"{__name__}.writing",)
READING = (f"{__name__}.reading",)
READING_TORCH = (f"{__name__}.reading_torch",)
READING_WEIGHTS = (
    "streamplace.training.trainer",
    "streamplace.policy.placer",
    "streamplace.policy.inspect",
    "streamplace.workflows.place",
    "streamplace.cli.terminal",
)

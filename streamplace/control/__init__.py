"""The controller of running jobs: what it measures, plans, decides and does."""

__all__ = [
    "controller",
    "decisions",
    "interfaces",
    "journal",
    "load",
    "lock",
    "observation",
    "page",
    "plannable",
    "planning",
    "plans",
    "settings",
    "watching",
]

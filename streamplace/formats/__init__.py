"""Formats: what one is, the registry, and those that belong to no engine.

A package of another distribution that adds a format needs only the names of this module.
"""

from streamplace.formats.format import Format, Signs

__all__ = [
    "Format",
    "Signs",
    "costs",
    "documents",
    "format",
    "instances",
    "labels",
    "logical_builder",
    "losses",
    "profiling",
    "sizes",
    "xml",
    "yaml",
]

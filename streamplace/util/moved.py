"""Module paths of version 0.2, which work for one more release with a warning.

The documentation of 0.2 showed modules such as ``streamplace.flows``. Each of them is created when
it is imported, and returns the names from the modules where they are now.
"""

import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED_MODULES: Mapping[str, str] = {
    "arrays": "util.arrays",
    "backends": "execution.backends",
    "cluster": "problem.cluster",
    "comparison": "workflows.comparison",
    "constraints": "problem.constraints",
    "engines": "integrations",
    "engines.flink_plan": "integrations.flink.plan",
    "feasibility": "problem.feasibility",
    "flows": "scoring.flow",
    "graph": "problem.graph",
    "grouping": "problem.grouping",
    "interchange": "problem.networkx_interop",
    "models": "problem.objective",
    "moves": "workflows.diff",
    "parallel": "execution.parallel",
    "placement": "problem.placement",
    "placers.fuser": "placers.partition",
    "placers.metis": "placers.partition.metis",
    "placers.oracle": "placers.partition",
    "placers.simple": "placers.trivial",
    "planning": "workflows.plan",
    "remedies": "workflows.single_moves",
    "replacing": "workflows.migrate",
    "rows": "problem.operators",
    "runs": "scoring.engine",
    "score": "scoring.throughput",
    "shown": "display.mixins",
    "simulating": "workflows.simulate",
    "solve": "workflows.place",
    "trials": "workflows.compare",
    "units": "util.units",
}
"""Old module -> new module, both relative to ``streamplace``."""

MOVED_NAMES: Mapping[str, str] = {
    "Replacement": "workflows.migrate.Migration",
    "replace": "migrate",
    "placers.base.PartsOption": "placers.partition.Partitioner",
    "placers.base.Partitioner": "placers.partition.Partitioner",
    "placers.base.devices_of_parts": "placers.partition.devices_of_parts",
    "placers.base.parts_for": "placers.partition.parts_for",
    "placers.fuser.Fuser": "placers.partition.Fuser",
    "placers.metis.Metis": "placers.partition.Metis",
    "placers.metis.MetisRecursive": "placers.partition.MetisRecursive",
    "planning.Plan": "workflows.capacity_plan.Plan",
    "planning.Row": "workflows.capacity_plan.PlanRow",
    "problem.MODELS": "problem.objective.MODELS",
    "problem.Model": "problem.objective.Model",
    "problem.Problem": "Problem",
    "remedies.Remedy": "workflows.single_moves.ImprovingMove",
    "remedies.remedies": "workflows.single_moves.improving_moves",
    "replacing.Replacement": "workflows.migrate.Migration",
    "replacing.replace": "migrate",
    "runs.throughput": "scoring.throughput.throughput",
    "score.Bottleneck": "scoring.loads.Bottleneck",
    "score.DeviceLoad": "scoring.loads.DeviceLoad",
    "score.EngineScore": "scoring.engine.EngineScore",
    "score.LinkLoad": "scoring.loads.LinkLoad",
    "score.Score": "scoring.score.ThroughputScore",
    "shown.Brief": "display.mixins.TruncatedRepr",
    "shown.Rounded": "display.mixins.RoundedRepr",
    "shown.Shown": "display.mixins.Displayable",
    "shown.aligned": "display.text.aligned",
    "shown.number": "display.text.number",
    "shown.quoted": "display.text.quoted",
    "shown.several": "display.text.several",
    "solve.Result": "workflows.result.Result",
}
"""Old name -> new name, relative to ``streamplace``; others moved as `MOVED_MODULES` says."""

ROOT = __name__.partition(".")[0]


def moved(module: str, name: str) -> Any:
    """Return the object that a name of an old module refers to now, with a warning.

    Parameters
    ----------
    module
        The old module, relative to ``streamplace``; empty for a public name.

    Raises
    ------
    AttributeError
        If the old module had no such name, or the name no longer exists.
    """
    old = f"{module}.{name}" if module else name
    default = f"{MOVED_MODULES[module]}.{name}" if module in MOVED_MODULES else None
    place = MOVED_NAMES.get(old, default)
    if place is None:
        raise AttributeError(f"module '{ROOT}.{module}' has no attribute {name!r}")
    home, _, attribute = f"{ROOT}.{place}".rpartition(".")
    value = getattr(import_module(home), attribute)
    warnings.warn(
        f"{ROOT}.{old} is now {ROOT}.{place}; the old path will be removed in the next release",
        DeprecationWarning,
        stacklevel=3,
    )
    return value


class _OldModule(ModuleType):
    """A module at an old path, which looks its names up in their new modules."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return moved(self.__name__.partition(".")[2], name)


class _Finder:
    """An import hook for modules at old paths, both finder and loader.

    It does not derive from a class of importlib, since importing that class would take a tenth of
    the time of `streamplace --help`.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module if its path is an old one, otherwise None."""
        root, _, module = fullname.partition(".")
        if root != ROOT or module not in MOVED_MODULES:
            return None
        has_modules = any(old.startswith(f"{module}.") for old in MOVED_MODULES)
        return ModuleSpec(fullname, self, is_package=has_modules)  # type: ignore[arg-type]  # no base class

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return an empty module."""
        return _OldModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing, since names are looked up when they are used."""


def install() -> None:
    """Make old paths importable; calling it again changes nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())

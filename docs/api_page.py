"""Generator of docs/api.md, the list of the public names of the package.

    python -m docs.api_page      # updates the page

The page has signatures and summaries, and can be read as a plain file. On the site that mkdocs
builds, the same sections show the full docstrings. `tests/docs` compares the page with the code.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from pydoc import locate
from textwrap import dedent
from typing import Any

import streamplace as sp

PAGE = Path(__file__).parent / "api.md"
WIDTH = 88
MAX_DEFAULT_LENGTH = 40  # characters; longer default values are shown as "…"
INTRODUCTION = """\
# Python API

`import streamplace as sp` is fast, since modules are loaded only when they are used. Names of the
form `streamplace.NAME` are available as `sp.NAME`; the others are imported from the module shown.
`help(NAME)` and the site that `make docs` builds have the full descriptions of parameters, return
values and errors.
"""
SECTIONS = {
    "Place, simulate, compare": (
        "streamplace.workflows.place.place",
        "streamplace.workflows.result.Result",
        "streamplace.workflows.confidence.Confidence",
        "streamplace.workflows.confidence.Influence",
        "streamplace.workflows.latency.limit.LatencyLimit",
        "streamplace.workflows.latency.answer.LatencyAnswer",
        "streamplace.workflows.simulate.simulate",
        "streamplace.scoring.score.ThroughputScore",
        "streamplace.workflows.makespan_result.MakespanResult",
        "streamplace.scoring.makespan_score.MakespanScore",
        "streamplace.scoring.engine_score.EngineScore",
        "streamplace.scoring.tuple_score.TupleScore",
        "streamplace.scoring.score.Score",
        "streamplace.workflows.compare.compare",
        "streamplace.workflows.comparison.Comparison",
        "streamplace.workflows.makespan_comparison.MakespanComparison",
        "streamplace.workflows.plan.plan",
        "streamplace.workflows.capacity_plan.Plan",
        "streamplace.workflows.size.size",
        "streamplace.workflows.sizing.result.SizeResult",
        "streamplace.workflows.sizing.jobs.size_jobs",
        "streamplace.workflows.sizing.jobs.JobsSize",
        "streamplace.workflows.jobs.place.place_jobs",
        "streamplace.workflows.jobs.result.JobsResult",
        "streamplace.workflows.jobs.outcomes.JobOutcome",
        "streamplace.workflows.explain.explain",
        "streamplace.workflows.explanation.Explanation",
        "streamplace.workflows.conflict.conflict",
        "streamplace.workflows.conflict.Conflict",
        "streamplace.workflows.migrate.migrate",
        "streamplace.workflows.migrate.Migration",
        "streamplace.scoring.engine.run",
        "streamplace.scoring.tuples.run_tuples",
        "streamplace.workflows.latency.within_limit.within_limit",
    ),
    "The model": (
        "streamplace.problem.graph.StreamGraph",
        "streamplace.problem.graph.Operator",
        "streamplace.problem.graph.Stream",
        "streamplace.problem.cluster.Cluster",
        "streamplace.problem.cluster.Device",
        "streamplace.problem.cluster.Network",
        "streamplace.problem.cluster.LinkOverride",
        "streamplace.problem.cluster.Uplink",
        "streamplace.problem.constraints.Constraints",
        "streamplace.problem.jobs.Job",
        "streamplace.problem.jobs.Jobs",
        "streamplace.problem.problem.Problem",
        "streamplace.problem.objective.Throughput",
        "streamplace.problem.makespan.Makespan",
        "streamplace.problem.total_cost.TotalCost",
        "streamplace.problem.placement.Placement",
        "streamplace.problem.grouping.Grouping",
        "streamplace.problem.cluster_change.ClusterChange",
        "streamplace.problem.relocation.RelocationCost",
        "streamplace.problem.relocation.Relocation",
    ),
    "Files and graphs": (
        "streamplace.files.datasets.read_dataset",
        "streamplace.files.datasets.read_graph",
        "streamplace.files.read_cluster",
        "streamplace.files.cluster_lists.read_clusters",
        "streamplace.files.jobs.read_jobs",
        "streamplace.files.placements.read_placement",
        "streamplace.files.datasets.write_dataset",
        "streamplace.files.write_cluster",
        "streamplace.files.cluster_lists.write_clusters",
        "streamplace.files.jobs.write_jobs",
        "streamplace.files.write_placement",
        "streamplace.problem.networkx_interop.from_networkx",
        "streamplace.problem.networkx_interop.to_networkx",
        "streamplace.generate.Recipe",
        "streamplace.generate.family.Family",
        "streamplace.generate.giph.changes.Adaptivity",
        "streamplace.generate.sensor_fusion.SensorFusion",
        "streamplace.generate.sensor_fusion.costs.relocation_cost",
    ),
    "Neural networks": (
        "streamplace.integrations.torch.graph.from_module",
        "streamplace.integrations.torch.placed.PlacedModule",
        "streamplace.integrations.torch.measuring.measure",
        "streamplace.integrations.torch.measuring.Measurement",
        "streamplace.integrations.torch.measuring.with_times",
    ),
    "Placers, environments, datasets": (
        "streamplace.placers.base.Placer",
        "streamplace.placers.repair.feasible",
        "streamplace.scoring.flow.flow",
        "streamplace.scoring.orders.traversal_order",
        "streamplace.scoring.throughput.throughput",
        "streamplace.scoring.registry.evaluator",
        "streamplace.scoring.evaluator.Evaluator",
        "streamplace.scoring.objective_evaluator.ObjectiveEvaluator",
        "streamplace.scoring.pipeline.pipeline_figures",
        "streamplace.scoring.pipeline.PipelineFigures",
        "streamplace.scoring.pipeline.energy_joules",
        "streamplace.execution.backends.Backend",
        "streamplace.env.PlacementEnv",
        "streamplace.pyg.to_pyg",
        "streamplace.pyg.StreamGraphs",
    ),
    "Policies and training": (
        "streamplace.policy.base.Policy",
        "streamplace.policy.base.Constructive",
        "streamplace.policy.trajectories.Trajectories",
        "streamplace.policy.registry.PolicyKind",
        "streamplace.policy.registry.policy_section",
        "streamplace.policy.registry.make_policy",
        "streamplace.training.config.TrainConfig",
        "streamplace.training.stages.ReinforceStage",
        "streamplace.training.stages.ImitationStage",
        "streamplace.training.stages.DaggerStage",
        "streamplace.training.in_memory.fit",
        "streamplace.training.in_memory.Fitted",
        "streamplace.training.per_problem.fit_each",
        "streamplace.training.trainer.train",
        "streamplace.training.measuring.measure.Measure",
        "streamplace.testing.PolicyCase",
        "streamplace.testing.check_policy",
        "streamplace.testing.check_placer",
        "streamplace.testing.check_family",
        "streamplace.testing.check_objective",
    ),
    "Errors": ("streamplace.errors",),
}


def page() -> str:
    """Return the page as Markdown."""
    parts = [INTRODUCTION]
    for title, paths in SECTIONS.items():
        parts.append(f"## {title}\n")
        for path in paths:
            parts += _entry(path)
    return "\n".join(parts)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the text of a page on the site; called by mkdocs."""
    return site_page() if page.file.src_uri == PAGE.name else markdown


def site_page() -> str:
    """Return the page as mkdocstrings expects it, which then adds the full docstrings."""
    parts = ["# Python API\n"]
    for title, paths in SECTIONS.items():
        parts.append("\n".join([f"## {title}", *(f"::: {path}" for path in paths)]) + "\n")
    return "\n".join(parts)


def _entry(path: str) -> Iterator[str]:
    """Yield the Markdown of one name; for a module, that of all classes in it."""
    item = locate(path)
    if inspect.ismodule(item):
        yield f"{_summary(item)}\n"
        for name, member in vars(item).items():
            if inspect.isclass(member) and member.__module__ == item.__name__:
                yield f"- `{path}.{name}`: {_summary(member)}"
        yield ""
        return
    name = path.rpartition(".")[2]
    yield f"### {f'streamplace.{name}' if name in sp.__all__ else path}\n"
    signature = _signature(name, item)
    if not getattr(item, "_is_protocol", False) and "*args" not in signature:
        yield f"```text\n{signature}\n```\n"
    yield f"{_summary(item)}\n"
    if inspect.isclass(item):
        members = list(_members(item))
        yield from members
        if members:
            yield ""


def _members(cls: type) -> Iterator[str]:
    """Yield a line for each public method and property that has a docstring."""
    known = {field.name for field in fields(cls)} if is_dataclass(cls) else set()
    for base in cls.__mro__:
        if not base.__module__.startswith("streamplace"):
            continue
        for name, member in vars(base).items():
            public = name == "__call__" or not name.startswith("_")
            wrapped = getattr(member, "__func__", getattr(member, "func", member))
            if not public or name in known or not inspect.getdoc(wrapped):
                continue
            if isinstance(member, property | cached_property):
                yield f"- `{name}`: {_summary(wrapped)}"
            elif inspect.isfunction(wrapped):
                yield f"- `{_call(name, wrapped)}`: {_summary(wrapped)}"
            else:
                continue
            known.add(name)


def _call(name: str, method: Callable[..., Any]) -> str:
    """Return a call of a method with the names of its parameters."""
    names = [each for each in inspect.signature(method).parameters if each not in ("self", "cls")]
    return f"{name}({', '.join(names)})"


def _summary(item: object) -> str:
    """Return the first paragraph of a docstring in one line."""
    return " ".join((inspect.getdoc(item) or "").split("\n\n")[0].split())


def _signature(name: str, item: Any) -> str:
    """Return a call with the annotations of the source; a long one has a line per parameter."""
    annotations, returns = _annotations(item)
    shown: list[str] = []
    starred = False
    for parameter in inspect.signature(item).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            shown.append("*")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        shown.append(_parameter(parameter, annotations))
    result = f" -> {returns}" if returns else ""
    line = f"{name}({', '.join(shown)}){result}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in shown) + f"){result}"


def _parameter(parameter: inspect.Parameter, annotations: dict[str, str]) -> str:
    annotation = annotations.get(parameter.name, "")
    name = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
    text = f"{name}: {annotation}" if annotation else name
    if parameter.default is parameter.empty:
        return text
    default = repr(parameter.default)
    if default.startswith("<") or len(default) > MAX_DEFAULT_LENGTH:
        default = "…"
    return f"{text} = {default}" if annotation else f"{text}={default}"


@cache
def _annotations(item: Callable[..., Any]) -> tuple[dict[str, str], str]:
    """Return the annotations of parameters, and that of the result, as written in the source."""
    if not inspect.isclass(item):
        function = ast.parse(dedent(inspect.getsource(item))).body[0]
        assert isinstance(function, ast.FunctionDef)
        arguments = function.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [each for each in (arguments.vararg, arguments.kwarg) if each]
        texts = {each.arg: ast.unparse(each.annotation) for each in every if each.annotation}
        return texts, ast.unparse(function.returns) if function.returns else ""
    if "__init__" in vars(item) and not is_dataclass(item):
        return _annotations(vars(item)["__init__"])[0], ""
    texts = {}
    for base in reversed(item.__mro__):
        if base.__module__.startswith("streamplace"):
            (tree,) = ast.parse(dedent(inspect.getsource(base))).body
            assert isinstance(tree, ast.ClassDef)
            for line in tree.body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                    texts[line.target.id] = ast.unparse(line.annotation)
    return texts, ""


if __name__ == "__main__":
    PAGE.write_text(page())

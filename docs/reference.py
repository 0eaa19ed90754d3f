"""Pages of the reference that mkdocs generates: help texts of commands, and public names.

The site has one page per command below `cli.md`, and one page per group of public names below
`api.md`; they are not files of the repository.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import fields
from importlib import import_module
from importlib.metadata import version
from typing import Any

import click

from streamplace.capacity.settings import PlanSettings, SizeSettings
from streamplace.cli.command import Option
from streamplace.cli.registered import cli
from streamplace.problem.operators import OPERATOR_FIELDS, STREAM_FIELDS
from streamplace.util.settings import meanings
from streamplace.workflows.settings import CompareSettings

CLI, API = "cli.md", "api.md"
LESS_FOUND = """\
---
search:
  boost: 0.001
---
"""
"""Front matter of the pages: a search finds the pages that explain something before them."""
WIDTH = 88
CLI_INTRODUCTION = """\
# Command line

The pages below have the `--help` text of each command, with details that are left out on a
terminal. Every command (for `profile` and `apply`, each subcommand) also takes these options:

- `--json` prints the result as JSON on stdout;
- `--quiet` prints nothing on stderr except errors;
- `--seed` sets the seed of all random choices.

Other conventions:

- `-` stands for stdin or stdout wherever a command takes a file.
- GRAPH and DATASET may be streamplace JSON, `.jsonl[.gz]`, a folder, `.npz`, a file of the
  published DREAM benchmark, or an example that comes with streamplace, such as
  `dataset:real/riotbench-etl.json`.
- Exit codes: 0 success, 1 the work failed, 2 bad input, 3 a limit on latency is not proven (the
  result is written), 130 interrupted. Bad input is reported in one line that names the file, the
  place in the file and the fault, and no output file is left half-written.
- The environment variable NO_COLOR turns colours off. Tables fit the terminal; in pipes and files
  they are never cut.
- After a mistyped name, the message suggests the nearest existing one.
"""
API_INTRODUCTION = """\
# Python API

`import streamplace as sp` is fast, since modules are loaded only when they are used. Names that
`dir(streamplace)` lists are available as `sp.NAME`; the others are imported from the module shown.
"""
SECTIONS = {
    "Place, simulate, compare": (
        "streamplace.workflows.place.place",
        "streamplace.workflows.result.Result",
        "streamplace.latency.confidence.Confidence",
        "streamplace.latency.confidence.Influence",
        "streamplace.latency.limit.LatencyLimit",
        "streamplace.latency.limit.LatencyAnswer",
        "streamplace.workflows.simulate.simulate",
        "streamplace.scoring.score.ThroughputScore",
        "streamplace.workflows.value_result.MakespanResult",
        "streamplace.makespan.score.MakespanScore",
        "streamplace.workflows.value_result.ValueResult",
        "streamplace.scoring.values.ValueScore",
        "streamplace.ticks.runs.EngineScore",
        "streamplace.latency.tuples.TupleScore",
        "streamplace.scoring.score.Score",
        "streamplace.workflows.compare.compare",
        "streamplace.workflows.comparison.Comparison",
        "streamplace.workflows.comparison.Figures",
        "streamplace.capacity.plan.plan.plan",
        "streamplace.capacity.plan.result.Plan",
        "streamplace.capacity.size.size",
        "streamplace.capacity.sizing.result.SizeResult",
        "streamplace.jobs.size.size_jobs",
        "streamplace.jobs.size.JobsSize",
        "streamplace.jobs.place.place_jobs",
        "streamplace.jobs.result.JobsResult",
        "streamplace.jobs.result.JobOutcome",
        "streamplace.workflows.explain.explain",
        "streamplace.workflows.explanation.Explanation",
        "streamplace.workflows.explanation.ScoreExplanation",
        "streamplace.workflows.explain_losses.explain_losses",
        "streamplace.workflows.loss_explanation.LossExplanation",
        "streamplace.workflows.loss_explanation.LossEffect",
        "streamplace.workflows.diff.diff",
        "streamplace.workflows.diff.Difference",
        "streamplace.reports.report.report",
        "streamplace.reports.report.Report",
        "streamplace.workflows.conflict.conflict",
        "streamplace.workflows.conflict.Conflict",
        "streamplace.workflows.migrate.migrate",
        "streamplace.workflows.migrate.Migration",
        "streamplace.workflows.inheritance.Settings",
        "streamplace.ticks.runs.run",
        "streamplace.latency.tuples.run_tuples",
        "streamplace.latency.within_limit.within_limit",
    ),
    "The model": (
        "streamplace.problem.graph.StreamGraph",
        "streamplace.problem.graph.Operator",
        "streamplace.problem.graph.Stream",
        "streamplace.problem.steps.source",
        "streamplace.problem.steps.Step",
        "streamplace.problem.cluster.Cluster",
        "streamplace.problem.cluster.Device",
        "streamplace.problem.cluster.Network",
        "streamplace.problem.cluster.LinkOverride",
        "streamplace.problem.cluster.Uplink",
        "streamplace.problem.constraints.Constraints",
        "streamplace.jobs.jobs.Job",
        "streamplace.jobs.jobs.Jobs",
        "streamplace.problem.problem.Problem",
        "streamplace.problem.objective.Objective",
        "streamplace.problem.objective.Throughput",
        "streamplace.problem.makespan.Makespan",
        "streamplace.makespan.total_cost.TotalCost",
        "streamplace.problem.placement.Placement",
        "streamplace.problem.grouping.Grouping",
        "streamplace.problem.losses.ClusterChange",
        "streamplace.problem.relocation.RelocationCost",
        "streamplace.problem.relocation.Relocation",
    ),
    "Files and graphs": (
        "streamplace.workflows.read_job.read_job",
        "streamplace.workflows.read_job.ReadJob",
        "streamplace.workflows.export.export",
        "streamplace.workflows.export.Export",
        "streamplace.formats.format.Format",
        "streamplace.formats.format.Signs",
        "streamplace.files.datasets.read_dataset",
        "streamplace.files.datasets.read_graph",
        "streamplace.files.clusters.read_cluster",
        "streamplace.files.clusters.read_clusters",
        "streamplace.jobs.files.read_jobs",
        "streamplace.files.placements.read_placement",
        "streamplace.files.datasets.write_dataset",
        "streamplace.files.clusters.write_cluster",
        "streamplace.files.clusters.write_clusters",
        "streamplace.jobs.files.write_jobs",
        "streamplace.files.placements.write_placement",
        "streamplace.problem.networkx_interop.from_networkx",
        "streamplace.problem.networkx_interop.to_networkx",
        "streamplace.families.generation.generate",
        "streamplace.families.Recipe",
        "streamplace.families.family.Family",
        "streamplace.papers.giph.families.changes.Adaptivity",
        "streamplace.papers.giph.sensor_fusion.SensorFusion",
        "streamplace.papers.giph.sensor_fusion.scenario.relocation_cost",
    ),
    "Neural networks": (
        "streamplace.networks.torch.graph.from_module",
        "streamplace.networks.torch.placed.PlacedModule",
        "streamplace.networks.torch.pass_times.PassTimes",
        "streamplace.networks.torch.pass_times.ModuleTimes",
        "streamplace.networks.torch.measuring.measure",
        "streamplace.networks.torch.measuring.Measurement",
        "streamplace.networks.torch.measuring.with_times",
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
        "streamplace.scoring.values.ValueEvaluator",
        "streamplace.makespan.pipeline.pipeline_figures",
        "streamplace.makespan.pipeline.PipelineFigures",
        "streamplace.makespan.pipeline.energy_joules",
        "streamplace.execution.backends.Backend",
        "streamplace.learning.env.PlacementEnv",
        "streamplace.learning.pyg.to_pyg",
        "streamplace.learning.pyg.StreamGraphs",
    ),
    "Policies and training": (
        "streamplace.learning.policy.base.Policy",
        "streamplace.learning.policy.base.Constructive",
        "streamplace.learning.policy.trajectories.Trajectories",
        "streamplace.learning.policy.registry.PolicyKind",
        "streamplace.learning.policy.registry.policy_section",
        "streamplace.learning.policy.registry.make_policy",
        "streamplace.learning.training.config.TrainConfig",
        "streamplace.learning.training.config.with_values",
        "streamplace.learning.training.stages.ReinforceStage",
        "streamplace.learning.training.stages.ImitationStage",
        "streamplace.learning.training.stages.DaggerStage",
        "streamplace.learning.training.in_memory.fit",
        "streamplace.learning.training.in_memory.Fitted",
        "streamplace.learning.training.in_memory.fit_each",
        "streamplace.learning.training.trainer.train",
        "streamplace.learning.training.measuring.measure.Measure",
        "streamplace.testing.PolicyCase",
        "streamplace.testing.check_policy",
        "streamplace.testing.check_placer",
        "streamplace.testing.check_family",
        "streamplace.testing.check_objective",
    ),
    "Errors": ("streamplace.errors",),
}

MEANINGS = {
    "streamplace.problem.graph.Operator": {each.name: each.about for each in OPERATOR_FIELDS},
    "streamplace.problem.graph.Stream": {each.name: each.about for each in STREAM_FIELDS},
}
"""Class -> field -> its meaning, which the docstring has once it is loaded; mkdocstrings only
reads."""
SETTINGS = {
    "streamplace.capacity.plan.plan.plan": PlanSettings,
    "streamplace.capacity.size.size": SizeSettings,
    "streamplace.workflows.compare.compare": CompareSettings,
}
"""Function -> the settings that it takes as keyword arguments once it is loaded."""


def on_config(config: Any) -> Any:
    """Put the pages into the navigation, and the version below every page; called by mkdocs."""
    reference = next(part["Reference"] for part in config.nav if "Reference" in part)
    for index in (CLI, API):
        listed = next(names for part in reference for names in part.values() if index in names)
        folder = index.replace(".md", "/")
        listed.extend(name for name in pages() if name.startswith(folder))
    config.copyright = f"streamplace {version('streamplace')}"
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages to those of the site; called by mkdocs."""
    made = import_module("mkdocs.structure.files").File.generated  # only `make docs` installs it
    for name, text in pages().items():
        files.append(made(config, name, content=text))
    return files


def pages() -> dict[str, str]:
    """Return the file names of the pages and their texts in Markdown."""
    context = click.Context(cli, info_name="streamplace")
    commands = {f"cli/{name}.md": (name, command) for name, command in _members(cli, context)}
    titles = {f"api/{_file_name(title)}.md": title for title in SECTIONS}
    texts = {CLI: _index(CLI_INTRODUCTION, {page: name for page, (name, _) in commands.items()})}
    for page, (name, command) in commands.items():
        texts[page] = "\n".join([f"# {name}\n", *_sections(command, name, context)])
    texts[API] = _index(API_INTRODUCTION, titles)
    for page, title in titles.items():
        # mkdocstrings replaces each name by its docstrings
        texts[page] = "\n".join([f"# {title}", *map(_entry, SECTIONS[title])]) + "\n"
    return {page: LESS_FOUND + text for page, text in texts.items()}


def whole(command: click.Command) -> click.Command:
    """Return a command whose help also has what is left out on a terminal, after form feeds."""
    shown = copy(command)
    shown.help = (command.help or "").replace("\f", "")
    shown.params = [copy(param) for param in command.params]
    for param in shown.params:
        if isinstance(param, Option):
            param.brief = str(param.help)
    return shown


def _members(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield the names of a group's commands and the commands, loaded."""
    for name in group.list_commands(context):
        _, command, _ = group.resolve_command(context, [name])
        assert command is not None
        yield name, command


def _file_name(title: str) -> str:
    return "-".join(title.lower().replace(",", "").split())


def _index(introduction: str, titles: dict[str, str]) -> str:
    """Return a page that links to others."""
    return "\n".join([introduction, *(f"- [{title}]({page})" for page, title in titles.items())])


def _entry(path: str) -> str:
    """Return the entry of a public name, with the meanings of its fields or settings."""
    lines, about = [f"::: {path}"], MEANINGS.get(path, {})
    if settings := SETTINGS.get(path):
        lines += ["    options:", "      show_signature: false"]  # that of the source is another
        defaults = {each.name: repr(each.default) for each in fields(settings)}
        about = {f"{name}={defaults[name]}": text for name, text in meanings(settings).items()}
    listed = [f"- `{name}`: {meaning}" for name, meaning in about.items()]
    return "\n".join([*lines, *(["", *listed, ""] if listed else [])])


def _sections(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[str]:
    """Yield one section for a command and one for each of its subcommands."""
    context = click.Context(
        whole(command), parent, name, terminal_width=WIDTH, max_content_width=WIDTH,
        help_option_names=cli.context_settings["help_option_names"],
    )  # fmt: skip
    yield f"## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"
    if isinstance(command, click.Group):
        for inner, subcommand in _members(command, context):
            yield from _sections(subcommand, inner, context)

"""The problem of the command `place`, from files and options."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamplace.cli import makespan_options, options
from streamplace.cli.command import group
from streamplace.cli.inputs import naming_the_default, the_constraints, the_losses
from streamplace.cli.makespan_options import Asked, MakespanSettings
from streamplace.cli.typical import with_typical_costs
from streamplace.errors import located
from streamplace.files import read_graph
from streamplace.files.reading import name_of
from streamplace.problem.cluster import Cluster
from streamplace.problem.makespan import PublishedName
from streamplace.problem.objective import Throughput
from streamplace.problem.placement import Placement
from streamplace.workflows.inheritance import Settings
from streamplace.workflows.replace_problem import NewProblem, Sources, new_problem


@dataclass(frozen=True)
class ProblemOptions:
    """The options of `place` that describe the problem, besides the graph."""

    cluster: options.ClusterChoice = options.cluster()
    lost: options.LostDevices = group(options.LostDevices)
    constraints_file: str | None = options.constraints()
    pins: Mapping[str, str] = options.pins()
    typical_costs: bool = options.typical_costs()
    throughput: options.ThroughputChoice = options.throughput()
    objective: str | None = options.objective()
    makespan: MakespanSettings = group(MakespanSettings)
    semantics: PublishedName | None = makespan_options.semantics()


def read_problem(
    graph: str,
    cluster: Cluster | None,
    options: ProblemOptions,
    asked: Asked,
    start: str | None,
    old: Placement | Mapping[str, str] | None,
    *,
    whole_operators: bool,
) -> NewProblem:
    """Read the files of a problem, and return it; an error names the faulty file.

    Parameters
    ----------
    start, old
        The file of the initial placement, and what it holds: an assignment, operator -> device, or
        a placement, from which settings without an option come.
    """
    stored = old if isinstance(old, Placement) else None
    objective, changes = asked.from_start(stored), options.throughput.changes
    aim = objective or (stored.problem.objective if stored else Throughput())
    makespan_options.refuse_rates(aim, changes, start and f"the makespan of {name_of(start)}")
    lost = the_losses(options.lost)
    with located(name_of(graph)):
        found = options.throughput.of_sources(read_graph(graph))
        read = with_typical_costs(found, wanted=options.typical_costs)
    settings = Settings(
        cluster=cluster,
        constraints=the_constraints(options.constraints_file),
        objective=objective,
        source_rate=changes["source_rate"],
        model=changes["model"],
        target_utilisation=changes["target_utilisation"],
        pins=options.pins,
        without=lost.without,
        slow=lost.slow,
        semantics=options.semantics,
        whole_operators=whole_operators,
    )
    if options.semantics is not None:
        makespan_options.require(aim, "semantics")
    rules_file = options.constraints_file
    sources = Sources(name_of(graph), rules_file and name_of(rules_file), start and name_of(start))
    of_user = cluster is not None or stored is not None
    has_rules = rules_file is not None or whole_operators  # they may be the fault
    with naming_the_default(not of_user, only_names=has_rules):
        return new_problem(read, old, settings, sources, asked.settings.chosen)

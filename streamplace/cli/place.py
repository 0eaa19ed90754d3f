"""The command `place`: placement of a graph's operators on devices."""

from dataclasses import dataclass, replace
from time import process_time
from typing import cast

import click

from streamplace.cli import inputs, makespan_options, options, param_types
from streamplace.cli.command import (
    argument,
    command,
    end_if_unproven,
    ending_with,
    group,
    option,
    print_note,
)
from streamplace.cli.inputs import current_placement, latency_limit
from streamplace.cli.makespan_options import Asked
from streamplace.cli.output_files import (
    check_targets,
    print_embedded,
    refuse_other_names,
    weights_of,
)
from streamplace.cli.place_notes import BUSY, LEAST_NOTED_S, print_notes, print_slow_search
from streamplace.cli.place_problem import ProblemOptions, read_problem
from streamplace.cli.typical import basis_of, print_answer
from streamplace.errors import located
from streamplace.execution.progress import search_line, working
from streamplace.files.reading import name_of
from streamplace.placers import custom
from streamplace.placers.limits import MaxRuntime
from streamplace.placers.registry import NAMES, NamedPlacer, ready
from streamplace.util.plugins import load_ours, names_of
from streamplace.workflows.migrate import migrate
from streamplace.workflows.naming_conflicts import naming_conflicts
from streamplace.workflows.place import place_problem
from streamplace.workflows.result import Result
from streamplace.workflows.whole_operators import whole_operators

PLACE_JOBS = "streamplace.jobs.commands.place:place_job_file"
"""The work of --job-file."""


@dataclass(frozen=True)
class PlaceOptions(options.Common):
    """The options of `place`."""

    graph: str | None = argument(type=param_types.GRAPH, required=False)
    job_file: str | None = options.file(
        "--job-file",
        "Jobs (JSON) to place together, instead of GRAPH.",
    )
    problem: ProblemOptions = group(ProblemOptions)
    placer: str = option(
        "--placer",
        type=param_types.PLACER,
        default="auto",
        show_default=True,
        metavar="NAME",
        help="One of those above, e.g. metis:parts=3.",
    )
    time_limit: float | None = options.time_limit(
        "Seconds for the placer.  [default: 1 for auto, 10 for exact]\fFor auto, search and exact. "
        "The default of auto is of CPU time, which other programs do not shorten. search has no "
        "time limit by default; it makes 100,000 evaluations plus 100 per operator."
    )
    prefer: str | None = option(
        "--prefer",
        type=param_types.Choice(("balance", "fewest")),
        help="Low utilisations or few devices, once everything is carried.  [default: balance]"
        "\fWith --start, the default is neither, so that no operator moves for it. For auto and "
        "search; it also counts where one operator limits throughput that fills no device or link. "
        "balance lowers the largest utilisation, then the second largest, and so on, then streams "
        "between racks, prices and traffic. With auto, fewest uses the fewest devices that it "
        "finds to reach 99.9% of the best throughput (all of it, where it tries all placements), "
        "and little traffic; with search it improves nothing more. To find the fewest or cheapest "
        "devices that suffice, use plan.",
    )
    confidence: float | None = option(
        "--confidence",
        type=param_types.NUMBER,
        callback=param_types.probability,
        metavar="P",
        help="Probability of carrying the source rate, given the standard errors of the costs."
        "\fAbove 0 and at most 0.999. The errors are "
        "instructions_se, payload_bytes_se and selectivity_se of the graph. Improves on the result "
        "of --placer, and names the number to measure better. Requires a closed form; cannot be "
        "combined with --start or --prefer.",
    )
    max_latency: str | None = option(
        "--max-latency",
        callback=latency_limit,
        metavar="Q=T",
        help="Limit on latency, e.g. p99=200ms; takes longer than --time-limit."
        "\fOf single tuples, with the time that they wait at sources. --time-limit is for the "
        "placer alone; what follows is limited by work. Placements are screened by queueing theory "
        "and checked by simulation: the limit is feasible with a margin of 20%, infeasible (exit "
        "code 2), or unproven (exit code 3, after the result). "
        "p99=1s:arrivals=bursts:service=deterministic:margin=0.1 sets the arrivals and services of "
        "simulate, and the margin. Cannot be combined with --start or --confidence.",
    )
    whole_operators: bool = option(
        "--whole-operators",
        is_flag=True,
        help="Keep a parallel operator on one device.\fIts instances are count[0], count[1], …; "
        "the export format ibm-spl requires it.",
    )
    start: str | None = options.file(
        "--start",
        "Placement to improve, usually the current one.\fA placement file, CSV with the header "
        'operator,device, or JSON {"assignment": {operator: device}}. Requires --placer auto, '
        "search, exact, climb, rebuild, another that improves a placement, policy with the file of "
        "a policy that refines placements, or your own.",
    )
    max_moves: int | None = option(
        "--max-moves",
        type=param_types.Whole(0),
        metavar="M",
        help="Moves besides the forced ones.  [default: unlimited]"
        "\fIf there is a choice of which must, the smallest possible number counts.",
    )
    move_cost: float | None = option(
        "--move-cost",
        type=param_types.NUMBER,
        callback=param_types.at_least_0,
        metavar="C",
        help="Least gain per second that moves take.  [default: none]"
        "\f0.01 means 1% a second. Moves take as long as the network needs for the memory of the "
        "moved operators. The gain is in relative throughput (throughput / source rate), or the "
        "share by which the makespan becomes shorter. With 0, every move that gains something is "
        "allowed. Some placers look for the moves themselves.",
    )
    output: str | None = options.file(
        "-o",
        "Placement file to write, JSON or .npz; - is stdout.\fBy default, only the score is "
        "printed. In JSON, a graph of more than 100,000 operators stays in its file. With "
        "--job-file: a folder, or .json for the result alone.",
    )


@command(
    PlaceOptions,
    kind=ending_with(
        "Placers",
        custom.GROUP,
        lambda: names_of(custom.GROUP, NAMES)[len(NAMES) :],
        {
            "job_file": "Input",
            "rates": "Goal",
            "placer": "Search",
            "start": "Running job",
            "output": "Output",
        },
    ),
)
def place(chosen: PlaceOptions) -> None:
    """Place the operators of a graph on devices.

    GRAPH is a file, or dataset:real/NAME.json for a graph that comes with streamplace. The page on
    the command line in the documentation says more about each option.

    \b
    Placers:
    auto                 the default: several of the others, then a search; 1 s in total
    search, multilevel, climb, greedy, single, round-robin, random
                         annealing, on coarsened graphs as well, and simple baselines
    exact                proves the optimum, or bounds the gap to it
    metis, metis-recursive, fuser, metis-oracle, metis-recursive-oracle, fuser-oracle,
    metis-sweep, contiguous
                         partitions of the graph
    heft, peft, cpop, critical-path, random-eft, m-etf, m-topo, enumerative
                         list schedulers, for makespans only
    policy, rebuild      trained networks; rebuild for makespans only
    module:Class         your own, from module.py in this folder or an installed module

    \b
    Examples:
    streamplace place graph.json -o placement.json
    streamplace place graph.json --pin events=edge --pin match=server --cluster cluster.json
    streamplace place graph.json --source-rate 5e3,2e4 --target-utilisation 0.8
    streamplace place graph.json --max-latency p99=200ms
    streamplace place graph.json --start placement.json --cluster fewer.json --max-moves 3
    streamplace place graph.json --objective makespan --order any --cluster cluster.json
    streamplace place --job-file jobs.json --cluster cluster.json -o placements
    \f
    What each placer does: docs/placers.md. By default, metis, metis-recursive and fuser cut the
    graph into a part per device; oracles try 2, 3, … parts and keep the best. metis-sweep
    tries many imbalances and numbers of parts. policy:samples=16 keeps the best of 16 placements,
    and rebuild rebuilds parts of the best start.

    --objective takes throughput, makespan (the time of one pass, for micro-batches, dataflow jobs
    and neural networks), total-cost (the seconds of execution and transfer of one pass, for which
    auto runs climb and exact proves the least), or your own objective: module:Class as for
    --placer, or a name that an installed package registers.

    With several source rates, one placement is computed for all of them; its score is the lowest of
    its scores at these rates.

    With --start, the placement in FILE is improved. Its cluster, constraints and objective, with
    source rates, model and target utilisation or the settings of makespans, are used unless options
    say otherwise. Operators are matched by name, so cluster and graph may differ. Operators whose
    device is not in the cluster or no longer allowed have to move. Others move only where this
    gains throughput, a shorter makespan or what --prefer asks for, and --max-moves or --move-cost
    limits them further.

    With --job-file, all jobs share the cluster: minimum throughputs are reserved first, then higher
    priorities come first, and weights count within a priority. The result says what each job loses.
    A job has a name, a graph, and if needed source_rate, priority, weight and min_throughput.
    """
    limited = chosen.max_moves is not None or chosen.move_cost is not None
    options.refuse_both_on_stdout(chosen.output, chosen.as_json, "placement")
    refuse_other_names(chosen.output)
    if chosen.job_file is not None:
        load_ours(PLACE_JOBS)(
            chosen.job_file,
            chosen.problem,
            placer=chosen.placer,
            time_limit=chosen.time_limit,
            whole_operators=chosen.whole_operators,
            output=chosen.output,
            seed=chosen.seed,
            as_json=chosen.as_json,
        )
        return
    if chosen.graph is None:
        raise click.UsageError("missing argument 'GRAPH' or option '--job-file'")
    check_together(chosen)
    files = (chosen.graph, chosen.problem.cluster.cluster_file, chosen.problem.constraints_file)
    # the file of --start may be replaced by the result
    check_targets({"-o": chosen.output}, (*files, *weights_of(chosen.placer)))
    cluster = inputs.the_cluster(chosen.problem.cluster)
    asked = Asked.of(chosen.problem.objective, chosen.problem.makespan, chosen.seed)
    makespan_options.refuse_rates(asked.kind, chosen.problem.throughput.changes)
    with working("reading"):
        old = None if chosen.start is None else current_placement(chosen.start, asked.kind)
        problem, inherited = read_problem(
            chosen.graph,
            cluster,
            chosen.problem,
            asked,
            chosen.start,
            old,
            whole_operators=chosen.whole_operators,
        )
    placer = with_options(
        chosen.placer,
        None if limited else chosen.time_limit,
        None if chosen.max_moves is not None else chosen.prefer,
        len(problem.graph.names),
    )
    found = None
    rules, semantics = problem.constraints.stated, chosen.problem.semantics
    whole = whole_operators(problem.graph, rules.colocate) if chosen.whole_operators else None
    rules_file = chosen.problem.constraints_file
    where = located(name_of(chosen.graph), constraints=rules_file and name_of(rules_file))
    began = process_time()
    with search_line("placing"), where, naming_conflicts(whole):
        if old is None:
            result = place_problem(
                problem,
                placer,
                chosen.seed,
                confidence=chosen.confidence,
                max_latency=chosen.max_latency,
            )
            result = result.with_system(semantics)
        else:
            found = migrate(
                problem,
                old,
                max_moves=chosen.max_moves,
                move_cost=chosen.move_cost,
                placer=placer,
                seconds=chosen.time_limit,
                prefer="balance" if chosen.prefer == "balance" else "fewest",
                seed=chosen.seed,
            )
            result = found.result.with_system(semantics)
            found = replace(found, result=result)
    cpu_s = process_time() - began
    if chosen.output is not None:
        result.save(chosen.output, inputs=inputs.names_of_inputs(*files))
        print_embedded(chosen.output, result.placement)
    if chosen.start is None:
        inputs.print_assumed(chosen.problem.cluster)
    if (other := placer.stand_in(problem.objective)) is not None:
        print_note(f"{placer.name} ran {other} for the {problem.objective.quantity}")
    if result.seconds > LEAST_NOTED_S and cpu_s < BUSY * result.seconds and result.gap:
        print_slow_search(placer, cpu_s, result.seconds)
    print_notes(
        "; ".join(inherited),
        result,
        None if limited else found,
        wants_confidence=chosen.confidence is not None,
    )
    print_answer(
        [result] if found is None else [result, found],
        basis_of(result.placement.problem.graph, result.placement, chosen.seed),
        as_json=chosen.as_json,
        to_stderr=chosen.output == "-",
    )
    if chosen.max_latency is not None:
        end_if_unproven(cast("Result", result).latency)


def check_together(chosen: PlaceOptions) -> None:
    """Refuse options that cannot be combined."""
    together = (
        ("--confidence", chosen.confidence, "--start", chosen.start),
        ("--confidence", chosen.confidence, "--prefer", chosen.prefer),
        ("--max-latency", chosen.max_latency, "--start", chosen.start),
        ("--max-latency", chosen.max_latency, "--confidence", chosen.confidence),
    )
    for name, value, other, another in together:
        if value is not None and another is not None:
            raise click.UsageError(f"cannot combine {name} with {other}")
    if chosen.start is None:
        options.refuse_unused(dict.fromkeys(("--max-moves", "--move-cost"), "--start"))
    if chosen.max_moves is None and chosen.move_cost is None:
        return
    if chosen.max_moves is not None and chosen.move_cost is not None:
        raise click.UsageError("cannot combine --max-moves with --move-cost")
    improves = chosen.move_cost is not None and ready(chosen.placer).improver is not None
    if chosen.placer != "auto" and not improves:
        improving = [name for name in NAMES if ready(name).improver is not None]
        except_for = f", except {', '.join(improving)} with --move-cost" if improving else ""
        raise click.UsageError(
            f"cannot combine --placer with --max-moves or --move-cost{except_for}"
        )


def with_options(
    name: str, time_limit: float | None, prefer: str | None, operators: int
) -> NamedPlacer:
    """Return the placer of a name, with a time limit and a preference if they are set.

    A line on stderr warns if it may take minutes on a graph of so many operators.
    """
    placer = ready(name)
    if time_limit is not None:
        placer = placer.limited(MaxRuntime(time_limit))
    if prefer is not None:
        placer = placer.preferring(prefer)
    if warning := placer.warning(operators):
        print_note(warning)
    return placer

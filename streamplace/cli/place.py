"""The command `place`: placement of a graph's operators on devices."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import checks, from_options, makespan_options, options, param_types, printing
from streamplace.cli.latency_limit import latency_limit
from streamplace.problem.makespan import PublishedName

if TYPE_CHECKING:
    from streamplace.workflows.latency.limit import LatencyLimit


@click.command()
@click.argument("graph", type=param_types.GRAPH, required=False)
@click.option(
    "--job-file",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Jobs (JSON) to place together instead of GRAPH, by priority.",
)
@options.cluster()
@options.losses
@options.constraints
@options.source_rates()
@options.model()
@options.target_utilisation()
@options.objective()
@makespan_options.options
@makespan_options.semantics
@click.option(
    "--placer",
    type=param_types.PLACER,
    default="auto",
    show_default=True,
    metavar="NAME",
    help="Algorithm that computes the placement: one of the names above, as NAME[:OPTION=VALUE…], "
    "e.g. metis:parts=3.",
)
@options.time_limit(
    "Seconds that --placer auto, search or exact may take. search has no time limit by default; it "
    "makes 100,000 evaluations plus 100 per operator.  [default: 1 for auto, 10 for exact]"
)
@click.option(
    "--prefer",
    type=click.Choice(["balance", "fewest"]),
    help="With --placer auto or search: what to improve once everything offered is carried. "
    "balance lowers the largest utilisation, then the second largest, and so on, and then traffic. "
    "With auto, fewest uses the fewest devices that it finds to reach 99.9% of the best "
    "throughput, and little traffic; with search it improves nothing more. To find the fewest or "
    "cheapest devices that suffice, use plan.  "
    "[default: balance, but fewest with --start]",
)
@click.option(
    "--start",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Placement to improve, usually the current one: a placement file, CSV with the header "
    'operator,device, or JSON {"assignment": {operator: device}}. Requires --placer auto, search, '
    "exact, climb, giph, rebuild, policy with the file of a policy that refines placements, or "
    "your own.",
)
@click.option(
    "--max-moves",
    type=param_types.Whole(0),
    metavar="M",
    help="With --start: number of operators that may move in addition to those that must. If there "
    "is a choice of which must, the smallest possible number counts. Moves that gain nothing are "
    "not made.  [default: unlimited]",
)
@click.option(
    "--move-cost",
    type=param_types.NUMBER,
    callback=checks.at_least_0,
    metavar="C",
    help="With --start: least gain in relative throughput (throughput / source rate), or least "
    "share by which the makespan becomes shorter, per second of sending the moved operators' "
    "memory over the network, e.g. 0.01. With 0, every move that gains something is allowed. With "
    "--placer giph, a trained policy looks for the moves.  "
    "[default: unlimited; moves need not gain anything]",
)
@click.option(
    "--confidence",
    type=param_types.NUMBER,
    callback=checks.probability,
    metavar="P",
    help="Probability, above 0 and at most 0.999, with which the placement should carry the source "
    "rate, over the standard errors of the costs (instructions_se, payload_bytes_se, "
    "selectivity_se of the graph). Improves on the result of --placer, and names the number to "
    "measure better. "
    "Requires a closed form; cannot be combined with --start or --prefer.",
)
@click.option(
    "--max-latency",
    callback=latency_limit,
    metavar="Q=T",
    help="Limit on the latency of single tuples in ms or s, e.g. p99=200ms or mean=0.1s, with the "
    "time that they wait at sources. Placements are screened by queueing theory and checked by "
    "simulation: the limit is feasible with a margin of 20%, infeasible (exit code 2), or "
    "unproven. p99=1s:arrivals=bursts:service=deterministic:margin=0.1 sets the arrivals and "
    "services of simulate, and the margin. Cannot be combined with --start or --confidence.",
)
@click.option(
    "--whole-operators",
    is_flag=True,
    help="Keep all instances of a parallel operator (count[0], count[1], …) on one device, as "
    "the export format ibm-spl requires.",
)
@click.option(
    "-o",
    "output",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Placement file to write; - is stdout. With --job-file: a folder, or .json for the result "
    "alone.  [default: no file, only the score is printed]",
)
@options.common
def place(
    graph: str | None,
    job_file: str | None,
    cluster_file: str | None,
    devices: str | None,
    without: str | None,
    slow: str | None,
    constraints_file: str | None,
    source_rates: tuple[float, ...] | None,
    model: str | None,
    target_utilisation: float | None,
    objective: str | None,
    placer: str,
    time_limit: float | None,
    prefer: str | None,
    start: str | None,
    max_moves: int | None,
    move_cost: float | None,
    confidence: float | None,
    max_latency: "LatencyLimit | None",
    whole_operators: bool,
    output: str | None,
    semantics: PublishedName | None,
    seed: int,
    as_json: bool,
    **makespan_values: Any,
) -> None:
    """Place the operators of a graph on devices.

    GRAPH is a file, or dataset:real/NAME.json for a graph that comes with streamplace.

    \b
    Placers:
    auto                       runs several placers below, then improves on the best; 1 s in total
    search                     simulated annealing on the score
    multilevel                 simulated annealing on coarsened graphs; for large graphs
    policy                     a trained network; policy:samples=16 keeps the best of 16
    rnn, hsdag                 train a network on this graph, which takes seconds
    giph                       a trained network that improves a start, one operator at a time
    rebuild                    rebuilds parts of the best start, for makespans only
    metis, metis-recursive, fuser
                               partition the graph, by default into a part per device
    metis-oracle, metis-recursive-oracle, fuser-oracle
                               try every number of parts and keep the best
    contiguous                 consecutive parts of the graph, such as layers of a neural network
    exact                      proves the optimum, or bounds the gap to it (uses OR-tools)
    climb, greedy, single, round-robin, random
                               simple baselines
    heft, peft, cpop, critical-path, random-eft, enumerative
                               list schedulers, for makespans only; heft:contention
    module:Class               your own, from module.py in this folder or an installed module

    --objective takes throughput, makespan (the time of one pass, for micro-batches, dataflow jobs
    and neural networks), or your own objective: module:Class as for --placer, or a name that an
    installed package registers.

    With several source rates, one placement is computed for all of them; its score is the lowest of
    its scores at these rates.

    With --start, the placement in FILE is improved. Its cluster, constraints and objective, with
    source rates, model and target utilisation or the settings of makespans, are used unless options
    say otherwise. Operators are matched by name, so
    cluster and graph may differ. Operators whose device is not in the cluster or no longer
    allowed have to move; --max-moves or --move-cost limits the other moves.

    With --job-file, all jobs share the cluster: minimum throughputs are reserved first, then higher
    priorities come first, and weights count within a priority. The result says what each job loses.
    A job has a name, a graph, and if needed source_rate, priority, weight and min_throughput.

    \b
    Examples:
    streamplace place graph.json -o placement.json
    streamplace place --job-file jobs.json --cluster cluster.json -o placements
    streamplace place graph.json --prefer fewest
    streamplace place graph.json --source-rate 5e3,2e4 --target-utilisation 0.8
    streamplace place dataset:real/riotbench-etl.json --placer metis-oracle --devices 3x2500
    streamplace place graph.json --confidence 0.95 -o placement.json
    streamplace place graph.json --max-latency p99=200ms
    streamplace place graph.json --start placement.json --cluster fewer.json --max-moves 3
    streamplace place graph.json --start placement.json --move-cost 0.01 -o placement.json
    streamplace place graph.json --objective makespan --order any --cluster cluster.json
    streamplace place graph.json --objective mymodule:MyObjective:price=2 --whole-operators
    """
    limited = max_moves is not None or move_cost is not None
    if output == "-" and as_json:
        raise click.UsageError("cannot combine -o - with --json: both write to stdout")
    if job_file is not None or graph is None:
        from streamplace.cli.place_jobs import place_job_file  # noqa: PLC0415

        place_job_file()
        return
    from streamplace.cli.current import current_placement  # noqa: PLC0415
    from streamplace.cli.output_files import check_targets, weights_of  # noqa: PLC0415
    from streamplace.cli.place_notes import print_notes  # noqa: PLC0415
    from streamplace.cli.place_problem import (  # noqa: PLC0415
        check_asked,
        check_limits,
        check_start,
        read_problem,
        with_options,
    )
    from streamplace.cli.terminal import print_result  # noqa: PLC0415
    from streamplace.cli.whole_operators import naming_whole_operators  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.workflows.migrate import migrate  # noqa: PLC0415
    from streamplace.workflows.place import placed  # noqa: PLC0415

    check_asked(confidence, max_latency, start, prefer)
    check_limits(start, placer, max_moves, move_cost)
    check_targets(  # the file of --start may be replaced by the result
        {"-o": output}, (graph, cluster_file, constraints_file, *weights_of(placer))
    )
    cluster = from_options.the_cluster(cluster_file, devices)
    kind = from_options.the_objective(objective)
    changes = {
        "source_rate": source_rates,
        "model": model,
        "target_utilisation": target_utilisation,
    }
    makespan_options.refuse_rates(kind, changes)
    with working("reading"):
        old, assignment = (None, None) if start is None else current_placement(start, kind)
        kind = makespan_options.with_settings_of_start(
            kind, makespan_values, seed, old, is_bare=objective == makespan_options.BARE
        )
        problem, note = read_problem(
            graph,
            cluster,
            constraints_file,
            whole_operators,
            lost=from_options.the_losses(without, slow),
            kind=kind,
            old=old,
            start=start,
            changes=changes,
            semantics=semantics,
            chosen=makespan_options.chosen(makespan_values),
        )
        check_start(assignment, problem, start, graph)
    placer = with_options(
        placer,
        None if limited else time_limit,
        None if max_moves is not None else prefer,
        len(problem.graph.names),
    )
    found = None
    naming = naming_whole_operators(
        problem.graph, problem.constraints.colocate, added=whole_operators
    )
    with working("placing"), located(constraints_file or name_of(graph)), naming:
        if assignment is None:
            result = placed(problem, placer, seed, confidence=confidence, max_latency=max_latency)
            result = makespan_options.naming_semantics(result, semantics)
        else:
            found = migrate(
                problem,
                old or assignment,
                max_moves=max_moves,
                move_cost=move_cost,
                placer=placer,
                seconds=time_limit,
                prefer="balance" if prefer == "balance" else "fewest",
                seed=seed,
            )
            found = replace(
                found, result=makespan_options.naming_semantics(found.result, semantics)
            )
            result = found.result
    if output is not None:
        result.save(output)
    print_notes(note, result, None if limited else found, wants_confidence=confidence is not None)
    if as_json:
        printing.print_json((found or result).to_dict())
        return
    for shown in (result, found):
        if shown is not None:
            print_result(shown, to_stderr=output == "-")

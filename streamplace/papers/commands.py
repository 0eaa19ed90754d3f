"""The commands `study …`: published experiments with their protocols."""

from dataclasses import dataclass
from functools import partial
from textwrap import fill
from typing import Any

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import command, group, option, print_json, print_note
from streamplace.cli.terminal import console, print_view
from streamplace.papers.studies.claims import Claims
from streamplace.papers.studies.rows import RowsStudy, listed, rows_of
from streamplace.papers.studies.run import duration, run_study
from streamplace.papers.studies.table import Table
from streamplace.util.extras import load_learned
from streamplace.util.text import counted

LIST_WIDTH = 100  # characters of a line of --list in files and pipes, as wide as help


@click.group()
def study() -> None:
    """Repeat a published experiment.

    Tables show the published figures, and the baselines that the publication left out. Results are
    kept in a folder as soon as they are known: the same command continues a run that was
    interrupted. The folder also receives tables (.csv, .md, .tex), README.md, which is the report,
    and plots, except with --objective throughput.

    \b
    Examples:
    streamplace study dream --quick -o dream-study
    streamplace study orders --quick -o orders-study
    """


@dataclass(frozen=True)
class StudyOptions(options.Common):
    """The options that every study has."""

    quick: bool = option("--quick", is_flag=True, help="A small share of the plan, in minutes.")
    listed: bool = option(
        "--list",
        is_flag=True,
        help="List the paper's claims that can be run alone, or those of --only, and end.",
    )
    only: str | None = option(
        "--only",
        metavar="CLAIM",
        help="Run the units of one claim alone, as --list names it, or of all claims of a table "
        "or figure: a name without its last number.",
    )
    into: options.Folder = options.folder(
        "Folder for results, tables and any plots; created if missing, continued if not. Required "
        "without --list."
    )
    workers: options.Workers = group(options.Workers)


@dataclass(frozen=True)
class TrainedOptions(StudyOptions):
    """The options of a study that trains policies."""

    seeds: int | None = option(
        "--seeds",
        type=param_types.Whole(1),
        metavar="N",
        help="Number of seeds of each training and search.  [default: that of the plan]",
    )


@dataclass(frozen=True)
class KindOptions(TrainedOptions):
    """The options of a study of makespans that has a counterpart for streams."""

    objective: str = option(
        "--objective",
        type=param_types.Choice(("makespan", "throughput")),
        default="makespan",
        show_default=True,
        help="makespan: the published experiment. throughput: the same question for streams.",
    )


@dataclass(frozen=True)
class DreamOptions(StudyOptions):
    """The options of `dream`."""

    graphs: str | None = option(
        "--graphs",
        type=param_types.GRAPH,
        metavar="DATASET",
        help="Graphs to place, such as the released ones.  [default: 630 generated graphs of the "
        "paper's classes; with --quick 40]",
    )
    weights: str | None = options.file(
        "--weights",
        "Folder with the weights of the paper's allocators: b.safetensors, b-f1.safetensors and "
        "b-f1-f2.safetensors, an extra file of each release, or training runs b, b-f1 and b-f1-f2. "
        " [default: the allocators are left out]",
        "DIR",
    )


@command(DreamOptions, of=study.command)
def dream(chosen: DreamOptions) -> None:
    """Repeat the experiments of the DREAM paper.

    They are Table 1 and Figures 5 and 6 of Ni et al. (AAAI 2020). METIS, fuser, their oracles, the
    paper's allocators, the shipped policy and annealing place graphs of the paper's classes on 5
    devices, at 1e4 and 2e4 tuples/s.

    \b
    Examples:
    streamplace study dream --quick -o dream-study
    streamplace study dream --graphs DREAM/dataset --weights ni2020-weights -o table-1
    """
    _run("ni2020.study.study:DreamStudy", chosen, graphs=chosen.graphs, weights=chosen.weights)


@command(KindOptions, of=study.command)
def orders(chosen: KindOptions) -> None:
    """Study in which order a policy should visit the operators.

    Placeto places training steps of neural networks on equal devices, visiting their operators in
    eight orders. Its makespans are compared with those of the uniformly random policy in the same
    orders, of climb and search at equal evaluations, and of HEFT. With --objective throughput,
    greedy, the shipped policy and Placeto place graphs of the branched benchmark in all orders.

    \b
    Examples:
    streamplace study orders --quick -o orders-study
    streamplace study orders --jobs 8 -o orders-study
    streamplace study orders --objective throughput -o stream-orders
    """
    is_makespan = chosen.objective == "makespan"
    _run(
        "orders.study.study:OrdersStudy"
        if is_makespan
        else "orders.study.streams:StreamOrdersStudy",
        chosen,
    )


@command(KindOptions, of=study.command)
def giph(chosen: KindOptions) -> None:
    """Repeat the experiments of GiPH on makespans.

    GiPH (Hu et al., MLSys 2023), its ablations, Placeto and an RNN placer are trained with five
    seeds and compared with random placements, climb and search at equal evaluations, HEFT and
    PEFT: on one and on ten device networks, on 1,000 further cases, with noise, under the total
    cost, on clusters of other sizes, on clusters that change, on neural networks of 40 operators,
    and on sensor fusion, with its frequency, energy and relocations. With --objective throughput,
    jobs of the branched benchmark are re-placed after the loss of a device and after a rise of the
    rate, with a price per move.

    \b
    Examples:
    streamplace study giph --quick -o giph-study
    streamplace study giph --jobs 8 -o giph-study
    streamplace study giph --objective throughput -o stream-giph
    """
    is_makespan = chosen.objective == "makespan"
    _run(
        "giph.study.study:GiphStudy" if is_makespan else "giph.study.streams:StreamGiphStudy",
        chosen,
    )


@dataclass(frozen=True)
class DopplerOptions(KindOptions):
    """The options of `doppler`."""

    released: str | None = options.file(
        "--released",
        "Folder with the graphs that DOPPLER's authors released; not with --quick or --objective "
        "throughput.  [default: they are left out]",
        "DIR",
    )


@command(DopplerOptions, of=study.command)
def doppler(chosen: DopplerOptions) -> None:
    """Repeat the experiments of DOPPLER in simulation.

    DOPPLER (Yao et al., ICLR 2026), its ablations and Placeto are trained with three seeds on
    ChainMM, FFNN, a transformer block and a transformer layer with true bytes, and compared with
    critical paths, EnumerativeOptimizer, HEFT, PEFT, climb and search at equal evaluations: on four
    and eight devices, with little memory, with a barrier between levels, and after transfer to
    other graphs. The published figures beside were measured on GPUs. With --objective throughput,
    policies that choose operators, devices or both are trained alike on graphs of the branched
    benchmark and place others.

    \b
    Examples:
    streamplace study doppler --quick -o doppler-study
    streamplace study doppler --released graphs --jobs 8 -o doppler-study
    streamplace study doppler --objective throughput -o stream-doppler
    """
    if chosen.objective == "makespan":
        _run("doppler.study.study:DopplerStudy", chosen, released=chosen.released)
        return
    if chosen.released is not None:
        raise click.UsageError("cannot combine --objective throughput with --released")
    _run("doppler.study.streams:StreamDopplerStudy", chosen)


@dataclass(frozen=True)
class HsdagOptions(TrainedOptions):
    """The options of `hsdag`."""

    data: str | None = options.file(
        "--data",
        "Folder with the graphs of dnn-partitioning and PipeDream.  [default: they are left out]",
        "DIR",
    )


@command(HsdagOptions, of=study.command)
def hsdag(chosen: HsdagOptions) -> None:
    """Compare HSDAG with plain search on real networks.

    HSDAG (Duan et al., NeurIPS 2024) is trained with five seeds on ResNet-50, Inception-V3 and
    BERT-base, which have measured CPU times, on a CPU and an accelerator. It is compared at equal
    evaluations with climb and search on operators and on the same groups, with random devices of
    its groups, and with the same policy on groups of METIS and of heavy edges; with single devices,
    HEFT, PEFT, Placeto and an RNN placer; and with variants without some of its parts.

    \b
    Examples:
    streamplace study hsdag --quick -o hsdag-study
    streamplace study hsdag --data data --jobs 8 -o hsdag-study
    """
    _run("hsdag.study.study:HsdagStudy", chosen, data=chosen.data)
    if chosen.data is None and not (chosen.quick or chosen.listed or chosen.only):
        print_note("released graphs were left out; --data DIR adds them")


def _run(path: str, chosen: StudyOptions, **settings: Any) -> None:
    """Run a study, and print its findings and tables.

    Parameters
    ----------
    path
        The class of the study in `streamplace.papers`; it loads torch, which takes seconds.
    settings
        The options that only this study has.
    """
    if getattr(chosen, "objective", "makespan") != "makespan":
        of_makespans = "--objective makespan"
        options.refuse_unused(dict.fromkeys(("--list", "--only", "--seeds"), of_makespans))
    claims = Claims.of(path.partition(".")[0])
    if chosen.listed:
        table = listed(claims, chosen.only)
        if chosen.as_json:
            print_json(table.to_dict())
        else:
            _print_rows(claims, table)
        return
    if chosen.into.folder is None:
        context = click.get_current_context()
        (missing,) = [one for one in context.command.params if "-o" in one.opts]
        raise click.MissingParameter(ctx=context, param=missing)
    if isinstance(chosen, TrainedOptions):
        settings["seeds"] = chosen.seeds
    study_class = load_learned(f"streamplace.papers.{path}", "study")
    study = study_class(chosen.quick, chosen.seed, **settings)
    if chosen.only is not None:
        study = RowsStudy(study, claims, rows_of(claims, chosen.only))
    folder, pictures, workers = chosen.into.folder, chosen.into.pictures, chosen.workers
    outcome = run_study(
        study,
        folder,
        pictures=pictures,
        jobs=workers.jobs,
        backend=workers.where,
        starting=partial(_announce, study.name, claims, chosen),
    )
    if chosen.as_json:
        print_json(outcome.to_dict())
        return
    print_view(console(), outcome.view())
    drawn = outcome.pictures and pictures is not None
    kinds = "results, tables and plots" if drawn else "results and tables"
    print_note(f"{kinds} are in {folder}")


def _print_rows(claims: Claims, table: Table) -> None:
    """Print claims below each other; as columns, they would be too wide."""
    out = console()
    out.print(claims.paper)
    out.print(f"claims, run by `{claims.command}`:")
    for row, (place, claim, published, cpu) in table.rows:
        out.print(f"{row}: {place}" + (f", {cpu} of CPU time" if cpu else ""))
        for text in (claim, f"published: {published}" if published else None):
            if text:
                width = min(out.width, LIST_WIDTH)
                out.print(fill(str(text), width, initial_indent="  ", subsequent_indent="  "))


def _announce(study: str, claims: Claims, chosen: StudyOptions, left: int) -> None:
    """Say how many units are left; of a whole plan, also how long they take and how to run less."""
    if chosen.quick:
        return
    if chosen.only is not None:
        print_note(f"{counted(left, 'unit')} to run; --list says how much CPU time claims take")
        return
    usual = "" if getattr(chosen, "seeds", None) is None else " with the seeds of the plan"
    seconds = duration(left * claims.unit_s[study])
    rows = ", and --only CLAIM one claim of --list" if study == claims.study else ""
    text = f"{counted(left, 'unit')} to run, about {seconds} of CPU time{usual}"
    print_note(f"{text}; --quick runs a small share of the plan{rows}")

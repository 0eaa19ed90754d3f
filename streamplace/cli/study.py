"""The commands `study …`: published experiments with their protocols."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streamplace.cli import checks, options, param_types, printing
from streamplace.cli.folder_options import folder_and_plots, pictures_of

if TYPE_CHECKING:
    from streamplace.studies.study import Study

Command = TypeVar("Command", bound=Callable[..., object])


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


def folder_options(command: Command) -> Command:
    """Add --quick, -o, --plots and those of processes, which every study has."""
    quick = click.option("--quick", is_flag=True, help="A small share of the plan, in minutes.")
    text = "Folder for results, tables and any plots; created if missing, continued if not."
    output = folder_and_plots(text, required=True)
    return quick(output(options.processes(options.common(command))))


objective_option = click.option(
    "--objective",
    type=param_types.Choice(("makespan", "throughput")),
    default="makespan",
    show_default=True,
    help="makespan: the published experiment. throughput: the same question for streams.",
)


@study.command()
@click.option(
    "--graphs",
    callback=checks.file_name,
    type=param_types.GRAPH,
    metavar="DATASET",
    help="Graphs to place.  [default: 630 graphs of the paper's classes; with --quick 40]",
)
@click.option(
    "--weights",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="DIR",
    help="Folder with the weights of the paper's allocators: b.safetensors, b-f1.safetensors and "
    "b-f1-f2.safetensors.  [default: the allocators are left out]",
)
@folder_options
def dream(
    graphs: str | None,
    weights: str | None,
    quick: bool,
    folder: str,
    plots: str | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Repeat the experiments of the DREAM paper.

    They are Table 1 and Figures 5 and 6 of Ni et al. (AAAI 2020). METIS, fuser, their oracles, the
    paper's allocators, the shipped policy and annealing place graphs of the paper's classes on 5
    devices, at 1e4 and 2e4 tuples/s.

    \b
    Examples:
    streamplace study dream --quick -o dream-study
    streamplace study dream --weights trained -o dream-study
    """
    chosen = _study("dream.study:DreamStudy")(quick, seed, graphs, weights)
    _run(chosen, folder, plots, jobs, backend, address, as_json=as_json)


@study.command()
@objective_option
@folder_options
def orders(
    objective: str,
    quick: bool,
    folder: str,
    plots: str | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Study in which order a policy should visit the operators.

    Placeto places training steps of neural networks on equal devices, visiting their operators in
    eight orders. Its makespans are compared with those of the uniformly random policy in the same
    orders, of climb and search at equal evaluations, and of HEFT. The whole plan takes about eight
    hours of CPU time. With --objective throughput, greedy, the shipped policy and Placeto place
    graphs of the branched benchmark in all orders.

    \b
    Examples:
    streamplace study orders --quick -o orders-study
    streamplace study orders --jobs 8 -o orders-study
    streamplace study orders --objective throughput -o stream-orders
    """
    kind = (
        _study("orders.study:OrdersStudy")
        if objective == "makespan"
        else _study("orders.streams:StreamOrdersStudy")
    )
    _run(kind(quick, seed), folder, plots, jobs, backend, address, as_json=as_json)


@study.command()
@objective_option
@folder_options
def giph(
    objective: str,
    quick: bool,
    folder: str,
    plots: str | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Repeat the experiments of GiPH on makespans.

    GiPH (Hu et al., MLSys 2023), its ablations, Placeto and an RNN placer are trained with five
    seeds and compared with random placements, climb and search at equal evaluations, HEFT and
    PEFT: on one and on ten device networks, on 1,000 further cases, with noise, under the total
    cost, on clusters of other sizes, on clusters that change, on neural networks of 40 operators,
    and on sensor fusion, with its frequency, energy and relocations. The whole plan takes about two
    hours on two cores. With --objective throughput, jobs of the branched benchmark are re-placed
    after the loss of a device and after a rise of the rate, with a price per move.

    \b
    Examples:
    streamplace study giph --quick -o giph-study
    streamplace study giph --jobs 8 -o giph-study
    streamplace study giph --objective throughput -o stream-giph
    """
    kind = (
        _study("giph.study:GiphStudy")
        if objective == "makespan"
        else _study("giph.streams:StreamGiphStudy")
    )
    _run(kind(quick, seed), folder, plots, jobs, backend, address, as_json=as_json)


@study.command()
@click.option(
    "--released",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="DIR",
    help="Folder with the graphs that DOPPLER's authors released; not with --quick or --objective "
    "throughput.  [default: they are left out]",
)
@objective_option
@folder_options
def doppler(
    released: str | None,
    objective: str,
    quick: bool,
    folder: str,
    plots: str | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    seed: int,
    as_json: bool,
) -> None:
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
    if objective == "throughput" and released is not None:
        raise click.UsageError("cannot combine --objective throughput with --released")
    published = _study("doppler.study:DopplerStudy")(quick, seed, released)
    chosen = (
        published
        if objective == "makespan"
        else _study("doppler.streams:StreamDopplerStudy")(quick, seed)
    )
    _run(chosen, folder, plots, jobs, backend, address, as_json=as_json)


@study.command()
@click.option(
    "--data",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="DIR",
    help="Folder with the graphs of dnn-partitioning and PipeDream.  [default: they are left out]",
)
@folder_options
def hsdag(
    data: str | None,
    quick: bool,
    folder: str,
    plots: str | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    seed: int,
    as_json: bool,
) -> None:
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
    chosen = _study("hsdag.study:HsdagStudy")(quick, seed, data)
    _run(chosen, folder, plots, jobs, backend, address, as_json=as_json)
    if data is None and not quick:
        printing.print_note("released graphs were left out; --data DIR adds them")


def _study(path: str) -> Any:
    """Return the class of a study; the message of an error says what to install."""
    from streamplace.util.extras import load_learned  # noqa: PLC0415 - loaded when it runs

    return load_learned(f"streamplace.studies.{path}", "study")


def _run(
    chosen: "Study",
    folder: str,
    plots: str | None,
    jobs: int | None,
    backend: str,
    address: str | None,
    *,
    as_json: bool,
) -> None:
    """Run a study, and print its findings and tables."""
    from streamplace.cli.terminal import console, print_view  # noqa: PLC0415 - loaded when it runs
    from streamplace.execution.backends import Backend  # noqa: PLC0415
    from streamplace.studies.run import run_study  # noqa: PLC0415

    outcome = run_study(
        chosen, folder, pictures=pictures_of(plots), jobs=jobs, backend=Backend(backend, address)
    )
    if as_json:
        printing.print_json(outcome.to_dict())
        return
    print_view(console(), outcome.view())
    drawn = outcome.pictures and pictures_of(plots) is not None
    kinds = "results, tables and plots" if drawn else "results and tables"
    printing.print_note(f"{kinds} are in {folder}")

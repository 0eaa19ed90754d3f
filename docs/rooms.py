"""The core and the rooms: which modules every placement needs, and which belong to one subject.

A room is what a reader may leave out: the papers, an engine, the simulation of ticks. The core
should import no room, and others should import few names of a room: those are its door.
`benchmarks/house.py` measures both.
"""

CORE = "core"
ROOMS = {
    CORE: (
        "sim.closed_form",
        "sim.columns",
        "sim.crossed",
        "sim.exact",
        "sim.flow",
        "sim.greedy",
        "sim.jit",
        "sim.kernels",
        "sim.links",
        "sim.messages",
        "sim.search",
        "sim.work",
        "sim.work_clock",
        "streamplace.cli",
        "streamplace.display",
        "streamplace.errors",
        "streamplace.execution",
        "streamplace.files",
        "streamplace.generate",
        "streamplace.placers",
        "streamplace.problem",
        "streamplace.report",
        "streamplace.scoring",
        "streamplace.util",
        "streamplace.workflows",
    ),
    "papers": (
        "streamplace.cli.study",
        "streamplace.generate.contended",
        "streamplace.generate.giph",
        "streamplace.generate.networks",
        "streamplace.generate.sensor_fusion",
        "streamplace.generate.sharded",
        "streamplace.policy.doppler",
        "streamplace.policy.giph",
        "streamplace.policy.hsdag",
        "streamplace.policy.improving",
        "streamplace.policy.ni2020",
        "streamplace.policy.placeto",
        "streamplace.policy.rnn",
        "streamplace.studies",
        "streamplace.training.trained_placers",
        "streamplace.training.trials",
    ),
    "engines": (
        "streamplace.cli.apply",
        "streamplace.cli.profile",
        "streamplace.cli.profile_flink",
        "streamplace.cli.profile_job",
        "streamplace.cli.watch",
        "streamplace.cli.watch_options",
        "streamplace.integrations.flink",
        "streamplace.integrations.gnuradio",
        "streamplace.integrations.ibm",
        "streamplace.integrations.kafka_streams",
        "streamplace.integrations.kubernetes",
        "streamplace.integrations.kubernetes_pods",
        "streamplace.integrations.ray",
        "streamplace.integrations.storm",
        "streamplace.workflows.against",
        "streamplace.workflows.apply",
    ),
    "networks": (
        "streamplace.cli.profile_torch",
        "streamplace.integrations.formats.wfformat",
        "streamplace.integrations.formats.wfformat_versions",
        "streamplace.integrations.neural",
        "streamplace.integrations.torch",
    ),
    "learning": (
        "streamplace.cli.curves",
        "streamplace.cli.train",
        "streamplace.env",
        "streamplace.policy",
        "streamplace.pyg",
        "streamplace.training",
    ),
    "makespan": (
        "sim.contiguous",
        "sim.lookahead",
        "sim.lookahead_batch",
        "sim.lookahead_loads",
        "sim.orders",
        "sim.schedule",
        "streamplace.cli.makespan_options",
        "streamplace.placers.contiguous",
        "streamplace.placers.scheduling",
        "streamplace.scoring.compiled_pass",
        "streamplace.scoring.makespan_evaluator",
        "streamplace.scoring.makespan_score",
        "streamplace.scoring.orders",
        "streamplace.scoring.peak_memory",
        "streamplace.scoring.pipeline",
        "streamplace.scoring.total_cost",
        "streamplace.workflows.makespan_comparison",
    ),
    "capacity": (
        "streamplace.cli.plan",
        "streamplace.cli.size",
        "streamplace.placers.subset",
        "streamplace.workflows.capacity_plan",
        "streamplace.workflows.plan",
        "streamplace.workflows.plan_equal",
        "streamplace.workflows.plan_rows",
        "streamplace.workflows.plan_unequal",
        "streamplace.workflows.size",
        "streamplace.workflows.sizing",
    ),
    "control": ("streamplace.control",),
    "engine": (
        "sim.engine",
        "streamplace.cli.engine_options",
        "streamplace.files.engine_runs",
        "streamplace.scoring.engine",
        "streamplace.scoring.engine_evaluator",
    ),
    "latency": (
        "sim.closed_form.sampled",
        "sim.queueing",
        "sim.search.anneal_samples",
        "sim.tuples",
        "streamplace.placers.search.confident",
        "streamplace.scoring.sampled",
        "streamplace.scoring.tuples",
        "streamplace.workflows.confidence",
        "streamplace.workflows.latency",
    ),
    "jobs": (
        "sim.filling",
        "streamplace.cli.place_jobs",
        "streamplace.files.jobs",
        "streamplace.placers.jobs",
        "streamplace.problem.jobs",
        "streamplace.scoring.joint",
        "streamplace.workflows.jobs_result",
        "streamplace.workflows.place_jobs",
    ),
    "formats": (
        "streamplace.cli.export",
        "streamplace.cli.import_",
        "streamplace.files.cepsim",
        "streamplace.files.foreign",
        "streamplace.integrations",
    ),
    "pictures": ("streamplace.plots",),
    "testing": ("streamplace.testing",),
}
"""Room -> its modules and packages. A module belongs to the room that names it or the nearest
package around it."""
_ROOM_OF = {name: room for room, names in ROOMS.items() for name in names}
ROOTS = ("sim", "streamplace")


def room_of(module: str) -> str:
    """Return the room of a module.

    Raises
    ------
    KeyError
        If the table names neither the module nor a package around it.
    """
    name = module
    while name and name not in ROOTS:
        if name in _ROOM_OF:
            return _ROOM_OF[name]
        name = name.rpartition(".")[0]
    if module in ROOTS:
        return CORE
    raise KeyError(module)

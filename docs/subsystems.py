"""The core and the subsystems: which modules all placements need, and which belong to one subject.

A reader may leave out a subsystem, such as the papers, an engine or the simulation of ticks. The
core imports no subsystem, and others should import few names of one. `benchmarks/structure.py`
counts both.

The core finds what it runs of a subsystem by name: in a table such as `GOALS`, or by an entry
point. Options of makespans, which most commands have, and the table that `compare` returns for
objectives of a pass are parts of the core: they name no class of a subsystem.
"""

CORE = "core"
SUBSYSTEMS = {
    CORE: (
        "streamplace",
        "streamplace.sim",
    ),
    "papers": ("streamplace.papers",),
    "engines": ("streamplace.engines",),
    "networks": ("streamplace.networks",),
    "learning": (
        "streamplace.learning",
        "streamplace.sim.lookahead",
        "streamplace.sim.lookahead_batch",
        "streamplace.sim.lookahead_loads",
    ),
    "makespan": ("streamplace.makespan", "streamplace.sim.schedule"),
    "capacity": ("streamplace.capacity",),
    "control": ("streamplace.control",),
    "ticks": ("streamplace.ticks", "streamplace.sim.engine"),
    "latency": (
        "streamplace.latency",
        "streamplace.sim.closed_form.sampled",
        "streamplace.sim.queueing",
        "streamplace.sim.search.anneal_samples",
        "streamplace.sim.tuples",
    ),
    "jobs": ("streamplace.jobs", "streamplace.sim.filling"),
    "formats": (
        "streamplace.formats",
        "streamplace.workflows.export",
        "streamplace.workflows.read_job",
    ),
    "pictures": ("streamplace.pictures",),
    "testing": ("streamplace.testing",),
}
"""Subsystem -> its modules and packages. A module belongs to the subsystem that names it or the
nearest package around it, and all others to the core."""
_SUBSYSTEM_OF = {name: subsystem for subsystem, names in SUBSYSTEMS.items() for name in names}


def subsystem_of(module: str) -> str:
    """Return the subsystem of a module."""
    while module not in _SUBSYSTEM_OF:
        module = module.rpartition(".")[0]
    return _SUBSYSTEM_OF[module]

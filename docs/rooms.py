"""The core and the rooms: which modules every placement needs, and which belong to one subject.

A room is what a reader may leave out: the papers, an engine, the simulation of ticks. The core
imports no room, and others should import few names of a room: those are its door.
`benchmarks/house.py` measures both.

The core finds what it runs of a room by name: in a table such as `GOALS`, or by an entry point.
Options of makespans, which most commands have, and the table that `compare` returns for objectives
of a pass are parts of the core: they name no class of a room.
"""

CORE = "core"
ROOMS = {
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
"""Room -> its modules and packages. A module belongs to the room that names it or the nearest
package around it, and all others to the core."""
_ROOM_OF = {name: room for room, names in ROOMS.items() for name in names}


def room_of(module: str) -> str:
    """Return the room of a module."""
    while module not in _ROOM_OF:
        module = module.rpartition(".")[0]
    return _ROOM_OF[module]

"""The command `profile host`: this machine as a cluster, with a measured speed."""

import os
import platform
from dataclasses import dataclass, replace

from streamplace.cli import options
from streamplace.cli.command import command, print_json, print_note
from streamplace.cli.output_files import check_targets
from streamplace.engines.devices import Devices
from streamplace.engines.host.lscpu import NAME
from streamplace.engines.host.speed import measure
from streamplace.execution.progress import working
from streamplace.files import write_cluster
from streamplace.problem.cluster import Cluster
from streamplace.util.text import counted


@dataclass(frozen=True)
class HostOptions(options.Common):
    """The options of `host`."""

    seconds: float = options.seconds("--seconds", 20, "Seconds to measure.")
    objective: None = options.no_objective("profile measures speeds, which serve every objective")
    output: str = options.output("Cluster file to write; - is stdout.  [default: -]", "CLUSTER")


@command(HostOptions)
def host(chosen: HostOptions) -> None:
    """Measure the speed of this machine and write its cluster.

    All processors that the command may use work at the same time, on what stream operators do:
    parsing, counting, sorting and compressing. MIPS is the speed of one of them by CPU time.
    Compare only numbers of the same version of Python. For a cluster, measure a machine of each
    kind, and state the speeds in `streamplace import --mips`.

    \b
    Examples:
    streamplace profile host
    streamplace profile host --seconds 60 -o cluster.json
    """
    options.refuse_both_on_stdout(chosen.output, chosen.as_json, "cluster")
    check_targets({"-o": chosen.output})
    with working("measuring"):
        speed = measure(chosen.seconds)
    devices = Devices("this machine", "machine")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    devices.add(platform.node() or NAME, speed.processors, float(memory))
    devices.note("memory is that of the machine; limits of a container are not read")
    found, notes = devices.cluster()
    mips = float(round(speed.mips))
    cluster = Cluster([replace(each, mips=mips) for each in found.devices], found.network)
    write_cluster(chosen.output, cluster)
    if chosen.as_json:
        facts = {"mips": speed.mips, "slowest": speed.slowest, "fastest": speed.fastest}
        print_json({"file": chosen.output, "cores": speed.processors, **facts, "notes": notes})
        return
    print_note(
        f"{counted(speed.processors, 'core')} of {speed.mips:,.0f} MIPS, between "
        f"{speed.slowest:,.0f} and {speed.fastest:,.0f} in {counted(speed.slices, 'slice')}"
    )
    for note in notes:
        print_note(f"note: {note}")

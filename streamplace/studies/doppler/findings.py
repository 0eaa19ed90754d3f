"""What the study finds, in sentences."""

from collections.abc import Iterator

from streamplace.studies.doppler.plain import CLIMB, ENUMERATIVE, SEARCH
from streamplace.studies.doppler.registered import DOPPLER
from streamplace.studies.doppler.results import Results
from streamplace.studies.doppler.workloads import Workload
from streamplace.studies.spread import Spread
from streamplace.studies.study import Plan
from streamplace.util.text import counted

SAME = 1e-6  # relative difference of makespans that counts as none


def findings(plan: Plan, results: Results) -> tuple[str, ...]:
    """Return what the study finds, the comparison with search at equal evaluations first."""
    return tuple(_findings(plan, results))


def _findings(plan: Plan, results: Results) -> Iterator[str]:
    shorter = dict.fromkeys((CLIMB, SEARCH, ENUMERATIVE), 0)
    free = [one for one in results.workloads if not one.limited]
    sentences = []
    for workload in results.workloads:
        overs = {s: results.over(workload, s) for s in (DOPPLER, *shorter)}
        own = overs[DOPPLER]
        if own is None:
            sentences.append(f"On {workload.name}, DOPPLER finds no feasible placement.")
            continue
        for rival in shorter:
            other = overs[rival]
            if workload in free and (other is None or own.mean < other.mean * (1 - SAME)):
                shorter[rival] += 1
        sentences.append(_sentence(workload, own, overs))
    counts = zip(plan.settings["devices"], plan.settings["evaluations"], strict=True)
    episodes = [f"{count:,} on {devices} devices" for devices, count in counts]
    where = counted(len(free), "workload")
    yield (
        "After as many simulated episodes as climb and search have evaluations "
        f"({' and '.join(episodes)}), the mean makespan of DOPPLER's best placements is below "
        f"climb's on {shorter[CLIMB]} of {where}, below search's on {shorter[SEARCH]}, and below "
        f"EnumerativeOptimizer's on {shorter[ENUMERATIVE]}."
    )
    yield from sentences
    yield (
        "Published milliseconds were measured on GPUs and ours are simulated, so that only ratios "
        "within a column can be compared."
    )
    if not plan.settings["released_sha256"]:
        yield "The released graphs are left out; --released DIR adds them."


def _sentence(workload: Workload, own: Spread, overs: dict[str, Spread | None]) -> str:
    words = [
        f"that of {rival} {'unknown' if over is None else over}"
        for rival, over in overs.items()
        if rival != DOPPLER
    ]
    return (
        f"On {workload.name}, the makespan of DOPPLER is {own} of the best known one; "
        f"{', '.join(words)}."
    )

"""What the study of GiPH shows, in sentences: against baselines, on other and changing clusters."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from streamplace.studies.giph.experiments import DRAWN, FEW, LARGER, MANY, SEVERAL, SINGLE
from streamplace.studies.giph.plain import HEFT, RANDOM
from streamplace.studies.giph.published import WINS
from streamplace.studies.giph.registered import GIPH, OURS, SYSTEMS
from streamplace.studies.giph.results import Tested
from streamplace.studies.study import Row
from streamplace.util.effect import Effect

Results = Mapping[tuple[str, str], Tested]
SETTINGS = {SINGLE: "one network", SEVERAL: "ten networks"}


def findings_of(results: Results, changed: Sequence[Row]) -> Iterator[str]:
    """Yield the findings; those of experiments without results are left out.

    Parameters
    ----------
    changed
        The rows of the changing clusters.
    """
    for setting, name in SETTINGS.items():
        yield from _against_baselines(results[setting, setting], name)
    yield _signs(results[SEVERAL, DRAWN])
    yield from _other_clusters(results)
    yield from _changing_clusters(changed)


def _against_baselines(found: Tested, name: str) -> Iterator[str]:
    over = {system: found.over(system, HEFT) for system in found.losses}
    for system in (GIPH, OURS):
        yield (
            f"On {name}, the makespan of {system} is {over[system]} of HEFT's and "
            f"{found.over(system, RANDOM)} of the best of as many random placements."
        )
    best = min(GIPH, OURS, key=lambda system: over[system].mean)
    better = [s for s in over if s not in SYSTEMS and found.over(best, s).low > 1.0]
    beyond = "without a policy trained on other cases"
    yield (
        f"Better than both on {name} with 95% confidence, {beyond}: {'; '.join(better)}."
        if better
        else f"On {name}, nothing {beyond} is better than both with 95% confidence."
    )


def _signs(found: Tested) -> str:
    """Return whether GiPH wins more cases than it loses against the rivals of Table 6."""
    parts: dict[str, list[str]] = {}
    for rival, (better, _, worse) in WINS.items():
        lead = found.lead(GIPH, rival)
        verdict = "has the published sign"
        if lead.low <= 0.0 <= lead.high:
            verdict = "is within chance"
        elif (lead.mean > 0.0) != (better > worse):
            verdict = "has the opposite sign"
        text = f"{rival} ({lead.mean:+.1f}, {lead.low:+.1f} to {lead.high:+.1f})"
        parts.setdefault(verdict, []).append(text)
    texts = (f"{verdict} against {', '.join(own)}" for verdict, own in parts.items())
    return (
        f"The percent of cases that {GIPH} wins less the percent that it loses, as in Table 6 and "
        f"with 95% intervals over the cases, {'; it '.join(texts)}."
    )


def _other_clusters(results: Results) -> Iterator[str]:
    """Yield how policies trained on other numbers of devices end, over those trained on as many."""
    of_size = {MANY: DRAWN, LARGER: f"{LARGER} devices"}
    for tested, test in of_size.items():
        own = results.get((f"trained on {tested} devices", test))
        for trained in (FEW, MANY, LARGER):
            other = results.get((f"trained on {trained} devices", test))
            if own is not None and other is not None and trained != tested:
                over = Effect.of(other.final(GIPH) / own.final(GIPH))
                yield (
                    f"On {tested} devices, the makespan of GiPH trained on {trained} is {over} of "
                    f"that of GiPH trained on {tested}."
                )


def _changing_clusters(rows: Sequence[Row]) -> Iterator[str]:
    for protocol, systems in changes_of(rows).items():
        reached = "; ".join(f"{system} {over}" for system, over in systems.items())
        yield (
            f"After each change by the protocol of the {protocol}, the makespan over that of a "
            f"search from scratch: {reached}."
        )


def changes_of(rows: Sequence[Row]) -> dict[str, dict[str, Effect]]:
    """Return makespans on changing clusters over a search from scratch, by protocol and system.

    The unit of the intervals is a graph: the training seeds have the same graphs.
    """
    ratios: dict[tuple[str, str], dict[int, list[float]]] = {}
    for row in rows:
        graphs = ratios.setdefault((row["protocol"], row["system"]), {})
        graphs.setdefault(row["graph"], []).append(row["makespan_s"] / row["from_scratch_s"])
    made: dict[str, dict[str, Effect]] = {}
    for (protocol, system), graphs in ratios.items():
        over = Effect.of(np.array([np.mean(values) for values in graphs.values()]))
        made.setdefault(protocol, {})[system] = over
    return made

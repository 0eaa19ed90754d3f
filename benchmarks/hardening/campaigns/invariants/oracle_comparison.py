"""Comparison of the closed forms with an independent scorer, the oracle."""

from collections.abc import Callable

from benchmarks.hardening.campaigns.invariants.deviations import (
    Deviations,
    largest_difference,
    relative_difference,
)
from benchmarks.hardening.campaigns.invariants.numbered_problems import drawn
from benchmarks.reference import oracle
from benchmarks.reference.changes import remade
from streamplace import Problem
from streamplace.scoring.flow import flow
from streamplace.scoring.loads import LinkLoad, UplinkLoad
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import throughput
from streamplace.sim.closed_form import bottleneck
from streamplace.sim.work import own_utilisations
from streamplace.util.arrays import Floats, Ints

Form = Callable[[Problem, Ints], Floats]


def against_oracle(pairs: int, seed: int, form: Form = throughput) -> list[Deviations]:
    """Score pairs of problem and placement with both scorers, under both closed forms.

    Parameters
    ----------
    pairs
        The number of pairs.
    form
        A function of a problem and placements, (K, V), that returns their throughputs, (K,).
    """
    tallies = {
        model: Deviations(f"closed form against the oracle: {model}") for model in CLOSED_FORMS
    }
    loads = Deviations("utilisations against the oracle")
    done, number = 0, 0
    while done < pairs:
        problem, rows = drawn(number, seed)
        rows = rows[: pairs - done]
        for model, tally in tallies.items():
            one = remade(problem, model=model)
            for row, actual in zip(rows, form(one, rows), strict=True):
                expected = oracle.throughput(one, row.tolist())
                if not tally.record(relative_difference(float(actual), expected)):
                    tally.add_fault(pair_text(number, seed, row))
        for row in rows:
            if not loads.record(difference(problem, row)):
                loads.add_fault(pair_text(number, seed, row))
        done, number = done + len(rows), number + 1
    return [*tallies.values(), loads]


def pair_text(number: int, seed: int, row: Ints) -> str:
    """Return the call that draws a problem, and the placement of it, as text."""
    return f"numbered_problems.drawn({number}, {seed}), placement {row.tolist()}"


def difference(problem: Problem, row: Ints) -> float:
    """Return the largest relative difference between utilisations and those of the oracle."""
    device, link = bottleneck.utilisations(flow(problem), row)
    of_device, of_link = oracle.utilisations(problem, row.tolist())
    of_operator = oracle.own_utilisations(problem, row.tolist())
    cluster = problem.cluster
    names = cluster.names
    pairs = [(float(u), float(of_device[name])) for u, name in zip(device, names, strict=True)]
    of_resource = dict.fromkeys(of_link, 0.0)
    for i, utilisation in enumerate(link.tolist()):
        if utilisation and i < cluster.own_links:
            of_resource[LinkLoad(*cluster.resource_ends(i), utilisation).name] = utilisation
        elif utilisation:
            group, direction, _ = cluster.limited_uplinks[i - cluster.own_links]
            of_resource[UplinkLoad(group, direction, utilisation).name] = utilisation
    pairs += [(found, float(of_link.get(name, 0))) for name, found in of_resource.items()]
    of_operators = own_utilisations(flow(problem), row).tolist()
    operators = zip(of_operators, problem.graph.names, strict=True)
    pairs += [(found, float(of_operator.get(name, 0))) for found, name in operators]
    return largest_difference(relative_difference(a, b) for a, b in pairs)

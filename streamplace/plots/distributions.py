"""Plots of datasets, in the style of Figure 4 of Ni et al. (AAAI 2020)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist

from streamplace.plots.comparison import cumulative
from streamplace.plots.style import legend_below, line, picture
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats

LABELS = ("operators of a graph", "utilisation of 2,500 MIPS", "payload, bytes")
MARKS = 8  # markers on a line


def distributions_picture(path: str | Path, datasets: Mapping[str, Sequence[StreamGraph]]) -> None:
    """Draw cumulative distributions of datasets: operators, utilisations, payloads.

    Utilisations are those of a device of 2,500 MIPS by an operator, at the source rate of its
    graph. Payloads are those of operators with receivers.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    GraphError
        If tuple rates of a graph overflow, or a quantity of it is unknown.
    """
    values = [distributions(graphs) for graphs in datasets.values()]
    with picture(path, (9.6, 3.4)) as figure:
        lines: list[Artist] = []
        for number, (axes, label) in enumerate(zip(figure.subplots(1, 3), LABELS, strict=True)):
            for i, of_dataset in enumerate(values):
                x, share = cumulative(of_dataset[number])
                steps = axes.plot(
                    [x[0], *x],
                    [0.0, *share],
                    drawstyle="steps-post",
                    markevery=((i % 4) / MARKS / 4, 1 / MARKS),
                    **line(i),
                )
                lines += steps if number == 0 else []
            axes.set_xlabel(label)
            axes.set_ylim(0.0, 1.02)
            axes.set_xlim(left=0.0)
        figure.axes[0].set_ylabel("share at or below")
        legend_below(figure, lines, list(datasets))


def distributions(graphs: Sequence[StreamGraph]) -> tuple[Floats, Floats, Floats]:
    """Return the operators of each graph, and the utilisations and payloads of all operators.

    Payloads are those of operators with receivers; without any, there is one of 0 bytes.
    """
    cluster = Cluster.equal(1)
    of_operators, payloads = [], [np.zeros(0)]
    for graph in graphs:
        arrays = flow(Problem(graph, cluster))
        of_operators.append(arrays.work / arrays.capacity[0])
        payloads.append(graph.payload_bytes[np.unique(arrays.source)])
    sizes = np.array([len(each) for each in of_operators], dtype=float)
    joined = np.concatenate(payloads)
    return sizes, np.concatenate(of_operators), joined if len(joined) else np.zeros(1)

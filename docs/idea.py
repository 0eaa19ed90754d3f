"""The picture `docs/images/idea.png` of what streamplace decides; `python -m docs.idea` draws it.

It shows the job and the cluster that `streamplace init` writes: on the left the operators in the
colours of their devices, on the right a lane for each device with the utilisation of its operators.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import streamplace as sp
from streamplace.cli.main import main
from streamplace.pictures.style import COLOURS, GREY, picture
from streamplace.problem.graph_view import levels_of
from streamplace.scoring.flow import flow

PICTURE = Path(__file__).parent / "images" / "idea.png"
SIZE = (9.6, 3.0)  # width and height in inches
BOX = (0.76, 0.44)  # width and height of an operator, where levels are 1 apart
LANE = 0.56  # height of a lane, where lanes are 1 apart
NAMED = 0.1  # utilisation from which an operator's name fits into a lane
COLOUR_OF_DEVICE = (COLOURS[0], COLOURS[1], COLOURS[2])


def placement_of_starter() -> sp.Placement:
    """Return where `place` puts the operators of the starter graph."""
    with TemporaryDirectory() as folder:
        main(["init", folder, "--quiet"])
        graph = sp.read_graph(Path(folder) / "graph.json")
        cluster = sp.read_cluster(Path(folder) / "cluster.json")
    return sp.place(graph, cluster, placer="auto:evaluations=20000").placement


def draw(path: str | Path = PICTURE) -> None:
    """Draw the picture; the file's suffix sets the format."""
    placement = placement_of_starter()
    with picture(path, SIZE) as figure:
        graph, lanes = figure.subplots(1, 2, width_ratios=(5, 4))
        _draw_graph(graph, placement)
        _draw_lanes(lanes, placement)


def _draw_graph(axes: Axes, placement: sp.Placement) -> None:
    """Draw the operators, a column for each level."""
    graph = placement.problem.graph
    levels, places = levels_of(graph), dict[int, tuple[float, float]]()
    for level in range(max(levels) + 1):
        members = [v for v, of in enumerate(levels) if of == level]
        places |= {v: (level, (len(members) - 1) / 2 - i) for i, v in enumerate(members)}
    for v, w in zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True):
        (x, y), (to_x, to_y) = places[v], places[w]
        ends = (x + BOX[0] / 2 + 0.02, y), (to_x - BOX[0] / 2 - 0.02, to_y)
        axes.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=9, color=GREY))
    for v, (x, y) in places.items():
        corner = x - BOX[0] / 2, y - BOX[1] / 2
        colour = COLOUR_OF_DEVICE[placement.devices[v]]
        shape = "round,pad=0,rounding_size=0.1"
        axes.add_patch(FancyBboxPatch(corner, *BOX, boxstyle=shape, color=colour, linewidth=0))
        axes.text(x, y, graph.names[v], ha="center", va="center", color="white", size=9)
    axes.set_xlim(-0.5, max(levels) + 0.5)
    axes.set_ylim(-1.1, 1.1)
    axes.set_title("a job: which device runs which operator?", loc="left")
    axes.axis("off")


def _draw_lanes(axes: Axes, placement: sp.Placement) -> None:
    """Draw a lane for each device, from 0 to 100%, with the utilisation of its operators."""
    graph, cluster = placement.problem.graph, placement.problem.cluster
    arrays = flow(placement.problem)
    for d in range(len(cluster.devices)):
        axes.barh(d, 1.0, LANE, color="#eeeeee")
        used = 0.0
        for v in (placement.devices == d).nonzero()[0].tolist():
            share = float(arrays.work[v] / arrays.capacity[d])
            axes.barh(d, share, LANE, used, color=COLOUR_OF_DEVICE[d], edgecolor="white")
            if share >= NAMED:
                at = used + share / 2, d
                axes.text(*at, graph.names[v], ha="center", va="center", color="white", size=8)
            used += share
        axes.text(1.02, d, f"{used:.0%}", va="center", size=9)
    axes.set_yticks(range(len(cluster.devices)), [device.name for device in cluster.devices])
    axes.set_ylim(len(cluster.devices) - 0.5, -0.5)
    axes.set_xlim(0.0, 1.12)
    axes.set_xticks([0.0, 0.5, 1.0], ["0%", "50%", "100%"])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.set_title("the devices, and how much of each is in use", loc="left")


if __name__ == "__main__":
    draw()

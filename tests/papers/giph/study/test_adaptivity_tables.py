"""Tables and pictures of changing clusters and of trainings."""

from pathlib import Path

from streamplace.papers.giph.study.adaptivity import (
    CHECKPOINTS,
    RNN,
)
from streamplace.papers.giph.study.adaptivity_tables import (
    adaptivity_table,
    curves_picture,
    learning_of,
    learning_panels,
    learning_table,
    makespans_of,
    panels_of,
)
from streamplace.papers.giph.study.registered import GIPH
from streamplace.papers.giph.study.systems import HEFT, RANDOM


def test_tables_and_pictures_show_the_rows_that_exist(tmp_path: Path) -> None:
    assert not [*adaptivity_table({}), *learning_table({})]
    rows = [
        {
            "changing": "code",
            "repeat": 0,
            "graph": graph,
            "change": change,
            "system": system,
            "makespan_s": level * (1 + change),
            "longest_s": 1.0,
        }
        for system, level, graphs in ((HEFT, 2.0, 3), (RNN, 3.0, 2))
        for graph in range(graphs)
        for change in range(5)
    ]
    found = makespans_of(rows)
    (table,) = adaptivity_table(found)
    assert [(name, *cells[:3]) for name, cells in table.rows] == [
        (HEFT, "code", 3, 1.0),
        (RNN, "code", 2, 1.5),
    ]
    assert table.rows[0][1][4:] == (4.0, 6.0, 8.0, 10.0)
    heft = [row for row in rows if row["system"] == HEFT]
    more = [{**row, "system": RANDOM} for row in heft]
    alone = [{**row, "repeat": 1, "makespan_s": 9.0} for row in heft]  # a network that is not done
    (same,) = adaptivity_table(makespans_of([*rows, *more, *alone]))
    assert dict(same.rows)[HEFT] == dict(table.rows)[HEFT]
    learned = learning_of(
        [
            {"learning": "several", "system": GIPH, "repeat": seed, "episodes": n, "over_heft": [v]}
            for n, v in ((0, 1.5), (40, 1.1))
            for seed in range(2)
        ]
    )
    (curve,) = learning_table(learned)
    assert curve.rows == [(GIPH, [1.5, 1.1, *[None] * (len(CHECKPOINTS) - 2)])]
    for name, panels in (("a", panels_of(found)), ("b", learning_panels(learned))):
        curves_picture(tmp_path / f"{name}.svg", panels, ("x", "y"))

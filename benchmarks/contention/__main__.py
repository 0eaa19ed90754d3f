"""Contention for CPU time on a real Flink: our placements beside Flink's own distribution.

    make flink-contention

This runs ``python -m benchmarks.contention FLINK``, where FLINK is the folder of Flink that holds
``lib``. Six jobs, drawn by seed, run on three TaskManagers of half a core each, with the same
numbers of instances in three ways: as Flink distributes them by default, with
``taskmanager.load-balance.mode: tasks``, and as streamplace places them after a profile. The three
alternate, and take turns at being first. A run that was interrupted goes on where it stopped.
"""

import argparse
import sys
from pathlib import Path

from local_flink import TaskManager
from loop import core
from scripting import ScriptError, say
from submitted import HERE, build

from benchmarks.commit import running_commit
from benchmarks.contention.cluster import LimitedFlink
from benchmarks.contention.costs import table
from benchmarks.contention.jobs import SEED, SLOTS, drawn
from benchmarks.contention.placing import placed, prepare, with_labels
from benchmarks.contention.tables import OURS, TABLE, page
from benchmarks.contention.trial import run
from benchmarks.exit_codes import exit_code
from benchmarks.result_lines import Results
from benchmarks.testbed.emulator import swept
from streamplace.files.writing import write_text

MANAGERS = ("tm0", "tm1", "tm2")
SHARE = 0.5  # of a core for each
REPEATS = 5
CALIBRATE_S = 10.0
CONFIGS = {
    "default": "",
    "tasks": "taskmanager.load-balance.mode: tasks\n",
    OURS: "",
}


def main() -> int:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path, help="Flink's folder, which holds lib")
    parser.add_argument(
        "-o", type=Path, default=Path("flink-loop/contention"), dest="folder", help="output folder"
    )
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"default: {REPEATS}")
    asked = parser.parse_args()
    home, folder = asked.home.resolve(), asked.folder.resolve()
    return exit_code(
        lambda: campaign(home, folder, asked.repeats),
        name="flink-contention",
        others=(ScriptError,),
    )


@swept()
def campaign(home: Path, folder: Path, repeats: int) -> int:
    """Run all jobs in all three ways, several times in turn; return the exit code 0."""
    settings = {"seed": SEED, "share": SHARE, "commit": running_commit()}
    results, jobs = Results(folder, settings), drawn()
    sources = [HERE / f"{name}.java" for name in ("Work", "ShapedJob")]
    jar = build(folder, home, "ShapedJob", sources)
    equal = [TaskManager(name, slots=SLOTS // len(MANAGERS)) for name in MANAGERS]
    with LimitedFlink(home, folder, equal, SHARE) as flink:
        with core(str(folder / "ShapedJob.classes"), CALIBRATE_S) as speed:
            mips = speed()
        prepare(flink, jar, jobs, folder, mips)
    placements = [placed(job, folder) for job in jobs]
    labelled = with_labels(MANAGERS, placements, SLOTS // len(MANAGERS))
    done = {(row["repeat"], row["way"], row["job"]) for row in results.rows()}
    for repeat in range(repeats):
        for way in turn(repeat):
            left = [i for i, job in enumerate(jobs) if (repeat, way, job.name) not in done]
            if not left:
                continue
            managers = labelled if way == OURS else equal
            with LimitedFlink(home, folder, managers, SHARE, CONFIGS[way]) as flink:
                for i in left:
                    row = run(flink, jar, jobs[i], placements[i] if way == OURS else None)
                    about = {"repeat": repeat, "way": way, "job": jobs[i].name}
                    results.add({**about, **row})
                    say(f"repeat {repeat}, {way}, {jobs[i].name}: {row['work']:.0f} tuples/s")
    text = page(list(results.rows()), settings, table(jobs, folder))
    write_text(folder / TABLE, text)
    print(text)
    return 0


def turn(repeat: int) -> list[str]:
    """Return the ways in the order of a repeat, in which each comes first equally often."""
    ways = list(CONFIGS)
    first = repeat % len(ways)
    return ways[first:] + ways[:first]


if __name__ == "__main__":
    sys.exit(main())

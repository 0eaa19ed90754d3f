"""Results, tables and pictures of the studies in benchmarks/studies, from the units that are done.

    python -m benchmarks.studies_tables NAME FOLDER [DATA]

FOLDER is the folder of a run of the study, which may have been stopped. Its results are added to
those that are kept, the plan is that of the current code, and tables leave out what is not done
yet. DATA is the folder with the released data that some studies read (default: ../shared/data).
"""

import argparse
import lzma
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.exit_codes import exit_code
from benchmarks.released_data import SHARED
from benchmarks.studies_again import FOLDERS, NAMES, Kept, kept_from, kept_in, studies_named
from streamplace.files.reading import read_bytes
from streamplace.files.writing import atomic
from streamplace.papers.studies.run import PLAN, REPORT, RESULTS, StudyFolder, result_line
from streamplace.papers.studies.study import Plan, Study

PICTURE = re.compile(r"!\[([^]]+)\]\([^)]+\)")
IMAGES = Path(__file__).parents[1] / "docs" / "images"


def place_of(file: str, name: str) -> Path:
    """Return where a file of a study is kept: a picture that a page shows in docs/images only."""
    shown = [IMAGES / f"{name}-{file}", IMAGES / file]
    kept = [image for image in shown if image.suffix == ".png" and image.exists()]
    return kept[0] if kept else FOLDERS / name / file


def linked(picture: str, name: str) -> str:
    """Return the link to a picture in the report of a study."""
    place = place_of(f"{picture}.png", name)
    above = "" if place.parent == FOLDERS / name else "../../../docs/images/"
    return f"![{picture}]({above}{place.name})"


def write(name: str, study: Study, plan: Plan, results: Mapping[str, Kept]) -> None:
    """Replace the plan and the results of a study's folder, its tables and its pictures.

    Results of units that the plan no longer has are left out.
    """
    folder = FOLDERS / name
    done = [unit.key for unit in plan.units if unit.key in results]
    rows = [row for key in done for row in results[key].rows]
    with TemporaryDirectory() as made:
        files = StudyFolder(Path(made), study.name, plan)
        for file in (files.path / PLAN, *files.write(study.outcome(plan, rows), "png")):
            shutil.copy(file, place_of(file.name, name))
    report = folder / REPORT
    report.write_text(PICTURE.sub(lambda found: linked(found[1], name), report.read_text()))
    lines = (result_line(key, results[key].rows, results[key].seconds) for key in done)
    with atomic(folder / f"{RESULTS}.xz") as packed:
        packed.write(lzma.compress("".join(lines).encode(), preset=9))


def main() -> None:
    """Add the results of a run to those of a study, and print how many units are done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "name", choices=NAMES, metavar="NAME", help="a folder in benchmarks/studies"
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", nargs="?", type=Path, default=SHARED)
    options = parser.parse_args()
    study = studies_named([options.name], options.data)[options.name]
    plan = study.plan()
    found = kept_in(FOLDERS / options.name)
    found |= kept_from(read_bytes(options.folder / RESULTS))
    write(options.name, study, plan, found)
    left = [unit.key for unit in plan.units if unit.key not in found]
    done = len(plan.units) - len(left)
    print(f"{done} of {len(plan.units)} units are done", *left, sep="\n")


if __name__ == "__main__":
    sys.exit(exit_code(main, name="studies_tables"))

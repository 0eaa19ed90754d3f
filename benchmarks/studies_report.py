"""Results, tables and pictures of a study in benchmarks/studies, from a folder of a run.

    python -m benchmarks.studies_report NAME FOLDER

The run may be incomplete: its report shows the units that are done.
"""

import argparse
from pathlib import Path

from benchmarks.makespans.problems import SHARED
from benchmarks.studies_again import NAMES, results_in, studies
from benchmarks.studies_lists import write
from streamplace.studies.run import RESULTS


def main() -> None:
    """Write the folder of the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=SHARED)
    options = parser.parse_args()
    study = studies(options.data)[options.name]
    write(options.name, study, study.plan(), results_in((options.folder / RESULTS).read_bytes()))


if __name__ == "__main__":
    main()

"""Peak memory of a process that works on units of a study.

    python -m benchmarks.worker_memory [--units N] [--seconds S] [--only STUDY …]

N units are spread evenly over the whole plan of each study. Each runs in a process of its own,
which ends after S seconds of CPU time: a training repeats the same steps, so its first ones need
what the others need.
"""

import argparse
import multiprocessing
import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from streamplace.execution.calls import peak_bytes
from streamplace.papers.studies.study import Study, Unit

STUDIES = {
    "dream": "ni2020.study.study:DreamStudy",
    "orders": "orders.study.study:OrdersStudy",
    "orders --objective throughput": "orders.study.streams:StreamOrdersStudy",
    "giph": "giph.study.study:GiphStudy",
    "giph --objective throughput": "giph.study.streams:StreamGiphStudy",
    "doppler": "doppler.study.study:DopplerStudy",
    "doppler --objective throughput": "doppler.study.streams:StreamDopplerStudy",
    "hsdag": "hsdag.study.study:HsdagStudy",
}
"""Arguments of `study` -> its class in `streamplace.papers`."""
EVERY_S = 0.1  # between two looks at a process
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def study_of(path: str) -> Study:
    """Return a study with its whole plan."""
    module, _, name = path.partition(":")
    study: Study = getattr(import_module(f"streamplace.papers.{module}"), name)(False, 0)
    return study


def measured(study: Study, unit: Unit, seconds: float) -> tuple[float, bool]:
    """Run a unit for some CPU seconds; return its peak memory in MB, and whether it has ended.

    Raises
    ------
    RuntimeError
        If it fails.
    """
    process = multiprocessing.get_context("spawn").Process(target=study.run, args=(unit,))
    process.start()
    cpu_times, peak = Path(f"/proc/{process.pid}/stat"), 0.0
    while process.is_alive():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            peak = max(peak, peak_bytes(process.pid) / 1e6)
            times = cpu_times.read_text().rpartition(")")[2].split()[11:13]
            if sum(map(int, times)) > seconds * TICKS_PER_S:
                break
        process.join(EVERY_S)
    ended = not process.is_alive()
    if ended and process.exitcode:
        raise RuntimeError(f"{unit.key}: ended with exit code {process.exitcode}")
    process.kill()
    process.join()
    return peak, ended


def main() -> None:
    """Print a table with a row for each study."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=6)
    parser.add_argument("--only", nargs="*", default=[*STUDIES], choices=STUDIES, metavar="STUDY")
    parser.add_argument("--seconds", type=float, default=15.0)
    options = parser.parse_args()
    print("| study | units measured | of them ended | least MB | most MB | unit with the most |")
    print("|---|---|---|---|---|---|")
    for name in options.only:
        study = study_of(STUDIES[name])
        units = study.plan().units
        count = min(options.units, len(units))
        some = [units[i * (len(units) - 1) // max(count - 1, 1)] for i in range(count)]
        found = [measured(study, unit, options.seconds) for unit in some]
        peaks = [peak for peak, _ in found]
        most = max(peaks)
        ended = sum(is_over for _, is_over in found)
        cells = [count, ended, f"{min(peaks):,.0f}", f"{most:,.0f}", some[peaks.index(most)].key]
        print(f"| {name} | " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()

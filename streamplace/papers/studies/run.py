"""The run of a study: its units on several processes, and the folder that keeps their results."""

import json
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError, within
from streamplace.execution.backends import LOCAL, Backend
from streamplace.execution.parallel import each_when_known
from streamplace.execution.progress import note, track
from streamplace.files.bounded import read_failure, read_raw
from streamplace.files.json_text import CHECKSUM, checksum, to_json
from streamplace.files.reading import parse, read_json
from streamplace.files.writing import atomic, held, write_text
from streamplace.papers.studies.study import Outcome, Plan, Row, Study, Unit
from streamplace.util.text import counted

FORMAT, VERSION = "streamplace-study", 2
WITHOUT_SUMS = 1  # the version whose lines of results have no checksum
OTHER = "choose another folder with -o"
REMOVE = "remove the line, and it is computed again"
Found = dict[str, list[Row]]
"""The rows of each unit that has ended, by its key."""

PLAN, RESULTS, REPORT = "study.json", "results.jsonl", "README.md"
PLAIN = (int, float, str)  # types of settings that the caption of a table lists
EVERY_S = 60.0
HOUR_S, MINUTE_S = 3600, 60


def plan_text(study: str, settings: Mapping[str, Any]) -> str:
    """Return the plan of a study as the text of its file."""
    head = {"format": FORMAT, "version": VERSION, "study": study}
    head["streamplace"] = version("streamplace")
    return to_json({**head, "settings": dict(settings)})


def check_plan(path: Path, study: str, settings: Mapping[str, Any]) -> int:
    """Return the version of a plan's file if the plan is that of a study.

    Raises
    ------
    FormatError
        If it is another study's, or was made with other settings; if the file cannot be read.
    """
    saved = read_json(path)
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise FormatError(f"{path}: is not the plan of a study; {OTHER}")
    if saved.get("version") not in (WITHOUT_SUMS, VERSION):
        text = _shown(saved.get("version"))
        raise FormatError(f"{path}: has version {text}, but this streamplace reads {VERSION}")
    if saved.get("study") != study:
        raise FormatError(f"{path}: holds the study {_shown(saved.get('study'))}; {OTHER}")
    expected, before = json.loads(json.dumps(dict(settings))), saved.get("settings")
    if not isinstance(before, dict):
        raise FormatError(f"{path}: settings: must be an object; {OTHER}")
    for key in sorted({*expected, *before}):
        if key not in before or key not in expected or before[key] != expected[key]:
            was, now = (_shown(each[key]) if key in each else "none" for each in (before, expected))
            change = f"{_shown(key)[1:-1]} was {was} and is now {now}"
            raise FormatError(f"{path}: was made with another plan: {change}; {OTHER}")
    return int(saved["version"])


def read_results(path: Path, units: Collection[str], version: int = VERSION) -> tuple[Found, bytes]:
    """Return the rows by unit, and the lines that they were read from.

    A last line without an end is left out: the study was killed while it wrote the line.

    Parameters
    ----------
    units
        The keys of the units of the plan.
    version
        That of the plan's file.

    Raises
    ------
    FormatError
        If a line is not a result of these units, or has changed since it was written; if the file
        cannot be read. The message names the line.
    """
    try:
        data = read_raw(path)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise FormatError(f"{path}: {read_failure(error)}") from None
    complete, found = data[: data.rfind(b"\n") + 1], Found()
    for number, line in enumerate(complete.split(b"\n")[:-1], start=1):
        place = f"{path}: line {number}"
        entry = _entry(line, place)
        summed = entry.pop(CHECKSUM, None)
        key, rows = entry.get("unit"), entry.get("rows")
        if not (isinstance(key, str) and key in units and isinstance(rows, list)):
            raise FormatError(f"{place}: is not a result of this study; {REMOVE}")
        if summed != checksum(entry) and (summed is not None or version != WITHOUT_SUMS):
            raise FormatError(f"{place}: has changed since it was written; {REMOVE}")
        found[key] = rows
    return found, complete


def result_line(key: str, rows: list[Row], seconds: float) -> str:
    """Return the line of a unit's results, with the CPU seconds that they took."""
    entry = {"unit": key, "cpu_s": round(seconds, 3), "rows": rows}
    return json.dumps({**entry, CHECKSUM: checksum(entry)}) + "\n"


def rows_of(plan: Plan, found: Found) -> list[Row]:
    """Return the results of the units that are done, in the order of the plan."""
    return [row for unit in plan.units for row in found.get(unit.key, ())]


def outcome_of(study: Study, plan: Plan, found: Found, path: Path) -> Outcome:
    """Return the outcome of a study, some of whose results were read from a file.

    Raises
    ------
    FormatError
        If results have the key of a unit, but not the values that the study reads: another version
        of the study wrote them, or a line without a checksum has changed.
    """
    try:
        return study.outcome(plan, rows_of(plan, found))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        fault = " ".join(f"{type(error).__name__}: {error}".split())
        raise FormatError(
            f"{path}: holds results that do not fit this version of {study.name} ({fault:.120}); "
            f"remove their lines, or {OTHER}"
        ) from error


def _entry(line: bytes, place: str) -> dict[str, Any]:
    try:
        entry = parse(line.decode(), place, is_line=True)
    except (FormatError, UnicodeDecodeError):
        entry = None
    if not isinstance(entry, dict):
        raise FormatError(f"{place}: is not a result of this study; {REMOVE}")
    return entry


def _shown(value: Any) -> str:
    return f"{json.dumps(value):.80}"


class StudyFolder:
    """The results of one study, which are on the disk as soon as they are known.

    The folder holds ``study.json``, the plan, and ``results.jsonl``, a line for each unit of work
    that has ended.

    Parameters
    ----------
    path
        An existing folder, locked by this process.

    Raises
    ------
    FormatError
        If the folder holds the results of another study, or of another plan of this one; if it
        holds files that are not a study's and would be overwritten; if a file cannot be read or
        written.
    """

    def __init__(self, path: Path, name: str, plan: Plan) -> None:
        self.path, self._study, self._plan = path, name, plan
        self.done: dict[str, list[Row]] = {}
        self._has_read = False
        saved, results = path / PLAN, path / RESULTS
        if not os.path.lexists(saved):
            for other in (RESULTS, REPORT):
                if os.path.lexists(path / other):
                    fault = f"holds {other} but no {PLAN}, so it is not a study's folder"
                    raise FormatError(f"{path}: {fault}; {OTHER}")
            write_text(saved, plan_text(name, plan.settings))
            return
        version = check_plan(saved, name, plan.settings)
        if os.path.lexists(results):
            keys = {unit.key for unit in plan.units}
            self.done, complete = read_results(results, keys, version)
            self._has_read = bool(self.done)
            if len(complete) < results.stat().st_size:  # the study was killed within a line
                with atomic(results) as file:
                    file.write(complete)

    def add(self, key: str, rows: list[Row], seconds: float) -> None:
        """Write the results of a unit, and the CPU seconds that it took."""
        path = self.path / RESULTS
        try:
            with path.open("ab") as file:
                file.write(result_line(key, rows, seconds).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FormatError(f"{path}: cannot write: {error.strerror}") from None
        self.done[key] = rows

    def close(self) -> None:
        """Remove the plan if there are no results, so that another plan may use the folder."""
        if not self.done:
            with suppress(OSError):
                (self.path / RESULTS).unlink(missing_ok=True)
                (self.path / PLAN).unlink()

    def rows(self) -> list[Row]:
        """Return the results of the units that are done, in the order of the plan."""
        return rows_of(self._plan, self.done)

    def outcome(self, study: Study) -> Outcome:
        """Return the outcome of all units.

        Raises
        ------
        FormatError
            If results that the folder had before are not those of this version of the study.
        """
        if self._has_read:
            return outcome_of(study, self._plan, self.done, self.path / RESULTS)
        return study.outcome(self._plan, self.rows())

    def write(self, outcome: Outcome, pictures: str | None) -> list[Path]:
        """Write the report, the tables as CSV, Markdown and LaTeX, and the pictures.

        Parameters
        ----------
        pictures
            ``png``, ``svg`` or ``pdf``; None: no pictures.

        Returns
        -------
        The written files.
        """
        texts, settings = {REPORT: self._report(outcome, pictures)}, self._plan.settings
        known = [f"{name} {value}" for name, value in settings.items() if type(value) in PLAIN]
        by = f"written by streamplace {version('streamplace')}"
        made_by = f"Plan: {', '.join(known)}; {by}"
        for table in outcome.tables:
            texts[f"{table.name}.csv"] = table.csv()
            texts[f"{table.name}.md"] = table.markdown()
            texts[f"{table.name}.tex"] = table.latex(self._study, made_by)
        for name, text in texts.items():
            write_text(self.path / name, text)
        drawn = [] if pictures is None else [f"{name}.{pictures}" for name in outcome.pictures]
        for file, draw in zip(drawn, outcome.pictures.values(), strict=False):
            draw(self.path / file)
        return [self.path / name for name in (*texts, *drawn)]

    def _report(self, outcome: Outcome, pictures: str | None) -> str:
        parts = [f"# {outcome.title}", "\n".join(f"- {text}" for text in outcome.findings)]
        parts += [table.markdown().strip() for table in outcome.tables]
        if pictures is not None:
            parts += [f"![{name}]({name}.{pictures})" for name in outcome.pictures]
        parts.append(f"The plan is in [{PLAN}]({PLAN}).")
        return "\n\n".join(part for part in parts if part) + "\n"


class TimeLeft:
    """Progress over the units of a study; on a terminal, a progress bar shows it instead.

    Parameters
    ----------
    waiting, total
        The number of units to run, and of all units; the others have results already.
    """

    def __init__(self, waiting: int, total: int) -> None:
        self._waiting, self._total, self._done = waiting, total, 0
        self._start = self._printed = time.monotonic()
        if waiting < total:
            note(f"resuming: {total - waiting:,} of {counted(total, 'unit')} are done")

    def advance(self) -> None:
        """Count one unit; print a line if the last one is a minute old."""
        self._done += 1
        now = time.monotonic()
        if now - self._printed < EVERY_S or sys.stderr.isatty():
            return
        self._printed = now
        left = (now - self._start) / self._done * (self._waiting - self._done)
        done = self._total - self._waiting + self._done
        note(f"{done:,} of {counted(self._total, 'unit')}, about {duration(left)} left")


def duration(seconds: float) -> str:
    """Return a duration as text, in hours and minutes, or in seconds."""
    whole = round(seconds)
    if whole < MINUTE_S:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / MINUTE_S), MINUTE_S)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def run_study(
    study: Study,
    folder: str | Path,
    *,
    pictures: str | None = "png",
    jobs: int | None = None,
    backend: Backend = LOCAL,
    starting: Callable[[int], None] = lambda left: None,
) -> Outcome:
    """Run the units of a study that have no results in the folder, and write the outcome there.

    A run that is interrupted or killed loses only the units in progress. A run that ends without
    any result leaves no plan. Results do not depend on the number of processes or the backend.

    Parameters
    ----------
    folder
        Where results are kept; created if missing.
    pictures
        ``png``, ``svg`` or ``pdf``; None: no pictures.
    jobs
        Number of processes; None: one per processor.
    starting
        Called with the number of units to run, before the first of them.

    Raises
    ------
    FormatError
        If the folder holds the results of another study, plan or version, or cannot be written.
    BackendError
        If the backend fails.
    StreamplaceError
        If a unit has no result; the message names it.
    """
    with held(folder) as path:
        plan = study.plan()
        results = StudyFolder(path, study.name, plan)
        waiting = [unit for unit in plan.units if unit.key not in results.done]
        work = partial(_timed_unit, study)
        progress = TimeLeft(len(waiting), len(plan.units))
        if waiting:
            starting(len(waiting))
        with (
            closing(results),
            closing(each_when_known(work, waiting, jobs, backend)) as found,
        ):
            for number, (rows, seconds) in track(found, len(waiting), study.name):
                results.add(waiting[number].key, rows, seconds)
                progress.advance()
        outcome = results.outcome(study)
        results.write(outcome, pictures)
    return outcome


def _timed_unit(study: Study, unit: Unit) -> tuple[list[Row], float]:
    start = time.process_time()
    with within(unit.key):
        rows = study.run(unit)
    return rows, time.process_time() - start

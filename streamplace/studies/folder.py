"""The folder of a study: its plan, the results so far, and the outcome."""

import os
from contextlib import suppress
from pathlib import Path

from streamplace.errors import FormatError
from streamplace.files.atomic import atomic, write_text
from streamplace.files.reading import to_json
from streamplace.studies.saved import (
    OTHER,
    check_plan,
    outcome_of,
    plan_text,
    read_results,
    result_line,
)
from streamplace.studies.study import Outcome, Plan, Row, Study

PLAN, RESULTS, REPORT = "study.json", "results.jsonl", "README.md"


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
        self.path, self._plan = path, plan
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
        """Return the results of all units, in the order of the plan."""
        return [row for unit in self._plan.units for row in self.done[unit.key]]

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
        texts = {REPORT: self._report(outcome, pictures)}
        for table in outcome.tables:
            texts[f"{table.name}.csv"] = table.csv()
            texts[f"{table.name}.md"] = table.markdown()
            texts[f"{table.name}.tex"] = table.latex()
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
        settings = to_json(dict(self._plan.settings)).strip()
        parts.append(f"Plan:\n\n```json\n{settings}\n```")
        return "\n\n".join(part for part in parts if part) + "\n"

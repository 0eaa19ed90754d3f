"""The folder of a study: its plan, the results so far, and the outcome."""

import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.atomic import write_text
from streamplace.files.reading import read_json, to_json
from streamplace.studies.study import Outcome, Plan, Row

FORMAT, VERSION = "streamplace-study", 1
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
        If the folder holds the results of another study, or of another plan of this one; if a file
        cannot be read or written.
    """

    def __init__(self, path: Path, name: str, plan: Plan) -> None:
        self.path, self._name, self._plan = path, name, plan
        self.done: dict[str, list[Row]] = {}
        saved, settings = path / PLAN, json.loads(json.dumps(dict(plan.settings)))
        if saved.exists():
            self._check(read_json(saved), settings)
            self._read()
        else:
            head = {"format": FORMAT, "version": VERSION, "study": name}
            head["streamplace"] = version("streamplace")
            write_text(saved, to_json({**head, "settings": settings}))

    def _check(self, saved: Any, settings: Mapping[str, Any]) -> None:
        where, other = self.path / PLAN, "choose another folder with -o"
        if not isinstance(saved, dict) or saved.get("format") != FORMAT:
            raise FormatError(f"{where}: is not the plan of a study; {other}")
        if saved.get("study") != self._name:
            raise FormatError(f"{where}: holds the study {saved.get('study')!r:.40}; {other}")
        before = saved.get("settings")
        if before != settings:
            keys = sorted({*settings, *(before if isinstance(before, dict) else ())})
            was = before if isinstance(before, dict) else {}
            different = next(key for key in keys if was.get(key) != settings.get(key))
            raise FormatError(
                f"{where}: was made with another plan: {different} was "
                f"{json.dumps(was.get(different)):.80} and is now "
                f"{json.dumps(settings.get(different)):.80}; {other}"
            )

    def _read(self) -> None:
        """Read the results; a last line that was cut off when the study was killed is removed."""
        path = self.path / RESULTS
        if not path.exists():
            return
        keys = {unit.key for unit in self._plan.units}
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(f"{path}: cannot read: {error}") from None
        complete = text[: text.rfind("\n") + 1]
        for number, line in enumerate(complete.splitlines(), start=1):
            try:
                entry = json.loads(line)
                key, rows = entry["unit"], entry["rows"]
            except (ValueError, KeyError, TypeError):
                key, rows = None, None
            if key not in keys or not isinstance(rows, list):
                message = "is not a result of this study; remove the line, and it is computed again"
                raise FormatError(f"{path}: line {number}: {message}")
            self.done[key] = rows
        if complete != text:
            write_text(path, complete)

    def add(self, key: str, rows: list[Row], seconds: float) -> None:
        """Write the results of a unit, and the CPU seconds that it took."""
        path = self.path / RESULTS
        line = json.dumps({"unit": key, "cpu_s": round(seconds, 3), "rows": rows}) + "\n"
        try:
            with path.open("ab") as file:
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FormatError(f"{path}: cannot write: {error.strerror}") from None
        self.done[key] = rows

    def rows(self) -> list[Row]:
        """Return the results of all units, in the order of the plan."""
        return [row for unit in self._plan.units for row in self.done[unit.key]]

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

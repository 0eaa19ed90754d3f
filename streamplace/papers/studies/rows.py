"""Rows of a paper's claims, each of which can be run by itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamplace.errors import UsageError
from streamplace.papers.studies.claims import Claim, Claims, Select, is_of, selections
from streamplace.papers.studies.run import duration
from streamplace.papers.studies.study import Outcome, Plan, PlannedStudy, Row, Unit
from streamplace.papers.studies.table import Table
from streamplace.util.suggest import candidates
from streamplace.util.text import counted

IN_THE_PAPER, PUBLISHED = "in the paper", "published"  # columns


@dataclass(frozen=True)
class RowsStudy:
    """The units of a study that decide some rows, and the verdicts on these; see `Study`.

    Parameters
    ----------
    study
        The whole study.
    claims
        The claims of its paper.
    rows
        The names of the rows.
    """

    study: PlannedStudy
    claims: Claims
    rows: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.study.name

    def plan(self) -> Plan:
        """Return the plan with the units of the rows alone.

        Raises
        ------
        UsageError
            If the plan has none of a row, or none of one of its rivals, as without released graphs.
        """
        plan, needed = self.study.plan(), set[str]()
        for row in self.rows:
            claim = self.claims.runnable[row]
            deciding = list(units_of(claim, plan.units, self.claims.system))
            if not all(deciding) or _lacks_a_system(plan, claim, self.claims.system):
                command = self.claims.command.replace("CLAIM", row)
                raise UsageError(f"this plan cannot decide the claim {row}; run `{command}`")
            needed.update(*deciding)
        units = tuple(unit for unit in plan.units if unit.key in needed)
        return Plan({**plan.settings, "rows": list(self.rows)}, units)

    def run(self, unit: Unit) -> list[Row]:
        """Return the results of one unit; see `Study.run`."""
        return self.study.run(unit)

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return a table of the verdicts."""
        runnable = self.claims.runnable
        chosen = [runnable[row] for row in self.rows]
        verdicts = self.claims.model_copy(update={"claim": chosen}).verdicts(rows)
        lines = [
            (row, (claim.place, _text(self.claims, claim), claim.published, *verdict.cells(claim)))
            for row, (claim, verdict) in zip(self.rows, verdicts, strict=True)
        ]
        head = ("name", IN_THE_PAPER, "claim", PUBLISHED, "here", "seeds, graphs", "verdict")
        caption = "figures with their 95% intervals; docs/results.md says what they are"
        findings = (f"{counted(len(plan.units), 'unit')} of the study {self.name} were run.",)
        return Outcome(self.claims.paper, findings, (Table("rows", caption, head, lines),))


def units_of(claim: Claim, units: Iterable[Unit], system: str) -> Iterator[set[str]]:
    """Yield the keys of the units that decide a claim: of its system, then of each rival.

    They are those that its `units` name, a set for each beginning. Without these, no setting of a
    unit may contradict what the claim selects, and of such units those count that name the system,
    or else most fields.

    Parameters
    ----------
    system
        The field that names a system.
    """
    units = tuple(units)
    if claim.units:
        for beginning in claim.units:
            yield {unit.key for unit in units if unit.key.startswith(beginning)}
        return
    for select in (claim.of, *(selections(claim.against) if claim.against else ())):
        alike = [unit for unit in units if _agrees(unit.settings, select)]
        closest = [(system in unit.settings, len(unit.settings.keys() & select)) for unit in alike]
        best = max(closest, default=None)
        yield {unit.key for unit, each in zip(alike, closest, strict=True) if each == best}


def _lacks_a_system(plan: Plan, claim: Claim, system: str) -> bool:
    """Return whether a claim is about a system that no unit runs, where units run all systems."""
    if any(system in unit.settings for unit in plan.units):
        return False
    return not claim.systems(system) <= set(plan.settings.get("systems", claim.systems(system)))


def _agrees(settings: Mapping[str, Any], select: Select) -> bool:
    """Return whether no setting contradicts a selection, in which False also stands for empty."""
    named = {name: value for name, value in select.items() if name in settings}
    return is_of({name: settings[name] or False for name in named}, named)


def _text(claims: Claims, claim: Claim) -> str:
    """Return the statement of a claim, with its setting if that is not the usual one."""
    return claim.says if claim.setting == claims.setting else f"{claim.says}; {claim.setting}"


def rows_of(claims: Claims, row: str) -> tuple[str, ...]:
    """Return the rows with a name, such as ``table-2-1``, or those of a place, ``table-2``.

    Raises
    ------
    UsageError
        If there are none.
    """
    known = list(claims.runnable)
    found = tuple(name for name in known if row in (name, name.rpartition("-")[0]))
    if not found:
        raise UsageError(f"{claims.study}: no claim {row!r:.80}{candidates(row, known)}")
    return found


def listed(claims: Claims, only: str | None = None) -> Table:
    """Return the rows of a paper, or some of them, with the CPU time of their kept results.

    Raises
    ------
    UsageError
        If there are none of this name; see `rows_of`.
    """
    runnable = claims.runnable
    rows = runnable if only is None else {row: runnable[row] for row in rows_of(claims, only)}
    head = ("name", IN_THE_PAPER, "claim", PUBLISHED, "CPU time")
    lines = [
        (row, (one.place, _text(claims, one), one.published, one.cpu_s and duration(one.cpu_s)))
        for row, one in rows.items()
    ]
    return Table("rows", f"{claims.paper}: claims, run by `{claims.command}`", head, lines)

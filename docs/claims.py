"""Generator of the tables of claims in docs/results.md.

    python -m docs.claims      # updates the tables, unit_s of each paper and cpu_s of each claim

A paper's claims are data of its folder in streamplace/papers; the kept results of its study in
benchmarks/studies decide them. `tests/docs` compares the tables with both.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import fsum
from pathlib import Path
from statistics import fmean
from typing import get_args

from benchmarks.studies_again import FOLDERS, NAMES, Kept, kept_in
from streamplace.files.reading import read_json
from streamplace.papers.studies.claims import Claims, Word, is_of, selections
from streamplace.papers.studies.run import PLAN
from streamplace.papers.studies.study import Row

PAGE = Path(__file__).parent / "results.md"
PAPERS = ("ni2020", "orders", "giph", "doppler", "hsdag")
DATA = Path(__file__).parents[1] / "streamplace" / "papers"
BLOCK = "[[claim]]\n"
BEGIN, END = "<!-- claims: python -m docs.claims -->", "<!-- end of claims -->"
HEAD = "| name | in the paper | claim | published | here | setting | seeds, graphs | |"


def tables() -> str:
    """Return a heading, a sentence and a table for each paper, as Markdown."""
    return "\n\n".join("\n".join(_of_paper(Claims.of(paper))) for paper in PAPERS)


def _of_paper(claims: Claims) -> Iterator[str]:
    kept = kept_in(FOLDERS / claims.study)
    found = list(claims.verdicts([row for unit in kept.values() for row in unit.rows]))
    counts = Counter(verdict.word for _, verdict in found)
    yield f"### {claims.paper}"
    setting = f" Unless a line says otherwise: {claims.setting}." if claims.setting else ""
    numbers = ", ".join(f"{counts[word]} {word}" for word in get_args(Word))
    yield f"Of {len(found)} claims: {numbers}. One of them is run by `{claims.command}`.{setting}"
    yield ""
    yield HEAD
    yield "|---" * (HEAD.count("|") - 1) + "|"
    for row, (claim, verdict) in zip(claims.rows, found, strict=True):
        figure, sample, word = verdict.cells(claim)
        cells = (
            f"`{row}`" if claim.of else "",
            claim.place,
            claim.says,
            claim.published,
            figure,
            "" if claim.open or claim.setting == claims.setting else claim.setting,
            sample,
            f"**{word}**" if word == verdict.word else word,
        )
        yield f"| {' | '.join(cells)} |"


def units_of(claims: Claims, kept: Mapping[str, Kept]) -> list[set[str]]:
    """Return the kept units with rows that decide each claim."""
    of_system: dict[str, list[tuple[str, Row]]] = {}
    for key, unit in kept.items():
        for row in unit.rows:
            of_system.setdefault(row[claims.system], []).append((key, row))
    found = []
    for claim in claims.claim:
        selects = [each for one in (claim.of, claim.against) if one for each in selections(one)]
        found.append(
            {
                key
                for select in selects
                for key, row in of_system.get(str(select[claims.system]), ())
                if is_of(row, select)
            }
        )
    return found


def with_seconds(paper: str, text: str) -> str:
    """Return the claims of a paper with the CPU seconds of a unit, and of those of each claim."""
    claims = Claims.of(paper)
    kept = kept_in(FOLDERS / claims.study)
    head, *blocks = text.split(BLOCK)
    lines = [line for line in head.rstrip().splitlines() if not line.startswith("unit_s")]
    means = ", ".join(f"{name} = {mean:.1f}" for name, mean in _seconds_of_a_unit(claims.study))
    head = "\n".join((*lines, f"unit_s = {{ {means} }}", "", ""))
    for i, units in enumerate(units_of(claims, kept)):
        seconds = fsum(kept[key].seconds for key in units)  # whatever the order of the set
        lines = [line for line in blocks[i].splitlines() if line and not line.startswith("cpu_s")]
        lines += [f"cpu_s = {seconds:.0f}"] if seconds else []
        blocks[i] = "\n".join(lines) + "\n" * (2 if i < len(blocks) - 1 else 1)
    return BLOCK.join([head, *blocks])


def _seconds_of_a_unit(study: str) -> Iterator[tuple[str, float]]:
    """Yield the kept studies of a paper, with the mean CPU seconds of their units."""
    for folder in (FOLDERS / name for name in NAMES):
        name = read_json(folder / PLAN)["study"]
        if name in (study, f"{study}-throughput"):
            yield name, fmean(unit.seconds for unit in kept_in(folder).values())


def with_tables(page: str) -> str:
    """Return the text of the page with the current tables."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


def main() -> None:
    """Write the CPU seconds to the claims, and the tables to the page."""
    for paper in PAPERS:
        file = DATA / paper / "claims.toml"
        file.write_text(with_seconds(paper, file.read_text()))
    PAGE.write_text(with_tables(PAGE.read_text()))


if __name__ == "__main__":
    main()

"""Generator of the tables of claims in docs/results.md.

    python -m docs.claims      # updates the tables

A paper's claims are data of its folder in streamplace/papers; the kept results of its study in
benchmarks/studies decide them. `tests/docs` compares the tables with both.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from benchmarks.studies_again import FOLDERS, kept_in
from streamplace.papers.studies.claims import Claim, Claims, Verdict, Word

PAGE = Path(__file__).parent / "results.md"
ROOMS = ("ni2020", "orders", "giph", "doppler", "hsdag")
BEGIN, END = "<!-- claims: python -m docs.claims -->", "<!-- end of claims -->"
HEAD = "| in the paper | claim | published | here | setting | seeds, graphs | |"


def tables() -> str:
    """Return a heading, a sentence and a table for each paper, as Markdown."""
    return "\n\n".join("\n".join(_of_paper(Claims.of(room))) for room in ROOMS)


def _of_paper(claims: Claims) -> Iterator[str]:
    kept = kept_in(FOLDERS / claims.study)
    found = list(claims.verdicts([row for unit in kept.values() for row in unit.rows]))
    counts = Counter(verdict.word for _, verdict in found)
    yield f"### {claims.paper}"
    setting = f" Unless the row says otherwise: {claims.setting}." if claims.setting else ""
    numbers = ", ".join(f"{counts[word]} {word}" for word in get_args(Word))
    yield f"Of {len(found)} claims: {numbers}. Rows are those of `{claims.command}`.{setting}"
    yield ""
    yield HEAD
    yield "|---" * (HEAD.count("|") - 1) + "|"
    for claim, verdict in found:
        cells = (
            claim.place,
            claim.says,
            claim.published,
            _figure(verdict),
            "" if claim.open or claim.setting == claims.setting else claim.setting,
            _sample(verdict),
            _word(claim, verdict),
        )
        yield f"| {' | '.join(cells)} |"


def _figure(verdict: Verdict) -> str:
    if verdict.mean is None:
        return ""
    if verdict.low is None or verdict.high is None:
        return f"{verdict.mean:.3f}"
    return f"{verdict.mean:.3f} ({verdict.low:.3f} to {verdict.high:.3f})"


def _sample(verdict: Verdict) -> str:
    """Return the seeds of the system and of its rival, and the members of the sample."""
    if not verdict.seeds:
        return ""
    rival = f" and {verdict.rival_seeds}" if verdict.rival_seeds else ""
    return f"{verdict.seeds}{rival}, {verdict.members or '-'}"


def _word(claim: Claim, verdict: Verdict) -> str:
    """Return the verdict; of an undecided claim with the difference that would have shown."""
    if claim.open:
        return claim.open
    if verdict.word != "undecided":
        return f"**{verdict.word}**"
    if verdict.low is None or verdict.high is None:
        return "undecided: no interval"
    if claim.side == "near":
        return f"undecided: reaches beyond ±{claim.within:g}"
    return f"undecided; {(verdict.high - verdict.low) / 2.0:.3f} would show"


def with_tables(page: str) -> str:
    """Return the text of the page with the current tables."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


def main() -> None:
    """Write the tables to the page."""
    PAGE.write_text(with_tables(PAGE.read_text()))


if __name__ == "__main__":
    main()

"""The table of versions of Flink in Markdown."""

from collections.abc import Sequence
from typing import Any


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return one column per version, and a line per fact that differs or that was tried."""
    versions = [row["version"] for row in rows]
    lines = [f"| | {' | '.join(versions)} |", "|---|" + "---|" * len(versions)]
    for part in ("documents", "works"):
        names = dict.fromkeys(name for row in rows for name in row[part])
        for name in names:
            values = [_text(row[part].get(name, "")) for row in rows]
            if part == "works" or len(set(values)) > 1:
                lines.append(f"| {name} | {' | '.join(values)} |")
    return "\n".join(lines)


def _text(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text.replace("|", "\\|").replace("<", "&lt;")

"""Files of other programs from public repositories, read by `import`.

    python -m benchmarks.public_files FORMAT FOLDER

Prints how many of the files below FOLDER are read, and how many are refused for each reason, in
which names and numbers are left out. Operators and streams are counted in other ways, too: those of
DOT by Graphviz (`gc -n -e`), and those of Kafka Streams by the words of its text. Repositories and
their commits are in docs/reliability.md.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from streamplace.errors import StreamplaceError
from streamplace.formats.documents import read_document

Counts = tuple[int, int]
"""Numbers of operators and streams."""
NODE = re.compile(r"^\s*(Source|Sink|Processor): \S+ \((?:topics?: )?\[?([^\])]*)", re.MULTILINE)
ARROW = re.compile(r"--> (?!none)(.+)")


def main() -> None:
    """Read all files and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("format")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    files = sorted(file for file in arguments.folder.rglob("*") if file.is_file())
    count = COUNTED.get(arguments.format)
    found, differing = Counter[str](), []
    for file in files:
        try:
            graph = read_document(str(file), arguments.format).graph
        except StreamplaceError as error:
            found[without_names(str(error).removeprefix(f"{file}: "))] += 1
            continue
        found["read"] += 1
        if count and count(file) != (len(graph.operators), len(graph.streams)):
            differing.append(file.name)
    for what, files_of in found.most_common():
        print(f"{files_of:6,} {what}")
    if count:
        print(f"{len(differing):6,} with other numbers of operators or streams", *differing)
    elif arguments.format == "dot":
        print("numbers are not compared: Graphviz' program gc is not installed", file=sys.stderr)


def without_names(message: str) -> str:
    """Return a message with ``…`` for names and ``N`` for numbers, without the end of a list."""
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|(cycle|from|import): .*", r"\1…", message))


def of_graphviz(file: Path) -> Counts:
    """Return the numbers of nodes and edges that Graphviz counts."""
    done = subprocess.run(["gc", "-n", "-e", file], capture_output=True, check=True, timeout=60)
    nodes, edges, *_ = done.stdout.split()
    return int(nodes), int(edges)


def of_words(file: Path) -> Counts:
    """Return the numbers of nodes, and of arrows and topics that join two nodes."""
    text = file.read_text()
    nodes = [(kind, topics.split(", ")) for kind, topics in NODE.findall(text)]
    read = Counter(topic for kind, topics in nodes if kind == "Source" for topic in topics)
    arrows = sum(len(targets.split(",")) for targets in ARROW.findall(text))
    written = sum(read[topics[0]] for kind, topics in nodes if kind == "Sink")
    return len(nodes), arrows + written


COUNTED: dict[str, Callable[[Path], Counts]] = {"kafka-streams": of_words}
if shutil.which("gc"):
    COUNTED["dot"] = of_graphviz


if __name__ == "__main__":
    main()

"""How much of the packages a placement loads and passes through, and what subsystems share.

    python -m benchmarks.structure

`tests/test_structure.py` holds the counts to limits that only fall, and measures a window of
`watch` with a scripted Flink; times are only printed. `docs/subsystems.py` lists the subsystems.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from inspect import CO_OPTIMIZED
from io import StringIO
from itertools import pairwise
from statistics import median
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from benchmarks.bytecode import environment
from benchmarks.kinds import kind_tests
from benchmarks.messages import message_readings
from benchmarks.speed import REAL, cpu_of
from docs.layers import When, imports_in, loaded_with, modules
from docs.subsystems import CORE, SUBSYSTEMS, subsystem_of
from streamplace.cli.main import main as command

STARTS = ("streamplace.workflows.place", "streamplace.placers.auto")
FIRST_PLACE = """
import sys
import streamplace as sp
operators = [sp.Operator(name, 1000.0, 50.0) for name in "abcde"]
graph = sp.StreamGraph(operators, [sp.Stream(a, b) for a, b in zip("abcd", "bcde")])
sp.place(graph, "3x2500", source_rate=1e4, placer=sys.argv[1])
print(*sys.modules)
"""
Class = tuple[str, str]
"""Its module and its name."""
SHOWN: Class = "streamplace.display.mixins", "Displayable"
NO_RESULTS = "streamplace.problem.", "streamplace.sim."
WORD = re.compile(r"\w+")
ROUNDS = 3  # of each time; the median is printed


def loaded_eagerly() -> set[str]:
    """Return our modules that are loaded with `place` and the placer `auto`, packages included."""
    return loaded_with(*STARTS) & modules().keys()


def loaded_by_first_place(placer: str) -> set[str]:
    """Return the modules that a new process has loaded once it has placed one small graph."""
    run = [sys.executable, "-c", FIRST_PLACE, placer]
    done = subprocess.run(run, check=True, capture_output=True, text=True, env=environment())
    return set(done.stdout.split())


def is_ours(module: str) -> bool:
    """Return whether a module is part of our package."""
    return module.partition(".")[0] == "streamplace"


def imports_inside_functions() -> int:
    """Return the number of import statements inside functions."""
    known = modules()
    inside = {
        (path, each.line)
        for path in known.values()
        for each in imports_in(path, known)
        if each.when == "called"
    }
    return len(inside)


def core_to_subsystems() -> dict[When, set[tuple[str, str]]]:
    """Return the modules of the core that import modules of subsystems, as pairs, by when."""
    known = modules()
    found: dict[When, set[tuple[str, str]]] = {"loaded": set(), "called": set(), "checked": set()}
    for module, path in known.items():
        if subsystem_of(module) == CORE:
            for each in imports_in(path, known):
                if each.module in known and subsystem_of(each.module) != CORE:
                    found[each.when].add((module, each.module))
    return found


def repeated_class_names() -> set[str]:
    """Return the names that several classes of the core have."""
    core = [path for module, path in modules().items() if subsystem_of(module) == CORE]
    nodes = (node for path in core for node in ast.walk(ast.parse(path.read_text())))
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    return {name for name, count in names.items() if count > 1}


def nested_results() -> dict[str, int]:
    """Return how many results stand in one another, from each class that describes itself inwards.

    A result has a view, or fields that are classes of ours. Problems and arrays of `sim` do not
    count, nor do rows of tables, whose fields are numbers and names.
    """
    fields, bases = dict[Class, set[Class]](), dict[Class, set[Class]]()
    for module, path in modules().items():
        if not module.startswith(NO_RESULTS):
            tree = ast.parse(path.read_text())
            imported = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
            names = {
                each.name: (str(node.module), each.name) for node in imported for each in node.names
            }
            classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
            names |= {node.name: (module, node.name) for node in classes}
            for node in classes:
                typed = (each.annotation for each in node.body if isinstance(each, ast.AnnAssign))
                words = WORD.findall(" ".join(map(ast.unparse, typed)))
                fields[module, node.name] = {names[word] for word in words if word in names}
                of = map(ast.unparse, node.bases)
                bases[module, node.name] = {names[base] for base in of if base in names}

    def is_shown(each: Class) -> bool:
        return each == SHOWN or any(map(is_shown, bases.get(each, ())))

    def parts(each: Class) -> set[Class]:
        own = fields.get(each, set()) & fields.keys()
        return own.union(*map(parts, bases.get(each, ())))

    def depth(each: Class) -> int:
        inner = (part for part in parts(each) if is_shown(part) or parts(part))
        return 1 + max(map(depth, inner), default=0)

    return {name: depth((module, name)) for module, name in fields if is_shown((module, name))}


def imported_names() -> dict[str, int]:
    """Return, by subsystem, the number of names that modules outside of it import from it."""
    known = modules()
    used = {
        (each.module, each.name)
        for module, path in known.items()
        for each in imports_in(path, known)
        if each.module in known and subsystem_of(each.module) != subsystem_of(module)
    }
    counts = Counter(subsystem_of(module) for module, _ in used)
    return {subsystem: counts[subsystem] for subsystem in SUBSYSTEMS if subsystem != CORE}


def moves(call: Callable[[], object]) -> int:
    """Return how often the next function of ours that is called is in another module than the last.

    Bodies of modules and classes do not count as functions.
    """
    visited: list[str] = []

    def notice(frame: FrameType, event: str, _: Any) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED and is_ours(module):
            visited.append(module)

    sys.setprofile(notice)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sum(before != after for before, after in pairwise(visited))


def moves_of_placing(*options: str) -> int:
    """Return the moves of the second run of `place` on the starter graph of `init`."""
    with TemporaryDirectory() as folder:
        graph, cluster = f"{folder}/graph.json", f"{folder}/cluster.json"
        _run("init", folder)
        words = ("place", graph, "--cluster", cluster, *options)
        _run(*words)
        return moves(lambda: _run(*words))


def _run(*words: str) -> None:
    """Run a command, silently."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as errors:
        code = command(words)
    if code:
        raise SystemExit(f"streamplace {' '.join(words)}: {errors.getvalue()}")


def main() -> None:
    """Print one line per figure."""
    known, eager = modules(), loaded_eagerly()
    lines = sum(len(known[module].read_text().splitlines()) for module in eager)
    print(f"loaded with place and auto: {len(eager)} modules, {lines:,} lines")
    for placer in ("greedy", "auto"):
        ours = sum(map(is_ours, loaded_by_first_place(placer)))
        print(f"loaded by a first place by {placer}: {ours} modules")
    print(f"imports inside functions: {imports_inside_functions()}")
    print(f"class names of the core that repeat: {len(repeated_class_names())}")
    print(f"results in one another: {max(nested_results().values())}")
    print(f"sites that read the text of an error: {len(message_readings(known.values()))}")
    print(f"lines that test the kind of an objective: {len(kind_tests(known.values()))}")
    for when, pairs in core_to_subsystems().items():
        subsystems = Counter(subsystem_of(imported) for _, imported in pairs)
        most = ", ".join(f"{subsystem} {count}" for subsystem, count in subsystems.most_common())
        print(f"imports of subsystems by the core, {when}: {len(pairs)} ({most})")
    for subsystem, count in imported_names().items():
        print(f"names imported from {subsystem}: {count}")
    print(f"moves of place by greedy: {moves_of_placing('--placer', 'greedy')}")
    print(f"moves of place by auto: {moves_of_placing()}")
    for placer in ("greedy", "auto"):
        seconds = median(cpu_of(placer, script=FIRST_PLACE) for _ in range(ROUNDS))
        print(f"first place by {placer} from Python: {seconds:.2f} CPU s")
    seconds = median(cpu_of("place", REAL, "--devices", "5x2500") for _ in range(ROUNDS))
    print(f"command place: {seconds:.2f} CPU s")


if __name__ == "__main__":
    main()

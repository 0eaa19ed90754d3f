"""The function that atheris calls for each input: a target.

python -m tests.hardening.fuzz TARGET FOLDER [OPTION …]

The options are those of libFuzzer. The folder gets the seeds of the target first.
"""

import os
import shlex
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import atheris

from docs.layers import modules

KERNELS = [  # numba compiles no instrumented code
    name for name, path in modules().items() if "sim.jit import" in path.read_text()
]
with (
    atheris.instrument_imports(include=["streamplace"], exclude=KERNELS),
    warnings.catch_warnings(),
):
    warnings.simplefilter("ignore")  # warnings of other libraries
    from tests.corpus.seed_archives import seeds
    from tests.hardening import readers
    from tests.hardening.every_target import TARGETS
    from tests.hardening.inputs import document_of, input_of, names_of


def checker(name: str) -> Callable[[bytes], object]:
    """Return a target as a function of bytes: a file of a reader, or choices of Hypothesis."""
    kind, _, short = name.partition(" ")
    if kind != "reader":
        fuzz: Callable[[bytes], object] = TARGETS[name].test(1).hypothesis.fuzz_one_input
        return fuzz
    names = names_of(readers.documents(short))
    return lambda data: readers.check(short, document_of(names, data))


def write_seeds(name: str, folder: Path) -> None:
    """Write the inputs of earlier fuzzing and the valid files of a reader."""
    kind, _, short = name.partition(" ")
    if kind == "reader":
        documents = readers.documents(short)
        good = [input_of(names_of(documents), document) for document in documents]
        for number, data in enumerate([*seeds(short), *good]):
            (folder / f"seed-{number}").write_bytes(data)


def main() -> None:
    """Fuzz a target."""
    name, folder, *options = sys.argv[1:]
    write_seeds(name, Path(folder))
    for case in TARGETS[name].seeds():  # loads everything that is loaded only once
        TARGETS[name].check(case)
    restart = Path(folder).with_suffix(".sh")
    words = [sys.executable, "-m", "tests.hardening.fuzz", name, folder]
    restart.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    restart.chmod(0o700)
    atheris.Setup([os.fspath(restart), *options, folder], checker(name), internal_libfuzzer=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

"""Valid commands with torch, run on import with one thread: a fork of more threads would hang."""

import contextlib
import io
import tempfile
import warnings
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # warnings of other libraries
    import torch

    import streamplace.policy.inspect
    import streamplace.policy.ni2020.network
    import streamplace.policy.placer
    import streamplace.policy.placeto.network
    import streamplace.training.trainer  # noqa: F401
from benchmarks.hardening.corpus import study_files
from benchmarks.hardening.targets.commands import STUDY, GoodFiles, write_good_files
from streamplace.cli.main import main

torch.set_num_threads(1)
with (
    tempfile.TemporaryDirectory() as made,
    contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())),
    contextlib.redirect_stderr(io.StringIO()),
):
    paths = {name: str(path) for name, path in write_good_files(Path(made)).paths.items()}
    run = f"{made}/run"
    main(["train", paths["GRAPH"], "--config", paths["CONFIG"], "-o", run])
    main(["place", paths["GRAPH"], "--placer", f"policy:file={run}/policy.safetensors"])
    main(["info", f"{run}/checkpoint.safetensors"])
    study = Path(made) / "study"
    study.mkdir()
    for document in study_files.documents():
        (study / document.name).write_bytes(document.data)
    words = GoodFiles(paths).filled(STUDY, str(study), "")
    assert main(words) == main([*words, "--json"]) == 0
    results = study / study_files.results_document().name
    first, *others = results.read_text().splitlines(keepends=True)
    results.write_text("".join(others))
    assert main(words) == 0  # computes the missing unit, for which kernels are compiled

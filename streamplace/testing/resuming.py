"""The check that interrupted training goes on as if it had not been interrupted."""

from pathlib import Path
from tempfile import TemporaryDirectory

from streamplace.testing.case import SOURCE_RATE, PolicyCase, graph_of
from streamplace.training.algorithms.base import Record
from streamplace.training.config import ProblemsSection, RunSection, TrainConfig
from streamplace.training.run import Trained
from streamplace.training.stages import DaggerStage, ReinforceStage
from streamplace.training.trainer import train

GRAPHS, OPERATORS = 4, 8
STOPS = (1, 3)  # in the first stage, and in the second


class _PowerFailure(Exception):  # noqa: N818 - an event of the check, not a fault
    """The run ends without being asked."""


def check_resuming(case: PolicyCase) -> None:
    """Check that a run cut off in either of two stages ends with the same parameters."""
    config = _config(case)
    with TemporaryDirectory() as folder:
        expected = _run(config, Path(folder) / "whole").parameter_hash
        for stop in STOPS:
            cut = Path(folder) / f"cut-{stop}"
            try:
                _run(config, cut, stop)
            except _PowerFailure:
                found = _run(config, cut, resume=True).parameter_hash
            fault = f"a run resumed after step {stop} ends with other parameters"
            case.require(found == expected, "resuming", fault)


def _config(case: PolicyCase) -> TrainConfig:
    """Return a run of two stages with two steps each: by an expert, then by REINFORCE."""
    devices = f"{case.devices}x2500"
    return TrainConfig(
        policy=case.section,
        problems=[ProblemsSection(devices=[devices], source_rates=[SOURCE_RATE])],
        stage=[
            DaggerStage(algorithm="dagger", epochs=1, problems_per_step=2),
            ReinforceStage(algorithm="reinforce", epochs=1, problems_per_step=2),
        ],
        run=RunSection(checkpoint_every=1, threads=1, seed=case.seed),
    )


def _run(
    config: TrainConfig, folder: Path, stop: int | None = None, *, resume: bool = False
) -> Trained:
    def on_step(record: Record) -> None:
        if record["step"] == stop:
            raise _PowerFailure

    graphs = [graph_of(OPERATORS, number) for number in range(GRAPHS)]
    return train(graphs, config, folder, resume=resume, on_step=on_step)

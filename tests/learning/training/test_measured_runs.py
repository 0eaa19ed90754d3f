"""Runs with a stage of measured running times: budget, best placements, failures, interruptions."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from benchmarks.reference.trainings import config_of, graphs
from streamplace import read_placement
from streamplace.cli.main import main
from streamplace.errors import CheckpointError, FormatError, TrainingError, UsageError
from streamplace.files import write_dataset, write_json
from streamplace.learning.training import fit, train
from streamplace.learning.training.in_memory import fit_each
from streamplace.learning.training.measuring.measurement_log import MEASUREMENTS
from streamplace.learning.training.measuring.measurements import FASTEST
from tests.support.measures import Modelled, fails_at, interrupts_at, modelled_s
from tests.support.stages import (
    loop_of,
    reinforce,
    small_policy,
    small_problems,
    stages_of,
)
from tests.support.training_runs import check_finite, check_same, ctrl_c_at, log_of

BUDGET = 5
ONE = {"memory": {"size": 1, "samples": 1, "threshold": -1e9}}


def measured(**keys: Any) -> dict[str, Any]:
    """Return a stage that measures at most five placements of each problem."""
    own = {"reward": "log-loss", "measurements": BUDGET, "epochs": 4, "problems_per_step": 5}
    return reinforce(**ONE | own | keys)


def config(**keys: Any) -> Any:
    """Return the config of a simulated stage and of a measured one, on five problems."""
    simulated = reinforce(reward="log", problems_per_step=5, **ONE)
    return config_of(simulated, measured(**keys), problems={"devices": ["3x2500"]})


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Return the measurements in a run folder."""
    _, *lines = (folder / MEASUREMENTS).read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("measured") / "run"
    assert not train(graphs(), config(), folder, measure=Modelled()).interrupted
    return folder


def test_the_stage_ends_when_the_budget_is_spent(uninterrupted: Path) -> None:
    """Four epochs of three samples would be more placements than five."""
    check_finite(uninterrupted)
    lines = log_of(uninterrupted)
    per_problem = np.bincount([line["problem"] for line in lines_of(uninterrupted)])
    assert per_problem.tolist() == [BUDGET] * 5
    assert lines[-1]["measurements"] == 5 * BUDGET
    assert lines[-1]["progress"] == 1
    assert "validation" in lines[-1]
    assert len(lines) < 1 + 4


def test_the_fastest_placements_are_written(uninterrupted: Path) -> None:
    """They are the fastest measured ones, in seconds that the simulator does not know."""
    lines = lines_of(uninterrupted)
    for number in range(5):
        placement = read_placement(uninterrupted / FASTEST / f"{number}.json")
        fastest = min(line["seconds"] for line in lines if line["problem"] == number)
        assert modelled_s(placement.devices[None])[0] == fastest


@pytest.mark.parametrize("step", [1, 2])
def test_an_interruption_after_a_step(step: int, uninterrupted: Path, tmp_path: Path) -> None:
    measure, run = Modelled(), tmp_path / "run"
    assert train(graphs(), config(), run, measure=measure, on_step=ctrl_c_at(step)).interrupted
    assert not train(graphs(), config(), run, measure=measure, resume=True).interrupted
    check_same(run, uninterrupted)
    assert len(measure.rows) == len(set(measure.rows)) == 5 * BUDGET


@pytest.mark.parametrize("call", range(1, 16, 2))
def test_an_interruption_while_measuring(call: int, uninterrupted: Path, tmp_path: Path) -> None:
    """The step is not taken, but what has been measured is kept and not measured again."""
    measure, run = interrupts_at(call), tmp_path / "run"
    if train(graphs(), config(), run, measure=measure).interrupted:
        assert measure.calls == call
        train(graphs(), config(), run, measure=measure, resume=True)
    check_same(run, uninterrupted)
    assert (run / MEASUREMENTS).read_text() == (uninterrupted / MEASUREMENTS).read_text()
    assert len(measure.rows) == len(set(measure.rows)) == 5 * BUDGET


@pytest.mark.parametrize("call", [1, 7, 9])
def test_a_failed_measurement_ends_the_run_and_loses_nothing(
    call: int, uninterrupted: Path, tmp_path: Path
) -> None:
    measure, run = fails_at(call), tmp_path / "run"
    down = r"measures:Modelled': .*the system is down; stopped after step \d; resume with --resume$"
    with pytest.raises(TrainingError, match=down):
        train(graphs(), config(), run, measure=measure)
    train(graphs(), config(), run, measure=measure, resume=True)
    check_same(run, uninterrupted)
    assert len(measure.rows) == len(set(measure.rows)) == 5 * BUDGET


def test_a_failure_before_the_first_step_leaves_nothing_to_resume(tmp_path: Path) -> None:
    """The same command starts anew, perhaps with a changed config."""
    alone = config_of(measured(epochs=1), problems={"devices": ["3x2500"]})
    with pytest.raises(TrainingError, match=r"the system is down$"):
        train(graphs(), alone, tmp_path, measure=fails_at(1))
    with pytest.raises(CheckpointError, match="no checkpoint to resume; leave out --resume"):
        train(graphs(), alone, tmp_path, measure=Modelled(), resume=True)
    assert not train(graphs(), alone, tmp_path, measure=Modelled()).interrupted


@pytest.mark.parametrize("call", [1, 8])
def test_a_failure_after_ctrl_c_is_an_interruption(
    call: int, uninterrupted: Path, tmp_path: Path
) -> None:
    """A terminal sends Ctrl-C also to the programs that a measure waits for, which fail then."""

    def event(number: int) -> None:
        if number == call:
            signal.raise_signal(signal.SIGINT)
            raise RuntimeError("the program was interrupted")

    measure, run = Modelled(event), tmp_path / "run"
    assert train(graphs(), config(), run, measure=measure).interrupted
    assert not train(graphs(), config(), run, measure=measure, resume=True).interrupted
    check_same(run, uninterrupted)


def test_the_measurements_of_another_run_are_refused(uninterrupted: Path, tmp_path: Path) -> None:
    (tmp_path / MEASUREMENTS).write_bytes((uninterrupted / MEASUREMENTS).read_bytes())
    with pytest.raises(FormatError, match="other problems or by another measure"):
        train(graphs()[1:], config(), tmp_path, measure=Modelled())


def test_placements_of_earlier_stages_are_measured_anew() -> None:
    """The memory has only measured rewards, and the best one is the fastest that was measured."""
    problems, measure = small_problems(), Modelled()
    stages = stages_of(reinforce(reward="log", **ONE), measured(epochs=2))
    fitted = fit(small_policy(), problems, stages, np.random.default_rng(0), measure=measure)
    for best, problem in zip(fitted.best, problems, strict=True):
        assert best is not None
        rows = [row for name, row in measure.rows if name == problem.graph.name]
        times = modelled_s(np.array([np.frombuffer(row, np.int32) for row in rows]))
        assert modelled_s(best.devices[None])[0] == times.min()


def test_only_as_many_earlier_placements_are_measured_as_the_memory_holds() -> None:
    problems, measure = small_problems(), Modelled()
    many = reinforce(samples=6, memory={"size": 6, "threshold": -1e9})
    stages = stages_of(many, measured(epochs=1))
    fit(small_policy(), problems, stages, np.random.default_rng(0), measure=measure)
    first = measure.rows[: len(problems)]
    assert [name for name, _ in first] == [problem.graph.name for problem in problems]


def test_a_memory_without_room_still_measures_the_best_earlier_placement() -> None:
    problems, measure = small_problems()[:1], Modelled()
    stages = stages_of(reinforce(**ONE), measured(epochs=1, memory={"size": 0}, measurements=1))
    fit(small_policy(), problems, stages, np.random.default_rng(0), measure=measure)
    assert len(measure.rows) == 1


def test_the_policy_learns_to_be_fast() -> None:
    """Everything on device 0 is fastest; the simulator would spread the operators."""
    problems = small_problems()[:1]
    learning = measured(epochs=60, measurements=200, samples=8, optimiser={"rate": 0.02})
    policy, measure = small_policy(), Modelled()
    records = fit(
        policy, problems, stages_of(learning), np.random.default_rng(0), measure=measure
    ).records
    rewards = [record["reward"] for record in records]
    assert np.mean(rewards[-5:]) > np.mean(rewards[:5]) + 0.1


def test_validation_stays_simulated() -> None:
    problems, measure = small_problems(), Modelled()
    stages, rng = stages_of(measured(epochs=1)), np.random.default_rng(0)
    fitted = fit(small_policy(), problems[:1], stages, rng, held_out=problems[1:], measure=measure)
    assert "validation" in fitted.records[-1]
    assert {name for name, _ in measure.rows} == {problems[0].graph.name}


def test_what_needs_a_measure_is_refused_without_one() -> None:
    stages, rng = stages_of(measured()), np.random.default_rng(0)
    with pytest.raises(UsageError, match="nothing to measure with"):
        fit(small_policy(), small_problems(), stages, rng)
    with pytest.raises(UsageError, match=r"stages\[0\].measurements: not with fit_each"):
        fit_each(config().policy, small_problems(), stages, rng)
    loop = loop_of([reinforce()])
    assert loop.learner.measurements is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"reward": "log"}, "measured running times need 'log-loss' or 'sqrt-loss' or 'loss'"),
        ({"model": "path-average"}, "running times are measured, not simulated"),
        ({"measurements": -1}, "greater than or equal to 0"),
    ],
)
def test_stages_that_cannot_be_measured_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        stages_of(measured(**keys))


def test_a_config_that_names_what_no_package_registers_is_refused() -> None:
    with pytest.raises(ValidationError, match="no installed package registers one"):
        config_of(measured(), run={"measure": "cluster"})
    with pytest.raises(ValidationError, match="a file cannot load a module"):
        config_of(measured(), run={"measure": "tests.support.measures:Modelled"})


def test_a_measure_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dataset(tmp_path / "graphs.jsonl", graphs())
    write_json(tmp_path / "config.json", config().model_dump(mode="json"))
    words = ("train", tmp_path / "graphs.jsonl", "--config", tmp_path / "config.json", "-q")
    command = [*map(str, words), "-o", str(tmp_path / "run")]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert error.startswith("streamplace: stage[1].measurements: nothing to measure with; name a")
    assert not (tmp_path / "run").exists()
    assert main([*command, "--measure", "tests.support.measures:Modelled"]) == 0
    assert len(lines_of(tmp_path / "run")) == 5 * BUDGET

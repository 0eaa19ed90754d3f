"""Resumed runs equal uninterrupted runs to the last bit."""

import resource
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.reference.trainings import config, graphs, of_kind, opened, resumed
from streamplace.errors import CheckpointError, FormatError, StreamplaceError
from streamplace.files.training_logs import CHECKPOINT, CONFIG, POLICY, read_log
from streamplace.learning.policy.weights import parameter_hash
from streamplace.learning.training import TrainConfig, train
from streamplace.learning.training.algorithms.base import Record
from streamplace.placers.running import run_placer
from streamplace.problem.problem import Problem
from tests.support.training_runs import STEPS_PER_EPOCH, check_finite, check_same, ctrl_c_at, log_of

EPOCHS, TEACHER = 2, {"placer": "greedy", "epochs": 1}
FinishedRun = tuple[TrainConfig, Path]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("device-scorer", 0), id="scorer", marks=pytest.mark.long),
        pytest.param(("device-scorer", 1), id="scorer, teacher"),
        pytest.param(("encoder-decoder", 0), id="decoder"),
        pytest.param(("encoder-decoder", 1), id="decoder, teacher", marks=pytest.mark.long),
    ],
)
def uninterrupted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> FinishedRun:
    """Return a config and the folder of its uninterrupted run."""
    kind, taught = request.param
    cfg = config(of_kind(kind), **({"teacher": TEACHER} if taught else {}))
    folder = tmp_path_factory.mktemp("uninterrupted") / "run"
    done = train(graphs(), cfg, folder)
    assert (done.steps, done.epochs) == ((EPOCHS + taught) * STEPS_PER_EPOCH, EPOCHS + taught)
    return cfg, folder


@pytest.mark.parametrize(
    "stops",
    [(STEPS_PER_EPOCH,), (STEPS_PER_EPOCH + 1,), (1, 2, 5)],
    ids=["between epochs", "within an epoch", "several times"],
)
def test_an_interrupted_run_resumes(
    stops: tuple[int, ...], uninterrupted: FinishedRun, tmp_path: Path
) -> None:
    cfg, expected = uninterrupted
    for i, stop in enumerate(stops):
        done = train(graphs(), cfg, tmp_path / "run", resume=i > 0, on_step=ctrl_c_at(stop))
        assert (done.steps, done.interrupted) == (stop, True)
        check_finite(tmp_path / "run")
        assert [line["step"] for line in log_of(tmp_path / "run")] == [*range(1, stop + 1)]
    done = train(graphs(), cfg, tmp_path / "run", resume=True)
    assert not done.interrupted
    check_same(tmp_path / "run", expected)


def test_ctrl_c_ends_the_placers_beside_the_validation_at_once(
    uninterrupted: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cfg, expected = uninterrupted
    calls: list[str] = []

    def interrupted(problem: Problem, placer: str, rng: Any) -> Any:
        calls.append(placer)
        signal.raise_signal(signal.SIGINT)
        return run_placer(problem, placer, rng)

    with monkeypatch.context() as patched:
        patched.setattr("streamplace.learning.training.baselines.run_placer", interrupted)
        done = train(graphs(), cfg, tmp_path / "run")
    assert (done.steps, done.interrupted) == (STEPS_PER_EPOCH - 1, True)
    assert len(calls) == 1
    assert not train(graphs(), cfg, tmp_path / "run", resume=True).interrupted
    check_same(tmp_path / "run", expected)


def test_a_resumed_run_writes_the_same_policy_file(
    uninterrupted: FinishedRun, tmp_path: Path
) -> None:
    """Bytes and not only tensors are equal, so the file's hash identifies the policy."""
    cfg, expected = uninterrupted
    train(graphs(), cfg, tmp_path / "run", on_step=ctrl_c_at(2))
    train(graphs(), cfg, tmp_path / "run", resume=True)
    assert (tmp_path / "run" / POLICY).read_bytes() == (expected / POLICY).read_bytes()


@pytest.mark.parametrize("step", [1, 5])
def test_a_crashed_run_resumes_from_the_last_checkpoint(
    step: int, uninterrupted: FinishedRun, tmp_path: Path
) -> None:
    """Lines of the log after the last checkpoint are replaced, not repeated."""
    cfg, expected = uninterrupted

    def on_step(record: Record) -> None:
        if record["step"] == step:
            raise RuntimeError("simulated power failure")

    with pytest.raises(RuntimeError, match="power"):
        train(graphs(), cfg, tmp_path / "run", on_step=on_step)
    assert len(log_of(tmp_path / "run")) == step
    saved = step - step % cfg.run.checkpoint_every
    if saved:
        with resumed(cfg, tmp_path / "run") as run:
            assert run.loop.position.step == saved
        assert len(log_of(tmp_path / "run")) == saved
    train(graphs(), cfg, tmp_path / "run", resume=saved > 0)
    check_same(tmp_path / "run", expected)


def test_the_log_has_a_line_per_step(uninterrupted: FinishedRun) -> None:
    cfg, folder = uninterrupted
    lines, steps = log_of(folder), cfg.epochs * STEPS_PER_EPOCH
    assert [line["step"] for line in lines] == [*range(1, steps + 1)]
    assert [line["epoch"] for line in lines] == [i // STEPS_PER_EPOCH for i in range(steps)]
    validated = [line["step"] for line in lines if "validation" in line]
    assert validated == [*range(STEPS_PER_EPOCH, steps + 1, STEPS_PER_EPOCH)]
    imitated = sum(s.epochs for s in cfg.stage if s.algorithm == "imitation") * STEPS_PER_EPOCH
    assert ["reward" in line for line in lines] == [i >= imitated for i in range(steps)]
    for line in lines[imitated:]:
        assert 0 < line["reward"] <= 1
        assert line["entropy"] > 0
        assert line["best"] >= line["reward"] - 1e-9


def test_every_record_is_logged(tmp_path: Path) -> None:
    records: list[Record] = []
    train(graphs(), config(), tmp_path / "run", on_step=records.append)
    assert records == log_of(tmp_path / "run")


def test_resuming_a_finished_run_changes_nothing(
    uninterrupted: FinishedRun, tmp_path: Path
) -> None:
    cfg, expected = uninterrupted
    shutil.copytree(expected, tmp_path / "run")
    done = train(graphs(), cfg, tmp_path / "run", resume=True)
    assert not done.interrupted
    check_same(tmp_path / "run", expected)


@pytest.mark.parametrize("every", [1, 100])
def test_the_checkpoint_interval_does_not_change_the_result(every: int, tmp_path: Path) -> None:
    changed = config(run={"checkpoint_every": every})
    hashes = {
        train(graphs(), cfg, tmp_path / name).parameter_hash
        for name, cfg in (("a", changed), ("b", config()))
    }
    assert len(hashes) == 1
    assert (tmp_path / "a/log.jsonl").read_text() == (tmp_path / "b/log.jsonl").read_text()


@pytest.mark.parametrize(
    "sections",
    [{"run": {"seed": 1}}, {"stage": {"samples": 4}}, {"optimiser": {"rate": 2e-3}}],
    ids=str,
)
def test_another_config_trains_other_parameters(
    sections: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    """If the config had no effect, the tests above would prove nothing."""
    hashes = {
        train(graphs(), cfg, tmp_path / name).parameter_hash
        for name, cfg in (("a", config()), ("b", config(sections)))
    }
    assert len(hashes) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_after_the_step(number: signal.Signals, tmp_path: Path) -> None:
    """The earlier handler of the signal is restored."""

    def on_step(record: Record) -> None:
        signal.raise_signal(number)

    before = signal.getsignal(number)
    done = train(graphs(), config(), tmp_path / "run", on_step=on_step)
    assert signal.getsignal(number) == before
    assert (done.steps, done.interrupted) == (1, True)
    tensors, _ = opened(tmp_path / "run" / POLICY)
    with resumed(config(), tmp_path / "run") as run:
        assert run.loop.position.step == 1
        assert parameter_hash(run.policy) == done.parameter_hash
        state = run.policy.state_dict()
        assert [name for name in tensors if not torch.equal(tensors[name], state[name])] == []


@pytest.mark.parametrize("options", [{"checkpoint_every": 100}, {"half": True}], ids=str)
def test_a_resumed_run_may_be_saved_differently(
    options: dict[str, Any], uninterrupted: FinishedRun, tmp_path: Path
) -> None:
    cfg, expected = uninterrupted
    changed = cfg.model_copy(update={"run": cfg.run.model_copy(update=options)})
    train(graphs(), cfg, tmp_path / "run", on_step=ctrl_c_at(2))
    train(graphs(), changed, tmp_path / "run", resume=True)
    assert (tmp_path / "run/log.jsonl").read_text() == (expected / "log.jsonl").read_text()
    (tensors, _), (same, _) = opened(tmp_path / "run" / CHECKPOINT), opened(expected / CHECKPOINT)
    assert [name for name in same if not torch.equal(tensors[name], same[name])] == []
    (tensors, _), (full, _) = opened(tmp_path / "run" / POLICY), opened(expected / POLICY)
    kind = torch.float16 if options.get("half") else torch.float32
    assert [name for name in full if not torch.equal(tensors[name], full[name].to(kind))] == []


def test_a_folder_with_a_run_is_refused(uninterrupted: FinishedRun, tmp_path: Path) -> None:
    cfg, expected = uninterrupted
    shutil.copytree(expected, tmp_path / "run")
    with pytest.raises(
        CheckpointError, match="already contains a run; add --resume, or resume=True in Python, or"
    ):
        train(graphs(), cfg, tmp_path / "run")
    check_same(tmp_path / "run", expected)


@pytest.mark.parametrize("folder_exists", [True, False])
def test_resuming_requires_a_checkpoint(folder_exists: bool, tmp_path: Path) -> None:
    if folder_exists:
        (tmp_path / "run").mkdir()
    with pytest.raises(CheckpointError, match="no checkpoint to resume"):
        train(graphs(), config(), tmp_path / "run", resume=True)
    assert [path.name for path in tmp_path.rglob("*")] == ["run"] * folder_exists


def test_the_files_of_a_run_folder(uninterrupted: FinishedRun) -> None:
    _, folder = uninterrupted
    files = {path.name for path in folder.iterdir() if path.is_file()}
    assert files == {CONFIG, CHECKPOINT, POLICY, "log.jsonl"}


@contextmanager
def full_disk(max_bytes: int) -> Iterator[None]:
    """Limit the size of files, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_when_the_run_resumes(tmp_path: Path) -> None:
    """No line of the log is lost, and no step is repeated."""
    train(graphs(), config(), tmp_path / "uninterrupted")
    train(graphs(), config(), tmp_path / "run", on_step=ctrl_c_at(4))
    log = tmp_path / "run" / "log.jsonl"
    with full_disk(log.stat().st_size // 2), pytest.raises((StreamplaceError, OSError)):
        train(graphs(), config(), tmp_path / "run", resume=True)
    assert [line["step"] for line in log_of(tmp_path / "run")] == [1, 2, 3, 4]
    train(graphs(), config(), tmp_path / "run", resume=True)
    check_same(tmp_path / "run", tmp_path / "uninterrupted")


def test_a_disk_that_fills_during_the_run(uninterrupted: FinishedRun, tmp_path: Path) -> None:
    """The last checkpoint is kept, and no partial one is left behind."""
    cfg, expected = uninterrupted
    size = (expected / CHECKPOINT).stat().st_size
    with ExitStack() as stack:

        def on_step(record: Record) -> None:
            if record["step"] == 2:
                stack.enter_context(full_disk(size // 2))

        with pytest.raises(StreamplaceError, match=r"checkpoint.safetensors: cannot write"):
            train(graphs(), cfg, tmp_path / "run", on_step=on_step)
    names = {path.name for path in (tmp_path / "run").iterdir() if path.is_file()}
    assert names == {CONFIG, CHECKPOINT, POLICY, "log.jsonl"}
    train(graphs(), cfg, tmp_path / "run", resume=True)
    check_same(tmp_path / "run", expected)


def test_an_incomplete_line_of_the_log_is_removed(tmp_path: Path) -> None:
    """Resuming drops the incomplete last line and all lines after the checkpoint."""
    train(graphs(), config(), tmp_path / "uninterrupted")
    train(graphs(), config(), tmp_path / "run", on_step=ctrl_c_at(4))
    log = tmp_path / "run" / "log.jsonl"
    log.write_bytes(log.read_bytes() + b'{"loss": 0.1, "step": 5}\n{"loss": 0.2, "st')
    train(graphs(), config(), tmp_path / "run", resume=True)
    check_same(tmp_path / "run", tmp_path / "uninterrupted")


def test_a_step_is_logged_immediately(tmp_path: Path) -> None:
    """If the run is killed, the log has the steps after the last checkpoint."""
    records: list[Record] = []

    def on_step(record: Record) -> None:
        records.append(record)
        assert log_of(tmp_path / "run") == records

    train(graphs(), config(run={"checkpoint_every": 100}), tmp_path / "run", on_step=on_step)
    assert records


def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    """The error names the log, and the run can start again."""
    folder = tmp_path / "run"
    rare = config(run={"checkpoint_every": 100})
    with ExitStack() as stack:

        def on_step(record: Record) -> None:
            if record["step"] == 2:
                stack.enter_context(full_disk((folder / "log.jsonl").stat().st_size + 10))

        with pytest.raises(FormatError, match=r"log.jsonl: cannot write: File too large"):
            train(graphs(), rare, folder, on_step=on_step)
    assert [line["step"] for line in read_log(folder)] == [1, 2]
    train(graphs(), rare, folder)


def test_a_tensorboard_log_that_cannot_be_written(
    uninterrupted: FinishedRun, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The run warns once, continues without TensorBoard, and has the same result."""
    pytest.importorskip("tensorboard")
    cfg, expected = uninterrupted

    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "tensorboard").touch()  # a file in place of the folder
    train(graphs(), cfg, tmp_path / "run")
    (message,) = caplog.messages
    assert message.startswith(f"{tmp_path / 'run' / 'tensorboard'}: TensorBoard logging stopped: ")
    check_same(tmp_path / "run", expected)


def test_two_runs_cannot_share_a_folder(uninterrupted: FinishedRun, tmp_path: Path) -> None:
    cfg, expected = uninterrupted

    def on_step(record: Record) -> None:
        with pytest.raises(
            FormatError, match="another run of streamplace is writing into this folder"
        ):
            train(graphs(), cfg, tmp_path / "run", resume=record["step"] > 2)

    train(graphs(), cfg, tmp_path / "run", on_step=on_step)
    check_same(tmp_path / "run", expected)

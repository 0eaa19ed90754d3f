"""Training configs: the shipped ones, and refusals of bad ones."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchmarks.reference.trainings import SMALL, config, graphs
from streamplace.errors import StreamplaceError
from streamplace.policy.registry import make_policy
from streamplace.training import TrainConfig, config_names, read_config, train
from tests.support.guards import hang_guard


def refusal_of(name: str) -> str:
    """Read a config that must be refused, and return the error."""
    with pytest.raises(StreamplaceError) as refused:
        read_config(name)
    assert refused.value.exit_code == 2
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_config_is_read_without_torch() -> None:
    """With torch an error about a misspelt word took 200 MB and two seconds more."""
    program = "import sys; from streamplace.training import read_config; read_config('best'); "
    program += "assert 'torch' not in sys.modules; from streamplace.training import train; train"
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_some_are_shipped() -> None:
    assert {"best", "paper", "b", "b-f1", "b-f1-f2"} <= set(config_names())


@pytest.mark.parametrize("name", config_names())
def test_every_shipped_config_makes_its_policy(name: str) -> None:
    wanted = read_config(name)
    policy = make_policy(wanted.policy)
    assert sum(p.numel() for p in policy.parameters()) > 0


def test_a_name_that_is_shipped_comes_before_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("paper").write_text("not TOML")
    assert read_config("paper").policy.kind == "encoder-decoder"


def test_a_file_need_not_be_called_toml(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(SMALL)
    assert read_config(str(file)) == config()


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "windows.toml"
    file.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert read_config(str(file)) == config()


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    assert refusal_of("bset") == "no config is called 'bset'; did you mean 'best'?"
    said = refusal_of("nothing like it")
    assert "'nothing like it'" in said
    assert [name for name in config_names() if name not in said] == []


def test_a_file_that_is_not_there() -> None:
    assert "absent.toml: no such file" in refusal_of("absent.toml")


@pytest.mark.parametrize("name", ["folder", "folder.toml"])
def test_a_directory(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    assert f"{name}: cannot read: Is a directory" in refusal_of(str(tmp_path / name))


@pytest.mark.parametrize("name", ["", ".", "n" * 300, "n" * 300 + ".toml", "a\0b", "a\0b.toml"])
def test_a_name_of_no_file(name: str) -> None:
    refusal_of(name)


@pytest.mark.parametrize("opening", ["x = " + "[" * 100_000, "x = " + "{a=" * 100_000])
def test_deep_nesting(opening: str, tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text(opening)
    assert "deep.toml: nested too deeply" in refusal_of(str(tmp_path / "deep.toml"))


@pytest.mark.parametrize(
    "number", ["9" * 5000, "0x" + "f" * 5000, "[{a = [0o" + "7" * 6000 + "]}]"]
)
def test_an_integer_too_long_to_be_printed(
    number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pydantic failed to print the repr of such integers, and wrote to stderr."""
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    file = tmp_path / "long.toml"
    file.write_text(f"{SMALL}\n[other]\nx = {number}")
    said = refusal_of(str(file))
    assert said.startswith(f"{file}: ")
    assert "an integer has too many digits" in said
    assert ignored == []


def test_a_config_does_not_change(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        config().run.seed = 3  # type: ignore[misc]


def test_reading_back_what_a_run_writes_of_it() -> None:
    """The JSON in a run folder holds the whole config, so the run can be repeated."""
    wanted = config()
    assert TrainConfig.model_validate(wanted.model_dump(mode="json")) == wanted


@pytest.mark.parametrize(
    ("problems", "named"),
    [
        ({"operators": [500, 600]}, "make 0 problems"),
        ({"share": 0.0}, "make 0 problems"),
    ],
    ids=["too large", "no share"],
)
def test_groups_that_leave_no_problem(
    problems: dict[str, object], named: str, tmp_path: Path
) -> None:
    """Without graphs to learn from no step would ever be done."""
    with hang_guard(), pytest.raises(StreamplaceError, match=named):
        train(graphs(), config(problems=problems), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rate", [1e-12, 1e300])
def test_a_source_rate_out_of_range(rate: float, tmp_path: Path) -> None:
    with pytest.raises(StreamplaceError, match="source_rate"):
        train(graphs(), config(problems={"source_rates": [rate]}), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("held_out", [6, 7, 10**6])
def test_more_graphs_held_out_than_there_are(held_out: int, tmp_path: Path) -> None:
    with pytest.raises(StreamplaceError, match=f"6 graphs.*{held_out}"):
        train(graphs(), config(run={"held_out": held_out}), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_teacher_whose_weights_are_not_there(tmp_path: Path) -> None:
    teacher = {"placer": f"policy:file={tmp_path}/absent.safetensors", "epochs": 1}
    with pytest.raises(StreamplaceError, match="absent"):
        train(graphs(), config(teacher=teacher), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("memory", "stage", "message"),
    [
        ({"imitate": 1.0, "size": 0}, {}, "needs memory.size and memory.samples"),
        (
            {"imitate": 1.0, "samples": 0},
            {},
            "needs memory.size and memory.samples",
        ),
        ({"size": 0}, {"samples": 1, "random_samples": 0.0}, "no better than its mean"),
    ],
    ids=["no memory", "nothing remembered", "one placement"],
)
def test_configs_that_could_teach_nothing(
    memory: dict[str, Any], stage: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        config(memory=memory, stage=stage)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("threads = 257", "run.threads: must be at most 256"),
        ("threads = 9007199254740992", "run.threads"),
        ("[[stage]]\nsamples = 1048577", "samples: must be at most 1,048,576"),
        ("[[stage]]\nrandom_samples = 1e300", "stage[0].random_samples"),
        ("[[stage]]\nrandom_if_empty = 9007199254740992", "stage[0].random_if_empty"),
        ("[stage.memory]\nsize = 9007199254740992", "stage[0].memory.size"),
        ("[stage.memory]\nsamples = 9007199254740992", "stage[0].memory.samples"),
    ],
)
def test_more_than_any_array_or_process_has(setting: str, message: str, tmp_path: Path) -> None:
    """Such settings once passed as valid and failed in the first step."""
    table, _, line = setting.rpartition("\n")
    table, name = table or "[run]", line.partition(" ")[0]
    kept = [one for one in SMALL.splitlines() if not one.startswith(f"{name} =")]
    (tmp_path / "large.toml").write_text("\n".join(kept).replace(table, f"{table}\n{line}"))
    assert message in refusal_of(str(tmp_path / "large.toml"))

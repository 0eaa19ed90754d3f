"""Training configs: the shipped ones, and errors about invalid ones."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchmarks.reference.trainings import SMALL, config, config_of, graphs
from streamplace.errors import ObjectiveError, StreamplaceError
from streamplace.learning.policy.registry import make_policy
from streamplace.learning.training import TrainConfig, config_names, read_config, train
from tests.support.guards import hang_guard


def refusal_of(name: str) -> str:
    """Read an invalid config and return the error message."""
    with pytest.raises(StreamplaceError) as refused:
        read_config(name)
    assert refused.value.exit_code == 2
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.long
def test_a_config_is_read_without_torch() -> None:
    """Importing torch would cost 200 MB and two seconds before an error about a misspelt field."""
    program = (
        "import sys; from streamplace.learning.training import read_config; read_config('best'); "
    )
    program += (
        "assert 'torch' not in sys.modules; from streamplace.learning.training import train; train"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_shipped_configs_are_listed() -> None:
    assert {"best", "paper", "b", "b-f1", "b-f1-f2"} <= set(config_names())


@pytest.mark.parametrize("name", config_names())
def test_every_shipped_config_describes_a_policy(name: str) -> None:
    cfg = read_config(name)
    policy = make_policy(cfg.policy)
    assert sum(p.numel() for p in policy.parameters()) > 0


def test_a_shipped_name_takes_precedence_over_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("paper").write_text("not TOML")
    assert read_config("paper").policy.kind == "encoder-decoder"


def test_any_file_extension_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(SMALL)
    assert read_config(str(file)) == config()


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "windows.toml"
    file.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert read_config(str(file)) == config()


def test_an_unknown_name_lists_the_shipped_configs() -> None:
    missing = "no such file, and no config of streamplace has that name"
    assert refusal_of("bset") == f"bset: {missing}; did you mean 'best'?"
    assert refusal_of("best.toml") == f"best.toml: {missing}; did you mean 'best'?"
    message = refusal_of("nothing-like-it.toml")
    assert message.startswith(f"nothing-like-it.toml: {missing}; choose from b, ")
    assert [name for name in config_names() if name not in message] == []


def test_a_missing_config_file_names_a_similar_file(tmp_path: Path) -> None:
    (tmp_path / "best-of-mine.toml").write_text(SMALL)
    message = refusal_of(str(tmp_path / "best-of-mien.toml"))
    assert message.endswith(f"; did you mean {str(tmp_path / 'best-of-mine.toml')!r}?")


@pytest.mark.parametrize("name", ["folder", "folder.toml"])
def test_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    assert f"{name}: cannot read: Is a directory" in refusal_of(str(tmp_path / name))


@pytest.mark.parametrize("name", ["", ".", "n" * 300, "n" * 300 + ".toml", "a\0b", "a\0b.toml"])
def test_an_impossible_file_name_is_refused(name: str) -> None:
    refusal_of(name)


@pytest.mark.parametrize("opening", ["x = " + "[" * 100_000, "x = " + "{a=" * 100_000])
def test_deep_nesting_is_refused(opening: str, tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text(opening)
    assert "deep.toml: nested too deeply" in refusal_of(str(tmp_path / "deep.toml"))


@pytest.mark.parametrize(
    "number", ["9" * 5000, "0x" + "f" * 5000, "[{a = [0o" + "7" * 6000 + "]}]"]
)
def test_an_integer_too_long_to_be_printed(
    number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python refuses to print such integers, so pydantic's repr of them would fail on stderr."""
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    file = tmp_path / "long.toml"
    file.write_text(f"{SMALL}\n[other]\nx = {number}")
    message = refusal_of(str(file))
    assert message.startswith(f"{file}: ")
    assert "an integer has too many digits" in message
    assert ignored == []


def refusal_of_changed(folder: Path, *changes: tuple[str, str]) -> str:
    """Return the error about the small config with some text replaced, without the file name."""
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = folder / "changed.toml"
    file.write_text(text)
    return refusal_of(str(file)).removeprefix(f"{file}: ")


@pytest.mark.parametrize(
    ("field", "misspelt", "hint"),
    [
        ("[policy]", "[polcy]", "; did you mean 'policy'?"),
        ("epochs = 2", "epoch = 2", "; did you mean 'epochs'?"),
        ("algorithm = ", "algoritm = ", "; did you mean 'algorithm'?"),
    ],
)
def test_a_misspelt_field_is_named_rather_than_the_missing_one(
    field: str, misspelt: str, hint: str, tmp_path: Path
) -> None:
    message = refusal_of_changed(tmp_path, (field, misspelt))
    name = misspelt.strip("[]").partition(" ")[0]
    assert name in message.partition(";")[0]
    assert hint in message
    assert "missing" not in message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [("[[problems]]", "[problems]")],
            "problems: must be a list of tables: write [[problems]], not [problems]",
        ),
        (
            [("[[stage]]", "[stage]")],
            "stage: must be a list of tables: write [[stage]], not [stage]",
        ),
        (
            [("[[stage]]", "[[stages]]"), ("[stage.", "[stages.")],
            "stages: write [[stage]], not [[stages]]",
        ),
        (
            [("[run]", "[sampling]\nsamples = 3\n[teacher]\nepochs = 1\n[run]")],
            "cannot combine [sampling], [teacher] with [[stage]]; move the settings to [[stage]]",
        ),
        (
            [("[stage.memory]", "[memory]"), ("[stage.optimiser]", "[optimiser]")],
            "cannot combine [memory], [optimiser] with [[stage]]; "
            "move the settings to [stage.memory] and [stage.optimiser]",
        ),
    ],
    ids=["[problems]", "[stage]", "[[stages]]", "old settings", "old tables"],
)
def test_a_wrong_table_heading_is_refused_with_the_right_one(
    changes: list[tuple[str, str]], message: str, tmp_path: Path
) -> None:
    assert refusal_of_changed(tmp_path, *changes) == message


def test_a_config_is_immutable(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        config().run.seed = 3  # type: ignore[misc]


def test_a_config_survives_a_round_trip_through_json() -> None:
    """The JSON in a run folder contains the whole config, so the run can be repeated."""
    cfg = config()
    assert TrainConfig.model_validate(cfg.model_dump(mode="json")) == cfg


@pytest.mark.parametrize(
    ("problems", "message"),
    [
        ({"operators": [500, 600]}, r"config: problems: .* \(0 for 1 process\)"),
        ({"share": 0.0}, r"config: problems: .* \(0 for 1 process\)"),
    ],
    ids=["too large", "no share"],
)
def test_groups_without_problems_are_refused(
    problems: dict[str, object], message: str, tmp_path: Path
) -> None:
    """Without problems, training would loop forever without a step."""
    with hang_guard(), pytest.raises(StreamplaceError, match=message):
        train(graphs(), config(problems=problems), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rate", [1e-12, 1e300])
def test_a_source_rate_out_of_range(rate: float, tmp_path: Path) -> None:
    with pytest.raises(StreamplaceError, match="source_rate"):
        train(graphs(), config(problems={"source_rates": [rate]}), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("held_out", [6, 7, 10**6])
def test_holding_out_all_graphs_is_refused(held_out: int, tmp_path: Path) -> None:
    with pytest.raises(
        StreamplaceError, match=rf"less than the number of graphs, 6 \(got {held_out}\)"
    ):
        train(graphs(), config(run={"held_out": held_out}), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_teacher_with_missing_weights(tmp_path: Path) -> None:
    teacher = {"placer": f"policy:file={tmp_path}/absent.safetensors", "epochs": 1}
    with pytest.raises(StreamplaceError, match="absent"):
        train(graphs(), config(teacher=teacher), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("memory", "stage", "message"),
    [
        ({"imitate": 1.0, "size": 0}, {}, "requires memory.size and memory.samples"),
        ({"imitate": 1.0, "samples": 0}, {}, "requires memory.size and memory.samples"),
        ({"size": 0}, {"samples": 1, "random_samples": 0.0}, "at least 2 placements per problem"),
    ],
    ids=["no memory", "no remembered samples", "one placement"],
)
def test_configs_that_cannot_learn_are_refused(
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
def test_settings_beyond_the_limits_are_refused(setting: str, message: str, tmp_path: Path) -> None:
    """Such settings would otherwise fail in the first step."""
    table, _, line = setting.rpartition("\n")
    table, name = table or "[run]", line.partition(" ")[0]
    kept = [one for one in SMALL.splitlines() if not one.startswith(f"{name} =")]
    (tmp_path / "large.toml").write_text("\n".join(kept).replace(table, f"{table}\n{line}"))
    assert message in refusal_of(str(tmp_path / "large.toml"))


@pytest.mark.parametrize(
    ("objective", "stage", "message"),
    [
        (
            "throughput",
            {"algorithm": "dagger", "teacher": "critical-path"},
            "stage[1].teacher: 'critical-path' supports only makespan, but problems[0].objective "
            "is 'throughput'; use 'least-utilisation'",
        ),
        (
            "makespan:barrier=true",
            {"algorithm": "dagger"},
            "stage[1].teacher: 'least-utilisation' supports only throughput, but problems[0]."
            "objective is 'makespan:barrier=true'; use 'critical-path'",
        ),
        (
            "total-cost",
            {"algorithm": "dagger", "teacher": "critical-path"},
            "stage[1].teacher: 'critical-path' supports only makespan, but problems[0].objective "
            "is 'total-cost'; use another algorithm",
        ),
        (
            "makespan",
            {"algorithm": "reinforce", "model": "engine"},
            "stage[1].model: 'engine' is a model of throughput, but problems[0].objective is "
            "'makespan'; leave it out",
        ),
    ],
)
def test_stages_that_need_the_other_objective_are_refused(
    objective: str, stage: dict[str, Any], message: str
) -> None:
    """The first step would refuse them, when files have been written."""
    first = {"algorithm": "reinforce", "epochs": 1}
    with pytest.raises(ValidationError, match=re.escape(message)):
        config_of(first, {"epochs": 1} | stage, problems={"objective": objective})


def test_a_teacher_that_needs_the_other_objective_is_refused(tmp_path: Path) -> None:
    """The remedy is not an option of the commands that place."""
    wrong = config_of({"algorithm": "imitation", "teacher": "heft", "epochs": 1})
    message = "^teacher: placer 'heft' supports only makespan, not throughput; choose another"
    with pytest.raises(ObjectiveError, match=message):
        train(graphs(), wrong, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []

"""Bad usage: exit code 2, one line that names the fault, no file, no traceback."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamplace.cli.main import main
from streamplace.placers.registry import NAMES
from tests.support.cli import ENVIRONMENT, Capture, refused, succeeds
from tests.support.input_files import InputFiles

MANY_DIGITS = "9" * 5000  # more than Python converts to an integer

SEVERAL_RATES = ["1.0,500", "0.5,500", "1e0,500", "9,1000", "12,500", "5e3,2e4"]
USAGE = [
    (["nonsense"], "nonsense"),
    (["place"], "GRAPH"),
    (["place", "a.json", "b.json"], "b.json"),
    (["place", "GRAPH", "--colour", "red"], "--colour"),
    (["place", "GRAPH", "--seed", "-1"], "--seed"),
    (["place", "GRAPH", "--seed", "1", "--seed=2"], "--seed is given twice, and takes one value"),
    (["place", "GRAPH", "-o", "a.json", "-o", "b.json"], "-o is given twice"),
    (["plan", "GRAPH", "--without", "d0", "--without", "d1"], "--without is given twice"),
    (["generate", "dream", "--count", "1", "--count", "2"], "--count is given twice"),
    (["export", "PLACEMENT", "--to", "json", "--to", "csv"], "--to is given twice"),
    (["place", "GRAPH", "--seed", "one"], "--seed"),
    (["place", "GRAPH", "--seed"], "--seed"),
    (["place", "GRAPH", "--model", "guess"], "--model"),
    (["place", "GRAPH", "--source-rate", "fast"], "--source-rate"),
    (["place", "GRAPH", "--source-rate", "0"], "--source-rate"),
    (["place", "GRAPH", "--source-rate", "1,500"], "did you mean 1500?"),
    (["place", "GRAPH", "--source-rate", "10,500,20,500"], "has 500 twice"),
    (["generate", "layered", "--operators", "50-10", "-o", "x.jsonl"], "the smaller number first"),
    (["place", "GRAPH", "--source-rate", "1,500,000"], "did you mean 1500000?"),
    (["place", "GRAPH", "--source-rate", "9,100"], "write 9.0,100"),
    (["place", "GRAPH", "--source-rate", "1, 500"], "did you mean 1500?"),
    (["place", "GRAPH", "--source-rate", "20,000"], "did you mean 20000?"),
    (["place", "GRAPH", "--source-rate", "-5"], "--source-rate"),
    (["place", "GRAPH", "--source-rate", "nan"], "--source-rate"),
    (["place", "GRAPH", "--source-rate", "inf"], "--source-rate"),
    (["place", "GRAPH", "--source-rate", "1e4,"], "--source-rate"),
    (["place", "GRAPH", "--source-rate", "1e4,0"], "--source-rate"),
    (["place", "GRAPH", "--source-rate", "1e4,1e20"], "--source-rate"),
    (["simulate", "GRAPH", "PLACEMENT", "--source-rate", "1e4,x"], "--source-rate"),
    *(
        ([*command.split(), "--target-utilisation", share], "--target-utilisation")
        for command in ("place GRAPH", "simulate GRAPH PLACEMENT", "compare GRAPH")
        for share in ("0", "-0.5", "1.1", "nan", "inf", "80%", "")
    ),
    (["place", "GRAPH", "--target-utilisation", "1e-300"], "target_utilisation"),
    (["place", "GRAPH", "--cluster", "CLUSTER", "--devices", "5x2500"], "--devices"),
    (["place", "GRAPH", "--json", "-o", "-"], "--json"),
    (["place", "GRAPH", "--placer", "nobody"], "'nobody'"),
    (["place", "GRAPH", "--placer", ""], "--placer: must not be empty"),
    (["place", "GRAPH", "--placer", "metis:parts"], "'parts'"),
    (
        ["place", "GRAPH", "--placer", "metis:colour=red"],
        "unknown option 'colour'; choose from parts, weights",
    ),
    (["place", "GRAPH", "--placer", "metis:parts=three"], "parts"),
    (["place", "GRAPH", "--placer", "metis:parts=0"], "parts"),
    (["place", "GRAPH", "--placer", "metis:weights=gold"], "weights"),
    (["place", "GRAPH", "--placer", "single:parts=3"], "no options"),
    (["place", "GRAPH", "--placer", "auto:seconds=x"], "auto"),
    (["place", "GRAPH", "--placer", "single-oracle"], "'single-oracle'"),
    (["compare", "GRAPH", "--placers", "metis,nobody"], "'nobody'"),
    (["compare", "GRAPH", "--placers", "metis,"], "empty name (got 'metis,')"),
    (["compare", "GRAPH", "--source-rate", "1e4,fast"], "--source-rate"),
    (["compare", "GRAPH", "--source-rate", "1e4,-1"], "--source-rate"),
    (["compare", "GRAPH", "--jobs", "0"], "--jobs"),
    (["compare", "GRAPH", "--backend", "slurm"], "--backend"),
    *(
        (
            [*command.split(), "--address", "127.0.0.1:6379"],
            "--address: requires the backend ray or dask",
        )
        for command in (
            "compare GRAPH",
            "generate dream -o OUT/x.jsonl",
            "train GRAPH --config best -o OUT/run",
        )
    ),
    *(
        (["compare", "GRAPH", "--backend", "ray", "--address", address], "HOST:PORT")
        for address in ("", "here", "here:", ":6379", "here:0", "here:99999", "ray://here:10001")
    ),
    (["generate", "dream"], "-o"),
    (["generate", "nonsense", "-o", "OUT/x.jsonl"], "'nonsense'"),
    (["generate", "dream", "--count", "0", "-o", "OUT/x.jsonl"], "count"),
    (["generate", "dream", "--count", "-3", "-o", "OUT/x.jsonl"], "count"),
    (["generate", "dream", "--count", "1.5", "-o", "OUT/x.jsonl"], "--count"),
    (["generate", "dream", "--operators", "9-5", "-o", "OUT/x.jsonl"], "--operators"),
    (["generate", "dream", "--operators", "-5", "-o", "OUT/x.jsonl"], "--operators"),
    (["generate", "dream", "--operators", "some", "-o", "OUT/x.jsonl"], "--operators"),
    (["generate", "dream", "--operators", MANY_DIGITS, "-o", "OUT/x.jsonl"], "operators"),
    (["generate", "dream", "--operators", "500", "-o", "OUT/x.jsonl"], "operators"),
    (["generate", "layered", "--operators", "0", "-o", "OUT/x.jsonl"], "operators"),
    (["generate", "layered", "--operators", "9999999", "-o", "OUT/x.npz"], "operators"),
    (["generate", "layered", "--count", "2", "-o", "OUT/x.json"], "x.json"),
    (["generate", "layered", "--count", "2", "-o", "OUT/x.npz"], "x.npz"),
    (["generate", "layered", "-o", "OUT/x.txt"], "x.txt"),
    (["export", "PLACEMENT", "--to", "yaml"], "--to"),
    (["export", "PLACEMENT"], "--to"),
    (["export", "PLACEMENT", "--to", "csv", "--json"], "--json"),
    (["schema", "nonsense"], "nonsense"),
    (["simulate", "GRAPH"], "is a graph; expected a placement"),
    (["diff", "PLACEMENT"], "B"),
    (["explain"], "PLACEMENT"),
    (["explain", "GRAPH"], "graph.json"),
    (["explain", "CEPSIM"], "cepsim.json"),
    (["explain", "nowhere.json"], "nowhere.json"),
    (["explain", "PLACEMENT", "--top", "0"], "--top"),
    (
        ["apply", "flink", "PLACEMENT", "--url", "http://127.0.0.1:9", "--deadline", "0"],
        "--deadline",
    ),
]

DEVICES = ["", "5", "x2500", "5x", "0x2500", "5x0", "5x-1", "5xnan", "5x2500x0", "5x2500x1.5"]
DEVICES += ["5x2500,", "5x2500;3x1", "5x1e3", "1x" + "9" * 400, "1x1x" + "9" * 400]
DEVICES += [MANY_DIGITS + "x1"]


@pytest.mark.parametrize(
    ("words", "named"),
    USAGE,
    ids=[" ".join(words).replace(MANY_DIGITS, "9…") for words, _ in USAGE],
)
def test_bad_usage(
    words: list[str], named: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    paths = {"GRAPH": inputs.graph, "CLUSTER": inputs.cluster, "PLACEMENT": inputs.placement}
    paths["CEPSIM"] = inputs.cepsim
    arguments = [str(paths.get(word, word)) for word in words]
    line = refused(capsys, *(word.replace("OUT", str(tmp_path)) for word in arguments))
    assert named in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["plaec"], "unknown command 'plaec'; did you mean 'place'? (see streamplace --help)"),
        (["xyz"], "unknown command 'xyz' (see streamplace --help)"),
        (["score"], "unknown command 'score' (see streamplace --help)"),
        (
            ["migrate"],
            "unknown command 'migrate'; 'streamplace place --start' improves a placement (see",
        ),
        (["help", "place"], "unknown command 'help'; write streamplace COMMAND --help (see"),
        (["version"], "unknown command 'version'; write streamplace --version (see"),
        (["profile", "help"], "unknown command 'help'; choose from flink, "),
        (
            ["train", "d", "--resume", "run"],
            "got unexpected extra argument (run); train takes a dataset and -o RUN, or --resume",
        ),
        (["apply", "flnik"], "unknown command 'flnik'; did you mean 'flink'? (see streamplace ap"),
        (["place", "g", "--ouput", "p"], "unknown option '--ouput'; did you mean '-o'?"),
        (["place", "g", "--output", "p"], "unknown option '--output'; did you mean '-o'?"),
        (["place", "g", "--modle"], "unknown option '--modle'; did you mean '--model'?"),
        (["place"], "missing argument 'GRAPH' or option '--job-file' (see streamplace place"),
        (
            ["place", "a", "b"],
            "got unexpected extra argument (b); place takes one graph, and the cluster",
        ),
        (
            ["compare", "a", "b"],
            "got unexpected extra argument (b); compare takes one dataset, a file or a folder of",
        ),
        (["compare", ""], "DATASET: must not be empty (see"),
        (["compare", "a", "--placers", ""], "--placers: must not be empty (see"),
        (["compare", "GRAPH", "--placers", "metis, metis"], "--placers: 'metis' is listed twice"),
        (["compare", "a", "--placers", ","], "--placers: empty name (got ','); separate names"),
        (["compare", "a", "--placers", "metis,,random"], "--placers: empty name (got 'metis,,ran"),
        (["place", "g", "--seed"], "option '--seed' requires an argument"),
        (["place", "g", "--seed", "x"], "--seed: must be a whole number (got 'x') (see"),
        (["place", "g", "--seed", "-1"], "--seed: must be at least 0 (got -1) (see"),
        (["explain", "p", "--top", "0"], "--top: must be at least 1 (got 0) (see"),
        (["place", "g", "--move-cost", "x"], "--move-cost: must be a number (got 'x') (see"),
        (
            ["place", "g", "--seed", "1,000"],
            "--seed: must be a whole number (got '1,000'); did you mean 1000? (see",
        ),
        (
            ["place", "g", "--move-cost", "0,5"],
            "--move-cost: must be a number (got '0,5'); did you mean 0.5? (see",
        ),
        (
            ["compare", "g", "--evaluations", "1,000"],
            "--evaluations: looks like one number with commas (got '1,000'); did you mean 1000?",
        ),
        (
            ["compare", "g", "--time-limit", "1,500"],
            "--time-limit: looks like one number with commas (got '1,500'); did you mean 1500?",
        ),
        (
            ["place", "g", "--devices", "3x2,500"],
            "--devices: must be COUNTxMIPS[xCORES], such as 5x2500 (got '500'); did you mean "
            "'3x2500'?",
        ),
        (["place", "g", "-o", ""], "-o: must not be empty (see"),
        (
            ["place", "g", "--source-rate", "x"],
            "--source-rate: must be one rate or several, such as",
        ),
        (["schema", "graf"], "KIND: unknown choice 'graf'; did you mean 'graph'? (see"),
        (["schema", "x"], "KIND: unknown choice 'x'; choose from graph, cluster, placement, scene"),
    ],
)
def test_messages_of_bad_usage(words: list[str], expected: str, capsys: Capture) -> None:
    assert refused(capsys, *words).startswith(f"streamplace: {expected}")


@pytest.mark.parametrize("text", DEVICES, ids=lambda text: text[:12])
def test_bad_devices(text: str, inputs: InputFiles, capsys: Capture) -> None:
    line = refused(capsys, "place", inputs.graph, "--placer", "single", "--devices", text)
    assert "device" in line
    assert len(line) < 1000


@pytest.mark.parametrize("text", SEVERAL_RATES)
def test_several_rates_that_do_not_look_like_one(
    text: str, inputs: InputFiles, capsys: Capture
) -> None:
    arguments = ["place", inputs.graph, "--source-rate", text, "--placer", "greedy"]
    assert succeeds(capsys, *arguments)


def test_no_command_prints_the_help_and_exits_2(capsys: Capture) -> None:
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage: streamplace" in err


def test_a_placer_that_finds_no_placement_exits_1(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    constraints = tmp_path / "constraints.json"
    constraints.write_text('{"exlocate": [["a", "b"]]}')
    command = ["place", inputs.graph, "--constraints", constraints, "--placer", "single"]
    assert "single" in refused(capsys, *command, "-o", tmp_path / "out.json", code=1)
    assert list(tmp_path.iterdir()) == [constraints]


def test_help_loads_nothing_heavy() -> None:
    """`streamplace --help` loads click and little else."""
    program = (
        "import sys; from streamplace.cli.main import main; code = main(['--help']);"
        "heavy = {'numpy', 'numba', 'pydantic', 'rich', 'networkx', 'joblib', 'pymetis', 'torch'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={k: v for k, v in ENVIRONMENT.items() if not k.startswith("COV")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "[]\n"
    commands = ("generate", "init", "info", "simulate", "place", "compare", "diff", "export")
    for command in (*commands, "explain"):
        assert f"\n  {command} " in done.stdout


def test_version(capsys: Capture) -> None:
    assert succeeds(capsys, "--version").startswith("streamplace, version ")


def test_help_names_every_placer(capsys: Capture) -> None:
    output = succeeds(capsys, "place", "--help")
    listed = output.partition("Placers:")[2]
    named = set(re.findall(r"[a-z-]+", listed))
    assert [name for name in NAMES if name not in named] == []


@pytest.mark.parametrize(
    "words",
    [
        ("apply", "flink", "p.json", "--url", "http://127.0.0.1:9", "--jar", "x.jar", "--job"),
        ("watch", "flink", "http://127.0.0.1:9", "--job"),
        ("profile", "flink", "http://127.0.0.1:9", "--mips", "1", "-o", "OUT/g.json", "--job"),
        ("profile", "storm", "http://127.0.0.1:9", "--mips", "1", "-o", "OUT/g.json", "--topology"),
        ("explain", "p.json", "--against", "http://127.0.0.1:9", "--job"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("empty", ["", " "])
def test_ids_are_not_empty(
    words: tuple[str, ...], empty: str, tmp_path: Path, capsys: Capture
) -> None:
    """An empty id would ask a server for the list of all jobs."""
    line = refused(capsys, *(word.replace("OUT", str(tmp_path)) for word in words), empty)
    assert f"{words[-1]}: must not be empty" in line

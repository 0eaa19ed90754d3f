"""Tests for placers by name, with options."""

import subprocess
import sys
from math import nan
from typing import Any

import numpy as np
import pytest

from streamplace.errors import Fault, UsageError
from streamplace.learning.training.config import config_names
from streamplace.makespan.placers.lists import Heft
from streamplace.placers.limits import MaxRuntime
from streamplace.placers.partition.fuser import Fuser
from streamplace.placers.partition.metis import Metis, MetisRecursive
from streamplace.placers.partition.sweep import MetisSweep, Oracle
from streamplace.placers.registry import NAMES, class_of, make_placer, placer_named
from streamplace.placers.search.search import Search


def test_a_class_has_the_name_of_its_placer() -> None:
    own = {name: class_of(name).name for name in NAMES if not name.endswith("-oracle")}
    assert own == {name: name for name in own}


def test_options_reach_the_placer() -> None:
    made = make_placer("metis:parts=3:weights=utilisation")
    assert made == Metis(parts=3, weights="utilisation")
    assert make_placer("fuser") == Fuser()
    assert make_placer("heft:contention") == make_placer("heft:contention=true") == Heft(True)
    assert make_placer("heft:contention=false") == make_placer("heft") == Heft()
    assert make_placer("metis-oracle:weights=utilisation") == Oracle(Metis(weights="utilisation"))
    assert make_placer("metis:imbalance=0.3") == Metis(imbalance=0.3)
    assert make_placer("metis-recursive-oracle:imbalance=1") == Oracle(MetisRecursive(imbalance=1))
    assert make_placer("metis-sweep:weights=utilisation") == MetisSweep("utilisation")
    assert make_placer("search:evaluations=80") == Search(evaluations=80)
    assert make_placer("search:seconds=0.5") == Search(seconds=0.5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("metsi", "unknown placer 'metsi'; did you mean 'metis'?"),
        ("xyz", "unknown placer 'xyz'; choose from auto, single"),
        ("", "unknown placer ''"),
        ("ni2020", "unknown placer 'ni2020'; choose from auto"),
        ("doppler", "unknown placer 'doppler'; no weights of it are shipped: train it by"),
        ("placeto:episodes=3", "streamplace train DATASET --config placeto -o RUN, and use policy"),
        ("metis:", "unknown option ''; choose from parts, weights, imbalance"),
        ("metis:part=3", "unknown option 'part'; did you mean 'parts'?"),
        ("metis:parts=three", "parts must be a whole number"),
        ("metis:parts=0", "parts must be at least 1"),
        ("metis:recursive=true", "unknown option 'recursive'"),
        ("metis:parts=2:parts=3", "option 'parts' is repeated"),
        ("metis-oracle:parts=3", "it tries every number of parts"),
        ("metis:weights=heavy", "weights must be instructions or utilisation"),
        ("metis:imbalance=0", "imbalance must be 0.001 to 1000 (got 0)"),
        ("metis:imbalance=nan", "imbalance must be 0.001 to 1000 (got nan)"),
        ("metis-recursive:imbalance=1001", "imbalance must be 0.001 to 1000 (got 1001)"),
        ("metis-oracle:imbalance=-1", "imbalance must be 0.001 to 1000 (got -1)"),
        ("metis:imbalance=3%", "imbalance must be a number"),
        ("metis-sweep:weights=heavy", "weights must be instructions or utilisation"),
        ("metis-sweep:parts=3", "unknown option 'parts'; choose from weights"),
        ("metis-sweep:imbalance=1", "unknown option 'imbalance'; choose from weights"),
        ("fuser:parts=-2", "parts must be at least 1"),
        ("greedy:depth=3", "unknown option 'depth'; choose from order"),
        ("single:depth=3", "unknown option 'depth'; it has no options"),
        ("greedy:order=bsf", "placer 'greedy:order=bsf': unknown order 'bsf'; did you mean 'bfs'?"),
        ("greedy:order=x", "unknown order 'x'; choose from lexico, topo-lifo, topo-level"),
        ("round-robin:order=x", "unknown order 'x'; choose from lexico"),
        ("policy:order=x", "unknown order 'x'; choose from lexico"),
        ("auto:placers=metis", "unknown option 'placers'; choose from seconds, evaluations"),
        ("auto:seconds=-1", "placer 'auto:seconds=-1': seconds must be at least 0"),
        (
            "giph:start=climm",
            "placer 'giph:start=climm': start: unknown placer 'climm'; did you mean",
        ),
        ("climb:start=xyz", "placer 'climb:start=xyz': start: unknown placer 'xyz'; choose from"),
        ("policy:start=m:x", "option 'x'"),
        ("single-oracle", "unknown placer 'single-oracle'"),
        ("policy:file=", "file must not be empty"),
        ("policy:samples=0", "samples must be 1 to 1048576 (got 0)"),
        ("policy:samples=1048577", "samples must be 1 to 1048576 (got 1048577)"),
        ("policy:beam=-1", "beam must be 0 to 1048576 (got -1)"),
        ("policy:beam=1048577", "beam must be 0 to 1048576 (got 1048577)"),
        ("policy:samples=1e3", "samples must be a whole number"),
        ("policy:samples=few", "samples must be a whole number"),
        ("heft:contention=yes", "contention must be true or false (got 'yes')"),
        ("heft:samples=2", "unknown option 'samples'"),
        ("metis:parts", "option 'parts' needs a value: parts=VALUE"),
        ("critical-path:samples=0", "samples must be at least 1 (got 0)"),
        ("random-eft:samples=-1", "samples must be at least 1 (got -1)"),
        ("climb:evaluations=0", "evaluations must be at least 1 (got 0)"),
        ("random:evaluations=0", "evaluations must be at least 1 (got 0)"),
        ("multilevel:changes=0", "changes must be at least 1"),
        ("search:evaluations=0", "evaluations must be at least 1"),
        ("search:seconds=-1", "seconds must be at least 0"),
        ("search:seconds=nan", "seconds must be at least 0"),
        ("search:seconds=inf", "seconds must be at least 0"),
        ("search:seconds=soon", "seconds must be a number"),
        ("search:steps=5", "unknown option 'steps'; choose from evaluations, seconds"),
        ("rnn:steps=0", "placer 'rnn:steps=0': steps must be 1 to 1000000 (got 0)"),
        ("rnn:samples=1048577", "samples must be 1 to 1000000 (got 1048577)"),
        ("rnn:rate=0", "rate must be above 0 and at most 1 (got 0)"),
        ("rnn:rate=nan", "rate must be above 0 and at most 1 (got nan)"),
        ("rnn:order=x", "unknown order 'x'; choose from lexico"),
        ("rnn:frozen_attention=no", "frozen_attention must be true or false (got 'no')"),
        ("hsdag:episodes=-1", "episodes must be 0 to 1000000 (got -1)"),
        ("hsdag:steps=100001", "steps must be 0 to 100000 (got 100001)"),
        ("hsdag:samples=1048577", "samples must be 0 to 1000000 (got 1048577)"),
        ("hsdag:levels=65", "levels must be 0 to 64 (got 65)"),
        ("hsdag:rate=nan", "rate must be 0 to 1 (got nan)"),
    ],
)
def test_wrong_names_and_options_are_reported(name: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_placer(name)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["metis", "metis-oracle"])
def test_the_text_replaces_only_the_name_of_the_class(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Metis) -> None:
        raise UsageError(Fault("is too long", place=(self.name, "weights")))

    monkeypatch.setattr(Metis, "__post_init__", refused)
    with pytest.raises(UsageError) as caught:
        make_placer(name)
    assert str(caught.value) == f"placer {name!r}: weights: is too long"


def test_names_of_trained_placers_are_checked_without_torch() -> None:
    program = "import sys; from streamplace.placers.registry import make_placer, options_of; "
    program += "make_placer('hsdag:steps=3'), make_placer('rnn:steps=3:order=bfs'); "
    program += "options_of('hsdag'), options_of('rnn'); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


@pytest.mark.parametrize("name", ["doppler", "placeto"])
def test_systems_without_weights_have_a_config_to_train_them(name: str) -> None:
    assert name in config_names()
    with pytest.raises(UsageError, match=f"train DATASET --config {name} -o RUN"):
        make_placer(name)


@pytest.mark.parametrize(
    ("placer", "operators", "warned"),
    [
        ("fuser", 20_000, True),
        ("fuser-oracle", 5_000, True),
        ("fuser", 4_999, False),
        ("metis-oracle", 20_000, False),
        ("m-etf", 20_000, True),
        ("m-etf", 19_999, False),
        ("giph", 1_000, True),
        ("giph", 999, False),
        ("giph:evaluations=0", 1_000, True),
        ("giph:evaluations=200", 20_000, False),
        ("rebuild:file=w.safetensors", 5_000, True),
    ],
)
def test_a_warning_where_a_placer_takes_minutes(placer: str, operators: int, warned: bool) -> None:
    assert (placer_named(placer).warning(operators) is not None) == warned


@pytest.mark.parametrize("seconds", [np.float64(0.25), np.float32(0.25), 0.25])
def test_a_time_limit_is_part_of_the_name(seconds: float) -> None:
    assert placer_named("auto").limited(MaxRuntime(seconds)).text == "auto:seconds=0.25"
    limited = placer_named("search:prefer=fewest").limited(MaxRuntime(5))
    assert limited.text == "search:prefer=fewest:seconds=5"
    assert limited.placer == Search(seconds=5, prefer="fewest")


@pytest.mark.parametrize(
    ("name", "seconds", "message"),
    [
        ("auto", -1, "auto.*: seconds must be at least 0 .got -1"),
        ("search", nan, "search.*: seconds must be at least 0 .got nan"),
        ("auto", "x", "seconds must be a number .got 'x'"),
        ("metis", 1, "placer 'metis' does not accept a time limit; these do: auto, search"),
        ("search:seconds=2", 1, "already sets a time limit; remove 'seconds=2'"),
    ],
)
def test_refused_time_limits(name: str, seconds: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        placer_named(name).limited(MaxRuntime(seconds))
